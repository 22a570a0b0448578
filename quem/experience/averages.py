"""Step 5: the average of each solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import Cells

__all__ = ["Averages", "average_cells", "problem_totals"]


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
    total, count = problem_totals(cells)
    with np.errstate(invalid="ignore"):
        means = total / count
        average = total.sum(axis=1) / count.sum(axis=1)
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
        count.sum(axis=1),
        np.isfinite(means).sum(axis=1),
        int(np.isfinite(means).any(axis=0).sum()),
        variance,
    )


def problem_totals(cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Add up the scores of each solver on each problem.

    Parameters
    ----------
    cells : Cells

    Returns
    -------
    total : array of float, shape (n_solvers, n_problems)
    count : array of int, shape (n_solvers, n_problems)
        How many scores there are.
    """
    shape = (len(cells.solvers), len(cells.problems))
    key, score = cells.solver * shape[1] + cells.problem, cells.score
    known = np.isfinite(score)
    if not known.all():
        key, score = key[known], score[known]
    total = np.bincount(key, score, minlength=shape[0] * shape[1]).astype(np.float64, copy=False)
    count = np.bincount(key, minlength=shape[0] * shape[1])
    return total.reshape(shape), count.reshape(shape)
