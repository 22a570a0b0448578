"""``quem export``: what judges submitted, as files."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
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

    from quem.store.state import State

Outcome = tuple[int, str, str]


@pytest.fixture
def study(judging_study: Path) -> Path:
    """A study whose session is held, and on trial still."""
    hold_session(judging_study).close()
    return judging_study


def _rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "rankings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _revealed(study: Path) -> int:
    """How often the audit trail says that rankings were revealed."""
    store = open_store(locate_database(study))
    with store.read() as c:
        events = list(c.execute(select(EventRow.what)).scalars())
    store.close()
    return events.count("revealed")


def test_a_closed_session_is_exported(study: Path, quem_command: Callable[..., Outcome]) -> None:
    """Tables are written beside the study; what was written is told on stderr."""
    close(study)
    code, out, err = quem_command("export", study)
    folder = study.with_name("study-export")
    names = ["pairs.csv", "rankings.csv"]
    assert (code, out) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == names
    note, *written = sorted(err.splitlines())
    assert written == sorted(f"wrote {folder / name}" for name in names)
    assert note.startswith("note: ")
    assert "intransitive" in note
    assert _revealed(study) == 0


@pytest.mark.parametrize("state", ["trial", "open"])
def test_hidden_rankings_are_not_exported(
    study: Path, quem_command: Callable[..., Outcome], state: str
) -> None:
    """On trial and open nothing is written; with --reveal it is, and logged in the archive."""
    if state == "open":
        close(study, state="open")
    code, out, err = quem_command("export", study)
    assert (code, out) == (1, "")
    assert "--reveal" in err
    assert not study.with_name("study-export").exists()
    assert _revealed(study) == 0
    archive = study.with_name("archive.jsonl")
    assert quem_command("export", study, "--reveal", "--archive", archive)[0] == 0
    assert os.name == "nt" or archive.stat().st_mode & 0o777 == 0o600
    assert _revealed(study) == 1
    events = [json.loads(line).get("what") for line in archive.read_text().splitlines()]
    assert events.count("revealed") == 1


def test_the_long_table_says_all_ranks(study: Path, quem_command: Callable[..., Outcome]) -> None:
    """Each solution that a judge was given is a row; practice is not there."""
    close(study)
    quem_command("export", study, "--format", "csv")
    rows = _rows(study.with_name("study-export"))
    assert list(rows[0]) == [
        *("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognized"),
        *("placed_by", "sure", "views", "receipt"),
    ]
    assert len(rows) == 3 * (2 + 1) * 5
    assert {row["problem"] for row in rows} == {"P0", "P1"}
    cells = {
        row["solver"]: (row["rank"], row["reason"], row["recognized"])
        for row in rows
        if (row["judge"], row["problem"], row["occasion"]) == ("J1", "P1", "1")
    }
    assert cells == {
        "S0": ("", "absent", ""),
        "S1": ("", "absent", ""),
        "S2": ("1", "", ""),
        "S3": ("2", "", ""),
        "sys": ("", "absent", ""),
    }
    marked = {row["solver"] for row in rows if row["recognized"] == "1"}
    assert marked == {"S1", "sys"}
    assert {row["judge"] for row in rows if row["recognized"]} == {"J2"}
    assert "private" not in str(rows)
    ways = {(row["solver"], row["placed_by"], row["sure"]) for row in rows if row["judge"] == "J0"}
    assert ways == {
        *(("S0", "", ""), ("S1", "compare", ""), ("S2", "compare", ""), ("S3", "drag", "")),
        ("sys", "compare", "unsure"),
    }
    assert {row["views"] for row in rows} == {""}
    tasks = {(row["judge"], row["problem"], row["occasion"]): row["receipt"] for row in rows}
    assert len(set(tasks.values())) == len(tasks)
    store = open_store(locate_database(study))
    with store.read() as c:
        judges = {judge.key: judge.id for judge in people_of(c, "made-up", "judge")}
        shown = {
            (judge, one.code)
            for key, judge in judges.items()
            for one in receipts_of(c, key).values()
        }
    store.close()
    assert {(row["judge"], row["receipt"]) for row in rows} <= shown


def test_times_in_view_stand_beside_the_ranks() -> None:
    """In tenths of a second, and empty for what was never in view."""
    ranking = replace(_ranking("P1", STATES[0]), views={"S1": 0.1 + 0.2, "sys": 61.0})
    rows = list(csv.DictReader(io.StringIO(long_table([ranking]))))
    assert [row["views"] for row in rows] == ["", "0.3", "", "", "61.0"]


def test_pairs_are_what_was_answered(study: Path, quem_command: Callable[..., Outcome]) -> None:
    """Each answer is a row, in the order in which it was given."""
    close(study)
    code, _, err = quem_command("export", study)
    folder = study.with_name("study-export")
    assert code == 0
    assert "intransitive" in err
    with (folder / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ",".join(rows[0]) == "judge,problem,block,occasion,number,new,other,verdict,side,seconds"
    assert len(rows) == 3 * 4
    here = [row for row in rows if (row["problem"], row["occasion"]) == ("P1", "1")]
    assert [",".join(row.values()) for row in here] == [
        "J0,P1,1,1,1,S2,S0,better,left,30.0",
        "J0,P1,1,1,2,S1,S2,worse,right,12.5",
        "J0,P1,1,1,3,S1,S0,better,right,4.0",
        "J0,P1,1,1,4,sys,S2,equal,left,61.2",
    ]


def test_equal_answers_are_counted(study: Path) -> None:
    """Of the newest revision of each task, practice left out."""
    store = open_store(locate_database(study))
    with store.read() as c:
        answers = share_of_answers(c, "made-up")
    store.close()
    assert (answers.count, answers.equal, answers.share_equal) == (12, 3, 0.25)


def test_the_long_table_is_read_as_the_session_is(
    study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """An analysis of the exported table is that of the store."""
    close(study)
    quem_command("export", study)
    stored = quem.load_study(study, kind="experience")
    table = study.with_name("study-export") / "rankings.csv"
    (study.parent / "copy").mkdir()
    copy = study.parent / "copy" / "study.yaml"
    (copy.parent / "rankings.csv").write_bytes(table.read_bytes())
    text = study.read_text().replace("made-up", "copied")
    for number in range(2):
        text = text.replace(f", statement: p{number}.md", "")
    copy.write_text(f"{text}rankings: rankings.csv\n")
    read = quem.load_study(copy, kind="experience")
    assert stored.rankings is not None
    assert read.rankings is not None
    key = ["judge", "problem", "occasion", "solver"]
    assert read.data.warnings == ()
    one, two = (
        table.sort_values(key).reset_index(drop=True) for table in (stored.rankings, read.rankings)
    )
    assert one[[*key, "rank"]].astype(str).equals(two[[*key, "rank"]].astype(str))


def _ranking(problem: str, state: State, judge: str = "J1", occasion: int = 1) -> SubmittedRanking:
    return SubmittedRanking(judge, problem, 1, occasion, state)


def test_a_study_without_a_session_is_told(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Where there is no store, none is made."""
    code, out, err = quem_command("export", judging_study)
    assert (code, out) == (1, "")
    assert "has no judging session" in err
    assert not judging_study.with_suffix(".sqlite3").exists()


