"""The results of a comparison as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.assistance import AssistanceGain, PersonUplift
    from quem.comparison.findings import ComparisonFindings

__all__ = ["all_tables", "differences_table", "estimates_table"]


def all_tables(comparison: ComparisonFindings) -> dict[str, pd.DataFrame]:
    """Give every table that there is something for, by file stem.

    Parameters
    ----------
    comparison : ComparisonFindings
    """
    tables = {
        "estimates": estimates_table(comparison),
        "differences": differences_table(comparison),
        "rankings": pd.DataFrame(_rankings(comparison)),
        "progression": pd.DataFrame(_progression(comparison)),
        "uplift": pd.DataFrame(_uplift(comparison)),
    }
    return {stem: table for stem, table in tables.items() if len(table)}


def estimates_table(comparison: ComparisonFindings) -> pd.DataFrame:
    """One row a system.

    Parameters
    ----------
    comparison : ComparisonFindings

    Returns
    -------
    DataFrame
        Columns study, system, version, of, date, average_rank, experience, prediction_low,
        prediction_high, lower_bound, upper_bound, inside_range.
    """
    rows = []
    for standing in comparison.standings:
        estimate = standing.estimate
        rows.append(
            {
                "study": comparison.study_of(standing),
                "system": standing.system,
                "version": standing.version,
                "of": standing.of,
                "date": str(standing.date) if standing.date else "",
                "average_rank": estimate.average_rank,
                "experience": estimate.experience,
                "prediction_low": estimate.prediction[0],
                "prediction_high": estimate.prediction[1],
                "lower_bound": estimate.bound if estimate.side == "above" else np.nan,
                "upper_bound": estimate.bound if estimate.side == "below" else np.nan,
                "inside_range": estimate.side == "inside",
            }
        )
    return pd.DataFrame(rows)


def differences_table(comparison: ComparisonFindings) -> pd.DataFrame:
    """One row a pair of systems; every difference is b less a.

    Parameters
    ----------
    comparison : ComparisonFindings

    Returns
    -------
    DataFrame
        Of systems of one study: a, b, n_judges, n_problems, n_cells, mean_difference, low,
        high, p, p_holm, p_problem, p_twoway, p_signflip, share_won, years, years_calibrated,
        years_by_worths, years_low, years_high. Of systems of several studies: study_a, a,
        study_b, b, years, standard_error, df, low, high, lower_bound, upper_bound, p, p_holm.
    """
    if comparison.mode == "studies":
        return pd.DataFrame(_apart(comparison))
    return pd.DataFrame(_pairs(comparison))


def _pairs(comparison: ComparisonFindings) -> Iterator[dict[str, Any]]:
    for pair in comparison.pairs:
        paired = pair.paired
        low, high = pair.years.interval or (np.nan, np.nan)
        yield {
            "a": pair.a,
            "b": pair.b,
            "n_judges": len(paired.judges),
            "n_problems": len(paired.problems),
            "n_cells": paired.n_cells,
            "mean_difference": paired.mean,
            "low": pair.interval[0],
            "high": pair.interval[1],
            "p": pair.test.p,
            "p_holm": pair.p_holm,
            **{f"p_{name}": test.p for name, test in pair.tests.items()},
            "share_won": paired.share_won,
            "years": pair.years.years,
            "years_calibrated": pair.years.calibrated,
            "years_by_worths": pair.years.by_worths,
            "years_low": low,
            "years_high": high,
        }


def _apart(comparison: ComparisonFindings) -> Iterator[dict[str, Any]]:
    for apart in comparison.apart:
        yield {
            "study_a": comparison.study_of(apart.a),
            "a": apart.a.system,
            "study_b": comparison.study_of(apart.b),
            "b": apart.b.system,
            "years": apart.years,
            "standard_error": apart.error,
            "df": apart.df,
            "low": apart.interval[0],
            "high": apart.interval[1],
            "lower_bound": apart.lower,
            "upper_bound": apart.upper,
            "p": apart.p,
            "p_holm": apart.p_holm,
        }


def _rankings(comparison: ComparisonFindings) -> Iterator[dict[str, Any]]:
    """One row a pair and ranking: by how much b is ahead, and whether it is above."""
    for pair in comparison.pairs:
        paired = pair.paired
        for j, p in np.argwhere(np.isfinite(paired.difference)):
            yield {
                "a": pair.a,
                "b": pair.b,
                "judge": paired.judges[j],
                "problem": paired.problems[p],
                "difference": float(paired.difference[j, p]),
                "won": float(paired.won[j, p]),
            }


def _progression(comparison: ComparisonFindings) -> Iterator[dict[str, Any]]:
    for progression in comparison.progressions:
        steps = [None, *progression.steps]
        for version, step in zip(progression.versions, steps, strict=True):
            yield {
                "of": progression.of,
                "study": comparison.study_of(version),
                "system": version.system,
                "version": version.version,
                "date": str(version.date) if version.date else "",
                "experience": version.estimate.experience,
                "step": step.years if step else np.nan,
                "p": step.p if step else np.nan,
                "p_holm": step.p_holm if step else np.nan,
            }


def _uplift(comparison: ComparisonFindings) -> Iterator[dict[str, Any]]:
    for uplift in comparison.uplifts:
        for person in uplift.people:
            yield {
                "system": uplift.system,
                "assisted": person.assisted,
                "person": person.person,
                "unaided": person.unaided,
                "aided": person.aided,
                **_gain(person),
                "p_holm": person.p_holm,
            }
        yield {"system": uplift.system, "assisted": "", "person": "", **_gain(uplift)}


def _gain(gained: AssistanceGain | PersonUplift) -> dict[str, Any]:
    return {
        "gain": gained.gain,
        "low": gained.test.interval[0],
        "high": gained.test.interval[1],
        "df": gained.test.df,
        "p": gained.test.p,
        "years": gained.years,
        "years_calibrated": gained.calibrated,
    }
