"""The figures of an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.summary import system_name
from quem.experience.wording import number, percent
from quem.report.drawing import (
    BAND,
    GRID,
    INK,
    INNER_BAND,
    LINE,
    MUTED,
    PAPER,
    SYSTEMS,
    tidy,
    with_style,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.analysis import ExperienceAnalysis

__all__ = [
    "agreement",
    "all_figures",
    "estimate",
    "influence",
    "ranks",
    "sensitivity",
    "skill_function",
]

_MOST_LABELS = 24
_MOST_ROWS = 40
_LONGEST_NAME = 22
_PANELS = 3
_HALO = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.75}


def all_figures(analysis: ExperienceAnalysis) -> dict[str, Figure]:
    """Draw every figure that the study has data for.

    Parameters
    ----------
    analysis : ExperienceAnalysis

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By file stem.
    """
    draw: dict[str, Callable[[ExperienceAnalysis], Figure | None]] = {
        "skill-function": skill_function,
        "estimate": estimate,
        "sensitivity": sensitivity,
        "influence": influence,
        "agreement": agreement,
        "ranks": ranks,
    }
    drawn = {stem: function(analysis) for stem, function in draw.items()}
    return {stem: figure for stem, figure in drawn.items() if figure is not None}


def skill_function(analysis: ExperienceAnalysis) -> Figure:
    """Draw the subjects and the skill function: Figure 2 of the paper."""
    with with_style():
        figure, axes = _figure(6.2, 4.2)
        grid = _grid(analysis)
        axes.plot(grid, analysis.findings.function.predict(grid), color=LINE, linewidth=2)
        _subjects(axes, analysis)
        _frame(axes, analysis, grid)
        unit = analysis.study.spec.experience_unit
        axes.set_title(analysis.findings.function.equation(unit), fontweight="normal")
    return figure


def estimate(analysis: ExperienceAnalysis) -> Figure:
    """Draw the bands and each system's estimate to the axis: Figure 3 of the paper."""
    found = analysis.findings
    function, level = found.function, found.settings.level
    with with_style():
        figure, axes = _figure(6.2, 4.2)
        grid = _grid(analysis)
        middle = function.predict(grid)
        mean = _quantile(function.df, level) * np.sqrt(function.mean_variance(grid))
        peer = _quantile(function.df, level) * np.sqrt(
            function.residual_sd**2 + function.mean_variance(grid)
        )
        axes.fill_between(
            grid, middle - peer, middle + peer, color=BAND, linewidth=0, label="prediction"
        )
        axes.fill_between(
            grid,
            middle - mean,
            middle + mean,
            color=INNER_BAND,
            linewidth=0,
            label="mean (the paper's band)",
        )
        axes.plot(grid, middle, color=LINE, linewidth=2, label="skill function")
        _subjects(axes, analysis)
        _frame(axes, analysis, grid)
        left, bottom = axes.get_xlim()[0], axes.get_ylim()[0]
        step = (axes.get_xlim()[1] - left) * 0.012
        for index, (system, colour) in enumerate(zip(found.estimates, _colours(), strict=False)):
            x, y = system.average_rank, system.experience
            axes.plot([x, x, left], [bottom, y, y], color=colour, linewidth=1.2, linestyle="--")
            axes.plot([x], [y], "D", color=colour, markersize=6)
            at = left + step * (1 + 1.6 * index)
            ends = list(system.prediction)
            if system.side == "above":
                ends = [system.bound, axes.get_ylim()[1]]
            elif system.side == "below":
                ends = [bottom, system.bound]
            axes.plot([at, at], ends, color=colour, linewidth=3.5, alpha=0.85)
            on_left = x > (axes.get_xlim()[0] + axes.get_xlim()[1]) / 2
            axes.annotate(
                f"{_short(system_name(analysis, system.system))}  {number(y)}",
                (x, y),
                (-9, 6) if on_left else (7, -11),
                textcoords="offset points",
                color=colour,
                fontweight="bold",
                ha="right" if on_left else "left",
                bbox=_HALO,
            )
        axes.legend(loc="upper left", bbox_to_anchor=(0.06, 1.0))
        axes.set_title(f"{percent(level)} bands", fontweight="normal")
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height))
    figure.patch.set_alpha(0)
    axes = figure.add_axes((0.55 / width, 0.5 / height, 1 - 0.7 / width, 1 - 0.85 / height))
    axes.patch.set_alpha(0)
    return figure, axes


