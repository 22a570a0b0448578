"""The content of a plan's analysis.json, as plain data (see ``docs/analysis-json.md``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem.experience.planning.findings import Plan

__all__ = ["plan_dict"]


def plan_dict(found: Plan) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    found : Plan
    """
    spec = found.pilot.spec if found.pilot else None
    recommended = found.recommended
    return {
        "format": 1,
        "kind": "plan",
        "study": {"id": spec.id, "title": spec.title} if spec else None,
        "settings": _settings(found),
        "warnings": [{"code": d.code, "message": d.message} for d in found.doubts],
        "noise": {
            "source": found.source,
            "replaced": list(found.replaced),
            **asdict(found.circumstances.noise),
        },
        "pilot": _pilot(found),
        "limits": {
            "any_number": found.limit,
            "most_subjects": found.limit_of_subjects,
        },
        "recommended": None if recommended is None else _design(found, recommended),
        "nearest": _design(found, found.nearest),
        "designs": [_design(found, index) for index in found.shown],
    }


def _settings(found: Plan) -> dict[str, Any]:
    """What was used: what was asked, with all that was filled in."""
    asked, used = found.settings, found.circumstances
    return {
        "width": asked.width,
        "level": used.level,
        "judges": list(asked.judges),
        "subjects": list(asked.subjects),
        "problems": list(asked.problems),
        "experience": list(used.experience),
        "experience_unit": found.unit,
        "systems": used.systems,
        "power_for": used.difference,
        "cost_solution": found.costs.solution,
        "cost_judgement": found.costs.judgement,
        "minutes": found.costs.minutes,
        "minutes_measured": found.measured,
        "simulate": asked.simulate,
        "seed": asked.seed,
    }


def _pilot(found: Plan) -> dict[str, Any] | None:
    told = found.components
    if told is None:
        return None
    return {
        "judges": told.judges,
        "problems": told.problems,
        "subjects": told.subjects,
        "ranks_per_year": told.ranks_per_year,
        "p_value": told.p_value,
        **asdict(told.noise),
        "person_interval": list(told.person_interval),
        "df": told.df,
        "none_seen": list(told.none_seen),
        "lacking": told.lacking or None,
        "experience": list(told.experience),
    }


def _design(found: Plan, index: int) -> dict[str, Any]:
    designs, trial = found.designs, found.trials.get(index)
    return {
        **found.design(index)._asdict(),
        "half_width": float(designs.half_width.flat[index]),
        "power": float(designs.power.flat[index]),
        "false_alarms": float(designs.false_alarms.flat[index]),
        "cost": float(designs.cost.flat[index]),
        "hours_a_judge": float(designs.hours.flat[index]),
        "reaches": None if found.settings.width is None else found.reaches(index),
        "simulated": None
        if trial is None
        else {
            "studies": trial.studies,
            "half_width": trial.half_width,
            "half_width_error": trial.half_width_error,
            "coverage": trial.coverage,
            "power": trial.power,
        },
    }
