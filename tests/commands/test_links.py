"""``quem links``: links to send, and the ends of them."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from quem.store.database import store_of
from quem.store.location import locate_database
from quem.store.people import people_of, person_of_link
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = tuple[int, str, str]
STUDY = "made-up"


def _file(err: str) -> Path | None:
    """The file that holds the links."""
    match = re.search(r"^Links: (.*) \(only you can read it\)$", err, re.MULTILINE)
    return Path(match[1]) if match else None


def _table(outcome: Outcome) -> dict[str, dict[str, str]]:
    """The table with the links that were made now, by id."""
    file = _file(outcome[2])
    if file:
        assert file.stat().st_mode & 0o777 == 0o600
    assert not re.search("/[jdp]/", outcome[1] + outcome[2])
    rows = list(csv.DictReader(io.StringIO(file.read_text() if file else outcome[1])))
    assert not rows or list(rows[0]) == ["id", "name", "link", "state"]
    return {row["id"]: row for row in rows}


def _who(study: Path, link: str) -> str | None:
    """Whose link it is."""
    path, _, token = link.rpartition("/")
    role: Literal["organizer", "judge"] = "organizer" if path.endswith("/d") else "judge"
    store = store_of(locate_database(study), STUDY)
    assert store is not None
    with store.read() as c:
        person = person_of_link(c, STUDY, role, token)
    store.close()
    return person.id if person else None


def test_links_are_made_once(judging_study: Path, quem_command: Callable[..., Outcome]) -> None:
    """The first time each judge gets a link, later it is only said that he has one."""
    outcome = quem_command("links", "judges", judging_study)
    rows = _table(outcome)
    assert outcome[0] == 0
    assert list(rows) == ["J0", "J1", "J2"]
    assert rows["J1"]["name"] == "Judge 1"
    for judge, row in rows.items():
        assert re.fullmatch(r"http://127\.0\.0\.1:8080/j/[\w-]{32}", row["link"])
        assert row["state"] == "new link"
        assert _who(judging_study, row["link"]) == judge
    assert outcome[2].count("\n") == 1
    again = _table(quem_command("links", "judges", judging_study))
    assert {(row["link"], row["state"]) for row in again.values()} == {("", "has a link")}
    assert _who(judging_study, rows["J2"]["link"]) == "J2"


def test_a_link_can_be_replaced_and_revoked(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """What is replaced or revoked ends; the others stay."""
    old = _table(quem_command("links", "judges", judging_study))
    words = ["--reissue", "J0", "--reissue", "J1", "--revoke", "J2"]
    url = "https://judging.example.org/"
    outcome = quem_command("links", "judges", judging_study, *words, "--url", url)
    new = _table(outcome)
    assert outcome[0] == 0
    assert new["J0"]["link"].startswith("https://judging.example.org/j/")
    assert (new["J2"]["link"], new["J2"]["state"]) == ("", "revoked")
    assert [_who(judging_study, row["link"]) for row in old.values()] == [None] * 3
    assert [_who(judging_study, new[judge]["link"]) for judge in ("J0", "J1")] == ["J0", "J1"]
    # A revoked judge gets a link only when it is asked for.
    assert _table(quem_command("links", "judges", judging_study))["J2"]["state"] == "revoked"
    back = _table(quem_command("links", "judges", judging_study, "--reissue", "J2"))
    assert _who(judging_study, back["J2"]["link"]) == "J2"


def test_personal_data_can_be_erased(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """It is said what happened, and what still names the judge."""
    links = _table(quem_command("links", "judges", judging_study))
    code, out, err = quem_command("links", "judges", judging_study, "--erase", "J1")
    assert code == 0
    assert "erased J1, whose rankings stay as those of erased-1" in err
    assert f"warning: {judging_study} still names J1" in err
    assert _table((code, out, err))["erased-1"]["state"] == "erased"
    assert "Judge 1" not in out
    assert _who(judging_study, links["J1"]["link"]) is None
    files = [path for path in judging_study.parent.glob("study.sqlite3*") if path.is_file()]
    assert files
    assert not any(b"Judge 1" in path.read_bytes() for path in files)
    code, _, err = quem_command("links", "judges", judging_study, "--erase", "erased-1")
    assert (code, "personal data has been erased" in err) == (1, True)


def test_a_judge_can_be_added(judging_study: Path, quem_command: Callable[..., Outcome]) -> None:
    """An added judge gets a link at once, and name and years are kept."""
    words = ["--add", "J9", "--name", "Élodie", "--experience", "4.5"]
    outcome = quem_command("links", "judges", judging_study, *words)
    assert outcome[0] == 0
    assert _who(judging_study, _table(outcome)["J9"]["link"]) == "J9"
    store = store_of(locate_database(judging_study), STUDY)
    assert store is not None
    with store.read() as c:
        added = people_of(c, STUDY, "judge")[-1]
    store.close()
    assert (added.id, added.name, added.experience, added.added) == ("J9", "Élodie", 4.5, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reissue", "J7"], "no judge 'J7'"),
        (["--revoke", "J7"], "no judge 'J7'"),
        (["--erase", "J7"], "no judge 'J7'"),
        (["--add", "J1"], "already"),
        (["--add", "S1"], "also a subject"),
        (["--add", ""], "--add"),
        (["--add", "J9", "--experience", "nan"], "--experience"),
        (["--add", "J9", "--experience=-1"], "--experience"),
        (["--add", "J9", "--name", "two\nlines"], "--name"),
        (["--add", "J9", "--erase", "J0", "--reissue", "J7"], "no judge 'J7'"),
    ],
)
def test_mistakes_change_nothing(
    judging_study: Path, quem_command: Callable[..., Outcome], words: list[str], message: str
) -> None:
    """What cannot be done ends with 1 and a sentence, and nothing else is done either."""
    links = _table(quem_command("links", "judges", judging_study))
    code, out, err = quem_command("links", "judges", judging_study, *words)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    after = _table(quem_command("links", "judges", judging_study))
    assert list(after) == list(links)
    assert [_who(judging_study, row["link"]) for row in links.values()] == list(links)


@pytest.mark.parametrize(
    "words",
    [
        ["judges", "--name", "Ada"],
        ["judges", "--url", "judging.example.org"],
        ["judges", "--reissue", "J1", "--revoke", "J1"],
        ["judges", "--erase", "J1", "--reissue", "J1"],
        ["judges", "--mail", "--erase", "J1"],
        ["judges", "--dry-run"],
        ["organizers", "--mail"],
        ["organizers", "--erase", "organizer"],
        ["organizers", "--add", "amy", "--experience", "3"],
        ["strangers"],
    ],
)
def test_wrong_usage(
    judging_study: Path, quem_command: Callable[..., Outcome], words: list[str]
) -> None:
    """Options that contradict each other end with 2, and no store is made."""
    role, *options = words
    assert quem_command("links", role, judging_study, *options)[0] == 2
    assert not judging_study.with_suffix(".sqlite3").exists()


def test_organizers_have_links_too(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """A study that names nobody has one; who is taken out of the file has no link any more."""

    def table(*words: str) -> dict[str, dict[str, str]]:
        return _table(quem_command("links", "organizers", judging_study, *words))

    [first] = table().values()
    assert re.fullmatch(r"http://127\.0\.0\.1:8080/d/[\w-]{32}", first["link"])
    assert _who(judging_study, first["link"]) == "organizer"
    added = table("--add", "eve", "--name", "Eve")["eve"]["link"]
    assert _who(judging_study, added) == "eve"
    again = table("--reissue", "organizer", "--revoke", "eve")
    assert _who(judging_study, again["organizer"]["link"]) == "organizer"
    assert _who(judging_study, first["link"]) is _who(judging_study, added) is None
    assert table()["eve"]["state"] == "revoked"
    bare = judging_study.read_text()
    judging_study.write_text(f"{bare}organizers: [{{id: amy, name: =Amy}}, {{id: bob}}]\n")
    rows = table()
    assert [(one, row["name"]) for one, row in rows.items()] == [
        *(("eve", "Eve"), ("amy", "'=Amy"), ("bob", ""))
    ]
    assert _who(judging_study, again["organizer"]["link"]) is None
    judging_study.write_text(bare)
    assert list(table()) == ["eve", "organizer"]
    for words, message in (
        (["--reissue", "zoe"], "no organizer 'zoe'"),
        (["--add", "organizer"], "already"),
        (["--add", "ada", "--name", "two\nlines"], "--name"),
    ):
        code, out, err = quem_command("links", "organizers", judging_study, *words)
        assert (code, out, message in err) == (1, "", True)


def test_people_who_solve_have_links_too(
    tmp_path: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Those of the study file, and those who are added; what is erased is said."""
    study = write_solving_study(tmp_path, people=("S1", "S2"))
    rows = _table(quem_command("links", "people", study, "--add", "S9", "--name", "Ida"))
    assert [(one, row["name"]) for one, row in rows.items()][-1] == ("S9", "Ida")
    assert all("/p/" in row["link"] for row in rows.values())
    code, out, err = quem_command(
        "links", "people", study, "--revoke", "S9", "--reissue", "S2", "--erase", "S1"
    )
    assert (code, "erased S1" in err, f"{study} still names S1" in err) == (0, True, True)
    assert {row["id"]: row["state"] for row in csv.DictReader(io.StringIO(out))} == {
        "S2": "new link",
        "S9": "revoked",
        **{one: "erased" for one in _table((code, out, err)) if one not in ("S2", "S9")},
    }


