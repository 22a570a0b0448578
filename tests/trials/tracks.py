"""Simulated versions between sessions of experts: how often their intervals cover, how wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    # Studies, intervals that cover, and the median half-width, by way and cell.
    Cell = dict[str, list[float]]
    Cells = dict[str, Cell]

VERSIONS = (2, 3, 4, 6, 10)
# Percentage points.
_MOST_OFF, _MOST_OFF_MEAN = 2.5, 0.5
_SUBJECTS, _EXPERTS = 12, 2
_YEARS = np.linspace(1, 12, _SUBJECTS)
_LIKING, _OF_PERSONS, _ERROR = 2.0, 0.7, 1.0


class Course(NamedTuple):
    """The noise of studies, how unsteady the machine's liking is, and what the table says."""

    person: float
    solution: float
    judge: float
    taste: float
    unsteady: float  # standard deviation of the machine's liking from version to version, in years
    # Percent that those of tracked versions are to cover, by calibrated versions.
    expected: dict[int, float]
    experts: float | None = None  # percent that the intervals of experts are to cover
    problems: int = 12
    slope: float = 1.0  # how much of a solution's quality the machine sees


def _low(unsteady: float, *expected: float) -> Course:
    return Course(1, 1, 1, 0.5, unsteady, dict(zip(VERSIONS, expected, strict=False)), 94.0)


COURSES = {
    "people differ, 0": _low(0, 96.7, 96.9, 96.9, 96.2, 96.6),
    "people differ, 0.5": _low(0.5, 96.1, 96.5, 96.7, 96.1, 96.4),
    "people differ, 1": _low(1, 94.7, 95.2, 96.2, 95.5, 96.1),
    "people differ, 2": _low(2, 90.5, 94.0, 94.5, 94.5, 95.7),
    "people differ, 3": _low(3, 88.8, 93.1, 94.2, 94.8, 95.7),
    "much noise, 0": Course(2, 2, 2, 1, 0, {3: 98.1, 4: 97.9, 6: 97.9}, 96.5),
    "much noise, 2": Course(2, 2, 2, 1, 2, {3: 97.1, 4: 96.7, 6: 96.5}, 96.5),
    "people alike, 0.5": Course(0.3, 2, 2, 0.5, 0.5, {3: 97.1, 4: 98.1, 6: 98.7}, 95.5),
    "people alike, 2": Course(0.3, 2, 2, 0.5, 2, {3: 93.1, 4: 95.1, 6: 95.9}, 95.5),
    "four problems, 0.5": Course(1, 1, 1, 0.5, 0.5, {3: 96.3, 6: 97.1}, problems=4),
    "half the slope, 0.5": Course(1, 1, 1, 0.5, 0.5, {3: 94.3, 6: 96.5}, slope=0.5),
    "useless, 0.5": Course(1, 1, 1, 0.5, 0.5, {3: 92.1, 6: 95.9}, slope=0.0),
}


class Drawn(NamedTuple):
    """Average ranks among the people, by experts and by the machine, of b studies."""

    # Of shape (b, subjects + versions + 1): subjects, calibrated versions, and the new one
    experts: Floats
    machine: Floats
    truth: Floats  # of shape (b,): experience of the new one


def draw(course: Course, versions: int, studies: int, rng: np.random.Generator) -> Drawn:
    """Simulate studies in which the versions are located among the people."""
    n = _SUBJECTS + versions + 1
    years = np.broadcast_to(_YEARS, (studies, _SUBJECTS))
    of_versions = rng.uniform(1, 12, (studies, versions + 1))
    quality = np.concatenate([years, of_versions], axis=1)
    quality = quality + rng.normal(0, course.person, (studies, n))
    made = quality[:, np.newaxis] + rng.normal(0, course.solution, (studies, course.problems, n))
    seen = made[:, np.newaxis] + rng.normal(
        0, course.judge, (studies, _EXPERTS, course.problems, n)
    )
    seen += rng.normal(0, course.taste, (studies, _EXPERTS, 1, n))
    liking = rng.normal(0, _OF_PERSONS, (studies, 1, n))
    liking[..., _SUBJECTS:] = _LIKING + rng.normal(0, course.unsteady, (studies, 1, versions + 1))
    judged = course.slope * made + liking + rng.normal(0, _ERROR, made.shape)
    return Drawn(located(seen).mean(axis=(1, 2)), located(judged).mean(axis=1), of_versions[:, -1])


def located(seen: Floats) -> Floats:
    """Rank the people among themselves along the last axis, and place each version among them."""
    below = np.zeros(seen.shape)
    for person in range(_SUBJECTS):
        below += seen[..., person, np.newaxis] < seen
    below[..., _SUBJECTS:] *= (_SUBJECTS - 1) / _SUBJECTS
    return 1 + below


class Intervals(NamedTuple):
    """Estimates of the new version, and halves of their 95% intervals, shape (b,) each."""

    experts: tuple[Floats, Floats]
    machine: tuple[Floats, Floats]
    track: tuple[Floats, Floats]
    # Whether it is where calibrated versions and people are, so that years are given.
    is_near: NDArray[np.bool_]


class _Lines(NamedTuple):
    mean: Floats
    spread: Floats
    slope: Floats
    variance: Floats

    def years(self, x: Floats) -> Floats:
        return np.asarray(_YEARS.mean() + self.slope * (x - self.mean))

    def peer(self, x: Floats) -> Floats:
        """Give the variance of a peer with these averages."""
        off = x - self.mean
        return np.asarray(self.variance * (1 + 1 / _SUBJECTS + off**2 / self.spread))

    def of_years(self, years: Floats) -> Floats:
        """Give the averages that have these years."""
        return np.asarray(self.mean + (years - _YEARS.mean()) / self.slope)


