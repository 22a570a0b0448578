"""What becomes a cell, and the agreement of judges, against other computations."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.parts import analyze_experience
from tests.made import random_ranks, study_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quem.method.agreement import Agreement

PEOPLE = {"A": 1.0, "B": 4.0, "C": 9.0}
GAP = [("J", "P", "A", 1), ("J", "P", "B", 3), ("J", "P", "C", 4), ("J", "P", "K", 5)]


def analyzed(
    rows: list[tuple[Any, ...]], keys: dict[str, Any], people: dict[str, float] = PEOPLE
) -> tuple[pd.DataFrame, dict[str, float], dict[str, str]]:
    """The table of ranks, its adjusted ranks on problem P, and warnings by code.

    Rows are judge, problem, solver, rank, and occasion.
    """
    names = ("judge", "problem", "solver", "rank", "occasion")
    table = [dict(zip(names, row, strict=False)) for row in rows]
    study = quem.study(table, people=people, systems=["K"], **keys)
    result = quem.analyze(study)
    assert result.ranks is not None
    of = result.ranks[result.ranks["problem"] == "P"]
    adjusted = dict(zip(of["solver"], of["adjusted_rank"], strict=True))
    return result.ranks, adjusted, {one.code: one.message for one in result.warnings}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=5, max_size=9))
def test_adjusted_ranks_are_those_of_scipy(ranks: list[int]) -> None:
    people = {f"S{at}": float(at) for at in range(len(ranks) - 1)}
    names = [*people, "K"]
    rows = [("J", "P", name, rank) for name, rank in zip(names, ranks, strict=True)]
    # A second problem, on which the people differ.
    rows += [("J", "Q", name, at + 1) for at, name in enumerate(names)]
    _, adjusted, _ = analyzed(rows, {}, people)
    assert [adjusted[name] for name in names] == stats.rankdata(ranks).tolist()


FAILED = [("J", "P", "B", 2), ("J", "P", "C", 1), ("J", "Q", "A", 1), ("J", "Q", "K", 2)]
AGAIN = [("J", "P", s, rank, 1) for s, rank in zip([*"ABC", "K"], (1, 2, 4, 3), strict=True)]
AGAIN += [("J", "P", s, rank, 2) for s, rank in zip([*"ABC", "K"], (4, 3, 2, 1), strict=True)]
MISSING = [{"problem": "P", "solver": one, "reason": "failed"} for one in ("A", "K")]


@pytest.mark.parametrize(
    ("rows", "keys", "ranks", "reasons"),
    [
        (FAILED, {"missing": MISSING}, {"A": 1.5, "B": 4, "C": 3, "K": 1.5}, "AK"),
        (GAP, {"withheld": ["W"]}, {"A": 1, "W": 2, "B": 3, "C": 4, "K": 5}, "W"),
        (AGAIN, {}, {"A": 1, "B": 2, "C": 4, "K": 3}, ""),
    ],
)
def test_who_was_not_ranked_or_ranked_twice(
    rows: list[tuple[Any, ...]], keys: dict[str, Any], ranks: dict[str, float], reasons: str
) -> None:
    """Failed ones are tied last, the withheld one takes the unused rank, the first rank counts."""
    table, adjusted, _ = analyzed(rows, keys)
    assert adjusted == ranks
    assert set(table.loc[table["reason"].isin(["failed", "withheld"]), "solver"]) == {*reasons}


@pytest.mark.parametrize("withheld", [[], ["V", "W"]])
def test_ambiguous_gaps_are_told_and_not_filled(withheld: list[str]) -> None:
    """Nobody, or one of two, may have had the rank."""
    _, adjusted, warned = analyzed(GAP, {"withheld": withheld})
    assert warned["rank-gap"].startswith("J's ranking of P skips rank 2")
    assert adjusted == {"A": 1, "B": 2, "C": 3, "K": 4}


YEARS = (1.0, 2.0, 4.0, 6.0, 8.0)


def agreement_of(ranks: NDArray[np.float64], years: Sequence[float] = YEARS) -> Agreement:
    found = analyze_experience(study_of(ranks, years)).core.agreement
    assert found
    return found


def by_definition(ranks: NDArray[np.float64]) -> float:
    """W of ranks (judges, solutions) by variances of mean ranks, with ties."""
    m, n = ranks.shape
    adjusted = np.array([stats.rankdata(of) for of in ranks])
    s = ((adjusted.sum(axis=0) - m * (n + 1) / 2) ** 2).sum()
    ties = sum(
        float((count**3 - count).sum())
        for of in ranks
        for count in [np.unique(of, return_counts=True)[1]]
    )
    return float(12 * s / (m**2 * (n**3 - n) - m * ties))


@pytest.mark.parametrize("coarse", [1, 2])
def test_w_is_the_mean_over_problems(coarse: int) -> None:
    """Also where one problem has two solutions."""
    ranks = random_ranks(np.random.default_rng(5), YEARS, [5.0], judges=4, problems=3)
    ranks = np.ceil(ranks / coarse)
    if coarse == 1:
        ranks[:, 0, 2:] = np.nan
    each = [by_definition(of[:, np.isfinite(of[0])]) for of in ranks.swapaxes(0, 1)]
    assert agreement_of(ranks).kendall_w == pytest.approx(np.mean(each))


@pytest.mark.parametrize(("judges", "near"), [(2, 1e-9), (3, 0.02)])
def test_p_counts_all_orders(judges: int, near: float) -> None:
    """The chance that random orders agree as much on both problems; a sample for three."""
    ranks = random_ranks(np.random.default_rng(7), YEARS[:3], [5.0], judges=judges, problems=2)
    ranks[1, 0] = [1, 1, 2, 3]
    values = []
    for problem in range(2):
        first, *others = ranks[:, problem]
        orders = product(*(list(permutations(other)) for other in others))
        values.append([by_definition(np.array([first, *order])) for order in orders])
    least = sum(by_definition(ranks[:, problem]) for problem in range(2))
    p = np.mean(np.add.outer(*values) >= least - 1e-9)
    assert agreement_of(ranks, YEARS[:3]).p_value == pytest.approx(p, abs=near)


def test_p_of_judges_who_agree_on_all_is_the_least_of_permutations() -> None:
    ranks = np.tile(np.arange(1.0, 7.0), (4, 4, 1))
    assert agreement_of(ranks).p_value == pytest.approx(1 / 10_000)


def test_p_of_large_studies_is_that_of_permutations() -> None:
    """Above 5,000 ranks it is that of a gamma distribution, close to what permutations give."""
    rng = np.random.default_rng(8)
    large = rng.permuted(np.tile(np.arange(1.0, 11.0), (4, 130, 1)), axis=2)
    centered = large - 5.5

    def spread() -> float:
        return float((rng.permuted(centered, axis=2).sum(axis=0) ** 2).sum())

    p = np.mean([spread() >= (centered.sum(axis=0) ** 2).sum() for _ in range(2_000)])
    assert 0.2 < p < 0.8
    assert agreement_of(large, range(9)).p_value == pytest.approx(p, abs=0.05)


@pytest.mark.parametrize("only", [4, 1])
def test_each_judge_with_the_rest(only: int) -> None:
    """Correlations of mean ranks, over the solvers whom all judges of a problem ranked."""
    ranks = random_ranks(np.random.default_rng(9), YEARS, [5.0], judges=3, problems=4)
    ranks[0, 1, 5] = ranks[1, only:] = np.nan
    common = ranks.copy()
    common[:, 1, 5] = np.nan
    means = np.nanmean(stats.rankdata(common, axis=2, nan_policy="omit"), axis=1)
    for judge, found in enumerate(agreement_of(ranks).judges):
        rest = np.delete(means, judge, axis=0).mean(axis=0)
        with_rest = stats.pearsonr(means[judge], rest)
        assert found.others == pytest.approx(with_rest.statistic)
        assert found.interval == pytest.approx(tuple(with_rest.confidence_interval(0.95)))
        of_years = stats.pearsonr(means[judge][:5], YEARS).statistic
        assert found.experience == pytest.approx(of_years)


def test_a_judge_who_gave_1_to_the_best_is_named() -> None:
    """The warning has the estimate as it would be with this judge's ranks turned around."""
    right = random_ranks(np.random.default_rng(3), YEARS, [2.0], judges=3, noise=0.5)
    turned = right.copy()
    turned[1] = 7 - turned[1]
    result = analyze_experience(study_of(turned, YEARS))
    (message,) = (one.message for one in result.warnings if one.code == "judge-reversed")
    (of,) = analyze_experience(study_of(right, YEARS)).core.estimates
    assert abs(of.experience - result.core.estimates[0].experience) > 0.1
    assert message.startswith("J2's order runs against the other judges'")
    assert message.endswith(f" K1 would be {of.experience:.1f} years")


def test_one_judge_agrees_with_nobody() -> None:
    found = agreement_of(random_ranks(np.random.default_rng(1), YEARS, [5.0], judges=1))
    assert np.isnan(found.kendall_w)
    assert found.judges == ()
