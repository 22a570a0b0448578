"""Rankings that are refused: each mistake once, with file, line, cell, and column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.examples import RANKS, RECORDS, long_csv, mistakes_of, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG = long_csv()
HEADER, ROW = "judge,problem,solver,rank\n", "J1,P1,S2,3\n"
WIDE = "solver,J1:P1,J1:P2,J2:P1\nS1,1,1,1\nS2,2,2,2\nS3,3,3,3\n"
TWO_ROWS = "s,J1,,J2,\n,P1,P2,P1,P2\nS1,1,2,3,4\nS2,2,1,4,3\n"
NAMES = "# ALTERNATIVE NAME 1: S1\n# ALTERNATIVE NAME 2: S2\n# ALTERNATIVE NAME 3: S3\n"
DECISIONS = "judge,problem,winner,loser,tie\n"
TITLE = "the first line has fewer cells than those below; is it a title?"
FEWER = "the header has fewer cells (2) than every line below it; is it a title?"


def changed(new: str, old: str = ROW) -> str:
    """The long table with another row."""
    return LONG.replace(old, new)


def beside(name: str, cell: str, new: str = ROW) -> str:
    """The long table with another row, and with a column that is empty elsewhere."""
    table = LONG.replace("\n", ",\n").replace("rank,\n", f"rank,{name}\n")
    return table.replace(ROW.replace("\n", ","), new.replace("\n", f",{cell}"))


TABLES = [
    ("long", changed("J9,P1,S2,3\n"), ":3:1: judge: unknown judge 'J9'"),
    ("long", changed("J1,P1,Sys,3\n"), ":3:3: solver: unknown solver 'Sys'; did you mean sys?"),
    ("long", changed(",P1,S2,3\n"), ":3:1: judge: is empty"),
    ("long", changed("J1,P1,S1,3\n"), ":3:3: solver: duplicate: J1's rank of S1 on P1"),
    ("long", changed("J1,P1,S2,x\n"), ":3:4: rank: 'x' is not a number"),
    ("long", changed("J1,P1,S2,1e99\n"), ":3:4: rank: '1e99' is too large"),
    ("long", changed("J1,P1,S2,-99\n"), ":3:4: rank: '-99' is negative"),
    ("long", changed("J1,P1,S2,3,5\n"), ":3:5: this line has 5 cells, the header 4"),
    ("long", changed('J1,P1,"S2,3\n'), ':3: a cell begins with a " that never ends'),
    ("long", changed("J1,P1,S2,\x00\n"), ":3: holds binary data"),
    ("long", changed("judge,problem,solver,x\n", HEADER), ":1: rank: column 'rank' not found"),
    ("long", f"sep=,\n\n{LONG.replace('S2,3', 'S2,x', 1)}", ":5:4: rank: 'x' is not"),
    ("long", HEADER, ": holds no ranks"),
    ("long", WIDE, ":1: judge: columns 'judge', 'problem', 'rank' not found"),
    ("long", f"My study\n{LONG}", f":1: {TITLE}"),
    ("long", f"My study, 2024\n{LONG}", f":1: {FEWER}"),
    ("long", f"{LONG}# a comment,,,\n", ":30:2: problem: is empty, as is the solver"),
    ("long", beside("rank", ""), ":1:5: rank: duplicate column"),
    ("long", beside("block", "0"), ":3:5: block: '0' is not a whole number"),
    ("long", beside("occasion", "9" * 5000), ":3:5: occasion: '9999"),
    ("long", beside("recognized", "maybe"), ":3:5: recognized: 'maybe' is not a mark"),
    ("long", beside("reason", "failed"), ":3:5: reason: failed contradicts the rank cell"),
    ("long", beside("reason", "absent", "J1,P1,S2,failed\n"), ":3:5: reason: absent contradicts"),
    (
        "long",
        beside("reason", "ill", "J1,P1,S2,\n"),
        ":3:5: reason: 'ill' is not one of absent, fai",
    ),
    ("long", b"", ": is empty"),
    ("long", b"PK\x03\x04\x14\x00\x00\x00\x08\x81\x8d", ": is an Excel or OpenDocument workbook"),
    ("long", b"judge\x81", ":1: is not UTF-8 text"),
    ("long", LONG.encode("utf-16")[:-1], ":29: is not UTF-16 text"),
    ("wide", LONG, ":2: this is a long table"),
    ("wide", "Figure 1\nsolver,J1,J2\n,P1,P1\nS1,1,1\n", f":1: {TITLE}"),
    ("wide", "solver,J1,J2\nS1,1,1\nS2,2,2\nS3,3,3\n", ":2: a second header row must name"),
    ("wide", WIDE.replace("J1:P2", "J1:Q"), ":1:3: problem: unknown problem 'Q'"),
    ("wide", WIDE.replace("J2:P1", "J1:P1"), ":1:4: problem: duplicate: J1:P1"),
    ("wide", f"{WIDE}S3,3,3,3\n", ":5:1: solver: duplicate: S3 is already on line 4"),
    ("wide", WIDE.replace("S3", ""), ":4:1: solver: is empty"),
    ("wide", TWO_ROWS.replace(",P1,P2", ",P1,P1", 1), ":2:3: problem: duplicate: J1:P1"),
    ("averages", "solver,rank\nS1,1\n", ":1: average_rank: column 'average_rank' not found"),
    ("averages", "solver,average_rank\nS2,\nS2,3\n", ":3:1: solver: duplicate: S2"),
    ("averages", "solver,average_rank\nS1,-1\nS2,2\n", ":2:2: average_rank: '-1' is negative"),
    ("averages", "solver,average_rank\nS1,1,5\nS2,2,5\n", f":1: {FEWER}"),
    ("preflib", f"{NAMES}1: 1,2\n1: 2,4\n", ":5: alternative 4 has no"),
    ("preflib", f"{NAMES}1: 1,2,1\n", ":4: duplicate alternative"),
    ("preflib", f"{NAMES}1: {{1,{{2}},3}}\n", ":4: a brace does not match"),
    ("preflib", f"{NAMES}1:\n", ":4: this order is empty"),
    ("preflib", f"{NAMES}1,2,3\n", ":4: is not an order such as"),
    ("preflib", NAMES.replace("S2", "S1") + "1: 1,2\n", ":2: solver: S1 is already the name of"),
    ("preflib", NAMES, ": holds no orders"),
    ("preflib", f"{NAMES}3: 1,2,3\n", ": holds 3 orders, and the study has 2 judges"),
    ("preflib", f"{NAMES}{'9' * 5000}: 1,2,3\n", ": holds 999999999 orders"),
    ("decisions", DECISIONS, ": holds no decisions"),
    ("decisions", f"{DECISIONS}J1,P1,S1,S9,\n", ":2:4: loser: unknown solver 'S9'"),
    ("decisions", f"{DECISIONS}J1,P1,S1,S1,\n", ":2:4: loser: S1 cannot win against itself"),
    ("decisions", f"{DECISIONS}J1,P1,S1,,\n,,,,\nJ1,P1,S1,S2,", ":2:4: loser: is empty"),
    ("decisions", f"{DECISIONS}J1,P1,S1,S2,maybe", ":2:5: tie: 'maybe' is not a mark"),
]


@pytest.mark.parametrize(("layout", "table", "told"), TABLES)
def test_a_wrong_table_is_told_once(
    layout: str, table: str | bytes, told: str, make_study: Callable[..., Path]
) -> None:
    """A wrong layout, a title, a comment, or a wrong cell is one mistake at its place."""
    name = "t.toi" if layout == "preflib" else "t.csv"
    source: object = {"from": layout, "file": name}
    if layout == "preflib":
        source = [{"file": name, "problem": "P1"}]
    path = make_study(study_with(rankings=source), **{name.replace(".", "__"): table})
    (mistake,) = mistakes_of(path)
    assert mistake.startswith(name + told)


def records(ending: str, **change: object) -> str:
    """The example as records, the third of them changed."""
    rows = [*RECORDS[:2], RECORDS[2] | change, *RECORDS[3:]]
    return "\n".join(map(json.dumps, rows)) if ending == "jsonl" else json.dumps(rows, indent=1)


def lacking(reason: str, problem: str = "P1", solver: str = "S6") -> list[dict[str, str]]:
    return [{"problem": problem, "solver": solver, "reason": reason}]


FAILED = {"rankings__csv": LONG.replace("J1,P1,S6,6", "J1,P1,S6,failed")}
MISSING = "rankings.csv:7:4: rank: the study declares S6's solution of P1"
APART = "judge,problem,winner,loser\nJ1,P1,S1,S2\nJ1,P1,S3,S4\nJ1,P1,S5,sys\n"
DECIDED = {"from": "decisions", "file": "t.csv"}
PREFLIB = "rankings: list the PrefLib files, one per problem"
STUDIES: list[tuple[dict[str, Any], Any, str]] = [
    *(
        ({"rankings": f"t.{ending}"}, {f"t__{ending}": records(ending, **change)}, f"{place}{told}")
        for ending, place in (("json", "t.json:14: "), ("jsonl", "t.jsonl:3: "))
        for change, told in (
            ({"rank": "x"}, "rank: 'x' is not a number"),
            ({"rank": [1]}, "rank: must be a text or a number"),
            ({"solver": "S9"}, "solver: unknown solver 'S9'"),
            ({"rnk": 1}, "rnk: unknown key; did you mean rank?"),
        )
    ),
    *(
        ({"rankings": source}, {}, told)
        for source, told in (
            ([{"file": "rankings.csv", "problem": "P1"}], "rankings.csv: is not a PrefLib file"),
            ([{"file": "p.toc", "problem": "P1"}], "rankings[1].file: there is no file 'p.toc'"),
            ([{"file": "p.toc", "problem": "P9"}], "rankings[1].problem: the study has no problem"),
            ({"from": "preflib", "file": "p.toc"}, PREFLIB),
            ({"from": "preflib"}, PREFLIB),
            ([], "rankings: names no file"),
            ({"from": "long", "file": [{"file": "p.toc", "problem": "P1"}]}, "rankings: name the"),
        )
    ),
    ({"missing": lacking("failed")}, {}, f"{MISSING} failed, yet it has a rank here"),
    ({"missing": lacking("absent")}, {}, f"{MISSING} absent, yet it has a rank here"),
    ({"missing": lacking("absent")}, FAILED, f"{MISSING} absent, yet it failed here"),
    (
        {"rankings": DECIDED, "missing": lacking("absent", "P2", "S2")},
        {"t__csv": f"{DECISIONS}J1,P2,S1,S2,\n"},
        "t.csv:2:4: loser: the study declares S2's solution of P2 absent",
    ),
    ({"rankings": DECIDED}, {"t__csv": APART}, "fall into parts that were never compared"),
]


@pytest.mark.parametrize(("keys", "files", "told"), STUDIES)
def test_a_study_that_contradicts_its_rankings_is_told(
    keys: dict[str, Any], files: dict[str, str], told: str, make_study: Callable[..., Path]
) -> None:
    first = mistakes_of(make_study(study_with(**keys), **files))[0]
    assert f" {told}" in f" {first}"


def test_many_mistakes_of_a_kind_are_counted(make_study: Callable[..., Path]) -> None:
    """Beyond twenty wrong cells of a kind the others are counted, not listed."""
    table = long_csv({cell: f"x{at}" for at, cell in enumerate(RANKS)})
    mistakes = mistakes_of(make_study(study_with(), rankings__csv=table))
    assert len(mistakes) == 21
    assert mistakes[-1].startswith("rankings.csv: rank: and 8 more cells")
    table = DECISIONS + "J1,P1,S1,S1,\nJ1,P2,S1,S1,\n"
    source = {"from": "decisions", "file": "t.csv"}
    (mistake,) = mistakes_of(make_study(study_with(rankings=source), t__csv=table))
    assert mistake.endswith("(and on 1 more line)")
