"""Ground truth that was computed once, kept as ``similarities.csv``, and what it was made of."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.retrieval.lists import CaseLists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.retrieval.running import Task

__all__ = ["FILE", "GroundTruthCache", "fingerprint", "read_kept", "similarities_parts"]

FILE = "similarities.csv"
_AT_ONCE = 100_000
_HEAD = "# quem similarities, format 1, made of "
_CUT = re.compile(r", cut to (\d+)$", re.ASCII)


def fingerprint(task: Task, retriever: dict[str, Any], sources: Iterable[Path] = ()) -> str:
    """Give a hash of all that the similarities of a retriever depend on.

    Parameters
    ----------
    retriever : dict
        What the study file says of it.
    sources : iterable of Path
        The files with its code.
    """
    made = hashlib.sha256()
    content: list[Any] = [retriever, task.leave_one_out]
    for base in dict.fromkeys((id(task.cases), id(task.queries))):
        held = task.cases if base == id(task.cases) else task.queries
        content.append([held.ids, held.columns, held.solution])
    made.update(json.dumps(content, sort_keys=True, default=str).encode())
    for path in sorted(sources):
        made.update(path.read_bytes())
    return made.hexdigest()[:32]


@dataclass(frozen=True)
class GroundTruthCache:
    """Similarities that were read again.

    Parameters
    ----------
    depth : int or None
        As many of the most similar cases of each query are there, and those that retrievers gave;
        None where all are.
    """

    lists: CaseLists
    depth: int | None


def similarities_parts(lists: CaseLists, mark: str, depth: int | None) -> Iterator[bytes]:
    """Write lists as CSV, below a line that says what they were made of.

    Numbers are written in full, so that what is read again is the same.

    Parameters
    ----------
    mark : str
        As from `fingerprint`.
    depth : int or None
        See `GroundTruthCache`.

    Yields
    ------
    bytes
        The list of each query.
    """
    yield f"{_head(mark, len(lists.case), depth)}\nquery,case,similarity\n".encode()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for query, name in enumerate(lists.queries):
        case, similarity = lists.of(query)
        pairs = zip(case.tolist(), similarity.tolist(), strict=True)
        writer.writerows((name, lists.cases[place], repr(value)) for place, value in pairs)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()


def read_kept(path: Path, mark: str, task: Task) -> GroundTruthCache | None:
    """Read similarities again, if they are there, whole, and made of the same.

    Parameters
    ----------
    mark : str
        As from `fingerprint`.
    """
    try:
        with path.open(encoding="utf-8") as file:
            head = file.readline().rstrip("\n")
            if not head.startswith(f"{_HEAD}{mark}, "):
                return None
            parts = [
                (
                    _codes(table["query"], task.queries.index),
                    _codes(table["case"], task.cases.index),
                    _numbers(table["similarity"]),
                )
                for table in pd.read_csv(
                    file, dtype=object, keep_default_na=False, na_filter=False, chunksize=_AT_ONCE
                )
            ]
    except (OSError, ValueError, KeyError):
        return None
    if not parts:
        return None
    query, case, similarity = (np.concatenate(column) for column in zip(*parts, strict=True))
    sizes = np.bincount(query, minlength=len(task.queries))
    cut = _CUT.search(head)
    depth = int(cut[1]) if cut else None
    whole = (
        (np.diff(query) >= 0).all()
        and head == _head(mark, len(query), depth)
        and np.isfinite(similarity).all()
        and (case >= 0).all()
    )
    if not whole:
        return None
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lists = CaseLists(task.queries.ids, task.cases.ids, starts, case.astype(np.int32), similarity)
    return GroundTruthCache(lists, depth)


def _numbers(column: Any) -> NDArray[np.float64]:  # noqa: ANN401  a column
    """Python reads a number as it was written; pandas may miss its last digit."""
    return np.array([float(word) for word in column])


def _head(mark: str, rows: int, depth: int | None) -> str:
    return f"{_HEAD}{mark}, {rows} rows" + ("" if depth is None else f", cut to {depth}")


def _codes(column: Any, index: dict[str, int]) -> NDArray[np.int64]:  # noqa: ANN401  a column
    """The places of ids; KeyError for one that is not known."""
    return np.array([index[word] for word in column], dtype=np.int64)
