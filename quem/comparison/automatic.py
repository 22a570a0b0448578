"""Which test two systems of one study get, by what the data say of the judges.

The t test over problems has the same judges in mind, and rejects too often where these like or
dislike a system's style. The two-way test has other judges in mind, at the price of power. With
three judges or more their differences decide; two show too little of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc, fdtri, stdtrit

from quem.comparison.pair_tests import problem_test, refusal, run_test, t_test, twoway_test
from quem.wording import format_number, format_p

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from quem.comparison.pair_tests import PairTest, RankDifferences

    Floats = NDArray[np.float64]
    Three = tuple[Floats, Floats, Floats]

# Where judges differ at this level, they count as a sample.
_TASTE_LEVEL = 0.2
_TWO = 2
# Less than this share of a difference is what rounding leaves of no variance.
_ROUNDING = 1e-9
_NONE = float("nan")


def crossed_variance(parts: Three, freedom: Three) -> tuple[Floats, Floats]:
    r"""Give the variance of a mean over problems and judges, both random, and its df.

    :math:`MS_P + MS_J - MS_E` in the unit of the parts, with Satterthwaite's degrees of freedom,
    1 at least; never less than either of the first two, and then with that one's.
    """
    problems, judges, rest = parts
    total, larger = problems + judges - rest, np.maximum(problems, judges)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = sum(part**2 / of for part, of in zip(parts, freedom, strict=True))
        df = np.where(total > 0, total**2 / spread, 1.0)
    alone = np.where(problems >= judges, freedom[0], freedom[1])
    df = np.where(total < larger, alone, df)
    return np.maximum(total, larger), np.maximum(df, 1.0)


def automatic_variance(
    squares: Three, judges: ArrayLike, problems: ArrayLike
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    r"""Choose the test of a mean difference by its mean squares.

    One judge: t over problems. Two judges: two-way. More: two-way where :math:`MS_J/MS_E` is above
    the 80% point of F(J - 1, (J - 1)(P - 1)), else t over problems.
    """
    j, p = (np.asarray(of, dtype=np.float64) for of in (judges, problems))
    freedom = p - 1, j - 1, (j - 1) * (p - 1)
    of_problems, of_judges, rest = squares
    several = np.where(j > _TWO, j, _TWO + 1)
    least = fdtri(several - 1, (several - 1) * (p - 1), 1 - _TASTE_LEVEL)
    is_twoway = (j == _TWO) | ((j > _TWO) & (of_judges > least * rest))
    crossed, df = crossed_variance(squares, freedom)
    variance = np.where(is_twoway, crossed, of_problems) / (j * p)
    return variance, np.where(is_twoway, df, freedom[0]), is_twoway


@dataclass(frozen=True)
class AutomaticTests:
    """Tests of two systems in each of b studies."""

    # Of shape (b,): the difference in average rank, its variance, and the degrees of freedom of
    # that
    mean: Floats
    variance: Floats
    df: Floats
    # Of shape (b,): of the test that judges do not differ on the two; NaN with one judge
    f: Floats
    p_judges: Floats
    # Of shape (b,): whether the test is two-way; else it is over problems.
    is_twoway: NDArray[np.bool_]

    def finds(self, level: float) -> NDArray[np.int64]:
        """Say which system is found better at a level, two-sided: 1, -1, or 0 for neither."""
        critical = stdtrit(self.df, 1 - level / 2) * np.sqrt(self.variance)
        return np.where(np.abs(self.mean) > critical, np.sign(self.mean), 0).astype(np.int64)


def automatic_tests(difference: Floats) -> AutomaticTests:
    r"""Test two systems by what judges and problems show of both.

    By the mean squares of problems, of judges, and of the rest (`automatic_variance`).

    Shapes: `difference` (b, judges, problems).
    """
    n_judges, n_problems = difference.shape[1:]
    mean = difference.mean(axis=(1, 2))
    off = difference - mean[:, np.newaxis, np.newaxis]
    of_judge, of_problem = off.mean(axis=2), off.mean(axis=1)
    rest = off - of_judge[:, :, np.newaxis] - of_problem[:, np.newaxis]
    least = (_ROUNDING * np.abs(difference).max(axis=(1, 2))) ** 2

    def square(total: Floats, df: int) -> Floats:
        found = total / df if df else np.full(total.shape, _NONE)
        return np.where(found <= least, 0.0, found)

    freedom = n_problems - 1, n_judges - 1, (n_judges - 1) * (n_problems - 1)
    problems = square(n_judges * (of_problem**2).sum(axis=1), freedom[0])
    judges = square(n_problems * (of_judge**2).sum(axis=1), freedom[1])
    error = square((rest**2).sum(axis=(1, 2)), freedom[2])
    with np.errstate(invalid="ignore", divide="ignore"):
        f = judges / error
    p_judges = np.where(np.isposinf(f), 0.0, fdtrc(freedom[1], freedom[2], f))
    of = automatic_variance((problems, judges, error), n_judges, n_problems)
    return AutomaticTests(mean, of[0], of[1], f, p_judges, of[2])


@dataclass(frozen=True)
class AutomaticTest:
    """The test that two systems of a study get."""

    name: Literal["problem", "twoway"]  # over problems, or two-way
    why: str  # as a clause: "with two judges ..."
    test: PairTest
    # Of the test that judges do not differ on the two; NaN where there is none
    f: float = _NONE
    p_judges: float = _NONE
    df: tuple[int, int] = (0, 0)  # its degrees of freedom


def automatic_test(paired: RankDifferences, level: float) -> AutomaticTest:
    """Choose a test for two systems, and do it.

    Where rankings are missing, on the problems on which all of the pair's judges ranked both;
    with fewer than two of these, the two-way test of all rankings of both, where it is possible.
    """
    n_judges, n_problems = paired.difference.shape
    if refusal("problem", paired):
        none = run_test("problem", paired, level=level, permutations=0, seed=0)
        return AutomaticTest("problem", "the data allow no test", none)
    if n_judges == 1:
        why = f"{paired.judges[0]} alone ranked both, and it holds for this judge only"
        return AutomaticTest("problem", why, problem_test(paired.by_problem, level))
    common = np.isfinite(paired.difference).all(axis=0)
    table = paired.difference[:, common]
    if table.shape[1] < _TWO:
        few = "too few problems have a ranking of both by all judges"
        if refusal("twoway", paired):
            why = f"{few}, and too few rankings are of both for a two-way test"
            return AutomaticTest("problem", why, problem_test(paired.by_problem, level))
        return AutomaticTest("twoway", few, twoway_test(paired.difference, level))
    of = automatic_tests(table[np.newaxis])
    scale = float(np.abs(table).max())
    mean, variance, df = float(of.mean[0]), float(of.variance[0]), float(of.df[0])
    f, p = float(of.f[0]), float(of.p_judges[0])
    freedom = n_judges - 1, (n_judges - 1) * (table.shape[1] - 1)
    is_twoway = bool(of.is_twoway[0])
    why = _why(n_judges, f, p, freedom, is_twoway=is_twoway)
    if table.shape[1] < n_problems:
        why += f"; on the {table.shape[1]} of {n_problems} problems where all judges ranked both"
    return AutomaticTest(
        "twoway" if is_twoway else "problem",
        why,
        t_test(mean, variance, df, level, scale=scale),
        f,
        p,
        freedom,
    )


def _why(n_judges: int, f: float, p: float, df: tuple[int, int], *, is_twoway: bool) -> str:
    if n_judges == _TWO:
        return "two judges show too little of their tastes"
    if np.isnan(p):
        return "judges do not differ on this pair"
    shown = f"F({df[0]}, {df[1]}) = {format_number(f, 2)}, {format_p(p)}"
    if is_twoway:
        return f"judges may differ on this pair ({shown})"
    return f"judges differ on this pair no more than by chance ({shown})"
