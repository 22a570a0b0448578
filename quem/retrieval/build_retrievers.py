"""Makes retrievers that run of what a study says of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

from quem.errors import QuemError, StudyWarning
from quem.io.custom_functions import BrokenEntry, Entry, raised
from quem.io.text import nearest, shown
from quem.retrieval.bases import is_number
from quem.retrieval.retrievers import (
    LinearRetriever,
    PythonRetriever,
    StoredRetriever,
    local_of,
    make_linear,
)
from quem.retrieval.running import Run, ask_all, n_calls, run_rounds
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.errors import Mistake
    from quem.parallel import Progress
    from quem.retrieval.bases import Case
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.retrievers import Local, Runs
    from quem.retrieval.running import Times
    from quem.studyfile.retrieval import Attribute, Retriever

# Columns that hold what is to be found out, where the study file names no solution.
_OUTCOMES = {"class", "label", "outcome", "solution", "target"}


def make_retrievers(study: RetrievalStudy) -> tuple[dict[str, Runs], list[StudyWarning]]:
    """Make every retriever of a study."""
    retrievers = make_built_in(study)
    mistakes: list[Mistake] = []
    warnings: list[StudyWarning] = []
    for at, retriever in enumerate(study.spec.retrievers):
        if retriever.python:
            try:
                retrievers[retriever.id] = _python(study, retriever.id)
            except BrokenEntry as error:
                message = f"the retriever {shown(retriever.id)} is left out: {error}"
                warnings.append(StudyWarning("retriever-left-out", message))
            except QuemError as error:
                loc = ("retrievers", at, "python")
                mistakes += [study.mistake(loc, m.message) for m in error.mistakes]
    mistakes += _phases(study, retrievers)
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    # In the order of the study file.
    retrievers = {
        one.id: retrievers[one.id] for one in study.spec.retrievers if one.id in retrievers
    }
    return retrievers, [*warnings, *_outcomes(study, retrievers)]


def make_built_in(study: RetrievalStudy) -> dict[str, Runs]:
    """Make the retrievers that need no code of the study: the linear ones and stored lists."""
    retrievers: dict[str, Runs] = {}
    mistakes: list[Mistake] = []
    for at, retriever in enumerate(study.spec.retrievers):
        if retriever.linear is not None:
            linear = _linear(study, at, retriever, mistakes)
            if linear is not None:
                retrievers[retriever.id] = linear
        elif not retriever.python:
            retrievers[retriever.id] = StoredRetriever(study.data.stored[retriever.id])
    mistakes += _phases(study, retrievers)
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    return retrievers


def _outcomes(study: RetrievalStudy, retrievers: dict[str, Runs]) -> Iterator[StudyWarning]:
    """Retrievers that compare the outcome, which nobody knows of a new problem."""
    declared = study.data.task.cases.solution
    for name, retriever in retrievers.items():
        if not isinstance(retriever, LinearRetriever) or (
            declared and study.spec.ground_truth.retriever == name
        ):
            continue
        compared = [local.name for local in retriever.locals if local.weight]
        columns = [
            column
            for column in compared
            if column in declared or (not declared and column.casefold().strip() in _OUTCOMES)
        ]
        if columns:
            known = "the solution" if declared else "an outcome by its name"
            message = (
                f"the retriever {shown(name)} compares {join_words(map(shown, columns))}, {known}, "
                "which "
                "makes scores too good; leave it out of its attributes"
            )
            if not declared:
                message += ", or name the outcome as cases.solution"
            yield StudyWarning("outcome-compared", message)


def _python(study: RetrievalStudy, name: str) -> PythonRetriever:
    entry, task = study.entries[name], study.data.task
    if not isinstance(entry, Entry):
        raise BrokenEntry(entry)
    # Its own copy of the cases: what one retriever does to them is not seen by others.
    function = _function_of(entry, task.cases.cases())
    names = _parameters(function)
    return PythonRetriever(
        function,
        "cases" in names,
        len(names) != 1,
        task.queries,
        task.cases.cases(),
        task.leave_one_out,
        # What makes the ground truth may go by the solution.
        solved=study.spec.ground_truth.retriever == name,
    )


def _function_of(entry: Entry, cases: dict[str, Case]) -> Callable[..., Any]:
    """The function that retrieves.

    A class is made into a retriever with the case base, and has a method ``retrieve``.
    """
    function = entry.target
    if isinstance(function, type):
        try:
            instance = cast("Callable[..., Any]", function)(cases)
        except Exception as error:
            raise BrokenEntry(f"{entry.name} ({entry.file}) {raised(error)}") from error
        function = getattr(instance, "retrieve", None)
        if not callable(function):
            raise QuemError(
                f"{entry.name} ({entry.file}) is a class without a method "
                "`retrieve(query, k)`; add it, or name a function"
            )
    return cast("Callable[..., Any]", function)


def _parameters(function: Callable[..., Any]) -> list[str]:
    """What a function takes; nothing where that is unknown."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _linear(
    study: RetrievalStudy, at: int, retriever: Retriever, mistakes: list[Mistake]
) -> LinearRetriever | None:
    cases, queries = study.data.task.cases, study.data.task.queries
    spec = retriever.linear
    if spec is None:
        return None
    if not cases.attributes or not (cases.problem or spec.attributes):
        message = "has no attributes that could be compared, only ids and solutions"
        mistakes.append(study.mistake(("cases",), message))
        return None
    locals_: list[Local] = []
    before = len(mistakes)
    chosen: list[tuple[Attribute | None, str]] = [(a, a.name) for a in spec.attributes]
    shared = [(None, name) for name in cases.problem if name in queries.columns]
    if not (chosen or shared):
        message = f"{queries.name} and {cases.name} have no attribute in common"
        mistakes.append(study.mistake(("queries",), message))
    for place, (attribute, name) in enumerate(chosen or shared):
        loc = ("retrievers", at, "linear", "attributes", place)
        if wrong := _absent(name, study):
            mistakes.append(study.mistake((*loc, "name"), wrong))
        elif attribute is None:
            locals_.append(local_of(name, cases.columns[name]))
        else:
            try:
                locals_.append(_local(attribute, study))
            except ValueError as error:
                message = f"{shown(name)} {error}{_whose(name, study)}"
                mistakes.append(study.mistake(loc, message))
    if len(mistakes) > before:
        return None
    return make_linear(cases, queries, locals_, spec.missing)


