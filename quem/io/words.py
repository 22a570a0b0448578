"""Tables without a header whose cells are separated by spaces, in TREC formats."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.errors import Mistake, QuemError
from quem.io.columns import CodedColumn
from quem.io.tables import MOST_NAMED, SourceTable, field_name
from quem.io.text import read_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


def read_words(
    path: Path,
    name: str,
    *,
    what: str,
    fields: Sequence[str],
    headers: Collection[Collection[str]],
    least: int = 0,
) -> SourceTable[str] | None:
    """Read space-separated lines without a header, in TREC formats."""
    text = read_text(path, name, what=what, legacy=True)
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise QuemError(Mistake(name, message=f"is empty; it must hold the {what}"))
    words = first.split()
    if any(mark in first for mark in ",;|") or len(words) < len(fields) - 1:
        return None
    named = {field_name(word) for word in words}
    if all(named.intersection(names) for names in headers):
        return None
    lengths = np.fromiter((len(line.split()) for line in lines), dtype=np.int64, count=len(lines))
    wrong = (lengths > 0) & ((lengths < least) if least else (lengths != len(fields)))
    if wrong.any():
        raise QuemError(
            Mistake(name, row + 1, message=f"has {lengths[row]} words; expected {' '.join(fields)}")
            for row in np.flatnonzero(wrong)[:MOST_NAMED].tolist()
        )
    filled = np.flatnonzero(lengths)
    frame = pd.read_csv(
        io.StringIO(text),
        sep=r"\s+",
        header=None,
        names=list(map(str, range(int(lengths.max())))),
        usecols=list(map(str, range(least or len(fields)))),
        dtype=object,  # as category, pandas 3.1 makes 7 of 007
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        na_filter=False,
    )
    columns = {}
    for at, column in enumerate(fields[: least or None]):
        codes, distinct = pd.factorize(frame.pop(str(at)).to_numpy())
        columns[column] = CodedColumn(codes.astype(np.int64), [str(word) for word in distinct])
    place = {field: at + 1 for at, field in enumerate(fields)}
    return SourceTable(
        name, columns, lambda row, key: Mistake(name, int(filled[row]) + 1, place.get(key, 0), key)
    )
