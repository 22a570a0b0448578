"""Predictive distributions of experience: what every interval, bound, and chance is read from.

A skill function is a regression of experience, or of its logarithm (the *response*), so that a
further person of some average rank has a response with a t distribution, and an experience with
the same distribution on another scale. An average of two skill functions has a mixture of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_HALVINGS = 64
# Of a response; beyond, its experience would be infinite.
_LARGEST = 700.0


@dataclass(frozen=True)
class Response:
    """What of experience a skill function is a regression of."""

    # From experience to the response, and back
    transform: Callable[[Floats], Floats]
    inverse: Callable[[Floats], Floats]
    # The logarithm of the derivative of `transform`, by which likelihoods of different responses
    # become comparable.
    log_slope: Callable[[Floats], Floats]
    # How the response of an experience, and the experience of a response, are written
    written: str
    inverted: str


def _same(y: Floats) -> Floats:
    return y


def _zero(y: Floats) -> Floats:
    return np.zeros_like(y)


def _log_above(y: Floats) -> Floats:
    """ln(y + 1), and no less than nothing for what is below -1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(np.maximum(y, -1.0)))


def _exp_below(response: Floats) -> Floats:
    return np.asarray(np.expm1(np.minimum(response, _LARGEST)))


def _minus_log(y: Floats) -> Floats:
    return -_log_above(y)


# Named functions and no lambdas, so that results can be pickled.
IDENTITY = Response(_same, _same, _zero, "{}", "{}")
LOGARITHM = Response(_log_above, _exp_below, _minus_log, "ln({} + 1)", "exp({}) − 1")


@dataclass(frozen=True)
class Predictive:
    """Distributions of experience: each a mixture of t distributions of responses."""

    responses: tuple[Response, ...]  # of the k components
    # Of shape (k, ...): the weights add up to 1; center and standard error are in units of the
    # response
    weights: Floats
    centers: Floats
    errors: Floats
    df: Floats

    def quantile(self, p: float) -> Floats:
        """Give the experience below which a share p lies, shape (...)."""
        with np.errstate(invalid="ignore"):
            responses = self.centers + stdtrit(self.df, p) * self.errors
        ends = [of.inverse(own) for of, own in zip(self.responses, responses, strict=True)]
        return ends[0] if len(ends) == 1 else self._between(np.array(ends), p)

    def _between(self, ends: Floats, p: float) -> Floats:
        """The quantile of a mixture lies between those of its components: by bisection."""
        # On this scale one step is a difference near 0 and a ratio far from it.
        low, high = np.arcsinh(ends.min(axis=0)), np.arcsinh(ends.max(axis=0))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            beyond = 1 - self.at_least(np.sinh(middle)) >= p
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return np.asarray(np.sinh(high))

    def interval(self, level: float) -> Floats:
        """Give the interval that leaves equal shares at both sides, shape (..., 2)."""
        ends = [self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)]
        return np.stack(ends, axis=-1)

    def half_width(self, level: float) -> Floats:
        """Give half the width of that interval, shape (...)."""
        return np.asarray(np.diff(self.interval(level))[..., 0] / 2)

    def at_least(self, years: Floats | float) -> Floats:
        """Give the chance of at least that experience, shape (...)."""
        chances = np.zeros(self.centers.shape[1:])
        for at, response in enumerate(self.responses):
            error = self.errors[at]
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                margin = self.centers[at] - response.transform(np.asarray(years, dtype=float))
                chance = stdtr(self.df[at], margin / error)
            # Without any error nobody is off.
            sure = np.where(np.isnan(margin), np.nan, margin >= 0)
            chances = chances + self.weights[at] * np.where(error == 0, sure, chance)
        return np.asarray(chances)


def mixed(parts: tuple[Predictive, ...], weights: tuple[Floats | float, ...]) -> Predictive:
    """Mix distributions of one component each."""
    if len(parts) == 1:
        return parts[0]
    shape = parts[0].centers.shape[1:]
    return Predictive(
        tuple(part.responses[0] for part in parts),
        np.array([np.broadcast_to(weight, shape) for weight in weights]),
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("centers", "errors", "df")
        ),
    )
