"""The bootstrap: how the estimates scatter when judges, problems, and subjects are resampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.batch import fit_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.skill import SkillForm

_FEWEST_AVERAGES = 3
_MOST_CELLS = 20_000_000
_BATCH = 1_000_000


@dataclass(frozen=True)
class Bootstrap:
    """How the estimates scatter when judges, problems, and subjects are resampled.

    A sensitivity figure: as an interval it covers too little (METHOD of the package docs).
    """

    # Drawn, and of them discarded for fewer than 3 different averages
    replicates: int
    discarded: int
    intervals: dict[str, tuple[float, float]]  # percentile interval of each system's estimate
    spread: dict[str, float]  # standard deviation of each system's estimate
    # Whether judges and problems were taken to add up, without their interaction.
    approximate: bool = False


def bootstrap(
    cells: RankCells,
    experience: NDArray[np.float64],
    form: SkillForm,
    *,
    replicates: int,
    level: float,
    seed: int,
) -> Bootstrap | None:
    """Draw judges, problems, and subjects with replacement, and estimate each system again.

    A solver left without ranks is dropped from that replicate; a replicate with fewer than
    3 different averages is discarded and counted.

    Shapes: `experience` (n_solvers,).
    """
    subjects = np.flatnonzero(cells.of_kind("subject"))
    systems = np.flatnonzero(cells.of_kind("system"))
    subjects = subjects[np.isin(subjects, cells.solver)]
    solvers = np.concatenate([subjects, systems])
    large = len(cells.judges) * len(cells.problems) * len(solvers) > _MOST_CELLS
    table = _main_effects(cells, solvers) if large else _tensor(cells, solvers)
    if table is None:
        return None
    n_judges, n_problems = (len(table[0]), len(table[1])) if large else table[0].shape[:2]
    longer, shorter = max(n_judges, n_problems), min(n_judges, n_problems)
    by_problem = not large and n_problems > n_judges
    if by_problem:
        total, count = table
        table = (total.swapaxes(0, 1).copy(), count.swapaxes(0, 1).copy())
    average_of = _added_effects if large else _averages
    rng = np.random.default_rng(seed)
    predictions, discarded = [], 0
    step = max(1, _BATCH // max(longer, shorter * len(solvers)))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        judges, problems = _drawn(rng, n_judges, size), _drawn(rng, n_problems, size)
        drawn = (problems, judges) if by_problem else (judges, problems)
        average = average_of(*table, *drawn)
        fit = fit_batch(
            form,
            average[:, : len(subjects)],
            experience[subjects],
            _drawn(rng, len(subjects), size),
            fewest=_FEWEST_AVERAGES,
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            predictions.append(fit.predict(average[:, len(subjects) :])[fit.valid])
        discarded += int((~fit.valid).sum())
    estimates = np.concatenate(predictions) if predictions else np.empty((0, len(systems)))
    intervals, spread = {}, {}
    for column, system in enumerate(systems):
        known = estimates[np.isfinite(estimates[:, column]), column]
        if len(known) > 1:
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
            intervals[cells.solvers[system]] = (float(low), float(high))
            spread[cells.solvers[system]] = float(known.std(ddof=1))
    return Bootstrap(replicates, discarded, intervals, spread, large)


def _main_effects(
    cells: RankCells, solvers: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Mean score by judge and by problem, shape (judges or problems, len(solvers)).

    None unless each judge ranked each of the solvers once on each problem.
    """
    n = len(cells.solvers)
    known = np.isfinite(cells.score)
    shape = (len(cells.judges), len(cells.problems))
    total, count = (
        [
            np.bincount(codes[known] * n + cells.solver[known], values, minlength=size * n)
            .reshape(size, n)[:, solvers]
            .astype(np.float64)
            for codes, size in zip((cells.judge, cells.problem), shape, strict=True)
        ]
        for values in (cells.score[known], None)
    )
    # Nobody can be ranked twice in a group, so that full counts are complete tables.
    active = [of.any(axis=1) for of in count]
    n_judges, n_problems = (int(of.sum()) for of in active)
    if (count[0][active[0]] != n_problems).any() or (count[1][active[1]] != n_judges).any():
        return None
    return total[0][active[0]] / n_problems, total[1][active[1]] / n_judges


def _added_effects(
    of_judges: NDArray[np.float64],
    of_problems: NDArray[np.float64],
    judges: NDArray[np.float64],
    problems: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The grand mean with the deviations of what was drawn, shape (size, n_solvers)."""
    grand = of_judges.mean(axis=0)
    by_judge = judges @ (of_judges - grand) / len(of_judges)
    by_problem = problems @ (of_problems - grand) / len(of_problems)
    return np.asarray(grand + by_judge + by_problem)


def _tensor(
    cells: RankCells, solvers: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum of scores and number of cells, shape (n_judges, n_problems, len(solvers)).

    Judges and problems without any cell are left out.
    """
    place = np.full(len(cells.solvers), -1)
    place[solvers] = np.arange(len(solvers))
    column = place[cells.solver]
    keep = (column >= 0) & np.isfinite(cells.score)
    shape = (len(cells.judges), len(cells.problems), len(solvers))
    key = (cells.judge[keep] * shape[1] + cells.problem[keep]) * shape[2] + column[keep]
    size = shape[0] * shape[1] * shape[2]
    total = np.bincount(key, cells.score[keep], minlength=size).reshape(shape)
    count = np.bincount(key, minlength=size).reshape(shape).astype(np.float64)
    block = np.ix_(count.any(axis=(1, 2)), count.any(axis=(0, 2)))
    return np.asarray(total[block], dtype=np.float64), np.asarray(count[block])


def _drawn(rng: np.random.Generator, n: int, size: int) -> NDArray[np.float64]:
    """How often each of n is drawn in n draws with replacement, shape (size, n)."""
    drawn = rng.integers(n, size=(size, n), dtype=np.int32)
    drawn += np.arange(size, dtype=np.int32)[:, np.newaxis] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(float)


def _averages(
    total: NDArray[np.float64],
    count: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Average score of each solver in each replicate, shape (size, n_solvers).

    Shapes: `total`, `count` (n_first, n_second, n_solvers); `first`, `second` (size, n_first or
    n_second).
    """
    summed = _weighted(total, first, second)
    if (count == count.flat[0]).all():
        cells = count.flat[0] * first.sum(axis=1) * second.sum(axis=1)
        return np.asarray(summed / cells[:, np.newaxis])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(summed / _weighted(count, first, second))


def _weighted(
    values: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    n_first, n_second, n_solvers = values.shape
    over_first = (first @ values.reshape(n_first, -1)).reshape(-1, n_second, n_solvers)
    return np.asarray(np.einsum("bi,bis->bs", second, over_first))
