"""The audit's statistics: golden values, SciPy and statsmodels, and what fakes give."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quem.machines import audit
from quem.machines.track import line_of, track
from tests.machines.made import GOLDEN
from tests.machines.test_control import golden_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STUDY, EXPECTED = GOLDEN["study"], GOLDEN["audit"]
SEEDS = st.integers(0, 2**32 - 1)


def golden() -> tuple[Floats, Floats, Floats]:
    """Give the experts' ranks, those of M1, and years."""
    solvers = STUDY["solvers"]
    experts = np.array([[one["ranks"][s] for s in solvers] for one in STUDY["experts"]])
    years = np.array([*STUDY["years_of_subjects"], np.nan])
    return experts.transpose(0, 2, 1).astype(float), golden_ranks()[1][0, :4], years


def test_golden_agreement() -> None:
    """Of the machine with each expert, and of the experts."""
    experts, machine, _ = golden()
    for name, one in zip(("J1", "J2"), experts, strict=True):
        mine = [audit.tau_b(m, e) for m, e in zip(machine, one, strict=True)]
        assert mine == pytest.approx(EXPECTED[f"tau_b_machine_{name}"], abs=1e-6)
    found = audit.agreement(experts, machine)
    assert found.among_experts == pytest.approx(EXPECTED["tau_b_J1_J2"], abs=1e-6)
    assert found.tau.value == pytest.approx(EXPECTED["mean_machine_expert"], abs=1e-6)
    assert found.tau_experts.value == pytest.approx(EXPECTED["mean_expert_expert"], abs=1e-6)
    # Four problems are too few for a bootstrap.
    assert np.isnan(found.tau.interval).all()


def test_golden_annotator() -> None:
    """Differences and their tests, which four problems are too few to print."""
    experts, machine, _ = golden()
    expected = EXPECTED["alternative_annotator"]
    found = audit.alternative_annotator(experts, machine)
    for name, row in zip(("J1", "J2"), found.differences, strict=True):
        assert row == pytest.approx(expected[f"D_against_{name}"], abs=1e-6)
        tested = audit.mean_of(row, "greater", 0.1)
        assert tested.p == pytest.approx(expected[f"p_{name}"], abs=1e-6)
    assert np.isnan(found.p).all()
    assert found.passes is None


def test_golden_liking() -> None:
    """In years with its interval; the test is by normal scores."""
    experts, machine, years = golden()
    expected = EXPECTED["liking_of_the_system"]
    (one,), mean, differences = audit.likings(
        experts, machine, years, np.array([8]), tuple(STUDY["solvers"])
    )
    assert one.years == pytest.approx(expected["years"], abs=1e-6)
    assert one.interval == pytest.approx(tuple(expected["interval"]), abs=1e-6)
    assert one.p == pytest.approx(expected["blom_p"], abs=1e-6)
    assert (mean.value, mean.p) == (one.years, one.p)
    assert differences[:8].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("name", "count"), [("track", 4), ("track_three_versions", 3)])
def test_golden_track(name: str, count: int) -> None:
    """Years of a version that only the machine ranked."""
    data, expected = GOLDEN["track"], GOLDEN[name]
    years = np.array(STUDY["years_of_subjects"])
    experts = line_of(np.array(data["people_experts"]), years)
    machine = line_of(np.array(data["people_machine"]), years)
    h, m = (np.array(data[key][:count]) for key in ("versions_experts", "versions_machine"))
    found = track(experts, machine, (h, m), data["new_version_machine"])
    assert found.differences == pytest.approx(expected["differences"], abs=1e-6)
    assert -found.generous == pytest.approx(expected["mean_difference"], abs=1e-6)
    assert found.machine_years == pytest.approx(expected["machine_years"], abs=1e-6)
    assert found.years == pytest.approx(expected["estimate"], abs=1e-6)
    assert found.interval == pytest.approx((expected["low"], expected["high"]), abs=1e-6)
    assert found.df == pytest.approx(expected["df"], abs=1e-6)
    assert found.half_of_experts == pytest.approx(expected["half_width_of_experts"], abs=1e-6)
    assert found.side == "inside"


