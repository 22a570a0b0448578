"""Similarity tables, result lists and relevance judgements, from CSV and the formats of TREC."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.tables import Column, column_of, read_delimited
from quem.io.text import shown
from quem.retrieval.base_files import QREL_FIELDS, RUN_FIELDS, read_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.io.tables import Delimited

__all__ = ["Stored", "read_qrels", "read_run", "read_similarities"]

_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_MISSING = {"", "-", "–", "—", "na", "n/a", "nan", "null"}
_ALIASES = {
    "query": {"query", "query_id", "qid", "question", "topic"},
    "case": {"case", "case_id", "docno", "docid", "doc_id", "document", "item"},
    "similarity": {"similarity", "sim", "score"},
    "rank": {"rank", "position"},
    "grade": {"grade", "relevance", "rel"},
}
_MOST_NAMED = 20
_BLANK = column_of([""])


@dataclass(frozen=True)
class Stored:
    """Rows of query, case and number, as a file has them.

    Parameters
    ----------
    name : str
        The file as the user named it.
    query, case : Column
    value : array of float, shape (n,)
        The similarity, score or grade; NaN where the file has none.
    rank : array of float, shape (n,)
        NaN where the file has none.
    scored : bool
        Whether there are values.
    place : callable
        From a row to its line.
    """

    name: str
    query: Column
    case: Column
    value: NDArray[np.float64]
    rank: NDArray[np.float64]
    scored: bool
    place: Callable[[int], int] = field(repr=False)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.value)

    def mistake(self, row: int, message: str) -> Mistake:
        """Describe what is wrong with a row."""
        return Mistake(self.name, self.place(row), message=message)

    def only(self, rows: NDArray[np.int64]) -> Stored:
        """Some of the rows."""
        return Stored(
            self.name,
            Column(self.query.codes[rows], self.query.values),
            Column(self.case.codes[rows], self.case.values),
            self.value[rows],
            self.rank[rows],
            self.scored,
            lambda row: self.place(int(rows[row])),
        )


def read_similarities(path: Path, name: str) -> Stored:
    """Read a table of similarities: columns query, case, similarity; or a column a case.

    Parameters
    ----------
    path : Path
    name : str
        The file as the user named it, for messages.

    Raises
    ------
    QuemError
        The file is no such table, or a similarity no finite number.
    """
    table = read_delimited(path, name, what="similarity table", header_rows=_header_rows)
    if len(table.header) > 1 and any(cell.startswith("cut to ") for cell in table.header[0]):
        message = (
            "holds only what one evaluation needed of a ground truth; name the retriever as the "
            "ground truth, or use a table with all similarities"
        )
        raise QuemError([Mistake(name, table.header_lines[0], message=message)])
    at = _columns(table)
    if {"query", "case", "similarity"} <= at.keys():
        return _long(table, at, "similarity")
    if len(at.keys() & {"query", "case", "similarity"}) > 1:
        missing = sorted({"query", "case", "similarity"} - at.keys())
        message = (
            f"there is no column {missing[0]}; a similarity table has the columns query, case and "
            "similarity, or a line for each query and a column for each case"
        )
        raise QuemError([Mistake(name, table.header_lines[-1], message=message)])
    return _square(table)


def read_run(path: Path, name: str) -> Stored:
    """Read result lists: CSV with query, case, and similarity or rank or both; or a TREC run.

    Parameters
    ----------
    path : Path
    name : str

    Raises
    ------
    QuemError
        The file is neither, or a number in it is none.
    """
    if found := read_words(path, name, "result list", RUN_FIELDS):
        columns, place = found
        lacking = _lacking(columns[:5], ("query", "Q0", "case", "rank", "score"), name, place)
        value = _numbers(columns[4], name, place, "score", lacking)
        rank = _numbers(columns[3], name, place, "rank", lacking)
        if lacking:
            raise QuemError(lacking)
        return Stored(name, columns[0], columns[2], value, rank, scored=True, place=place)
    table = read_delimited(path, name, what="result list")
    at = _columns(table)
    _require(table, at, ("query", "case"), "a result list is a TREC run, or has the columns")
    return _long(table, at, "similarity")


def read_qrels(path: Path, name: str) -> Stored:
    """Read relevance judgements: TREC qrels, or CSV with query, case and grade.

    Parameters
    ----------
    path : Path
    name : str

    Raises
    ------
    QuemError
        The file is neither, or a grade is no number.
    """
    if found := read_words(path, name, "relevance judgements", QREL_FIELDS):
        columns, place = found
        lacking = _lacking(columns[:4], ("query", "iteration", "case", "grade"), name, place)
        value = _numbers(columns[3], name, place, "grade", lacking)
        if lacking:
            raise QuemError(lacking)
        none = np.full(len(value), np.nan)
        return Stored(name, columns[0], columns[2], value, none, scored=True, place=place)
    table = read_delimited(path, name, what="relevance judgements")
    at = _columns(table)
    _require(table, at, ("query", "case", "grade"), "judgements are TREC qrels, or have columns")
    return _long(table, at, "grade")


def _header_rows(first: list[str]) -> int:
    """What an evaluation has kept says in its first line what it was made of."""
    return 2 if first and first[0].startswith("# quem similarities") else 1


def _columns(table: Delimited) -> dict[str, int]:
    """Where the columns are that have one of the known names."""
    found: dict[str, int] = {}
    for place, cell in enumerate(table.header[-1]):
        folded = cell.casefold().replace(" ", "_")
        word = next((word for word, known in _ALIASES.items() if folded in known), None)
        if word is None:
            continue
        if word in found:
            message = f"the columns {table.header[-1][found[word]]!r} and {cell!r} are both {word}"
            where = Mistake(table.name, table.header_lines[-1], place + 1, message=message)
            raise QuemError([where])
        found[word] = place
    return found


def _require(table: Delimited, at: dict[str, int], words: tuple[str, ...], what: str) -> None:
    missing = [word for word in words if word not in at]
    if missing:
        there = ", ".join(filter(None, table.header[-1][:_MOST_NAMED]))
        message = f"there is no column {missing[0]}; {what} {', '.join(words)}; here are {there}"
        raise QuemError([Mistake(table.name, table.header_lines[-1], message=message)])


def _long(table: Delimited, at: dict[str, int], value_name: str) -> Stored:
    name = table.name
    query, _case = (table.columns[at[word]] for word in ("query", "case"))
    empty = np.ones(len(query.codes), dtype=bool)
    for column in table.columns:
        empty &= np.array([not text for text in column.values] or [True])[column.codes]
    rows = np.flatnonzero(~empty)
    if not len(rows):
        raise QuemError([Mistake(name, message="holds no line below the header")])
    lines: list[int] = []

    def place(row: int) -> int:
        if not lines:
            lines.extend(table.lines())
        return lines[int(rows[row])]

    def of(word: str) -> Column:
        column = table.columns[at[word]] if word in at else None
        if column is None:
            codes = np.zeros(len(rows), dtype=np.int64)
            return Column(codes, _BLANK.values)
        return Column(column.codes[rows], column.values)

    mistakes = _lacking([of("query"), of("case")], ("query", "case"), name, place)
    scored = value_name in at
    value, rank = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    if scored:
        value = _numbers(of(value_name), name, place, value_name, mistakes)
    if "rank" in at:
        rank = _numbers(of("rank"), name, place, "rank", mistakes)
    if mistakes:
        raise QuemError(mistakes[:_MOST_NAMED])
    return Stored(name, of("query"), of("case"), value, rank, scored, place)


def _square(table: Delimited) -> Stored:
    """A line a query, a column a case; an empty cell is no similarity."""
    name, cases = table.name, table.header[-1][1:]
    lines = table.lines()
    if not cases:
        message = (
            "should have the columns query, case and similarity, or a line for each query and a "
            "column for each case"
        )
        raise QuemError([Mistake(name, table.header_lines[-1], message=message)])
    mistakes = [
        Mistake(
            name,
            table.header_lines[-1],
            place + 2,
            message=f"the case {shown(case)} has two columns"
            if case
            else "this column has no name",
        )
        for place, case in enumerate(cases)
        if not case or case in cases[:place]
    ]
    first = table.columns[0]
    filled = [row for row in range(len(lines)) if any(c.text(row) for c in table.columns)]
    mistakes += [
        Mistake(name, lines[row], 1, message="this line has no query; name it in the first cell")
        for row in filled
        if not first.text(row)
    ]
    if not filled and not mistakes:
        mistakes.append(Mistake(name, message="holds no line below the header"))
    values = np.full((len(filled), len(cases)), np.nan)
    for at, column in enumerate(table.columns[1:]):
        known = np.array([_cell(text) for text in column.values] or [np.nan])
        for code in np.flatnonzero(np.isinf(known)).tolist():
            for row in column.rows_of(code)[:1].tolist():
                message = f"{shown(column.values[code])} is no finite number"
                mistakes.append(Mistake(name, lines[row], at + 2, cases[at], message))
        values[:, at] = known[column.codes[filled]]
    if mistakes:
        raise QuemError(mistakes[:_MOST_NAMED])
    row, column_at = np.nonzero(~np.isnan(values))
    return Stored(
        name,
        Column(first.codes[filled][row].astype(np.int64), first.values),
        Column(column_at.astype(np.int64), list(cases)),
        values[row, column_at],
        np.full(len(row), np.nan),
        scored=True,
        place=lambda index: lines[filled[int(row[index])]],
    )


def _cell(text: str) -> float:
    """The number in a cell, NaN for an empty one, infinity for what is no number."""
    if text.casefold() in _MISSING:
        return float("nan")
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else float("inf")


def _numbers(
    column: Column,
    name: str,
    place: Callable[[int], int],
    key: str,
    mistakes: list[Mistake],
) -> NDArray[np.float64]:
    """The numbers of a column, each of which has to be one."""
    known = np.array(
        [
            float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else np.nan
            for text in column.values
        ]
        or [np.nan]
    )
    wrong = set(np.flatnonzero(~np.isfinite(known)).tolist()) & set(column.used())
    for code in sorted(wrong)[:_MOST_NAMED]:
        rows = column.rows_of(code)
        more = f" (and on {len(rows) - 1} more lines)" if len(rows) > 1 else ""
        text = column.values[code]
        told = f"{shown(text)} is no finite number" if text else "is empty; write a number"
        mistakes.append(Mistake(name, place(int(rows[0])), key=key, message=told + more))
    numbers: NDArray[np.float64] = known[column.codes]
    return numbers


def _lacking(
    columns: list[Column], words: tuple[str, ...], name: str, place: Callable[[int], int]
) -> list[Mistake]:
    mistakes = []
    for column, word in zip(columns, words, strict=True):
        for code in (code for code in column.used() if not column.values[code]):
            for row in column.rows_of(code)[:_MOST_NAMED].tolist():
                message = f"this line has no {word}; add it"
                mistakes.append(Mistake(name, place(row), message=message))
    return mistakes
