"""Everything that a study of retrievers names, read and compared with each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.custom_functions import BrokenEntry, Entry, find_entry, load_entry
from quem.io.text import nearest, shown
from quem.lists import measure
from quem.lists.measure import OWN
from quem.lists.names import own_definition, split_spelling
from quem.retrieval.bases import CaseBase, Roles, named_only, read_bases
from quem.retrieval.build_retrievers import make_built_in
from quem.retrieval.judges import JudgeGrades, grades_of
from quem.retrieval.match_ids import match
from quem.retrieval.running import Task
from quem.retrieval.stored import read_judgments, read_qrels, read_run, read_similarities
from quem.studyfile.measures import OwnMeasure, find_own_measures, load_own_measures
from quem.studyfile.reading import IN_MEMORY, draft_of_kind
from quem.studyfile.retrieval import RetrievalSpec

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from quem.errors import Mistake
    from quem.lists import Definition
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.stored import Stored
    from quem.retrieval.truth import ExpertRanks
    from quem.studyfile.document import Loc
    from quem.studyfile.reading import Draft
    from quem.studyfile.retrieval import GroundTruth

_FEW = 3


class StudySource(Protocol):
    """Where a study file is, and its lines."""

    def beside(self, name: str) -> tuple[Path, str]:
        """The path of a file that the study names, and its name for messages."""

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """Describe what is wrong at a place of the study file."""


@dataclass(frozen=True)
class RetrievalData:
    """What the files of a study hold."""

    task: Task  # its queries and cases
    stored: dict[str, CaseLists]  # the lists of the retrievers that do not run, by their ids
    truth: CaseLists | None  # none where a retriever makes it
    experts: ExpertRanks | None = None  # where the order of experts is the ground truth
    warnings: tuple[StudyWarning, ...] = ()
    files: tuple[Path, ...] = field(default=(), compare=False)  # everything that was read
    grades: JudgeGrades | None = None  # where the grades of several judges are the ground truth

    @property
    def judges(self) -> ExpertRanks | JudgeGrades | None:
        """Those whose consensus is the ground truth, one by one."""
        return self.experts or self.grades


@dataclass
class Sources:
    """Files that are read, or what stands for them, before they are compared with each other."""

    stored: dict[str, Stored] = field(default_factory=dict)
    truth: Stored | None = None
    experts: ExpertRanks | None = None
    grades: JudgeGrades | None = None
    cases: CaseBase | None = None
    queries: CaseBase | None = None
    files: list[Path] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    warnings: list[StudyWarning] = field(default_factory=list)


def read_retrieval(
    spec: RetrievalSpec,
    source: StudySource,
    experts: Callable[[Path, str], ExpertRanks | JudgeGrades],
    *,
    pooling: bool = False,
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
    mistakes: list[Mistake] = []
    cases = read.cases or _cases_named(read)
    queries = read.queries or (cases if spec.queries.leave_one_out else _queries_named(read))
    task = Task(queries, cases, spec.queries.leave_one_out)
    mistakes += _too_small(spec, task, source)
    stored: dict[str, CaseLists] = {}
    warnings = read.warnings
    for retriever in spec.retrievers:
        if retriever.id in read.stored:
            what = f"the retriever {shown(retriever.id)}"
            lists = _matched(read.stored[retriever.id], task, what, read, mistakes, warnings)
            if lists is not None:
                stored[retriever.id] = lists
    truth = None
    if read.truth is not None:
        what = "the ground truth"
        # Of what is not judged yet a pool is made.
        doubts = [] if pooling else warnings
        truth = _matched(read.truth, task, what, read, mistakes, doubts)
    elif read.experts is not None:
        from quem.retrieval.truth import consensus

        truth = consensus(read.experts, queries, cases)
    if mistakes:
        return None, mistakes
    warnings += _shared_ids(spec, task)
    data = RetrievalData(
        task,
        stored,
        truth,
        read.experts,
        tuple(warnings),
        tuple(read.files),
        read.grades,
    )
    return data, []


def _inconsistent(spec: RetrievalSpec, source: StudySource, *, pooling: bool) -> Iterator[Mistake]:
    """Mistakes between the keys of the study file."""
    if not (spec.ground_truth.is_named or pooling):
        message = (
            "is missing; name a retriever, similarities, qrels, judgments, or a study; `quem pool` "
            "writes a study in which judges make one"
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
    if spec.analysis.headline:
        named.append((("analysis", "headline"), spec.analysis.headline))
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


def _read_files(
    spec: RetrievalSpec,
    source: StudySource,
    experts: Callable[[Path, str], ExpertRanks | JudgeGrades],
) -> Sources:
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
        name, reader = retriever.similarities or retriever.run, read_run
        if retriever.similarities:
            reader = read_similarities
        if name and (stored := _file(read, source, name, reader)):
            read.stored[retriever.id] = stored
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


def _read_truth(
    read: Sources,
    truth: GroundTruth,
    source: StudySource,
    experts: Callable[[Path, str], ExpertRanks | JudgeGrades],
) -> None:
    if truth.similarities:
        read.truth = _file(read, source, truth.similarities, read_similarities)
    elif truth.qrels:
        read.truth = _file(read, source, truth.qrels, read_qrels)
    elif truth.judgments:
        read.grades = _grades(read, source, truth)
    elif truth.study:
        read.files.append(source.beside(truth.study)[0])
        read.mistakes += _ask_judges(read, truth, source, experts)
    if read.grades is not None:
        read.truth = read.grades.stored()


def _ask_judges(
    read: Sources,
    truth: GroundTruth,
    source: StudySource,
    experts: Callable[[Path, str], ExpertRanks | JudgeGrades],
) -> Iterator[Mistake]:
    """Take what the judges of another study said."""
    try:
        said = experts(*source.beside(truth.study))
    except QuemError as error:
        yield from error.mistakes
        return
    if isinstance(said, JudgeGrades):
        read.grades = said
        return
    read.experts = said


def _grades(read: Sources, source: StudySource, truth: GroundTruth) -> JudgeGrades | None:
    stored = _file(read, source, truth.judgments, read_judgments)
    if stored is None:
        return None
    try:
        return grades_of(stored, truth.judgments, by=truth.consensus)
    except QuemError as error:
        read.mistakes += error.mistakes
        return None


def _file(
    read: Sources, source: StudySource, name: str, reader: Callable[[Path, str], Stored]
) -> Stored | None:
    path, shown_name = source.beside(name)
    read.files.append(path)
    try:
        return reader(path, shown_name)
    except QuemError as error:
        read.mistakes += error.mistakes
        return None


def _cases_named(read: Sources) -> CaseBase:
    """The cases that files name, where the study has no case base."""
    if read.experts is not None:
        return named_only(read.experts.solvers)
    named = [] if read.truth is None else list(read.truth.case.values)
    for stored in read.stored.values():
        named += stored.case.values
    return named_only(named)


def _queries_named(read: Sources) -> CaseBase:
    """The queries that have a ground truth, where the study has no file of them."""
    if read.experts is not None:
        return named_only(read.experts.problems)
    if read.truth is None:
        return named_only([])
    query = read.truth.query
    return named_only(query.values[code] for code in query.codes.tolist())


def _matched(
    stored: Stored,
    task: Task,
    what: str,
    read: Sources,
    mistakes: list[Mistake],
    warnings: list[StudyWarning],
) -> CaseLists | None:
    # Judgments and lists may name what a case base without a file cannot know.
    closed = read.cases is not None or read.experts is not None
    lists, wrong, doubtful = match(stored, task.queries, task.cases, what=what, closed=closed)
    mistakes += wrong
    warnings += doubtful
    if lists is None:
        return None
    return lists.without_own() if task.leave_one_out else lists


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
            "true value": 0 if truth is None else len(truth.case),
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
    experts: Callable[[Path, str], ExpertRanks | JudgeGrades],
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
