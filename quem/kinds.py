"""The one module that knows every kind of study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from quem.experience.analysis import analyze_experience
from quem.load import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.experience.comparison.result import ExperienceComparison
    from quem.experience.planning.result import ExperiencePlan
    from quem.experience.result import ExperienceAnalysis

__all__ = ["analyze", "compare", "plan"]

_ANALYSES = {"experience": analyze_experience}


def analyze(study: Study, **settings: Any) -> ExperienceAnalysis:  # noqa: ANN401  see Analysis
    """Analyse a study of any kind.

    Parameters
    ----------
    study : Study
        As from `quem.load_study`.
    **settings
        Settings that replace those of the study file: ``form``, ``interval``, ``level``,
        ``score``, ``normalize``, ``reference``, ``at_least``, ``bootstrap``,
        ``permutations``, ``seed``.

    Raises
    ------
    QuemError
        A setting is wrong, or no skill function can be fitted.
    TypeError
        What is given is no study, such as the path of one.
    """
    _refuse_other_than_study("analyze", study)
    return _ANALYSES[study.spec.kind](study, **settings)


def compare(
    *studies: Study,
    systems: Sequence[str] = (),
    test: Literal["problem", "twoway", "signflip"] = "problem",
    same_system: bool = False,
    **settings: Any,  # noqa: ANN401  see Analysis
) -> ExperienceComparison:
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
    from quem.experience.comparison.comparing import compare_experience

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
) -> ExperiencePlan:
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
        ``cost_solution``, ``cost_judgement``, ``minutes``, ``level``, ``simulate``, ``seed``: see
        `quem.experience.planning.settings.PlanSettings`.

    Raises
    ------
    QuemError
        A setting is wrong, or the pilot cannot tell the noise.
    TypeError
        What is given is no study.
    """
    from quem.experience.planning.planner import make_plan
    from quem.experience.planning.result import ExperiencePlan

    minutes = None
    if pilot is not None:
        _refuse_other_than_study("plan", pilot)
        from quem.rankings.stored import Session, judging_minutes
        from quem.store.place import find_place

        session = Session(find_place(pilot.path, database))
        minutes = judging_minutes(session, pilot.spec.id)
    made = ExperiencePlan(make_plan(pilot, settings, measured=minutes))
    studies = made.findings.settings.simulate
    return made.simulated(studies, jobs=jobs, cluster=cluster)


def _refuse_other_than_study(function: str, study: object) -> None:
    if not isinstance(study, Study):
        message = (
            f"{function} takes a study and not {type(study).__name__}; "
            f"load it first: quem.{function}(quem.load_study(path))"
        )
        raise TypeError(message)
