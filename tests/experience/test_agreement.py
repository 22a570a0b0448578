"""Agreement of judges, against loops, SciPy and the krippendorff package."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import krippendorff
import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata, spearmanr

from quem.experience.agreement import judge_agreement, orders_in_common
from tests.experience.made import cells_of, random_ranks, study_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.agreement import JudgeAgreement
    from quem.rankings.loading import Study
    from tests.experience.made import Cell


def measured(ranks: dict[Cell, float | None], years: dict[str, float]) -> JudgeAgreement:
    """Measure the agreement in a study of these ranks."""
    return agreement_in(study_of(ranks, years))


def agreement_in(study: Study) -> JudgeAgreement:
    """Measure the agreement in a study."""
    cells = cells_of(study)
    return judge_agreement(cells, orders_in_common(cells), permutations=999, seed=0)


def table_of(ranks: dict[Cell, float | None], problem: str) -> NDArray[np.float64]:
    """Ranks of the problem, judges x solvers that all of them ranked, renumbered."""
    by_judge: dict[str, dict[str, float]] = {}
    for (judge, of, solver), rank in ranks.items():
        if of == problem and rank is not None:
            by_judge.setdefault(judge, {})[solver] = rank
    held = [row for row in by_judge.values() if len(row) > 1]
    common = [s for s in held[0] if all(s in row for row in held)]
    return np.array([rankdata([row[s] for s in common]) for row in held])


def kendall_w_by_hand(table: NDArray[np.float64]) -> float:
    """Kendall's W with the correction for ties, counted in loops."""
    m, n = table.shape
    sums = [sum(table[j, i] for j in range(m)) for i in range(n)]
    spread = sum((total - sum(sums) / n) ** 2 for total in sums)
    ties = 0
    for row in table.tolist():
        ties += sum(row.count(value) ** 3 - row.count(value) for value in set(row))
    return float(12 * spread / (m**2 * (n**3 - n) - m * ties))


def icc_by_hand(table: NDArray[np.float64]) -> tuple[float, float]:
    """ICC(2,1) and ICC(2,k) from the sums of squares, in loops."""
    k, n = table.shape
    grand = table.sum() / (k * n)
    rows = k * sum((table[:, i].mean() - grand) ** 2 for i in range(n)) / (n - 1)
    columns = n * sum((table[j].mean() - grand) ** 2 for j in range(k)) / (k - 1)
    total = sum((table[j, i] - grand) ** 2 for j in range(k) for i in range(n))
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    single = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
    return float(single), float((rows - error) / (rows + (columns - error) / n))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_statistic_of_a_problem(seed: int, ties: bool) -> None:  # noqa: FBT001
    """W, tau-b, Spearman, alpha and ICC agree with loops and other packages."""
    ranks, years = random_ranks(np.random.default_rng(seed), judges=4, ties=ties)
    agreement = measured(ranks, years)
    for problem, concordance in agreement.problems.items():
        table = table_of(ranks, problem)
        assert (concordance.n_judges, concordance.n_solutions) == table.shape == (4, 7)
        pairs = list(combinations(table, 2))
        tau = np.mean([kendalltau(a, b).statistic for a, b in pairs])
        spearman = np.mean([spearmanr(a, b).statistic for a, b in pairs])
        assert concordance.kendall_w == pytest.approx(kendall_w_by_hand(table))
        assert concordance.mean_tau_b == pytest.approx(tau)
        assert concordance.mean_spearman == pytest.approx(spearman)
        assert concordance.krippendorff_alpha == pytest.approx(
            krippendorff.alpha(table, level_of_measurement="ordinal")
        )
        single, average = icc_by_hand(table)
        assert concordance.icc_2_1 == pytest.approx(single)
        assert concordance.icc_2_k == pytest.approx(average)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pairs_compare_what_both_ranked(missing: float) -> None:
    """Correlations use every solver whom the two judges of a pair ranked."""
    ranks, years = random_ranks(
        np.random.default_rng(5), judges=3, subjects=9, missing=missing, ties=True
    )
    ranks |= {cell: 1.0 for cell in ranks if cell[:2] == ("J2", "P2")}
    agreement = measured(ranks, years)
    judges = ("J0", "J1", "J2")
    spearman: dict[tuple[str, str], list[float]] = {}
    for problem, concordance in agreement.problems.items():
        taus = []
        for first, second in combinations(judges, 2):
            shared = [s for j, p, s in ranks if (j, p) == (first, problem)]
            shared = [s for s in shared if (second, problem, s) in ranks]
            a, b = (
                np.array([ranks[judge, problem, s] for s in shared], dtype=float)
                for judge in (first, second)
            )
            tied = (problem, second) == ("P2", "J2")
            spearman[first, second] = [np.nan if tied else spearmanr(a, b).statistic]
            taus += [] if tied else [kendalltau(a, b).statistic]
        assert concordance.mean_tau_b == pytest.approx(np.mean(taus))
        assert concordance.mean_spearman == pytest.approx(np.nanmean(list(spearman.values())))


