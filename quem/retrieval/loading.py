"""Loading a study of retrievers with all of its data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning, collecting, refuse
from quem.io.custom_functions import BrokenEntry, Entry, find_entry, load_entry
from quem.io.tables import MOST_NAMED
from quem.io.text import nearest, shown
from quem.lists import Definition, measure
from quem.lists.measure import OWN
from quem.lists.names import own_definition, split_spelling
from quem.retrieval.bases import CaseBase, Given, Roles, Task, named_only, read_bases
from quem.retrieval.linear import make_linear
from quem.retrieval.lists import case_places, distinct_cases, lists_of_columns, only, query_places
from quem.retrieval.similarities import read_similarities
from quem.retrieval.truth import Truth
from quem.scores.read import read_judgments, read_run
from quem.studyfile.measures import OwnMeasure, find_own_measures, load_own_measures
from quem.studyfile.reading import Draft, draft_of_kind
from quem.studyfile.retrieval import RetrievalSpec
from quem.wording import format_count

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from quem.retrieval.lists import CaseLists
    from quem.scores.columns import Columns
    from quem.studyfile.document import Loc

_FEW = 3
_TRUTH = "the ground truth"

# The judgments of another study, by its path and its name for messages.
Experts: TypeAlias = "Callable[[Path, str], Truth]"


@dataclass(frozen=True)
class RetrievalData:
    """The data of a comparison."""

    task: Task  # queries and cases
    stored: dict[str, CaseLists]  # lists of stored retrievers, by id
    truth: Truth | None  # None if computed by a retriever
    warnings: tuple[StudyWarning, ...] = ()


@dataclass
class Sources:
    """Contents of files or arguments before they are matched."""

    stored: dict[str, Columns] = field(default_factory=dict)
    truth: Truth | None = None
    cases: CaseBase | None = None
    queries: CaseBase | None = None
    warnings: list[StudyWarning] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class RetrievalStudy:
    """A study of retrievers that can be analyzed."""

    draft: Draft[RetrievalSpec]
    spec: RetrievalSpec
    data: RetrievalData
    # The Python retrievers by id.
    entries: dict[str, Entry] = field(default_factory=dict)
    # The custom measures by name.
    own_measures: dict[str, Definition] = field(default_factory=dict)
    files: tuple[Path, ...] = ()  # study file and all other inputs

    @property
    def path(self) -> Path:
        """The study file."""
        return self.draft.path

    @property
    def name(self) -> str:
        """The path as the user wrote it, for messages."""
        return self.draft.name

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        n = len(self.spec.retrievers)
        return f"<RetrievalStudy {self.spec.id}: {n} retrievers, from {self.name}>"

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """The error at a place of the study file."""
        return self.draft.document.mistake(loc, message)

    def counts(self) -> dict[str, int]:
        """Counts of the contents, by noun."""
        task, truth = self.data.task, self.data.truth
        return {
            "retriever": len(self.spec.retrievers),
            "case": len(task.cases),
            "leave-one-out query" if task.leave_one_out else "query": len(task.queries),
            "listed case": sum(len(lists.case) for lists in self.data.stored.values()),
            "true value": 0 if truth is None else len(truth.columns),
        }


def load_retrieval(
    path: str | os.PathLike[str],
    *,
    experts: Experts,
    code: bool = True,
    pooling: bool = False,
) -> RetrievalStudy:
    """Read a study file of kind ``retrieval`` with all of its data."""
    draft = draft_of_kind(path, RetrievalSpec)
    spec, folder = draft.checked(), draft.path.parent
    named = {
        one.id: (one.python, _placed(draft, ("retrievers", at, "python")))
        for at, one in enumerate(spec.retrievers)
        if one.python
    }
    mistakes = [
        *wrong_ids(draft, spec),
        *_unknown_measures(draft, spec),
        *_missing(draft, spec, pooling=pooling),
    ]
    read, files = _read_files(draft, spec, experts, mistakes)
    for function, place in named.values():
        with collecting(mistakes, place):
            find_entry(function, folder, code=code)
    chosen, mistake = spec.analysis.measures, draft.document.mistake
    mistakes += find_own_measures(chosen, folder, mistake, code=code)
    refuse(mistakes)
    study = RetrievalStudy(draft, spec, match_sources(draft, spec, read, pooling=pooling))
    for at, one in enumerate(spec.retrievers):
        if one.linear is not None:
            with collecting(mistakes):
                make_linear(study, at, one.linear)
    refuse(mistakes)
    # The study's own code runs only now.
    entries: dict[str, Entry] = {}
    for name, (function, place) in named.items():
        with collecting(mistakes, place):
            try:
                entries[name] = load_entry(function, folder)
            except BrokenEntry as error:
                raise QuemError(str(error)) from error
            files += entries[name].sources
    refuse(mistakes)
    own = load_own_measures(chosen, folder, mistake, own_definition)
    every = tuple(dict.fromkeys([draft.path, *files, *own.files]))
    return replace(study, entries=entries, own_measures=own.by_name, files=every)


def _placed(draft: Draft[RetrievalSpec], loc: Loc) -> Callable[[str], Mistake]:
    return lambda message: draft.document.mistake(loc, message)


# Errors between keys of a study file


def wrong_ids(draft: Draft[RetrievalSpec], spec: RetrievalSpec) -> Iterator[Mistake]:
    """Errors in the ids of retrievers, and in references to them."""
    mistake = draft.document.mistake
    ids = [retriever.id for retriever in spec.retrievers]
    if not ids:
        yield mistake(("retrievers",), "name one retriever at least")
    for at, name in enumerate(ids):
        if name in ids[:at]:
            message = f"the id {shown(name)} is already used; give each retriever its own"
            yield mistake(("retrievers", at, "id"), message)
    phases = spec.mac_fac
    references: list[tuple[Loc, str]] = [
        (("ground_truth", "retriever"), spec.ground_truth.retriever),
        (("mac_fac", "mac"), phases.mac if phases else ""),
        (("mac_fac", "fac"), phases.fac if phases else ""),
    ]
    for loc, name in references:
        if name and name not in ids:
            hint = nearest(name, ids)
            if loc[0] == "ground_truth" and not hint:
                hint = f"; name a file as in {{similarities: {name}}}"
            yield mistake(loc, f"there is no retriever {shown(name)}{hint}")


def _unknown_measures(draft: Draft[RetrievalSpec], spec: RetrievalSpec) -> Iterator[Mistake]:
    """Unknown measures; parameters of custom ones are known when the code runs."""
    chosen = spec.analysis.measures
    own = {one.short_name.casefold() for one in chosen if isinstance(one, OwnMeasure)}
    for at, name in enumerate(chosen):
        if isinstance(name, OwnMeasure):
            continue
        split = split_spelling(name)
        if split is None or split[0].casefold().removeprefix(OWN) not in own:
            mistakes: list[Mistake] = []
            with collecting(mistakes, _placed(draft, ("analysis", "measures", at))):
                measure(name)
            yield from mistakes


def _missing(
    draft: Draft[RetrievalSpec], spec: RetrievalSpec, *, pooling: bool
) -> Iterator[Mistake]:
    """Missing file keys of a study."""
    mistake, queries, cases = draft.document.mistake, spec.queries, spec.cases
    if not (spec.ground_truth.is_named or pooling):
        message = (
            "is missing; name a retriever, similarities, qrels, judgments, or a study; `quem score "
            "--pool` writes a study in which judges make one"
        )
        yield mistake(("ground_truth",), message)
    runs = [one for one in spec.retrievers if one.linear is not None or one.python]
    if runs and not cases.file:
        message = (
            f"is missing: the retriever {shown(runs[0].id)} needs the cases that it searches; "
            "name their file, CSV or JSON"
        )
        yield mistake(("cases",), message)
    if queries.leave_one_out and not cases.file:
        message = "leave-one-out takes the queries from the case base; name its file under cases"
        yield mistake(("queries",), message)
    compared = spec.ground_truth.retriever or any(one.linear is not None for one in runs)
    if (compared or pooling) and not (queries.leave_one_out or queries.file):
        message = (
            "is missing: name the file of the queries, or write leave-one-out for each case to be "
            "one in turn"
        )
        yield mistake(("queries",), message)


# Files


def _read_files(
    draft: Draft[RetrievalSpec], spec: RetrievalSpec, experts: Experts, mistakes: list[Mistake]
) -> tuple[Sources, list[Path]]:
    """The contents of a study's files, and their paths."""
    read, truth = Sources(), spec.ground_truth
    files: list[Path] = []

    def beside(name: str) -> Path:
        files.append(draft.beside(name)[0])
        return files[-1]

    bases = [
        Given(path := beside(part.file), str(path), what, part.id)
        for part, what in ((spec.cases, "case base"), (spec.queries, "query base"))
        if part.file
    ]
    with collecting(mistakes):
        made, read.warnings = read_bases(bases, roles_of(spec))
        read.cases = made.pop(0) if spec.cases.file else None
        read.queries = made.pop(0) if spec.queries.file else None
        mistakes += _wrong_columns(draft, spec, read.cases)
    for one in spec.retrievers:
        with collecting(mistakes):
            if one.similarities:
                read.stored[one.id] = read_similarities(beside(one.similarities))
            elif one.run:
                read.stored[one.id] = read_run(beside(one.run))
    with collecting(mistakes):
        if truth.study:
            read.truth = experts(path := beside(truth.study), str(path))
        elif truth.similarities:
            columns = read_similarities(beside(truth.similarities))
            read.truth = Truth(columns, "similarities", truth.similarities)
        elif named := truth.qrels or truth.judgments:
            columns = read_judgments(beside(named))
            n = len(columns.judges)
            if truth.judgments and not n:
                message = "has no column of judges; call it judge, or name the file as qrels"
                raise QuemError(Mistake(columns.source, message=message))
            title = f"{format_count(n, 'judge')} ({named})" if n else named
            read.truth = Truth(columns, "grades", title)
    return read, files


