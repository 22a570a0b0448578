"""Laws that hold for every list, and expected scores over the orders of what is tied."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from quem import lists as measures

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL = measures.DEFINITIONS
# With parameters for which every list of similarities has as many scores as it can have.
MORE = """
    hits@2 hits_norm@2 quality_stromer@2 quality_mueller@2 ESL(wanted=2) completeness_listed
    kendall(variant=b) MAE(by=case) AP(rel=0.5)@2 nDCG@2 RBP(top=1)@3 OLAR(max_length=9) LAR
    rank_quality@2 rank_quality@4 F1@2 AP(unjudged=skip) nDCG(unjudged=skip)@2 P(unjudged=skip)@3
    R(unjudged=skip)@2
""".split()
SPELLINGS = [*(name for name in ALL if name not in {"OLAR", "rank_quality", "LAR"}), *MORE]
BY_ORDER = """
    hits quality_stromer correctness completeness kendall distance spearman F1 F1s AP APs APL RR
    nDCG nDCGL RBP RBPL R@2 Success@2 Rprec ERR bpref Judged@2 RHL ESL
""".split()
PERFECT = """
    quality_stromer quality_mueller correctness completeness kendall(variant=b) spearman AP RR nDCG
    nDCG@3 hits_norm quality_stromer@9 R Success@1 Rprec bpref Judged
""".split()
BY_RELEVANCE = """
    AP APs APL RR nDCG nDCGL RBP RBPL F1 F1s AP@3 nDCG@3 R@2 Success@2 Rprec ERR ERR(top=1)@3 bpref
""".split()
LENGTH_AWARE = "F1 F1s LAR OLAR(max_length=8) APs APL nDCGL RBPL".split()
Items = dict[str, float]
Pair = tuple[Items, Items]
# Each example is scored by all measures.
quick = settings(max_examples=40, deadline=None)
names = st.sampled_from("abcdefgh")
level = st.integers(0, 5).map(lambda n: n / 5)
similarities = st.dictionaries(names, level, max_size=8)
run_and_truth = st.tuples(similarities, similarities)


def scores(listed: Items, truth: Items, by: list[str]) -> list[float]:
    found = measures.evaluate({"q": listed}, {"q": truth}, by, ties="given")
    return list(found.values[0].tolist())


@quick
@given(run_and_truth)
def test_bounds(lists: Pair) -> None:
    result = measures.evaluate({"q": lists[0]}, {"q": lists[1]}, SPELLINGS)
    undefined = {name: reason for _, name, reason in result.undefined()}
    for chosen in result.measures:
        value = float(result[chosen][0])
        assert math.isnan(value) == (chosen.name in undefined), chosen
        if not math.isnan(value):
            bounds = chosen.definition.low - 1e-12, chosen.definition.high + 1e-12
            assert bounds[0] <= value <= bounds[1], chosen
            assert value == 0 or abs(value) > 1e-15


@quick
@given(run_and_truth, st.permutations("abcdefgh"))
def test_relabelling(lists: Pair, new: list[str]) -> None:
    renamed = dict(zip("abcdefgh", new, strict=True))
    others = [{renamed[item]: value for item, value in items.items()} for items in lists]
    before, after = scores(*lists, SPELLINGS), scores(others[0], others[1], SPELLINGS)
    assert after == pytest.approx(before, abs=1e-12, nan_ok=True)


@quick
@given(run_and_truth)
def test_monotone_scores(lists: Pair) -> None:
    """What knows only the order of a list does not change with a monotone change of scores."""
    stretched = {item: math.exp(5 * value) - 7 for item, value in lists[0].items()}
    before, after = scores(*lists, BY_ORDER), scores(stretched, lists[1], BY_ORDER)
    assert after == pytest.approx(before, abs=0, nan_ok=True)


@quick
@given(st.dictionaries(names, level, min_size=2, max_size=8))
def test_perfection(truth: Items) -> None:
    truth |= {"a": 1.0, "b": 0.2}
    values = dict(zip(PERFECT, scores(truth, truth, PERFECT), strict=True))
    assert values == pytest.approx(dict.fromkeys(PERFECT, 1))
    assert scores(truth, truth, ["MAE", "MSE", "distance", "MAE(by=case)"]) == [0, 0, 0, 0]
    assert scores(truth, truth, ["hits"]) == [len(truth)]


@quick
@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_promotion(relevant: list[bool], data: st.DataObject) -> None:
    listed = [f"{i}" for i in range(len(relevant))]
    truth = [item for item, good in zip(listed, relevant, strict=True) if good]
    assume(truth and truth != ["0"])
    item = data.draw(st.sampled_from([item for item in truth if item != "0"]))
    at = listed.index(item)
    promoted = [*listed[: at - 1], listed[at], listed[at - 1], *listed[at + 1 :]]
    runs = {"before": listed, "after": promoted}
    before, after = measures.evaluate(runs, dict.fromkeys(runs, truth), BY_RELEVANCE).values
    assert (after >= before - 1e-12).all()


@quick
@given(st.integers(1, 7), st.integers(0, 7))
def test_a_wrong_option_more(length: int, place: int) -> None:
    listed = ["c" if i == place else f"w{i}" for i in range(length)]
    runs = {"before": listed, "after": [*listed, "more"]}
    before, after = measures.evaluate(runs, {key: ["c"] for key in runs}, LENGTH_AWARE).values
    assert (after <= before + 1e-12).all()


@settings(max_examples=20, deadline=None)
@given(st.lists(run_and_truth, min_size=1, max_size=6))
def test_each_query_by_itself(lists: list[Pair]) -> None:
    run = {i: listed for i, (listed, _) in enumerate(lists)}
    truth = {i: true for i, (_, true) in enumerate(lists)}
    together = measures.evaluate(run, truth, SPELLINGS, ties="given").values
    for row, (listed, true) in zip(together.tolist(), lists, strict=True):
        assert row == pytest.approx(scores(listed, true, SPELLINGS), abs=1e-12, nan_ok=True)


# With k across ties, and the parameters that change what is summed.
CUT = """
    P P@1 P@3 AP@3 AP(rel=0.5)@4 RR@2 RR(rel=0.5)@3 nDCG@3 nDCG(gain=exponential)@4 RBP(p=0.8)@3
    RBP(top=1) hits@3 hits_norm@4 quality_stromer@3 quality_mueller@3 completeness(of=listed)
    RBPL(p=0.8) OLAR(max_length=9,rel=0.5) APL(rel=0.5) APs(rel=0.5) nDCGL(rel=0.5) R@2
    R(rel=0.5)@3 Success@1 Success(rel=0.5)@2 Rprec(rel=0.5) ERR@2 ERR(top=1) ERR(top=1)@3
    bpref(rel=0.5) Judged@2 F1(rel=0.5)@3 AP(rel=0.5,unjudged=skip)@2 RR(unjudged=skip)
    ERR(top=1,unjudged=skip)@2 nDCG(unjudged=skip)@2 Success(unjudged=skip)@1
    Rprec(unjudged=skip) RBP(unjudged=skip)@3 F1(unjudged=skip)@2 RHL(rel=0.5) ESL(rel=0.5)
    ESL(rel=0.5,wanted=2)
