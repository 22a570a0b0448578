"""Step 5: the average of each solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import Cells

__all__ = ["Averages", "average_cells", "problem_means"]


@dataclass(frozen=True)
class Averages:
    """What the skill function is fitted to.

    Parameters
    ----------
    solvers, kinds : tuple of str
    experience : array of float, shape (n_solvers,)
        NaN for all but subjects.
    average : array of float, shape (n_solvers,)
        Mean score; NaN without ranks.
    n_ranks : array of int, shape (n_solvers,)
        The number of cells; 0 for averages computed elsewhere.
    n_problems : array of int, shape (n_solvers,)
        Problems on which the solver was judged.
    study_problems : int
        Problems on which anybody was judged.
    problem_variance : float
        The mean within-subject variance of problem means; NaN where no subject was judged
        on two problems.
    """

    solvers: tuple[str, ...]
    kinds: tuple[str, ...]
    experience: NDArray[np.float64]
    average: NDArray[np.float64]
    n_ranks: NDArray[np.int64]
    n_problems: NDArray[np.int64]
    study_problems: int
    problem_variance: float

    def of_kind(self, kind: str) -> NDArray[np.int64]:
        """Give the indices of the solvers of a kind that have an average."""
        return np.array(
            [i for i, k in enumerate(self.kinds) if k == kind and np.isfinite(self.average[i])],
            dtype=np.int64,
        )

    def fitted(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Average and experience of the subjects, whom alone the skill function is fitted to."""
        subjects = self.of_kind("subject")
        return self.average[subjects], self.experience[subjects]


def average_cells(cells: Cells, experience: NDArray[np.float64]) -> Averages:
    """Average the scores of each solver over all its cells.

    Parameters
    ----------
    cells : Cells
    experience : array of float, shape (n_solvers,)

    Returns
    -------
    Averages
    """
    n_solvers = len(cells.solvers)
    known = np.isfinite(cells.score)
    solver = cells.solver if known.all() else cells.solver[known]
    score = cells.score if known.all() else cells.score[known]
    n_ranks = np.bincount(solver, minlength=n_solvers)
    total = np.bincount(solver, score, minlength=n_solvers)
    with np.errstate(invalid="ignore"):
        average = total / n_ranks
    means = problem_means(cells)
    subjects = means[cells.of_kind("subject")]
    subjects = subjects[np.isfinite(subjects).sum(axis=1) >= 2]  # noqa: PLR2004  a variance
    variance = np.nan
    if len(subjects):
        variance = float(np.nanvar(subjects, axis=1, ddof=1).mean())
    return Averages(
        cells.solvers,
        cells.kinds,
        experience,
        average,
        n_ranks,
        np.isfinite(means).sum(axis=1),
        int(np.isfinite(means).any(axis=0).sum()),
        variance,
    )


def problem_means(cells: Cells) -> NDArray[np.float64]:
    """Average the scores of each solver on each problem.

    Parameters
    ----------
    cells : Cells

    Returns
    -------
    array of float, shape (n_solvers, n_problems)
        NaN where a solver was not judged.
    """
    n_problems = len(cells.problems)
    shape = (len(cells.solvers), n_problems)
    key = cells.solver * n_problems + cells.problem
    known = np.isfinite(cells.score)
    if not known.all():
        key, score = key[known], cells.score[known]
    else:
        score = cells.score
    count = np.bincount(key, minlength=shape[0] * shape[1])
    total = np.bincount(key, score, minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        return (total / count).reshape(shape)