def _absent(name: str, study: RetrievalStudy) -> str:
    """Say why an attribute cannot be compared; nothing if it can."""
    cases, queries = study.data.task.cases, study.data.task.queries
    if name in cases.ignored:
        return f"{shown(name)} is ignored (cases.ignore); compare it or ignore it"
    if name not in cases.columns:
        hint = nearest(name, cases.attributes) or f"; it has {', '.join(cases.attributes[:20])}"
        return f"{cases.name} has no attribute {shown(name)}{hint}"
    if name not in queries.columns:
        return f"{queries.name} has no attribute {shown(name)}{nearest(name, queries.attributes)}"
    return ""


def _whose(name: str, study: RetrievalStudy) -> str:
    """Say which case or query has a value that is not a number."""
    for base in (study.data.task.cases, study.data.task.queries):
        for own, value in zip(base.ids, base.columns[name], strict=True):
            if isinstance(value, str) and not is_number(value):
                return f" ({shown(own)} in {base.name})"
    return ""


def _local(attribute: Attribute, study: RetrievalStudy) -> Local:
    cases, queries = study.data.task.cases, study.data.task.queries
    return local_of(
        attribute.name,
        cases.columns[attribute.name],
        kind=attribute.type,
        weight=attribute.weight,
        limits=attribute.range,
        others=queries.columns[attribute.name],
    )


def _phases(study: RetrievalStudy, retrievers: dict[str, Runs]) -> list[Mistake]:
    """The second phase has to search among some of the cases."""
    phases = study.spec.mac_fac
    if phases is None or phases.fac not in retrievers or retrievers[phases.fac].takes_cases:
        return []
    message = (
        f"{shown(phases.fac)} cannot search what the first phase kept; let it take the cases to "
        "search: retrieve(query, k, cases)"
    )
    return [study.mistake(("mac_fac", "fac"), message)]


# The ground truth has its lists already, and is slow; so many queries tell its time.
_TRUTH_TIMED = 20
_NAMED = 4


def run_retrievers(
    study: RetrievalStudy, retrievers: dict[str, Runs], depth: int, times: Times, progress: Progress
) -> dict[str, Run]:
    """Ask all retrievers that run, in turn; those that do not have their lists."""
    task, truth = study.data.task, study.spec.ground_truth.retriever
    specs = [one for one in study.spec.retrievers if one.id in retrievers]
    running = [one for one in specs if not isinstance(retrievers[one.id], StoredRetriever)]
    those = [
        ask_all(retrievers[one.id], task, depth, (), timed=_TRUTH_TIMED)
        if one.id == truth
        else ask_all(retrievers[one.id], task, depth)
        for one in running
    ]
    names = join_words((one.name or one.id for one in running), _NAMED)
    results = {}
    if those:
        done = progress(f"Retrieving: {names}", n_calls(those, times))
        runs = run_rounds(those, task, times, done)
        results = {one.id: run for one, run in zip(running, runs, strict=True)}
    return {
        one.id: results[one.id] if one.id in results else _stored(retrievers[one.id])
        for one in specs
    }


def _stored(retriever: Runs) -> Run:
    assert isinstance(retriever, StoredRetriever)  # noqa: S101  asked before
    return Run(retriever.lists)
