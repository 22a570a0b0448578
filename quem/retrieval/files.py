"""Result lists, similarities, and judgments of files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.delimited import read_delimited
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json
from quem.scores import read
from quem.scores.columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from quem.io.delimited import Delimited
    from quem.scores.columns import Columns


def read_run(path: Path, name: str) -> Columns:
    """Read result lists; see `quem.scores.read.read_run`."""
    return _read(path, name, "result list", read.read_run)


def read_qrels(path: Path, name: str) -> Columns:
    """Read relevance judgments, of several judges too; see `quem.scores.read.read_judgments`."""
    return _read(path, name, "relevance judgments", read.read_judgments)


def read_similarities(path: Path, name: str) -> Columns:
    """Read similarities: a line for each pair, or one for each query with a column per case."""
    if is_json(path):
        return read_run(path, name)
    table = _table(path, name, "similarity table")
    if {cell.casefold() for cell in table.header[-1]} & {*read.CASE}:
        return read_run(path, name)
    return _square(table)


def _read(path: Path, name: str, what: str, reader: Callable[[object, str], Columns]) -> Columns:
    given: object = path
    if is_parquet(path):
        import pandas as pd

        table = _table(path, name, what)
        cells = zip(table.header[-1], table.columns, strict=True)
        given = pd.DataFrame({title: column.cells() for title, column in cells})
    try:
        columns = reader(given, name)
        # Read before it has another name.
        return replace(columns, cases=columns.tokens, source=name)
    except QuemError as error:
        # Messages name the file as the user does.
        known = str(path)
        raise QuemError(
            replace(one, path=name if one.path == known else one.path) for one in error.mistakes
        ) from None


def _table(path: Path, name: str, what: str) -> Delimited:
    return (read_parquet if is_parquet(path) else read_delimited)(path, name, what=what)


def _square(table: Delimited) -> Columns:
    """An empty cell is not a similarity."""
    name, line, (_, *cases) = table.name, table.header_lines[-1], table.header[-1]
    if not cases:
        message = (
            "must have the columns query, case, and similarity, or a line for each query and a "
            "column for each case"
        )
        raise QuemError(Mistake(name, line, message=message))
    for at, case in enumerate(cases):
        if not case or case in cases[:at]:
            message = "duplicate column; keep one" if case else "this column has no name"
            raise QuemError(Mistake(name, line, at + 2, case, message))
    queries, *columns = (column.cells() for column in table.columns)
    cells = [
        (query, case, value, number)
        for query, number, *values in zip(queries, table.lines(), *columns, strict=True)
        for case, value in zip(cases, values, strict=True)
        if value
    ]
    if not cells:
        raise QuemError(Mistake(name, message="holds no similarity below the header"))
    found = list(zip(*cells, strict=True))
    return columns_of(name, *found[:3], noun="similarity", lines=found[3])
