"""How solutions got their places: by which way, how sure the judges were, in which order met."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.ranks import adjusted_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from quem.experience.cells import RankCells
    from quem.rankings.table import Placement

WAYS = ("compare", "drag", "menu", "key")
SURE = ("unsure", "fairly", "sure")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Placed:
    """The places that came about in one way, or of which judges were equally sure."""

    level: str | None  # the way, or how sure; None where the judge's page did not say it
    n: int
    share: float  # of all places
    n_compared: int  # places that can be compared with another judge's order
    same_order: float  # mean of `same_order` over these; NaN where there are none


@dataclass(frozen=True)
class Answered:
    """The answers to "which is better?"."""

    n: int
    share_equal: float  # the share of "equally good"
    share_left: float  # the share of questions in which the new solution stood left


@dataclass(frozen=True)
class QueueSlope:
    """By how many ranks a solution comes out higher for each place later in the queue."""

    slope: float
    standard_error: float
    df: int
    p: float  # of the two-sided t test of no slope; NaN where nothing is left to estimate the noise
    n: int


@dataclass(frozen=True)
class Placing:
    """How the solutions of a judging session got their places."""

    # One for each level that occurs
    ways: tuple[Placed, ...]
    sure: tuple[Placed, ...]
    answers: Answered | None  # none where nobody compared solutions
    queue: QueueSlope | None  # none where it cannot be estimated, such as with one judge


def placing(cells: RankCells, placements: Sequence[Placement]) -> Placing | None:
    """Describe how places came about, and whether that goes with agreement."""
    if not placements:
        return None
    rows = np.flatnonzero(cells.judged())
    of_task = {(p.judge, p.problem, p.block, p.occasion): p for p in placements}
    tasks = list(_tasks(cells, rows))
    known = [(of_task.get(task), cells.solvers[cells.solver[row]]) for task, row in tasks]
    ways = [p.placed_by.get(solver) if p else None for p, solver in known]
    sure = [p.sure.get(solver) if p else None for p, solver in known]
    position = np.array([p.position(solver) if p else np.nan for p, solver in known])
    alike = same_order(cells, rows)
    counted = {task for task, _ in tasks}
    answers = [a for task, p in of_task.items() if task in counted for a in p.answers]
    placed = np.flatnonzero(np.isfinite(position))
    met = rows[placed]
    return Placing(
        tuple(_levels(WAYS, ways, alike)),
        tuple(_levels(SURE, sure, alike)) if any(sure) else (),
        _answered(answers),
        queue_slope(
            cells.problem[met] * len(cells.solvers) + cells.solver[met],
            cells.group[met],
            position[placed],
            adjusted_ranks(cells.group[rows], cells.given[rows])[0][placed],
        ),
    )


def _tasks(
    cells: RankCells, rows: NDArray[np.int64]
) -> Iterator[tuple[tuple[str, str, int, int], int]]:
    for row in rows.tolist():
        judge, problem = cells.judges[cells.judge[row]], cells.problems[cells.problem[row]]
        yield (judge, problem, int(cells.block[row]), int(cells.occasion[row])), row


def _levels(
    levels: tuple[str, ...], values: list[str | None], alike: NDArray[np.float64]
) -> Iterator[Placed]:
    counts = Counter(values)
    for level in (*levels, None):
        if counts[level]:
            own = alike[[value == level for value in values]]
            own = own[np.isfinite(own)]
            mean = float(own.mean()) if len(own) else np.nan
            yield Placed(level, counts[level], counts[level] / len(values), len(own), mean)


def _answered(answers: list[tuple[str, str]]) -> Answered | None:
    if not answers:
        return None
    verdicts, sides = (Counter(words) for words in zip(*answers, strict=True))
    count = len(answers)
    return Answered(count, verdicts["equal"] / count, sides["left"] / count)


def same_order(cells: RankCells, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Say for each place how far other judges agree with it.

    It is the share of the pairs of the solution with another one of its task that other judges
    order, or tie, alike, over all pairs and all judges who ranked both of a pair together.

    Shapes: `rows` (k,).
    """
    shares = np.full(len(rows), np.nan)
    for problem in np.unique(cells.problem[rows]):
        here = np.flatnonzero(cells.problem[rows] == problem)
        solver = np.unique(cells.solver[rows[here]], return_inverse=True)[1]
        group = np.unique(cells.group[rows[here]], return_inverse=True)[1]
        lists = [np.flatnonzero(group == number) for number in range(group.max() + 1)]
        judge = cells.judge[rows[here]]
        given = cells.given[rows[here]]
        own = {j: [one for one in lists if judge[one[0]] == j] for j in np.unique(judge).tolist()}
        size = int(solver.max()) + 1
        # How often others order each pair: first worse, both equal, first better.
        counts = np.zeros((3, size, size), dtype=np.int32)
        for mine in own.values():
            _count(counts, mine, solver, given, 1)
        for mine in own.values():
            _count(counts, mine, solver, given, -1)
            for one in mine:
                others = counts[:, solver[one][:, np.newaxis], solver[one]]
                alike = np.choose(_signs(given[one]), others).sum(axis=1)
                with np.errstate(invalid="ignore"):
                    shares[here[one]] = alike / others.sum(axis=(0, 2))
            _count(counts, mine, solver, given, 1)
    return shares


