"""The designs of a plan as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from quem.experience.planning.findings import Plan

__all__ = ["all_designs_table", "designs_table"]


def all_designs_table(found: Plan) -> pd.DataFrame:
    """One row a design, by the closed form.

    Parameters
    ----------
    found : Plan

    Returns
    -------
    DataFrame
        Columns subjects, judges, problems, half_width, power, false_alarms, cost,
        hours_a_judge.
    """
    designs = found.designs
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


def designs_table(found: Plan) -> pd.DataFrame:
    """One row a design worth showing, the cheapest first.

    Parameters
    ----------
    found : Plan

    Returns
    -------
    DataFrame
        The columns of `all_designs_table` and simulated_half_width, simulated_coverage,
        simulated_power (NaN where not simulated), and reaches (NA where no width was asked for).
    """
    table = all_designs_table(found).iloc[list(found.shown)].reset_index(drop=True)
    trials = [found.trials.get(index) for index in found.shown]
    for name in ("half_width", "coverage", "power"):
        table[f"simulated_{name}"] = [getattr(t, name) if t else np.nan for t in trials]
    asked = found.settings.width is not None
    reaches = [found.reaches(index) if asked else None for index in found.shown]
    table["reaches"] = pd.array(reaches, dtype="boolean")
    return table
