"""Laws that hold for every list."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from quem import lists as measures

ALL = measures.DEFINITIONS
# With parameters for which every list of similarities has as many scores as it can have.
SPELLINGS = [
    *(name for name in ALL if name not in {"OLAR", "rank_quality", "LAR"}),
    *("hits@2", "hits_norm@2", "quality_stromer@2", "quality_mueller@2", "ESL(wanted=2)"),
    *(
        "completeness_listed",
        "kendall(variant=b)",
        "MAE(by=case)",
        "AP(rel=0.5)@2",
        "nDCG@2",
        "RBP(top=1)@3",
    ),
    *("OLAR(max_length=9)", "LAR", "rank_quality@2", "rank_quality@4", "F1@2"),
    *("AP(unjudged=skip)", "nDCG(unjudged=skip)@2", "P(unjudged=skip)@3", "R(unjudged=skip)@2"),
]
BY_ORDER = [
    *("hits", "quality_stromer", "correctness", "completeness", "kendall", "distance"),
    *("spearman", "F1", "F1s", "AP", "APs", "APL", "RR", "nDCG", "nDCGL", "RBP", "RBPL"),
    *("R@2", "Success@2", "Rprec", "ERR", "bpref", "Judged@2", "RHL", "ESL"),
]
PERFECT = [
    *("quality_stromer", "quality_mueller", "correctness", "completeness", "kendall(variant=b)"),
    *("spearman", "AP", "RR", "nDCG", "nDCG@3", "hits_norm", "quality_stromer@9"),
    *("R", "Success@1", "Rprec", "bpref", "Judged"),
]
# Each example is scored by all measures.
quick = settings(max_examples=40, deadline=None)
names = st.sampled_from("abcdefgh")
level = st.integers(0, 5).map(lambda n: n / 5)
similarities = st.dictionaries(names, level, max_size=8)
run_and_truth = st.tuples(similarities, similarities)


def scores(listed: dict[str, float], truth: dict[str, float], by: list[str]) -> list[float]:
    """The scores of a list."""
    found = measures.evaluate({"q": listed}, {"q": truth}, by, ties="given")
    return list(found.values[0].tolist())


@quick
@given(run_and_truth)
def test_bounds(lists: tuple[dict[str, float], dict[str, float]]) -> None:
    """A score is within its range, or NaN with a reason."""
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
def test_relabelling(lists: tuple[dict[str, float], dict[str, float]], new: list[str]) -> None:
    """Other names for the items change nothing."""
    renamed = dict(zip("abcdefgh", new, strict=True))
    others = [{renamed[item]: value for item, value in items.items()} for items in lists]
    before, after = scores(*lists, SPELLINGS), scores(others[0], others[1], SPELLINGS)
    assert after == pytest.approx(before, abs=1e-12, nan_ok=True)


@quick
@given(run_and_truth, st.randoms(use_true_random=False))
def test_order_of_untied_input(
    lists: tuple[dict[str, float], dict[str, float]], random: object
) -> None:
    """Where nothing is tied, it does not matter in which order items are given."""
    assume(all(len(set(items.values())) == len(items) for items in lists))
    others = [dict(sorted(items.items(), key=lambda _: random.random())) for items in lists]  # type: ignore[attr-defined]
    before, after = scores(*lists, SPELLINGS), scores(others[0], others[1], SPELLINGS)
    assert after == pytest.approx(before, abs=1e-12, nan_ok=True)


@quick
@given(run_and_truth)
def test_monotone_scores(lists: tuple[dict[str, float], dict[str, float]]) -> None:
    """What knows only the order of a list does not change with a monotone change of scores."""
    stretched = {item: math.exp(5 * value) - 7 for item, value in lists[0].items()}
    before, after = scores(*lists, BY_ORDER), scores(stretched, lists[1], BY_ORDER)
    assert after == pytest.approx(before, abs=0, nan_ok=True)


@quick
@given(st.dictionaries(names, level, min_size=2, max_size=8))
def test_perfection(truth: dict[str, float]) -> None:
    """The ground truth itself has the best score that there is, wherever it has one."""
    truth |= {"a": 1.0, "b": 0.2}
    values = dict(zip(PERFECT, scores(truth, truth, PERFECT), strict=True))
    assert values == pytest.approx(dict.fromkeys(PERFECT, 1))
    assert scores(truth, truth, ["MAE", "MSE", "distance", "MAE(by=case)"]) == [0, 0, 0, 0]
    assert scores(truth, truth, ["hits"]) == [len(truth)]


@quick
@given(st.lists(level, min_size=3, max_size=8, unique=True))
def test_reversal(values: list[float]) -> None:
    """A reversed list has the opposite correlation."""
    truth = {str(i): value for i, value in enumerate(values)}
    listed = {item: -value for item, value in truth.items()}
    by = ["correctness", "kendall", "spearman", "kendall(variant=b)"]
    assert scores(listed, truth, by) == pytest.approx([-1] * 4)


@quick
@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_promotion(relevant: list[bool], data: st.DataObject) -> None:
    """To move a relevant item up by one never makes a list worse, by any measure of relevance."""
    by = ["AP", "APs", "APL", "RR", "nDCG", "nDCGL", "RBP", "RBPL", "F1", "F1s", "AP@3", "nDCG@3"]
    by += ["R@2", "Success@2", "Rprec", "ERR", "ERR(top=1)@3", "bpref"]
    listed = [f"{i}" for i in range(len(relevant))]
    truth = [item for item, good in zip(listed, relevant, strict=True) if good]
    assume(truth and truth != ["0"])
    item = data.draw(st.sampled_from([item for item in truth if item != "0"]))
    at = listed.index(item)
    promoted = [*listed[: at - 1], listed[at], listed[at - 1], *listed[at + 1 :]]
    runs = {"before": listed, "after": promoted}
    before, after = measures.evaluate(runs, dict.fromkeys(runs, truth), by).values
    assert (after >= before - 1e-12).all()


@quick
@given(st.integers(1, 7), st.integers(0, 7))
def test_a_wrong_option_more(length: int, place: int) -> None:
    """One wrong option more never makes a list of options better by a length-aware measure."""
    by = ["F1", "F1s", "LAR", "OLAR(max_length=8)", "APs", "APL", "nDCGL", "RBPL"]
    listed = ["c" if i == place else f"w{i}" for i in range(length)]
    runs = {"before": listed, "after": [*listed, "more"]}
    before, after = measures.evaluate(runs, {name: ["c"] for name in runs}, by).values
    assert (after <= before + 1e-12).all()


@settings(max_examples=20, deadline=None)
@given(st.lists(run_and_truth, min_size=1, max_size=6))
def test_each_query_by_itself(lists: list[tuple[dict[str, float], dict[str, float]]]) -> None:
    """A run has the scores that its lists have one by one."""
    run = {i: listed for i, (listed, _) in enumerate(lists)}
    truth = {i: true for i, (_, true) in enumerate(lists)}
    together = measures.evaluate(run, truth, SPELLINGS, ties="given").values
    for row, (listed, true) in zip(together.tolist(), lists, strict=True):
        assert row == pytest.approx(scores(listed, true, SPELLINGS), abs=1e-12, nan_ok=True)
