"""On whom the answer depends: leaving out each judge, subject and problem; residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.resample import fit_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import Cells
    from quem.experience.skill import SkillForm, SkillFunction

__all__ = ["LeftOut", "SubjectDiagnostic", "leave_out_cells", "leave_out_subjects", "residuals"]

_ROUNDING = 1e-10


@dataclass(frozen=True)
class LeftOut:
    """A system's estimate without one judge, subject or problem.

    Parameters
    ----------
    what : {"judge", "subject", "problem"}
    id, system : str
    estimate : float
        NaN where too few subjects remain.
    low, high : float
        The prediction interval, without the widening for problems that a system was not
        judged on.
    change : float
        Estimate without, less the estimate with.
    """

    what: str
    id: str
    system: str
    estimate: float
    low: float
    high: float
    change: float


@dataclass(frozen=True)
class SubjectDiagnostic:
    """How far a subject lies from the skill function, and how much it bends it.

    Parameters
    ----------
    subject : str
    experience, average_rank, fitted, residual : float
    studentized : float
        The externally studentised residual; NaN where the other subjects lie on a curve
        and leave nothing to measure it by.
    leverage, cooks_distance : float
    """

    subject: str
    experience: float
    average_rank: float
    fitted: float
    residual: float
    studentized: float
    leverage: float
    cooks_distance: float


def leave_out_subjects(
    averages: Averages, function: SkillFunction, estimates: dict[str, float], level: float
) -> list[LeftOut]:
    """Estimate each system without each subject.

    The others keep the ranks that they had with the subject in their groups.

    Parameters
    ----------
    averages : Averages
    function : SkillFunction
    estimates : dict of str to float
        System to its estimate with everybody.
    level : float
    """
    subjects = averages.of_kind("subject")
    weights = 1 - np.eye(len(subjects))
    every = np.broadcast_to(averages.average, (len(subjects), len(averages.average)))
    names = [averages.solvers[subject] for subject in subjects]
    return _left_out("subject", names, every, weights, averages, function.form, estimates, level)


def leave_out_cells(
    what: str,
    cells: Cells,
    averages: Averages,
    function: SkillFunction,
    estimates: dict[str, float],
    level: float,
) -> list[LeftOut]:
    """Estimate each system without each judge, or without each problem.

    Parameters
    ----------
    what : {"judge", "problem"}
    cells : Cells
    averages : Averages
    function : SkillFunction
    estimates : dict of str to float
        System to its estimate with everybody.
    level : float
    """
    names = cells.judges if what == "judge" else cells.problems
    codes = cells.judge if what == "judge" else cells.problem
    n = len(cells.solvers)
    known = np.isfinite(cells.score)
    key, score = codes * n + cells.solver, cells.score
    if not known.all():
        key, score = key[known], score[known]
    total = np.bincount(key, score, minlength=len(names) * n).reshape(-1, n)
    count = np.bincount(key, minlength=len(names) * n).reshape(-1, n)
    taking_part = count.sum(axis=1) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        average = (total.sum(axis=0) - total) / (count.sum(axis=0) - count)
    weights = np.ones((len(names), len(averages.of_kind("subject"))))
    active = [name for name, active in zip(names, taking_part, strict=True) if active]
    return _left_out(
        what,
        active,
        average[taking_part],
        weights[taking_part],
        averages,
        function.form,
        estimates,
        level,
    )


def _left_out(
    what: str,
    names: list[str],
    average: NDArray[np.float64],
    weights: NDArray[np.float64],
    averages: Averages,
    form: SkillForm,
    estimates: dict[str, float],
    level: float,
) -> list[LeftOut]:
    if not estimates:
        return []
    subjects = averages.of_kind("subject")
    systems = [averages.solvers.index(system) for system in estimates]
    fit = fit_batch(form, average[:, subjects], averages.experience[subjects], weights)
    with np.errstate(invalid="ignore"):
        centre = fit.predict(average[:, systems])
        half = fit.half_width(average[:, systems], level)
    full = np.array(list(estimates.values()))
    change = centre - full
    return [
        LeftOut(what, name, system, *map(float, (c, c - h, c + h, d)))
        for name, row in zip(names, zip(centre, half, change, strict=True), strict=True)
        for system, c, h, d in zip(estimates, *row, strict=True)
    ]


def residuals(averages: Averages, function: SkillFunction) -> list[SubjectDiagnostic]:
    """Residual, leverage and Cook's distance of each subject.

    Parameters
    ----------
    averages : Averages
    function : SkillFunction
    """
    subjects = averages.of_kind("subject")
    design = function.form.design(function.x)
    k = design.shape[1]
    inverse = function.results.normalized_cov_params
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    fitted = function.predict(function.x)
    residual = function.y - fitted
    # What rounding leaves of a residual is none, and sets no scale for the others.
    residual[np.abs(residual) < _ROUNDING * np.ptp(function.y)] = 0.0
    rss = float(residual @ residual)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = rss - residual**2 / (1 - leverage)
        without[without < _ROUNDING * rss] = np.nan
        studentized = residual / np.sqrt(without / (function.df - 1) * (1 - leverage))
        cooks = residual**2 * leverage / (k * (rss / function.df) * (1 - leverage) ** 2)
    columns = (function.y, function.x, fitted, residual, studentized, leverage, cooks)
    return [
        SubjectDiagnostic(averages.solvers[subject], *map(float, row))
        for subject, *row in zip(subjects, *columns, strict=True)
    ]
