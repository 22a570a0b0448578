"""Judges who rank a group twice, against SciPy and loops."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

import quem
from quem.experience.presentation.methods import methods_paragraph
from quem.experience.retest import retest_agreement
from quem.rankings import Rankings
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from quem.experience.retest import Retest
    from quem.rankings.loading import Study
    from tests.experience.made import Cell

Ranks = dict["Cell", float | None]


def retest_of(study: Study) -> Retest | None:
    """Compare the first and second rankings of a study."""
    assert isinstance(study.data, Rankings)
    return retest_agreement(study.data, study.declared)


def ranked_again(ranks: Ranks, seed: int, *groups: tuple[str, str], noise: float = 2) -> Ranks:
    """Draw second rankings of some groups, with ties and a few solutions left out."""
    rng = np.random.default_rng(seed)
    cells = [c for c in ranks if c[:2] in groups and ranks[c] is not None and rng.random() > 0.15]
    return {c: float(np.round(((ranks[c] or 0) + rng.normal(0, noise)) / 2)) for c in cells}


def by_hand(first: Ranks, second: Ranks, judges: set[str]) -> tuple[float, ...]:
    """Groups, solutions, tau-b, difference in rank and share of pairs, in loops."""
    taus, differences, pairs = [], [], []
    groups = sorted({cell[:2] for cell in second if cell[0] in judges})
    for group in groups:
        both = [c for c in second if c[:2] == group and c in first]
        a, b = (rankdata([r[c] for c in both]) for r in (first, second))
        taus.append(kendalltau(a, b).statistic)
        differences += [abs(x - y) for x, y in zip(a, b, strict=True)]
        for i, j in combinations(range(len(both)), 2):
            signs = [np.sign(r[i] - r[j]) for r in (a, b)]
            pairs.append(signs[0] == signs[1])
    figures = (np.nanmean(taus), np.mean(differences), np.mean(pairs))
    return (len(groups), len(differences), *(float(figure) for figure in figures))


@pytest.mark.parametrize("seed", range(5))
def test_every_figure_agrees_with_loops(seed: int) -> None:
    """Tau-b is SciPy's; the difference in rank and the share of pairs are counted in loops."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, subjects=8, ties=seed % 2 == 1)
    again = ranked_again(ranks, seed, ("J0", "P0"), ("J0", "P2"), ("J2", "P1"))
    ranks = {cell: rank for cell, rank in ranks.items() if rng.random() > 0.15}
    assert not again.keys() <= ranks.keys()
    retest = retest_of(study_of(ranks, years, again=again))
    assert retest is not None
    assert list(retest.judges) == ["J0", "J2"]
    by_judge = {**retest.judges, "overall": retest.overall}
    for name, own in by_judge.items():
        wanted = by_hand(ranks, again, {"J0", "J2"} if name == "overall" else {name})
        figures = (own.mean_tau_b, own.mean_rank_difference, own.same_order)
        assert (own.n_groups, own.n_ranks, *figures) == pytest.approx(wanted)


def test_nothing_repeated_gives_nothing() -> None:
    """Without a second occasion, or with one solution ranked twice, there is nothing to say."""
    ranks, years = random_ranks(np.random.default_rng(4))
    assert retest_of(study_of(ranks, years)) is None
    assert retest_of(study_of(ranks, years, occasion=2)) is None
    assert retest_of(study_of(ranks, years, again={("J0", "P0", "S0"): 1.0})) is None
    two: Ranks = {("J0", "P0", "S0"): 1.0, ("J0", "P0", "S1"): 2.0}
    retest = retest_of(study_of(ranks, years, again=two))
    assert retest is not None
    assert retest.overall.n_ranks == 2


def test_every_text_tells_of_the_repeats() -> None:
    """Summary, methods and report say how many groups, and how alike the rankings are."""
    ranks, years = random_ranks(np.random.default_rng(8))
    again = ranked_again(ranks, 8, ("J0", "P0"), ("J1", "P1"), ("J2", "P2"))
    analysis = quem.analyze(study_of(ranks, years, again=again))
    retest = analysis.findings.retest
    assert retest is not None
    overall = retest.overall
    tau, share = f"{overall.mean_tau_b:.2f}", f"{100 * overall.same_order:.0f}%"
    assert (
        f"repeat rankings (3 tasks, {overall.n_ranks} ranks): mean tau-b {tau}, {share} of "
        f"pairs in the same order, mean absolute rank difference "
        f"{overall.mean_rank_difference:.2f}"
    ) in analysis.summary()
    paragraph = methods_paragraph(analysis.findings)
    assert f"3 judges ranked 3 groups twice ({overall.n_ranks} ranks)" in paragraph
    assert f"tau-b was on average {tau}, {share} of the pairs" in paragraph
    assert "Consistency of repeat rankings" in analysis.to_html()


@pytest.mark.parametrize(
    ("problems", "upside_down", "named"),
    [(1, 1, False), (2, 2, True), (2, 1, True), (3, 1, False)],
)
def test_an_inconsistent_judge_is_named(problems: int, upside_down: int, named: bool) -> None:  # noqa: FBT001
    """Tau-b below .3 over 8 ranks or more is told, of that judge only."""
    ranks, years = random_ranks(np.random.default_rng(9), judges=2)
    again: Ranks = {}
    for cell, rank in ranks.items():
        if int(cell[1][1]) < problems:
            turned = cell[0] == "J1" and int(cell[1][1]) < upside_down
            again[cell] = -(rank or 0) if turned else rank
    analysis = quem.analyze(study_of(ranks, years, again=again))
    messages = [d.message for d in analysis.warnings if d.code == "inconsistent-judge"]
    assert bool(messages) == named
    if named:
        (message,) = messages
        tau = "−1.00" if upside_down == 2 else "0.00"
        assert message == (
            "judge J1's repeat rankings are inconsistent (2 tasks, 14 ranks, mean tau-b "
            f"{tau}, below 0.3)"
        )
