"""Thousands of skill functions at once, in batched NumPy, and the bootstrap made of them.

statsmodels fits the headline; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import Cells
    from quem.experience.skill import SkillForm

__all__ = ["BatchFit", "Bootstrap", "bootstrap", "fit_batch"]

_FEWEST_AVERAGES = 3
_MOST_CELLS = 20_000_000
_BATCH = 1_000_000
_SAME = 1e-6


@dataclass(frozen=True)
class BatchFit:
    """Skill functions fitted to many weighted samples of subjects.

    Parameters
    ----------
    form : SkillForm
    valid : array of bool, shape (b,)
        Samples with enough different averages.
    coefficients : array of float, shape (b, k)
        In powers of z = (g(x) - centre)/scale; NaN where not valid.
    inverse : array of float, shape (b, k, k)
        The inverse of X'WX.
    centre, scale : array of float, shape (b, 1)
    z, weights : array of float, shape (b, n)
        The subjects of each sample.
    y : array of float, shape (n,)
        Their experience.
    """

    form: SkillForm
    valid: NDArray[np.bool_]
    coefficients: NDArray[np.float64]
    inverse: NDArray[np.float64]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    z: NDArray[np.float64]
    weights: NDArray[np.float64]
    y: NDArray[np.float64]

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Experience at the averages `x`, shape (b, m); NaN where not valid."""
        return self._value((self.form.transform(x) - self.centre) / self.scale)

    def half_width(
        self, x: NDArray[np.float64], level: float, widened: NDArray[np.float64] | float = 0.0
    ) -> NDArray[np.float64]:
        """Half of the prediction interval at `x`, shape (b, m); NaN where undefined.

        `widened`, of the same shape, is what `quem.experience.averages.widening` gives.
        """
        z = (self.form.transform(x) - self.centre) / self.scale
        design = z[..., np.newaxis] ** np.arange(self.form.n_coefficients)
        leverage = np.einsum("bmi,bij,bmj->bm", design, self.inverse, design)
        df = self.weights.sum(axis=1) - self.form.n_coefficients
        rss = (self.weights * (self.y - self._value(self.z)) ** 2).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.where(df > 0, rss / df, np.nan)
            slope = self._slope(z) * self.form.derivative(x) / self.scale
            error = np.sqrt(variance[:, np.newaxis] * (1 + leverage) + slope**2 * widened)
            return np.asarray(stdtrit(df, (1 + level) / 2)[:, np.newaxis] * error)

    def _slope(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        powers = np.arange(1, self.form.n_coefficients)
        steps = powers * self.coefficients[:, np.newaxis, 1:] * z[..., np.newaxis] ** (powers - 1)
        return np.asarray(steps.sum(axis=-1))

    def _value(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        *lower, value = self.coefficients.T[..., np.newaxis]
        for coefficient in reversed(lower):
            value = value * z + coefficient
        return np.asarray(value)


def fit_batch(
    form: SkillForm,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    fewest: int = 0,
) -> BatchFit:
    """Fit a skill function to each weighted sample.

    Parameters
    ----------
    form : SkillForm
    x : array of float, shape (b, n)
        Averages of the n subjects in each sample; NaN leaves one out.
    y : array of float, shape (n,)
        Their experience.
    weights : array of float, shape (b, n)
        How often each subject is in each sample.
    fewest : int
        How many different averages a sample has to hold, if more than the form needs.
    """
    k = form.n_coefficients
    weights = np.where(np.isfinite(x), weights, 0.0)
    valid = _distinct(x, weights) >= max(fewest, k)
    n = np.einsum("bn->b", weights)[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        g = form.transform(np.where(weights > 0, x, 1.0))
        centre = np.einsum("bn,bn->b", weights, g)[:, np.newaxis] / n
        z = g - centre
        scale = np.sqrt(np.einsum("bn,bn,bn->b", weights, z, z)[:, np.newaxis] / n)
        scale[~valid] = 1.0
        z /= scale
    products = np.empty((len(x), k))
    inverse: NDArray[np.float64]
    products[:, 0] = weights @ y
    term = weights * z
    products[:, 1] = term @ y
    if k == 2:  # noqa: PLR2004  a straight line
        # Standardised, the two regressors are orthogonal: X'WX is n times the identity.
        each = np.where(valid, n[:, 0], 1.0)[:, np.newaxis, np.newaxis]
        inverse = np.asarray(np.eye(2) / each, dtype=np.float64)
        coefficients = products / np.where(n > 0, n, 1.0)
    else:
        moments = np.empty((len(x), 2 * k - 1))
        moments[:, :1], moments[:, 1] = n, 0.0
        for power in range(2, 2 * k - 1):
            term = term * z
            moments[:, power] = np.einsum("bn->b", term)
            if power < k:
                products[:, power] = term @ y
        gram = moments[:, np.add.outer(np.arange(k), np.arange(k))]
        gram[~valid] = np.eye(k)
        inverse = np.asarray(np.linalg.inv(gram), dtype=np.float64)
        coefficients = np.einsum("bij,bj->bi", inverse, products)
    coefficients[~valid] = np.nan
    return BatchFit(form, valid, coefficients, inverse, centre, scale, z, weights, y)


@dataclass(frozen=True)
class Bootstrap:
    """How the estimates scatter when judges, problems and subjects are drawn anew.

    A sensitivity figure: as an interval it covers too little (METHOD of the package docs).

    Parameters
    ----------
    replicates, discarded : int
        Drawn, and of them discarded for fewer than 3 different averages.
    intervals : dict of str to (float, float)
        Percentile interval of each system's estimate.
    spread : dict of str to float
        Standard deviation of each system's estimate.
    """

    replicates: int
    discarded: int
    intervals: dict[str, tuple[float, float]]
    spread: dict[str, float]


def bootstrap(
    cells: Cells,
    experience: NDArray[np.float64],
    form: SkillForm,
    *,
    replicates: int,
    level: float,
    seed: int,
) -> Bootstrap | None:
    """Draw judges, problems and subjects with replacement, and estimate each system anew.

    A solver left without ranks is dropped from that replicate; a replicate with fewer than
    3 different averages is discarded and counted.

    Parameters
    ----------
    cells : Cells
    experience : array of float, shape (n_solvers,)
    form : SkillForm
    replicates : int
    level : float
    seed : int

    Returns
    -------
    Bootstrap or None
        None where the study is too large to hold as judges x problems x solvers.
    """
    subjects = np.flatnonzero(cells.of_kind("subject"))
    systems = np.flatnonzero(cells.of_kind("system"))
    subjects = subjects[np.isin(subjects, cells.solver)]
    wanted = np.concatenate([subjects, systems])
    if len(cells.judges) * len(cells.problems) * len(wanted) > _MOST_CELLS:
        return None
    total, count = _tensor(cells, wanted)
    n_judges, n_problems, _ = total.shape
    rng = np.random.default_rng(seed)
    found, discarded = [], 0
    step = max(1, _BATCH // max(n_judges, n_problems * len(wanted)))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        judges, problems = _drawn(rng, n_judges, size), _drawn(rng, n_problems, size)
        average = _averages(total, count, judges, problems)
        fit = fit_batch(
            form,
            average[:, : len(subjects)],
            experience[subjects],
            _drawn(rng, len(subjects), size),
            fewest=_FEWEST_AVERAGES,
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(fit.predict(average[:, len(subjects) :])[fit.valid])
        discarded += int((~fit.valid).sum())
    estimates = np.concatenate(found) if found else np.empty((0, len(systems)))
    intervals, spread = {}, {}
    for column, system in enumerate(systems):
        known = estimates[np.isfinite(estimates[:, column]), column]
        if len(known) > 1:
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
            intervals[cells.solvers[system]] = (float(low), float(high))
            spread[cells.solvers[system]] = float(known.std(ddof=1))
    return Bootstrap(replicates, discarded, intervals, spread)


def _tensor(
    cells: Cells, wanted: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum of scores and number of cells, shape (n_judges, n_problems, len(wanted)).

    Judges and problems without any cell are left out.
    """
    place = np.full(len(cells.solvers), -1)
    place[wanted] = np.arange(len(wanted))
    column = place[cells.solver]
    keep = (column >= 0) & np.isfinite(cells.score)
    shape = (len(cells.judges), len(cells.problems), len(wanted))
    key = (cells.judge[keep] * shape[1] + cells.problem[keep]) * shape[2] + column[keep]
    size = shape[0] * shape[1] * shape[2]
    total = np.bincount(key, cells.score[keep], minlength=size).reshape(shape)
    count = np.bincount(key, minlength=size).reshape(shape).astype(np.float64)
    held = np.ix_(count.any(axis=(1, 2)), count.any(axis=(0, 2)))
    return np.asarray(total[held], dtype=np.float64), np.asarray(count[held])


def _drawn(rng: np.random.Generator, n: int, size: int) -> NDArray[np.float64]:
    """How often each of n is drawn in n draws with replacement, shape (size, n)."""
    drawn = rng.integers(n, size=(size, n), dtype=np.int32)
    drawn += np.arange(size, dtype=np.int32)[:, np.newaxis] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(float)


def _averages(
    total: NDArray[np.float64],
    count: NDArray[np.float64],
    judges: NDArray[np.float64],
    problems: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Average score of each solver in each replicate, shape (size, n_solvers)."""
    summed = _weighted(total, judges, problems)
    if (count == count.flat[0]).all():
        cells = count.flat[0] * judges.sum(axis=1) * problems.sum(axis=1)
        return np.asarray(summed / cells[:, np.newaxis])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(summed / _weighted(count, judges, problems))


def _weighted(
    values: NDArray[np.float64], judges: NDArray[np.float64], problems: NDArray[np.float64]
) -> NDArray[np.float64]:
    n_judges, n_problems, n_solvers = values.shape
    over_judges = judges @ values.reshape(n_judges, -1)
    over_judges = over_judges.reshape(-1, n_problems, n_solvers)
    return np.asarray(np.einsum("bp,bps->bs", problems, over_judges))


def _distinct(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many different averages each sample holds."""
    held = np.sort(np.where(weights > 0, x, np.inf), axis=1)
    with np.errstate(invalid="ignore"):
        new = np.diff(held, axis=1) > _SAME
    new &= np.isfinite(held[:, 1:])
    return np.asarray(np.isfinite(held[:, 0]).astype(int) + new.sum(axis=1))
