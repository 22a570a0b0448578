"""``quem export``: what judges submitted, as files; ``quem import``: the session again."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

import quem
from quem.store.database import open_store
from quem.store.exporting import SubmittedRanking, long_table, receipts_of
from quem.store.location import locate_database
from quem.store.models import EventRow
from quem.store.people import people_of
from quem.store.standing import share_of_answers
from tests.commands.sessions import STATES, close, hold_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Command


@pytest.fixture
def study(judging_study: Path) -> Path:
    """A study whose session is held, and on trial still."""
    hold_session(judging_study).close()
    return judging_study


@pytest.fixture
def closed(study: Path) -> Path:
    """A study whose session is held and closed."""
    close(study)
    return study


@pytest.fixture
def archive(closed: Path, run: Command) -> Path:
    """The archive of a session."""
    file = closed.with_name("archive.jsonl")
    assert run("export", closed, "--archive", file).code == 0
    return file


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def revealed(study: Path) -> int:
    """How often the audit trail says that rankings were revealed."""
    store = open_store(locate_database(study))
    with store.read() as c:
        events = list(c.execute(select(EventRow.what)).scalars())
    store.close()
    return events.count("revealed")


def test_a_closed_session_is_exported(closed: Path, run: Command) -> None:
    """Tables are written beside the study, each answer is a row; nothing is revealed."""
    code, out, err = run("export", closed)
    folder = closed.with_name("study-export")
    assert (code, out) == (0, "")
    assert {path.name for path in folder.iterdir()} == {"pairs.csv", "rankings.csv"}
    note, *written = sorted(err.splitlines())
    assert written == [f"wrote {folder / name}" for name in ("pairs.csv", "rankings.csv")]
    assert "intransitive" in note
    assert revealed(closed) == 0
    raw = (folder / "rankings.csv").read_bytes()
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    lines = (folder / "pairs.csv").read_text().splitlines()
    assert lines[0] == "judge,problem,block,occasion,number,new,other,verdict,side,seconds"
    assert len(lines) == 1 + 3 * 4
    assert [line for line in lines if line.startswith("J0,P1,1,1,")] == [
        "J0,P1,1,1,1,S2,S0,better,left,30.0",
        "J0,P1,1,1,2,S1,S2,worse,right,12.5",
        "J0,P1,1,1,3,S1,S0,better,right,4.0",
        "J0,P1,1,1,4,sys,S2,equal,left,61.2",
    ]


@pytest.mark.parametrize("state", ["trial", "open"])
def test_hidden_rankings_are_not_exported(study: Path, run: Command, state: str) -> None:
    """On trial and open nothing is written; with --reveal it is, and logged in the archive."""
    if state == "open":
        close(study, state="open")
    assert run("export", study).refuses("--reveal")
    assert not study.with_name("study-export").exists()
    assert revealed(study) == 0
    archive = study.with_name("archive.jsonl")
    assert run("export", study, "--reveal", "--archive", archive).code == 0
    assert archive.stat().st_mode & 0o777 == 0o600
    assert revealed(study) == 1
    events = [json.loads(line).get("what") for line in archive.read_text().splitlines()]
    assert events.count("revealed") == 1


def test_the_long_table_says_all_ranks(closed: Path, run: Command) -> None:
    """Each solution that a judge was given is a row; practice is not there."""
    run("export", closed, "--format", "csv")
    rows = rows_of(closed.with_name("study-export") / "rankings.csv")
    assert list(rows[0]) == [
        *("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognized"),
        *("placed_by", "sure", "views", "receipt"),
    ]
    assert len(rows) == 3 * (2 + 1) * 5
    assert {row["problem"] for row in rows} == {"P0", "P1"}
    cells = {
        row["solver"]: (row["rank"], row["reason"])
        for row in rows
        if (row["judge"], row["problem"], row["occasion"]) == ("J1", "P1", "1")
    }
    absent = dict.fromkeys(("S0", "S1", "sys"), ("", "absent"))
    assert cells == {**absent, "S2": ("1", ""), "S3": ("2", "")}
    marked = {(row["judge"], row["solver"]) for row in rows if row["recognized"] == "1"}
    assert marked == {("J2", "S1"), ("J2", "sys")}
    assert "private" not in str(rows)
    ways = {(row["solver"], row["placed_by"], row["sure"]) for row in rows if row["judge"] == "J0"}
    assert ways == {
        *(("S0", "", ""), ("S1", "compare", ""), ("S2", "compare", ""), ("S3", "drag", "")),
        ("sys", "compare", "unsure"),
    }
    tasks = {(row["judge"], row["problem"], row["occasion"]): row["receipt"] for row in rows}
    assert len(set(tasks.values())) == len(tasks)
    store = open_store(locate_database(closed))
    with store.read() as c:
        shown = {
            (judge.id, one.code)
            for judge in people_of(c, "made-up", "judge")
            for one in receipts_of(c, judge.key).values()
        }
        answers = share_of_answers(c, "made-up")
    store.close()
    assert {(row["judge"], row["receipt"]) for row in rows} <= shown
    assert (answers.count, answers.equal, answers.share_equal) == (12, 3, 0.25)


def test_times_in_view_stand_beside_the_ranks() -> None:
    """In tenths of a second, and empty for what was never in view."""
    views = {"S1": 0.1 + 0.2, "sys": 61.0}
    ranking = SubmittedRanking("J1", "P1", 1, 1, STATES[0], views=views)
    rows = list(csv.DictReader(io.StringIO(long_table([ranking]))))
    assert [row["views"] for row in rows] == ["", "0.3", "", "", "61.0"]


def test_the_long_table_is_read_as_the_session_is(closed: Path, run: Command) -> None:
    """An analysis of the exported table is that of the store."""
    run("export", closed)
    stored = quem.load_study(closed, kind="experience")
    table = closed.with_name("study-export") / "rankings.csv"
    copy = table.with_name("study.yaml")
    text = closed.read_text().replace("made-up", "copied")
    for number in range(2):
        text = text.replace(f", statement: p{number}.md", "")
    copy.write_text(f"{text}rankings: rankings.csv\n")
    read = quem.load_study(copy, kind="experience")
    assert stored.rankings is not None
    assert read.rankings is not None
    assert read.data.warnings == ()
    key = ["judge", "problem", "occasion", "solver"]
    one, two = (of.sort_values(key)[[*key, "rank"]] for of in (stored.rankings, read.rankings))
    assert one.astype(str).to_numpy().tolist() == two.astype(str).to_numpy().tolist()


def test_sessions_without_rankings(judging_study: Path, run: Command) -> None:
    """Where there is no store, none is made; where nothing is submitted, the table is empty."""
    assert run("export", judging_study).refuses("has no judging session")
    assert not judging_study.with_suffix(".sqlite3").exists()
    run("links", "judges", judging_study)
    close(judging_study)
    folder = judging_study.parent / "new"
    code, _, err = run("export", judging_study, "--out", folder)
    assert (code, "no ranking is submitted" in err) == (0, True)
    assert rows_of(folder / "rankings.csv") == []
    assert len(list(folder.iterdir())) == 1


def test_an_export_is_written_whole_or_not_at_all(closed: Path, run: Command) -> None:
    """A table of the study stays, and so do other files where one cannot be written."""
    folder = closed.with_name("study-export")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "pairs.csv").mkdir()
    assert run("export", closed).refuses("pairs.csv")
    assert sorted(path.name for path in folder.iterdir()) == ["mine.txt", "pairs.csv"]
    own = closed.with_name("rankings.csv")
    own.write_text("mine")
    closed.write_text(closed.read_text() + "rankings: {from: store, file: rankings.csv}\n")
    assert run("export", closed, "--out", closed.parent).refuses("belongs to the study")
    assert own.read_text() == "mine"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_session_is_restored(
    closed: Path, archive: Path, run: Command, new_postgres: Callable[[], str], kind: str
) -> None:
    """In an empty store, the session is what it was: its archive and its analysis are."""
    other = str(closed.with_name("b.sqlite3")) if kind == "sqlite" else new_postgres()
    code, out, err = run("import", closed, archive, "--database", other)
    assert (code, out) == (0, "")
    assert "restored 3 people, 12 tasks, 24 revisions into" in err
    again = closed.with_name("again.jsonl")
    assert run("export", closed, "--archive", again, "--database", other).code == 0
    assert again.read_bytes() == archive.read_bytes()
    one = run("analyze", closed, "--json")
    assert one.code == 0
    assert run("analyze", closed, "--json", "--database", other) == one
    # Sessions are never mixed.
    assert run("import", closed, archive).refuses("holds the study 'made-up' already")
    assert run("analyze", closed, "--json") == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "is damaged"),
        (lambda _: "", "is not an archive"),
        (None, "file not found"),
    ],
)
def test_what_cannot_be_restored_makes_no_store(
    closed: Path, archive: Path, run: Command, change: Callable[[str], str] | None, message: str
) -> None:
    """A damaged or foreign archive is refused by name, and no database is made."""
    if change:
        archive.write_text(change(archive.read_text()))
    else:
        archive.unlink()
    other = closed.with_name("other.sqlite3")
    words = ("import", closed, archive, "--database", other)
    assert run(*words).refuses(f"error: {archive}:", message)
    assert not other.exists()
