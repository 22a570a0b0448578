"""The measures against other implementations, and against loops that are plainly right."""

from __future__ import annotations

import math
import shutil
from itertools import combinations
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from scipy.stats import kendalltau, spearmanr

from quem import lists as measures

if TYPE_CHECKING:
    from collections.abc import Callable

Items = dict[str, float]


def random_run(
    seed: int, *, queries: int = 120, tied: bool = True
) -> tuple[dict[str, Items], dict[str, Items]]:
    """Lists of 0 to 30 of 40 items, and ground truths of some of them, with grades from 0 to 3.

    Scores are eighths, so that they are equal in single precision only where they are equal.
    """
    rng = np.random.default_rng(seed)
    names = np.array([f"d{i}" for i in range(40)])
    run: dict[str, Items] = {}
    truth: dict[str, Items] = {}
    for query in range(queries):
        held = rng.choice(names, rng.integers(0, 31), replace=False).tolist()
        scores = rng.integers(0, 16, len(held)) if tied else rng.permutation(len(held))
        judged = rng.choice(names, rng.integers(1, 21), replace=False).tolist()
        run[f"q{query}"] = dict(zip(held, (scores / 8).tolist(), strict=True))
        truth[f"q{query}"] = dict(
            zip(judged, rng.integers(0, 4, len(judged)).tolist(), strict=True)
        )
    return run, truth


def grades(truth: dict[str, Items]) -> dict[str, dict[str, int]]:
    """The ground truth with whole grades, as ir_measures has them."""
    return {q: {item: int(grade) for item, grade in items.items()} for q, items in truth.items()}


# What trec_eval computes by itself, to the last bit.
TREC = {
    "P": "set_P",
    "R": "set_recall",
    "F1": "set_F",
    "P@5": "P_5",
    "R@5": "recall_5",
    "R@30": "recall_30",
    "Success@1": "success_1",
    "Success@10": "success_10",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "AP": "map",
    "AP@10": "map_cut_10",
    "RR": "recip_rank",
    "nDCG": "ndcg",
    "nDCG@10": "ndcg_cut_10",
}


@pytest.mark.parametrize("unjudged", ["count", "skip"])
@pytest.mark.parametrize("rel", [1, 2])
def test_trec_eval(rel: int, unjudged: str) -> None:
    """2,000 queries with ties, and missing, empty, unjudged, and pooled items: no difference."""
    run, truth = random_run(12, queries=2000)
    for n, items in enumerate(truth.values()):
        # What a pool holds and nobody judged has a grade below 0.
        items |= {f"d{(n + i) % 40}": -1 for i in range(n % 3)}
    for n in range(0, 2000, 17):
        del run[f"q{n}"]
    theirs = pytrec_eval.RelevanceEvaluator(
        grades(truth),
        set(TREC.values()),
        relevance_level=rel,
        judged_docs_only_flag=unjudged == "skip",
    )
    expected = theirs.evaluate(run)
    chosen = []
    for name in TREC:
        known = {one.name for one in measures.measure(name).definition.parameters}
        given = {"rel": rel, "unjudged": unjudged}
        values = {key: value for key, value in given.items() if key in known}
        chosen.append(measures.measure(name, **values))
    scores = measures.evaluate(run, truth, chosen, ties="trec")
    assert len(expected) > 1700
    for measure, column in zip(scores.names, TREC.values(), strict=True):
        for query, score in zip(scores.queries, scores[measure].tolist(), strict=True):
            if query in expected:
                other = expected[query][column]
                assert (0 if math.isnan(score) else score) == other, (measure, query)
            else:
                assert math.isnan(score) or score == 0


@pytest.mark.skipif(not shutil.which("perl"), reason="TREC's script for ERR needs perl")
@pytest.mark.parametrize("k", [5, 20])
def test_err_of_trec(k: int) -> None:
    """It writes five digits, and knows no names of queries, only numbers."""
    run, truth = random_run(16, queries=200, tied=False)
    numbered = {str(n): items for n, items in enumerate(run.values()) if items}
    judged = {str(n): items for n, items in enumerate(grades(truth).values()) if str(n) in numbered}
    theirs = {
        one.query_id: one.value
        for one in ir_measures.iter_calc([ir_measures.ERR @ k], judged, numbered)
    }
    assert len(theirs) > 150
    scores = measures.evaluate(numbered, judged, [f"ERR@{k}"])
    ours = dict(zip(scores.queries, scores[f"ERR@{k}"].tolist(), strict=True))
    assert theirs == pytest.approx({query: ours[query] for query in theirs}, abs=1e-5)


