r"""The built-in retriever: local similarities of the attributes, and their weighted mean.

.. math:: sim(q, c) = \frac{\sum_a w_a s_a(q_a, c_a)}{\sum_a w_a}

with, for a numeric attribute, :math:`s_a = \max(0, 1 - |q_a - c_a| / (max_a - min_a))`, and, for
a categorical one, 1 for equal values and 0 for others: the local-global principle (Richter &
Weber 2013), with the distances of HEOM (Wilson & Martinez 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.retrieval.bases import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.retrieval.cases import CaseBase

__all__ = ["LinearRetriever", "Local", "local_of", "make_linear"]

# Similarities that are made at once.
_AT_ONCE = 400_000
_NEUTRAL = 0.5


@dataclass(frozen=True)
class Local:
    """How an attribute is compared.

    Parameters
    ----------
    low, high : float
        The range of a numeric attribute.
    """

    name: str
    numeric: bool
    weight: float = 1.0
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, eq=False)
class LinearRetriever:
    """Compares a query with every case.

    Parameters
    ----------
    ids : tuple of str
        The cases.
    cases, queries : list of arrays, shape (cases,) and (queries,)
        The values of each attribute: numbers, NaN where they are missing; or codes, -1 where
        they are missing.
    """

    ids: tuple[str, ...]
    locals: tuple[Local, ...]
    cases: list[NDArray[Any]]
    queries: list[NDArray[Any]]
    missing: str = "different"
    takes_cases = True

    def retrieve(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> list[tuple[str, float]]:
        """Give the k most similar cases; of equally similar ones, the first of the file.

        Parameters
        ----------
        query : int
            Its place.
        among : array of int, optional
            The places of the cases to search, ascending; all by default.
        """
        similarity = self.similarities(slice(query, query + 1), among)[0]
        best = _best(similarity, k)
        places = best if among is None else among[best]
        pairs = zip(places.tolist(), similarity[best].tolist(), strict=True)
        return [(self.ids[place], value) for place, value in pairs]

    def similarities(
        self, queries: slice, among: NDArray[np.int32] | None = None
    ) -> NDArray[np.float64]:
        """Compare queries with cases, shape (queries, cases)."""
        total: Any = 0.0
        weights: Any = 0.0
        for local, cases, values in zip(self.locals, self.cases, self.queries, strict=True):
            if not local.weight:
                continue
            held = cases if among is None else cases[among]
            similar, unknown = _local(local, values[queries, np.newaxis], held)
            weight: Any = local.weight
            if self.missing == "ignore":
                weight = np.where(unknown, 0.0, local.weight)
                similar = np.where(unknown, 0.0, similar)
            else:
                similar = np.where(unknown, _NEUTRAL * (self.missing == "neutral"), similar)
            total = total + weight * similar
            weights = weights + weight
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(np.asarray(total / weights), nan=0.0))

    def all_lists(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Yield, query by query, all cases, best first, and their similarities."""
        n_queries = len(self.queries[0]) if self.queries else 0
        step = max(1, _AT_ONCE // max(len(self.ids), 1))
        for start in range(0, n_queries, step):
            part = self.similarities(slice(start, min(start + step, n_queries)))
            order = np.argsort(-part, axis=1, kind="stable").astype(np.int32)
            yield from zip(order, np.take_along_axis(part, order, axis=1), strict=True)


def _local(
    local: Local, query: NDArray[Any], cases: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The similarity of an attribute, and where a value is missing."""
    if not local.numeric:
        return (query == cases).astype(float), (query < 0) | (cases < 0)
    away = np.abs(query - cases)
    unknown = np.isnan(away)
    width = local.high - local.low
    if width > 0:
        return np.maximum(0.0, 1 - away / width), unknown
    return (away == 0).astype(float), unknown


def _best(similarity: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The places of the k highest values, highest first, of equal ones the first."""
    n = len(similarity)
    if k < n // 4:
        # All that reach the k-th value, in their order.
        at = np.flatnonzero(similarity >= np.partition(similarity, n - k)[n - k])
        return at[np.argsort(-similarity[at], kind="stable")[:k]]
    return np.argsort(-similarity, kind="stable")[:k]


def local_of(
    name: str,
    values: Sequence[Any],
    *,
    kind: str = "auto",
    weight: float = 1.0,
    given: tuple[float, float] | None = None,
    others: Sequence[Any] = (),
) -> Local:
    """Say how an attribute is compared.

    Parameters
    ----------
    values : sequence
        Those of the case base; the range of numbers is theirs unless one is given.
    kind : {"auto", "numeric", "categorical"}
        By default numeric where each value is a number or missing.
    given : (float, float), optional
        The range.
    others : sequence
        Those of the queries.

    Raises
    ------
    ValueError
        An attribute that should be numeric has other values.
    """
    known = [value for value in values if value is not None]
    texts = [v for v in [*known, *others] if v is not None and not isinstance(v, float)]
    if kind == "numeric" and texts:
        wrong = next((v for v in texts if not is_number(v)), texts[0])
        message = f"has the value {str(wrong)[:60]!r}, which is not a number"
        raise ValueError(message)
    if kind == "categorical" or texts or (kind == "auto" and not known and given is None):
        return Local(name, numeric=False, weight=weight)
    low, high = given or (min(known, default=0.0), max(known, default=0.0))
    return Local(name, numeric=True, weight=weight, low=float(low), high=float(high))


def make_linear(
    cases: CaseBase, queries: CaseBase, locals_: Sequence[Local], missing: str
) -> LinearRetriever:
    """Make the retriever of a case base and the queries to be put to it."""
    of_cases, of_queries = [], []
    for local in locals_:
        absent = [None] * len(queries)
        held, asked = cases.columns[local.name], queries.columns.get(local.name, absent)
        if local.numeric:
            of_cases.append(np.array([_float(value) for value in held]))
            of_queries.append(np.array([_float(value) for value in asked]))
            continue
        codes: dict[Any, int] = {}
        for column, place in ((held, of_cases), (asked, of_queries)):
            coded = [
                -1 if value is None else codes.setdefault(_category(value), len(codes))
                for value in column
            ]
            place.append(np.array(coded, dtype=np.int64))
    return LinearRetriever(cases.ids, tuple(locals_), of_cases, of_queries, missing)


def _float(value: Any) -> float:  # noqa: ANN401  a value of a case
    return value if isinstance(value, float) else float("nan")


def _category(value: Any) -> Any:  # noqa: ANN401  a value of a case
    """A value that can be compared; a list or an object by what it says."""
    return repr(value) if isinstance(value, list | dict) else value
