"""The kinds of studies. Nothing outside this module branches on the name of a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    overload,
)

from quem.studyfile.reading import kind_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.result import DialogueResult
    from quem.errors import StudyWarning
    from quem.options.loading import OptionsStudy
    from quem.options.result import OptionsResult
    from quem.parts.result import ExperienceResult
    from quem.planning.result import PlanResult
    from quem.rankings.loading import Study
    from quem.relevance.loading import RelevanceStudy
    from quem.relevance.result import RelevanceResult
    from quem.report.result import BaseResult, Presentation, WarningFindings
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.result import RetrievalResult
    from quem.retrieval.truth import Truth


class AnySpec(Protocol):
    """The contents of a study file of any kind."""

    @property
    def kind(self) -> str:
        """The name of the kind."""

    @property
    def id(self) -> str:
        """Key of the study."""

    @property
    def title(self) -> str:
        """Title of the report."""

    @property
    def analysis(self) -> BaseModel:
        """Settings of the analysis."""


class AnyStudy(Protocol):
    """A study of any kind with its data."""

    @property
    def path(self) -> Path:
        """The study file."""

    @property
    def name(self) -> str:
        """The path as the user wrote it, for messages."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The study file, and the files of its data."""

    def counts(self) -> dict[str, int]:
        """Counts of the contents, by noun."""

    @property
    def spec(self) -> AnySpec:
        """The contents of the study file."""


LoadedStudy = TypeVar("LoadedStudy", bound=AnyStudy)
Result = TypeVar("Result", bound="BaseResult[Any]")


class Kind(ABC, Generic[LoadedStudy, Result]):
    """A kind of study.

    Its methods import what they need when called, so that listing kinds is fast.
    """

    name: ClassVar[str]  # as in study files
    # Arguments of `load` besides the path; "code" where a study can name Python functions.
    sources: ClassVar[tuple[str, ...]] = ()
    # Arguments of `analyze` besides the settings of the study file, such as ``jobs``.
    running: ClassVar[tuple[str, ...]] = ()
    # For a kind with scores to compare: settings with which `analyze` computes only these.
    quick: ClassVar[dict[str, object] | None] = None

    @abstractmethod
    def load(self, path: str | os.PathLike[str], **sources: Any) -> LoadedStudy:
        """Read a study with all its data."""

    @abstractmethod
    def analyze(self, study: LoadedStudy, **settings: Any) -> Result:
        """Analyze a study; settings replace those of its file."""

    def check(self, study: LoadedStudy) -> Iterable[StudyWarning]:
        """The warnings of an analysis that are quick to find."""
        return self.analyze(study).warnings

    @abstractmethod
    def result(self) -> type[BaseResult[Any]]:
        """The class of the results."""

    def systems(self, study: LoadedStudy) -> Sequence[str]:  # noqa: ARG002
        """The ids and names of the compared systems, for a kind with scores."""
        return ()


class _Experience(Kind["Study", "ExperienceResult"]):
    """Subjects and systems, ranked by judges."""

    name = "experience"
    sources = ("database", "reveal", "pseudonyms", "without_machines")

    def load(
        self, path: str | os.PathLike[str], *, pseudonyms: bool = False, **sources: Any
    ) -> Study:
        from quem.rankings.loading import load_study

        study = load_study(path, **sources)
        if not pseudonyms:
            return study
        from quem.rankings.pseudonyms import pseudonymize

        return pseudonymize([study])[0]

    def analyze(self, study: Study, **settings: Any) -> ExperienceResult:
        from quem.parts import analyze_experience

        return analyze_experience(study, **settings)

    def result(self) -> type[ExperienceResult]:
        from quem.parts.result import ExperienceResult

        return ExperienceResult


class _Options(Kind["OptionsStudy", "OptionsResult"]):
    """Systems that answer with lists of options."""

    name = "options"
    sources = ("code",)
    quick: ClassVar = {"samples": 0}

    def load(self, path: str | os.PathLike[str], **sources: Any) -> OptionsStudy:
        from quem.options.loading import load_options

        return load_options(path, **sources)

    def analyze(self, study: OptionsStudy, **settings: Any) -> OptionsResult:
        from quem.options.analysis import analyze_options

        return analyze_options(study, **settings)

    def check(self, study: OptionsStudy) -> Iterable[StudyWarning]:
        return self.analyze(study, samples=0).warnings

    def result(self) -> type[OptionsResult]:
        from quem.options.result import OptionsResult

        return OptionsResult

    def systems(self, study: OptionsStudy) -> Sequence[str]:
        return study.systems


