"""Similarity tables, result lists and relevance judgments, from tables and the formats of TREC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.columns import CodedColumn
from quem.io.delimited import read_delimited
from quem.io.numbers import BLANKS, finite_number, not_finite
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json
from quem.io.tables import MOST_NAMED, SourceTable, field_name, named_columns, read_table
from quem.io.words import read_words
from quem.retrieval.nested import read_nested

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.io.delimited import Delimited

_MISSING = BLANKS | {"-", "–", "—"}
_QUERY = {
    "query": ("query", "query_id", "qid", "q_id", "question", "topic"),
    "case": ("case", "case_id", "docno", "docid", "doc_id", "document", "item", "corpus_id"),
}
_VALUE = {
    "similarity": ("similarity", "sim", "score"),
    "rank": ("rank", "position"),
    "grade": ("grade", "relevance", "rel", "label"),
}
_JUDGE = {"judge": ("judge", "judge_id", "assessor", "annotator", "rater")}
# In judgments, a score is a grade, as in the files of BEIR: query-id, corpus-id, score.
_JUDGED = _QUERY | {"grade": (*_VALUE["grade"], "score")}
FIELDS = _QUERY | _VALUE
_LONG = ("query", "case", "similarity")
_RUN = ("query", "Q0", "case", "rank", "score", "tag")
_QRELS = ("query", "iteration", "case", "grade")


@dataclass(frozen=True)
class Stored:
    """Rows of query, case and number, as a file has them."""

    table: SourceTable[str]  # with the columns query and case
    # Of shape (n,): the similarity, score or grade; NaN where the file has none.
    value: NDArray[np.float64]
    rank: NDArray[np.float64]  # of shape (n,): NaN where the file has none
    scored: bool  # whether there are values

    @property
    def query(self) -> CodedColumn[str]:
        """The query of each row."""
        return self.table.columns["query"]

    @property
    def case(self) -> CodedColumn[str]:
        """The case of each row."""
        return self.table.columns["case"]

    def only(self, rows: NDArray[np.int64]) -> Stored:
        """Some of the rows."""
        return replace(
            self, table=self.table.only(rows), value=self.value[rows], rank=self.rank[rows]
        )


def read_similarities(path: Path, name: str) -> Stored:
    """Read a table of similarities: columns query, case, similarity; or one column per case."""
    what = "similarity table"
    if is_json(path):
        return _read(path, name, what, _QUERY | _VALUE, _LONG)
    if is_parquet(path):
        csv = read_parquet(path, name, what=what)
    else:
        csv = read_delimited(path, name, what=what)
    known = {alias: field for field in _LONG for alias in (_QUERY | _VALUE)[field]}
    fields = [known.get(field_name(cell)) for cell in csv.header[-1]]
    # One such column is a square table, whose first column may be called query.
    if len({*fields} - {None}) <= 1:
        return _square(csv)
    otherwise = "; or have a line for each query and a column for each case"
    return stored_of(named_columns(csv, _QUERY | _VALUE, _LONG, otherwise), "similarity")


def read_run(path: Path, name: str) -> Stored:
    """Read result lists: a TREC run, or query, case, and similarity or rank in a table or JSON."""
    what, otherwise = "result list", "; a result list is a TREC run or such a table"
    if _has_words(path):
        # The tag at the end of a run may hold spaces, or be left out.
        table = read_words(
            path, name, what=what, fields=_RUN, headers=_QUERY.values(), least=len(_RUN) - 1
        )
        if table is not None:
            return stored_of(table, "score")
    return _read(path, name, what, _QUERY | _VALUE, ("query", "case"), otherwise)


def read_qrels(path: Path, name: str) -> Stored:
    """Read relevance judgments: TREC qrels, or query, case and grade in a table or JSON."""
    what, otherwise = "relevance judgments", "; relevance judgments are TREC qrels or such a table"
    if _has_words(path):
        table = read_words(path, name, what=what, fields=_QRELS, headers=_QUERY.values())
        if table is not None:
            return stored_of(table, "grade")
    return _read(path, name, what, _JUDGED, tuple(_JUDGED), otherwise)


def _has_words(path: Path) -> bool:
    return not (is_json(path) or is_parquet(path))


def read_judgments(path: Path, name: str) -> Stored:
    """Read the grades of judges: a table with query, case, judge, and grade."""
    fields = _JUDGED | _JUDGE
    return _read(path, name, "judgments", fields, ("query", "case", "judge", "grade"))


def _read(
    path: Path,
    name: str,
    what: str,
    fields: dict[str, tuple[str, ...]],
    required: tuple[str, ...],
    otherwise: str = "",
) -> Stored:
    value = "grade" if "grade" in required else "similarity"
    table = (
        read_nested(path, name, what=what, fields=fields, value=value) if is_json(path) else None
    )
    if table is None:
        table = read_table(
            path,
            name,
            what=what,
            fields=fields,
            required=required,
            otherwise=otherwise,
            strict=False,
        )
    return stored_of(table, value)


def stored_of(table: SourceTable[str], value_name: str) -> Stored:
    """Read rows of query, case, and a number: `value_name` or rank, or both."""
    table = table.without_blank_rows()
    if not len(table):
        raise QuemError(Mistake(table.name, message="holds no line below the header"))
    mistakes: list[Mistake] = []
    table.lacking([one for one in ("query", "case", "judge") if one in table.columns], mistakes)
    value = table.numbers(value_name, mistakes, such="0.8", required=True)
    rank = table.numbers("rank", mistakes, such="1", required=True)
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    return Stored(table, value, rank, value_name in table.columns)


def _square(csv: Delimited) -> Stored:
    """One line per query and one column per case; an empty cell is not a similarity."""
    name, cases = csv.name, csv.header[-1][1:]
    if not cases:
        raise QuemError(
            Mistake(
                name,
                csv.header_lines[-1],
                message=(
                    "must have the columns query, case, and similarity, or a line for each "
                    "query and a "
                    "column for each case"
                ),
            )
        )
    mistakes = [
        Mistake(name, csv.header_lines[-1], at + 2, case, "duplicate column; keep one")
        if case
        else Mistake(name, csv.header_lines[-1], at + 2, message="this column has no name")
        for at, case in enumerate(cases)
        if not case or case in cases[:at]
    ]
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    lines: list[int] = []

    def place(row: int, column: str) -> Mistake:
        lines.extend(() if lines else csv.lines())
        at = 1 if column == "query" else cases.index(column) + 2
        return Mistake(name, lines[row], at, column)

    columns = dict(zip(("query", *cases), csv.columns, strict=True))
    table = SourceTable(name, columns, place).without_blank_rows()
    if not len(table):
        raise QuemError(Mistake(name, message="holds no line below the header"))
    table.lacking(["query"], mistakes)
    values = np.empty((len(table), len(cases)))
    for at, case in enumerate(cases):
        column = table.columns[case]
        numbers = [
            np.nan if text.casefold() in _MISSING else finite_number(text) for text in column.values
        ]
        wrong = [number is None for number in numbers]
        if any(wrong):

            def message_of(text: str) -> str:
                return not_finite(text, "use a value such as 0.8, or leave the cell empty")

            rows = np.flatnonzero(column.lookup(wrong, np.bool_))
            table.refuse(case, rows, message_of, mistakes)
        values[:, at] = column.lookup(numbers, np.float64)
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    row, column_at = np.nonzero(~np.isnan(values))
    pairs = {
        "query": table.columns["query"].only(row),
        "case": CodedColumn(column_at.astype(np.int64), cases),
    }
    cells = SourceTable(name, pairs, lambda at, _: table.place(int(row[at]), cases[column_at[at]]))
    value = values[row, column_at]
    return Stored(cells, value, np.full(len(row), np.nan), scored=True)
