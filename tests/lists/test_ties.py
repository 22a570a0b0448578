"""Expected scores over the orders of what is tied, against all orders one by one."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem import lists as measures
from tests.lists.test_laws import SPELLINGS

if TYPE_CHECKING:
    from collections.abc import Iterator


Items = dict[str, float]
# With k across ties, and the parameters that change what is summed.
CUT = [
    *("P", "P@1", "P@3", "AP@3", "AP(rel=0.5)@4", "RR@2", "RR(rel=0.5)@3", "nDCG@3"),
    *("nDCG(gain=exponential)@4", "RBP(p=0.8)@3", "RBP(top=1)", "hits@3", "hits_norm@4"),
    *("quality_stromer@3", "quality_mueller@3", "completeness(of=listed)", "RBPL(p=0.8)"),
    *("OLAR(max_length=9, rel=0.5)", "APL(rel=0.5)", "APs(rel=0.5)", "nDCGL(rel=0.5)"),
    *("R@2", "R(rel=0.5)@3", "Success@1", "Success(rel=0.5)@2", "Rprec(rel=0.5)", "ERR@2"),
    *("ERR(top=1)", "ERR(top=1)@3", "bpref(rel=0.5)", "Judged@2", "F1(rel=0.5)@3"),
    *("AP(rel=0.5, unjudged=skip)@2", "RR(unjudged=skip)", "ERR(top=1, unjudged=skip)@2"),
    *("nDCG(unjudged=skip)@2", "Success(unjudged=skip)@1", "Rprec(unjudged=skip)"),
    *(
        "RBP(unjudged=skip)@3",
        "F1(unjudged=skip)@2",
        "RHL(rel=0.5)",
        "ESL(rel=0.5)",
        "ESL(rel=0.5, wanted=2)",
    ),
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


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        *(("hits", True), ("hits_norm@5", True), ("distance", True), ("quality_mueller", True)),
        *(("kendall", False), ("correctness", False), ("AP", False)),
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