GAINS = {1: 1, 2: 3, 3: 7}
SHARED = {
    "AP": ir_measures.AP,
    "AP@5": ir_measures.AP @ 5,
    "AP(rel=2)": ir_measures.AP(rel=2),
    "RR": ir_measures.RR,
    "RR(rel=3)": ir_measures.RR(rel=3),
    "nDCG": ir_measures.nDCG,
    "nDCG@5": ir_measures.nDCG @ 5,
    "nDCG(gain=exponential)@10": ir_measures.nDCG(gains=GAINS) @ 10,
    "F1": ir_measures.SetF,
    "F1(rel=2)": ir_measures.SetF(rel=2),
}


@pytest.mark.parametrize("tied", [True, False], ids=["ties", "no-ties"])
@pytest.mark.parametrize(("name", "theirs"), SHARED.items(), ids=SHARED)
def test_ir_measures(name: str, theirs: Any, tied: bool) -> None:  # noqa: ANN401, FBT001
    """Each query has the score that ir_measures gives, ties included.

    It gives none to a query without a list, and 0 where nothing is relevant; there is no score
    for these here.
    """
    run, truth = random_run(5, tied=tied)
    scores = measures.evaluate(run, truth, [name], ties="trec")
    ours = dict(zip(scores.queries, scores[name].tolist(), strict=True))
    expected = {
        one.query_id: one.value for one in ir_measures.iter_calc([theirs], grades(truth), run)
    }
    assert len(expected) > 100
    undefined = {query for query, _, _ in scores.undefined()}
    for query, value in expected.items():
        if query in undefined:
            assert value == 0
        else:
            assert ours[query] == pytest.approx(value, abs=1e-9), query


def common(run: Items, truth: Items) -> tuple[list[float], list[float]]:
    """Scores and true values of the common items."""
    both = [item for item in run if item in truth]
    return [run[item] for item in both], [truth[item] for item in both]


@pytest.mark.parametrize("tied", [True, False], ids=["ties", "no-ties"])
def test_scipy(tied: bool) -> None:  # noqa: FBT001  a parameter of the test
    """Kendall's tau-b and Spearman are those of SciPy, NaN where these are."""
    run, truth = random_run(7, tied=tied)
    names = ["kendall(variant=b)", "spearman"]
    scores = measures.evaluate(run, truth, names, ties="given")
    for query, (tau, rho) in zip(run, scores.values.tolist(), strict=True):
        listed, true = common(run[query], truth[query])
        constant = len(set(listed)) < 2 or len(set(true)) < 2
        assert math.isnan(tau) == math.isnan(rho) == constant
        if not constant:
            assert tau == pytest.approx(kendalltau(listed, true).statistic, abs=1e-12)
            assert rho == pytest.approx(spearmanr(listed, true).statistic, abs=1e-12)


def ranked(items: Items) -> list[str]:
    """The items, best first; sorting is stable."""
    return sorted(items, key=lambda item: -items[item])


def hits(run: Items, truth: Items, k: int) -> float:
    """How many of the best k are among the best k."""
    return len(set(ranked(run)[:k]) & set(ranked(truth)[:k]))


def stromer(run: Items, truth: Items, k: int) -> float:
    """The weighted share of positions that match."""
    listed, true = ranked(run), ranked(truth)
    k = min(k, len(true))
    weights = [2 + k - i for i in range(1, k + 1)]
    same = [i < len(listed) and listed[i] == true[i] for i in range(k)]
    return sum(w for w, s in zip(weights, same, strict=True) if s) / sum(weights)


def mueller(run: Items, truth: Items, k: int) -> float:
    """One less the mean similarity of what is missing."""
    listed = ranked(run)[:k]
    best = ranked(truth)[: len(listed)]
    return 1 - sum(truth[item] for item in best if item not in listed) / len(listed)


def counted(run: Items, truth: Items) -> tuple[int, int, int]:
    """Concordant pairs, discordant ones, and all of common items."""
    pairs = combinations([item for item in run if item in truth], 2)
    signs = [(run[a] - run[b]) * (truth[a] - truth[b]) for a, b in pairs]
    return sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs), len(signs)


def correctness(run: Items, truth: Items, _: int) -> float:
    """Rightly ordered pairs against wrongly ordered ones."""
    c, d, _ = counted(run, truth)
    return (c - d) / (c + d)


def kendall(run: Items, truth: Items, _: int) -> float:
    """The same against all pairs of common items."""
    c, d, n = counted(run, truth)
    return (c - d) / n


def completeness(run: Items, truth: Items, _: int) -> float:
    """Ordered pairs of all that the truth orders."""
    c, d, _ = counted(run, truth)
    return (c + d) / sum(truth[a] != truth[b] for a, b in combinations(truth, 2))


def completeness_listed(run: Items, truth: Items, _: int) -> float:
    """Ordered pairs of those among the common items that the truth orders."""
    return completeness(run, {item: grade for item, grade in truth.items() if item in run}, 0)


def distance(run: Items, truth: Items, _: int) -> float:
    """The mean distance of positions."""
    listed, true = ranked(run), ranked(truth)
    off = [abs(listed.index(item) - true.index(item)) for item in listed if item in true]
    return sum(off) / len(off)


