"""Runs and relevance judgments in the formats of TREC, for other tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.retrieval.lists import CaseLists
    from quem.retrieval.scoring import Ties

__all__ = ["file_stems", "qrels_parts", "run_parts", "words_of"]

# trec_eval makes room for each grade up to the highest.
_GRADES = 1000
_HIGHEST = 1_000_000
# As TREC has them.
_DEEPEST = 1000


def words_of(names: Sequence[str]) -> list[str] | None:
    """Write ids without spaces, which separate words; None where two would become one."""
    words = [re.sub(r"\s+", "_", name) for name in names]
    return words if len(set(words)) == len(set(names)) else None


def file_stems(ids: Sequence[str]) -> list[str]:
    """Name a file for each retriever, each another one."""
    stems: list[str] = []
    for name in ids:
        plain = re.sub(r"[^\w.+-]+", "-", name, flags=re.ASCII).strip(".-") or "retriever"
        stem, number = f"run-{plain[:80]}", 2
        while stem.casefold() in {known.casefold() for known in stems}:
            stem, number = f"run-{plain[:80]}-{number}", number + 1
        stems.append(stem)
    return stems


def run_parts(lists: CaseLists, tag: str, ties: Ties = "expected") -> Iterator[bytes] | None:
    """Write lists as a TREC run, 1,000 cases per query at most; None where ids forbid it.

    Tools order a run by its scores, which trec_eval reads in single precision, and break ties by
    themselves. Where the similarities would not give them the order that was scored, the scores
    count down from the length of the list instead.

    Parameters
    ----------
    tag : str
        The name of the run.
    ties : {"expected", "id", "input"}
        As they were scored: tied cases have one score only where their order is left open.

    Returns
    -------
    iterator of bytes or None
        The list of each query.
    """
    queries, cases = words_of(lists.queries), words_of(lists.cases)
    if queries is None or cases is None:
        return None
    return _run(lists, queries, cases, re.sub(r"\s+", "_", tag), ties)


def _run(
    lists: CaseLists, queries: list[str], cases: list[str], tag: str, ties: Ties
) -> Iterator[bytes]:
    for query, name in enumerate(queries):
        case, similarity = lists.of(query)
        if ties == "id" and lists.scored:
            order = sorted(
                range(len(case)),
                key=lambda at: (similarity[at], lists.cases[case[at]]),
                reverse=True,
            )
            case, similarity = case[order], similarity[order]
        case, similarity = case[:_DEEPEST], similarity[:_DEEPEST]
        if not lists.scored:
            similarity = np.arange(len(case), 0, -1, dtype=float)
        scores = _falling(similarity, open_ties=ties == "expected")
        pairs = zip(case.tolist(), scores.tolist(), strict=True)
        yield "".join(
            f"{name} Q0 {cases[place]} {rank} {value!r} {tag}\n"
            for rank, (place, value) in enumerate(pairs, 1)
        ).encode()


def _falling(similarity: NDArray[np.float64], *, open_ties: bool) -> NDArray[np.float64]:
    """Give scores that fall where the order is decided, also in single precision."""
    new = np.ones(len(similarity), dtype=bool)
    if open_ties:
        new[1:] = similarity[1:] != similarity[:-1]
    with np.errstate(over="ignore"):
        single = similarity.astype(np.float32)
    if np.isfinite(single).all() and (single[1:] < single[:-1])[new[1:]].all():
        return similarity
    falling: NDArray[np.float64] = (len(new) + 1 - np.cumsum(new)).astype(float)
    return falling


def qrels_parts(truth: CaseLists) -> Iterator[bytes] | None:
    """Write a ground truth as TREC qrels; None where ids or grades forbid it.

    Grades are whole numbers there: others, such as similarities, are written in thousandths.

    Returns
    -------
    iterator of bytes or None
        The grades of each query.
    """
    queries, cases = words_of(truth.queries), words_of(truth.cases)
    values = truth.similarity
    if queries is None or cases is None or not len(values) or np.abs(values).max() > _HIGHEST:
        return None
    factor = 1 if (values == np.round(values)).all() else _GRADES
    return _qrels(truth, queries, cases, factor)


def _qrels(truth: CaseLists, queries: list[str], cases: list[str], factor: int) -> Iterator[bytes]:
    for query, name in enumerate(queries):
        case, similarity = truth.of(query)
        grades = np.round(similarity * factor).astype(np.int64)
        pairs = zip(case.tolist(), grades.tolist(), strict=True)
        yield "".join(f"{name} 0 {cases[place]} {grade}\n" for place, grade in pairs).encode()
