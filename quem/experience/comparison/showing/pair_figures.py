"""How far each two systems are apart, and who beats whom on each problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.comparison.showing.phrases import bare_p, names_of
from quem.experience.showing.heat_map import heat_map
from quem.experience.wording import percent
from quem.report.canvas import MOST_ROWS, label_inches, short
from quem.report.drawing import INK, LINE, MUTED, SYSTEMS, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.comparison.findings import Comparison
    from quem.experience.comparison.pairs import Pair

__all__ = ["differences", "wins"]

_ROW = 0.27  # inches
_NONE = float("nan")
Point = tuple[float, float, float]


def differences(found: Comparison) -> Figure | None:
    """Draw the difference of each two systems with its interval.

    Of systems of one study in average rank and, beside, in years; of systems of several
    studies in years. Where there are more pairs than rows, those of the smallest p values.
    """
    if found.mode == "studies":
        return _of_studies(found)
    pairs = _weightiest(found)
    if not pairs:
        return None
    labels = _pair_labels(found, pairs)
    ranks = [(pair.paired.mean, *pair.interval) for pair in pairs]
    years = [
        (pair.years.by_worths, *pair.years.interval)
        if pair.years.interval
        else (pair.years.years, _NONE, _NONE)
        for pair in pairs
    ]
    p_values = [pair.p_holm for pair in pairs]
    with with_style():
        figure, (of_ranks, of_years) = _panels(labels, 2)
        _forest(of_ranks, ranks, f"Average rank, {percent(found.level)} intervals")
        _forest(
            of_years,
            years,
            f"{short(found.unit.capitalize(), 16)} by worths (○ by the line)",
        )
        regressed = [pair.years.years for pair in pairs]
        of_years.plot(
            regressed, range(len(pairs)), "o", color=SYSTEMS[0], fillstyle="none", markersize=6
        )
        _p_column(of_years, p_values)
    return figure


def _of_studies(found: Comparison) -> Figure | None:
    apart = sorted(found.apart, key=lambda a: np.nan_to_num(a.p, nan=2.0))[:MOST_ROWS]
    if not apart:
        return None
    labels = [f"{short(found.name_of(a.b), 30)} − {short(found.name_of(a.a), 30)}" for a in apart]
    points: list[Point] = []
    for a in apart:
        low = a.lower if np.isfinite(a.lower) else a.interval[0]
        high = a.upper if np.isfinite(a.upper) else a.interval[1]
        low = -np.inf if np.isnan(low) and np.isfinite(high) else low
        high = np.inf if np.isnan(high) and np.isfinite(low) else high
        points.append((a.years, low, high))
    with with_style():
        figure, (axes,) = _panels(labels, 1)
        _forest(
            axes, points, f"{short(found.unit.capitalize(), 24)}, {percent(found.level)} intervals"
        )
        _p_column(axes, [a.p_holm for a in apart])
    return figure


def _weightiest(found: Comparison) -> list[Pair]:
    pairs = [pair for pair in found.pairs if pair.paired.n_cells]
    if len(pairs) > MOST_ROWS:
        pairs = sorted(pairs, key=lambda pair: np.nan_to_num(pair.test.p, nan=2.0))[:MOST_ROWS]
    return pairs


def _pair_labels(found: Comparison, pairs: list[Pair]) -> list[str]:
    names = names_of(found)
    return [f"{short(names[pair.b])} − {short(names[pair.a])}" for pair in pairs]


def _panels(labels: list[str], count: int) -> tuple[Figure, list[Axes]]:
    left, right = label_inches(labels), 0.75
    width, height = left + 2.9 * count + right, 0.95 + _ROW * len(labels)
    figure = Figure(figsize=(width, height))
    panels = figure.subplots(1, count, sharey=True, squeeze=False).ravel().tolist()
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - 0.4 / height,
        bottom=0.5 / height,
        wspace=0.12,
    )
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].set_ylim(len(labels) - 0.4, -0.6)
    return figure, panels


def _forest(axes: Axes, points: list[Point], title: str) -> None:
    """A point and its interval in each row; intervals without an end go to the axis' end."""
    values = np.array(points)
    known = np.concatenate([values[np.isfinite(values)], [0.0]])
    margin = 0.06 * (float(np.ptp(known)) or 1.0)
    left, right = float(known.min()) - margin, float(known.max()) + margin
    axes.set_xlim(left, right)
    axes.axvline(0, color=MUTED, linewidth=0.9)
    for row, (middle, low, high) in enumerate(points):
        if np.isnan(middle):
            continue
        clear = not low <= 0 <= high and not np.isnan(low)
        colour = LINE if clear else INK
        if not np.isnan(low):
            ends: NDArray[np.float64] = np.clip([low, high], left, right)
            axes.plot(ends, [row, row], color=colour, linewidth=1.8)
        for beyond, end, arrow in ((low == -np.inf, left, "<"), (high == np.inf, right, ">")):
            if beyond:
                axes.plot([end], [row], arrow, color=colour, markersize=5, clip_on=False)
        axes.plot([middle], [row], "D", color=colour, markersize=5)
    axes.set_title(title, fontweight="normal")
    tidy(axes, x="difference", grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _p_column(axes: Axes, p_values: list[float]) -> None:
    """Adjusted p values at the right."""
    place = axes.get_yaxis_transform()
    axes.text(1.04, 1.02, "adjusted p", transform=axes.transAxes, va="bottom", color=MUTED)
    for row, p in enumerate(p_values):
        axes.text(1.04, row, bare_p(p), transform=place, va="center")


def wins(found: Comparison) -> Figure | None:
    """Draw in which share of the rankings of each problem one system is above the other."""
    pairs = _weightiest(found)
    if not pairs:
        return None
    names = names_of(found)
    labels = [f"{short(names[pair.b])} above {short(names[pair.a])}" for pair in pairs]
    held = {problem for pair in pairs for problem in pair.paired.problems}
    problems = [name for name in found.studies[0].study.declared.problems if name in held]
    values = np.full((len(pairs), len(problems) + 1), np.nan)
    for row, pair in enumerate(pairs):
        at = [problems.index(problem) for problem in pair.paired.problems]
        values[row, at] = pair.paired.share_won_by_problem
        values[row, -1] = pair.paired.share_won
    columns = [*(short(problem, 12) for problem in problems), "all"]
    return heat_map(labels, columns, values, "Share of rankings won", ends=(0.0, 1.0))
