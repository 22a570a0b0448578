"""Average ranks that were computed elsewhere: a published table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.io.columns import Column
from quem.io.tables import read_table
from quem.rankings.entries import assemble
from quem.study.declared import Declared

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.errors import Mistake, StudyWarning

__all__ = ["PrintedAverages", "read_averages"]


@dataclass(frozen=True)
class PrintedAverages:
    """The average rank of each solver, as printed.

    Parameters
    ----------
    average : array of float, shape (len(solvers),)
        NaN where the table has none.
    """

    solvers: tuple[str, ...]
    average: NDArray[np.float64]
    warnings: tuple[StudyWarning, ...] = ()


def read_averages(
    path: Path, name: str, declared: Declared
) -> tuple[PrintedAverages, list[Mistake]]:
    """Read a table with the columns solver and average_rank.

    Parameters
    ----------
    name : str
        The file as the user named it, for messages.
    declared : Declared
        The ids of the study.

    Returns
    -------
    averages : PrintedAverages
    mistakes : list of Mistake

    Raises
    ------
    QuemError
        The file cannot be read, or a column is missing.
    """
    fields = {"solver": ("solver",), "rank": ("average_rank",)}
    table = read_table(path, name, what="average ranks", fields=fields, required=("solver", "rank"))
    # One judge and one problem without a name: the same checks as of any ranks.
    shared = Column(np.zeros(len(table), dtype=np.int64), [""])
    ranks = replace(table, columns={"judge": shared, "problem": shared, **table.columns})
    alone = Declared(("",), ("",), declared.solvers, broken=declared.broken & {"solver"})
    rankings, mistakes = assemble([replace(ranks, warnings=())], alone)
    values = np.full(len(rankings.solvers), np.nan)
    if not mistakes:
        values[rankings.solver] = rankings.rank
    return PrintedAverages(rankings.solvers, values, table.warnings), mistakes
