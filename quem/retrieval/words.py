"""Lines of words between spaces, as the files of TREC are."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.errors import Mistake, QuemError
from quem.rankings.delimited import Column
from quem.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["QREL_FIELDS", "RUN_FIELDS", "read_words"]

RUN_FIELDS, QREL_FIELDS = 6, 4
_MOST_NAMED = 20
_RUN_SHAPE = "query Q0 case rank score tag"
_QREL_SHAPE = "query iteration case grade"


def read_words(
    path: Path, name: str, what: str, fields: int
) -> tuple[list[Column], Callable[[int], int]] | None:
    """Read lines of words between spaces; None where the file is no such file."""
    text = read_text(path, name, what=what, legacy=True)
    first = next((line for line in text.split("\n") if line.strip()), "")
    words = first.split()
    if not first:
        raise QuemError([Mistake(name, message=f"is empty; it should hold the {what}")])
    is_csv = any(mark in first for mark in ",;|") or len(words) < fields - 1
    if is_csv or {word.casefold() for word in words} & {"query", "case", "qid", "docno"}:
        return None
    if len(words) == fields - 1 and fields == QREL_FIELDS:
        # query, case, grade between tabs, without a header
        message = f"line 1 has {len(words)} words, and judgements have {fields}: {_QREL_SHAPE}"
        raise QuemError([Mistake(name, 1, message=message)])
    lines = text.split("\n")
    lengths = np.fromiter((len(line.split()) for line in lines), dtype=np.int64, count=len(lines))
    shape = _RUN_SHAPE if fields == RUN_FIELDS else _QREL_SHAPE
    # The tag at the end of a run may hold spaces, or be left out.
    wrong = (lengths > 0) & (lengths != fields)
    if fields == RUN_FIELDS:
        wrong &= lengths < fields - 1
    if wrong.any():
        mistakes = [
            Mistake(
                name, row + 1, message=f"this line has {lengths[row]} words; it should be {shape}"
            )
            for row in np.flatnonzero(wrong)[:_MOST_NAMED].tolist()
        ]
        raise QuemError(mistakes)
    held = np.flatnonzero(lengths)
    usecols = min(fields, 5)
    frame = pd.read_csv(
        io.StringIO(text),
        sep=r"\s+",
        header=None,
        names=list(map(str, range(int(lengths.max())))),
        usecols=list(map(str, range(usecols))),
        dtype=object,  # as category, pandas 3.1 makes 7 of 007
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        na_filter=False,
    )
    columns = []
    for at in range(usecols):
        codes, found = pd.factorize(frame.pop(str(at)).to_numpy())
        columns.append(Column(codes.astype(np.int64), [str(word) for word in found]))
    return columns, lambda row: int(held[row]) + 1