class _Retrieval(Kind["RetrievalStudy", "RetrievalResult"]):
    """Retrievers, evaluated against a ground truth."""

    name = "retrieval"
    sources = ("code",)
    running = ("progress",)
    quick: ClassVar = {"samples": 0, "repeats": 1, "warm_up": 0}

    def load(self, path: str | os.PathLike[str], **sources: Any) -> RetrievalStudy:
        from quem.retrieval.loading import load_retrieval

        return load_retrieval(path, experts=_experts, **sources)

    def analyze(self, study: RetrievalStudy, **settings: Any) -> RetrievalResult:
        from quem.retrieval.analysis import analyze_retrieval

        return analyze_retrieval(study, **settings)

    def check(self, study: RetrievalStudy) -> Iterable[StudyWarning]:
        from quem.retrieval.analysis import check_retrieval

        return check_retrieval(study)

    def result(self) -> type[RetrievalResult]:
        from quem.retrieval.result import RetrievalResult

        return RetrievalResult

    def systems(self, study: RetrievalStudy) -> Sequence[str]:
        return [name for one in study.spec.retrievers for name in (one.id, one.name)]


def _experts(path: Path, name: str) -> Truth:
    """The judgments of another study: ranks, or grades of a relevance study."""
    from quem.retrieval.truth import ranked

    if kind_of(path) == "relevance":
        return _relevance(path, name)
    from quem.rankings.loading import judges_panel

    study = KINDS["experience"].load(path)
    return ranked(name, study.spec.title, *judges_panel(study))


def _relevance(path: Path, name: str) -> Truth:
    from quem.retrieval.truth import graded

    study = KINDS["relevance"].load(path)
    rows = list(study.judgments.rows())
    new = {row[:2] for row in rows}
    judges = dict.fromkeys(judge for _, _, judge, _ in rows) or [""]
    # Earlier judgments have no judge, and are each one's grade.
    before = [(*pair, grade) for pair, grade in study.judged.items() if pair not in new]
    rows += [(query, case, judge, grade) for query, case, grade in before for judge in judges]
    return graded(name, study.spec.title, rows)


class _Relevance(Kind["RelevanceStudy", "RelevanceResult"]):
    """Candidates of queries, graded by judges."""

    name = "relevance"
    sources = ("database", "reveal")

    def load(self, path: str | os.PathLike[str], **sources: Any) -> RelevanceStudy:
        from quem.relevance.loading import load_relevance
        from quem.scores.read import read_judgments

        return load_relevance(path, reader=read_judgments, **sources)

    def analyze(self, study: RelevanceStudy, **settings: Any) -> RelevanceResult:
        from quem.relevance.analysis import analyze_relevance

        return analyze_relevance(study, **settings)

    def check(self, study: RelevanceStudy) -> Iterable[StudyWarning]:
        return self.analyze(study, samples=0).warnings

    def result(self) -> type[RelevanceResult]:
        from quem.relevance.result import RelevanceResult

        return RelevanceResult


def load_pooling(path: str | os.PathLike[str], *, code: bool = True) -> RetrievalStudy:
    """Read a study of retrievers whose lists are to be pooled; needs no ground truth yet."""
    from quem.retrieval.loading import load_retrieval

    return load_retrieval(path, experts=_experts, code=code, pooling=True)


def read_grades(path: Path, name: str) -> dict[tuple[str, str], float]:
    """Read relevance judgments: grades by query and case."""
    from quem.retrieval.lists import rows_of
    from quem.scores.read import read_judgments

    return {(query, case): grade for query, case, grade in rows_of(read_judgments(path, name))}


def read_pairs(path: Path, name: str) -> list[tuple[str, str]]:
    """Read pairs of query and case."""
    from quem.retrieval.lists import rows_of
    from quem.scores.read import read_run

    return [(query, case) for query, case, _ in rows_of(read_run(path, name))]


