"""The difference of two systems in years."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit

import quem
from quem.comparison.years import Difference, difference_interval, worth_differences
from quem.experience.expected_ranks import fit_worths
from quem.experience.simulation import HIGH, LOW, Scenario, simulate
from tests.experience.made import golden_study, printed_study, study_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.loading import Study

_LEVEL = 0.95


def _difference(study: Study, a: str = "K1", b: str = "K2", level: float = _LEVEL) -> Difference:
    findings = quem.analyze(study, bootstrap=0, permutations=0).findings
    return difference_interval(
        findings.cells, findings.averages, findings.function, a, b, level=level
    )


def _simulated(seed: int = 1, **scenario: object) -> Study:
    given_ = {"systems": (8.0, 5.0), **scenario}
    return quem.simulate_study(seed=seed, **given_)  # type: ignore[arg-type]


def _errors_by_hand(
    ranks: NDArray[np.float64], worth: NDArray[np.float64], information: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each cell says of each worth, by the information matrix of a group; no gaps."""
    chance = expit(worth[:, np.newaxis] - worth)
    drawn = expit(worth)
    matrix = -chance * (1 - chance)
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, 0.4 * drawn * (1 - drawn) - matrix.sum(axis=1))
    expected = chance.sum(axis=1) - 0.5 + 0.4 * (drawn - 0.5)
    surplus = ranks - 1 - expected
    moved = np.einsum("st,jpt->jps", np.linalg.inv(matrix), surplus)
    return np.asarray(moved * information**0.25)


def _by_hand(study: Study, level: float) -> tuple[float, float, float]:
    """The interval by loops over the variances and a search for its ends; no missing cells."""
    frame = study.rankings
    assert frame is not None
    ranks = frame.pivot_table(
        index=["judge", "problem"], columns="solver", values="rank", observed=True, sort=False
    )
    n_judges, n_problems = frame["judge"].nunique(), frame["problem"].nunique()
    table = ranks.to_numpy().reshape(1, n_judges, n_problems, -1)
    worths = fit_worths(table)
    solvers = list(ranks.columns)
    u = _errors_by_hand(table[0], worths.worth[0], worths.information[0])
    n_others = len(solvers) - 1
    sums = {"judge": 0.0, "problem": 0.0, "rest": 0.0}
    # Differences of two solvers, so that what a cell has for all drops out.
    for one, other in combinations(range(len(solvers)), 2):
        own = (u[:, :, one] - u[:, :, other]) / len(solvers) ** 0.5
        for j in range(n_judges):
            sums["judge"] += n_problems * (own[j].mean() - own.mean()) ** 2
            for p in range(n_problems):
                off = own[j, p] - own[j].mean() - own[:, p].mean() + own.mean()
                sums["rest"] += off**2
        for p in range(n_problems):
            sums["problem"] += n_judges * (own[:, p].mean() - own.mean()) ** 2
    df = {
        "judge": (n_judges - 1) * n_others,
        "problem": (n_problems - 1) * n_others,
        "rest": (n_judges - 1) * (n_problems - 1) * n_others,
    }
    mean = {name: sums[name] / df[name] for name in sums}
    a, b = solvers.index("K1"), solvers.index("K2")
    apart = u[:, :, a] - u[:, :, b]
    for name, level_of, axis in (
        ("judge", 0.3 if n_judges == 2 else 0.2, 1),
        ("problem", 0.05, 0),
    ):
        own = apart.shape[axis] * np.var(apart.mean(axis=axis), ddof=1) / 2
        df_own = apart.shape[1 - axis] - 1
        if stats.f.sf(own / mean[name], df_own, df[name]) < level_of:
            mean[name], df[name] = own, df_own
    total = mean["judge"] + mean["problem"] - mean["rest"]
    larger = max(("judge", "problem"), key=lambda name: mean[name])
    df_d = max(total**2 / sum(mean[name] ** 2 / df[name] for name in mean), 1)
    if total < mean[larger]:
        total, df_d = mean[larger], df[larger]
    v_d = total / apart.size * sum(worths.information[0, k] ** -0.5 for k in (a, b))

    line = stats.linregress(
        [s.experience for s in study.spec.subjects],
        [worths.worth[0, solvers.index(s.id)] for s in study.spec.subjects],
    )
    d, n = worths.worth[0, a] - worths.worth[0, b], len(study.spec.subjects)
    v_slope = (d / line.slope) ** 2 * line.stderr**2
    df_all = (v_d + v_slope) ** 2 / (v_d**2 / df_d + v_slope**2 / (n - 2))
    t = stats.t.ppf((1 + level) / 2, df_all)

    def beyond(delta: float) -> float:
        return float((d - line.slope * delta) ** 2 - t**2 * (v_d + delta**2 * line.stderr**2))

    middle = d / line.slope
    return middle, brentq(beyond, middle - 500, middle), brentq(beyond, middle, middle + 500)


@pytest.mark.parametrize("seed", range(8))
def test_interval_is_that_of_a_computation_by_hand(seed: int) -> None:
    """Loops and a root finder give the same difference and the same ends."""
    study = _simulated(seed, subjects=9, judges=2 + seed % 3, problems=3 + seed % 4)
    difference = _difference(study)
    assert difference.interval is not None
    expected = _by_hand(study, _LEVEL)
    np.testing.assert_allclose((difference.years, *difference.interval), expected, rtol=1e-6)


