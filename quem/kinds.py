"""The one module that knows every kind of study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.experience.analysis import analyze_experience
from quem.load import Study

if TYPE_CHECKING:
    from quem.experience.planning.result import ExperiencePlan
    from quem.experience.result import ExperienceAnalysis

__all__ = ["analyze", "plan"]

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
    if not isinstance(study, Study):
        message = (
            f"analyze takes a study and not {type(study).__name__}; "
            "load it first: quem.analyze(quem.load_study(path))"
        )
        raise TypeError(message)
    return _ANALYSES[study.spec.kind](study, **settings)


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
        if not isinstance(pilot, Study):
            message = (
                f"plan takes a study and not {type(pilot).__name__}; "
                "load it first: quem.plan(quem.load_study(path))"
            )
            raise TypeError(message)
        from quem.rankings.stored import Session, judging_minutes
        from quem.store.place import find_place

        session = Session(find_place(pilot.path, database))
        minutes = judging_minutes(session, pilot.spec.id)
    made = ExperiencePlan(make_plan(pilot, settings, measured=minutes))
    studies = made.findings.settings.simulate
    return made.simulated(studies, jobs=jobs, cluster=cluster)
