"""The figures of an experience study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.presentation.summary import averaged, equation, system_name
from quem.experience.wording import INTERVALS
from quem.report.drawing import (
    BAND,
    GRID,
    HALO,
    INK,
    INNER_BAND,
    LINE,
    MOST_LABELS,
    MOST_ROWS,
    MUTED,
    colors,
    heat_map,
    label_inches,
    one_axes,
    short,
    tidy,
    with_style,
)
from quem.wording import format_number, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.experience.influence import LeaveOneOut
    from quem.experience.result import ExperienceFindings

__all__ = [
    "FIGURES",
    "agreement",
    "estimate",
    "influence",
    "ranks",
    "sensitivity",
    "sensitivity_rows",
    "skill_function",
]

_MOST_NAMED = 5  # systems with their name beside their point; more stand in a list
_BARS = 0.07  # of the width, for the systems' intervals


def skill_function(findings: ExperienceFindings) -> Figure:
    """Draw the subjects and the skill function: Figure 2 of the paper."""
    with with_style():
        figure, axes = one_axes(6.2, 4.2)
        grid = _grid(findings)
        axes.plot(grid, findings.function.predict(grid), color=LINE, linewidth=2)
        _frame(axes, findings, grid)
        _subjects(axes, findings)
        if not findings.gate.passed:
            _positions(axes, findings)
        # An average of two curves is too long for one line.
        title = equation(findings).replace(") + ", ")\n+ ")
        axes.set_title(title, fontweight="normal", fontsize="small" if "\n" in title else None)
    return figure


def _positions(axes: Axes, findings: ExperienceFindings) -> None:
    """Where the systems are among the subjects, without years."""
    for system, color in zip(findings.estimates[:_MOST_NAMED], colors(), strict=False):
        axes.axvline(system.average_rank, color=color, linestyle="--", linewidth=1)
        axes.text(
            system.average_rank,
            0.98,
            f" {short(system_name(findings, system.system))}",
            color=color,
            va="top",
            transform=axes.get_xaxis_transform(),
        )


def estimate(findings: ExperienceFindings) -> Figure | None:
    """Draw the bands and each system's estimate to the axis: Figure 3 of the paper.

    Without years there is nothing to draw.
    """
    if not findings.gate.passed:
        return None
    listed = len(findings.estimates) > _MOST_NAMED
    with with_style():
        height = max(4.2, 1 + 0.17 * len(findings.estimates)) if listed else 4.2
        figure, axes = one_axes(*((9.0, height) if listed else (6.2, height)))
        grid = _grid(findings)
        _bands(axes, findings, grid)
        _frame(axes, findings, grid, bars=_BARS, right=2.95 if listed else 0.15)
        _subjects(axes, findings)
        for at, (system, color) in enumerate(zip(findings.estimates, colors(), strict=False)):
            _lead_to_axis(axes, findings, system, at, color)
            name = short(system_name(findings, system.system))
            if listed:
                _number(axes, system, at + 1, color)
                text, y = (
                    f"{at + 1}  {name}: {_estimate_text(system)}",
                    1 - at * 0.17 / (height - 0.85),
                )
                axes.text(1.03, y, text, color=color, va="top", transform=axes.transAxes)
            else:
                _name(axes, findings, system, f"{name}  {_estimate_text(system)}", color)
        rising = _rising(findings)
        anchor = (_BARS + 0.02, 1.0) if rising else (1.0, 1.0)
        axes.legend(loc="upper left" if rising else "upper right", bbox_to_anchor=anchor)
    return figure


def _grid(findings: ExperienceFindings) -> NDArray[np.float64]:
    """Average ranks from a little below the lowest to a little above the highest."""
    x = np.concatenate([findings.function.x, [e.average_rank for e in findings.estimates]])
    margin = 0.06 * float(np.ptp(x))
    low = float(x.min()) - margin
    if findings.function.form.positive:
        low = max(low, 0.5 * float(x.min()))
    return np.linspace(low, float(x.max()) + margin, 101)


def _bands(axes: Axes, findings: ExperienceFindings, grid: NDArray[np.float64]) -> None:
    """The skill function, where a human peer would be, and where the mean of such people is."""
    function = findings.function
    middle = function.predict(grid)
    level = format_percent(findings.settings.level)
    for kind, color in (("prediction", BAND), ("mean", INNER_BAND)):
        of = function.predictive(grid, mean=kind == "mean")
        low, high = of.interval(findings.settings.level).T
        label = f"{level} {INTERVALS[kind]}"
        axes.fill_between(grid, low, high, color=color, linewidth=0, label=label)
    axes.plot(grid, middle, color=LINE, linewidth=2, label="skill function")


def _rising(findings: ExperienceFindings) -> bool:
    first, last = findings.function.predict(
        np.array([findings.function.x.min(), findings.function.x.max()])
    )
    return bool(last >= first)


def _subjects(axes: Axes, findings: ExperienceFindings) -> None:
    """The subjects, each with its name on the side away from the line."""
    function = findings.function
    names = [findings.averages.solvers[i] for i in findings.averages.of_kind("subject")]
    axes.plot(function.x, function.y, "o", color=INK, markersize=5, label="subjects")
    if len(names) > MOST_LABELS:
        return
    over = function.y >= function.predict(function.x)
    rising = _rising(findings)
    for name, x, y, above in zip(names, function.x, function.y, over, strict=True):
        left = above == rising
        axes.annotate(
            short(name),
            (x, y),
            (-5 if left else 5, 4 if above else -10),
            textcoords="offset points",
            color=MUTED,
            ha="right" if left else "left",
            bbox=HALO,
            zorder=3,
        )


def _estimate_text(system: Estimate) -> str:
    """The estimate as the headline says it."""
    lead = {"above": "at least ", "below": "at most "}.get(system.side, "")
    return f"{lead}{format_number(system.bound if lead else system.experience)}"


def _lead_to_axis(
    axes: Axes, findings: ExperienceFindings, system: Estimate, at: int, color: str
) -> None:
    """Dashed from the average rank over the line to the experience, and a bar for the interval."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    x, y = system.average_rank, system.experience
    axes.plot([x, x, left], [bottom, y, y], color=color, linewidth=1.2, linestyle="--")
    axes.plot([x], [y], "D", color=color, markersize=6)
    ends = {"above": (system.bound, top), "below": (bottom, system.bound)}.get(
        system.side, system.prediction
    )
    step = min(0.019, _BARS / (len(findings.estimates) + 0.5))
    bar = left + (right - left) * step * (at + 0.75)
    axes.plot([bar, bar], ends, color=color, linewidth=min(3.5, 200 * step), alpha=0.85)


