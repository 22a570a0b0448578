"""Tables of similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.delimited import read_delimited
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json
from quem.scores.columns import columns_of
from quem.scores.read import CASE, read_run

if TYPE_CHECKING:
    from pathlib import Path

    from quem.io.delimited import Delimited
    from quem.scores.columns import Columns


def read_similarities(path: Path) -> Columns:
    """Read similarities: a line for each pair, or one for each query with a column per case."""
    if is_json(path):
        return read_run(path)
    read = read_parquet if is_parquet(path) else read_delimited
    table = read(path, str(path), what="similarity table")
    if {cell.casefold() for cell in table.header[-1]} & {*CASE}:
        return read_run(path)
    return _square(table)


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
