"""Parquet files as columns of texts, read in parts by pyarrow (extra ``parquet``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.io.delimited import Delimited

_ROWS = 1 << 18


def is_parquet(path: Path) -> bool:
    """Say by its ending whether a file is Parquet."""
    return path.suffix.casefold() in (".parquet", ".pq")


def read_parquet(path: Path, name: str, *, what: str) -> Delimited:
    """Read a Parquet file as `quem.io.delimited.read_delimited` reads CSV.

    Numbers are taken as they are written in CSV, and null is an empty cell. In messages the
    number of the row, from 1, is where the line would be.
    """
    from quem.io.columns import ColumnParts

    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise QuemError(
            Mistake(
                name,
                message=(
                    'is Parquet, which needs pyarrow; run pip install "quem[parquet]", '
                    f"or save the {what} as CSV"
                ),
            )
        ) from None
    try:
        with parquet.ParquetFile(path) as opened:
            header = opened.schema_arrow.names
        with parquet.ParquetFile(path, read_dictionary=header) as file:
            parts = [ColumnParts() for _ in header]
            for batch in file.iter_batches(_ROWS, use_threads=False):
                for part, column in zip(parts, batch.columns, strict=True):
                    part.add(*_coded(column))
            n_rows = file.metadata.num_rows
    except FileNotFoundError:
        raise QuemError(
            Mistake(name, message=f"file not found; check the name of the {what}")
        ) from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise QuemError(
            Mistake(
                name,
                message=(f"cannot be read as Parquet: {reason}; save the {what} again, or as CSV"),
            )
        ) from None
    from quem.io.delimited import Delimited

    columns = [part.column() for part in parts]
    return Delimited(name, [list(header)], columns, [0], lambda: range(1, n_rows + 1))


def _coded(column: Any) -> tuple[NDArray[Any], list[str]]:  # noqa: ANN401  of pyarrow
    """The codes and the distinct texts of a part of a column."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    texts = ["" if text is None else text for text in column.dictionary.cast("string").to_pylist()]
    codes = column.indices
    if codes.null_count:
        codes = codes.fill_null(len(texts))
        texts.append("")
    return codes.to_numpy(), texts
