"""Agreement between judges on grades, and consistency of each judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.scores.inference import drawn_queries, percentile_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.relevance.judgments import Judgments
    from quem.scores.inference import Inference

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha, over all queries and per query."""

    overall: float  # NaN without two judgments that could differ
    interval: tuple[float, float]  # by bootstrap over queries; NaN where undefined
    by_query: Floats  # of shape (queries,)


def alphas(judgments: Judgments, inference: Inference) -> Alpha:
    r"""Compute Krippendorff's alpha with the ordinal metric.

    :math:`\alpha = 1 - D_o / D_e` with the distance of two grades :math:`\delta^2_{ck} =
    (\sum_{g=c}^{k} n_g - (n_c + n_k)/2)^2`, where :math:`n_g` counts the pairable judgments with
    grade g; candidates with one judgment are excluded.

    References
    ----------
    Krippendorff, K. (2013). *Content analysis* (3rd ed.), chapter 12. Sage.
    """
    met = _coincidences(judgments)
    overall = float(_alpha(met.sum(axis=0)[None])[0])
    interval = (np.nan, np.nan)
    if (met.sum(axis=(1, 2)) > 0).sum() > 1:
        samples = drawn_queries(len(met), inference, met[0].size)
        drawn = [_alpha(np.tensordot(times, met, axes=1)) for times in samples]
        known = np.concatenate([np.empty(0), *drawn])[:, None]
        low, high = percentile_interval(known, inference.level)
        interval = (float(low[0]), float(high[0]))
    return Alpha(overall, interval, _alpha(met))


def _coincidences(judgments: Judgments) -> Floats:
    """Coincidence matrices of grades on candidates, shape (queries, grades, grades)."""
    said = judgments.first
    levels = np.unique(said[~np.isnan(said)])
    counts = (said[:, :, None] == levels).sum(axis=0).astype(float)[:, :, None]
    # A judgment is not paired with itself.
    pairs = counts * counts.swapaxes(1, 2) - counts * np.eye(len(levels))
    pairs /= np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
    met = np.zeros((len(judgments.queries), len(levels), len(levels)))
    np.add.at(met, judgments.query, pairs)
    return met


def _alpha(met: Floats) -> Floats:
    """Alpha of each coincidence matrix, shape (n,); NaN where nothing could differ."""
    share = met.sum(axis=2)
    total = share.sum(axis=1)
    place = np.cumsum(share, axis=1) - share / 2
    apart = (place[:, :, None] - place[:, None, :]) ** 2
    observed = (met * apart).sum(axis=(1, 2))
    expected = (share[:, :, None] * share[:, None, :] * apart).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = 1 - (total - 1) * observed / expected
    return np.where(expected > 0, alpha, np.nan)


class InCommon(NamedTuple):
    """Agreement of two sets of judgments on the same candidates."""

    n: int  # candidates that both judged
    same: float  # share of identical grades; NaN without common candidates
    weighted_kappa: float  # NaN where undefined


def in_common(one: Floats, other: Floats) -> InCommon:
    """Compare two judges, or a judge's repeats, by Cohen's kappa with quadratic weights.

    It is one minus the ratio of the mean squared difference to its expectation for independent
    judges with the same grades: the sum of both variances and of the squared difference of both
    means.

    References
    ----------
    Cohen, J. (1968). Weighted kappa. *Psychological Bulletin*, 70(4), 213-220.

    Shapes: `one`, `other` (candidates,).
    """
    both = ~np.isnan(one) & ~np.isnan(other)
    a, b = one[both], other[both]
    if not len(a):
        return InCommon(0, np.nan, np.nan)
    expected = a.var() + b.var() + (a.mean() - b.mean()) ** 2
    kappa = 1 - ((a - b) ** 2).mean() / expected if expected > 0 else np.nan
    return InCommon(len(a), float((a == b).mean()), float(kappa))