""".split()
EVERY = list(dict.fromkeys([*SPELLINGS, *CUT]))
levels = st.integers(0, 2).map(lambda n: n / 2)
tied = st.dictionaries(st.sampled_from("abcdef"), levels, max_size=4)


def orders(items: Items) -> Iterator[Items]:
    groups = [[i for i, v in items.items() if v == value] for value in sorted(set(items.values()))]
    for ways in product(*(permutations(group) for group in groups[::-1])):
        yield {item: items[item] for group in ways for item in group}


def mean_over_orders(listed: Items, truth: Items, by: list[str]) -> list[float]:
    pairs = list(product(orders(listed), orders(truth)))
    runs, truths = ({n: pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    scores = measures.evaluate(runs, truths, by, ties="given")
    return [scores.mean[name] for name in scores.names]


@settings(max_examples=25, deadline=None)
@given(tied, tied)
def test_expected_is_the_mean_over_all_orders(listed: Items, truth: Items) -> None:
    """By every measure, in list and ground truth; undefined where each order is."""
    scores = measures.evaluate({"q": listed}, {"q": truth}, EVERY, ties="expected")
    for name, value, mean in zip(
        scores.names, scores.values[0], mean_over_orders(listed, truth, EVERY), strict=True
    ):
        assert value == pytest.approx(mean, abs=1e-12, nan_ok=True), (name, listed, truth)


@pytest.mark.parametrize("name", "kendall correctness AP nDCG@5 P@5 spearman MAE".split())
def test_what_needs_no_order_has_one_score_however_the_truth_is_shuffled(name: str) -> None:
    assert not measures.measure(name).needs_order
    listed = {item: 1 - place / 9 for place, item in enumerate("abcdefgh")}
    truth = dict.fromkeys("hgfe", 0.5) | dict.fromkeys("abcd", 1.0)
    turned = dict(reversed(truth.items()))
    one, other = (measures.score(listed, way, name, ties="given").value for way in (truth, turned))
    assert one == pytest.approx(other, nan_ok=True)


@pytest.mark.parametrize("name", "hits hits_norm@5 distance quality_mueller".split())
def test_what_needs_an_order_says_so(name: str) -> None:
    assert measures.measure(name).needs_order
