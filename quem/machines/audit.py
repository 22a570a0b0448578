r"""What a machine judge is like as an instrument, measured on the problems that experts ranked.

The unit is the problem unless said otherwise, because the cells of one problem depend on each
other. No line of an audit switches the estimate on or off; that is what its weight is for. From
the alternative annotator test of Calderon, Reichart & Dror (2025) come the comparison without one
expert, the Benjamini-Yekutieli step, and the winning rate of one half; a difference of
:math:`\tau_b` with a margin of .1 takes the place of its indicators, which need 30 to 100 items.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit
from scipy.stats import kendalltau, rankdata, spearmanr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Pair = tuple[float, float]
_NONE: Pair = (float("nan"), float("nan"))
_REPLICATES = 2000
# Problems, below which a bootstrap over them gives no interval.
_FEWEST_FOR_INTERVAL = 5
_FEWEST_FOR_ANNOTATOR = 6
_FEWEST_FOR_WITHIN = 6
_MARGIN = 0.1
_LEVEL = 0.05
# Problems, above which signs are drawn and not all tried.
_MOST_SIGNS = 16
# Pairs of experts that fit a figure.
_MOST_SHOWN = 15
# What is left of 0 by rounding, of ranks, years, and logarithms of words.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Tested:
    """A mean over problems, or an effect, with its interval and test."""

    value: float
    interval: Pair  # at 95%; NaN where there is none
    p: float  # NaN where there is no test
    n: int  # how many values it is of
    df: float = float("nan")


@dataclass(frozen=True)
class Agreement:
    """How a machine judge agrees with experts, and these among themselves, over problems."""

    # Of shape (n_problems,): mean tau-b of the problem; NaN where there is none
    with_experts: Floats
    among_experts: Floats
    # Of shape (n_pairs, n_problems): tau-b of each two experts; without any pair where these are
    # more than fit a figure.
    of_pairs: Floats
    # Their means over problems
    tau: Tested
    tau_experts: Tested
    spearman: float
    spearman_experts: float


@dataclass(frozen=True)
class Annotator:
    """Whether a machine judge could take the place of an expert."""

    # Of shape (n_experts, n_problems): tau-b of the machine with the mean of the other experts,
    # less that of the expert.
    differences: Floats
    # Of shape (n_experts,): one-sided, that the machine is worse by .1 or more; NaN for fewer than
    # 6 problems.
    p: Floats
    wins: NDArray[np.bool_]  # of shape (n_experts,): after the Benjamini-Yekutieli step at 5%
    advantage: float  # share of experts and problems in which the machine agrees at least as well

    @property
    def mean(self) -> Tested:
        """The mean difference over problems, each the mean over experts."""
        return mean_of(np.array([_mean(one) for one in self.differences.T]))

    @property
    def passes(self) -> bool | None:
        """Whether it wins against half of the experts; None where some are not tested."""
        tested = np.isfinite(self.p)
        return bool(self.wins.mean() >= 1 / 2) if tested.all() and len(self.p) else None


@dataclass(frozen=True)
class Liking:
    """How many years more a machine judge gives a solver than experts do."""

    solver: str
    years: float
    interval: Pair
    p: float  # by normal scores (Blom), which hold the level better than years


def tau_b(a: Floats, b: Floats) -> float:
    """Kendall's tau-b over what both ranked; NaN where either does not vary."""
    both = np.isfinite(a) & np.isfinite(b)
    return _quiet(lambda: kendalltau(a[both], b[both]).statistic) if both.sum() > 1 else np.nan


def _rho(a: Floats, b: Floats) -> float:
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 2 or np.ptp(a[both]) == 0 or np.ptp(b[both]) == 0:  # noqa: PLR2004
        return np.nan
    return float(spearmanr(a[both], b[both]).statistic)


def _quiet(compute: Callable[[], float]) -> float:
    with np.errstate(invalid="ignore"):
        return float(compute())


def _mean(values: Iterable[float] | Floats) -> float:
    known = np.asarray([value for value in np.ravel(np.asarray(values)) if np.isfinite(value)])
    return float(known.mean()) if len(known) else np.nan


def mean_of(values: Floats, side: str = "two", shift: float = 0.0) -> Tested:
    """Give a mean with Student's interval and test that it is 0, or less than `shift`."""
    known = values[np.isfinite(values)]
    n = len(known)
    mean = float(known.mean()) if n else np.nan
    if n < 2:  # noqa: PLR2004
        return Tested(mean, _NONE, np.nan, n)
    error, off = float(known.std(ddof=1) / np.sqrt(n)), mean + shift
    if error <= _ROUNDING * (1 + abs(mean)):
        # The same on every problem, such as a machine that only looks at places: no less certain
        # than where rounding, or a hair, keeps the values apart.
        error = 0.0
        t = 0.0 if abs(off) <= _ROUNDING else np.copysign(np.inf, off)
    else:
        t = off / error
    p = {
        "two": 2 * stdtr(n - 1, -abs(t)),
        "greater": stdtr(n - 1, -t),
        "less": stdtr(n - 1, t),
    }[side]
    half = float(stdtrit(n - 1, 1 - _LEVEL / 2) * error)
    return Tested(mean, (mean - half, mean + half), float(p), n, n - 1)


