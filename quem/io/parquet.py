"""Parquet files and tables of Arrow as columns of texts, by pyarrow (extra ``parquet``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.columns import CodedColumn
from quem.io.delimited import Delimited

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its extension."""
    return path.suffix.casefold() in (".parquet", ".pq")


def read_parquet(path: Path, name: str, *, what: str) -> Delimited:
    """Read a Parquet file as `quem.io.delimited.read_delimited` reads CSV."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        message = (
            'is Parquet, which needs pyarrow; run pip install "quem[parquet]", or save the '
            f"{what} as CSV"
        )
        raise QuemError(Mistake(name, message=message)) from None
    try:
        with parquet.ParquetFile(path) as file:
            header = file.schema_arrow.names
        with parquet.ParquetFile(path, read_dictionary=header) as file:
            # One column after the other: codes take less memory than cells.
            each = (file.read([one], use_threads=False) for one in dict.fromkeys(header))
            whole = arrow_columns(each, name)
        pa.default_memory_pool().release_unused()
    except FileNotFoundError:
        message = f"file not found; check the name of the {what}"
        raise QuemError(Mistake(name, message=message)) from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        message = f"cannot be read as Parquet: {reason}; save the {what} again, or as CSV"
        raise QuemError(Mistake(name, message=message)) from None
    return whole


def arrow_columns(tables: Iterable[Any], name: str) -> Delimited:
    """The columns of Arrow tables of the same rows in the form of a CSV file.

    Numbers are written as in CSV, and null is an empty cell. Messages give the number of the row,
    from 1, in place of a line.
    """
    header: list[str] = []
    columns: list[CodedColumn[str]] = []
    for table in tables:
        header += table.column_names
        columns += map(_coded, table.columns)
    n_rows = len(columns[0].codes) if columns else 0
    return Delimited(name, [header], columns, [0], lambda: range(1, n_rows + 1))


def _coded(column: Any) -> CodedColumn[str]:  # noqa: ANN401  of pyarrow
    """The codes and the distinct texts of a column."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    texts = [(text or "").strip() for text in column.dictionary.cast("string").to_pylist()]
    codes = column.indices
    if codes.null_count:
        codes = codes.fill_null(len(texts))
        texts.append("")
    return CodedColumn(codes.to_numpy().astype(np.min_scalar_type(len(texts))), texts)
