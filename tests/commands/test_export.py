"""``quem export``: what judges submitted, as files, also without names; ``quem import``."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

import quem
from quem.store.exporting import SubmittedRanking, long_table, receipts_of
from quem.store.models import EventRow
from quem.store.people import add_person, erase, people_of, person_named
from quem.store.standing import share_of_answers
from quem.store.state import State
from tests.commands.conftest import stored
from tests.store.made import STATES, close, hold_session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Command


@pytest.fixture
def study(judging_study: Path) -> Path:
    hold_session(judging_study).close()
    return judging_study


@pytest.fixture
def closed(study: Path) -> Path:
    close(study)
    return study


@pytest.fixture
def archive(closed: Path, run: Command) -> Path:
    file = closed.with_name("archive.jsonl")
    assert run("export", closed, "--archive", file).code == 0
    return file


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def revealed(study: Path) -> int:
    with stored(study) as c:
        return list(c.scalars(select(EventRow.what))).count("revealed")


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
    with stored(closed) as c:
        shown = {
            (judge.id, one.code)
            for judge in people_of(c, "made-up", "judge")
            for one in receipts_of(c, judge.key).values()
        }
        answers = share_of_answers(c, "made-up")
    assert {(row["judge"], row["receipt"]) for row in rows} <= shown
    assert (answers.count, answers.equal, answers.share_equal) == (12, 3, 0.25)


def test_times_in_view_stand_beside_the_ranks() -> None:
    """In tenths of a second, and empty for what was never in view."""
    views = {"S1": 0.1 + 0.2, "sys": 61.0}
    table = long_table([SubmittedRanking("J1", "P1", 1, 1, STATES[0], views=views)])
    rows = csv.DictReader(io.StringIO(table))
    assert [row["views"] for row in rows] == ["", "0.3", "", "", "61.0"]


def test_the_long_table_is_read_as_the_session_is(closed: Path, run: Command) -> None:
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
    assert run("export", judging_study).refuses("there is no judging session of this study")
    assert not judging_study.with_suffix(".sqlite3").exists()
    run("links", "judges", judging_study)
    close(judging_study)
    folder = judging_study.parent / "new"
    code, _, err = run("export", judging_study, "--out", folder)
    assert (code, "no ranking is submitted" in err) == (0, True)
    assert rows_of(folder / "rankings.csv") == []
    assert len(list(folder.iterdir())) == 1


def test_a_table_of_the_study_is_never_written_over(closed: Path, run: Command) -> None:
    own = closed.with_name("rankings.csv")
    own.write_text("mine")
    closed.write_text(closed.read_text() + "rankings: {from: store, file: rankings.csv}\n")
    assert run("export", closed, "--out", closed.parent).refuses("belongs to the study")
    assert own.read_text() == "mine"


def test_a_session_is_restored(closed: Path, archive: Path, run: Command) -> None:
    """In an empty store, the session is what it was: its archive and its analysis are."""
    other = closed.with_name("b.sqlite3")
    words = ("import", closed, archive, "--database", other)
    whole = archive.read_text()
    for content, message in ((whole[:999], "is damaged"), ("", "is not an archive")):
        archive.write_text(content)
        assert run(*words).refuses(f"error: {archive}:", message)
        assert not other.exists()
    archive.write_text(whole)
    code, out, err = run(*words)
    assert (code, out) == (0, "")
    assert "restored 3 people, 12 tasks, 24 revisions into" in err
    again = closed.with_name("again.jsonl")
    assert run("export", closed, "--archive", again, "--database", other).code == 0
    assert again.read_text() == whole
    one = run("analyze", closed, "--json")
    assert one.code == 0
    assert run("analyze", closed, "--json", "--database", other) == one
    # Sessions are never mixed.
    assert run("import", closed, archive).refuses("holds the study 'made-up' already")
    assert run("analyze", closed, "--json") == one


NAMED_SOLVERS = ("Zuse", "hopper", "Turing", "Noether", "sys")
SAID = ("Ada", "pascal", "Émilie", "Countess", "Blaise", "Grace", "example.org", "Northgate")
NAMED = """
id: named
title: What hopper and Ada-Lovelace did
description: Amazing Grace took part.
organizer: {name: Secretly Somebody, email: grace@example.org}
problems: [{id: P0, title: First, statement: p0.md}, {id: P1, title: Second}]
judges:
  - {id: Ada-Lovelace, name: Countess, address: Countess A., experience: 9}
  - {id: b.pascal, name: Blaise, email: grace@example.org}
  - {id: Émilie}