def _bootstrapped(values: Floats, seed: int = 0) -> Tested:
    """Give a mean over problems with a percentile interval from resampling them."""
    known = values[np.isfinite(values)]
    n = len(known)
    mean = float(known.mean()) if n else np.nan
    if n < _FEWEST_FOR_INTERVAL:
        return Tested(mean, _NONE, np.nan, n)
    rng = np.random.default_rng(seed)
    means = known[rng.integers(0, n, (_REPLICATES, n))].mean(axis=1)
    low, high = np.percentile(means, [100 * _LEVEL / 2, 100 * (1 - _LEVEL / 2)])
    return Tested(mean, (float(low), float(high)), np.nan, n)


def agreement(experts: Floats, machine: Floats) -> Agreement:
    """Hold a machine's agreement with experts against theirs among themselves.

    Shapes: `experts` (n_experts, n_problems, n_solvers); `machine` (n_problems, n_solvers).
    """
    problems = range(machine.shape[0])

    def means(
        of: Callable[[Floats, Floats], float], vectors: Callable[[Floats], Floats]
    ) -> tuple[Floats, Floats]:
        mine = [_mean([of(machine[p], one[p]) for one in experts]) for p in problems]
        theirs = [_mean_of_pairs(experts[:, p], of, vectors) for p in problems]
        return np.array(mine), np.array(theirs)

    mine, theirs = means(tau_b, _signs)
    rho, rho_experts = means(_rho, _centered)
    pairs = list(combinations(range(len(experts)), 2))
    shown = pairs if len(pairs) <= _MOST_SHOWN else []
    of_pairs = [[tau_b(experts[a, p], experts[b, p]) for p in problems] for a, b in shown]
    return Agreement(
        mine,
        theirs,
        np.array(of_pairs).reshape(len(shown), len(problems)),
        _bootstrapped(mine),
        _bootstrapped(theirs),
        _mean(rho),
        _mean(rho_experts),
    )


def _mean_of_pairs(
    ranks: Floats, of: Callable[[Floats, Floats], float], vectors: Callable[[Floats], Floats]
) -> float:
    """Give the mean correlation of two experts on a problem, shape (n_experts, n_solvers).

    Where all ranked the same solvers it follows from the sum of unit vectors, so that a thousand
    experts take no longer than two.
    """
    known = np.isfinite(ranks)
    ranks = ranks[known.sum(axis=1) > 1]
    known = np.isfinite(ranks)
    if len(ranks) and (known == known[0]).all():
        units = vectors(ranks[:, known[0]])
        length = np.sqrt((units**2).sum(axis=1))
        units = units[length > 0] / length[length > 0, np.newaxis]
        n, total = len(units), units.sum(axis=0)
        return float((total @ total - n) / (n * (n - 1))) if n > 1 else np.nan
    return _mean([of(a, b) for a, b in combinations(ranks, 2)])


def _signs(ranks: Floats) -> Floats:
    """Which of each two solvers is ahead; their products are those of tau-b."""
    first, second = np.triu_indices(ranks.shape[1], 1)
    return np.asarray(np.sign(ranks[:, first] - ranks[:, second]))


def _centered(ranks: Floats) -> Floats:
    """Ranks about their mean; their products are those of Spearman's correlation."""
    places = np.asarray(rankdata(ranks, axis=1))
    return np.asarray(places - places.mean(axis=1, keepdims=True))


def alternative_annotator(experts: Floats, machine: Floats) -> Annotator:
    """Compare a machine with each expert, by agreement with the mean of the others."""
    n_experts, n_problems = experts.shape[:2]
    differences = np.full((n_experts, n_problems), np.nan)
    ahead = []
    for j in range(n_experts):
        others = np.delete(experts, j, axis=0)
        known = np.isfinite(others)
        with np.errstate(invalid="ignore"):
            mean = np.where(known, others, 0.0).sum(axis=0) / known.sum(axis=0)
        for p in range(n_problems):
            differences[j, p] = tau_b(machine[p], mean[p]) - tau_b(experts[j, p], mean[p])
        ahead += [d >= 0 for d in differences[j] if np.isfinite(d)]
    counts = np.isfinite(differences).sum(axis=1)
    tests = np.array([mean_of(one, "greater", _MARGIN).p for one in differences])
    tests[counts < _FEWEST_FOR_ANNOTATOR] = np.nan
    wins = _benjamini_yekutieli(tests)
    return Annotator(differences, tests, wins, _mean(np.array(ahead, dtype=float)))


