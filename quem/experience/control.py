r"""What machine judges' rankings are worth beside those of experts.

Experts ranked n of P problems, and machine judges all of them. The ranks of a machine never enter
the mean over judges. They are a control variate: what a machine says of a solver on all problems,
less what it says on those that experts ranked, says how much easier or harder for that solver the
experts' problems were, and a share of it is added to the solver's average rank. A liking that is
the same on all problems cancels.

With :math:`h_{sp}` the mean of the experts' adjusted ranks of solver s on problem p,
:math:`m_{sp}` the mean of the machine's over its repeats, and :math:`L` the experts' problems,

.. math:: x_s = \bar h_s + \beta (\bar m_s - \bar m_{sL}), \quad
          \beta = \min\Bigl(\max\Bigl(\frac{C}{V}, 0\Bigr), \frac{P}{P - n}\Bigr)

with :math:`C` the covariance within solvers of h and m over :math:`L`, and :math:`V` the variance
within solvers of m over all problems. It is the estimator of Angelopoulos, Duchi & Zrnic (2023),
with solvers as coordinates, and the regression estimator of two-phase sampling (Cochran 1977,
chapter 12). There is one :math:`\beta` for all solvers, so that a system and people stay
exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc, fdtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# With 2 problems it would cover 91 to 96%, and nothing shows whether a machine is erratic.
FEWEST_LABELED = 3
_RIDGE = 0.1
_SIGNIFICANT = 0.05
# Ranks of a group are tied to one another, so people's variances have fewer degrees of freedom.
_FREEDOM = 0.7


@dataclass(frozen=True)
class Control:
    """What machine judges add to the experts' averages."""

    beta: Floats  # of shape (n_machines,)
    # Lambda: the weight of the machines' difference between the problems that only they ranked and
    # those of the experts; 0 to 1.
    share: float
    # Within solvers, between the experts' ranks and the machines' over the experts' problems; NaN
    # where either does not vary.
    correlation: float
    # n and P, of the problems that count
    n_labeled: int
    n_problems: int
    # Problems that experts alone would have to rank for the same precision.
    effective_problems: float
    # Of shape (n_solvers,): what is added to each average rank; 0 where the machines have not
    # ranked a solver.
    shift: Floats
    # Of shape (n_labeled, n_solvers): what the machines do not explain of the experts' mean ranks,
    # in the order of `labeled`.
    residual: Floats
    labeled: NDArray[np.int64]  # of shape (n_labeled,): indices of the experts' problems that count
    variance: Floats  # of shape (n_solvers,): of each average, the P problems as fixed


@dataclass(frozen=True)
class Erratic:
    """Whether a machine says other things of a system from problem to problem than experts do."""

    # Of the system's variance over that of people; NaN where people do not vary
    f: float
    p: float
    variance: float  # what the system's has beyond theirs, in squared ranks; 0 unless p is below 5%
    df: int  # of that variance


