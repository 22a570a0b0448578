"""Do two systems differ in rank? Three tests, which allow different inferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from quem.lists.inference import sign_flips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.estimate import Interval

# All but the one that chooses among them (`quem.comparison.automatic`).
TESTS = ("problem", "twoway", "signflip")

INFERENCES = {
    "problem": "Inference of the t test: other problems of this kind, same judges.",
    "twoway": "Inference of the two-way test: other problems of this kind and other judges.",
    "signflip": "Inference of the sign-flip test: other problems of this kind, same judges, with "
    "no normality assumption.",
}

LEAST_FOR_SIGNFLIP = 6
_MOST_EXACT = 20
_ROUNDING = 1e-9
_NONE = float("nan")

_NO_SPREAD = (
    "the difference is the same on every problem, so a t test has no spread to compare it with"
)

_NO_INTERVAL = (_NONE, _NONE)


@dataclass(frozen=True)
class PairTest:
    """A two-sided test that two systems do not differ."""

    p: float  # NaN where there is no test
    # t and its degrees of freedom; NaN for a sign-flip test
    statistic: float = _NONE
    df: float = _NONE
    interval: Interval = _NO_INTERVAL  # of the difference in average rank; NaN for a sign-flip test
    patterns: int = 0  # how many patterns of signs were tried; 0 for a t test
    extreme: int = 0  # how many of them gave a difference at least as large
    exact: bool = False  # whether these were all patterns, or random ones
    reason: str = ""  # why there is no test; empty where there is one


def refusal(name: str, paired: RankDifferences) -> str:
    """Say why the data of two systems do not allow a test; empty where they do."""
    n_judges, n_problems = paired.difference.shape
    if not n_problems:
        return "no judge ranked both on the same problem"
    if name == "signflip" and n_problems < LEAST_FOR_SIGNFLIP:
        least = 2 / 2**n_problems
        return (
            f"a sign-flip test needs {LEAST_FOR_SIGNFLIP} problems with a ranking of both, and "
            f"there are {n_problems}: the smallest p that it can give is {least:.4g}"
        )
    if n_problems == 1:
        return "both were ranked on one problem only, and a test over problems needs two"
    if name == "twoway" and n_judges == 1:
        return "one judge only ranked both, and a two-way test needs two judges"
    if name == "twoway" and paired.n_cells < n_judges + n_problems:
        return (
            f"a two-way test of {n_judges} judges and {n_problems} problems needs "
            f"{n_judges + n_problems} rankings of both, and there are {paired.n_cells}"
        )
    return ""


def run_test(
    name: str, paired: RankDifferences, *, level: float, permutations: int, seed: int
) -> PairTest:
    """Test the difference of two systems; without a test where the data allow none."""
    if why := refusal(name, paired):
        return PairTest(_NONE, reason=why)
    if name == "signflip":
        return signflip_test(paired.by_problem, permutations=permutations, seed=seed)
    if name == "twoway":
        return twoway_test(paired.difference, level)
    return problem_test(paired.by_problem, level)


def problem_test(by_problem: NDArray[np.float64], level: float) -> PairTest:
    r"""Student's t over the problems: :math:`t = \bar D/(s_D/\sqrt P)`, P - 1 df.

    Shapes: `by_problem` (P,).
    """
    n = len(by_problem)
    variance = float(by_problem.var(ddof=1)) / n
    scale = float(np.abs(by_problem).max())
    return t_test(float(by_problem.mean()), variance, n - 1, level, scale=scale)


def t_test(
    difference: float, variance: float, df: float, level: float, *, scale: float
) -> PairTest:
    """Hold a difference against its standard error."""
    if variance <= (_ROUNDING * scale) ** 2:
        if abs(difference) <= _ROUNDING * scale:
            return PairTest(1.0, 0.0, df, (0.0, 0.0))
        return PairTest(_NONE, reason=_NO_SPREAD)
    error = variance**0.5
    t = difference / error
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p = 2 * float(stdtr(df, -abs(t)))
    return PairTest(p, t, df, (difference - half, difference + half))


def twoway_test(difference: NDArray[np.float64], level: float) -> PairTest:
    r"""Student's t with both problems and judges random.

    With :math:`d_{jp} = \mu + J_j + P_p + e_{jp}`, all random,

    .. math:: Var(\bar D) = \sigma_J^2 \sum_j w_{j\cdot}^2 + \sigma_P^2 \sum_p w_{\cdot p}^2
              + \sigma_e^2 \sum_{jp} w_{jp}^2

    where w are the weights of the cells in D-bar. The components come from the mean squares of
    judges given problems, of problems given judges, and of the residual (Henderson's method 3);
    a negative one counts as 0. The degrees of freedom are Satterthwaite's. Where every
    judge ranked both on every problem this is

    .. math:: Var(\bar D) = (MS_J + MS_P - MS_{JP})/(JP), \quad
              \nu = \frac{(MS_J + MS_P - MS_{JP})^2}
              {MS_J^2/(J-1) + MS_P^2/(P-1) + MS_{JP}^2/((J-1)(P-1))}

    References
    ----------
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance
    components. Biometrics Bulletin, 2(6), 110-114.

    Henderson, C. R. (1953). Estimation of variance and covariance components. Biometrics,
    9(2), 226-252.

    Shapes: `difference` (J, P).
    """
    held = np.isfinite(difference)
    judge, problem = np.nonzero(held)
    d = difference[held]
    n, (n_judges, n_problems) = len(d), difference.shape
    of_judge = (judge[:, np.newaxis] == np.arange(n_judges)).astype(float)
    of_problem = (problem[:, np.newaxis] == np.arange(n_problems)).astype(float)
    rss, rank = _residual(np.hstack([of_judge, of_problem]), d)
    squares = [
        (_residual(others, d)[0] - rss, rank - others.shape[1], n - others.shape[1])
        for others in (of_problem, of_judge)
    ]
    df_error = n - rank
    error = rss / df_error
    weights = held / held.sum(axis=0) / n_problems
    sums = [float((weights.sum(axis=1) ** 2).sum()), float((weights.sum(axis=0) ** 2).sum())]
    parts = []  # coefficient, mean square and degrees of freedom
    for (ss, df, trace), of_mean in zip(squares, sums, strict=True):
        if df and ss / df > error:
            parts.append((of_mean * df / trace, ss / df, df))
    rest = float((weights**2).sum()) - sum(coefficient for coefficient, _, _ in parts)
    parts.append((rest, error, df_error))
    variance = sum(c * ms for c, ms, _ in parts)
    spread = sum((c * ms) ** 2 / df for c, ms, df in parts)
    df = variance**2 / spread if spread else float(n_problems - 1)
    mean = float((weights * np.where(held, difference, 0)).sum())
    return t_test(mean, variance, df, level, scale=float(np.abs(d).max()))


def _residual(design: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, int]:
    """Residual sum of squares and rank of a model."""
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=_ROUNDING)
    return float(((y - design @ solution) ** 2).sum()), int(rank)


def signflip_test(by_problem: NDArray[np.float64], *, permutations: int, seed: int) -> PairTest:
    r"""Flip the sign of each problem's difference; two-sided on :math:`|\sum D_p|`.

    All :math:`2^P` patterns up to 20 problems; above, random ones and
    p = (1 + extreme)/(1 + permutations).

    Shapes: `by_problem` (P,).
    """
    (test,) = sign_flips(
        by_problem[:, np.newaxis], permutations=permutations, seed=seed, most_exact=_MOST_EXACT
    )
    reason = "" if test.patterns else "no random patterns of signs were asked for"
    return PairTest(
        test.p, patterns=test.patterns, extreme=test.extreme, exact=test.exact, reason=reason
    )


@dataclass(frozen=True)
class RankDifferences:
    """Two systems a and b, wherever a judge ranked both in one group."""

    # Those with such a ranking, in the order of the study
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    # Of shape (n_judges, n_problems): score of b less score of a; NaN where a judge did not rank
    # both. The mean over the blocks where there are several.
    difference: NDArray[np.float64]
    # Of shape (n_judges, n_problems): 1 where the judge put b above a, 0 below, 1/2 for a tie; NaN
    # as above.
    won: NDArray[np.float64]
    alone: int  # rankings that hold one of the two and not the other

    @property
    def n_cells(self) -> int:
        """Pairs of judge and problem with a ranking of both."""
        return int(np.isfinite(self.difference).sum())

    @property
    def by_problem(self) -> NDArray[np.float64]:
        """D_p: mean over the judges of the difference on each problem, shape (n_problems,)."""
        return np.asarray(np.nanmean(self.difference, axis=0))

    @property
    def mean(self) -> float:
        """D-bar: the mean of D_p over the problems; NaN where the two never met."""
        return float(self.by_problem.mean()) if self.problems else float("nan")

    @property
    def share_won(self) -> float:
        """The share of cells in which b is above a, ties one half; NaN where they never met."""
        return float(np.nanmean(self.won)) if self.problems else float("nan")

    @property
    def share_won_by_problem(self) -> NDArray[np.float64]:
        """The same for each problem, shape (n_problems,)."""
        return np.asarray(np.nanmean(self.won, axis=0))


def pair_up(cells: RankCells, a: str, b: str) -> RankDifferences:
    """Find the rankings that hold both systems, and how far apart they are in each."""
    of_a, of_b = (
        np.flatnonzero((cells.solver == cells.solvers.index(name)) & np.isfinite(cells.score))
        for name in (a, b)
    )
    _, in_a, in_b = np.intersect1d(cells.group[of_a], cells.group[of_b], return_indices=True)
    rows_a, rows_b = of_a[in_a], of_b[in_b]
    judges, judge = np.unique(cells.judge[rows_a], return_inverse=True)
    problems, problem = np.unique(cells.problem[rows_a], return_inverse=True)
    given_a, given_b = cells.given[rows_a], cells.given[rows_b]
    above = np.where(given_a == given_b, 0.5, given_b > given_a)
    shape = (len(judges), len(problems))
    key = judge * shape[1] + problem
    count = np.bincount(key, minlength=shape[0] * shape[1])

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.bincount(key, values, minlength=len(count))
        with np.errstate(invalid="ignore"):
            return (total / count).reshape(shape)

    return RankDifferences(
        tuple(cells.judges[i] for i in judges),
        tuple(cells.problems[i] for i in problems),
        mean(cells.score[rows_b] - cells.score[rows_a]),
        mean(above),
        len(of_a) + len(of_b) - 2 * len(rows_a),
    )