def _signs(given: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whether the first of a pair is worse (0), equal (1), or better (2)."""
    return np.sign(given[:, np.newaxis] - given).astype(np.int64) + 1


def _count(
    counts: NDArray[np.int32],
    lists: list[NDArray[np.int64]],
    solver: NDArray[np.int64],
    given: NDArray[np.float64],
    weight: int,
) -> None:
    """Add how some lists order each pair of solvers; no solver makes a pair with itself."""
    for one in lists:
        first, second = np.meshgrid(solver[one], solver[one], indexing="ij")
        np.add.at(counts, (_signs(given[one]), first, second), weight * (first != second))


def queue_slope(
    solution: NDArray[np.int64],
    ballot: NDArray[np.int64],
    position: NDArray[np.float64],
    rank: NDArray[np.float64],
) -> QueueSlope | None:
    r"""Regress ranks on the places in which judges met the solutions.

    The model is :math:`r = \alpha_{solution} + \gamma_{ballot} + \beta\,position + \varepsilon`,
    by ordinary least squares: position and rank enter as deviations from what solution and
    ballot explain. Each ballot has a parameter, since its ranks always have the same sum; without
    it, the standard error would be too small.

    Shapes: `solution`, `ballot` (n,); `position` (n,); `rank` (n,).
    """
    # They take a while to load, and few studies need them.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.stats import t

    n = len(rank)
    columns = [np.unique(codes, return_inverse=True)[1] for codes in (solution, ballot)]
    if not n:
        return None
    n_solutions = int(columns[0].max()) + 1
    width = n_solutions + int(columns[1].max()) + 1
    place = np.concatenate([columns[0], columns[1] + n_solutions])
    design = csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), place)), shape=(n, width))
    # Of each part that hangs together, one parameter follows from the others.
    parts, _ = connected_components(design.T @ design, directed=False)
    df = n - (width - parts) - 1
    x, y = (_beyond(design, values) for values in (position, rank))
    spread = float(x @ x)
    if df < 1 or spread <= _ROUNDING * n:
        return None
    slope = float(x @ y) / spread
    noise = float(((y - slope * x) ** 2).sum())
    error = np.sqrt(noise / df / spread)
    p = 2 * float(t.sf(abs(slope) / error, df)) if noise > _ROUNDING * n else np.nan
    return QueueSlope(slope, float(error), df, p, n)


def _beyond(design: csr_array[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the residuals of the least-squares fit on a sparse design."""
    from scipy.sparse.linalg import lsmr

    fitted = lsmr(design, values, atol=1e-13, btol=1e-13, conlim=0, maxiter=10_000)[0]
    return np.asarray(values - design @ fitted)