def _short(name: str) -> str:
    """A name that fits into a figure."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _quantile(df: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


def _colours() -> list[str]:
    return [*SYSTEMS] * 20


def _grid(analysis: ExperienceAnalysis) -> NDArray[np.float64]:
    """Average ranks from a little below the lowest to a little above the highest."""
    found = analysis.findings
    x = np.concatenate([found.function.x, [e.average_rank for e in found.estimates]])
    margin = 0.06 * float(np.ptp(x))
    low = float(x.min()) - margin
    if found.function.form.positive:
        low = max(low, 0.5 * float(x.min()))
    return np.linspace(low, float(x.max()) + margin, 101)


def _subjects(axes: Axes, analysis: ExperienceAnalysis) -> None:
    found = analysis.findings
    function = found.function
    names = [found.averages.solvers[i] for i in found.averages.of_kind("subject")]
    axes.plot(function.x, function.y, "o", color=INK, markersize=5, label="subjects")
    if len(names) <= _MOST_LABELS:
        for name, x, y in zip(names, function.x, function.y, strict=True):
            axes.annotate(name, (x, y), (5, 4), textcoords="offset points", color=MUTED)


def _frame(axes: Axes, analysis: ExperienceAnalysis, grid: NDArray[np.float64]) -> None:
    """Label the axes, and keep wide bands from squeezing the data."""
    found = analysis.findings
    years = np.concatenate([found.function.y, [0], *(e.prediction for e in found.estimates)])
    years = years[np.isfinite(years)]
    span = float(np.ptp(years)) or 1.0
    axes.set_xlim(float(grid[0]), float(grid[-1]))
    axes.set_ylim(float(years.min()) - 0.04 * span, float(years.max()) + 0.08 * span)
    tidy(
        axes,
        x=f"{_average_label(analysis)} (higher is better)",
        y=f"experience ({analysis.study.spec.experience_unit})",
        grid="both",
    )


def _average_label(analysis: ExperienceAnalysis) -> str:
    settings = analysis.findings.settings
    if settings.score == "blom":
        return "average normal score"
    if settings.normalize == "percentile":
        return "average percentile"
    return "average rank" if settings.normalize == "none" else "average expected rank"


def sensitivity(analysis: ExperienceAnalysis) -> Figure:
    """Draw the estimates without each judge, subject and problem, and by other settings."""
    found = analysis.findings
    rows = sensitivity_rows(analysis)
    n_systems = max(len(found.estimates), 1)
    across = min(n_systems, _PANELS)
    down = -(-n_systems // across)
    with with_style():
        width, height = max(4.6, 1.6 + 2.4 * across), down * (0.75 + 0.185 * len(rows))
        figure = Figure(figsize=(width, height))
        figure.patch.set_alpha(0)
        panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
        figure.subplots_adjust(
            left=1.55 / width,
            right=1 - 0.12 / width,
            top=1 - 0.3 / height,
            bottom=0.42 / height,
            hspace=0.75 / (0.185 * len(rows)),
        )
        for index, axes in enumerate(panels):
            axes.patch.set_alpha(0)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            tidy(axes, x=analysis.study.spec.experience_unit, grid="x")
            axes.set_yticks(range(len(rows)), [_short(label) for label, _ in rows])
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            if index < len(found.estimates):
                _forest(axes, analysis, rows, index)
            elif index:
                axes.set_visible(False)
    return figure


def _forest(
    axes: Axes,
    analysis: ExperienceAnalysis,
    rows: list[tuple[str, dict[str, tuple[float, float, float]]]],
    index: int,
) -> None:
    """One system's column: a point and its interval in each row, the headline behind."""
    system = analysis.findings.estimates[index].system
    colour = _colours()[index]
    points = np.array([values.get(system, (np.nan,) * 3) for _, values in rows])
    axes.axvline(points[0, 0], color=colour, linewidth=0.8, linestyle="--")
    for at, (middle, low, high) in enumerate(points):
        ink = colour if at == 0 else INK
        if np.isfinite(low):
            axes.plot([low, high], [at, at], color=ink, linewidth=2.2 if at == 0 else 1.1)
        axes.plot([middle], [at], "D" if at == 0 else "o", color=ink, markersize=5 - (at > 0))
    axes.set_title(_short(system_name(analysis, system)), color=colour)
    known = points[np.isfinite(points)]
    width = points[0, 2] - points[0, 1]
    # An unruly variant must not squeeze all others into a line.
    low, high = points[0, 0] - 2.5 * width, points[0, 0] + 2.5 * width
    axes.set_xlim(
        max(float(known.min()), low) - 0.05 * width, min(float(known.max()), high) + 0.05 * width
    )