class _Dialogue(Kind["DialogueStudy", "DialogueResult"]):
    """Strategies of conversational case-based reasoning."""

    name = "dialogue"
    sources = ("data", "code")
    running = ("jobs", "cluster", "progress")
    quick: ClassVar = {"samples": 0}

    def load(self, path: str | os.PathLike[str], **sources: Any) -> DialogueStudy:
        from quem.dialogue.loading import load_dialogue

        return load_dialogue(path, **sources)

    def analyze(self, study: DialogueStudy, **settings: Any) -> DialogueResult:
        from quem.dialogue.analysis import analyze_dialogue

        return analyze_dialogue(study, **settings)

    def check(self, study: DialogueStudy) -> Iterable[StudyWarning]:
        from quem.dialogue.analysis import check_dialogue

        return check_dialogue(study)

    def result(self) -> type[DialogueResult]:
        from quem.dialogue.result import DialogueResult

        return DialogueResult

    def systems(self, study: DialogueStudy) -> Sequence[str]:
        return [strategy.name for strategy in study.strategies]


KINDS: dict[str, Kind[Any, Any]] = {
    kind.name: kind for kind in (_Experience(), _Options(), _Retrieval(), _Dialogue(), _Relevance())
}


def presentations() -> dict[str, Presentation[Any]]:
    """The presentations of the results of each kind and of comparisons and plans."""
    from quem.comparison.result import ComparisonResult
    from quem.planning.result import PlanResult
    from quem.scores.result import ScoresResult

    results: list[type[BaseResult[Any]]] = [kind.result() for kind in KINDS.values()]
    results += [ComparisonResult, ScoresResult, PlanResult]
    return {result.kind: result.presentation() for result in results}


@overload
def load_study(
    path: str | os.PathLike[str],
    *,
    kind: Literal["experience"],
    code: bool = True,
    database: str | None = None,
    reveal: bool = False,
    pseudonyms: bool = False,
    without_machines: bool = False,
) -> Study: ...


@overload
def load_study(
    path: str | os.PathLike[str], *, kind: Literal["options"], code: bool = True
) -> OptionsStudy: ...


@overload
def load_study(
    path: str | os.PathLike[str], *, kind: Literal["retrieval"], code: bool = True
) -> RetrievalStudy: ...


@overload
def load_study(
    path: str | os.PathLike[str],
    *,
    kind: Literal["dialogue"],
    code: bool = True,
    data: str | os.PathLike[str] | None = None,
) -> DialogueStudy: ...


@overload
def load_study(
    path: str | os.PathLike[str],
    *,
    kind: Literal["relevance"],
    code: bool = True,
    database: str | None = None,
    reveal: bool = False,
) -> RelevanceStudy: ...


@overload
def load_study(
    path: str | os.PathLike[str], *, kind: str | None = None, code: bool = True, **sources: object
) -> AnyStudy: ...


def load_study(
    path: str | os.PathLike[str], *, kind: str | None = None, code: bool = True, **sources: object
) -> AnyStudy:
    """Read a study with its data.

    Parameters
    ----------
    path : path-like
        The study file; see ``docs/reference/study-file.md``.
    kind : str, optional
        The kind that it has to be of, such as ``"experience"``; named, type checkers know what
        comes back.
    code : bool, default True
        Whether Python functions that the study file names may be loaded; with False a study
        that names any is refused.
    **sources
        Of a study of kind ``experience``: ``database``, where the rankings of a judging session
        are, a URL or the path of an SQLite file (by default ``$QUEM_DATABASE_URL``, or the
        SQLite file beside the study file); ``reveal``, whether to read the rankings of a
        session that is not closed, which is logged; ``pseudonyms``, whether judges and subjects
        are called J1, S1, and so on in all that follows; and ``without_machines``, whether what
        machine judges ranked is left out. Of one of kind ``relevance``: ``database`` and
        ``reveal``. Of one of kind ``dialogue``: ``data``, the folder of its case base.

    Raises
    ------
    QuemError
        With every error in the file and in its data, or where it is of another kind.
    TypeError
        The kind has no such source.
    """
    own = kind_of(path, wanted=kind)
    known = KINDS[own].sources
    arguments: dict[str, Any] = {
        key: value for key, value in sources.items() if value not in (None, False)
    }
    if unknown := sorted(arguments.keys() - set(known)):
        raise TypeError(f"a study of kind {own} has no {unknown[0]}")
    if "code" in known:
        arguments["code"] = code
    study: AnyStudy = KINDS[own].load(path, **arguments)
    return study