def test_only_a_solving_session_has_people(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Elsewhere nobody solves."""
    code, _, err = quem_command("links", "people", judging_study)
    assert (code, "has no solving session" in err) == (1, True)


def test_names_are_no_formulas(judging_study: Path, quem_command: Callable[..., Outcome]) -> None:
    """A name that a spreadsheet would calculate is marked as text, on stdout and in the file."""
    name = '=HYPERLINK("http://x.example","a")'
    outcome = quem_command("links", "judges", judging_study, "--add", "J9", "--name", name)
    assert _table(outcome)["J9"]["name"] == f"'{name}"
    assert "'=HYPER" in outcome[1]


def test_a_file_for_links_can_be_named(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """It is never one that is there; where it cannot be made no links are."""
    out = judging_study.with_name("mine.csv")
    out.write_text("precious")
    for wrong in (out, judging_study.with_name("no") / "mine.csv"):
        code, stdout, err = quem_command("links", "judges", judging_study, "--out", wrong)
        assert (code, stdout) == (1, "")
        assert f"{wrong}: cannot be written" in err
    assert out.read_text() == "precious"
    out.unlink()
    outcome = quem_command("links", "judges", judging_study, "--out", out)
    assert _file(outcome[2]) == out
    assert {row["state"] for row in _table(outcome).values()} == {"new link"}


def test_a_terminal_shows_the_links(judging_study: Path) -> None:
    """Where a person sees what is printed, links are printed, and no file is made."""
    pty = pytest.importorskip("pty", reason="terminals are POSIX")
    reading, terminal = pty.openpty()
    command = [sys.executable, "-m", "quem", "links", "judges", str(judging_study)]
    subprocess.run(command, stdout=terminal, stderr=terminal, check=True)
    output = os.read(reading, 10_000).decode()
    os.close(terminal)
    os.close(reading)
    assert output.count("/j/") == 3
    assert list(judging_study.parent.glob("*-links-*")) == []


def test_links_that_cannot_be_printed_are_not_made(judging_study: Path) -> None:
    """When the reader of the table is gone, the links are made the next time."""
    command = [sys.executable, "-m", "quem", "links", "judges", str(judging_study)]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert b"Traceback" not in ended.stderr
    assert list(judging_study.parent.glob("*-links-*")) == []
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    outcome = 0, again.stdout, again.stderr
    assert {row["state"] for row in _table(outcome).values()} == {"new link"}


def test_a_study_with_mistakes_is_refused(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """The mistakes of the study file are told, and no store is made."""
    judging_study.write_text(judging_study.read_text() + "titel: x\n")
    code, out, err = quem_command("links", "judges", judging_study)
    assert (code, out) == (1, "")
    assert "titel" in err
    assert not judging_study.with_suffix(".sqlite3").exists()
