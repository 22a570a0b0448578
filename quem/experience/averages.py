"""Step 5: the average of each solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.cells import tabulate
from quem.experience.components import Incidence, average_variances, components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.components import Components, Spread


@dataclass(frozen=True)
class Averages:
    """What the skill function is fitted to."""

    solvers: tuple[str, ...]
    kinds: tuple[str, ...]
    experience: NDArray[np.float64]  # of shape (n_solvers,): NaN for all but subjects
    average: NDArray[np.float64]  # of shape (n_solvers,): mean score; NaN without ranks
    # Which cells each solver has; without problems and judges for averages computed elsewhere.
    incidence: Incidence
    # Of shape (n_problems, n_solvers): mean score on each problem; NaN where a solver was not
    # judged.
    problem_means: NDArray[np.float64]
    # Of the subjects' scores; None where all solvers have alike cells, where that does not matter,
    # in a very large study, and where scores are pooled or computed elsewhere.
    components: Components | None = None

    @property
    def n_ranks(self) -> NDArray[np.int64]:
        """The number of cells, shape (n_solvers,); 0 for averages computed elsewhere."""
        return np.asarray(self.incidence.problems.sum(axis=0))

    @property
    def n_problems(self) -> NDArray[np.int64]:
        """Problems on which each solver was judged, shape (n_solvers,)."""
        return np.asarray((self.incidence.problems > 0).sum(axis=0))

    @property
    def n_judges(self) -> NDArray[np.int64]:
        """Judges who ranked each solver, shape (n_solvers,)."""
        return np.asarray((self.incidence.judges > 0).sum(axis=0))

    @property
    def study_problems(self) -> int:
        """Problems on which anybody was judged."""
        return int((self.incidence.problems > 0).any(axis=1).sum())

    @property
    def study_judges(self) -> int:
        """Judges who ranked anybody."""
        return int((self.incidence.judges > 0).any(axis=1).sum())

    def widening(self, spread: Spread | None = None) -> NDArray[np.float64]:
        """Say how much more the averages of systems vary that have fewer cells than subjects.

        Shapes: `spread` (..., n_solvers), optional.
        """
        systems = self.of_kind("system")
        spread = spread or self.incidence.spread
        if self.components is None:
            return np.zeros((*spread[0].shape[:-1], len(systems)))
        return widening(self.components, spread, self.of_kind("subject"), systems)

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

    Shapes: `experience` (n_solvers,).
    """
    has_score = np.isfinite(cells.score)
    known = slice(None) if has_score.all() else has_score
    score, n = cells.score[known], len(cells.solvers)
    judge, problem, solver = (of[known] for of in (cells.judge, cells.problem, cells.solver))
    shape = (len(cells.problems), n)
    total = np.bincount(problem * n + solver, score, minlength=shape[0] * n).reshape(shape)
    incidence = Incidence(
        np.bincount(problem * n + solver, minlength=shape[0] * n).reshape(shape),
        np.bincount(judge * n + solver, minlength=len(cells.judges) * n).reshape(-1, n),
    )
    with np.errstate(invalid="ignore"):
        means = total / incidence.problems
        average = total.sum(axis=0) / incidence.problems.sum(axis=0)
    averages = Averages(cells.solvers, cells.kinds, experience, average, incidence, means)
    fitted = [*averages.of_kind("subject"), *averages.of_kind("system")]
    each = Incidence(incidence.problems[:, fitted], incidence.judges[:, fitted])
    if cells.is_large or not each.is_uneven:
        return averages
    table = tabulate(cells)
    subjects = np.isin(table.solvers, averages.of_kind("subject"))
    return replace(averages, components=components(table.scores[..., subjects]))


def widening(
    of: Components, spread: Spread, subjects: NDArray[np.int64], systems: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Say how much more the averages of systems vary that have fewer cells than subjects.

    Shapes: `spread` (..., n_solvers).
    """
    variances = average_variances(of, spread)
    of_subjects = variances[..., subjects]
    with np.errstate(invalid="ignore"):
        count = np.isfinite(of_subjects).sum(axis=-1, keepdims=True)
        usual = np.nansum(of_subjects, axis=-1, keepdims=True) / count
    return np.asarray(np.fmax(variances[..., systems] - usual, 0.0))
