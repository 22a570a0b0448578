"""Thousands of skill functions at once, in batched NumPy.

statsmodels fits the headline; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.experience.averages import widening
from quem.experience.components import Incidence, components
from quem.experience.estimate import invert, outside
from quem.experience.expected_ranks import fit_worths
from quem.experience.predictive import Predictive, mixed
from quem.experience.profile import jaggedness
from quem.experience.ranks import scores as normalized
from quem.experience.simulation import blocked_ranks
from quem.experience.skill import FORMS, averaging_weights, deviance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.ranks import Normalization
    from quem.experience.simulation import Simulated
    from quem.experience.skill import SkillForm

_SAME = 1e-6
# Of a residual sum of squares, relative to the total: what rounding leaves.
_ROUNDING = 1e-20


@dataclass(frozen=True)
class BatchFit:
    """Skill functions fitted to many weighted samples of subjects."""

    form: SkillForm
    valid: NDArray[np.bool_]  # of shape (b,): samples with enough different averages
    # Of shape (b, k): in powers of z = (g(x) - center)/scale; NaN where not valid.
    coefficients: NDArray[np.float64]
    inverse: NDArray[np.float64]  # of shape (b, k, k): the inverse of X'WX
    # Of shape (b, 1)
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    # Of shape (b, n): the subjects of each sample
    z: NDArray[np.float64]
    weights: NDArray[np.float64]
    y: NDArray[np.float64]  # of shape (n,) or (b, n): the response of their experience

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Experience at the averages `x`, shape (b, m); NaN where not valid."""
        return self.form.response.inverse(self._value(self._standard(x)))

    @property
    def df(self) -> NDArray[np.float64]:
        """Residual degrees of freedom, shape (b,)."""
        return np.asarray(self.weights.sum(axis=1) - self.form.n_coefficients)

    @property
    def rss(self) -> NDArray[np.float64]:
        """The residual sum of squares of the response, shape (b,)."""
        return np.asarray((self.weights * (self.y - self._value(self.z)) ** 2).sum(axis=1))

    @property
    def deviance(self) -> NDArray[np.float64]:
        """As `quem.experience.skill.Regression.deviance`, shape (b,)."""
        share = self.weights / self.weights.sum(axis=1, keepdims=True)
        mean = (share * self.y).sum(axis=1, keepdims=True)
        total = (self.weights * (self.y - mean) ** 2).sum(axis=1)
        rss = np.where(self.rss > _ROUNDING * total, self.rss, 0.0)
        return deviance(self.form, rss, self.form.response.inverse(self.y), self.weights)

    def predictive(
        self,
        x: NDArray[np.float64],
        widened: NDArray[np.float64] | float = 0.0,
        *,
        mean: bool = False,
    ) -> Predictive:
        """Give the distribution of a peer at `x`, or of the mean, shape (b, m).

        `widened`, of the same shape, is what `quem.experience.averages.widening` gives. NaN where
        undefined.
        """
        z = self._standard(x)
        design = z[..., np.newaxis] ** np.arange(self.form.n_coefficients)
        leverage = np.einsum("bmi,bij,bmj->bm", design, self.inverse, design)
        df = self.df
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.where(df > 0, self.rss / df, np.nan)[:, np.newaxis]
            slope = self._slope(z) * self.form.derivative(x) / self.scale
            of_mean, of_peer = variance * leverage, variance * (1 + leverage) + slope**2 * widened
            error = np.sqrt(of_mean if mean else of_peer)
        return Predictive(
            (self.form.response,),
            np.ones((1, *z.shape)),
            self._value(z)[np.newaxis],
            error[np.newaxis],
            np.broadcast_to(df[:, np.newaxis], (1, *z.shape)),
        )

    def _standard(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((self.form.transform(x) - self.center) / self.scale)

    def _slope(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        powers = np.arange(1, self.form.n_coefficients)
        steps = powers * self.coefficients[:, np.newaxis, 1:] * z[..., np.newaxis] ** (powers - 1)
        return np.asarray(steps.sum(axis=-1))

    def _value(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        *lower, value = self.coefficients.T[..., np.newaxis]
        for coefficient in reversed(lower):
            value = value * z + coefficient
        return np.asarray(value)


@dataclass(frozen=True)
class BatchAverage:
    """Skill functions of a form that is the average of two."""

    fits: tuple[BatchFit, ...]
    shares: tuple[NDArray[np.float64], NDArray[np.float64]]  # of shape (b,): the weight of each

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Samples with enough different averages, shape (b,)."""
        return self.fits[0].valid

    @property
    def df(self) -> NDArray[np.float64]:
        """Residual degrees of freedom, shape (b,)."""
        return self.fits[0].df

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Experience at the averages `x`, shape (b, m); NaN where not valid."""
        parts = zip(self.shares, self.fits, strict=True)
        return np.asarray(sum(share[:, np.newaxis] * fit.predict(x) for share, fit in parts))

    def predictive(
        self,
        x: NDArray[np.float64],
        widened: NDArray[np.float64] | float = 0.0,
        *,
        mean: bool = False,
    ) -> Predictive:
        """Do as `BatchFit.predictive`."""
        parts = tuple(fit.predictive(x, widened, mean=mean) for fit in self.fits)
        return mixed(parts, tuple(share[:, np.newaxis] for share in self.shares))


def fit_batch(
    form: SkillForm,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    fewest: int = 0,
) -> BatchFit | BatchAverage:
    """Fit a skill function to each weighted sample.

    Shapes: `x` (b, n); `y` (n,) or (b, n); `weights` (b, n).
    """
    fits = tuple(_fit_one(part, x, y, weights, fewest=fewest) for part in form.parts)
    if not form.averaged:
        return fits[0]
    return BatchAverage(fits, averaging_weights(*(fit.deviance for fit in fits)))


def _fit_one(
    form: SkillForm,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    fewest: int = 0,
) -> BatchFit:
    """Fit a single form."""
    y = form.response.transform(y)
    k = form.n_coefficients
    weights = np.where(np.isfinite(x), weights, 0.0)
    valid = _distinct(x, weights) >= max(fewest, k)
    n = np.einsum("bn->b", weights)[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        g = form.transform(np.where(weights > 0, x, 1.0))
        center = np.einsum("bn,bn->b", weights, g)[:, np.newaxis] / n
        z = g - center
        scale = np.sqrt(np.einsum("bn,bn,bn->b", weights, z, z)[:, np.newaxis] / n)
        scale[~valid] = 1.0
        z /= scale
    products = np.empty((len(x), k))
    inverse: NDArray[np.float64]
    products[:, 0] = _times(weights, y)
    term = weights * z
    products[:, 1] = _times(term, y)
    if k == 2:  # noqa: PLR2004  a straight line
        # Standardized, the two regressors are orthogonal: X'WX is n times the identity.
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
    return BatchFit(form, valid, coefficients, inverse, center, scale, z, weights, y)


def _times(weights: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of weighted y in each sample, whose y are its own or those of all."""
    return np.asarray(weights @ y if y.ndim == 1 else np.einsum("bn,bn->b", weights, y))


def _distinct(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many different averages each sample holds."""
    values = np.sort(np.where(weights > 0, x, np.inf), axis=1)
    with np.errstate(invalid="ignore"):
        new = np.diff(values, axis=1) > _SAME
    new &= np.isfinite(values[:, 1:])
    return np.asarray(np.isfinite(values[:, 0]).astype(int) + new.sum(axis=1))


@dataclass(frozen=True)
class BatchEstimates:
    """What `quem.analyze` estimates, of b studies with m systems each."""

    average: NDArray[np.float64]  # of shape (b, solvers): NaN for a solver without any solution
    experience: NDArray[np.float64]  # of shape (b, m): the estimates
    # Of shape (b, m, 2)
    prediction: NDArray[np.float64]
    mean: NDArray[np.float64]
    calibrated: NDArray[np.float64]  # of shape (b, m): the estimates by calibration
    calibration: NDArray[np.float64]  # of shape (b, m, 2): NaN where unbounded
    # Of shape (b, m): one-sided bounds, above and below the subjects' range only; else NaN
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    inside: NDArray[np.bool_]  # of shape (b, m): whether a system lies in the subjects' range


def batch_estimates(
    simulated: Simulated,
    *,
    level: float = 0.95,
    score: Literal["rank", "worth"] = "rank",
    normalize: Normalization = "none",
    form: str = "linear",
) -> BatchEstimates:
    """Estimate the systems of every simulated study.

    Gives the numbers of `quem.analyze` with these settings, hundreds of times faster. A
    study in which a subject has no solution at all is fitted to the others, without its
    calibration interval.
    """
    y = simulated.experience
    if simulated.scenario.block_size is not None:
        if score == "worth":
            raise ValueError("worths need whole groups; leave out block_size, or the score")
        average = blocked_ranks(simulated)
        widened = np.zeros(simulated.truth.shape)
    else:
        worths, scores = fit_worths(simulated.ranks), simulated.ranks
        if score == "worth":
            scores = worths.cells
        else:
            size = np.isfinite(scores).sum(axis=-1, keepdims=True)
            scores = normalized(scores, size, normalize=normalize)
        average, widened = _means(scores), _widening(scores, y.shape[1])
        if score == "rank":
            widened += _jagged(scores, worths.information, y.shape[1])
    n = y.shape[1]
    x, x_systems = average[:, :n], average[:, n:]
    fit = fit_batch(FORMS[form], x, y, np.ones(x.shape))
    years = fit.predict(x_systems)
    mean = fit.predictive(x_systems, mean=True)
    peer = fit.predictive(x_systems, np.nan_to_num(widened))
    above, below = outside(x, y, x_systems, years)
    calibrated, calibration = invert(x, y, x_systems - x.mean(axis=1, keepdims=True), level)
    return BatchEstimates(
        average=average,
        experience=years,
        prediction=peer.interval(level),
        mean=mean.interval(level),
        calibrated=calibrated,
        calibration=calibration,
        lower=np.where(above & ~below, peer.quantile(1 - level), np.nan),
        upper=np.where(below & ~above, peer.quantile(level), np.nan),
        inside=~(above | below),
    )


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average score over cells."""
    mask = np.isfinite(scores)
    if mask.all():
        return np.asarray(scores.mean(axis=(1, 2)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(mask, scores, 0.0).sum(axis=(1, 2)) / mask.sum(axis=(1, 2)))


def _widening(scores: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """How much more the averages of systems vary than those of the n subjects."""
    incidence = Incidence.of(scores)
    systems = np.arange(n, scores.shape[-1])
    if not incidence.is_uneven:
        return np.zeros((len(scores), len(systems)))
    return widening(components(scores[..., :n]), incidence.spread, np.arange(n), systems)


def _jagged(
    scores: NDArray[np.float64], information: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """How much more the averages of jagged systems vary than those of the n subjects."""
    people = np.arange(scores.shape[-1]) < n
    by_system = [
        jaggedness(scores, information, people, system) for system in range(n, len(people))
    ]
    return np.stack([np.where(of.is_jagged, of.added, 0.0) for of in by_system], axis=-1)
