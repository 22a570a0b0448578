"""Everything that a study of retrievers names, read and compared with each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.custom_functions import BrokenEntry, Entry, find_entry, load_entry
from quem.io.tables import MOST_NAMED
from quem.io.text import nearest, shown
from quem.lists import measure
from quem.lists.measure import OWN
from quem.lists.names import own_definition, split_spelling
from quem.retrieval.bases import CaseBase, Roles, named_only, read_bases
from quem.retrieval.build_retrievers import make_built_in
from quem.retrieval.files import read_qrels, read_run, read_similarities
from quem.retrieval.lists import (
    case_places,
    distinct_cases,
    lists_of_columns,
    only,
    query_places,
    without_own,
)
from quem.retrieval.running import Task
from quem.retrieval.truth import Truth
from quem.studyfile.measures import OwnMeasure, find_own_measures, load_own_measures
from quem.studyfile.reading import IN_MEMORY, draft_of_kind
from quem.studyfile.retrieval import RetrievalSpec
from quem.wording import format_count

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from quem.lists import Definition
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.truth import TruthKind
    from quem.scores.columns import Columns
    from quem.studyfile.document import Loc
    from quem.studyfile.reading import Draft
    from quem.studyfile.retrieval import GroundTruth

_FEW = 3
_TRUTH = "the ground truth"


class StudySource(Protocol):
    """Where a study file is, and its lines."""

    def beside(self, name: str) -> tuple[Path, str]:
        """The path of a file that the study names, and its name for messages."""

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """Describe what is wrong at a place of the study file."""


# What the judges of another study said, by its path and its name for messages.
Experts: TypeAlias = "Callable[[Path, str], Truth]"


@dataclass(frozen=True)
class RetrievalData:
    """What the files of a study hold."""

    task: Task  # its queries and cases
    stored: dict[str, CaseLists]  # the lists of the retrievers that do not run, by their ids
    truth: Truth | None  # none where a retriever makes it
    warnings: tuple[StudyWarning, ...] = ()
    files: tuple[Path, ...] = field(default=(), compare=False)  # everything that was read


@dataclass
class Sources:
    """Files that are read, or what stands for them, before they are compared with each other."""

    stored: dict[str, Columns] = field(default_factory=dict)
    truth: Truth | None = None
    cases: CaseBase | None = None
    queries: CaseBase | None = None
    files: list[Path] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    warnings: list[StudyWarning] = field(default_factory=list)


def read_retrieval(
    spec: RetrievalSpec, source: StudySource, experts: Experts, *, pooling: bool = False
) -> tuple[RetrievalData | None, list[Mistake]]:
    """Read what a study of retrievers names."""
    mistakes = list(_inconsistent(spec, source, pooling=pooling))
    read = _read_files(spec, source, experts)
    mistakes += read.mistakes
    if mistakes:
        return None, mistakes
    return match_sources(spec, read, source, pooling=pooling)


def match_sources(
    spec: RetrievalSpec, read: Sources, source: StudySource, *, pooling: bool = False
) -> tuple[RetrievalData | None, list[Mistake]]:
    """Compare what was read, or given in memory, with each other; see `read_retrieval`."""
    cases = read.cases or _cases_named(read)
    queries = read.queries or (cases if spec.queries.leave_one_out else _queries_named(read))
    task = Task(queries, cases, spec.queries.leave_one_out)
    mistakes = list(_too_small(spec, task, source))
    # Judgments and lists may name what a case base without a file cannot know.
    shown_all = read.truth is not None and bool(read.truth.cases)
    match = partial(_matched, task=task, closed=read.cases is not None or shown_all)
    stored: dict[str, CaseLists] = {}
    truth = read.truth
    try:
        for name, columns in read.stored.items():
            rows = match(columns, what=f"the retriever {shown(name)}", warnings=read.warnings)
            stored[name] = lists_of_columns(rows, queries, cases)
        if truth is not None:
            # Of what is not judged yet a pool is made.
            doubts = [] if pooling else read.warnings
            rows = match(truth.columns, what=_TRUTH, warnings=doubts)
            truth = replace(truth, columns=rows)
    except QuemError as error:
        mistakes += error.mistakes
    if mistakes:
        return None, mistakes
    warnings = (*read.warnings, *_shared_ids(spec, task))
    return RetrievalData(task, stored, truth, warnings, tuple(read.files)), []


def _matched(
    columns: Columns, *, task: Task, closed: bool, what: str, warnings: list[StudyWarning]
) -> Columns:
    """The rows of the queries of a study; a case that a file of cases lacks is refused."""
    columns.check_once()
    warnings += columns.notes
    query = query_places(columns, task.queries)
    others = [name for name in columns.queries if name not in task.queries.index]
    base = task.queries.name or "the study"
    if not (query >= 0).any():
        message = (
            f"has none of the queries of {base}, such as {shown(task.queries.ids[0])}; check how "
            "queries are named"
        )
        raise QuemError(Mistake(columns.source, message=message))
    if others:
        message = (
            f"{columns.source} has lists of {what} for {_named(others)}, which {base} does not "
            "have; they are left out"
        )
        warnings.append(StudyWarning("unknown-query", message))
    if closed:
        _refuse_unknown(columns, np.flatnonzero(query >= 0), task.cases)
    there = {columns.queries[at] for at in np.unique(columns.query).tolist()}
    if lacking := [name for name in task.queries.ids if name not in there]:
        message = f"{what} has no list for {_named(lacking)} ({columns.source}); each"
        if what == _TRUTH:
            warnings.append(StudyWarning("no-ground-truth", f"{message} is left out"))
        else:
            warnings.append(StudyWarning("no-list", f"{message} counts as an empty list"))
    rows = only(columns, query >= 0)
    return without_own(rows) if task.leave_one_out else rows


def _refuse_unknown(columns: Columns, rows: NDArray[np.intp], cases: CaseBase) -> None:
    unknown = rows[case_places(columns, cases)[rows] < 0][:MOST_NAMED]
    mistakes = []
    for row, name in zip(unknown.tolist(), columns.names(unknown), strict=True):
        query = shown(columns.queries[columns.query[row]])
        hint = nearest(name, cases.index) or f"; add it to {cases.name or 'the case base'}"
        message = f"unknown case {shown(name)} of the query {query}{hint}"
        mistakes.append(Mistake(columns.source, columns.line(row), key="case", message=message))
    if mistakes:
        raise QuemError(mistakes)


def _named(names: list[str]) -> str:
    few = ", ".join(map(shown, names[:_FEW]))
    if len(names) == 1:
        return f"the query {few}"
    return f"{len(names):,} queries, such as {few}{', ...' * (len(names) > _FEW)}"


def _inconsistent(spec: RetrievalSpec, source: StudySource, *, pooling: bool) -> Iterator[Mistake]:
    """Mistakes between the keys of the study file."""
    if not (spec.ground_truth.is_named or pooling):
        message = (
            "is missing; name a retriever, similarities, qrels, judgments, or a study; `quem score "
            "--pool` writes a study in which judges make one"
        )
        yield source.mistake(("ground_truth",), message)
    if pooling and not (spec.queries.file or spec.queries.leave_one_out):
        message = "is missing: name the file of the queries, with the text that judges read"
        yield source.mistake(("queries",), message)
    yield from wrong_ids(spec, source)
    chosen = spec.analysis.measures
    named: list[tuple[Loc, str]] = [
        (("analysis", "measures", at), name)
        for at, name in enumerate(chosen)
        if isinstance(name, str)
    ]
    own = {one.short_name.casefold() for one in chosen if isinstance(one, OwnMeasure)}
    for loc, name in named:
        split = split_spelling(name)
        if split is not None and split[0].casefold().removeprefix(OWN) in own:
            # Its parameters are known when its code is loaded.
            continue
        try:
            measure(name)
        except QuemError as error:
            for mistake in error.mistakes:
                yield source.mistake(loc, mistake.message)
    yield from _missing_bases(spec, source)


def wrong_ids(spec: RetrievalSpec, source: StudySource) -> Iterator[Mistake]:
    """Mistakes in the ids of retrievers, and in what refers to them."""
    ids = [retriever.id for retriever in spec.retrievers]
    if not ids:
        yield source.mistake(("retrievers",), "name one retriever at least")
    for at, name in enumerate(ids):
        if name in ids[:at]:
            message = f"the id {shown(name)} is already used; give each retriever its own"
            yield source.mistake(("retrievers", at, "id"), message)
    references: list[tuple[Loc, str]] = [
        (("ground_truth", "retriever"), spec.ground_truth.retriever),
    ]
    if spec.mac_fac is not None:
        references += [
            (("mac_fac", "mac"), spec.mac_fac.mac),
            (("mac_fac", "fac"), spec.mac_fac.fac),
        ]
    for loc, name in references:
        if name and name not in ids:
            hint = nearest(name, ids)
            if loc[0] == "ground_truth" and not hint:
                hint = f"; name a file as in {{similarities: {name}}}"
            yield source.mistake(loc, f"there is no retriever {shown(name)}{hint}")


def _missing_bases(spec: RetrievalSpec, source: StudySource) -> Iterator[Mistake]:
    """Retrievers that run need cases, and the linear one needs queries with attributes."""
    runs = [r for r in spec.retrievers if r.linear is not None or r.python]
    if runs and not spec.cases.file:
        message = (
            f"is missing: the retriever {shown(runs[0].id)} needs the cases that it searches; "
            "name their file, CSV or JSON"
        )
        yield source.mistake(("cases",), message)
    if spec.queries.leave_one_out and not spec.cases.file:
        message = "leave-one-out takes the queries from the case base; name its file under cases"
        yield source.mistake(("queries",), message)
    unnamed = not spec.queries.leave_one_out and not spec.queries.file
    if unnamed and (spec.ground_truth.retriever or any(r.linear is not None for r in runs)):
        message = (
            "is missing: name the file of the queries, or write leave-one-out for each case "
            "to be one in turn"
        )
        yield source.mistake(("queries",), message)


def _read_files(spec: RetrievalSpec, source: StudySource, experts: Experts) -> Sources:
    read = Sources()
    bases = []
    for part, what in ((spec.cases, "case base"), (spec.queries, "query base")):
        if part.file:
            bases.append((*source.beside(part.file), what, part.id))
    read.files += [path for path, *_ in bases]
    try:
        case_bases, read.warnings = read_bases(bases, roles_of(spec))
        read.cases = case_bases.pop(0) if spec.cases.file else None
        read.queries = case_bases.pop(0) if spec.queries.file else None
    except QuemError as error:
        read.mistakes += error.mistakes
    else:
        read.mistakes += wrong_columns(spec, read.cases, source)
    for retriever in spec.retrievers:
        name = retriever.similarities or retriever.run
        reader = read_similarities if retriever.similarities else read_run
        if name and (columns := _file(read, source, name, reader)) is not None:
            read.stored[retriever.id] = columns
    _read_truth(read, spec.ground_truth, source, experts)
    return read


def roles_of(spec: RetrievalSpec) -> Roles:
    """Say what the columns of cases and queries are."""
    linear = [one.linear for one in spec.retrievers if one.linear is not None]
    words = {a.name for one in linear for a in one.attributes if a.type == "categorical"}
    return Roles(spec.cases.solution, spec.cases.ignore, words)


def wrong_columns(
    spec: RetrievalSpec, cases: CaseBase | None, source: StudySource
) -> Iterator[Mistake]:
    """Names of columns that the case base lacks."""
    known = [] if cases is None else [*cases.attributes, *cases.ignored]
    for key, names in (("solution", spec.cases.solution), ("ignore", spec.cases.ignore)):
        for at, name in enumerate(names):
            loc: Loc = ("cases", key, at) if len(names) > 1 else ("cases", key)
            if cases is None:
                message = "names a column, and there is no case base; name its file too"
                yield source.mistake(loc, message)
            elif name not in known:
                message = f"{cases.name} has no column {shown(name)}{nearest(name, known)}"
                yield source.mistake(loc, message)


def _read_truth(read: Sources, truth: GroundTruth, source: StudySource, experts: Experts) -> None:
    named = truth.similarities or truth.qrels or truth.judgments
    if truth.study:
        path, name = source.beside(truth.study)
        read.files.append(path)
        try:
            read.truth = experts(path, name)
        except QuemError as error:
            read.mistakes += error.mistakes
    elif named:
        columns = _file(
            read, source, named, read_similarities if truth.similarities else read_qrels
        )
        if columns is None:
            return
        kind: TruthKind = "similarities" if truth.similarities else "grades"
        n = len(columns.judges)
        title = f"{format_count(n, 'judge')} ({named})" if n else named
        read.truth = Truth(columns, kind, title)
        if truth.judgments and not n:
            message = "has no column of judges; call it judge, or name the file as qrels"
            read.mistakes.append(Mistake(columns.source, message=message))


def _file(
    read: Sources, source: StudySource, name: str, reader: Callable[[Path, str], Columns]
) -> Columns | None:
    path, shown_name = source.beside(name)
    read.files.append(path)
    try:
        return reader(path, shown_name)
    except QuemError as error:
        read.mistakes += error.mistakes
        return None


def _cases_named(read: Sources) -> CaseBase:
    """The cases that files name, where the study has no case base."""
    if read.truth is not None and read.truth.cases:
        return named_only(read.truth.cases)
    sources = [] if read.truth is None else [read.truth.columns]
    return named_only(
        name for one in (*sources, *read.stored.values()) for name in distinct_cases(one)[0]
    )


def _queries_named(read: Sources) -> CaseBase:
    """The queries that have a ground truth, where the study has no file of them."""
    return named_only([] if read.truth is None else read.truth.columns.queries)


def _too_small(spec: RetrievalSpec, task: Task, source: StudySource) -> Iterator[Mistake]:
    if task.leave_one_out and task.n_candidates < 1:
        message = "leave-one-out needs two cases at least"
        yield source.mistake(("queries",), message)
    filters = spec.mac_fac.filters if spec.mac_fac else ()
    for at, size in enumerate(filters):
        if size > task.n_candidates:
            loc: Loc = ("mac_fac", "filters", at) if len(filters) > 1 else ("mac_fac", "filters")
            message = (
                f"a filter of {size:,} is larger than the {task.n_candidates:,} cases to search; "
                f"use {task.n_candidates:,} at most"
            )
            yield source.mistake(loc, message)


def _shared_ids(spec: RetrievalSpec, task: Task) -> Iterator[StudyWarning]:
    """Queries that are cases find themselves."""
    if task.leave_one_out or not (spec.queries.file and spec.cases.file):
        return
    shared = [name for name in task.queries.ids if name in task.cases.index]
    if shared:
        each = ", ".join(map(shown, shared[:_FEW])) + (", ..." if len(shared) > _FEW else "")
        n = len(shared)
        clause = "query has the id of a case" if n == 1 else "queries have the ids of cases"
        message = (
            f"{n} {clause} ({each}) and may find {'itself' if n == 1 else 'themselves'}; "
            "`queries: leave-one-out` leaves the query out of the case base"
        )
        yield StudyWarning("query-is-case", message)


@dataclass(frozen=True, repr=False)
class RetrievalStudy:
    """A study of retrievers that can be analyzed."""

    path: Path  # the study file
    name: str  # the path as the user wrote it, for messages
    spec: RetrievalSpec
    data: RetrievalData
    # The Python retrievers by their ids; or why one cannot be loaded.
    entries: dict[str, Entry | str] = field(default_factory=dict)
    # The measures of the study's own, by their names.
    own_measures: dict[str, Definition] = field(default_factory=dict)
    code_files: tuple[Path, ...] = ()  # the files with their code
    _draft: Draft[RetrievalSpec] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        n = len(self.spec.retrievers)
        return f"<RetrievalStudy {self.spec.id}: {n} retrievers, from {self.name}>"

    @property
    def files(self) -> tuple[Path, ...]:
        """The study file, and everything that was read."""
        sources = [
            path
            for entry in self.entries.values()
            if isinstance(entry, Entry)
            for path in entry.sources
        ]
        own = [] if self.path == IN_MEMORY else [self.path]
        return tuple(dict.fromkeys([*own, *self.data.files, *sources, *self.code_files]))

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """Describe what is wrong at a place of the study file."""
        if self._draft is None:
            from quem.errors import Mistake

            return Mistake(self.name, message=message)
        return self._draft.document.mistake(loc, message)

    def counts(self) -> dict[str, int]:
        """What was read, by noun."""
        task, truth = self.data.task, self.data.truth
        stored = sum(len(lists.case) for lists in self.data.stored.values())
        return {
            "retriever": len(self.spec.retrievers),
            "case": len(task.cases),
            "leave-one-out query" if task.leave_one_out else "query": len(task.queries),
            "listed case": stored,
            "true value": 0 if truth is None else len(truth.columns),
        }


@dataclass(frozen=True)
class _Source:
    draft: Draft[RetrievalSpec]

    def beside(self, name: str) -> tuple[Path, str]:
        return self.draft.beside(name)

    def mistake(self, loc: Loc, message: str) -> Mistake:
        return self.draft.document.mistake(loc, message)


def load_retrieval(
    path: str | os.PathLike[str],
    *,
    experts: Experts,
    code: bool = True,
    pooling: bool = False,
) -> RetrievalStudy:
    """Read a study file of kind ``retrieval``, and everything that it names."""
    draft = draft_of_kind(path, RetrievalSpec)
    spec = draft.checked()
    source = _Source(draft)
    data, mistakes = read_retrieval(spec, source, experts, pooling=pooling)
    named = [(at, one) for at, one in enumerate(spec.retrievers) if one.python]
    folder = draft.path.parent
    for at, retriever in named:
        try:
            find_entry(retriever.python, folder, code=code)
        except QuemError as error:
            mistakes += _at(source, at, error)
    chosen = spec.analysis.measures
    mistakes += find_own_measures(chosen, folder, source.mistake, code=code)
    if mistakes or data is None:
        raise QuemError(dict.fromkeys(mistakes))
    study = RetrievalStudy(Path(path), draft.name, spec, data, _draft=draft)
    make_built_in(study)
    # Only now is the study's own code run.
    entries: dict[str, Entry | str] = {}
    for at, retriever in named:
        try:
            entries[retriever.id] = load_entry(retriever.python, folder)
        except BrokenEntry as error:
            entries[retriever.id] = str(error)
        except QuemError as error:
            mistakes += _at(source, at, error)
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    own = load_own_measures(chosen, folder, source.mistake, own_definition)
    return replace(study, entries=entries, own_measures=own.by_name, code_files=own.files)


def _at(source: _Source, at: int, error: QuemError) -> list[Mistake]:
    return [source.mistake(("retrievers", at, "python"), m.message) for m in error.mistakes]
