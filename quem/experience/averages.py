"""Step 5: the average of each solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells

__all__ = ["Averages", "average_cells", "widening"]


@dataclass(frozen=True)
class Averages:
    """What the skill function is fitted to.

    Parameters
    ----------
    experience : array of float, shape (n_solvers,)
        NaN for all but subjects.
    average : array of float, shape (n_solvers,)
        Mean score; NaN without ranks.
    n_ranks : array of int, shape (n_solvers,)
        The number of cells; 0 for averages computed elsewhere.
    problem_means : array of float, shape (n_problems, n_solvers)
        Mean score on each problem; NaN where a solver was not judged. No rows for averages
        computed elsewhere.
    """

    solvers: tuple[str, ...]
    kinds: tuple[str, ...]
    experience: NDArray[np.float64]
    average: NDArray[np.float64]
    n_ranks: NDArray[np.int64]
    problem_means: NDArray[np.float64]

    @property
    def n_problems(self) -> NDArray[np.int64]:
        """Problems on which each solver was judged, shape (n_solvers,)."""
        return np.asarray(np.isfinite(self.problem_means).sum(axis=0))

    @property
    def study_problems(self) -> int:
        """Problems on which anybody was judged."""
        return int(np.isfinite(self.problem_means).any(axis=1).sum())

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


def average_cells(cells: RankCells, experience: NDArray[np.float64]) -> Averages:
    """Average the scores of each solver over all its cells.

    Parameters
    ----------
    experience : array of float, shape (n_solvers,)

    Returns
    -------
    Averages
    """
    shape = (len(cells.problems), len(cells.solvers))
    key, score = cells.problem * shape[1] + cells.solver, cells.score
    known = np.isfinite(score)
    if not known.all():
        key, score = key[known], score[known]
    total = np.bincount(key, score, minlength=shape[0] * shape[1]).reshape(shape)
    count = np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape)
    with np.errstate(invalid="ignore"):
        average = total.sum(axis=0) / count.sum(axis=0)
        means = total / count
    return Averages(cells.solvers, cells.kinds, experience, average, count.sum(axis=0), means)


def widening(
    problem_means: NDArray[np.float64], subjects: NDArray[np.int64], systems: NDArray[np.int64]
) -> NDArray[np.float64]:
    r"""Say how much more the averages of systems vary that were judged on fewer problems.

    :math:`\sigma_P^2 (1/P_k - 1/P)`, with :math:`\sigma_P^2` the mean within-subject variance
    of problem means.

    Parameters
    ----------
    problem_means : array of float, shape (..., n_problems, n_solvers)
        Of one study or many.
    subjects, systems : arrays of int
        Columns of it.

    Returns
    -------
    array of float, shape (..., len(systems))
        In squared ranks; NaN where no subject was judged on two problems.
    """
    mask = np.isfinite(problem_means)
    study = mask.any(axis=-1).sum(axis=-1)[..., np.newaxis]
    of_system = mask[..., systems].sum(axis=-2)
    fewer = (of_system > 0) & (of_system < study)
    if not fewer.any():
        return np.zeros(fewer.shape)
    means = problem_means[..., subjects]
    n = mask[..., subjects].sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = means - (np.nansum(means, axis=-2) / n)[..., np.newaxis, :]
        variance = np.where(n > 1, np.nansum(off**2, axis=-2) / (n - 1), 0.0)
        sigma = variance.sum(axis=-1) / (n > 1).sum(axis=-1)
        widened = sigma[..., np.newaxis] * (1 / of_system - 1 / study)
    return np.asarray(np.where(fewer, widened, 0.0))