def roles_of(spec: RetrievalSpec) -> Roles:
    """The roles of the columns of cases and queries."""
    linear = [one.linear for one in spec.retrievers if one.linear is not None]
    words = {a.name for one in linear for a in one.attributes if a.type == "categorical"}
    return Roles(spec.cases.solution, spec.cases.ignore, words)


def _wrong_columns(
    draft: Draft[RetrievalSpec], spec: RetrievalSpec, cases: CaseBase | None
) -> Iterator[Mistake]:
    """Names of columns that the case base lacks."""
    known = [] if cases is None else [*cases.attributes, *cases.ignored]
    for key, names in (("solution", spec.cases.solution), ("ignore", spec.cases.ignore)):
        for at, name in enumerate(names):
            loc: Loc = ("cases", key, at) if len(names) > 1 else ("cases", key)
            if cases is None:
                message = "names a column, and there is no case base; name its file too"
                yield draft.document.mistake(loc, message)
            elif name not in known:
                message = f"{cases.name} has no column {shown(name)}{nearest(name, known)}"
                yield draft.document.mistake(loc, message)


# Matching


def match_sources(
    draft: Draft[RetrievalSpec], spec: RetrievalSpec, read: Sources, *, pooling: bool = False
) -> RetrievalData:
    """Match sources from files or memory with each other.

    Raises
    ------
    QuemError
        Lists or judgments name what there is not, or there is too little to search.
    """
    truth = read.truth
    columns = [truth.columns] if truth else []
    cases = read.cases or named_only(
        (truth and truth.cases)
        or (name for one in (*columns, *read.stored.values()) for name in distinct_cases(one)[0])
    )
    leave_one_out = spec.queries.leave_one_out
    queries = read.queries or (
        cases if leave_one_out else named_only(name for one in columns for name in one.queries)
    )
    task = Task(queries, cases, leave_one_out)
    # Judgments and lists may name ids that a case base without a file lacks.
    closed = read.cases is not None or bool(truth and truth.cases)
    mistakes = list(_too_small(draft, spec, task))
    stored: dict[str, CaseLists] = {}
    with collecting(mistakes):
        for name, listed in read.stored.items():
            rows = _matched(listed, task, f"the retriever {shown(name)}", read.warnings, closed)
            stored[name] = lists_of_columns(rows, task)
        if truth:
            # Unjudged candidates are pooled.
            warnings = [] if pooling else read.warnings
            rows = _matched(truth.columns, task, _TRUTH, warnings, closed)
            truth = replace(truth, columns=rows)
    refuse(mistakes)
    if spec.queries.file and spec.cases.file:
        read.warnings += _shared_ids(task)
    return RetrievalData(task, stored, truth, tuple(read.warnings))


