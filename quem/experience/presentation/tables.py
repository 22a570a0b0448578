"""The results as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from quem.experience.findings import ExperienceFindings

__all__ = ["averages_table", "estimates_table"]

_ESTIMATE_COLUMNS = (
    "system",
    "version",
    "average_rank",
    "n_problems",
    "experience",
    "prediction_low",
    "prediction_high",
    "mean_low",
    "mean_high",
    "calibration_experience",
    "calibration_low",
    "calibration_high",
    "lower_bound",
    "upper_bound",
    "inside_range",
)


def averages_table(findings: ExperienceFindings) -> pd.DataFrame:
    """One row a solver, in the order of the study file.

    Parameters
    ----------
    findings : ExperienceFindings

    Returns
    -------
    DataFrame
        Columns solver, kind, experience, average_rank, n_ranks, n_problems.
    """
    averages = findings.averages
    unknown = findings.cells is None
    counts = np.where(np.isfinite(averages.average), averages.n_ranks, 0)
    return pd.DataFrame(
        {
            "solver": averages.solvers,
            "kind": averages.kinds,
            "experience": averages.experience,
            "average_rank": averages.average,
            "n_ranks": pd.array([None] * len(counts) if unknown else counts, dtype="Int64"),
            "n_problems": pd.array(
                [None] * len(counts) if unknown else averages.n_problems, dtype="Int64"
            ),
        }
    )


def estimates_table(findings: ExperienceFindings) -> pd.DataFrame:
    """One row a system.

    Parameters
    ----------
    findings : ExperienceFindings

    Returns
    -------
    DataFrame
        Columns system, version, average_rank, n_problems, experience, the ends of the three
        intervals, lower_bound, upper_bound, inside_range and one probability a threshold.
    """
    versions = {system.id: system.version for system in findings.study.spec.systems}
    rows = []
    for estimate in findings.estimates:
        calibration = estimate.calibration
        row = {
            "system": estimate.system,
            "version": versions.get(estimate.system, ""),
            "average_rank": estimate.average_rank,
            "n_problems": estimate.n_problems if findings.cells else None,
            "experience": estimate.experience,
            "prediction_low": estimate.prediction[0],
            "prediction_high": estimate.prediction[1],
            "mean_low": estimate.mean[0],
            "mean_high": estimate.mean[1],
            "calibration_experience": calibration.experience if calibration else np.nan,
            "calibration_low": calibration.interval[0] if calibration else np.nan,
            "calibration_high": calibration.interval[1] if calibration else np.nan,
            "lower_bound": estimate.bound if estimate.side == "above" else np.nan,
            "upper_bound": estimate.bound if estimate.side == "below" else np.nan,
            "inside_range": estimate.side == "inside",
        }
        row |= {f"p_at_least_{years:g}": p for years, p in estimate.at_least}
        rows.append(row)
    chances = [f"p_at_least_{years:g}" for years in dict.fromkeys(findings.settings.at_least)]
    frame = pd.DataFrame(rows, columns=[*_ESTIMATE_COLUMNS, *chances])
    return frame.astype({"n_problems": "Int64"})
