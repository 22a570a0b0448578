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
from tests.examples import JUDGES, PROBLEMS, RANKS, long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = long_csv()
NAMED = [(judge, problem, solver, float(rank)) for (judge, problem, solver), rank in RANKS.items()]


def read(path: Path) -> list[tuple[str, str, str, float]]:
    """Give the cells of a study's rankings."""
    table = quem.load_study(path, kind="experience").rankings
    assert table is not None
    columns = (table[name].tolist() for name in ("judge", "problem", "solver", "rank"))
    return list(zip(*columns, strict=True))


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
    "semicolons": long_csv(separator=";").encode(),
    "tabs": long_csv(separator="\t").encode(),
    "bars": long_csv(separator="|").encode(),
    "decimal commas": PLAIN.replace(",", ";")
    .replace("\n", ",0\n")
    .replace("rank,0", "rank")
    .encode(),
    "quoted decimal commas": PLAIN.replace("S2,3\n", 'S2,"3,0"\n').encode(),
    "decimal points": PLAIN.replace("\n", ".0\n").replace("rank.0", "rank").encode(),
    "a line that names the separator": ("sep=;\n" + long_csv(separator=";")).encode(),
    "that line by Excel": ("\ufeffsep=;\r\n" + long_csv(separator=";")).encode("utf-16-le"),
    "blank lines above": ("\n \n" + PLAIN).encode(),
    "blank lines below": (PLAIN + "\n\n  \n").encode(),
    "blank lines between": PLAIN.replace("J2,P1,S1", "\n\nJ2,P1,S1").encode(),
    "rows of separators below": (PLAIN + ",,,\n,,,,,,\n").encode(),
    "separators at every end": PLAIN.replace("\n", ",,,\n").encode(),
    "separators at some ends": PLAIN.replace("S2,3\n", "S2,3,,,\n").encode(),
    "padded cells": PLAIN.replace(",", "  , ").replace("\n", "  \n").encode(),
    "padded with hard spaces": PLAIN.replace("J1,", "\u00a0J1\u00a0,").encode(),
    "quoted cells": "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in PLAIN.splitlines()
    ).encode(),
    "names of columns in capitals": PLAIN.replace("judge,problem", "Judge,PROBLEM").encode(),
    "signs of plus": PLAIN.replace("S2,3\n", "S2,+3\n").encode(),
    "exponents": PLAIN.replace("S2,3\n", "S2,3e0\n").encode(),
}


@pytest.mark.parametrize("raw", SAVED.values(), ids=SAVED)
def test_the_same_table_saved_in_any_way_is_the_same(
    raw: bytes, make_study: Callable[..., Path]
) -> None:
    """Encodings, line ends, separators, blanks and quotes change nothing."""
    assert read(make_study(study_with(), rankings__csv=raw)) == NAMED


def test_ids_are_the_text_that_was_written(make_study: Callable[..., Path]) -> None:
    """An id 007 or 1.10 in a table stays that, though all ids there look like numbers."""
    judges, problems = ("007", "1.10"), ("1e3", "True")
    names = dict(zip((*JUDGES, *PROBLEMS), (*judges, *problems), strict=True))
    ranks = {(names[j], names[p], solver): rank for (j, p, solver), rank in RANKS.items()}
    study = study_with(
        judges=[{"id": judge} for judge in judges], problems=[{"id": p} for p in problems]
    )
    path = make_study(study, rankings__csv=long_csv(ranks))
    table = quem.load_study(path, kind="experience").rankings
    assert table is not None
    assert set(table["judge"]) == set(judges)
    assert set(table["problem"]) == set(problems)


def test_lines_are_counted_through_quoted_line_breaks(make_study: Callable[..., Path]) -> None:
    """A cell of several lines does not shift the line that a later mistake names."""
    rows = PLAIN.replace("judge,problem,solver,rank\n", 'judge,problem,solver,rank,"my\nnote"\n')
    rows = rows.replace("S1,1\n", 'S1,1,"first\nsecond\n\nthird"\n', 1).replace(
        "S3,2\n", "S3,two\n", 1
    )
    path = make_study(study_with(), rankings__csv=rows.replace("\n", "\r\n"))
    with pytest.raises(QuemError) as caught:
        quem.load_study(path, kind="experience")
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.column, mistake.key) == (8, 4, "rank")


@pytest.mark.parametrize("above", ["sep=,\n", "\n\n", "sep=,\n\n"])
def test_lines_are_counted_from_the_top_of_the_file(
    above: str, make_study: Callable[..., Path]
) -> None:
    """What stands above the header counts, in messages about cells and about the header."""
    at = above.count("\n")
    table = above + PLAIN.replace("J1,P1,S2,3", "J1,P1,S2,x")
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(), rankings__csv=table), kind="experience")
    assert [mistake.line for mistake in caught.value.mistakes] == [at + 3]
    table = above + PLAIN.replace("solver,rank", "solver,x")
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(), rankings__csv=table), kind="experience")
    assert [mistake.line for mistake in caught.value.mistakes] == [at + 1]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty; it must hold the rankings"),
        (b"\n,,,\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"judge,problem\x00\x00\x01\x02\x03\x04\x05\x06", "holds binary data"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x81\x8d", "the rankings"),
        (b"judge\x81", "is not UTF-8 text; save the rankings as UTF-8"),
        (PLAIN.encode("utf-16")[:-1], "is not UTF-16 text"),
    ],
)
def test_a_file_that_holds_no_table_is_refused(
    raw: bytes, message: str, make_study: Callable[..., Path]
) -> None:
    """An empty file and one of bytes are refused by name."""
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(), rankings__csv=raw), kind="experience")
    (mistake,) = caught.value.mistakes
    assert mistake.path.endswith("rankings.csv")
    assert message in mistake.message


@pytest.mark.parametrize("word", ["0", "-1", "1.5", "x", "9" * 30, "9" * 5000])
@pytest.mark.parametrize("field", ["block", "occasion"])
def test_blocks_and_occasions_are_whole_numbers(
    field: str, word: str, make_study: Callable[..., Path]
) -> None:
    """A block or occasion that is not a whole number from 1 is a mistake."""
    table = PLAIN.replace("\n", ",\n").replace("rank,\n", f"rank,{field}\n")
    table = table.replace("J1,P1,S2,3,", f"J1,P1,S2,3,{word}")
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(), rankings__csv=table), kind="experience")
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.column, mistake.key) == (3, 5, field)
    assert "is not a whole number from 1" in mistake.message


@given(
    rows=st.lists(
        st.lists(st.text(' a1"\t;', max_size=3), min_size=3, max_size=4), min_size=1, max_size=5
    ),
    raw=st.booleans(),
)
@example(rows=[["a", "b", '"c']], raw=True)
@example(rows=[["a", "b", "c", "d"], ["a", "b", "c", " "]], raw=True)
@example(rows=[["", "", ""], ["a", " a", "a "]], raw=False)
def test_long_and_wide_tables_are_read_alike(rows: list[list[str]], raw: bool) -> None:  # noqa: FBT001
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
