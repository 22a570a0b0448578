"""Thousands of skill functions at once, in batched NumPy.

statsmodels fits the headline; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.skill import SkillForm

__all__ = ["BatchFit", "fit_batch"]

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
    y : array of float, shape (n,) or (b, n)
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
        t = stdtrit(self.df, (1 + level) / 2)[:, np.newaxis]
        return np.asarray(t * self.errors(x, widened)[1])

    @property
    def df(self) -> NDArray[np.float64]:
        """Residual degrees of freedom, shape (b,)."""
        return np.asarray(self.weights.sum(axis=1) - self.form.n_coefficients)

    def errors(
        self, x: NDArray[np.float64], widened: NDArray[np.float64] | float = 0.0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Standard errors of the mean and of a peer at `x`, each of shape (b, m)."""
        z = (self.form.transform(x) - self.centre) / self.scale
        design = z[..., np.newaxis] ** np.arange(self.form.n_coefficients)
        leverage = np.einsum("bmi,bij,bmj->bm", design, self.inverse, design)
        df = self.df
        rss = (self.weights * (self.y - self._value(self.z)) ** 2).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.where(df > 0, rss / df, np.nan)[:, np.newaxis]
            slope = self._slope(z) * self.form.derivative(x) / self.scale
            mean, peer = variance * leverage, variance * (1 + leverage) + slope**2 * widened
            return np.sqrt(mean), np.sqrt(peer)

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
    y : array of float, shape (n,) or (b, n)
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
    products[:, 0] = _times(weights, y)
    term = weights * z
    products[:, 1] = _times(term, y)
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
                products[:, power] = _times(term, y)
        gram = moments[:, np.add.outer(np.arange(k), np.arange(k))]
        gram[~valid] = np.eye(k)
        inverse = np.asarray(np.linalg.inv(gram), dtype=np.float64)
        coefficients = np.einsum("bij,bj->bi", inverse, products)
    coefficients[~valid] = np.nan
    return BatchFit(form, valid, coefficients, inverse, centre, scale, z, weights, y)


def _times(weights: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of weighted y in each sample, whose y are its own or those of all."""
    return np.asarray(weights @ y if y.ndim == 1 else np.einsum("bn,bn->b", weights, y))


def _distinct(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many different averages each sample holds."""
    held = np.sort(np.where(weights > 0, x, np.inf), axis=1)
    with np.errstate(invalid="ignore"):
        new = np.diff(held, axis=1) > _SAME
    new &= np.isfinite(held[:, 1:])
    return np.asarray(np.isfinite(held[:, 0]).astype(int) + new.sum(axis=1))
