"""Retrievers that run, behind one face, and the check of what they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from quem.io.custom_functions import raised
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.retrieval.cases import Case, CaseBase
    from quem.retrieval.lists import CaseLists

__all__ = ["Answer", "PythonRetriever", "Runs", "StoredRetriever", "checked"]

# Places of cases, best first, and their similarities; or why there is no list.
Answer = tuple["NDArray[np.int32]", "NDArray[np.float64]"] | str
_PAIR = 2
# Similarities that differ by less are equal, so that rounding does not break an order.
_SAME = 1e-12


class Runs(Protocol):
    """What can be asked for the k most similar cases."""

    takes_cases: bool

    def retrieve(self, query: int, k: int, among: NDArray[np.int32] | None = None) -> Any:  # noqa: ANN401  see `checked`
        """Give the k most similar cases of those, by their places, or of all."""


@dataclass(eq=False)
class PythonRetriever:
    """A retriever of the user.

    Parameters
    ----------
    function : callable
        ``retrieve(query, k)``, or, where it takes them, ``retrieve(query, k, cases=cases)``.
    cases : dict of str to Case
        Its own copy.
    leave_one_out : bool
        Whether the case that is the query is kept from it.
    solved : bool
        Whether it is shown the solution of a query.
    """

    function: Callable[..., Any]
    takes_cases: bool
    queries: CaseBase
    cases: dict[str, Case]
    leave_one_out: bool = False
    solved: bool = False
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
            wanted = k + self.leave_one_out
            return lambda: function(case, wanted)
        if among is not None:
            cases = {self._ids[place]: self.cases[self._ids[place]] for place in among.tolist()}
        elif self.leave_one_out and case.id in self.cases:
            cases = {name: held for name, held in self.cases.items() if name != case.id}
        else:
            cases = self.cases
        return lambda: function(case, k, cases=cases)

    def retrieve(self, query: int, k: int, among: NDArray[np.int32] | None = None) -> Any:  # noqa: ANN401  the user's
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
            kept = np.isin(case, among)
            case, similarity = case[kept], similarity[kept]
        if not self.lists.scored:
            similarity = np.arange(len(case), 0, -1, dtype=float)
        names = self.lists.cases
        pairs = zip(case[:k].tolist(), similarity[:k].tolist(), strict=True)
        return [(names[place], value) for place, value in pairs]


def checked(
    given: object, k: int, index: Mapping[str, int], own: int = -1, among: set[int] | None = None
) -> Answer:
    """Make arrays of what a retriever gave for one query, or say what is wrong with it.

    Parameters
    ----------
    given : object
        Should be pairs of the id of a case and its similarity, the highest first.
    k : int
        As many were asked for; more are cut off.
    index : mapping of str to int
        The place of each case.
    own : int
        The place of the case that is the query, which is left out; -1 for none.
    among : set of int, optional
        The places of the cases that were to be searched.
    """
    pairs = _pairs(given)
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


def _pairs(given: object) -> list[Any] | str:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return f"gave {_short(given)}, where a list of pairs of case and similarity should be"
    try:
        pairs = list(given)
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
