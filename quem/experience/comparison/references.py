"""Solutions with and without help, located against people who worked alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.averages import average_cells
from quem.experience.cells import judged_cells, score_cells
from quem.experience.ranks import adjusted_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quem.experience.cells import Cells
    from quem.rankings import Rankings
    from quem.study import Declared

__all__ = ["LEAST_COMMON", "LEAST_REFERENCES", "Located", "locate"]

LEAST_COMMON, LEAST_REFERENCES = 3, 2


@dataclass(frozen=True)
class Located:
    """Everybody located against references, who worked alone.

    Parameters
    ----------
    cells : Cells
        ``size`` counts the references of the cell's group; ``score`` is as of ``normalize:
        expected``, so that groups with more references and with fewer compare.
    scores : array of float, shape (n_problems, n_solvers)
        Mean score over the judges; NaN where a solver was not ranked.
    common : bool
        Whether the references are the same people throughout: those who never had help.
    """

    cells: Cells
    scores: NDArray[np.float64]
    common: bool

    def of(self, solver: str) -> NDArray[np.float64]:
        """Give a solver's score on each problem, NaN where there is none."""
        return self.scores[:, self.cells.solvers.index(solver)]

    def problems_of(self, solver: str) -> tuple[str, ...]:
        """List the problems on which a solver was ranked."""
        held = np.isfinite(self.of(solver))
        problems = zip(self.cells.problems, held, strict=True)
        return tuple(name for name, is_held in problems if is_held)

    def few_at(self, solver: str) -> list[str]:
        """List the problems on which a solver was ranked with too few references."""
        cells = self.cells
        own = cells.solver == cells.solvers.index(solver)
        few = own & (cells.size < LEAST_REFERENCES)
        return [cells.problems[at] for at in np.unique(cells.problem[few])]


def locate(rankings: Rankings, declared: Declared, helped: Iterable[str]) -> Located:
    """Locate every solution against people who worked alone.

    The references are those who never had help. If some group that matters holds fewer than
    three of them, they are all who worked alone on the problem, and so other people for
    solutions with help than for those without.

    Parameters
    ----------
    rankings : Rankings
    declared : Declared
    helped : iterable of str
        Ids of those who had help on some problem, as persons and as assisted solvers.
    """
    cells = judged_cells(rankings, declared, reference="humans")
    with_help = np.isin(cells.solvers, list(helped))
    never = cells.of_kind("subject") & ~with_help
    adjusted, size = adjusted_ranks(cells.group, cells.given, never[cells.solver])
    common = bool((size[with_help[cells.solver]] >= LEAST_COMMON).all())
    if common:
        cells = replace(cells, adjusted=adjusted, size=size)
    cells = score_cells(cells, score="rank", normalize="expected")
    nobody = np.full(len(cells.solvers), np.nan)
    return Located(cells, average_cells(cells, nobody).problem_means, common)
