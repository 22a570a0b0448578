"""What the judges did: their agreement, and the ranks they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.experience.showing.heat_map import heat_map
from quem.experience.showing.summary import system_name
from quem.report.canvas import MOST_ROWS, colours, label_inches, one_axes, short
from quem.report.drawing import GRID, INK, LINE, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.experience.findings import Findings

__all__ = ["agreement", "ranks"]


def agreement(found: Findings) -> Figure | None:
    """Draw the judges' agreement as a heat map of Spearman correlations.

    A row is a pair of judges; where there are more than 15 pairs, a judge against all others.
    """
    judged = found.agreement
    if judged is None or not judged.pairs:
        return None
    labels, values, title = _agreement_matrix(found)
    columns = [short(problem, 12) for problem in (*judged.problems, "mean")]
    return heat_map(labels, columns, values, title)


def _agreement_matrix(found: Findings) -> tuple[list[str], NDArray[np.float64], str]:
    """Rows of correlations by problem and, last, their mean; and what the rows are."""
    judged = found.agreement
    assert judged is not None  # noqa: S101  the caller has looked
    problems = list(judged.problems)
    pairs = {(a, b) for _, a, b, *_ in judged.pairs}
    by_pair = len(pairs) <= 15  # noqa: PLR2004  as many rows as fit
    cells: dict[str, list[list[float]]] = {}
    for problem, a, b, spearman, *_ in judged.pairs:
        for label in [f"{short(a, 16)} and {short(b, 16)}"] if by_pair else [a, b]:
            row = cells.setdefault(label, [[] for _ in problems])
            row[problems.index(problem)].append(spearman)
    labels = sorted(cells) if by_pair else list(cells)
    values = np.array(
        [[_finite_mean(cell) for cell in cells[label]] for label in labels], dtype=float
    )
    mean = np.array([_finite_mean(row) for row in values.tolist()])
    title = "Spearman correlation "
    title += "between judges" if by_pair else "of each judge with the others (mean)"
    if len(labels) > MOST_ROWS:
        title += f": the {MOST_ROWS} of {len(labels):,} that agree least"
        lowest = np.sort(np.argsort(mean, kind="stable")[:MOST_ROWS])
        labels, values, mean = [labels[i] for i in lowest], values[lowest], mean[lowest]
    return [short(label, 37) for label in labels], np.column_stack([values, mean]), title


def _finite_mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def ranks(found: Findings) -> Figure | None:
    """Draw how often each solver got each rank; the larger the dot, the more often."""
    if found.cells is None:
        return None
    averages = found.averages
    shown = [i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])]
    shown = sorted(shown, key=lambda i: averages.average[i])
    shown = [i for i in shown if averages.kinds[i] != "withheld"][: 2 * MOST_ROWS]
    labels = [_solver_label(found, i) for i in shown]
    with with_style():
        left = label_inches(labels)
        figure, axes = one_axes(left + 4.7, 0.9 + 0.24 * len(shown), left=left)
        columns = [
            np.unique(found.cells.adjusted[found.cells.solver == solver], return_counts=True)
            for solver in shown
        ]
        most = max((int(counts.max()) for _, counts in columns), default=1)
        of_system = dict(zip([e.system for e in found.estimates], colours(), strict=False))
        for row, (solver, (values, counts)) in enumerate(zip(shown, columns, strict=True)):
            colour = of_system.get(averages.solvers[solver], LINE)
            axes.scatter(
                values,
                [row] * len(values),
                s=12 + 110 * counts / most,
                color=colour,
                alpha=0.45,
                linewidths=0,
            )
            mean = float(np.average(values, weights=counts))
            axes.plot([mean, mean], [row - 0.36, row + 0.36], color=INK, linewidth=2)
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(-0.6, len(shown) - 0.4)
        within = " within blocks" if found.cells.is_blocked else ""
        axes.set_title(f"Ranks of each solver{within}; the bar is the mean")
        tidy(axes, x=f"adjusted rank{within} (1 = worst)", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.axhline(-0.6, color=GRID, linewidth=0.6)
    return figure


def _solver_label(found: Findings, index: int) -> str:
    averages = found.averages
    name = averages.solvers[index]
    if averages.kinds[index] == "subject":
        return f"{short(name)} ({averages.experience[index]:g})"
    return short(system_name(found, name))
