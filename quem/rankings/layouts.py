"""The layouts of rankings: a long table and a wide one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.columns import CodedColumn
from quem.io.delimited import Delimited, read_delimited
from quem.io.tables import SourceTable, named_columns, read_table, repeats
from quem.io.text import shown
from quem.rankings.entries import FIELDS
from quem.store.state import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from quem.studyfile import Declared

Heads = dict[int, tuple[str, str]]

_REQUIRED = ("judge", "problem", "solver", "rank")
# Provenance columns, which `quem export` writes.
_EXPORTED = (*(field.name for field in QUESTIONS if field.has_cells), "views", "receipt")
_FIELDS = (*_EXPORTED, *FIELDS)


def read_long(path: Path, name: str) -> SourceTable[str]:
    """Read a long table, one line per ranked solution."""
    otherwise = (
        "; if there is one row per solver, write from: wide; if one line names a winner and a "
        "loser, from: decisions"
    )
    return read_table(
        path, name, what="rankings", fields=_FIELDS, required=_REQUIRED, otherwise=otherwise
    )


def long_columns(table: Delimited, otherwise: str) -> SourceTable[str]:
    """The columns of a long table in memory."""
    return named_columns(table, _FIELDS, _REQUIRED, otherwise)


def read_wide(path: Path, name: str, declared: Declared) -> SourceTable[str]:
    """Read a wide table as in Figure 1 of the QUEM paper, one row per solver."""
    table = read_delimited(path, name, what="rankings", header_rows=_wide_header_rows)
    _refuse_other_header(table, declared)
    one_row = len(table.header) == 1
    heads, warnings = _one_row_heads(table) if one_row else _two_row_heads(table, declared)
    mistakes = _first_heads(table, heads)
    if not heads:
        message = (
            "no column names a judge and a problem; see the layouts in docs/reference/study-file.md"
        )
        raise QuemError(Mistake(name, table.header_lines[0], message=message))

    at, lines, solvers = [*heads], table.lines(), table.columns[0]
    again = [pair for pair in repeats(solvers.codes)[0] if solvers.cell(pair[0])]
    for row, first in again:
        message = f"duplicate: {solvers.cell(row)[:60]} is already on line {lines[first]}; keep one"
        mistakes.append(Mistake(name, lines[row], 1, "solver", message))
    ranks, n = cells_by_row(table, at), len(at)
    codes = np.tile(np.arange(n), len(solvers.codes))
    columns = {
        "judge": CodedColumn(codes, [judge for judge, _ in heads.values()]),
        "problem": CodedColumn(codes, [problem for _, problem in heads.values()]),
        "solver": CodedColumn(np.repeat(solvers.codes, n), solvers.values),
        "rank": ranks,
    }

    def place(row: int, field: str) -> Mistake:
        column = at[row % n] + 1
        if field in ("judge", "problem"):
            return Mistake(name, table.header_lines[0 if field == "judge" else -1], column, field)
        return Mistake(name, lines[row // n], 1 if field == "solver" else column, field)

    whole = SourceTable(name, columns, place, warnings, tuple(mistakes))
    blank = (
        columns[field].lookup((not cell for cell in columns[field].values), np.bool_)
        for field in ("solver", "rank")
    )
    unread = np.logical_and(*blank) | np.isin(np.arange(len(whole)) // n, [row for row, _ in again])
    return whole.only(np.flatnonzero(~unread))


def cells_by_row(table: Delimited, at: Sequence[int]) -> CodedColumn[str]:
    """The cells of some columns in row-major order."""
    columns = [table.columns[column] for column in at]
    starts = np.cumsum([0, *(len(column.values) for column in columns)]).tolist()
    codes = [column.codes + start for column, start in zip(columns, starts, strict=False)]
    texts = [text for column in columns for text in column.values]
    return CodedColumn(np.column_stack(codes).ravel(), texts)


def _refuse_other_header(table: Delimited, declared: Declared) -> None:
    """Refuse a long table, or a table whose second row has ranks instead of problems."""
    message = ""
    if set(_REQUIRED) <= {cell.casefold() for cell in table.header[0]}:
        message = "this is a long table, with one line per rank; write from: long in the study file"
    elif not declared.solvers.keys().isdisjoint(table.header[-1][:1]):
        message = (
            "a second header row must name the problems below the judges; or name both in one "
            "row, as in J1:P1"
        )
    if message:
        raise QuemError(Mistake(table.name, table.header_lines[-1], message=message))


def _first_heads(table: Delimited, heads: Heads) -> list[Mistake]:
    """Keep one column per judge and problem; duplicates are errors."""
    first: dict[tuple[str, str], int] = {}
    mistakes = []
    for index, head in list(heads.items()):
        if head in first:
            message = (
                f"duplicate: {':'.join(head)[:60]} is already in column {first[head] + 1}; keep one"
            )
            line = table.header_lines[-1]
            mistakes.append(Mistake(table.name, line, index + 1, "problem", message))
            del heads[index]
        first.setdefault(head, index)
    return mistakes


def _wide_header_rows(first: list[str]) -> int:
    return 1 if any(":" in cell for cell in first[1:]) else 2


def _one_row_heads(table: Delimited) -> tuple[Heads, tuple[StudyWarning, ...]]:
    heads: Heads = {}
    warnings = []
    for index, cell in enumerate(table.header[0]):
        judge, colon, problem = cell.partition(":")
        if index and colon:
            heads[index] = (judge.strip(), problem.strip())
        elif index and cell:
            warnings.append(_ignored(table, cell, "does not name judge:problem"))
    return heads, tuple(warnings)


def _ignored(table: Delimited, cell: str, reason: str) -> StudyWarning:
    message = f"{table.name}: the column {shown(cell)} {reason} and is not read"
    return StudyWarning("ignored-column", message)


def _two_row_heads(table: Delimited, declared: Declared) -> tuple[Heads, tuple[StudyWarning, ...]]:
    heads: Heads = {}
    warnings = []
    judge = problem = ""
    for index in range(1, len(table.header[0])):
        own_judge, own_problem = table.header[0][index], table.header[1][index]
        if not own_problem and own_judge and own_judge not in declared.judges:
            # Figure 1 of the paper has such columns: the experience and the average.
            warnings.append(_ignored(table, own_judge, "does not name a judge"))
            continue
        if not (own_judge or own_problem or any(table.columns[index].values)):
            # An empty column separates the judges visually.
            continue
        judge, problem = own_judge or judge, own_problem or problem
        heads[index] = (judge, problem)
    return heads, tuple(warnings)