def test_overall_pools_the_units() -> None:
    """Alpha and ICC pool problem x solver units; W, tau and Spearman are means."""
    ranks, years = random_ranks(np.random.default_rng(6), judges=3, ties=True)
    agreement = measured(ranks, years)
    units = np.concatenate([table_of(ranks, problem) for problem in agreement.problems], axis=1)
    assert agreement.overall.n_solutions == units.shape[1] == 21
    assert agreement.overall.krippendorff_alpha == pytest.approx(
        krippendorff.alpha(units, level_of_measurement="ordinal")
    )
    single, average = icc_by_hand(units)
    assert (agreement.overall.icc_2_1, agreement.overall.icc_2_k) == pytest.approx(
        (single, average)
    )
    for name in ("kendall_w", "mean_tau_b", "mean_spearman"):
        each = [getattr(concordance, name) for concordance in agreement.problems.values()]
        assert getattr(agreement.overall, name) == pytest.approx(np.mean(each))


def test_withheld_and_failed_solutions_are_left_out() -> None:
    """Nobody judged a failed solution, and a withheld solver is no part of agreement."""
    ranks, years = random_ranks(np.random.default_rng(8), judges=2)
    plain = measured(ranks, years)
    more: dict[Cell, float | None] = dict(ranks)
    for judge in ("J0", "J1"):
        for problem in ("P0", "P1", "P2"):
            more[judge, problem, "W"] = 3.5 if judge == "J0" else 1.5
            more[judge, problem, "F"] = None
    study = study_of(more, {**years, "F": 1.0}, withheld=["W"])
    agreement = agreement_in(study)
    assert agreement.problems == plain.problems
    assert agreement.overall == plain.overall


def test_identical_and_opposite_judges() -> None:
    """Identical judges have W = 1 and every coefficient 1; two opposite ones W = 0."""
    years = {f"S{i}": float(i) for i in range(5)}
    ranks: dict[Cell, float | None] = {}
    for i in range(5):
        for judge in ("A", "B"):
            ranks[judge, "same", f"S{i}"] = i + 1.0
        ranks["A", "opposite", f"S{i}"] = i + 1.0
        ranks["B", "opposite", f"S{i}"] = 5.0 - i
    agreement = measured(ranks, years)
    same = list(agreement.problems["same"].statistics().values())
    assert same == pytest.approx([1.0] * 6)
    assert agreement.problems["opposite"].kendall_w == 0
    assert agreement.problems["opposite"].mean_spearman == pytest.approx(-1)
    assert agreement.problems["opposite"].mean_tau_b == pytest.approx(-1)


def test_many_judges_are_sampled() -> None:
    """Where they ranked different solutions, from 1,000 judges on; the rest stays complete."""
    years = {f"S{i}": float(i) for i in range(4)}
    skill = np.arange(5) + np.random.default_rng(9).normal(0, 1.5, (1010, 5))
    solvers = [*years, "K0"]
    ranks: dict[Cell, float | None] = {
        (f"J{judge}", "P0", solver): float(rank)
        for judge, row in enumerate(rankdata(skill, axis=1))
        for solver, rank in zip(solvers, row, strict=True)
    }
    every = measured(ranks, years)
    assert not every.sampled
    del ranks["J0", "P0", "K0"]
    some = measured(ranks, years)
    assert some.sampled
    assert some.overall.mean_spearman == pytest.approx(every.overall.mean_spearman, abs=0.01)
    table = table_of(ranks, "P0")
    assert some.overall.kendall_w == pytest.approx(kendall_w_by_hand(table))