def mae(run: Items, truth: Items, _: int) -> float:
    """The mean absolute error by position."""
    pairs = list(zip(sorted(run.values())[::-1], sorted(truth.values())[::-1], strict=False))
    return sum(abs(a - b) for a, b in pairs) / len(pairs)


def mse_by_case(run: Items, truth: Items, _: int) -> float:
    """The mean squared error by case."""
    listed, true = common(run, truth)
    return sum((a - b) ** 2 for a, b in zip(listed, true, strict=True)) / len(listed)


def rbp(run: Items, truth: Items, k: int) -> float:
    """Graded rank-biased precision, p = 0.8."""
    gains = [truth.get(item, 0) / 3 for item in ranked(run)[:k]]
    return 0.2 * sum(g * 0.8**i for i, g in enumerate(gains))


def err(run: Items, truth: Items, k: int) -> float:
    """The chance to stop at each position, by its reciprocal."""
    total, here = 0.0, 1.0
    for place, item in enumerate(ranked(run)[:k], 1):
        stops = (2 ** truth.get(item, 0) - 1) / 8
        total += here * stops / place
        here *= 1 - stops
    return total


def f1(run: Items, truth: Items, k: int) -> float:
    """The harmonic mean of precision and recall at k."""
    relevant = {item for item, grade in truth.items() if grade >= 1}
    precision = len(relevant.intersection(ranked(run)[:k])) / k
    recall = len(relevant.intersection(ranked(run)[:k])) / len(relevant)
    return 2 * precision * recall / (precision + recall) if recall else 0


def average_precision_smoothed(run: Items, truth: Items, _: int) -> float:
    """Average precision with one more relevant item at the end."""
    relevant = {item for item, grade in truth.items() if grade >= 1}
    listed = [item in relevant for item in ranked(run)] + [True]
    at = [sum(listed[: i + 1]) / (i + 1) for i, good in enumerate(listed) if good]
    return sum(at) / (len(relevant) + 1) if relevant else math.nan


def half_life(run: Items, truth: Items, _: int) -> float:
    """Grouped data with positions as classes: the lower limit, and the share of the class."""
    good = [truth.get(item, 0) >= 1 for item in ranked(run)]
    half = sum(good) / 2
    if not half:
        return math.nan
    at = next(i for i in range(len(good)) if sum(good[: i + 1]) >= half)
    return at + (half - sum(good[:at])) / 1


def search_length(run: Items, truth: Items, _: int) -> float:
    """Read all orders in which judged items that are not listed can follow the list."""
    rest = [item for item in truth if item not in run]
    listed = [truth.get(item, 0) >= 2 for item in ranked(run)]
    relevant = sum(grade >= 2 for grade in truth.values())
    left = sum(truth[item] >= 2 for item in rest)
    lengths = []
    for chosen in combinations(range(len(rest)), left):
        read = [*listed, *(place in chosen for place in range(len(rest)))]
        second = [place for place, good in enumerate(read) if good][1:2]
        lengths += [second[0] - 1] if second else []
    return sum(lengths) / len(lengths) if relevant > 1 else math.nan


BRUTE: dict[str, Callable[[Items, Items, int], float]] = {
    "hits": hits,
    "quality_stromer": stromer,
    "quality_mueller": mueller,
    "correctness": correctness,
    "kendall": kendall,
    "completeness": completeness,
    "completeness(of=listed)": completeness_listed,
    "distance": distance,
    "MAE": mae,
    "MSE(by=case)": mse_by_case,
    "RBP(p=0.8, top=3)": rbp,
    "ERR(top=3)": err,
    "APs": average_precision_smoothed,
    "RHL": half_life,
    "ESL(rel=2, wanted=2)": search_length,
    "F1": f1,
}
CUT = (
    "F1",
    "hits",
    "quality_stromer",
    "quality_mueller",
    "RBP",
    "ERR",
)


@pytest.mark.parametrize("k", [None, 1, 4, 50])
@pytest.mark.parametrize("name", BRUTE)
def test_brute_force(name: str, k: int | None) -> None:
    """All lists of a run have the scores that a plain loop gives, NaN where it divides by 0."""
    if k is None and name == "F1":
        return  # ir_measures has it
    if k is not None and not name.startswith(CUT):
        return
    run, truth = random_run(10)
    spelled = name if k is None else f"{name}@{k}"
    scores = measures.evaluate(run, truth, [spelled], ties="given")
    for query, score in zip(run, scores[spelled].tolist(), strict=True):
        try:
            expected = BRUTE[name](run[query], truth[query], 1000 if k is None else k)
        except ZeroDivisionError:
            expected = math.nan
        assert score == pytest.approx(expected, abs=1e-12, nan_ok=True), query