def sensitivity_rows(
    analysis: ExperienceAnalysis,
) -> list[tuple[str, dict[str, tuple[float, float, float]]]]:
    """Rows of the sensitivity figure: a label, and by system the estimate and its ends."""
    found = analysis.findings
    rows = [("headline", {e.system: (e.experience, *e.prediction) for e in found.estimates})]
    for left_out in (found.judges, found.subjects, found.problems):
        group: dict[str, dict[str, tuple[float, float, float]]] = {}
        for left in left_out:
            row = group.setdefault(f"without {left.id}", {})
            row[left.system] = (left.estimate, left.low, left.high)
        # Of very many, those that move an estimate most.
        change = {
            f"without {left.id}": max(
                abs(other.change) for other in left_out if other.id == left.id
            )
            for left in (left_out if len(group) > _MOST_ROWS // 2 else ())
        }
        if change:
            most = sorted(change, key=lambda label: -change[label])[: _MOST_ROWS // 4]
            group = {label: row for label, row in group.items() if label in most}
        rows += group.items()
    settings: dict[str, dict[str, tuple[float, float, float]]] = {}
    for variant in found.variants:
        settings.setdefault(variant.label, {})[variant.system] = (
            variant.estimate,
            variant.low,
            variant.high,
        )
    rows += settings.items()
    if found.bootstrap:
        middle = {e.system: e.experience for e in found.estimates}
        ends = found.bootstrap.intervals.items()
        rows.append(("bootstrap", {system: (middle[system], *end) for system, end in ends}))
    return rows


def influence(analysis: ExperienceAnalysis) -> Figure:
    """Draw the subjects' studentised residuals and Cook's distances."""
    subjects = analysis.findings.diagnostics
    with with_style():
        figure = Figure(figsize=(7.4, 3.1))
        figure.patch.set_alpha(0)
        residual, cook = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.075, right=0.99, top=0.9, bottom=0.15, wspace=0.22)
        fitted = [subject.fitted for subject in subjects]
        student = [subject.studentized for subject in subjects]
        residual.axhspan(-2, 2, color=BAND, linewidth=0)
        residual.axhline(0, color=MUTED, linewidth=0.8)
        residual.plot(fitted, student, "o", color=INK, markersize=5)
        residual.set_title("Studentised residuals")
        unit = analysis.study.spec.experience_unit
        tidy(residual, x=f"fitted experience ({unit})", grid="both")
        shown = sorted(subjects, key=lambda s: -np.nan_to_num(s.cooks_distance))[:_MOST_LABELS]
        for subject in shown:
            if np.isfinite(subject.studentized):
                residual.annotate(
                    subject.subject,
                    (subject.fitted, subject.studentized),
                    (5, 4),
                    textcoords="offset points",
                    color=MUTED,
                )
        distances = [subject.cooks_distance for subject in shown]
        cook.barh(range(len(shown)), distances, color=LINE, height=0.65)
        cook.set_yticks(range(len(shown)), [subject.subject for subject in shown])
        cook.invert_yaxis()
        cook.set_title("Cook's distance")
        tidy(cook, grid="x")
        for axes in (residual, cook):
            axes.patch.set_alpha(0)
    return figure


def agreement(analysis: ExperienceAnalysis) -> Figure | None:
    """Draw the judges' agreement as a heat map of Spearman correlations.

    A row is a pair of judges; where there are more than 15 pairs, a judge against all others.
    """
    found = analysis.findings.agreement
    if found is None or not found.pairs:
        return None
    labels, values = _agreement_matrix(analysis)
    with with_style():
        n_rows, n_columns = values.shape
        height = 1.15 + 0.26 * n_rows
        figure = Figure(figsize=(min(11.0, max(4.6, 2.2 + 0.62 * n_columns)), height))
        figure.patch.set_alpha(0)
        width = figure.get_figwidth()
        axes = figure.add_axes((1.5 / width, 0.62 / height, 1 - 1.65 / width, 1 - 0.95 / height))
        axes.imshow(values, cmap=_diverging(), vmin=-1, vmax=1, aspect="auto")
        problems = [*found.problems, "mean"]
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


def _agreement_matrix(analysis: ExperienceAnalysis) -> tuple[list[str], NDArray[np.float64]]:
    """Rows of correlations by problem, and, last, their mean."""
    found = analysis.findings.agreement
    assert found is not None  # noqa: S101  the caller has looked
    problems = list(found.problems)
    pairs = {(a, b) for _, a, b, *_ in found.pairs}
    by_pair = len(pairs) <= 15  # noqa: PLR2004  as many rows as fit
    cells: dict[str, list[list[float]]] = {}
    for problem, a, b, spearman, *_ in found.pairs:
        for label in [f"{a} and {b}"] if by_pair else [a, b]:
            row = cells.setdefault(label, [[] for _ in problems])
            row[problems.index(problem)].append(spearman)
    labels = sorted(cells) if by_pair else list(cells)
    values = np.array(
        [[_finite_mean(cell) for cell in cells[label]] for label in labels], dtype=float
    )
    mean = np.array([_finite_mean(row) for row in values.tolist()])
    if len(labels) > _MOST_ROWS:
        lowest = np.sort(np.argsort(mean, kind="stable")[:_MOST_ROWS])
        labels, values, mean = [labels[i] for i in lowest], values[lowest], mean[lowest]
    return labels, np.column_stack([values, mean])


def _finite_mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def _diverging():  # type: ignore[no-untyped-def]  # noqa: ANN202  a matplotlib colour map
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("agreement", [SYSTEMS[0], "#f1efe9", LINE])


def ranks(analysis: ExperienceAnalysis) -> Figure | None:
    """Draw how often each solver got each rank; the larger the dot, the more often."""
    found = analysis.findings
    if found.cells is None:
        return None
    averages = found.averages
    shown = [i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])]
    shown = sorted(shown, key=lambda i: averages.average[i])
    shown = [i for i in shown if averages.kinds[i] != "withheld"][: 2 * _MOST_ROWS]
    with with_style():
        height = 0.9 + 0.24 * len(shown)
        figure, axes = _figure(6.2, height)
        axes.set_position((1.5 / 6.2, 0.5 / height, 1 - 1.65 / 6.2, 1 - 0.85 / height))
        most = 1
        columns = []
        for solver in shown:
            values, counts = np.unique(
                found.cells.adjusted[found.cells.solver == solver], return_counts=True
            )
            columns.append((values, counts))
            most = max(most, int(counts.max()))
        colours = dict(zip([e.system for e in found.estimates], _colours(), strict=False))
        for row, (solver, (values, counts)) in enumerate(zip(shown, columns, strict=True)):
            colour = colours.get(averages.solvers[solver], LINE)
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
        axes.set_yticks(range(len(shown)), [_solver_label(analysis, i) for i in shown])
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_title("Ranks of each solver; the bar is the mean")
        tidy(axes, x="adjusted rank (1 = worst)", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.axhline(-0.6, color=GRID, linewidth=0.6)
    return figure


def _solver_label(analysis: ExperienceAnalysis, index: int) -> str:
    averages = analysis.findings.averages
    name = averages.solvers[index]
    if averages.kinds[index] == "subject":
        return f"{_short(name)} ({averages.experience[index]:g})"
    return _short(system_name(analysis, name))