@overload
def analyze(study: Study, **settings: object) -> ExperienceResult: ...


@overload
def analyze(study: OptionsStudy, **settings: object) -> OptionsResult: ...


@overload
def analyze(study: RetrievalStudy, **settings: object) -> RetrievalResult: ...


@overload
def analyze(study: DialogueStudy, **settings: object) -> DialogueResult: ...


@overload
def analyze(study: RelevanceStudy, **settings: object) -> RelevanceResult: ...


@overload
def analyze(study: AnyStudy, **settings: object) -> BaseResult[WarningFindings]: ...


def analyze(study: AnyStudy, **settings: object) -> BaseResult[WarningFindings]:
    """Analyze a study.

    Parameters
    ----------
    study : Study
        As from `quem.load_study`.
    **settings
        Settings that replace those of the study file, as ``docs/reference/study-file.md`` has
        them for the kind under ``analysis``; None leaves a setting as it is.

    Returns
    -------
    BaseResult
        `ExperienceResult`, `OptionsResult`, `RetrievalResult`, `DialogueResult`, or
        `RelevanceResult`, by the kind.

    Raises
    ------
    QuemError
        A setting is wrong, or there is nothing to analyze.
    TypeError
        What is given is not a study, such as the path of one.
    """
    kind = KINDS[kind_of_loaded("analyze", study)]
    result: BaseResult[WarningFindings] = kind.analyze(study, **settings)
    return result


def check(study: AnyStudy) -> Iterable[StudyWarning]:
    """The warnings of an analysis of a study."""
    return KINDS[kind_of_loaded("check", study)].check(study)


def settings_of(study: AnyStudy) -> tuple[str, ...]:
    """The settings that `analyze` accepts for a study."""
    fields = type(study.spec.analysis).model_fields
    return (*fields, *KINDS[study.spec.kind].running)


def kind_of_loaded(function: str, study: object) -> str:
    """The kind of an argument; anything but a study is refused."""
    spec = getattr(study, "spec", None)
    kind = getattr(spec, "kind", None)
    if kind not in KINDS:
        experience_study(function, study)
    return str(kind)


def plan(
    pilot: Study | None = None, *, database: str | None = None, **settings: object
) -> PlanResult:
    """Find the necessary size of a study.

    Parameters
    ----------
    pilot : Study, optional
        As from `quem.load_study`: the noise is estimated from it, and the time that people take
        from its sessions.
    database : str, optional
        Where its judging session is, as in `quem.load_study`.
    **settings
        ``width``, ``subjects``, ``judges``, ``problems``, ``experience``,
        ``reference_population``, ``noise``, ``person``, ``solution``, ``judge``, ``taste``,
        ``systems``, ``minutes``, ``solving_minutes``, ``level``, ``simulate``, ``seed``: see
        `quem.planning.settings.PlanSettings`.

    Raises
    ------
    QuemError
        A setting is wrong, or the pilot cannot show the noise.
    TypeError
        What is given is not a study.
    """
    from quem.planning.planner import make_plan
    from quem.planning.result import PlanResult

    minutes = None
    if pilot is not None:
        experience_study("plan", pilot)
        from quem.rankings.stored import Session, judging_minutes
        from quem.store.location import locate_database

        session = Session(locate_database(pilot.path, database))
        minutes = judging_minutes(session, pilot.spec.id)
    return PlanResult(make_plan(pilot, settings, minutes=minutes))


def experience_study(function: str, study: object) -> Study:
    """The experience study in an argument; anything else is refused."""
    from quem.rankings.loading import Study

    if isinstance(study, Study):
        return study
    kind = getattr(getattr(study, "spec", None), "kind", None)
    if kind in KINDS:
        message = f"{function} takes an experience study, and this is of kind {kind}"
    else:
        message = (
            f"{function} takes a study and not {type(study).__name__}; "
            f"load it first: quem.{function}(quem.load_study(path))"
        )
    raise TypeError(message)
