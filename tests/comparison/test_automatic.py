"""Which test two systems get, and what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.comparison.automatic import automatic_test, automatic_tests
from quem.comparison.pair_tests import pair_up, twoway_test
from tests.experience.made import cells_of, golden_study, random_ranks, study_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.comparison.automatic import AutomaticTest

SEEDS = st.integers(0, 2**32 - 1)


def _made(seed: int, judges: int, problems: int, taste: float = 1.0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    d = 0.5 + rng.normal(0, taste, (judges, 1)) + rng.normal(0, 1, (1, problems))
    return np.asarray(d + rng.normal(0, 1, (judges, problems)))


def _of(ranks: NDArray[np.float64], *, level: float = 0.95) -> AutomaticTest:
    """Two systems A and B among three subjects; ranks of shape (judges, problems, 5), or NaN."""
    names = ("S1", "S2", "S3", "A", "B")
    cells = {
        (f"J{j}", f"P{p}", names[s]): float(ranks[j, p, s])
        for j, p, s in np.argwhere(np.isfinite(ranks))
    }
    study = study_of(cells, {"S1": 1, "S2": 5, "S3": 9})
    return automatic_test(pair_up(cells_of(study), "A", "B"), level)


def _orders(seed: int, judges: int, problems: int) -> NDArray[np.float64]:
    quality = np.random.default_rng(seed).normal(np.arange(5), 2, (judges, problems, 5))
    return np.asarray(stats.rankdata(quality, axis=-1))


def test_the_numbers_are_those_computed_independently() -> None:
    """The test of three judges who may differ; and it is what a comparison uses."""
    study, golden = golden_study("complete_3x4x10")
    wanted = golden["pair"]["test"]
    (pair,) = quem.compare(study).findings.pairs
    found = (pair.tests["problem"].p, pair.automatic.p_judges, pair.test.df, pair.test.p)
    expected = [wanted[key] for key in ("p_problems", "p_taste", "df_twoway", "p_twoway")]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    # The solvers of the study are in the other order.
    assert abs(pair.paired.mean) == -wanted["mean_difference"]
    assert (pair.chosen, pair.used) == ("auto", wanted["rule"])


@given(SEEDS, st.integers(2, 5), st.integers(2, 8), st.sampled_from([0.0, 0.5, 2.0]))
def test_all_at_once_are_what_each_is_by_hand(
    seed: int, judges: int, problems: int, taste: float
) -> None:
    """Mean squares by loops, and the rule in its own words."""
    d = np.stack([_made(seed + k, judges, problems, taste) for k in range(3)])
    of = automatic_tests(d)
    for at, one in enumerate(d):
        mean = one.mean()
        ms_j = problems * ((one.mean(axis=1) - mean) ** 2).sum() / (judges - 1)
        ms_p = judges * ((one.mean(axis=0) - mean) ** 2).sum() / (problems - 1)
        rest = one - one.mean(axis=0) - one.mean(axis=1)[:, np.newaxis] + mean
        df_j, df_p, df_e = judges - 1, problems - 1, (judges - 1) * (problems - 1)
        ms_e = (rest**2).sum() / df_e
        p_judges = stats.f.sf(ms_j / ms_e, df_j, df_e)
        variance, df = ms_p, float(df_p)
        if judges == 2 or p_judges < 0.2:
            variance = ms_p + ms_j - ms_e
            df = max(variance**2 / (ms_p**2 / df_p + ms_j**2 / df_j + ms_e**2 / df_e), 1)
            if variance < max(ms_p, ms_j):
                variance, df = max((ms_p, df_p), (ms_j, df_j))
        t = mean / np.sqrt(variance / one.size)
        assert of.mean[at] / np.sqrt(of.variance[at]) == pytest.approx(t)
        assert of.df[at] == pytest.approx(df)
        assert of.p_judges[at] == pytest.approx(p_judges)
        is_found = 2 * stats.t.sf(abs(t), df) < 0.1
        assert of.finds(0.1)[at] == (np.sign(t) if is_found else 0)


def test_three_judges_get_the_one_that_they_call_for() -> None:
    """Of 20 studies some get each, and the reason names the test that decided."""
    seen = set()
    for seed in range(20):
        of = _of(_orders(seed, 3, 6))
        assert of.name == ("twoway" if of.p_judges < 0.2 else "problem")
        assert of.df == (2, 10)
        assert f"F(2, 10) = {of.f:.2f}, p = " in of.why
        seen.add(of.name)
    assert seen == {"problem", "twoway"}


def test_gaps_leave_the_problems_that_all_judges_ranked_both_on() -> None:
    """With two of them or more; else all rankings of both, two-way where that is possible."""
    ranks = _orders(3, 3, 6)
    ranks[1, 4, 3] = np.nan
    of = _of(stats.rankdata(ranks, axis=-1, nan_policy="omit"))
    alone = _of(np.delete(ranks, 4, axis=1))
    assert of.test == alone.test
    assert of.why == f"{alone.why}; on the 5 of 6 problems where all judges ranked both"
    for problem in range(1, 6):
        ranks[problem % 3, problem, 3] = np.nan
    gaps = stats.rankdata(ranks, axis=-1, nan_policy="omit")
    few = _of(gaps)
    assert few.name == "twoway"
    assert few.test.p == pytest.approx(twoway_test(gaps[..., 4] - gaps[..., 3], 0.95).p)
    assert few.why == "too few problems have a ranking of both by all judges"
    turns = ranks.copy()
    turns[..., 3] = np.where(np.arange(3)[:, np.newaxis] == np.arange(6) % 3, 2.0, np.nan)
    turns = stats.rankdata(turns, axis=-1, nan_policy="omit")
    in_turn = _of(turns)
    assert in_turn.name == "problem"
    assert "too few rankings are of both for a two-way test" in in_turn.why


def test_judges_who_differ_are_warned_of() -> None:
    """A judge who likes what the others do not: the warning, in words; summary and JSON too."""
    ranks, years = random_ranks(np.random.default_rng(1), problems=6, systems=2)
    for cell in list(ranks):
        if cell[2] in ("K0", "K1"):
            ranks[cell] = {"K0": 1.0, "K1": 8.0}[cell[2]] if cell[0] != "J0" else None
    ahead = {"K0": 8.0, "K1": 1.0}
    for problem in range(6):
        for solver, rank in ahead.items():
            ranks["J0", f"P{problem}", solver] = rank
    for cell, given_rank in list(ranks.items()):
        if cell[2].startswith("S") and given_rank is not None:
            ranks[cell] = 2 + given_rank / 10
    # A little less alike.
    ranks["J1", "P2", "K1"], ranks["J2", "P4", "K0"] = 2.05, 2.45
    result = quem.compare(study_of(ranks, years))
    (warning,) = [of for of in result.warnings if of.code == "judges-differ-on-pair"]
    assert warning.message.startswith("judges do not agree on how far K0 and K1 are apart (F(2, ")
    summary = result.summary()
    assert "two-way t test: judges may differ on this pair (F(2, " in summary
    assert "problems of this kind and other judges" in summary
    (said,) = result.to_dict()["pairs"]
    assert said["test"] == "twoway"
    assert said["test_reason"].startswith("judges may differ on this pair")
    assert said["p_judges"] < 0.05
    named = quem.compare(study_of(ranks, years), test="problem").to_dict()["pairs"][0]
    assert (named["test"], named["test_reason"]) == ("problem", "")
