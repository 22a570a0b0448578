"""Rankings as people really save them: whatever the file, its layout, and its gaps."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import quem
from quem.errors import QuemError
from quem.io.delimited import read_delimited
from tests.examples import (
    JUDGES,
    PROBLEMS,
    RANKS,
    RECORDS,
    SOLVERS,
    long_csv,
    mistakes_of,
    ranks_of,
    study_with,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from quem.parts.result import ExperienceResult

PLAIN = long_csv()
SEMICOLONS = long_csv(separator=";")
SAVED: dict[str, bytes] = {
    "plain": PLAIN.encode(),
    "utf-8 with mark": PLAIN.encode("utf-8-sig"),
    "utf-16 with mark": PLAIN.encode("utf-16"),
    "utf-16 with mark, big end": b"\xfe\xff" + PLAIN.encode("utf-16-be"),
    "utf-16 without mark": PLAIN.encode("utf-16-le"),
    "utf-16 without mark, big end": PLAIN.encode("utf-16-be"),
    "windows line ends": PLAIN.replace("\n", "\r\n").encode(),
    "old Mac line ends": PLAIN.replace("\n", "\r").encode(),
    "no last line end": PLAIN.rstrip("\n").encode(),
    "semicolons": SEMICOLONS.encode(),
    "tabs": long_csv(separator="\t").encode(),
    "bars": long_csv(separator="|").encode(),
    "decimal commas": SEMICOLONS.replace("\n", ",0\n").replace("rank,0", "rank").encode(),
    "quoted decimal commas": PLAIN.replace("S2,3\n", 'S2,"3,0"\n').encode(),
    "decimal points": PLAIN.replace("\n", ".0\n").replace("rank.0", "rank").encode(),
    "a line that names the separator": f"sep=;\n{SEMICOLONS}".encode(),
    "that line by Excel": f"\ufeffsep=;\r\n{SEMICOLONS}".encode("utf-16-le"),
    "blank lines above": f"\n \n{PLAIN}".encode(),
    "blank lines between": PLAIN.replace("J2,P1,S1", "\n\nJ2,P1,S1").encode(),
    "rows of separators below": f"{PLAIN},,,\n,,,,,,\n\n  \n".encode(),
    "separators at every end": PLAIN.replace("\n", ",,,\n").encode(),
    "separators at some ends": PLAIN.replace("S2,3\n", "S2,3,,,\n").encode(),
    "padded cells": PLAIN.replace(",", "  , ").replace("\n", "  \n").encode(),
    "padded with hard spaces": PLAIN.replace("J1,", "\u00a0J1\u00a0,").encode(),
    "quoted cells": '"{}"'.format(PLAIN.strip().replace(",", '","').replace("\n", '"\n"')).encode(),
    "names of columns in capitals": PLAIN.replace("judge,problem", "Judge,PROBLEM").encode(),
    "signs of plus": PLAIN.replace("S2,3\n", "S2,+3\n").encode(),
    "exponents": PLAIN.replace("S2,3\n", "S2,3e0\n").encode(),
}


@pytest.mark.parametrize("raw", SAVED.values(), ids=SAVED)
def test_the_same_table_saved_in_any_way_is_the_same(
    raw: bytes, make_study: Callable[..., Path]
) -> None:
    """Encodings, line ends, separators, blanks and quotes change nothing."""
    assert ranks_of(make_study(study_with(), rankings__csv=raw)) == RANKS


def test_lines_are_counted_through_quoted_line_breaks(make_study: Callable[..., Path]) -> None:
    """A cell of several lines does not shift the line that a later mistake names."""
    rows = PLAIN.replace("rank\n", 'rank,"my\nnote"\n').replace("S3,2\n", "S3,two\n", 1)
    rows = rows.replace("S1,1\n", 'S1,1,"first\nsecond\n\nthird"\n', 1)
    table = rows.replace("\n", "\r\n")
    (mistake,) = mistakes_of(make_study(study_with(), rankings__csv=table))
    assert mistake.startswith("rankings.csv:8:4: rank: 'two'")


@pytest.mark.parametrize("mark", ["1", "true", "TRUE", "yes", "Yes", "x", "X", " x "])
def test_a_judge_marks_whom_they_recognized(mark: str, make_study: Callable[..., Path]) -> None:
    table = PLAIN.replace("\n", ",\n").replace("rank,", "rank,recognized")
    path = make_study(
        study_with(), rankings__csv=table.replace("J1,P1,S2,3,", f"J1,P1,S2,3,{mark}")
    )
    frame = quem.load_study(path, kind="experience").rankings
    assert frame is not None
    rows = frame[frame["recognized"]]
    assert rows[["judge", "problem", "solver"]].to_numpy().tolist() == [["J1", "P1", "S2"]]


@given(
    rows=st.lists(
        st.lists(st.text(' a1"\t;', max_size=3), min_size=3, max_size=4), min_size=1, max_size=5
    ),
    raw=st.booleans(),
)
@example(rows=[["a", "b", '"c']], raw=True)
@example(rows=[["a", "b", "c", "d"], ["a", "b", "c", " "]], raw=True)
@example(rows=[["", "", ""], ["a", " a", "a "]], raw=False)
def test_short_and_long_tables_are_read_alike(rows: list[list[str]], *, raw: bool) -> None:
    """Short tables go through the csv module and long ones through pandas: the same columns."""
    text = io.StringIO()
    if raw:
        text.writelines(",".join(row) + "\n" for row in rows)
    else:
        csv.writer(text, lineterminator="\n").writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("x,y,z\n" + text.getvalue(), encoding="utf-8")
        results: list[tuple[object, list[list[str]]]] = []
        for few in (0, 5000):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("quem.io.delimited._FEW_ROWS", few)
                try:
                    table = read_delimited(path, "table.csv", what="ranks")
                    cells = [[c.cell(row) for row in range(len(c.codes))] for c in table.columns]
                    results.append((table.header, cells))
                except QuemError as error:
                    results.append((str(error), []))
    assert results[0] == results[1]


def wide(*header: str, separator: str = ",") -> str:
    """The example as a wide table below the given header."""
    pairs = [(judge, problem) for judge in JUDGES for problem in PROBLEMS]
    rows = [[solver, *(str(RANKS[*pair, solver]) for pair in pairs)] for solver in SOLVERS]
    return "\n".join([*header, *map(separator.join, rows)])


def preflib(problem: str) -> str:
    """One problem of the example as PrefLib has it: an order for each judge, best first."""
    lines = [f"# NUMBER ALTERNATIVES: {len(SOLVERS)}"]
    lines += [f"# ALTERNATIVE NAME {i}: {solver}" for i, solver in enumerate(SOLVERS, 1)]
    for judge in JUDGES:
        rank = {str(i): int(RANKS[judge, problem, s]) for i, s in enumerate(SOLVERS, 1)}
        best_first = sorted(rank, key=lambda i: -rank[i])
        groups = [list(group) for _, group in groupby(best_first, key=rank.__getitem__)]
        order = [g[0] if len(g) == 1 else "{" + ",".join(g) + "}" for g in groups]
        lines.append(f"1: {','.join(order)}")
    return "\n".join(lines) + "\n"


WIDE = {"from": "wide", "file": "t.csv"}
LAYOUTS: dict[str, tuple[object, dict[str, str]]] = {
    "two header rows": (WIDE, {"t__csv": wide("solver,J1,,J2,", ",P1,P2,P1,P2")}),
    "every cell named": (WIDE, {"t__csv": wide(",J1,J1,J2,J2", "solver,P1,P2,P1,P2")}),
    "one header row": (WIDE, {"t__csv": wide("solver,J1:P1,J1:P2,J2:P1,J2:P2")}),
    "padded header": (WIDE, {"t__csv": wide("solver, J1 : P1,J1: P2 ,J2 :P1,J2:P2")}),
    "semicolons": (WIDE, {"t__csv": wide("x;J1;;J2;", ";P1;P2;P1;P2", separator=";")}),
    "one file name": ("t.csv", {"t__csv": long_csv()}),
    "json lines": ("t.jsonl", {"t__jsonl": "\n".join(map(json.dumps, RECORDS))}),
    "json": ("t.json", {"t__json": json.dumps(RECORDS, indent=1)}),
    "preflib": (
        [{"file": "p1.toc", "problem": "P1"}, {"file": "p2.TOI", "problem": "P2"}],
        {"p1__toc": preflib("P1"), "p2__TOI": preflib("P2")},
    ),
}


@pytest.mark.parametrize(("source", "files"), LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_holds_the_same(
    source: object, files: dict[str, str], make_study: Callable[..., Path]
) -> None:
    assert ranks_of(make_study(study_with(rankings=source), **files)) == RANKS


@pytest.mark.parametrize(
    ("ending", "orders", "ranks"),
    [
        ("soc", "1: 3,2,1\n1: 1,2,3\n", [(1, 2, 3), (3, 2, 1)]),
        ("soi", "2: 3,1,2\n", [(2, 1, 3), (2, 1, 3)]),
        ("soi", "1: 3,1\n1: 2,3\n", [(1, None, 2), (None, 2, 1)]),
        ("toc", "1: {3,2},1\n1:1, {2 , 3}\n", [(1, 2, 2), (2, 1, 1)]),
        ("toi", "1: 3,{1,2}\n1: {1},2,3\n", [(1, 1, 2), (3, 2, 1)]),
    ],
)
def test_preflib_orders_are_best_first_and_one_a_judge(
    ending: str, orders: str, ranks: list[tuple[int | None]], make_study: Callable[..., Path]
) -> None:
    """An order for several counts for as many judges, and says nothing of what it leaves out."""
    names = "".join(f"# ALTERNATIVE NAME {at}: S{at}\n" for at in (1, 2, 3))
    study = study_with(rankings=[{"file": f"p.{ending}", "problem": "P1"}])
    path = make_study(study, **{f"p__{ending}": names + orders})
    assert ranks_of(path) == {
        (judge, "P1", f"S{at}"): rank
        for judge, of_judge in zip(JUDGES, ranks, strict=True)
        for at, rank in enumerate(of_judge, 1)
        if rank
    }


def analyzed(rows: Sequence[Mapping[str, object]], missing: object = ()) -> ExperienceResult:
    """Analyze ranks with the people and the system of the example."""
    people = {solver: 2.0 * at for at, solver in enumerate(SOLVERS[:-1])}
    return quem.analyze(quem.study(rows, people=people, systems=["sys"], missing=missing))


FAILED = [{"problem": "P1", "solver": "S6", "reason": "failed"}]


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        ({"rank": "failed"}, []),
        ({"rank": " Failed "}, []),
        ({"rank": None, "reason": "failed"}, []),
        ({"rank": None}, FAILED),
        ({"rank": "-"}, FAILED),
    ],
)
def test_a_failed_solution_is_tied_last_in_its_group(
    cells: dict[str, object], missing: list[dict[str, str]]
) -> None:
    """A failure said in a rank, in a reason or in the study is the worst of its group."""
    here = {"problem": "P1", "solver": "S6"}
    rows = [{**row, **(cells if row.items() >= here.items() else {})} for row in RECORDS]
    ranks = analyzed(rows, missing=missing).ranks
    assert ranks is not None
    adjusted = ranks[ranks["problem"] == "P1"].set_index(["judge", "solver"])["adjusted_rank"]
    first = {"S6": 1, "S1": 2, "S2": 4, "S3": 3, "S4": 5, "S5": 7, "sys": 6}
    assert adjusted["J1"].to_dict() == first
    assert adjusted["J2", "S6"] == 1


GROUP = {"judge": "J2", "problem": "P1"}.items()
LATE = [{**row, "occasion": 3 if row.items() >= GROUP else 1} for row in RECORDS]
LATE += [{**row, "occasion": 4, "rank": at} for at, row in enumerate(LATE[14:21])]
AGAIN = [{**row, "occasion": 2, "rank": 1} for row in RECORDS[:3]]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([*RECORDS, *AGAIN], None),
        (LATE, "J2 on P1 (occasion 3) has no first occasion; the earliest counts"),
        (
            [*RECORDS[:2], {**RECORDS[2], "occasion": 2}, *RECORDS[3:]],
            "S3 by J1 on P1 is ranked on",
        ),
    ],
)
def test_what_is_ranked_again_counts_once(rows: list[dict[str, object]], told: str | None) -> None:
    """The first occasion of a group counts, else its earliest; later ranks alone do not."""
    result, plain = analyzed(rows), analyzed(RECORDS)
    doubts = [doubt.message for doubt in result.warnings if doubt.code == "first-occasion-missing"]
    assert len(doubts) == (told is not None)
    assert all(doubt.startswith(told or "") for doubt in doubts)
    ranks = [one.averages.set_index("solver")["n_ranks"].to_dict() for one in (result, plain)]
    alone = told is not None and told.startswith("S3")
    assert ranks[0] == (ranks[1] | {"S3": 3} if alone else ranks[1])
    same = result.estimates["paper_experience"].equals(plain.estimates["paper_experience"])
    assert same is not alone
