r"""The built-in retriever, a weighted mean of local similarities of attributes.

.. math:: sim(q, c) = \frac{\sum_a w_a s_a(q_a, c_a)}{\sum_a w_a}

with, for a numeric attribute, :math:`s_a = \max(0, 1 - |q_a - c_a| / (max_a - min_a))`, and, for
a categorical one, 1 for equal values and 0 for others: the local-global principle (Richter &
Weber 2013), with the distances of HEOM (Wilson & Martinez 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError, refuse
from quem.io.text import nearest, shown
from quem.retrieval.bases import Task, is_number
from quem.studyfile.retrieval import Attribute, Linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.retrieval.loading import RetrievalStudy

_NEUTRAL = 0.5


@dataclass(frozen=True)
class Local:
    """An attribute of all cases and queries, with its comparison."""

    name: str
    weight: float
    width: float | None  # range of a numeric attribute; None for a categorical one
    # Of shape (cases,) and (queries,): numbers, NaN where missing; or codes, -1 where missing
    cases: NDArray[Any]
    queries: NDArray[Any]

    def compare(
        self, query: int, among: NDArray[np.int32] | slice
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The similarity of each case to a query, and which values are missing."""
        value, cases = self.queries[query], self.cases[among]
        if self.width is None:
            return (value == cases).astype(float), (value < 0) | (cases < 0)
        away = np.abs(value - cases)
        if self.width > 0:
            return np.maximum(0.0, 1 - away / self.width), np.isnan(away)
        return (away == 0).astype(float), np.isnan(away)


@dataclass(frozen=True, eq=False)
class LinearRetriever:
    """A linear scan over all cases."""

    task: Task
    locals: tuple[Local, ...]
    missing: str
    takes_cases = True

    def prepared(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> Callable[[], tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """The retrieval call; ties are in file order."""
        return partial(self._retrieve, query, k, among)

    def _retrieve(
        self, query: int, k: int, among: NDArray[np.int32] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        similarity = self._similarities(query, slice(None) if among is None else among)
        # One more, for the case that is the query.
        best = _best(similarity, k + self.task.leave_one_out)
        case = (best if among is None else among[best]).astype(np.int32)
        others = case != self.task.own(query)
        return case[others][:k], similarity[best][others][:k]

    def _similarities(self, query: int, among: NDArray[np.int32] | slice) -> NDArray[np.float64]:
        total: Any = 0.0
        weights: Any = 0.0
        for local in self.locals:
            similar, unknown = local.compare(query, among)
            weight: Any = local.weight
            if self.missing == "ignore":
                weight = np.where(unknown, 0.0, weight)
            total = total + weight * np.where(
                unknown, _NEUTRAL * (self.missing == "neutral"), similar
            )
            weights = weights + weight
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(total / weights, nan=0.0))


def _best(similarity: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The indices of the k highest values, in decreasing order; ties in index order."""
    n = len(similarity)
    if k < n // 4:
        # All that reach the k-th value, in order.
        at = np.flatnonzero(similarity >= np.partition(similarity, n - k)[n - k])
        return at[np.argsort(-similarity[at], kind="stable")[:k]]
    return np.argsort(-similarity, kind="stable")[:k]


def make_linear(study: RetrievalStudy, at: int, spec: Linear) -> LinearRetriever:
    """The built-in retriever of a study's entry.

    Raises
    ------
    QuemError
        There is nothing to compare, or an attribute cannot be.
    """
    task = study.data.task
    cases, queries = task.cases, task.queries
    if not cases.attributes or not (cases.problem or spec.attributes):
        message = "has no attributes that could be compared, only ids and solutions"
        raise QuemError(study.mistake(("cases",), message))
    shared = (Attribute(name=name) for name in cases.problem if name in queries.columns)
    chosen = spec.attributes or tuple(shared)
    if not chosen:
        message = f"{queries.name} and {cases.name} have no attribute in common"
        raise QuemError(study.mistake(("queries",), message))
    mistakes: list[Mistake] = []
    for place, attribute in enumerate(chosen):
        loc = ("retrievers", at, "linear", "attributes", place)
        if wrong := _absent(attribute.name, task):
            mistakes.append(study.mistake((*loc, "name"), wrong))
        elif attribute.type == "numeric" and (wrong := _no_number(attribute.name, task)):
            mistakes.append(study.mistake(loc, wrong))
    refuse(mistakes)
    compared = tuple(_local(one, task) for one in chosen if one.weight)
    return LinearRetriever(task, compared, spec.missing)


def _absent(name: str, task: Task) -> str:
    """Why an attribute cannot be compared; empty if it can."""
    cases, queries = task.cases, task.queries
    if name in cases.ignored:
        return f"{shown(name)} is ignored (cases.ignore); compare it or ignore it"
    if name not in cases.columns:
        hint = nearest(name, cases.attributes) or f"; it has {', '.join(cases.attributes[:20])}"
        return f"{cases.name} has no attribute {shown(name)}{hint}"
    if name not in queries.columns:
        return f"{queries.name} has no attribute {shown(name)}{nearest(name, queries.attributes)}"
    return ""


def _no_number(name: str, task: Task) -> str:
    """A case or query with a value that is not a number, in words."""
    for base in (task.cases, task.queries):
        for own, value in zip(base.ids, base.columns[name], strict=True):
            if not is_number(value):
                return (
                    f"{shown(name)} has the value {str(value)[:60]!r}, which is not a number "
                    f"({shown(own)} in {base.name})"
                )
    return ""


def _local(attribute: Attribute, task: Task) -> Local:
    """An attribute, numeric if each value is a number or missing and there is one, or a range."""
    columns = task.cases.columns[attribute.name], task.queries.columns[attribute.name]
    known = [value for value in columns[0] if value is not None]
    texts = any(not isinstance(value, float | None) for column in columns for value in column)
    if attribute.type == "categorical" or texts or not (known or attribute.range):
        codes: dict[Any, int] = {}
        coded = [
            [-1 if value is None else codes.setdefault(_category(value), len(codes)) for value in c]
            for c in columns
        ]
        return Local(attribute.name, attribute.weight, None, np.array(coded[0]), np.array(coded[1]))
    low, high = attribute.range or (min(known), max(known))
    cases, queries = (np.array(column, dtype=float) for column in columns)
    return Local(attribute.name, attribute.weight, high - low, cases, queries)


def _category(value: Any) -> Any:  # noqa: ANN401  a value of a case
    """A hashable value; a list or an object by its contents."""
    return repr(value) if isinstance(value, list | dict) else value
