"""``quem seal``, and what reports and archives say of a sealed study."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

import quem
from quem.seal import seal_file
from tests.commands.sessions import close, hold_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Outcome = tuple[int, str, str]
SETTINGS = "analysis: {years_error: 0}\n"
QUICK = ("--figures", "none", "--tables", "none")


@pytest.fixture
def sealed(judging_study: Path, quem_command: Callable[..., Outcome]) -> Path:
    """A study that was sealed before its session."""
    judging_study.write_text(judging_study.read_text() + SETTINGS)
    assert quem_command("seal", judging_study)[0] == 0
    return judging_study


def held(study: Path) -> None:
    """Hold a session, and close it."""
    hold_session(study).close()
    close(study)


def differences(study: Path) -> dict[tuple[str, str], str]:
    """What is not as it was sealed."""
    seal = quem.load_study(study, kind="experience").seal
    assert seal is not None
    return {(one.part, one.name): one.message for one in seal.differences}


def test_the_hash_is_that_of_the_file(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """It is printed; two seals of one study have two, since each holds a random secret."""
    digests = []
    for _ in range(2):
        code, out, err = quem_command("seal", judging_study)
        raw = seal_file(judging_study).read_bytes()
        assert (code, out) == (0, f"seal: {hashlib.sha256(raw).hexdigest()}\n")
        assert "wrote " in err
        assert json.loads(raw)["study"] == "made-up"
        assert "Judge 0" not in raw.decode()
        digests.append(out)
        seal_file(judging_study).unlink()
    assert digests[0] != digests[1]


def test_a_study_is_sealed_once(sealed: Path, quem_command: Callable[..., Outcome]) -> None:
    """The record stays as it is."""
    before = seal_file(sealed).read_bytes()
    code, _, err = quem_command("seal", sealed)
    assert code == 1
    assert "is the seal of this study already" in err
    assert seal_file(sealed).read_bytes() == before


@pytest.mark.parametrize("where", ["store", "table"])
def test_rankings_come_after_the_seal(
    judging_study: Path, quem_command: Callable[..., Outcome], where: str
) -> None:
    """Where somebody ranked already, nothing is sealed and nothing written."""
    if where == "store":
        hold_session(judging_study).close()
    else:
        judging_study.write_text(judging_study.read_text() + "rankings: rankings.csv\n")
        (judging_study.parent / "rankings.csv").write_text("judge,problem,solver,rank\n")
    code, _, err = quem_command("seal", judging_study)
    assert code == 1
    assert "before the first ranking" in err
    assert not seal_file(judging_study).exists()


def test_a_study_that_matches_says_so(sealed: Path, quem_command: Callable[..., Outcome]) -> None:
    """Summary, report, and archive name the hash, and attest no ranking."""
    digest = hashlib.sha256(seal_file(sealed).read_bytes()).hexdigest()
    held(sealed)
    code, out, _ = quem_command("analyze", sealed, *QUICK)
    assert code == 0
    assert "; study and settings match the seal" in out.splitlines()[0]
    assert digest in out
    assert "does not attest rankings" in " ".join(out.split())
    page = sealed.with_name("study-report") / "report.html"
    text = page.read_text("utf-8")
    assert text.index("match the seal") < text.index('class="kicker"')
    assert digest in text
    archive = sealed.with_name("a.jsonl")
    assert quem_command("export", sealed, "--archive", archive)[0] == 0
    seal = json.loads(archive.read_text().partition("\n")[0])["seal"]
    assert (seal["hash"], seal["differences"]) == (digest, [])


def test_each_difference_is_listed(sealed: Path, quem_command: Callable[..., Outcome]) -> None:
    """Settings, also those of options, people, problems, and solutions."""
    held(sealed)
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
    code, out, _ = quem_command("analyze", sealed, "--level", "0.9", "--json")
    assert code == 0
    seal = json.loads(out)["seal"]
    assert seal["headline"].endswith("9 differences from the seal")
    assert "setting level: 0.95 is now 0.9" in seal["differences"]
    code, out, _ = quem_command("analyze", sealed, "--pseudonyms", "--json")
    said = json.loads(out)["seal"]["differences"]
    assert "judge changed" in said
    assert not any("J9" in one or "S1" in one for one in said)


@pytest.mark.parametrize("how", ["edited", "cut", "of another study"])
def test_a_record_that_is_not_whole_is_refused(
    sealed: Path, quem_command: Callable[..., Outcome], how: str
) -> None:
    """Nothing is compared with it."""
    path = seal_file(sealed)
    raw = path.read_text()
    changed = {
        "edited": raw.replace('"S1"', '"S7"', 1).replace("\n", "", 1),
        "cut": raw[:-9],
        "of another study": raw.replace('"made-up"', '"other"'),
    }
    path.write_text(changed[how])
    held(sealed)
    code, _, err = quem_command("analyze", sealed)
    assert code == 1
    assert "study.seal.json" in err
