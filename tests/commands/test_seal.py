"""``quem seal``, and what reports and archives say of a sealed study."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

import quem
from quem.seal import seal_file
from tests.store.made import close, hold_session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Command

QUICK = ("--figures", "none", "--tables", "none")


@pytest.fixture
def sealed(judging_study: Path, run: Command) -> Path:
    """A study that was sealed before its session, which is held and closed."""
    judging_study.write_text(judging_study.read_text() + "analysis: {years_error: 0}\n")
    assert run("seal", judging_study).code == 0
    hold_session(judging_study).close()
    close(judging_study)
    return judging_study


def differences(study: Path) -> dict[tuple[str, str], str]:
    seal = quem.load_study(study, kind="experience").seal
    assert seal is not None
    return {(one.part, one.name): one.message for one in seal.differences}


def test_the_hash_is_that_of_the_file(judging_study: Path, run: Command) -> None:
    """It is printed; two seals of one study have two, since each holds a random secret."""
    digests = set()
    for _ in range(2):
        code, out, err = run("seal", judging_study)
        raw = seal_file(judging_study).read_bytes()
        assert (code, out) == (0, f"seal: {hashlib.sha256(raw).hexdigest()}\n")
        assert "wrote " in err
        assert json.loads(raw)["study"] == "made-up"
        assert b"Judge 0" not in raw
        digests.add(out)
        assert run("seal", judging_study).refuses("is the seal of this study already")
        assert seal_file(judging_study).read_bytes() == raw
        seal_file(judging_study).unlink()
    assert len(digests) == 2


@pytest.mark.parametrize("where", ["store", "table"])
def test_rankings_come_after_the_seal(judging_study: Path, run: Command, where: str) -> None:
    if where == "store":
        hold_session(judging_study).close()
    else:
        judging_study.write_text(judging_study.read_text() + "rankings: rankings.csv\n")
        judging_study.with_name("rankings.csv").write_text("judge,problem,solver,rank\n")
    assert run("seal", judging_study).refuses("before the first ranking")
    assert not seal_file(judging_study).exists()


def test_a_study_that_matches_says_so(sealed: Path, run: Command) -> None:
    """Summary, report, and archive name the hash, and attest no ranking."""
    digest = hashlib.sha256(seal_file(sealed).read_bytes()).hexdigest()
    code, out, _ = run("analyze", sealed, *QUICK)
    assert code == 0
    assert "; study and settings match the seal" in out.splitlines()[0]
    assert digest in out
    assert "does not attest rankings" in " ".join(out.split())
    text = (sealed.with_name("study-report") / "report.html").read_text("utf-8")
    assert text.index("match the seal") < text.index('class="kicker"')
    assert digest in text
    archive = sealed.with_name("a.jsonl")
    assert run("export", sealed, "--archive", archive).code == 0
    seal = json.loads(archive.read_text().partition("\n")[0])["seal"]
    assert (seal["hash"], seal["differences"]) == (digest, [])


def test_each_difference_is_listed(sealed: Path, run: Command) -> None:
    assert differences(sealed) == {}
    text = sealed.read_text().replace("{id: S1, experience: 1}", "{id: S1, experience: 9}")
    text = text.replace("{id: J2, name: Judge 2}", "{id: J9}").replace("Problem 1", "Task 1")
    sealed.write_text(text.replace("years_error: 0", "years_error: 0.3"))
    (sealed.parent / "p0.md").write_text("Something else.\n")
    (sealed.parent / "solutions/P1/sys.md").write_text("Something else.\n")
    (sealed.parent / "solutions/P0/S0.md").unlink()
    found = differences(sealed)
    assert found.pop(("subjects", "S1")).count("experience") == 2
    assert found == {
        ("setting", "years_error"): "0.0 is now 0.3",
        ("problem", "P0"): "changed",
        ("problem", "P1"): "changed",
        ("judge", "J2"): "left out",
        ("judge", "J9"): "added",
        ("solution", "S0 on P0"): "left out",
        ("solution", "sys on P1"): "changed",
    }
    seal = json.loads(run("analyze", sealed, "--level", "0.9", "--json").out)["seal"]
    assert seal["headline"].endswith("9 differences from the seal")
    assert "setting level: 0.95 is now 0.9" in seal["differences"]
    hidden = json.loads(run("analyze", sealed, "--pseudonyms", "--json").out)["seal"]
    assert "judge changed" in hidden["differences"]
    assert not any("J9" in one or "S1" in one for one in hidden["differences"])


def test_a_record_that_is_not_whole_is_refused(sealed: Path, run: Command) -> None:
    """Nothing is compared with one that was edited, cut, or made of another study."""
    path = seal_file(sealed)
    raw = path.read_text()
    edited = raw.replace('"S1"', '"S7"', 1).replace("\n", "", 1)
    for text in (edited, raw[:-9], raw.replace('"made-up"', '"other"')):
        path.write_text(text)
        assert run("analyze", sealed).refuses("study.seal.json")
