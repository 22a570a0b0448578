"""CSV files as people really save them."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import quem
from quem.errors import QuemError
from quem.io.delimited import read_delimited
from tests.examples import RANKS, long_csv, mistakes_of, ranks_of, study_with

if TYPE_CHECKING:
    from collections.abc import Callable

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


def test_ids_are_the_text_that_was_written(make_study: Callable[..., Path]) -> None:
    """An id 007 or 1.10 in a table stays that, though all ids there look like numbers."""
    names = {"J1": "007", "J2": "1.10", "P1": "1e3", "P2": "True"}
    ranks = {(names[j], names[p], solver): rank for (j, p, solver), rank in RANKS.items()}
    ids = [{"id": name} for name in names.values()]
    path = make_study(study_with(judges=ids[:2], problems=ids[2:]), rankings__csv=long_csv(ranks))
    assert ranks_of(path) == ranks


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
