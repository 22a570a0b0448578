"""Average ranks that were computed elsewhere: a published table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.io.tables import Column, read_delimited
from quem.rankings.entries import Entries, assemble
from quem.rankings.layouts import named_columns
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
    solvers : tuple of str
    average : array of float, shape (len(solvers),)
        NaN where the table has none.
    warnings : tuple of StudyWarning
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
    path : Path
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
    table = read_delimited(path, name, what="average ranks")
    fields = ("solver", "average_rank")
    at, warnings = named_columns(table, fields, required=fields)
    solver, average = (table.columns[at[field]] for field in fields)
    lines: list[int] = []

    def place(row: int, field: str) -> tuple[int, int]:
        if not lines:
            lines.extend(table.lines())
        return lines[row], at["solver" if field == "solver" else "average_rank"] + 1

    # One judge and one problem without a name: the same checks as of any ranks.
    shared = Column(np.zeros(len(solver.codes), dtype=np.int64), [""])
    columns = {"judge": shared, "problem": shared, "solver": solver, "rank": average}
    alone = Declared(("",), ("",), declared.solvers, broken=declared.broken & {"solver"})
    titles = {"rank": "average_rank"}
    rankings, mistakes = assemble([Entries(name, columns, place, titles=titles)], alone)
    values = np.full(len(rankings.solvers), np.nan)
    if not mistakes:
        values[rankings.solver] = rankings.rank
    return PrintedAverages(rankings.solvers, values, warnings), mistakes
