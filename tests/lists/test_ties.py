"""Expected scores over the orders of what is tied, against all orders one by one."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem import lists as measures
from quem.lists.lists import Lists
from quem.lists.pairs import best_choices
from tests.lists.test_laws import SPELLINGS

if TYPE_CHECKING:
    from collections.abc import Iterator


Items = dict[str, float]
# With k across ties, and the parameters that change what is summed.
CUT = [
    *("P", "P@1", "P@3", "AP@3", "AP(rel=0.5)@4", "RR@2", "RR(rel=0.5)@3", "nDCG@3"),
    *("nDCG(gain=exponential)@4", "RBP(p=0.8)@3", "RBP(top=1)", "hits@3", "hits_norm@4"),
    *("quality_stromer@3", "quality_mueller@3", "correctness@4", "completeness@3", "RBPL(p=0.8)"),
    *("OLAR(max_length=9, rel=0.5)", "APL(rel=0.5)", "APs(rel=0.5)", "nDCGL(rel=0.5)"),
    *("R@2", "R(rel=0.5)@3", "Success@1", "Success(rel=0.5)@2", "Rprec(rel=0.5)", "ERR@2"),
    *("ERR(top=1)", "ERR(top=1)@3", "bpref(rel=0.5)", "Judged@2", "F1(rel=0.5)@3"),
    *("AP(rel=0.5, unjudged=skip)@2", "RR(unjudged=skip)", "ERR(top=1, unjudged=skip)@2"),
    *("nDCG(unjudged=skip)@2", "Success(unjudged=skip)@1", "Rprec(unjudged=skip)"),
    *("RBP(unjudged=skip)@3", "F1(unjudged=skip)@2"),
]
ALL = list(dict.fromkeys([*SPELLINGS, *CUT]))
levels = st.integers(0, 2).map(lambda n: n / 2)
tied = st.dictionaries(st.sampled_from("abcdef"), levels, max_size=4)


def orders(items: Items) -> Iterator[Items]:
    """The items in every order that their values allow."""
    groups = [[i for i, v in items.items() if v == value] for value in sorted(set(items.values()))]
    for ways in product(*(permutations(group) for group in groups[::-1])):
        yield {item: items[item] for group in ways for item in group}


def mean_over_orders(listed: Items, truth: Items, by: list[str]) -> list[float]:
    """Score each order of list and truth, and average where a measure is defined."""
    pairs = list(product(orders(listed), orders(truth)))
    runs, truths = ({n: pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    scores = measures.evaluate(runs, truths, by, ties="given")
    return [scores.mean[name] for name in scores.names]


@settings(max_examples=25, deadline=None)
@given(tied, tied)
def test_expected_is_the_mean_over_all_orders(listed: Items, truth: Items) -> None:
    """By every measure, in list and ground truth; undefined where each order is."""
    scores = measures.evaluate({"q": listed}, {"q": truth}, ALL, ties="expected")
    for name, value, mean in zip(
        scores.names, scores.values[0], mean_over_orders(listed, truth, ALL), strict=True
    ):
        assert value == pytest.approx(mean, abs=1e-12, nan_ok=True), (name, listed, truth)


@settings(max_examples=15, deadline=None)
@given(tied, tied, st.randoms(use_true_random=False))
def test_expected_does_not_depend_on_what_is_given_first(
    listed: Items, truth: Items, random: object
) -> None:
    """Shuffled files give the same scores."""
    other = [dict(sorted(i.items(), key=lambda _: random.random())) for i in (listed, truth)]  # type: ignore[attr-defined]
    runs = {"given": listed, "shuffled": other[0]}
    scores = measures.evaluate(
        runs, {"given": truth, "shuffled": other[1]}, ALL, ties="expected"
    ).values
    assert scores[0] == pytest.approx(scores[1], abs=1e-12, nan_ok=True)


THEIRS = {
    "R@3": ir_measures.R @ 3,
    "Success@2": ir_measures.Success @ 2,
    "Rprec": ir_measures.Rprec,
    "bpref": ir_measures.Bpref,
    "P@3": ir_measures.P @ 3,
    "AP": ir_measures.AP,
    "AP@4": ir_measures.AP @ 4,
    "RR": ir_measures.RR,
    "nDCG": ir_measures.nDCG,
    "nDCG@3": ir_measures.nDCG @ 3,
}


def test_expected_is_the_mean_of_ir_measures_over_all_orders() -> None:
    """Its scores of each order, with strictly falling scores, average to these."""
    rng = np.random.default_rng(2)
    checked = 0
    for _ in range(12):
        listed = {f"d{i}": float(rng.integers(0, 3)) for i in rng.permutation(7)[:5]}
        truth = {f"d{i}": int(rng.integers(0, 3)) for i in range(7)}
        if max(truth.values()) < 1:
            continue
        runs = {
            str(n): {item: float(-place) for place, item in enumerate(order)}
            for n, order in enumerate(orders(listed))
        }
        theirs = ir_measures.calc_aggregate(THEIRS.values(), dict.fromkeys(runs, truth), runs)
        ours = measures.evaluate({"q": listed}, {"q": truth}, THEIRS, ties="expected")
        for name, value in zip(ours.names, ours.values[0], strict=True):
            assert value == pytest.approx(theirs[THEIRS[name]], abs=1e-6), name
        checked += len(runs) > 1
    assert checked > 5


def test_precision_is_that_of_ir_measures() -> None:
    """With ties by id, at each k; it does not matter how long the list is."""
    rng = np.random.default_rng(4)
    names = [f"d{i}" for i in range(30)]
    run = {
        f"q{n}": {names[i]: float(rng.integers(0, 8)) for i in rng.permutation(30)[: n % 20 + 1]}
        for n in range(60)
    }
    truth = {q: {name: int(rng.integers(0, 3)) for name in names} for q in run}
    wanted = {f"P@{k}": ir_measures.P @ k for k in (1, 5, 25)} | {
        "P(rel=2)@5": ir_measures.P(rel=2) @ 5
    }
    scores = measures.evaluate(run, truth, wanted, ties="id")
    for name, theirs in wanted.items():
        expected = {one.query_id: one.value for one in ir_measures.iter_calc([theirs], truth, run)}
        assert scores[name].tolist() == pytest.approx([expected[q] for q in run])


def test_large_ties() -> None:
    """3,000 equal items, of which 10 are relevant: sums over all positions, term by term."""
    n, r = 3000, 10
    listed = dict.fromkeys(map(str, range(n)), 0.5)
    truth = [str(i) for i in range(r)]
    by = ["P@100", "RR", "nDCG@5", "AP", "distance"]
    means = measures.evaluate({"q": listed}, {"q": truth}, by, ties="expected").mean
    first = [math.comb(n - j, r - 1) / math.comb(n, r) for j in range(1, n + 1)]
    places = np.arange(1, n + 1)
    assert means == pytest.approx(
        {
            "P@100": r / n,
            "RR": math.fsum(chance / j for j, chance in enumerate(first, 1)),
            "nDCG@5": r / n,
            "AP": np.mean((1 + (places - 1) * (r - 1) / (n - 1)) / places),
            "distance": np.mean([np.abs(places - j).mean() for j in range(1, r + 1)]),
        }
    )


def test_many_choices_are_a_sample() -> None:
    """Of 126 ways to fill the best six, 100 are drawn: always the same, and near the mean."""
    listed = dict.fromkeys("ab", 1.0) | dict.fromkeys("cdefghijk", 0.5)
    truth = {item: place % 7 + place / 20 for place, item in enumerate("kajbicdhegf")}
    ways = [
        {item: listed[item] for item in ("a", "b", *best, *listed)}
        for best in combinations("cdefghijk", 4)
    ]
    every = measures.evaluate(
        dict(enumerate(ways)), dict.fromkeys(range(len(ways)), truth), ["completeness@6"]
    )
    drawn, again = (
        measures.score(listed, truth, "completeness@6", ties="expected") for _ in range(2)
    )
    assert drawn == again
    assert drawn.value == pytest.approx(every.mean["completeness@6"], abs=0.06)
    chosen = best_choices(Lists([dict(listed.items())], [dict(truth.items())], ties="expected"), 6)
    assert chosen is not None
    assert len(chosen[1]) == 100


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        *(("hits", True), ("hits_norm@5", True), ("distance", True), ("quality_mueller", True)),
        *(("kendall", False), ("correctness", False), ("correctness@5", True), ("AP", False)),
        *(("nDCG@5", False), ("P@5", False), ("spearman", False), ("MAE", False)),
    ],
)
def test_each_measure_says_whether_it_needs_an_order(name: str, needs: bool) -> None:  # noqa: FBT001
    """What is declared is what holds: others have one score however the truth is shuffled."""
    assert measures.measure(name).needs_order == needs
    listed = {item: 1 - place / 9 for place, item in enumerate("abcdefgh")}
    truth = dict.fromkeys("hgfe", 0.5) | dict.fromkeys("abcd", 1.0)
    runs = [
        measures.score(listed, dict(reversed(truth.items())) if turned else truth, name)
        for turned in (False, True)
    ]
    if not needs:
        assert runs[0].value == pytest.approx(runs[1].value, nan_ok=True)
