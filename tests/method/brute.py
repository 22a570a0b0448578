"""Years by brute force: complete tables, dense grids, sorted differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

YEARS = (1.0, 2.0, 4.0, 6.0, 8.0, 11.0, 12.0)
POINTS = 601
LEVEL = 0.95


class System(NamedTuple):
    """A system's place, and variances of its logit with their degrees of freedom."""

    z: float
    error: float = 0.0
    error_df: float = np.inf
    added: float = 0.0
    added_df: float = np.inf


class People(NamedTuple):
    """The line of logits on years, from SciPy."""

    y: Floats
    line: Any
    s2: float

    def mean(self, years: Floats) -> Floats:
        return np.asarray(self.line.intercept + self.line.slope * years)

    def cross(self, a: Floats, b: Floats) -> Floats:
        """The covariance of the line at two points."""
        off = self.y - self.y.mean()
        spread = (a - self.y.mean()) * (b - self.y.mean()) / (off**2).sum()
        return np.asarray(self.s2 * (1 / len(self.y) + spread))


def places(ranks: Floats) -> tuple[Floats, Floats]:
    """Mean places of solvers, and their logits, one cell after the other."""
    each: list[list[float]] = [[] for _ in range(ranks.shape[2])]
    for cell in ranks.reshape(-1, ranks.shape[2]):
        held = np.flatnonzero(np.isfinite(cell))
        for solver, rank in zip(held, stats.rankdata(cell[held]), strict=True):
            each[solver].append((rank - 0.5) / len(held))
    p = np.array([np.mean(one) for one in each])
    return p, np.log(p / (1 - p))


def people_of(z: Floats, years: Sequence[float]) -> People:
    y = np.array(years)
    line = stats.linregress(y, z[: len(y)])
    rest = z[: len(y)] - line.intercept - line.slope * y
    return People(y, line, max(float((rest**2).sum()) / (len(y) - 2), 1e-9))


def system_of(ranks: Floats, years: Sequence[float], k: int) -> System:
    """A system of a complete table, by mean squares and sample variances."""
    n, (judges, problems, size) = len(years), ranks.shape
    place = (stats.rankdata(ranks, axis=2) - 0.5) / size
    p, z = places(ranks)
    w = np.maximum(p * (1 - p), 0.0196)
    off = place[..., :n] - place[..., :n].mean(axis=2, keepdims=True)
    off = off - off.mean(axis=(0, 1))
    by_problem, by_judge = off.mean(axis=0), off.mean(axis=1)
    rest = off - by_problem - by_judge[:, np.newaxis]
    df_p, df_j = (problems - 1) * (n - 1), (judges - 1) * (n - 1)
    of_p = judges * (by_problem**2).sum() / max(df_p, 1)
    of_j = problems * (by_judge**2).sum() / max(df_j, 1)
    of_e = (rest**2).sum() / max((judges - 1) * df_p, 1)
    if judges == 1 or problems == 1:
        phi = float(of_p if judges == 1 else of_j) / (judges * problems)
    else:
        phi = float(max(of_p, of_e) + max(of_j, of_e) - of_e) / (judges * problems)
    phi /= w[:n].mean()
    excess = []
    for means in (place.mean(axis=0), place.mean(axis=1)):
        m = len(means)
        v = means.var(axis=0, ddof=1) / w if m > 1 else np.zeros(size)
        excess.append((max(0.0, v[k] - v[:n].mean()) / m, max(m - 1, 1)))
    own = (phi, n * max(judges - 1, 1) * max(problems - 1, 1))
    error, error_df = _sum([own, *excess])
    added, added_df = _sum(excess)
    return System(z[k], error / w[k], error_df, added / w[k], added_df)


def _sum(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A sum of variances, with Welch's degrees of freedom."""
    total = sum(value for value, _ in parts)
    if not total:
        return 0.0, np.inf
    return total, total**2 / sum(value**2 / df for value, df in parts)


def posterior(
    people: People, of: System, grid: Floats, density: Floats | float = 1.0
) -> tuple[Floats, tuple[bool, bool]]:
    """Weights of years, and whether each end of the grid is near."""
    n, base = len(people.y), people.s2 + people.cross(grid, grid)
    v = base + of.added
    nu = np.minimum(n - 2, v**2 / (base**2 / (n - 2) + of.added**2 / of.added_df))
    logs = np.asarray(stats.t.logpdf(of.z, nu, people.mean(grid), np.sqrt(v)))
    near = logs > logs.max() - stats.chi2.ppf(LEVEL, 1) / 2
    weights = np.exp(logs - logs.max()) * density
    return weights / weights.sum(), (bool(near[0]), bool(near[-1]))


def ends(grid: Floats, weights: Floats) -> list[float]:
    """Median and interval of a posterior: low, median, high."""
    below = (np.cumsum(weights) - weights / 2) / weights.sum()
    return [float(np.interp(q, below, grid)) for q in (0.025, 0.5, 0.975)]


def within(
    people: People, a: System, b: System, low: float, high: float, points: int = POINTS
) -> dict[str, Any]:
    """Two systems of one study, each as a typical person, uniform from `low` to `high`."""
    step = (high - low) / points
    grid = low + step * (np.arange(points) + 0.5)
    y_a, y_b = np.meshgrid(grid, grid, indexing="ij")
    off = np.stack([a.z - people.mean(y_a), b.z - people.mean(y_b)], axis=-1)
    cross = people.cross(y_a, y_b)
    rows = (
        (max(a.error, 1e-9) + people.cross(y_a, y_a), cross),
        (cross, max(b.error, 1e-9) + people.cross(y_b, y_b)),
    )
    shape = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    squares = np.einsum("ijk,ijkl,ijl->ij", off, np.linalg.inv(shape), off)
    n, spread = len(people.y), ((people.y - people.y.mean()) ** 2).sum()
    of_slope = people.s2 / spread * ((b.z - a.z) / people.line.slope) ** 2
    each = [(max(a.error, 1e-9), a.error_df), (max(b.error, 1e-9), b.error_df), (of_slope, n - 2)]
    nu = max(1.0, _sum(each)[1])
    logs = -0.5 * np.log(np.linalg.det(shape)) - (nu + 2) / 2 * np.log1p(squares / nu)
    return read(y_b - y_a, np.exp(logs - logs.max()))


def read(difference: Floats, weights: Floats) -> dict[str, Any]:
    """Median, interval, and chance to be above 0 of weighted differences."""
    difference, weights = difference.ravel(), weights.ravel() / weights.sum()
    order = np.argsort(difference, kind="stable")
    below = np.cumsum(weights[order])
    low, years, high = difference[order][np.searchsorted(below, [0.025, 0.5, 0.975])]
    even = np.abs(difference) < 1e-9
    ahead = weights[(difference > 0) & ~even].sum() + weights[even].sum() / 2
    return {"years": years, "interval": [low, high], "ahead": ahead}