def _matched(
    columns: Columns,
    task: Task,
    what: str,
    warnings: list[StudyWarning],
    closed: bool,  # noqa: FBT001
) -> Columns:
    """The rows of a study's queries; a case missing in a file of cases is refused."""
    columns.check_once()
    warnings += columns.notes
    query = query_places(columns, task)
    base = task.queries.name or "the study"
    rows = query >= 0
    if not rows.any():
        message = (
            f"has none of the queries of {base}, such as {shown(task.queries.ids[0])}; check how "
            "queries are named"
        )
        raise QuemError(Mistake(columns.source, message=message))
    if others := [name for name in columns.queries if name not in task.queries.index]:
        message = (
            f"{columns.source} has lists of {what} for {_named(others)}, which {base} does not "
            "have; they are left out"
        )
        warnings.append(StudyWarning("unknown-query", message))
    if closed or task.leave_one_out:
        case = case_places(columns, task)
        _refuse_unknown(columns, np.flatnonzero(rows & (case < 0)), task.cases)
        if task.leave_one_out:
            rows &= case != query
    there = {columns.queries[at] for at in np.unique(columns.query).tolist()}
    if lacking := [name for name in task.queries.ids if name not in there]:
        message = f"{what} has no list for {_named(lacking)} ({columns.source}); each"
        if what == _TRUTH:
            warnings.append(StudyWarning("no-ground-truth", f"{message} is left out"))
        else:
            warnings.append(StudyWarning("no-list", f"{message} counts as an empty list"))
    return only(columns, rows)