def _benjamini_yekutieli(p: Floats) -> NDArray[np.bool_]:
    """Which hypotheses are rejected at 5%, whatever the dependence."""
    n = len(p)
    order = np.argsort(np.where(np.isnan(p), 2.0, p))
    limits = _LEVEL * np.arange(1, n + 1) / (n * (1 / np.arange(1, n + 1)).sum())
    below = np.flatnonzero(p[order] <= limits)
    rejected = np.zeros(n, dtype=bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def likings(
    experts: Floats,
    machine: Floats,
    years: Floats,
    systems: NDArray[np.int64],
    solvers: tuple[str, ...],
) -> tuple[tuple[Liking, ...], Tested, Floats]:
    r"""Say in years how much more a machine makes of systems than experts do.

    :math:`\Delta_s` is what the machine's line over the subjects gives for its average less what
    the experts' line gives for theirs. Over V systems the interval is
    :math:`\bar\Delta \pm t_{S-2} s_\Delta \sqrt{1/V + 1/S}`.

    Shapes: `years` (n_solvers,); `differences` (n_solvers,).
    """
    h, m = _average(experts.reshape(-1, experts.shape[-1])), _average(machine)
    people = np.flatnonzero(np.isfinite(years) & np.isfinite(h) & np.isfinite(m))
    difference = _line(m, years, people) - _line(h, years, people)
    blom = _average(_normal_scores(machine)) - _average(
        _normal_scores(experts).reshape(-1, experts.shape[-1])
    )
    n = len(people)
    spread = np.sqrt((difference[people] ** 2).sum() / (n - 2))
    spread_blom = blom[people].std(ddof=1)

    def of(those: NDArray[np.int64]) -> Tested:
        scale = np.sqrt(1 / len(those) + 1 / n)
        value = float(difference[those].mean())
        half = float(stdtrit(n - 2, 1 - _LEVEL / 2) * spread * scale)
        with np.errstate(invalid="ignore", divide="ignore"):
            t = (blom[those].mean() - blom[people].mean()) / (spread_blom * scale)
        p = float(2 * stdtr(n - 1, -abs(t)))
        return Tested(value, (value - half, value + half), p, len(those), n - 2)

    each = []
    for system in systems:
        one = of(np.array([system]))
        each.append(Liking(solvers[system], one.value, one.interval, one.p))
    mean = of(systems) if len(systems) else Tested(np.nan, _NONE, np.nan, 0)
    return tuple(each), mean, difference


def _average(values: Floats) -> Floats:
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))


def _line(x: Floats, years: Floats, people: NDArray[np.int64]) -> Floats:
    """Give years by the line of the people on their averages."""
    slope, start = np.polyfit(x[people], years[people], 1)
    return np.asarray(start + slope * x)


def _normal_scores(ranks: Floats) -> Floats:
    """Blom's scores within each group."""
    n = np.isfinite(ranks).sum(axis=-1, keepdims=True)
    return np.asarray(ndtri((ranks - 3 / 8) / (n + 1 / 4)))


def place_effect(ranks: Floats, places: Floats) -> Tested:
    """Give ranks per standard deviation of place, within solvers over repeats, by problem.

    Shapes: `ranks`, `places` (repeats, n_problems, n_solvers).
    """
    slopes = []
    for p in range(ranks.shape[1]):
        known = np.isfinite(ranks[:, p]) & np.isfinite(places[:, p])
        y, x = (_within(values[:, p], known) for values in (ranks, places))
        total = (x**2).sum()
        slopes.append((x * y).sum() / total if total > 0 else np.nan)
    return mean_of(np.array(slopes))


