"""What each judge of a study said of each solution, for what is compared with the judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.errors import QuemError
from quem.experience.cells import judged_cells, score_cells
from quem.rankings import PrintedAverages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.loading import Study

__all__ = ["Panel", "judges_panel"]


class Panel(NamedTuple):
    """The adjusted ranks of a study, judge by judge.

    Parameters
    ----------
    judges, problems, solvers : tuple of str
        Without withheld solvers, who hold their places all the same.
    ranks : array of float, shape (judges, problems, solvers)
        As the study's settings say (``score`` and ``normalize``), 1 the worst; NaN where a
        judge did not rank a solution.
    """

    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    ranks: NDArray[np.float64]


def judges_panel(study: Study) -> Panel:
    """Give the adjusted ranks of a study, judge by judge (step 4).

    Raises
    ------
    QuemError
        The study has averages only, or judges were given blocks, whose ranks are not of the
        whole group.
    """
    if isinstance(study.data, PrintedAverages):
        message = "the study has average ranks only; the order on each problem needs the rankings"
        raise QuemError([study.mistake(("rankings",), message)])
    settings = study.spec.analysis
    cells = judged_cells(study.data, study.declared)
    cells = score_cells(cells, score=settings.score, normalize=settings.normalize)
    if cells.block.max(initial=1) > 1:
        message = (
            "judges ranked the solutions in blocks, and ranks of different blocks make no order of "
            "all; take a study with whole rankings"
        )
        raise QuemError([study.mistake(("rankings",), message)])
    shape = len(cells.judges), len(cells.problems), len(cells.solvers)
    ranks = np.full(shape, np.nan)
    ranks[cells.judge, cells.problem, cells.solver] = cells.score
    places = np.flatnonzero(~cells.of_kind("withheld"))
    solvers = tuple(cells.solvers[solver] for solver in places.tolist())
    return Panel(cells.judges, cells.problems, solvers, ranks[:, :, places])