def _refuse_unknown(columns: Columns, rows: Iterable[int], cases: CaseBase) -> None:
    unknown = np.array(list(rows)[:MOST_NAMED], dtype=np.int64)
    mistakes = []
    for row, name in zip(unknown.tolist(), columns.names(unknown), strict=True):
        query = shown(columns.queries[columns.query[row]])
        hint = nearest(name, cases.index) or f"; add it to {cases.name or 'the case base'}"
        message = f"unknown case {shown(name)} of the query {query}{hint}"
        mistakes.append(Mistake(columns.source, columns.line(row), key="case", message=message))
    refuse(mistakes)


def _named(names: list[str]) -> str:
    few = ", ".join(map(shown, names[:_FEW]))
    if len(names) == 1:
        return f"the query {few}"
    return f"{len(names):,} queries, such as {few}{', ...' * (len(names) > _FEW)}"


def _too_small(draft: Draft[RetrievalSpec], spec: RetrievalSpec, task: Task) -> Iterator[Mistake]:
    n = task.n_candidates
    if task.leave_one_out and n < 1:
        yield draft.document.mistake(("queries",), "leave-one-out needs two cases at least")
    filters = spec.mac_fac.filters if spec.mac_fac else ()
    for at, size in enumerate(filters):
        if size > n:
            loc: Loc = ("mac_fac", "filters", at) if len(filters) > 1 else ("mac_fac", "filters")
            message = (
                f"a filter of {size:,} is larger than the {n:,} cases to search; use {n:,} at most"
            )
            yield draft.document.mistake(loc, message)


def _shared_ids(task: Task) -> Iterator[StudyWarning]:
    """Queries that are cases find themselves."""
    if shared := [name for name in task.queries.ids if name in task.cases.index]:
        message = (
            f"there are cases with the ids of {_named(shared)}, so that queries may find "
            "themselves; `queries: leave-one-out` leaves the query out of the case base"
        )
        yield StudyWarning("query-is-case", message)