def test_numbers_are_those_computed_independently() -> None:
    """Estimate, interval, degrees of freedom, variance, and the tests of the two alone."""
    study, golden = golden_study("complete_3x4x10")
    wanted = golden["pair"]["years"]
    ranks = np.array(golden["ranks"], dtype=float)[np.newaxis]
    y = np.array([[*golden["experience"], np.nan, np.nan]])
    of = worth_differences(ranks, y, 9, 8, level=_LEVEL)
    found = (of.years, of.low, of.high, of.df, of.variance, of.p_taste, of.p_jagged)
    expected = [wanted["years"], *wanted["interval"], wanted["df"], wanted["v_D"]]
    expected += [wanted["p_taste"], wanted["p_problem"]]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-6)
    difference = _difference(study, "solver 9", "solver 8")
    assert difference.regressed == pytest.approx(wanted["difference_of_estimates"], rel=1e-6)


def test_estimates_by_regression_and_by_calibration() -> None:
    """They are the differences of the two systems' estimates of either kind."""
    study = _simulated(3)
    estimates = quem.analyze(study, bootstrap=0).estimates
    difference = _difference(study)
    first, second = estimates["experience"]
    assert difference.regressed == pytest.approx(first - second)
    first, second = estimates["calibration_experience"]
    assert difference.calibrated == pytest.approx(first - second)


@given(seed=st.integers(0, 50), level=st.sampled_from([0.5, 0.9, 0.95]))
def test_swapped_systems_flip_the_sign(seed: int, level: float) -> None:
    """B against A is A against B, the other way round."""
    study = _simulated(seed, subjects=8, judges=3, problems=4)
    one, other = _difference(study, level=level), _difference(study, "K2", "K1", level=level)
    assert other.regressed == pytest.approx(-one.regressed)
    if one.interval is None:
        assert other.interval is None
        return
    assert other.years == pytest.approx(-one.years)
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))


def test_a_constant_added_to_experience_changes_no_difference() -> None:
    """Everybody ten years older: the same difference. Years as months: twelve times of it."""
    simulated = simulate(Scenario(systems=(8.0, 5.0)), 20, seed=3)
    y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    plain, older, months = (
        worth_differences(simulated.ranks, years, 12, 13, level=_LEVEL)
        for years in (y, y + 10, y * 12)
    )
    np.testing.assert_allclose(older.low, plain.low)
    np.testing.assert_allclose(months.high, 12 * plain.high)


def test_interval_covers_what_it_should() -> None:
    """About 95 of 100 intervals cover the truth, at low and high noise."""
    for noise in (LOW, HIGH):
        simulated = simulate(Scenario(subjects=12, systems=(8.0, 5.0), noise=noise), 600, seed=5)
        y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
        differences = worth_differences(simulated.ranks, y, 12, 13, level=_LEVEL)
        known = np.isfinite(differences.low)
        covered = (differences.low <= 3.0) & (differences.high >= 3.0)
        assert 0.925 < covered[known].mean() < 0.98
        assert abs(np.nanmedian(differences.years) - 3.0) < 0.3


def test_absent_solutions_widen_the_interval() -> None:
    """A system judged on half of the problems has a wider interval, not none."""
    simulated = simulate(Scenario(problems=8, systems=(8.0, 5.0)), 50, seed=5)
    y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    ranks = simulated.ranks.copy()
    ranks[:, :, :4, 12] = np.nan
    widths = []
    ranked_anew = stats.rankdata(ranks, axis=-1, nan_policy="omit")
    for table in (simulated.ranks, ranked_anew):
        differences = worth_differences(table, y, 12, 13, level=_LEVEL)
        widths.append(np.median(differences.high - differences.low))
    assert 1.05 < widths[1] / widths[0] < 1.4


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ({"judges": 1}, "with one judge, judge × solver variance cannot be separated from quality"),
        ({"judges": 2, "problems": 7}, "with two judges and more than 6 problems"),
        ({"problems": 1}, "3 problems on which all judges ranked both; there is 1"),
        ({"problems": 2}, "3 problems on which all judges ranked both; there are 2"),
        ({"subjects": 6}, "known to hold from 7 subjects on, and there are 6"),
        (
            {"subjects": 7, "noise": "high", "judges": 2, "problems": 3, "experience": (1, 1.5)},
            "quality does not rise clearly enough with experience",
        ),
    ],
)
def test_no_interval_where_none_is_known_to_hold(scenario: dict[str, object], reason: str) -> None:
    """The difference is given without an interval, and why."""
    difference = _difference(_simulated(1, **scenario))
    assert difference.interval is None
    assert np.isnan(difference.years)
    assert np.isfinite(difference.regressed)
    assert reason in difference.reason


def test_no_interval_for_averages_and_blocks() -> None:
    """A study of averages has no cells, and blocks were not tested."""
    years = {f"S{i}": float(i) for i in range(6)}
    averages = {f"S{i}": 1.0 + i + 0.1 * (i % 2) for i in range(6)} | {"K1": 3.0, "K2": 4.0}
    difference = _difference(printed_study(averages, years))
    assert (difference.interval, difference.reason) == (None, "the study has averages only")
    cells = {("J1", p, s): r for p in ("P1", "P2") for s, r in averages.items()}
    blocks = {cell: 1 + i // (1 + (cell[1] == "P2")) % 2 for i, cell in enumerate(cells)}
    blocked = _difference(study_of(cells, years, blocks=blocks))
    assert (blocked.interval, blocked.reason) == (None, "groups were judged in blocks")
