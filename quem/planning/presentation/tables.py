"""The designs of a plan as tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from quem.planning.findings import PlanFindings

__all__ = ["all_designs_table", "designs_table", "plan_dict"]


def all_designs_table(plan: PlanFindings) -> pd.DataFrame:
    """One row a design, by the closed form.

    Parameters
    ----------
    plan : PlanFindings

    Returns
    -------
    DataFrame
        Columns subjects, judges, problems, half_width, power, false_alarms, cost,
        hours_a_judge.
    """
    designs = plan.designs
    judges, subjects, problems = np.meshgrid(
        designs.judges, designs.subjects, designs.problems, indexing="ij"
    )
    return pd.DataFrame(
        {
            "subjects": subjects.ravel(),
            "judges": judges.ravel(),
            "problems": problems.ravel(),
            "half_width": designs.half_width.ravel(),
            "power": designs.power.ravel(),
            "false_alarms": designs.false_alarms.ravel(),
            "cost": designs.cost.ravel(),
            "hours_a_judge": designs.hours.ravel(),
        }
    )


def designs_table(plan: PlanFindings) -> pd.DataFrame:
    """One row a design worth showing, the cheapest first.

    Parameters
    ----------
    plan : PlanFindings

    Returns
    -------
    DataFrame
        The columns of `all_designs_table` and simulated_half_width, simulated_coverage,
        simulated_power (NaN where not simulated), and reaches (NA where no width was asked for).
    """
    table = all_designs_table(plan).iloc[list(plan.shown)].reset_index(drop=True)
    trials = [plan.trials.get(index) for index in plan.shown]
    for name in ("half_width", "coverage", "power"):
        table[f"simulated_{name}"] = [getattr(t, name) if t else np.nan for t in trials]
    asked = plan.settings.width is not None
    reaches = [plan.reaches(index) if asked else None for index in plan.shown]
    table["reaches"] = pd.array(reaches, dtype="boolean")
    return table


def plan_dict(plan: PlanFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    plan : PlanFindings
    """
    spec = plan.pilot.spec if plan.pilot else None
    recommended = plan.recommended
    return {
        "format": 1,
        "kind": "plan",
        "study": {"id": spec.id, "title": spec.title} if spec else None,
        "settings": _settings(plan),
        "warnings": [{"code": d.code, "message": d.message} for d in plan.warnings],
        "noise": {
            "source": plan.source,
            "replaced": list(plan.replaced),
            **asdict(plan.circumstances.noise),
        },
        "pilot": _pilot(plan),
        "limits": {
            "any_number": plan.limit,
            "most_subjects": plan.limit_of_subjects,
        },
        "recommended": None if recommended is None else _design(plan, recommended),
        "nearest": _design(plan, plan.nearest),
        "designs": [_design(plan, index) for index in plan.shown],
    }


def _settings(plan: PlanFindings) -> dict[str, Any]:
    """What was used: what was asked, with all that was filled in."""
    asked, used = plan.settings, plan.circumstances
    return {
        "width": asked.width,
        "level": used.level,
        "judges": list(asked.judges),
        "subjects": list(asked.subjects),
        "problems": list(asked.problems),
        "experience": list(used.experience),
        "experience_unit": plan.unit,
        "systems": used.systems,
        "power_for": used.difference,
        "cost_solution": plan.costs.solution,
        "cost_judgement": plan.costs.judgement,
        "minutes": plan.costs.minutes,
        "minutes_measured": plan.measured,
        "simulate": asked.simulate,
        "seed": asked.seed,
    }


def _pilot(plan: PlanFindings) -> dict[str, Any] | None:
    told = plan.components
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
        "none_seen": list(told.negative_variance),
        "lacking": told.missing_dimension or None,
        "experience": list(told.experience),
    }


def _design(plan: PlanFindings, index: int) -> dict[str, Any]:
    designs, trial = plan.designs, plan.trials.get(index)
    return {
        **plan.design(index)._asdict(),
        "half_width": float(designs.half_width.flat[index]),
        "power": float(designs.power.flat[index]),
        "false_alarms": float(designs.false_alarms.flat[index]),
        "cost": float(designs.cost.flat[index]),
        "hours_a_judge": float(designs.hours.flat[index]),
        "reaches": None if plan.settings.width is None else plan.reaches(index),
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