def _lines(x: Floats) -> _Lines:
    off = x[:, :_SUBJECTS] - x[:, :_SUBJECTS].mean(axis=1, keepdims=True)
    spread = (off**2).sum(axis=1, keepdims=True)
    slope = (off @ (_YEARS - _YEARS.mean()))[:, np.newaxis] / spread
    rest = _YEARS - _YEARS.mean() - slope * off
    variance = (rest**2).sum(axis=1, keepdims=True) / (_SUBJECTS - 2)
    return _Lines(x[:, :_SUBJECTS].mean(axis=1, keepdims=True), spread, slope, variance)


def intervals(drawn: Drawn) -> Intervals:
    """Compute the formulas of `quem.machines.track` of all studies at once."""
    h, m = _lines(drawn.experts), _lines(drawn.machine)
    of_people = float(stdtrit(_SUBJECTS - 2, 0.975))
    calibrated = slice(_SUBJECTS, -1)
    differences = h.years(drawn.experts[:, calibrated]) - m.years(drawn.machine[:, calibrated])
    n_versions = differences.shape[1]
    own = m.years(drawn.machine[:, -1:])
    years = own + differences.mean(axis=1, keepdims=True)
    v1 = h.peer(h.of_years(years))
    v2 = differences.var(axis=1, ddof=1, keepdims=True) * (1 + 1 / n_versions)
    df = (v1 + v2) ** 2 / (v1**2 / (_SUBJECTS - 2) + v2**2 / (n_versions - 1))
    half = stdtrit(df, 0.975) * np.sqrt(v1 + v2)
    by_experts = h.years(drawn.experts[:, -1:])
    of_experts = of_people * np.sqrt(h.peer(drawn.experts[:, -1:]))
    of_machine = of_people * np.sqrt(m.peer(drawn.machine[:, -1:]))
    before, new = drawn.machine[:, calibrated], drawn.machine[:, -1]
    room = np.ptp(before, axis=1) / 2
    is_near = (new >= before.min(axis=1) - room) & (new <= before.max(axis=1) + room)
    is_near &= new < drawn.machine[:, :_SUBJECTS].max(axis=1)
    is_near &= (years[:, 0] >= _YEARS.min()) & (years[:, 0] <= _YEARS.max())
    return Intervals(
        (by_experts[:, 0], of_experts[:, 0]),
        (own[:, 0], of_machine[:, 0]),
        (years[:, 0], half[:, 0]),
        is_near,
    )


def cells(studies: int, rng: np.random.Generator) -> Cells:
    """Simulate every cell that the method's table has."""
    return {
        f"{name}: {versions} versions": _cell(course, versions, studies, rng)
        for name, course in COURSES.items()
        for versions in course.expected
    }


def _cell(course: Course, versions: int, studies: int, rng: np.random.Generator) -> Cell:
    """Simulate a cell.

    Beside the experts', the machine's alone, and the tracked ones, those tracked ones that are
    given as years (``kept``), and of all those at most twice as wide as the experts' (``narrow``),
    which nobody must choose.
    """
    drawn = draw(course, versions, studies, rng)
    found = intervals(drawn)
    everywhere = np.ones(studies, dtype=bool)
    ways = {
        "experts": (found.experts, everywhere),
        "machine": (found.machine, everywhere),
        "track": (found.track, everywhere),
        "kept": (found.track, found.is_near),
        "narrow": (found.track, found.track[1] <= 2 * found.experts[1]),
    }
    return {
        way: [
            float(those.sum()),
            float((np.abs(years - drawn.truth) <= half)[those].sum()),
            float(np.median(half[those])) if those.any() else 0.0,
        ]
        for way, ((years, half), those) in ways.items()
    }


def _pooled(results: Sequence[Cells]) -> dict[str, dict[str, tuple[float, float]]]:
    """Give percent covered, and the mean over trials of the median half-width."""
    pooled = {}
    for name, cell in results[0].items():
        sums = {way: np.sum([cells[name][way] for cells in results], axis=0) for way in cell}
        pooled[name] = {
            way: (100 * covered / max(n, 1.0), width / len(results))
            for way, (n, covered, width) in sums.items()
        }
    return pooled


def missed(results: Sequence[Cells]) -> list[str]:
    """Say which cells are not as the method's table has them."""
    off, found = [], []
    for name, cell in _pooled(results).items():
        course_name, _, of = name.rpartition(": ")
        course = COURSES[course_name]
        wanted = {"track": course.expected[int(of.split()[0])], "experts": course.experts}
        for way, expected in wanted.items():
            if expected is None:
                continue
            covered = cell[way][0]
            off.append(covered - expected)
            if abs(off[-1]) > _MOST_OFF:
                found.append(f"{name}: {way} covers {covered:.1f}, not {expected}")
    if abs(np.mean(off)) > _MOST_OFF_MEAN:
        found.append(f"coverage of tracked versions is {np.mean(off):+.2f} points off in the mean")
    return found


def table(results: Sequence[Cells]) -> str:
    """Write the coverage and half-width of each cell in Markdown."""
    pooled = _pooled(results)
    lines = [
        f"| noise, liking | experts | {' | '.join(f'V = {v}' for v in VERSIONS)} | machine alone |",
        "|---|---|" + "---|" * (len(VERSIONS) + 1),
    ]
    for name, course in COURSES.items():
        own = {v: pooled[f"{name}: {v} versions"] for v in course.expected}
        first = next(iter(own.values()))
        tracked = [f"{_pair(own[v]['track'])}" if v in own else "" for v in VERSIONS]
        cells = [name, _pair(first["experts"]), *tracked, f"{first['machine'][0]:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _pair(cell: tuple[float, float]) -> str:
    return f"{cell[0]:.1f}, ± {cell[1]:.2f}"
