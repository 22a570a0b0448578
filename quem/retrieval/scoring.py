"""Scores of lists, query by query; in parts, so that memory does not grow with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.lists import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.retrieval.lists import CaseLists

__all__ = ["QueryScores", "Ties", "score_lists"]

Ties = Literal["expected", "id", "input"]

# Items of lists and ground truth that are dicts at one time.
_AT_ONCE = 100_000
_NO_TRUTH = "there is no ground truth for this query"


@dataclass(frozen=True)
class QueryScores:
    """The scores of one retriever.

    Parameters
    ----------
    values : array of float, shape (queries, measures)
        NaN where a measure is undefined.
    reason : array of int, shape (queries, measures)
        Where in `reasons` it is said why, or why the list that was scored is empty.
    reasons : tuple of str
        The first is empty.
    """

    values: NDArray[np.float64]
    reason: NDArray[np.intp]
    reasons: tuple[str, ...]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each measure over the queries where it is defined, shape (measures,)."""
        count = self.defined
        total = np.nansum(self.values, axis=0)
        return np.where(count, total / np.maximum(count, 1), np.nan)

    @property
    def defined(self) -> NDArray[np.intp]:
        """For how many queries each measure is defined, shape (measures,)."""
        return np.asarray((~np.isnan(self.values)).sum(axis=0), dtype=np.intp)


def score_lists(
    lists: CaseLists,
    truth: CaseLists,
    measures: Sequence[Measure],
    ties: Ties = "expected",
) -> QueryScores:
    """Hold the lists of a retriever against the ground truth.

    Where a retriever failed, an empty list is scored.

    Parameters
    ----------
    lists, truth : CaseLists
        Of the same queries.
    ties : {"expected", "id", "input"}
        The order of cases of equal similarity; see `RetrievalAnalysis`.
    """
    n = len(truth.queries)
    values = np.full((n, len(measures)), np.nan)
    reason = np.zeros(values.shape, dtype=np.intp)
    known: dict[str, int] = {"": 0}
    for query in np.flatnonzero(truth.sizes == 0).tolist():
        why = truth.failed.get(query, _NO_TRUTH)
        reason[query] = known.setdefault(why, len(known))
    good = np.flatnonzero(truth.sizes > 0)
    names, true_names = np.array(lists.cases, dtype=object), np.array(truth.cases, dtype=object)
    for part in _parts(good, lists, truth):
        run = {query: lists.items(query, names) for query in part.tolist()}
        true = {query: truth.items(query, true_names) for query in part.tolist()}
        scores = evaluate(run, true, measures, ties="given" if ties == "input" else ties)
        values[part] = scores.values
        place = np.array([known.setdefault(why, len(known)) for why in scores.reasons])
        reason[part] = place[scores.reason_codes]
    for query in set(lists.failed) & set(good.tolist()):
        reason[query] = known.setdefault(lists.failed[query], len(known))
    return QueryScores(values, reason, tuple(known))


def _parts(
    good: NDArray[np.intp], lists: CaseLists, truth: CaseLists
) -> Iterator[NDArray[np.intp]]:
    """Queries, as many at a time as have not too many items."""
    items = np.cumsum((lists.sizes + truth.sizes)[good])
    start = 0
    while start < len(good):
        done = items[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(items, done + _AT_ONCE, side="right")))
        yield good[start:end]
        start = end