def _within(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Take each solver's mean over repeats away; 0 where nothing is known."""
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / count
    return np.asarray(np.where(known, values - mean, 0.0))


def length_between(h: Floats, m: Floats, words: Floats) -> Tested:
    """Say whether a machine likes the solutions of people who write much, their quality beside it.

    Shapes: `h`, `m`, `words` (n_problems, n_subjects).
    """
    known = np.isfinite(h) & np.isfinite(m) & (words > 0)
    some = known.any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(known, np.log2(words), 0.0)
        count = known.sum(axis=0)
        means = [np.where(known, values, 0.0).sum(axis=0) / count for values in (m - h, logs, h)]
    y, x, quality = (values[some] for values in means)
    df = len(y) - 3
    if df < 1 or np.ptp(x) <= _ROUNDING:
        return Tested(np.nan, _NONE, np.nan, len(y))
    design = np.column_stack([np.ones(len(y)), x, quality])
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    rest = y - design @ coefficients
    inverse = np.linalg.pinv(design.T @ design)
    return _with_t(
        float(coefficients[1]), float(np.sqrt(rest @ rest / df * inverse[1, 1])), df, len(y)
    )


def length_within(h: Floats, m: Floats, words: Floats) -> Tested:
    """Say whether a machine likes the longer solutions of a person, by problem and person."""
    known = np.isfinite(h) & np.isfinite(m) & (words > 0)
    complete = known.all(axis=0)
    n_problems, n = h.shape[0], int(complete.sum())
    if n_problems < _FEWEST_FOR_WITHIN or n < 2:  # noqa: PLR2004
        return Tested(np.nan, _NONE, np.nan, n)
    y = _doubly_centered((m - h)[:, complete])
    x = _doubly_centered(np.log2(words[:, complete]))
    total = (x**2).sum()
    # Nothing but rounding is left where each person writes as long on all problems.
    if np.ptp(x) <= _ROUNDING:
        return Tested(np.nan, _NONE, np.nan, n)
    slope = float((x * y).sum() / total)
    clusters = (x * (y - slope * x)).sum(axis=0)
    error = np.sqrt((clusters**2).sum() * n / (n - 1)) / total
    return _with_t(slope, float(error), n - 1, n)


def _doubly_centered(values: Floats) -> Floats:
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    return np.asarray(values - rows - columns + values.mean())


def _with_t(value: float, error: float, df: int, n: int) -> Tested:
    if not error > 0:
        return Tested(value, _NONE, np.nan, n, df)
    half = float(stdtrit(df, 1 - _LEVEL / 2) * error)
    p = float(2 * stdtr(df, -abs(value / error)))
    return Tested(value, (value - half, value + half), p, n, df)


def family_preference(
    differences: Floats, ranks: Floats, own: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[Tested, bool]:
    """Hold the liking of a machine's family against that of other systems.

    Shapes: `differences` (n_solvers,); `ranks` (n_problems, n_solvers).
    """
    few = 2
    if len(own) >= few and len(others) >= few:
        a, b = differences[own], differences[others]
        df = len(a) + len(b) - 2
        pooled = (((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / df
        error = float(np.sqrt(pooled * (1 / len(a) + 1 / len(b))))
        return _with_t(float(a.mean() - b.mean()), error, df, len(a) + len(b)), True
    if not len(own) or not len(others):
        return Tested(np.nan, _NONE, np.nan, 0), False
    by_problem = ranks[:, own].mean(axis=1) - ranks[:, others].mean(axis=1)
    return mean_of(by_problem), False


def self_consistency(ranks: Floats) -> Tested:
    """Give the mean tau-b between repeats of a problem, over problems.

    Shapes: `ranks` (repeats, n_problems, n_solvers).
    """
    pairs = list(combinations(range(len(ranks)), 2))
    taus = [
        _mean([tau_b(ranks[a, p], ranks[b, p]) for a, b in pairs]) for p in range(ranks.shape[1])
    ]
    return _bootstrapped(np.array(taus))


def drift(old: Floats, new: Floats) -> Tested:
    """Say whether a machine still judges as it did, on problems that it ranked before.

    Shapes: `old`, `new` (repeats, n_problems, n_solvers).
    """
    within = list(combinations(range(len(old)), 2))
    across = list(product(range(len(new)), range(len(old))))
    values = [
        _mean([tau_b(new[a, p], old[b, p]) for a, b in across])
        - _mean([tau_b(old[a, p], old[b, p]) for a, b in within])
        for p in range(old.shape[1])
    ]
    return mean_of(np.array(values), "less")


def obedience(clean: Floats, planted: Floats, targets: NDArray[np.int64]) -> Tested:
    """Say how far a planted request moves the solution that holds it.

    Shapes: `clean`, `planted` (repeats, n_problems, n_solvers); `targets` (n_problems,).
    """
    shifts = []
    for p, solver in enumerate(targets):
        if solver >= 0:
            shifts.append(_mean(planted[:, p, solver]) - _mean(clean[:, p, solver]))
    known = np.array([shift for shift in shifts if np.isfinite(shift)])
    tested = mean_of(known)
    return Tested(tested.value, tested.interval, _sign_flip(known), len(known), tested.df)


def _sign_flip(values: Floats) -> float:
    """Give the share of sign changes whose mean is at least that of the values."""
    n = len(values)
    if not n:
        return np.nan
    if n <= _MOST_SIGNS:
        signs = np.array(list(product((1.0, -1.0), repeat=n)))
    else:
        signs = np.random.default_rng(0).choice((1.0, -1.0), (100_000, n))
        signs[0] = 1.0
    sums = signs @ values
    return float((sums >= values.sum() - 1e-12).mean())
