"""Tables as CSV, large ones too: each distinct text is written once."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_DIGITS = "%.12g"
# From here on, what is saved is more than what is looked up.
_LARGE = 10_000
_ROWS_AT_ONCE = 1 << 17


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Write a table as CSV, numbers with 12 significant digits."""
    return b"".join(csv_parts(table))


def csv_parts(table: pd.DataFrame) -> Iterator[bytes]:
    """Write a table as `csv_bytes` does, some rows at a time.

    A table of ranks repeats its values: a million rows have some thousand beginnings (judge,
    problem, block) and as many ends. Columns side by side are joined as long as that stays so.
    """
    if len(table) < _LARGE:
        yield table.to_csv(index=False, float_format=_DIGITS, lineterminator="\n").encode()
        return
    yield table.iloc[:0].to_csv(index=False, lineterminator="\n").encode()
    joined: list[_Texts] = []
    for at, name in enumerate(table.columns):
        right = _texts(table[name])
        left = joined[-1].before(right, len(table) // 8) if at else None
        if left is None:
            joined.append(right)
        else:
            joined[-1] = left
    ends = [","] * (len(joined) - 1) + ["\n"]
    texts = [
        np.array([text + end for text in part.texts], dtype=object)
        for part, end in zip(joined, ends, strict=True)
    ]
    for start in range(0, len(table), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        lines = texts[0][joined[0].codes[rows]]
        for text, part in zip(texts[1:], joined[1:], strict=True):
            lines = lines + text[part.codes[rows]]
        yield "".join(lines.tolist()).encode()


@dataclass(frozen=True)
class _Texts:
    """One column or several: the distinct texts, and which of them each row has."""

    codes: NDArray[np.int64]
    texts: list[str]

    def before(self, other: _Texts, most: int) -> _Texts | None:
        """Put another column behind, unless that makes more than this many texts."""
        both = self.codes * len(other.texts) + other.codes
        codes, distinct = pd.factorize(both)
        if len(distinct) > most:
            return None
        left, right = np.divmod(distinct, len(other.texts))
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return _Texts(codes, [f"{self.texts[a]},{other.texts[b]}" for a, b in pairs])


def _texts(column: pd.Series[Any]) -> _Texts:
    """Write each value of a column once, as pandas does; a missing one is empty."""
    if column.dtype == np.float64:
        # By their bits, because -0 and 0 are equal, and are written in two ways.
        codes, bits = pd.factorize(column.to_numpy().view(np.int64))
        distinct = bits.view(np.float64)
        return _Texts(codes, ["" if np.isnan(one) else _DIGITS % one for one in distinct])
    codes, values = pd.factorize(column)
    return _Texts(codes + 1, ["", *map(_text, values)])


def _text(value: object) -> str:
    if isinstance(value, float | np.floating):
        return _DIGITS % value
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([value, ""])
    return line.getvalue().removesuffix(",\n")
