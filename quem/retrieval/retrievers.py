"""Retrievers of a study with a common interface, and the check of their lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning, collecting, refuse
from quem.io.custom_functions import BrokenEntry, Entry, raised
from quem.io.text import shown
from quem.retrieval.linear import LinearRetriever, make_linear
from quem.wording import join_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.retrieval.bases import Case, Task
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.studyfile.retrieval import Retriever

# Indices of cases, best first, and their similarities; or the reason for no list.
Answer: TypeAlias = "tuple[NDArray[np.int32], NDArray[np.float64]] | str"
_PAIR = 2
# Smaller differences of similarities are rounding errors and count as ties.
_SAME = 1e-12
# Outcome columns, if the study file names no solution.
_OUTCOMES = {"class", "label", "outcome", "solution", "target"}


class Runs(Protocol):
    """A retriever of the k most similar cases."""

    takes_cases: bool

    def prepared(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> Callable[[], object]:
        """The retrieval call among all or some cases; it alone is timed."""


@dataclass(frozen=True, eq=False)
class StoredRetriever:
    """Stored lists of a retriever."""

    lists: CaseLists
    takes_cases = True

    def prepared(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> Callable[[], Answer]:
        """The call that takes the first k of the list among those cases."""
        case, similarity = self.lists.of(query)
        mask = np.isin(case, case if among is None else among)
        return lambda: (case[mask][:k], similarity[mask][:k])


class PythonRetriever:
    """A custom retriever: ``retrieve(query, k)`` or ``retrieve(query, k, cases=cases)``.

    `solved` is whether it sees the solution of a query.
    """

    def __init__(self, entry: Entry, task: Task, *, solved: bool) -> None:
        self._function = _function_of(entry, task.cases.cases())
        try:
            names = list(inspect.signature(self._function).parameters)
        except (TypeError, ValueError):
            names = []
        self.takes_cases = "cases" in names
        self._takes_k = len(names) != 1
        self._task, self._solved = task, solved
        # A separate copy, so that changes by one retriever do not affect others.
        self._cases = task.cases.cases()

    def prepared(
        self, query: int, k: int, among: NDArray[np.int32] | None = None
    ) -> Callable[[], object]:
        """The call of the custom code."""
        task, function = self._task, self._function
        case = task.queries.case(query, solved=self._solved)
        if not self.takes_cases:
            # One more, for the case that is the query.
            count = (k + task.leave_one_out,) if self._takes_k else ()
            return lambda: function(case, *count)
        cases = self._cases
        if among is not None:
            ids = (task.cases.ids[place] for place in among.tolist())
            cases = {name: cases[name] for name in ids}
        elif task.leave_one_out:
            cases = {name: other for name, other in cases.items() if name != case.id}
        return lambda: function(case, k, cases=cases)


def _function_of(entry: Entry, cases: dict[str, Case]) -> Callable[..., Any]:
    """The retrieval function.

    A class is instantiated with the case base, and has a method ``retrieve``.
    """
    function: Any = entry.target
    if isinstance(function, type):
        made: Any = function
        try:
            instance = made(cases)
        except Exception as error:
            raise BrokenEntry(f"{entry.name} ({entry.file}) {raised(error)}") from error
        function = getattr(instance, "retrieve", None)
        if not callable(function):
            raise BrokenEntry(
                f"{entry.name} ({entry.file}) is a class without a method "
                "`retrieve(query, k)`; add it, or name a function"
            )
    return function  # type: ignore[no-any-return]


def make_retrievers(study: RetrievalStudy) -> tuple[dict[str, Runs], list[StudyWarning]]:
    """The retrievers of a study, with warnings."""
    retrievers: dict[str, Runs] = {}
    mistakes: list[Mistake] = []
    phases = study.spec.mac_fac
    for at, spec in enumerate(study.spec.retrievers):
        with collecting(mistakes):
            retrievers[spec.id] = _made(study, at, spec)
    if phases and phases.fac in retrievers and not retrievers[phases.fac].takes_cases:
        message = (
            f"{shown(phases.fac)} cannot search what the first phase kept; let it take the cases "
            "to search: retrieve(query, k, cases)"
        )
        mistakes.append(study.mistake(("mac_fac", "fac"), message))
    refuse(mistakes)
    return retrievers, list(_outcomes(study, retrievers))


def _made(study: RetrievalStudy, at: int, spec: Retriever) -> Runs:
    if spec.linear is not None:
        return make_linear(study, at, spec.linear)
    if not spec.python:
        return StoredRetriever(study.data.stored[spec.id])
    # A retriever as the ground truth may use the solution.
    solved = spec.id == study.spec.ground_truth.retriever
    try:
        return PythonRetriever(study.entries[spec.id], study.data.task, solved=solved)
    except BrokenEntry as error:
        raise QuemError(study.mistake(("retrievers", at, "python"), str(error))) from error


def _outcomes(study: RetrievalStudy, retrievers: dict[str, Runs]) -> Iterator[StudyWarning]:
    """Warnings on retrievers that compare the outcome, which is unknown for a new problem."""
    declared = study.data.task.cases.solution
    for name, retriever in retrievers.items():
        if not isinstance(retriever, LinearRetriever) or (
            declared and study.spec.ground_truth.retriever == name
        ):
            continue
        columns = [
            local.name
            for local in retriever.locals
            if local.name in declared
            or (not declared and local.name.casefold().strip() in _OUTCOMES)
        ]
        if columns:
            known = "the solution" if declared else "an outcome by its name"
            remedy = "" if declared else ", or name the outcome as cases.solution"
            message = (
                f"the retriever {shown(name)} compares {join_words(map(shown, columns))}, {known}, "
                f"which makes scores too good; leave it out of its attributes{remedy}"
            )
            yield StudyWarning("outcome-compared", message)


def checked(
    output: object, k: int, index: Mapping[str, int], own: int = -1, among: set[int] | None = None
) -> Answer:
    """A retriever's list for one query as arrays, or the error in it."""
    pairs = _pairs(output)
    if isinstance(pairs, str):
        return pairs
    for wrong in _wrong(pairs, index, among):
        return wrong
    case = np.array([index[name] for name, _ in pairs], dtype=np.int32)
    similarity = np.array([float(value) for _, value in pairs])
    # Values that differ by rounding are made equal.
    similarity = np.minimum.accumulate(similarity) if len(similarity) else similarity
    others = case != own
    return case[others][:k], similarity[others][:k]


