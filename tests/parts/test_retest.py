"""Judges who rank a group twice, against SciPy and loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

import quem
from tests.parts.made import Ranks, key_of, random_ranks, study_of, warned

NUMBERS = ("n_groups", "n_ranks", "tau_b", "rank_difference", "same_order")


def ranked_again(ranks: Ranks, seed: int, *groups: tuple[str, str], noise: float = 2) -> Ranks:
    """Draw second rankings of some groups, with ties and a few solutions left out."""
    rng = np.random.default_rng(seed)
    cells = [cell for cell in ranks if cell[:2] in groups and rng.random() > 0.15]
    return {c: float(np.round((ranks[c] + rng.normal(0, noise)) / 2 + 9)) for c in cells}


def by_hand(first: Ranks, second: Ranks, judges: set[str]) -> tuple[float, ...]:
    """Groups, ranks, tau-b, difference in rank, and share of pairs, in loops."""
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
def test_every_number_agrees_with_loops(seed: int) -> None:
    """Tau-b is SciPy's; the difference in rank and the share of pairs are counted in loops."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, subjects=8, ties=seed % 2 == 1)
    again = ranked_again(ranks, seed, ("J0", "P0"), ("J0", "P2"), ("J2", "P1"))
    ranks = {cell: rank for cell, rank in ranks.items() if rng.random() > 0.15}
    assert not again.keys() <= ranks.keys()
    rows = key_of(study_of(ranks, years, again=again), "retest")
    assert [row["judge"] for row in rows] == ["J0", "J2", ""]
    for row in rows:
        judges = {row["judge"]} if row["judge"] else {"J0", "J2"}
        wanted = by_hand(ranks, again, judges)
        assert [row[name] for name in NUMBERS] == pytest.approx(wanted)


def test_nothing_repeated_gives_nothing() -> None:
    """Without a second occasion, or with one solution ranked twice, there is nothing to say."""
    ranks, years = random_ranks(np.random.default_rng(4))
    assert key_of(study_of(ranks, years), "retest") is None
    assert key_of(study_of(ranks, years, occasion=2), "retest") is None
    assert key_of(study_of(ranks, years, again={("J0", "P0", "S0"): 1.0}), "retest") is None
    two: Ranks = {("J0", "P0", "S0"): 1.0, ("J0", "P0", "S1"): 2.0}
    rows = key_of(study_of(ranks, years, again=two), "retest")
    assert [row["n_ranks"] for row in rows] == [2, 2]


@pytest.mark.parametrize(
    ("problems", "upside_down", "named"),
    [(1, 1, False), (2, 2, True), (2, 1, True), (3, 1, False)],
)
def test_an_inconsistent_judge_is_named(problems: int, upside_down: int, *, named: bool) -> None:
    """Tau-b below .3 over 8 ranks or more is told, of that judge only."""
    ranks, years = random_ranks(np.random.default_rng(9), judges=2)
    again: Ranks = {}
    for cell, rank in ranks.items():
        if int(cell[1][1]) < problems:
            turned = cell[0] == "J1" and int(cell[1][1]) < upside_down
            again[cell] = 8 - rank if turned else rank
    messages = [
        one.message
        for one in warned(quem.analyze(study_of(ranks, years, again=again)), "inconsistent-judge")
    ]
    assert [message.split("'")[0] for message in messages] == ["judge J1"] * named