def _name(
    axes: Axes, findings: ExperienceFindings, system: Estimate, text: str, color: str
) -> None:
    """A system's name where neither the line nor the dashes strike it through."""
    on_left = system.average_rank > sum(axes.get_xlim()) / 2
    over = on_left == _rising(findings)
    axes.annotate(
        text,
        (system.average_rank, system.experience),
        (-9 if on_left else 8, 6 if over else -13),
        textcoords="offset points",
        color=color,
        fontweight="bold",
        ha="right" if on_left else "left",
        bbox=HALO,
    )


def _number(axes: Axes, system: Estimate, at: int, color: str) -> None:
    axes.annotate(
        f"{at}",
        (system.average_rank, system.experience),
        (0, 6 if at % 2 else -13),
        textcoords="offset points",
        color=color,
        fontweight="bold",
        ha="center",
        bbox=HALO,
    )


def _frame(
    axes: Axes,
    findings: ExperienceFindings,
    grid: NDArray[np.float64],
    *,
    bars: float = 0.0,
    right: float = 0.15,
) -> None:
    """Label the axes, leave room for the bars, and keep wide bands from squeezing the data."""
    ends = [
        e.prediction if e.side == "inside" else (e.bound, e.experience) for e in findings.estimates
    ]
    years = np.concatenate([findings.function.y, [0], *ends])
    years = years[np.isfinite(years)]
    span = float(np.ptp(years)) or 1.0
    low, high = float(grid[0]), float(grid[-1])
    axes.set_xlim(low - bars * (high - low), high)
    axes.set_ylim(float(years.min()) - 0.04 * span, float(years.max()) + 0.08 * span)
    label = averaged(findings)
    unit = short(findings.study.spec.experience_unit, 40)
    tidy(axes, x=f"{label} (higher is better)", y=f"experience ({unit})", grid="both")
    # Wide numbers must not push the label off the figure.
    ticks = axes.yaxis.get_major_formatter().format_ticks(list(axes.get_yticks()))
    place, width = axes.get_position(), axes.get_figure().get_figwidth()  # type: ignore[union-attr]
    left = (0.27 + label_inches(ticks)) / width
    axes.set_position((left, place.y0, 1 - left - right / width, place.height))


