"""The paired randomisation test: whose score is whose on a query is left to chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["SignFlips", "sign_flips"]

_MOST_EXACT = 14
_CHUNK = 4_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SignFlips:
    """A two-sided test that paired differences are 0 in the mean.

    Parameters
    ----------
    p : float
        NaN where there is no test: without differences, or without random patterns.
    patterns : int
        How many patterns of signs were tried.
    extreme : int
        How many of them gave a sum at least as far from 0.
    exact : bool
        Whether these were all patterns, or random ones.
    """

    p: float
    patterns: int = 0
    extreme: int = 0
    exact: bool = False


def sign_flips(
    differences: Floats, *, permutations: int, seed: int, most_exact: int = _MOST_EXACT
) -> list[SignFlips]:
    r"""Flip the signs of paired differences; two-sided on :math:`|\sum d_i|`.

    Of up to `most_exact` differences all :math:`2^n` patterns; of more, random ones, the same
    for all columns, and p = (1 + extreme)/(1 + permutations).

    Parameters
    ----------
    differences : array of float, shape (n, c)
        A column a test; NaN where there is no pair.
    permutations : int
        Random patterns; 0 for no such test.
    seed, most_exact : int

    Returns
    -------
    list of SignFlips
        One a column.

    References
    ----------
    Fisher, R. A. (1935). The design of experiments, section 21. Smucker, M. D., Allan, J., &
    Carterette, B. (2007). A comparison of statistical significance tests for information
    retrieval evaluation. CIKM, 623-632.
    """
    known = ~np.isnan(differences)
    counts = known.sum(axis=0)
    tests = [SignFlips(float("nan"))] * differences.shape[1]
    for column in np.flatnonzero((counts > 0) & (counts <= most_exact)).tolist():
        tests[column] = _exact(differences[known[:, column], column])
    many = np.flatnonzero(counts > most_exact)
    if permutations and len(many):
        filled = np.where(known[:, many], differences[:, many], 0)
        for column, extreme in zip(
            many.tolist(), _count_extreme(filled, permutations, seed).tolist(), strict=True
        ):
            p = (1 + extreme) / (1 + permutations)
            tests[column] = SignFlips(p, permutations, extreme)
    return tests


def _least(differences: Floats) -> Floats:
    """The sum that a pattern has to reach, less what rounding may take from it."""
    return np.asarray(np.abs(differences.sum(axis=0)) - _ROUNDING * np.abs(differences).sum(axis=0))


def _exact(difference: Floats) -> SignFlips:
    # Each pattern with the first sign as it is stands for itself and its mirror image.
    sums = difference[:1]
    for value in difference[1:]:
        sums = np.concatenate([sums + value, sums - value])
    extreme = 2 * int((np.abs(sums) >= _least(difference)).sum())
    patterns = 2 ** len(difference)
    return SignFlips(extreme / patterns, patterns, extreme, exact=True)


def _count_extreme(differences: Floats, permutations: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    n, columns = differences.shape
    least = _least(differences)
    extreme = np.zeros(columns, dtype=np.int64)
    for start in range(0, permutations, step := max(1, _CHUNK // n)):
        signs = rng.integers(0, 2, size=(min(step, permutations - start), n)) * 2.0 - 1
        extreme += (np.abs(signs @ differences) >= least).sum(axis=0)
    return extreme
