"""Tables in memory, converted to the form of tables from files."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from quem.errors import Mistake, QuemError, refuse
from quem.io.columns import CodedColumn, column_of, distinct_key
from quem.io.delimited import Delimited
from quem.io.parquet import arrow_columns
from quem.io.tables import SourceTable


def plain(value: object) -> Any:  # noqa: ANN401  a cell
    """A cell as plain data: None where missing, and no NumPy scalars."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def id_text(value: object) -> str:
    """An id as text; a whole number that pandas made a float becomes an integer again."""
    value = plain(value)
    if isinstance(value, bool) or (isinstance(value, Collection) and not isinstance(value, str)):
        raise QuemError(f"an id should be a text or a number, and not {value!r}")
    return _text(value)


def _text(value: object) -> str:
    """A cell as written in a file."""
    value = plain(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def whole_table(given: object, name: str) -> Delimited:
    """A table, dict of columns, or list of records in the form of a CSV file."""
    table: Any = given
    if hasattr(table, "to_dicts"):
        # For polars, whose Arrow stream would need pyarrow.
        table = table.to_dict(as_series=False)
    elif hasattr(table, "__arrow_c_stream__") and not isinstance(table, pd.DataFrame):
        import pyarrow as pa

        try:
            return arrow_columns([pa.table(table)], name)
        except pa.ArrowException as error:
            raise QuemError(Mistake(name, message=f"is not a table of texts: {error}")) from None
    frame = _frame(table, name)
    columns = []
    for at, title in enumerate(frame.columns):
        cells = frame.iloc[:, at]
        try:
            codes, distinct = pd.factorize(cells, use_na_sentinel=False)
        except TypeError:
            row = next(row for row, cell in enumerate(cells, 1) if not isinstance(cell, Hashable))
            message = "must be a text or a number"
            raise QuemError(Mistake(name, row, at + 1, str(title), message)) from None
        columns.append(CodedColumn(codes, [_text(cell) for cell in distinct]))
    header = [_text(title) for title in frame.columns]
    return Delimited(name, [header], columns, [0], lambda: range(1, len(frame) + 1))


def _frame(given: Any, name: str) -> pd.DataFrame:  # noqa: ANN401  a table
    """Any table as a DataFrame; a named index is a column."""
    if isinstance(given, pd.DataFrame):
        return given if set(given.index.names) == {None} else given.reset_index()
    try:
        if isinstance(given, Mapping) or all(isinstance(row, Mapping) for row in given):
            return pd.DataFrame(given, dtype=object)
    except (TypeError, ValueError) as error:
        raise QuemError(Mistake(name, message=f"is not a table: {error}")) from None
    message = "should be a DataFrame, a dict of columns, or a list of dicts"
    raise QuemError(Mistake(name, message=f"{message}, and not {type(given).__name__}"))


def rows_table(
    name: str,
    columns: Mapping[str, Sequence[Any]],
    ids: Collection[str],
    place: Callable[[Mapping[str, str]], str],
) -> SourceTable[Any]:
    """A table of columns."""
    cells: dict[str, list[Any]] = {}
    mistakes: list[Mistake] = []
    for key, column in columns.items():
        if key not in ids:
            cells[key] = [plain(value) for value in column]
            continue
        try:
            cells[key] = [value if type(value) is str else id_text(value) for value in column]
        except QuemError as error:
            mistakes += [Mistake(name, key=key, message=m.message) for m in error.mistakes]
    refuse(mistakes)

    def where(row: int, key: str) -> Mistake:
        of_row = place({own: cells[own][row] for own in ids if own in cells})
        return Mistake(name, key=of_row if key in ids else f"{of_row}, {key}")

    coded = {
        key: column_of(column, None if key in ids else distinct_key)
        for key, column in cells.items()
    }
    return SourceTable(name, coded, where)
