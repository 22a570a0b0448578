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

from quem.errors import QuemError
from quem.store.people import people_of, person_of_link
from tests.commands.conftest import stored
from tests.webjudge.solving_sites import write_solving_study
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Command, Outcome

STUDY = "made-up"
Table = dict[str, dict[str, str]]


def links_file(err: str) -> Path | None:
    """The file that holds the links, which its owner alone can read."""
    match = re.search(r"^Links: (.*) \(only you can read it\)$", err, re.MULTILINE)
    if not match:
        return None
    assert Path(match[1]).stat().st_mode & 0o777 == 0o600
    return Path(match[1])


def table_of(outcome: Outcome) -> Table:
    """The table with the links that were made now, by id; what is printed holds none."""
    assert outcome.code == 0, outcome
    file = links_file(outcome.err)
    assert not re.search("/[jdp]/", outcome.out + outcome.err)
    rows = list(csv.DictReader(io.StringIO(file.read_text() if file else outcome.out)))
    assert not rows or list(rows[0]) == ["id", "name", "link", "state"]
    return {row["id"]: row for row in rows}


def who(study: Path, row: dict[str, str]) -> str | None:
    path, _, token = row["link"].rpartition("/")
    role: Literal["organizer", "judge"] = "organizer" if path.endswith("/d") else "judge"
    with stored(study) as c:
        person = person_of_link(c, STUDY, role, token)
        return person.id if person else None


@pytest.fixture
def table(run: Command, judging_study: Path) -> Callable[..., Table]:
    return lambda *words: table_of(run("links", "judges", judging_study, *words))


def test_links_are_made_once_replaced_and_revoked(
    judging_study: Path, table: Callable[..., Table]
) -> None:
    old = table()
    assert [(one, row["name"]) for one, row in old.items()][1] == ("J1", "Judge 1")
    for judge, row in old.items():
        assert re.fullmatch(r"http://127\.0\.0\.1:8080/j/[\w-]{32}", row["link"])
        assert (row["state"], who(judging_study, row)) == ("new link", judge)
    assert {(row["link"], row["state"]) for row in table().values()} == {("", "has a link")}
    assert who(judging_study, old["J2"]) == "J2"
    words = ("--reissue", "J0", "--reissue", "J1", "--revoke", "J2")
    new = table(*words, "--url", "https://judging.example.org/")
    assert new["J0"]["link"].startswith("https://judging.example.org/j/")
    assert (new["J2"]["link"], new["J2"]["state"]) == ("", "revoked")
    assert [who(judging_study, row) for row in old.values()] == [None] * 3
    assert [who(judging_study, new[judge]) for judge in ("J0", "J1")] == ["J0", "J1"]
    assert table()["J2"]["state"] == "revoked"
    assert who(judging_study, table("--reissue", "J2")["J2"]) == "J2"


def test_personal_data_can_be_erased(
    judging_study: Path, run: Command, table: Callable[..., Table]
) -> None:
    links = table()
    outcome = run("links", "judges", judging_study, "--erase", "J1")
    assert "erased J1, whose rankings stay as those of erased-1" in outcome.err
    assert f"warning: {judging_study} still names J1" in outcome.err
    assert "Judge 1" not in outcome.out
    assert table_of(outcome)["erased-1"]["state"] == "erased"
    assert who(judging_study, links["J1"]) is None
    files = [path for path in judging_study.parent.glob("study.sqlite3*") if path.is_file()]
    assert files
    assert not any(b"Judge 1" in path.read_bytes() for path in files)
    assert run("links", "judges", judging_study, "--erase", "erased-1").refuses("erased")


def test_a_judge_can_be_added(judging_study: Path, run: Command) -> None:
    """An added judge gets a link at once; a name that a spreadsheet would calculate is marked."""
    name = '=HYPERLINK("http://x.example","É")'
    words = ("--add", "J9", "--name", name, "--experience", "4.5")
    outcome = run("links", "judges", judging_study, *words)
    row = table_of(outcome)["J9"]
    assert (who(judging_study, row), row["name"]) == ("J9", f"'{name}")
    assert "'=HYPER" in outcome.out
    with stored(judging_study) as c:
        added = people_of(c, STUDY, "judge")[-1]
        assert (added.id, added.name, added.experience, added.added) == ("J9", name, 4.5, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("judges --reissue J7", "no judge 'J7'"),
        ("judges --revoke J7", "no judge 'J7'"),
        ("judges --erase J7", "no judge 'J7'"),
        ("judges --add J1", "already"),
        ("judges --add S1", "also a subject"),
        ("judges --add=", "--add"),
        ("judges --add J9 --experience nan", "--experience"),
        ("judges --add J9 --experience=-1", "--experience"),
        ("judges --add J9 --name two\nlines", "--name"),
        ("judges --add J9 --erase J0 --reissue J7", "no judge 'J7'"),
        ("organizers --reissue zoe", "no organizer 'zoe'"),
        ("organizers --add organizer", "already"),
        ("organizers --add ada --name two\nlines", "--name"),
        ("people", "has no solving session"),
    ],
)
def test_mistakes_change_nothing(
    judging_study: Path, run: Command, table: Callable[..., Table], words: str, message: str
) -> None:
    links = table()
    run("links", "organizers", judging_study)
    role, *options = words.split(" ")
    outcome = run("links", role, judging_study, *options)
    assert outcome.refuses(message)
    assert outcome.err.count("\n") == 1
    assert list(table()) == list(links)
    assert [who(judging_study, row) for row in links.values()] == list(links)