def _pairs(output: object) -> list[Any] | str:
    if isinstance(output, Mapping):
        pairs = list(output.items())
        try:
            return sorted(pairs, key=lambda pair: -pair[1])
        except TypeError:
            return pairs
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


def _wrong(pairs: list[Any], index: Mapping[str, int], among: set[int] | None) -> Iterator[str]:
    """The errors of pairs, up to the first."""
    seen: set[str] = set()
    before, last = "", np.inf
    for name, given in pairs:
        value = _number(given)
        if not isinstance(name, str):
            yield f"gave {_short(name)} as a case, where an id (a text) should be"
        elif name not in index:
            yield f"gave the unknown case {shown(name)}"
        elif name in seen:
            yield f"gave the case {shown(name)} twice"
        elif among is not None and index[name] not in among:
            yield f"gave the case {shown(name)}, which is not among those it was to search"
        elif value is None:
            what = f"gave {_short(given)} as the similarity of {shown(name)}"
            yield f"{what}, which is not a number"
        elif not np.isfinite(value):
            yield f"gave {value:g} as the similarity of {shown(name)}"
        elif value - last > _SAME * max(1.0, abs(last)):
            yield (
                f"gave similarities that are not sorted: {before} with {last:g} before "
                f"{name} with {value:g}"
            )
        else:
            seen.add(name)
            before, last = name, value


def _number(value: Any) -> float | None:  # noqa: ANN401  the user's
    try:
        return None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a class of the user
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004  fits in a message