@given(seed=SEEDS)
def test_a_line_agrees_with_scipy(seed: int) -> None:
    """Slope, intercept, p, and the variance of a prediction."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, 9)
    y = 3 * x + rng.normal(0, 2, 9)
    line, expected = line_of(x, y), stats.linregress(x, y)
    assert (line.slope, line.start) == pytest.approx((expected.slope, expected.intercept))
    assert line.p == pytest.approx(expected.pvalue)
    s2 = ((y - expected.intercept - expected.slope * x) ** 2).sum() / 7
    at = 1.5
    spread = 1 + 1 / 9 + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    assert line.variance(float(line.years(at))) == pytest.approx(s2 * spread)


def test_a_version_beyond_what_is_calibrated() -> None:
    """Above it there is a lower bound alone, and below nothing."""
    rng = np.random.default_rng(0)
    years = np.arange(1.0, 13.0)
    experts = line_of(years + rng.normal(0, 0.3, 12), years)
    machine = line_of(years + rng.normal(0, 0.3, 12), years)
    versions = np.array([4.0, 5.0, 6.0]), np.array([6.0, 6.8, 8.0])
    assert track(experts, machine, versions, 8.9).side == "inside"
    above = track(experts, machine, versions, 9.1)
    assert (above.side, np.isfinite(above.bound)) == ("above", True)
    assert above.bound == pytest.approx(above.years - stats.t.ppf(0.95, above.df) * above.error)
    assert above.at_least(above.bound) == pytest.approx(0.95)
    below = track(experts, machine, versions, 4.9)
    assert (below.side, np.isnan(below.bound)) == ("below", True)


def ranked(scores: Floats) -> Floats:
    """Rank along the last axis, with ties."""
    return np.apply_along_axis(stats.rankdata, -1, scores)


def test_place_and_length_are_found_where_they_are() -> None:
    """A liking for the first place and for long texts, against statsmodels; and none."""
    rng = np.random.default_rng(3)
    repeats, n_problems, n = 2, 8, 10
    quality = np.arange(n) + rng.normal(0, 1, (n_problems, n))
    order = np.argsort(rng.random((n_problems, n)), axis=1).astype(float)
    places = np.stack([order, n - 1 - order]) - (n - 1) / 2
    places /= np.sqrt((n**2 - 1) / 12)
    fair = ranked(np.broadcast_to(quality, (repeats, n_problems, n)))
    biased = ranked(quality - 2 * places)
    none, some = audit.place_effect(fair, places), audit.place_effect(biased, places)
    assert none.value == pytest.approx(0)
    assert some.value < -0.5
    assert some.p < 0.001
    words = np.exp2(rng.normal(8, 1, (n_problems, n)))
    h = fair.mean(axis=0)
    m = ranked(quality + 1.5 * (np.log2(words) - 8))
    within = audit.length_within(h, m, words)
    assert within.p < 0.01
    between = audit.length_between(h, m, words)
    from statsmodels.regression.linear_model import OLS

    y, x = (m - h).mean(axis=0), np.log2(words).mean(axis=0)
    fitted = OLS(y, np.column_stack([np.ones(n), x, h.mean(axis=0)])).fit()
    assert between.value == pytest.approx(fitted.params[1])
    assert between.p == pytest.approx(fitted.pvalues[1])
    x2, y2 = np.log2(words), m - h
    rows = [(s, p) for s, p in product(range(n), range(n_problems))]

    def centered(v: Floats) -> Floats:
        return np.asarray(v - v.mean(0) - v.mean(1, keepdims=True) + v.mean())

    flat = np.array([(centered(x2)[p, s], centered(y2)[p, s], s) for s, p in rows])
    clustered = OLS(flat[:, 1], flat[:, :1]).fit(
        cov_type="cluster",
        cov_kwds={"groups": flat[:, 2].astype(int), "use_correction": False},
        use_t=True,
    )
    assert within.value == pytest.approx(clustered.params[0])
    error = clustered.bse[0] * np.sqrt(n / (n - 1))
    assert within.p == pytest.approx(2 * stats.t.sf(within.value / error, n - 1))


def test_length_needs_problems() -> None:
    """Below six the test within persons rejects too often, so there is none."""
    h = np.zeros((5, 8))
    assert np.isnan(audit.length_within(h, h, np.ones((5, 8))).p)


def test_drift_is_found_where_a_machine_judges_otherwise() -> None:
    """And not where it repeats itself."""
    rng = np.random.default_rng(1)
    quality = rng.normal(0, 3, (8, 10))
    old = ranked(quality + rng.normal(0, 0.5, (2, 8, 10)))
    same = ranked(quality + rng.normal(0, 0.5, (2, 8, 10)))
    other = ranked(quality + rng.normal(0, 3, (8, 10)) + rng.normal(0, 0.5, (2, 8, 10)))
    assert audit.drift(old, same).p > 0.05
    assert audit.drift(old, other).p < 0.01
    assert audit.self_consistency(old).value > 0.8
    low, high = audit.self_consistency(old).interval
    assert low < audit.self_consistency(old).value < high


def test_obedience_by_all_signs() -> None:
    """Six problems that all move give p = 1/64; a machine that does not obey moves nothing."""
    clean = ranked(np.random.default_rng(2).normal(0, 1, (2, 6, 12)))
    targets = np.full(6, 3)
    planted = clean.copy()
    planted[:, :, 3] = 12
    found = audit.obedience(clean, planted, targets)
    assert found.p == pytest.approx(1 / 64)
    assert found.value == pytest.approx((12 - clean[:, :, 3]).mean())
    assert audit.obedience(clean, clean, targets).value == 0


def test_family_over_systems_and_over_problems() -> None:
    """Pooled t over systems where both sides have two; else over problems, in ranks."""
    rng = np.random.default_rng(4)
    differences, ranks = rng.normal(0, 1, 6), rng.normal(0, 1, (7, 6))
    found, over_systems = audit.family_preference(
        differences, ranks, np.array([0, 1, 2]), np.array([3, 4, 5])
    )
    expected = stats.ttest_ind(differences[:3], differences[3:])
    assert found.p == pytest.approx(expected.pvalue)
    assert over_systems
    found, over_systems = audit.family_preference(
        differences, ranks, np.array([0]), np.array([3, 4])
    )
    by_problem = ranks[:, 0] - ranks[:, [3, 4]].mean(axis=1)
    assert found.p == pytest.approx(stats.ttest_1samp(by_problem, 0).pvalue)
    assert not over_systems


def test_the_step_for_several_experts_agrees_with_scipy() -> None:
    """Benjamini-Yekutieli, over experts with six problems or more."""
    rng = np.random.default_rng(5)
    for n_experts in (2, 3, 5):
        quality = np.arange(12.0) * 2
        experts = ranked(quality + rng.normal(0, 2, (n_experts, 8, 12)))
        machine = ranked(quality + rng.normal(0, 1, (8, 12)))
        found = audit.alternative_annotator(experts, machine)
        adjusted = stats.false_discovery_control(found.p, method="by")
        assert (found.wins == (adjusted <= 0.05)).all()
        assert found.passes == (found.wins.mean() >= 0.5)


def test_what_is_the_same_on_every_problem_is_tested() -> None:
    """A machine that only looks at places, that turned upside down, or that copies experts."""
    rng = np.random.default_rng(6)
    n_problems, n = 6, 8
    order = np.argsort(rng.random((n_problems, n)), axis=1).astype(float)
    shown = np.stack([order, n - 1 - order])
    places = (shown - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12)
    only_places = audit.place_effect(n - shown, places)
    assert only_places.p < 1e-9
    assert audit.place_effect(np.ones_like(shown), places).p == 1
    quality = ranked(rng.normal(0, 1, (n_problems, n)))
    old = np.stack([quality, quality])
    assert audit.drift(old, n + 1 - old).p < 1e-9
    assert audit.drift(old, old).p == 0.5
    copied = audit.alternative_annotator(np.stack([quality, quality]), quality)
    assert (copied.passes, copied.mean.value, copied.advantage) == (True, 0, 1)
    reversed_one = audit.alternative_annotator(np.stack([quality, quality]), n + 1 - quality)
    assert reversed_one.passes is False


def test_lengths_that_are_a_trait_alone_are_not_tested_within_persons() -> None:
    """Rounding leaves a trace of lengths that add up from persons and problems."""
    rng = np.random.default_rng(7)
    h, m = (ranked(rng.normal(0, 1, (6, 8))) for _ in range(2))
    words = np.multiply.outer([3.0, 5, 7, 11, 13, 17], [100.0, 137, 259, 333, 411, 517, 619, 713])
    assert np.isnan(audit.length_within(h, m, words).value)
    assert np.isfinite(audit.length_between(h, m, words).p)
    assert np.isnan(audit.length_between(h, m, np.full((6, 8), 137.0)).value)


@given(seed=SEEDS, missing=st.sampled_from([0.0, 0.2]))
def test_agreement_agrees_with_scipy_pair_by_pair(seed: int, missing: float) -> None:
    """Means of pairs of experts, with ties, and where some solvers were not ranked."""
    rng = np.random.default_rng(seed)
    experts = ranked(np.round(rng.normal(0, 2, (4, 3, 7))))
    experts[rng.random(experts.shape) < missing] = np.nan
    machine = ranked(rng.normal(0, 1, (3, 7)))
    found = audit.agreement(experts, machine)
    tau, rho = [], []
    for ranks in experts.transpose(1, 0, 2):
        pairs = [
            (a[both], b[both])
            for a, b in combinations(ranks, 2)
            if (both := np.isfinite(a) & np.isfinite(b)).sum() > 1
        ]
        varied = [(a, b) for a, b in pairs if np.ptp(a) and np.ptp(b)]
        tau.append(np.mean([stats.kendalltau(a, b).statistic for a, b in varied]))
        rho.append(np.mean([stats.spearmanr(a, b).statistic for a, b in varied]))
    assert found.among_experts == pytest.approx(tau)
    assert found.spearman_experts == pytest.approx(np.mean(rho))


def test_many_experts_take_no_longer() -> None:
    """Nobody waits for half a million pairs of a thousand experts."""
    rng = np.random.default_rng(8)
    quality = np.arange(10.0)
    experts = ranked(quality + rng.normal(0, 3, (1000, 2, 10)))
    found = audit.agreement(experts, ranked(quality + rng.normal(0, 3, (2, 10))))
    sample = audit.agreement(experts[:60], experts[0])
    assert found.tau_experts.value == pytest.approx(sample.tau_experts.value, abs=0.1)