def control_variate(h: Floats, m: Floats) -> Control:
    """Say how far machine judges' rankings go with the experts', and what they add.

    Shapes: `h` (n_problems, n_solvers); `m` (n_machines, n_problems, n_solvers).
    """
    known = np.asarray(np.isfinite(m).all(axis=0))
    counted = np.asarray(known.any(axis=1))
    by_experts = counted & np.isfinite(h).any(axis=1)
    labeled = np.flatnonzero(by_experts)
    n, n_problems = len(labeled), int(counted.sum())
    # A solution that experts did not see on one of their problems is left out of both means.
    everywhere = known & (np.isfinite(h) | ~by_experts[:, np.newaxis])
    there = everywhere & by_experts[:, np.newaxis]
    # Who is unknown to either side says nothing of how they go together.
    both = np.asarray(there.any(axis=0))
    everywhere, there = everywhere & both, there & both
    off_h = _centered(h, there)
    off_l = np.stack([_centered(one, there) for one in m])
    off_all = np.stack([_centered(one, everywhere) for one in m])
    freedom = there.sum(axis=0)[both].sum() - both.sum()
    freedom_all = everywhere.sum(axis=0)[both].sum() - both.sum()
    k = len(m)
    beta = np.zeros(k)
    if FEWEST_LABELED <= n < n_problems and freedom > 0:
        covariance = np.einsum("ksp,sp->k", off_l, off_h) / freedom
        spread = np.einsum("ksp,lsp->kl", off_all, off_all) / freedom_all
        beta = _weights(covariance, spread, n_problems / (n_problems - n))
    joint_l = np.einsum("k,ksp->sp", beta if beta.any() else np.ones(k), off_l)
    scale = np.sqrt((joint_l**2).sum() * (off_h**2).sum())
    correlation = float((joint_l * off_h).sum() / scale) if scale > 0 else np.nan
    means = np.stack([_means(one, everywhere) - _means(one, there) for one in m])
    shift = np.where(both, beta @ np.where(np.isfinite(means), means, 0.0), 0.0)
    residual = np.where(there, off_h - np.einsum("k,ksp->sp", beta, off_l), np.nan)[labeled]
    share = float(beta.sum() * (n_problems - n) / n_problems) if n_problems else 0.0
    rest = 1 - (correlation**2 * (1 - n / n_problems) if share else 0.0)
    return Control(
        beta=beta,
        share=share,
        correlation=correlation,
        n_labeled=n,
        n_problems=n_problems,
        effective_problems=n / rest if rest else np.inf,
        shift=shift,
        residual=residual,
        labeled=labeled,
        variance=_variances(residual) * (1 / n - 1 / n_problems) if n else residual.sum(axis=0),
    )


def erratic(control: Control, people: NDArray[np.bool_], system: int) -> Erratic:
    """Hold the variance of a system that the machines leave against that of people.

    Shapes: `people` (n_solvers,).
    """
    usual = np.nanmean(control.variance[people]) if people.any() else np.nan
    own = control.variance[system]
    df = int(np.isfinite(control.residual[:, system]).sum()) - 1
    if not (control.share and usual > 0 and np.isfinite(own)):
        return Erratic(np.nan, np.nan, 0.0, df)
    f, df_people = own / usual, _FREEDOM * people.sum() * (control.n_labeled - 1)
    is_beyond = f > fdtri(df, df_people, 1 - _SIGNIFICANT)
    extra = own - usual if is_beyond else 0.0
    return Erratic(float(f), float(fdtrc(df, df_people, f)), float(extra), df)


def _weights(covariance: Floats, spread: Floats, most: float) -> Floats:
    """Give beta: of one machine the slope, of several by ridge towards equal weights."""
    k = len(covariance)
    total = spread.sum()
    if not total > 0:
        return np.zeros(k)
    equal = min(max(covariance.sum() / total, 0.0), most / k)
    if k == 1:
        return np.array([equal])
    ridge = spread + _RIDGE * np.trace(spread) / k * np.eye(k)
    beta = equal + np.linalg.solve(ridge, covariance - equal * spread.sum(axis=1))
    beta = np.maximum(beta, 0.0)
    return np.asarray(beta * min(1.0, most / beta.sum()) if beta.sum() else beta)


def _means(values: Floats, where: NDArray[np.bool_]) -> Floats:
    """Give the mean of each column over the rows that count."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(where, values, 0.0).sum(axis=0) / where.sum(axis=0))


def _centered(values: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.where(where, values - _means(values, where), 0.0))


def _variances(residual: Floats) -> Floats:
    """Give the variance of each column, NaN with fewer than two values."""
    count = np.isfinite(residual).sum(axis=0)
    off = np.where(np.isfinite(residual), residual, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = off.sum(axis=0) / count
        squares = np.where(np.isfinite(residual), (off - mean) ** 2, 0.0).sum(axis=0)
        return np.where(count > 1, squares / (count - 1), np.nan)