def test_a_session_without_rankings_warns(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """When nothing is submitted, the table has a header only."""
    quem_command("links", "judges", judging_study)
    close(judging_study)
    code, _, err = quem_command("export", judging_study, "--out", judging_study.parent / "new")
    assert code == 0
    assert "no ranking is submitted" in err
    assert _rows(judging_study.parent / "new") == []
    assert [path.name for path in (judging_study.parent / "new").iterdir()] == ["rankings.csv"]


def test_files_of_the_study_are_not_replaced(
    study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """An export into the study's folder stops before the study's own table."""
    close(study)
    (study.parent / "rankings.csv").write_text("mine")
    study.write_text(study.read_text() + "rankings: {from: store, file: rankings.csv}\n")
    code, _, err = quem_command("export", study, "--out", study.parent)
    assert (code, (study.parent / "rankings.csv").read_text()) == (1, "mine")
    assert "belongs to the study" in err


def test_an_export_is_written_whole_or_not_at_all(
    study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """A folder that cannot be written to is a mistake, and other files stay."""
    close(study)
    folder = study.with_name("study-export")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "pairs.csv").mkdir()
    code, _, err = quem_command("export", study)
    assert code == 1
    assert "pairs.csv" in err
    assert sorted(path.name for path in folder.iterdir()) == ["mine.txt", "pairs.csv"]


def test_the_csv_is_utf8_with_plain_line_ends(
    study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """The table is the same bytes on any system."""
    close(study)
    quem_command("export", study)
    raw = (study.with_name("study-export") / "rankings.csv").read_bytes()
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    assert len(list(csv.reader(io.StringIO(raw.decode())))) == 46