_ACROSS = 3
_MOST_PANELS = 6
_ROW = 0.185  # inches
Row = tuple[str, dict[str, tuple[float, float, float]]]


def sensitivity(findings: ExperienceFindings) -> Figure | None:
    """Draw the estimates without each judge, subject and problem, and by other settings.

    None where there is no system, or where the data allow no years.
    """
    if not findings.gate.passed:
        return None
    n_panels = min(len(findings.estimates), _MOST_PANELS)
    if not n_panels:
        return None
    across = min(n_panels, _ACROSS)
    down = -(-n_panels // across)
    rows, notes = sensitivity_rows(findings, MOST_ROWS if down == 1 else MOST_ROWS // 3)
    if n_panels < len(findings.estimates):
        notes.append(f"the first {n_panels} of {len(findings.estimates)} systems")
    labels = [short(label, 30) for label, _ in rows]
    with with_style():
        left, below = label_inches(labels), 0.45 + 0.19 * len(notes)
        width = left + max(3.0, 2.3 * across) + 0.12
        height = down * (0.75 + _ROW * len(rows)) + 0.19 * len(notes)
        figure = Figure(figsize=(width, height))
        panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
        figure.subplots_adjust(
            left=left / width,
            right=1 - 0.12 / width,
            top=1 - 0.3 / height,
            bottom=below / height,
            hspace=0.75 / (_ROW * len(rows)),
        )
        for axes in panels[n_panels:]:
            axes.set_visible(False)
        for index, (axes, color) in enumerate(zip(panels[:n_panels], colors(), strict=False)):
            axes.set_yticks(range(len(rows)), labels)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            tidy(axes, x=findings.study.spec.experience_unit, grid="x")
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            _forest(axes, findings, rows, index, color)
        for line, note in enumerate(reversed(notes)):
            figure.text(0.08 / width, (0.06 + 0.19 * line) / height, f"Shown: {note}.", color=MUTED)
    return figure


def _forest(
    axes: Axes, findings: ExperienceFindings, rows: list[Row], index: int, color: str
) -> None:
    """One system's column: a point and its interval in each row, the headline behind."""
    system = findings.estimates[index].system
    points = np.array([values.get(system, (np.nan,) * 3) for _, values in rows])
    left, right = _limits(points)
    axes.set_xlim(left, right)
    axes.axvline(points[0, 0], color=color, linewidth=0.8, linestyle="--")
    for at, (middle, *ends) in enumerate(points):
        ink = color if at == 0 else INK
        if not np.isfinite(middle):
            axes.text((left + right) / 2, at, "no estimate", color=MUTED, ha="center", va="center")
            continue
        bounded = bool(np.isfinite(ends).all())
        low, high = ends if bounded else (-np.inf, np.inf)
        style = "-" if bounded else ":"
        axes.plot(
            np.clip([low, high], left, right),
            [at, at],
            style,
            color=ink,
            linewidth=2.2 if at == 0 else 1.1,
        )
        # An arrow where the interval goes on beyond the axis.
        for beyond, end, arrow in ((low < left, left, "<"), (high > right, right, ">")):
            if beyond:
                axes.plot([end], [at], arrow, color=ink, markersize=5, clip_on=False)
        axes.plot([middle], [at], "D" if at == 0 else "o", color=ink, markersize=5 - (at > 0))
        off = middle < left or middle > right
        if off or not bounded:
            _remark(
                axes, at, f"{format_number(middle)}" if off else "unbounded", low_side=middle > left
            )
    axes.set_title(short(system_name(findings, system)), color=color)


def _limits(points: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of the axis: an unruly row must not squeeze all others into a line."""
    known = points[np.isfinite(points)]
    middle, low, high = points[0]
    width = high - low if high - low > 0 else float(np.ptp(known)) or 1.0
    left, right = max(known.min(), middle - 2.5 * width), min(known.max(), middle + 2.5 * width)
    return float(left - 0.05 * width), float(right + 0.05 * width)


def _remark(axes: Axes, at: int, text: str, *, low_side: bool) -> None:
    """Write into a row, near an end of the axis."""
    axes.text(
        0.97 if low_side else 0.03,
        at - 0.05,
        text,
        transform=axes.get_yaxis_transform(),
        color=MUTED,
        fontsize=7,
        ha="right" if low_side else "left",
        va="bottom",
    )


def sensitivity_rows(
    findings: ExperienceFindings, most: int = MOST_ROWS
) -> tuple[list[Row], list[str]]:
    """Rows of the sensitivity figure, and notes on what was left out of them.

    Parameters
    ----------
    most : int
        Of the judges, subjects, and problems; where there are more than half of this, only a
        quarter of it is shown of each.

    Returns
    -------
    rows : list of (str, dict)
        A label, and by system the estimate and its ends.
    notes : list of str
    """
    rows: list[Row] = [
        ("headline", {e.system: (e.experience, *e.prediction) for e in findings.estimates})
    ]
    notes = []
    for what, left_out in (
        ("judges", findings.judges),
        ("subjects", findings.subjects),
        ("problems", findings.problems),
    ):
        group = _group(left_out)
        if len(group) > most // 2:
            notes.append(f"the {most // 4} of {len(group):,} {what} that matter most")
            group = _weightiest(group, left_out, most // 4)
        rows += [(f"without {name}", row) for name, row in group.items()]
    if findings.recognized:
        group = _group(findings.recognized.estimates)
        rows += [(f"without {name}", row) for name, row in group.items()]
    settings: dict[str, dict[str, tuple[float, float, float]]] = {}
    for v in findings.variants:
        settings.setdefault(v.label, {})[v.system] = (v.estimate, v.low, v.high)
    rows += settings.items()
    if findings.bootstrap:
        middle = {e.system: e.experience for e in findings.estimates}
        ends = findings.bootstrap.intervals.items()
        rows.append(("bootstrap", {system: (middle[system], *end) for system, end in ends}))
    return rows, notes


def _group(left_out: tuple[LeaveOneOut, ...]) -> dict[str, dict[str, tuple[float, float, float]]]:
    group: dict[str, dict[str, tuple[float, float, float]]] = {}
    for left in left_out:
        group.setdefault(left.id, {})[left.system] = (left.estimate, left.low, left.high)
    return group


def _weightiest(
    group: dict[str, dict[str, tuple[float, float, float]]],
    left_out: tuple[LeaveOneOut, ...],
    most: int,
) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Those whose absence moves an estimate most, or leaves none."""
    change = dict.fromkeys(group, 0.0)
    for left in left_out:
        moved = abs(left.change) if np.isfinite(left.change) else np.inf
        change[left.id] = max(change[left.id], moved)
    names = sorted(change, key=lambda name: -change[name])[:most]
    return {name: row for name, row in group.items() if name in names}


def influence(findings: ExperienceFindings) -> Figure:
    """Draw the subjects' studentized residuals and Cook's distances."""
    subjects = findings.diagnostics
    shown = sorted(subjects, key=lambda s: -np.nan_to_num(s.cooks_distance))[:MOST_LABELS]
    names = [short(subject.subject, 16) for subject in shown]
    with with_style():
        figure = Figure(figsize=(7.4, 3.1))
        residual, cook = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.075, right=0.99, top=0.9, bottom=0.15)
        figure.subplots_adjust(wspace=(0.35 + label_inches(names)) / 3.0)
        residual.axhspan(-2, 2, color=BAND, linewidth=0)
        residual.axhline(0, color=MUTED, linewidth=0.8)
        student = [subject.studentized for subject in subjects]
        residual.plot([s.fitted for s in subjects], student, "o", color=INK, markersize=5)
        residual.set_title("Studentized residuals")
        tidy(residual, x=f"fitted experience ({findings.study.spec.experience_unit})", grid="both")
        for subject, name in zip(shown, names, strict=True):
            if np.isfinite(subject.studentized):
                at = (subject.fitted, subject.studentized)
                residual.annotate(name, at, (5, 4), textcoords="offset points", color=MUTED)
        cook.barh(range(len(shown)), [s.cooks_distance for s in shown], color=LINE, height=0.65)
        cook.set_yticks(range(len(shown)), names)
        cook.invert_yaxis()
        cook.set_title("Cook's distance")
        tidy(cook, grid="x")
    return figure


def agreement(findings: ExperienceFindings) -> Figure | None:
    """Draw the judges' agreement as a heat map of Spearman correlations.

    A row is a pair of judges; where there are more than 15 pairs, a judge against all others.
    """
    judged = findings.agreement
    if judged is None or not judged.pairs:
        return None
    labels, values, title = _agreement_matrix(findings)
    columns = [short(problem, 12) for problem in (*judged.problems, "mean")]
    return heat_map(labels, columns, values, title)


def _agreement_matrix(findings: ExperienceFindings) -> tuple[list[str], NDArray[np.float64], str]:
    """Rows of correlations by problem and, last, their mean; and what the rows are."""
    judged = findings.agreement
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


def ranks(findings: ExperienceFindings) -> Figure | None:
    """Draw how often each solver got each rank; the larger the dot, the more often."""
    if findings.cells is None:
        return None
    averages = findings.averages
    shown = [i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])]
    shown = sorted(shown, key=lambda i: averages.average[i])
    shown = [i for i in shown if averages.kinds[i] != "withheld"][: 2 * MOST_ROWS]
    labels = [_solver_label(findings, i) for i in shown]
    with with_style():
        left = label_inches(labels)
        figure, axes = one_axes(left + 4.7, 0.9 + 0.24 * len(shown), left=left)
        columns = [
            np.unique(findings.cells.adjusted[findings.cells.solver == solver], return_counts=True)
            for solver in shown
        ]
        most = max((int(counts.max()) for _, counts in columns), default=1)
        of_system = dict(zip([e.system for e in findings.estimates], colors(), strict=False))
        for row, (solver, (values, counts)) in enumerate(zip(shown, columns, strict=True)):
            color = of_system.get(averages.solvers[solver], LINE)
            axes.scatter(
                values,
                [row] * len(values),
                s=12 + 110 * counts / most,
                color=color,
                alpha=0.45,
                linewidths=0,
            )
            mean = float(np.average(values, weights=counts))
            axes.plot([mean, mean], [row - 0.36, row + 0.36], color=INK, linewidth=2)
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(-0.6, len(shown) - 0.4)
        within = " within blocks" if findings.cells.is_blocked else ""
        axes.set_title(f"Ranks of each solver{within}; the bar is the mean")
        tidy(axes, x=f"adjusted rank{within} (1 = worst)", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.axhline(-0.6, color=GRID, linewidth=0.6)
    return figure


def _solver_label(findings: ExperienceFindings, index: int) -> str:
    averages = findings.averages
    name = averages.solvers[index]
    if averages.kinds[index] == "subject":
        return f"{short(name)} ({averages.experience[index]:g})"
    return short(system_name(findings, name))


# By file stem.
FIGURES: Mapping[str, Callable[[ExperienceFindings], Figure | None]] = {
    "skill-function": skill_function,
    "estimate": estimate,
    "sensitivity": sensitivity,
    "influence": influence,
    "agreement": agreement,
    "ranks": ranks,
}