def test_organizers_have_links_too(judging_study: Path, run: Command) -> None:
    """A study that names nobody has one; who is taken out of the file has no link any more."""

    def table(*words: str) -> Table:
        return table_of(run("links", "organizers", judging_study, *words))

    [first] = table().values()
    assert re.fullmatch(r"http://127\.0\.0\.1:8080/d/[\w-]{32}", first["link"])
    assert who(judging_study, first) == "organizer"
    added = table("--add", "eve", "--name", "Eve")["eve"]
    assert who(judging_study, added) == "eve"
    again = table("--reissue", "organizer", "--revoke", "eve")["organizer"]
    assert who(judging_study, again) == "organizer"
    assert who(judging_study, first) is who(judging_study, added) is None
    assert table()["eve"]["state"] == "revoked"
    bare = judging_study.read_text()
    judging_study.write_text(f"{bare}organizers: [{{id: amy, name: =Amy}}, {{id: bob}}]\n")
    names = {one: row["name"] for one, row in table().items()}
    assert names == {"eve": "Eve", "amy": "'=Amy", "bob": ""}
    assert who(judging_study, again) is None
    judging_study.write_text(bare)
    assert list(table()) == ["eve", "organizer"]


def test_people_who_solve_have_links_too(tmp_path: Path, run: Command) -> None:
    """Those of the study file, and those who are added; what is erased is said."""
    study = write_solving_study(tmp_path, people=("S1", "S2"))
    rows = table_of(run("links", "people", study, "--add", "S9", "--name", "Ida"))
    assert (list(rows)[-1], rows["S9"]["name"]) == ("S9", "Ida")
    assert all("/p/" in row["link"] for row in rows.values())
    outcome = run("links", "people", study, "--revoke", "S9", "--reissue", "S2", "--erase", "S1")
    assert "erased S1" in outcome.err
    assert f"{study} still names S1" in outcome.err
    states = {one: row["state"] for one, row in table_of(outcome).items()}
    assert (states.pop("S2"), states.pop("S9")) == ("new link", "revoked")
    assert list(states.values()) == ["erased"]


def test_a_file_for_links_can_be_named(judging_study: Path, run: Command) -> None:
    """It is never one that is there; where it cannot be made no links are."""
    out = judging_study.with_name("mine.csv")
    out.write_text("precious")
    words = ("links", "judges", judging_study, "--out")
    for wrong in (out, judging_study.with_name("no") / "mine.csv"):
        assert run(*words, wrong).refuses(f"{wrong}: cannot be written")
    assert out.read_text() == "precious"
    out.unlink()
    outcome = run(*words, out)
    assert links_file(outcome.err) == out
    assert {row["state"] for row in table_of(outcome).values()} == {"new link"}


def test_a_terminal_shows_the_links(judging_study: Path, table: Callable[..., Table]) -> None:
    pty = pytest.importorskip("pty", reason="terminals are POSIX")
    command = [sys.executable, "-m", "quem", "links", "judges", str(judging_study)]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert b"Traceback" not in ended.stderr
    reading, terminal = pty.openpty()
    subprocess.run(command, stdout=terminal, stderr=terminal, check=True)
    output = os.read(reading, 10_000).decode()
    os.close(terminal)
    os.close(reading)
    assert output.count("/j/") == 3
    assert list(judging_study.parent.glob("*-links-*")) == []
    assert {row["state"] for row in table().values()} == {"has a link"}


def test_a_study_in_a_renamed_folder_is_not_begun_anew(judging_study: Path, run: Command) -> None:
    """Without an id of its own it is another study; each command names the one that is there."""
    assert run("links", "judges", judging_study).code == 0
    judging_study.write_text(judging_study.read_text().replace("id: made-up\n", ""))
    for words in (("links", "judges"), ("export",)):
        assert run(*words, judging_study).refuses("write `id: made-up` into its study file")
    with pytest.raises(QuemError, match="write `id: made-up` into its study file"):
        open_site(judging_study)