subjects:
  - {id: Zuse, experience: 1}
  - {id: hopper, name: Amazing Grace, experience: 2}
  - {id: Turing, experience: 4}
  - {id: Noether, experience: 6}
systems: [{id: sys, name: Zeta, version: "1"}]
judging:
  identity_words: [Northgate]
  questions: [{id: fit, about: solution, text: Would it pass?, kind: flag}]
"""


@pytest.fixture
def named_study(tmp_path: Path, run: Command) -> Path:
    """A sealed and closed study that names people wherever it can."""
    (tmp_path / "p0.md").write_text("As Secretly asked.\n")
    for problem in ("P0", "P1"):
        (tmp_path / "solutions" / problem).mkdir(parents=True)
        for solver in NAMED_SOLVERS:
            text = f"By Northgate, {solver}.\n"
            (tmp_path / "solutions" / problem / f"{solver}.md").write_text(text)
    path = tmp_path / "study.yaml"
    path.write_text(NAMED, encoding="utf-8")
    assert run("seal", path).code == 0
    first = State(ranked=tuple((solver,) for solver in reversed(NAMED_SOLVERS)))
    second = State(
        ranked=(("sys",), ("Noether", "Turing"), ("hopper",)),
        cannot={"Zuse": "written by Zuse, says Countess"},
        comments={"sys": "Secretly bad"},
        recognized=("hopper",),
        comment="ask Blaise",
        answers={"fit": {"sys": "yes", "hopper": "yes"}},
    )
    store = hold_session(path, solvers=NAMED_SOLVERS, states=(first, second, first))
    with store.write() as c:
        add_person(c, "named", "judge", "Gracefully-late", "organizer:Secretly", name="Countess")
        erase(c, person_named(c, "named", "judge", "Émilie"), "shell")
    store.close()
    close(path)
    return path


def test_nobody_is_named_and_the_result_is_the_same(
    named_study: Path, tmp_path: Path, run: Command
) -> None:
    """The two files make a study and a session again, with the numbers of the first."""
    folder = tmp_path / "shared"
    folder.mkdir()
    archive = folder / "copy.jsonl"
    assert run("export", named_study, "--archive", archive, "--pseudonyms").code == 0
    copy = folder / "copy.yaml"
    assert sorted(folder.iterdir()) == [archive, copy]
    text = archive.read_text("utf-8") + copy.read_text("utf-8")
    people = (*NAMED_SOLVERS[:-1], "Lovelace", "Secretly", *SAID)
    named = [one for one in people if re.search(rf"\b{re.escape(one)}\b", text, re.IGNORECASE)]
    assert named == []
    rows = [json.loads(line) for line in archive.read_text("utf-8").splitlines()]
    assert {row["table"] for row in rows[1:]} == {
        "study",
        "person",
        "task",
        "layout",
        "revision",
    }
    assert rows[0]["seal"]["differences"] == []
    record = json.loads(named_study.with_suffix(".seal.json").read_bytes())
    digests = set(record["contents"]["solution"].values())
    assert len(digests) == len(NAMED_SOLVERS)
    assert not any(one in text for one in digests)
    assert run("import", copy, archive).code == 0
    one, two = (
        quem.analyze(quem.load_study(path, kind="experience")).to_dict()
        for path in (named_study, copy)
    )
    of_one, of_two = (made["estimates"][0]["paper"] for made in (one, two))
    for value in ("experience", "interval"):
        assert of_two[value] == pytest.approx(of_one[value], rel=1e-12)
    ranks = [[row["average_rank"] for row in made["averages"]] for made in (one, two)]
    assert sorted(ranks[0]) == sorted(ranks[1])
    assert one["questions"]["replies"] == two["questions"]["replies"]
    drawn = {copy.read_text("utf-8")}
    for number in range(3):
        archive = tmp_path / f"{number}.jsonl"
        assert run("export", named_study, "--archive", archive, "--pseudonyms").code == 0
        drawn.add(archive.with_suffix(".yaml").read_text("utf-8"))
    assert len(drawn) > 1, "copies are not drawn apart"
