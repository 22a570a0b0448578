"""The one module that knows every kind of study."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from quem.load import Study
from quem.study.reading import kind_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from quem.comparison.result import ComparisonResult
    from quem.experience.result import ExperienceResult
    from quem.planning.result import PlanResult
    from quem.report.result import Presentation
    from quem.retrieval.experts import ExpertRanks
    from quem.retrieval.loading import RetrievalStudy

__all__ = [
    "KINDS",
    "Kind",
    "analyze",
    "check",
    "compare",
    "load_study",
    "plan",
    "presentations",
    "settings_of",
]


@dataclass(frozen=True)
class Kind:
    """A kind of study: where its functions are, each as ``module:function``.

    Parameters
    ----------
    load : str
        ``load(path, **sources) -> study``: a study with all its data. It has ``spec`` (the model
        of the file, with ``kind``, ``id``, ``title`` and ``analysis``, its settings), ``path``,
        ``name`` and ``files``, and ``counts()``, what was read, by noun.
    analyze : str
        ``analyze(study, **settings) -> quem.report.result.Result``
    check : str
        ``check(study) -> iterable of Doubt``: what an analysis would warn of, quickly.
    sources : tuple of str
        What `load` takes besides the path; "code" where a study can name Python functions.
    running : tuple of str
        What `analyze` takes besides the settings of the study file, such as ``jobs``.
    kept : str
        For a kind whose analysis takes long: the file in the folder of the report in which it
        keeps what is finished. `analyze` then takes ``keep``, its path, and ``progress``.
    """

    load: str
    analyze: str
    check: str
    sources: tuple[str, ...] = field(default=())
    running: tuple[str, ...] = field(default=())
    kept: str = ""

    def function(self, which: Literal["load", "analyze", "check"]) -> Any:  # noqa: ANN401
        """Import one of the functions."""
        module, _, name = getattr(self, which).partition(":")
        return getattr(import_module(module), name)


KINDS = {
    "experience": Kind(
        "quem.load:load_study",
        "quem.experience.analysis:analyze_experience",
        "quem.experience.analysis:check_experience",
        sources=("database", "reveal"),
    ),
    "options": Kind(
        "quem.options.loading:load_options",
        "quem.options.analysis:analyze_options",
        "quem.options.analysis:check_options",
    ),
    "retrieval": Kind(
        "quem.kinds:_load_retrieval",
        "quem.retrieval.analysis:analyze_retrieval",
        "quem.retrieval.analysis:check_retrieval",
        sources=("code",),
        kept="similarities.csv",
    ),
    "dialogue": Kind(
        "quem.dialogue.loading:load_dialogue",
        "quem.dialogue.analysis:analyze_dialogue",
        "quem.dialogue.analysis:check_dialogue",
        sources=("data", "code"),
        running=("jobs", "cluster", "sensitivity"),
        kept="finished-targets.jsonl",
    ),
}


_RESULTS = {
    "experience": "quem.experience.result:ExperienceResult",
    "comparison": "quem.comparison.result:ComparisonResult",
    "plan": "quem.planning.result:PlanResult",
    "options": "quem.options.result:OptionsResult",
    "retrieval": "quem.retrieval.result:RetrievalResult",
    "dialogue": "quem.dialogue.result:DialogueResult",
}


def presentations() -> dict[str, Presentation[Any]]:
    """Give how the results of each kind are shown: of studies, comparisons, and plans."""
    shown = {}
    for name, place in _RESULTS.items():
        module, _, result = place.partition(":")
        shown[name] = getattr(import_module(module), result).presentation()
    return shown


def _load_retrieval(path: str | os.PathLike[str], *, code: bool = True) -> RetrievalStudy:
    """Read a study of retrievers, whose ground truth may be the judges of another study."""
    from quem.retrieval.loading import load_retrieval

    return load_retrieval(path, experts=_experts, code=code)


def _experts(path: Path, name: str) -> ExpertRanks:
    """Say what the judges of an experience study said."""
    from quem.experience.judge_panel import judges_panel
    from quem.load import load_study as load_experience
    from quem.retrieval.experts import ExpertRanks

    study = load_experience(path)
    return ExpertRanks(name, study.spec.title, *judges_panel(study))


def load_study(
    path: str | os.PathLike[str],
    *,
    code: bool = True,
    **sources: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401  any kind
    """Read a study of any kind with its data.

    Parameters
    ----------
    path : path-like
        The study file; see ``docs/reference/study-file.md``.
    code : bool, default True
        Whether Python functions that the study file names may be loaded; with False a study
        that names any is refused (see ``docs/how-to/strangers.md``).
    **sources
        Of a study of kind ``experience``: ``database``, where the rankings of a judging session
        are, a URL or the path of an SQLite file (by default ``$QUEM_DATABASE_URL``, or the
        SQLite file beside the study file); and ``reveal``, whether to read the rankings of a
        session that is not closed, which is logged.

    Returns
    -------
    Study
        Or what the kind has in its place; `analyze` takes it.

    Raises
    ------
    QuemError
        With every mistake in the file and in its data.
    TypeError
        The kind has no such source.
    """
    kind = kind_of(path)
    known = KINDS[kind].sources
    given = {key: value for key, value in sources.items() if value not in (None, False)}
    if unknown := sorted(given.keys() - set(known)):
        message = f"a study of kind {kind} has no {unknown[0]}"
        raise TypeError(message)
    if "code" in known:
        given["code"] = code
    return KINDS[kind].function("load")(path, **given)


@overload
def analyze(study: Study, **settings: Any) -> ExperienceResult: ...  # noqa: ANN401


@overload
def analyze(study: Any, **settings: Any) -> Any: ...  # noqa: ANN401


def analyze(study: Any, **settings: Any) -> Any:
    """Analyse a study of any kind.

    Parameters
    ----------
    study : Study
        As from `quem.load_study`.
    **settings
        Settings that replace those of the study file, as the pages in ``docs/reference`` have them
        for the kind under ``analysis``; None leaves a setting as it is. Of an experience study:
        ``form``, ``interval``, ``level``, ``score``, ``normalize``, ``reference``,
        ``at_least``, ``bootstrap``, ``permutations``, ``seed``.

    Returns
    -------
    quem.report.result.Result
        Of an experience study an `ExperienceResult`.

    Raises
    ------
    QuemError
        A setting is wrong, or there is nothing to analyse.
    TypeError
        What is given is no study, such as the path of one.
    """
    return KINDS[_kind_of_loaded("analyze", study)].function("analyze")(study, **settings)


def check(study: Any) -> Any:  # noqa: ANN401  any kind
    """Say what an analysis of a study would warn of."""
    return KINDS[_kind_of_loaded("check", study)].function("check")(study)


def settings_of(study: Any) -> tuple[str, ...]:  # noqa: ANN401  any kind
    """Name the settings that `analyze` takes for a study."""
    fields = type(study.spec.analysis).model_fields
    return (*fields, *KINDS[study.spec.kind].running)


def _kind_of_loaded(function: str, study: Any) -> str:  # noqa: ANN401  any kind
    spec = getattr(study, "spec", None)
    kind = getattr(spec, "kind", None)
    if kind not in KINDS:
        _refuse_other_than_study(function, study)
    return str(kind)


def compare(
    *studies: Study,
    systems: Sequence[str] = (),
    test: Literal["problem", "twoway", "signflip"] = "problem",
    same_system: bool = False,
    **settings: Any,  # noqa: ANN401  see Analysis
) -> ComparisonResult:
    """Compare the systems of a study, or those of several independent studies.

    Parameters
    ----------
    *studies : Study
        As from `quem.load_study`. Of one, its systems are compared and the gain of those who
        worked with help is measured. Of several, the systems of different studies are compared.
    systems : sequence of str
        Ids of the systems to compare, or what their versions share; by default all. With
        names, no gain of people with help is measured.
    test : {"problem", "twoway", "signflip"}
        How systems of one study are tested.
    same_system : bool
        Whether the studies measured versions of one system, which are put in order.
    **settings
        Settings that replace those of the study files: ``level``, ``form``, ``score``,
        ``normalize``, ``reference``, ``permutations``, ``seed``.

    Raises
    ------
    QuemError
        A setting is wrong, the studies do not fit each other, or there is nothing to compare.
    TypeError
        What is given is no study, or no setting of a comparison.
    """
    if not studies:
        message = "compare takes one study at least: quem.compare(quem.load_study(path))"
        raise TypeError(message)
    for study in studies:
        _refuse_other_than_study("compare", study)
    if unknown := sorted(settings.keys() - _COMPARISON_SETTINGS):
        known = ", ".join(_COMPARISON_SETTINGS)
        message = f"compare takes no {unknown[0]}; its settings are systems, test, {known}"
        raise TypeError(message)
    from quem.comparison.compare import compare_experience

    return compare_experience(
        studies, systems=systems, test=test, same_system=same_system, **settings
    )


_COMPARISON_SETTINGS = dict.fromkeys(
    ("level", "form", "score", "normalize", "reference", "permutations", "seed")
)


def plan(
    pilot: Study | None = None,
    *,
    database: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    **settings: Any,  # noqa: ANN401  see PlanSettings
) -> PlanResult:
    """Say how large a study has to be.

    Parameters
    ----------
    pilot : Study, optional
        As from `quem.load_study`: the noise is estimated from it, and the time that judges
        take from its judging session.
    database : str, optional
        Where that is, as in `quem.load_study`.
    jobs : int
        Processes for the simulation.
    cluster : str, optional
        Address of a Dask scheduler, whose workers simulate instead.
    **settings
        ``width``, ``judges``, ``subjects``, ``problems``, ``experience``, ``noise``,
        ``person``, ``solution``, ``judge``, ``taste``, ``systems``, ``power_for``,
        ``cost_solution``, ``cost_judgment``, ``minutes``, ``level``, ``simulate``, ``seed``: see
        `quem.planning.settings.PlanSettings`.

    Raises
    ------
    QuemError
        A setting is wrong, or the pilot cannot tell the noise.
    TypeError
        What is given is no study.
    """
    from quem.planning.planner import make_plan
    from quem.planning.result import PlanResult

    minutes = None
    if pilot is not None:
        _refuse_other_than_study("plan", pilot)
        from quem.rankings.stored import Session, judging_minutes
        from quem.store.location import locate_database

        session = Session(locate_database(pilot.path, database))
        minutes = judging_minutes(session, pilot.spec.id)
    made = PlanResult(make_plan(pilot, settings, measured=minutes))
    studies = made.findings.settings.simulate
    return made.simulated(studies, jobs=jobs, cluster=cluster)


def _refuse_other_than_study(function: str, study: object) -> None:
    if isinstance(study, Study):
        return
    kind = getattr(getattr(study, "spec", None), "kind", None)
    if kind in KINDS:
        message = f"{function} takes an experience study, and this is of kind {kind}"
    else:
        message = (
            f"{function} takes a study and not {type(study).__name__}; "
            f"load it first: quem.{function}(quem.load_study(path))"
        )
    raise TypeError(message)
