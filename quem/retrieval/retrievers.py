r"""Retrievers that run, behind one face, and the check of what they give.

The built-in one weighs the local similarities of the attributes:

.. math:: sim(q, c) = \frac{\sum_a w_a s_a(q_a, c_a)}{\sum_a w_a}

with, for a numeric attribute, :math:`s_a = \max(0, 1 - |q_a - c_a| / (max_a - min_a))`, and, for
a categorical one, 1 for equal values and 0 for others: the local-global principle (Richter &
Weber 2013), with the distances of HEOM (Wilson & Martinez 1997).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from quem.io.custom_functions import raised
from quem.io.text import shown
from quem.retrieval.bases import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.retrieval.bases import Case, CaseBase
    from quem.retrieval.lists import CaseLists

# Places of cases, best first, and their similarities; or why there is no list.
Answer = tuple["NDArray[np.int32]", "NDArray[np.float64]"] | str
_PAIR = 2
# Similarities that differ by less are equal, so that rounding does not break an order.
_SAME = 1e-12


class Runs(Protocol):
    """What can be asked for the k most similar cases."""

    takes_cases: bool

    def retrieve(self, query: int, k: int, among: NDArray[np.int32] | None = None) -> object:
        """Give the k most similar cases of those, by their places, or of all."""


@dataclass(eq=False)
class PythonRetriever:
    """A retriever of the user."""

    # ``retrieve(query, k)``, ``retrieve(query)``, or ``retrieve(query, k, cases=cases)``.
    function: Callable[..., Any]
    takes_cases: bool
    takes_k: bool
    queries: CaseBase
    cases: dict[str, Case]  # its own copy
    leave_one_out: bool = False  # whether the case that is the query is kept from it
    solved: bool = False  # whether it is shown the solution of a query
    _ids: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Remember the order of the cases."""
        self._ids = tuple(self.cases)

    def prepared(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> Callable[[], Any]:
        """Make the call, so that only what the retriever does is timed."""
        case, function = self.queries.case(query, solved=self.solved), self.function
        if not self.takes_cases:
            # One more, for the case that is the query.
            count = (k + self.leave_one_out,) if self.takes_k else ()
            return lambda: function(case, *count)
        if among is not None:
            cases = {self._ids[place]: self.cases[self._ids[place]] for place in among.tolist()}
        elif self.leave_one_out and case.id in self.cases:
            cases = {name: other for name, other in self.cases.items() if name != case.id}
        else:
            cases = self.cases
        return lambda: function(case, k, cases=cases)

    def retrieve(self, query: int, k: int, among: NDArray[np.int32] | None = None) -> object:
        """Ask the user's code."""
        return self.prepared(query, k, among)()


@dataclass(frozen=True, eq=False)
class StoredRetriever:
    """Lists that a retriever gave elsewhere, as one phase of MAC/FAC."""

    lists: CaseLists
    takes_cases = True

    def retrieve(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> list[tuple[str, float]]:
        """Give the first k of the list that are among those cases."""
        case, similarity = self.lists.of(query)
        if among is not None:
            mask = np.isin(case, among)
            case, similarity = case[mask], similarity[mask]
        if not self.lists.scored:
            similarity = np.arange(len(case), 0, -1, dtype=float)
        names = self.lists.cases
        pairs = zip(case[:k].tolist(), similarity[:k].tolist(), strict=True)
        return [(names[place], value) for place, value in pairs]


def checked(
    output: object, k: int, index: Mapping[str, int], own: int = -1, among: set[int] | None = None
) -> Answer:
    """Make arrays of what a retriever gave for one query, or say what is wrong with it."""
    pairs = _pairs(output)
    if isinstance(pairs, str):
        return pairs
    names = [pair[0] for pair in pairs]
    try:
        places = [index.get(name, -1) for name in names]
    except TypeError:
        wrong = next(name for name in names if not isinstance(name, str))
        return f"gave {_short(wrong)} as a case, where an id should be"
    if wrong := _wrong_places(names, places, among):
        return wrong
    similarity = _similarities([pair[1] for pair in pairs], names)
    if isinstance(similarity, str):
        return similarity
    rises = np.flatnonzero(np.diff(similarity) > _SAME * np.maximum(1, np.abs(similarity[:-1])))
    if len(rises):
        at = int(rises[0])
        return (
            f"gave similarities that are not sorted: {names[at]} with {similarity[at]:g} before "
            f"{names[at + 1]} with {similarity[at + 1]:g}"
        )
    # What is equal but for rounding is given as equal.
    similarity = np.minimum.accumulate(similarity) if len(similarity) else similarity
    case = np.array(places, dtype=np.int32)
    if own in places:
        keep = case != own
        case, similarity = case[keep], similarity[keep]
    return case[:k], similarity[:k]


def _wrong_places(names: list[Any], places: list[int], among: set[int] | None) -> str:
    """Say which case is unknown, given twice, or outside of what was to be searched."""
    if -1 in places:
        wrong = names[places.index(-1)]
        if not isinstance(wrong, str):
            return f"gave {_short(wrong)} as a case, where an id (a text) should be"
        return f"gave the unknown case {shown(wrong)}"
    if len(set(places)) < len(places):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        return f"gave the case {shown(twice)} twice"
    if among is not None and not among.issuperset(places):
        stray = next(n for n, p in zip(names, places, strict=True) if p not in among)
        return f"gave the case {shown(stray)}, which is not among those it was to search"
    return ""


def _pairs(output: object) -> list[Any] | str:
    if isinstance(output, Mapping):
        with suppress(TypeError):
            return sorted(output.items(), key=lambda pair: -pair[1])
        return list(output.items())
    if isinstance(output, str | bytes) or not isinstance(output, Iterable):
        return f"gave {_short(output)}, where a list of pairs of case and similarity should be"
    try:
        pairs = list(output)
    except Exception as error:  # noqa: BLE001  a generator of the user
        return raised(error)
    for pair in pairs:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != _PAIR:
            return f"gave {_short(pair)}, where a pair of case and similarity should be"
    return pairs


def _similarities(values: list[Any], names: list[str]) -> NDArray[np.float64] | str:
    try:
        if any(isinstance(value, str | bytes) or value is None for value in values):
            raise TypeError  # noqa: TRY301  said below
        similarity = np.array([float(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        wrong = next((n, v) for n, v in zip(names, values, strict=True) if not _is_number(v))
        return (
            f"gave {_short(wrong[1])} as the similarity of {shown(wrong[0])}, which is not a number"
        )
    if not np.isfinite(similarity).all():
        at = int(np.flatnonzero(~np.isfinite(similarity))[0])
        return f"gave {similarity[at]:g} as the similarity of {shown(names[at])}"
    return similarity


def _is_number(value: Any) -> bool:  # noqa: ANN401  the user's
    if isinstance(value, str | bytes) or value is None:
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a class of the user
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004  fits in a message


# Similarities that are made at once.
_AT_ONCE = 400_000
_NEUTRAL = 0.5


@dataclass(frozen=True)
class Local:
    """How an attribute is compared."""

    name: str
    numeric: bool
    weight: float = 1.0
    # The range of a numeric attribute
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, eq=False)
class LinearRetriever:
    """Compares a query with every case."""

    ids: tuple[str, ...]  # the cases
    locals: tuple[Local, ...]
    # Of shape (cases,) and (queries,): the values of each attribute: numbers, NaN where they are
    # missing; or codes, -1 where they are missing
    cases: list[NDArray[Any]]
    queries: list[NDArray[Any]]
    missing: str = "different"
    takes_cases = True

    def retrieve(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> list[tuple[str, float]]:
        """Give the k most similar cases; of equally similar ones, the first of the file."""
        similarity = self.similarities(slice(query, query + 1), among)[0]
        best = _best(similarity, k)
        places = best if among is None else among[best]
        pairs = zip(places.tolist(), similarity[best].tolist(), strict=True)
        return [(self.ids[place], value) for place, value in pairs]

    def similarities(
        self, queries: slice | NDArray[np.int32], among: NDArray[np.int32] | None = None
    ) -> NDArray[np.float64]:
        """Compare queries with cases, all or those at some places, shape (queries, cases)."""
        total: Any = 0.0
        weights: Any = 0.0
        for local, cases, values in zip(self.locals, self.cases, self.queries, strict=True):
            if not local.weight:
                continue
            case_values = cases if among is None else cases[among]
            similar, unknown = _local(local, values[queries, np.newaxis], case_values)
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
    limits: tuple[float, float] | None = None,
    others: Sequence[Any] = (),
) -> Local:
    """Say how an attribute is compared."""
    known = [value for value in values if value is not None]
    texts = [v for v in [*known, *others] if v is not None and not isinstance(v, float)]
    if kind == "numeric" and texts:
        wrong = next((v for v in texts if not is_number(v)), texts[0])
        raise ValueError(f"has the value {str(wrong)[:60]!r}, which is not a number")
    if kind == "categorical" or texts or (kind == "auto" and not known and limits is None):
        return Local(name, numeric=False, weight=weight)
    low, high = limits or (min(known, default=0.0), max(known, default=0.0))
    return Local(name, numeric=True, weight=weight, low=float(low), high=float(high))


def make_linear(
    cases: CaseBase, queries: CaseBase, locals_: Sequence[Local], missing: str
) -> LinearRetriever:
    """Make the retriever of a case base and the queries to be put to it."""
    of_cases, of_queries = [], []
    for local in locals_:
        absent = [None] * len(queries)
        case_values, query_values = (
            cases.columns[local.name],
            queries.columns.get(local.name, absent),
        )
        if local.numeric:
            of_cases.append(np.array([_float(value) for value in case_values]))
            of_queries.append(np.array([_float(value) for value in query_values]))
            continue
        codes: dict[Any, int] = {}
        for column, place in ((case_values, of_cases), (query_values, of_queries)):
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
