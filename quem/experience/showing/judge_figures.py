"""What the judges did: their agreement, and the ranks they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.showing.canvas import MOST_ROWS, colours, one_axes, short
from quem.experience.showing.summary import system_name
from quem.experience.wording import number
from quem.report.drawing import GRID, INK, LINE, PAPER, SYSTEMS, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.colors import LinearSegmentedColormap
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
    labels, values = _agreement_matrix(found)
    with with_style():
        n_rows, n_columns = values.shape
        height = 1.15 + 0.26 * n_rows
        figure = Figure(figsize=(min(11.0, max(4.6, 2.2 + 0.62 * n_columns)), height))
        figure.patch.set_alpha(0)
        width = figure.get_figwidth()
        axes = figure.add_axes((1.5 / width, 0.62 / height, 1 - 1.65 / width, 1 - 0.95 / height))
        axes.imshow(values, cmap=_diverging(), vmin=-1, vmax=1, aspect="auto")
        problems = [*judged.problems, "mean"]
        axes.set_xticks(range(n_columns), problems, rotation=60 if n_columns > 12 else 0)  # noqa: PLR2004  labels would touch
        axes.set_yticks(range(n_rows), labels)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.axvline(n_columns - 1.5, color=PAPER, linewidth=3)
        if n_columns <= 20:  # noqa: PLR2004  numbers would not fit
            for row, column in np.argwhere(np.isfinite(values)):
                value = values[row, column]
                # Fixed colours: the cells are as light or dark in either scheme.
                colour = "#fefefe" if abs(value) > 0.55 else "#1b1f25"  # noqa: PLR2004
                axes.text(
                    column,
                    row,
                    number(value, 2),
                    color=colour,
                    ha="center",
                    va="center",
                    fontsize=7.5,
                )
        axes.set_title("Spearman correlation between judges")
    return figure


def _agreement_matrix(found: Findings) -> tuple[list[str], NDArray[np.float64]]:
    """Rows of correlations by problem, and, last, their mean."""
    judged = found.agreement
    assert judged is not None  # noqa: S101  the caller has looked
    problems = list(judged.problems)
    pairs = {(a, b) for _, a, b, *_ in judged.pairs}
    by_pair = len(pairs) <= 15  # noqa: PLR2004  as many rows as fit
    cells: dict[str, list[list[float]]] = {}
    for problem, a, b, spearman, *_ in judged.pairs:
        for label in [f"{a} and {b}"] if by_pair else [a, b]:
            row = cells.setdefault(label, [[] for _ in problems])
            row[problems.index(problem)].append(spearman)
    labels = sorted(cells) if by_pair else list(cells)
    values = np.array(
        [[_finite_mean(cell) for cell in cells[label]] for label in labels], dtype=float
    )
    mean = np.array([_finite_mean(row) for row in values.tolist()])
    if len(labels) > MOST_ROWS:
        lowest = np.sort(np.argsort(mean, kind="stable")[:MOST_ROWS])
        labels, values, mean = [labels[i] for i in lowest], values[lowest], mean[lowest]
    return labels, np.column_stack([values, mean])


def _finite_mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def _diverging() -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("agreement", [SYSTEMS[0], "#f1efe9", LINE])


def ranks(found: Findings) -> Figure | None:
    """Draw how often each solver got each rank; the larger the dot, the more often."""
    if found.cells is None:
        return None
    averages = found.averages
    shown = [i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])]
    shown = sorted(shown, key=lambda i: averages.average[i])
    shown = [i for i in shown if averages.kinds[i] != "withheld"][: 2 * MOST_ROWS]
    with with_style():
        height = 0.9 + 0.24 * len(shown)
        figure, axes = one_axes(6.2, height)
        axes.set_position((1.5 / 6.2, 0.5 / height, 1 - 1.65 / 6.2, 1 - 0.85 / height))
        most = 1
        columns = []
        for solver in shown:
            values, counts = np.unique(
                found.cells.adjusted[found.cells.solver == solver], return_counts=True
            )
            columns.append((values, counts))
            most = max(most, int(counts.max()))
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
        axes.set_yticks(range(len(shown)), [_solver_label(found, i) for i in shown])
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_title("Ranks of each solver; the bar is the mean")
        tidy(axes, x="adjusted rank (1 = worst)", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.axhline(-0.6, color=GRID, linewidth=0.6)
    return figure


def _solver_label(found: Findings, index: int) -> str:
    averages = found.averages
    name = averages.solvers[index]
    if averages.kinds[index] == "subject":
        return f"{short(name)} ({averages.experience[index]:g})"
    return short(system_name(found, name))
