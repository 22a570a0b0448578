"""The difference of two systems in years."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.comparison.years import Difference, difference_interval, worth_differences
from quem.experience.simulation import HIGH, LOW, Scenario, simulate
from tests.experience.made import golden_study, printed_study, study_of

if TYPE_CHECKING:
    from quem.rankings.loading import Study

_LEVEL = 0.95


def _difference(study: Study, a: str = "K1", b: str = "K2", level: float = _LEVEL) -> Difference:
    findings = quem.analyze(study, bootstrap=0, permutations=0).findings
    return difference_interval(
        findings.cells, findings.averages, findings.function, a, b, level=level
    )


def _simulated(seed: int = 1, **scenario: object) -> Study:
    given_ = {"systems": (8.0, 5.0), **scenario}
    return quem.simulate_study(seed=seed, **given_)  # type: ignore[arg-type]


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


@settings(max_examples=10)
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
