"""The measures against other implementations, and against loops that are plainly right."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytrec_eval
from scipy.stats import kendalltau, spearmanr

from quem import lists as measures

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        graded = rng.integers(0, 4, len(judged)).tolist()
        run[f"q{query}"] = dict(zip(held, (scores / 8).tolist(), strict=True))
        truth[f"q{query}"] = dict(zip(judged, graded, strict=True))
    return run, truth


def grades(truth: dict[str, Items]) -> dict[str, dict[str, int]]:
    return {q: {item: int(grade) for item, grade in items.items()} for q, items in truth.items()}


# What trec_eval computes by itself, to the last bit.
OURS = "P R F1 P@5 R@5 R@30 Success@1 Success@10 Rprec bpref AP AP@10 RR nDCG nDCG@10".split()
THEIRS = """
    set_P set_recall set_F P_5 recall_5 recall_30 success_1 success_10 Rprec bpref map map_cut_10
    recip_rank ndcg ndcg_cut_10
""".split()


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
    skips = unjudged == "skip"
    theirs = pytrec_eval.RelevanceEvaluator(
        grades(truth), {*THEIRS}, relevance_level=rel, judged_docs_only_flag=skips
    )
    expected = theirs.evaluate(run)
    chosen = []
    for name in OURS:
        known = {one.name for one in measures.measure(name).definition.parameters}
        given = {"rel": rel, "unjudged": unjudged}
        chosen.append(measures.measure(name, **{k: given[k] for k in known & given.keys()}))
    scores = measures.evaluate(run, truth, chosen, ties="trec")
    assert len(expected) > 1700
    for measure, column in zip(scores.names, THEIRS, strict=True):
        for query, score in zip(scores.queries, scores[measure].tolist(), strict=True):
            # They give none to a query without a list, and 0 where nothing is relevant.
            other = expected[query][column] if query in expected else 0
            assert (0 if math.isnan(score) else score) == other, (measure, query)


def common(run: Items, truth: Items) -> tuple[list[float], list[float]]:
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
    return sorted(items, key=lambda item: -items[item])


def pairs(run: Items, truth: Items) -> list[int]:
    """Of each pair of common items: 1 where it is concordant, -1 discordant, 0 tied."""
    both = [item for item in run if item in truth]
    signs = [(run[a] - run[b]) * (truth[a] - truth[b]) for a, b in combinations(both, 2)]
    return [(sign > 0) - (sign < 0) for sign in signs]


def untied(values: Iterable[float]) -> int:
    return sum(value != 0 for value in values)


def good(run: Items, truth: Items, rel: float = 1) -> list[bool]:
    """Whether each item is relevant, best first."""
    return [truth.get(item, 0) >= rel for item in ranked(run)]


def stromer(run: Items, truth: Items, k: int) -> float:
    listed, true = ranked(run), ranked(truth)
    k = min(k, len(true))
    weights = [2 + k - i for i in range(1, k + 1)]
    same = [i < len(listed) and listed[i] == true[i] for i in range(k)]
    return sum(w for w, s in zip(weights, same, strict=True) if s) / sum(weights)


def mueller(run: Items, truth: Items, k: int) -> float:
    listed = ranked(run)[:k]
    best = ranked(truth)[: len(listed)]
    return 1 - sum(truth[item] for item in best if item not in listed) / len(listed)


def distance(run: Items, truth: Items, _: int) -> float:
    listed, true = ranked(run), ranked(truth)
    off = [abs(listed.index(item) - true.index(item)) for item in listed if item in true]
    return sum(off) / len(off)


def mae(run: Items, truth: Items, _: int) -> float:
    both = list(zip(sorted(run.values())[::-1], sorted(truth.values())[::-1], strict=False))
    return sum(abs(a - b) for a, b in both) / len(both)


def gain(run: Items, truth: Items, k: int) -> float:
    """Discounted, exponential, and normalized."""
    ideal = [2**grade - 1 for grade in sorted(truth.values())[::-1][:k]]
    found = [2 ** truth.get(item, 0) - 1 for item in ranked(run)[:k]]
    sums = [sum(g / math.log2(i + 2) for i, g in enumerate(gains)) for gains in (found, ideal)]
    return sums[0] / sums[1]


def err(run: Items, truth: Items, k: int) -> float:
    """The chance to stop at each position, by its reciprocal."""
    total, here = 0.0, 1.0
    for place, item in enumerate(ranked(run)[:k], 1):
        stops = (2 ** truth.get(item, 0) - 1) / 8
        total += here * stops / place
        here *= 1 - stops
    return total


def smoothed(run: Items, truth: Items, _: int) -> float:
    """Average precision with one more relevant item at the end."""
    relevant = sum(grade >= 1 for grade in truth.values())
    listed = [*good(run, truth), True]
    at = [sum(listed[: i + 1]) / (i + 1) for i, right in enumerate(listed) if right]
    return sum(at) / (relevant + 1) if relevant else math.nan


def half_life(run: Items, truth: Items, _: int) -> float:
    """Grouped data with positions as classes: the lower limit, and the share of the class."""
    listed = good(run, truth)
    half = sum(listed) / 2
    if not half:
        return math.nan
    at = next(i for i in range(len(listed)) if sum(listed[: i + 1]) >= half)
    return at + (half - sum(listed[:at])) / 1


def search_length(run: Items, truth: Items, _: int) -> float:
    """Read all orders in which judged items that are not listed can follow the list."""
    rest = [item for item in truth if item not in run]
    relevant = sum(grade >= 2 for grade in truth.values())
    lengths = []
    for chosen in combinations(range(len(rest)), sum(truth[item] >= 2 for item in rest)):
        read = [*good(run, truth, 2), *(place in chosen for place in range(len(rest)))]
        second = [place for place, right in enumerate(read) if right][1:2]
        lengths += [second[0] - 1] if second else []
    return sum(lengths) / len(lengths) if relevant > 1 else math.nan


Loop = Callable[[Items, Items, int], float]
WHOLE: dict[str, Loop] = {
    "correctness": lambda r, t, _: sum(pairs(r, t)) / untied(pairs(r, t)),
    "kendall": lambda r, t, _: sum(pairs(r, t)) / len(pairs(r, t)),
    "completeness": lambda r, t, _: untied(pairs(r, t)) / untied(pairs(t, t)),
    "completeness(of=listed)": lambda r, t, _: (
        untied(pairs(r, t)) / untied(t[a] - t[b] for a, b in combinations(r.keys() & t.keys(), 2))
    ),
    "distance": distance,
    "MAE": mae,
    "MSE(by=case)": lambda r, t, _: (
        float(np.subtract(*common(r, t)) @ np.subtract(*common(r, t))) / len(common(r, t)[0])
    ),
    "APs": smoothed,
    "RHL": half_life,
    "ESL(rel=2, wanted=2)": search_length,
}
CUT: dict[str, Loop] = {
    "hits": lambda run, truth, k: len({*ranked(run)[:k]} & {*ranked(truth)[:k]}),
    "quality_stromer": stromer,
    "quality_mueller": mueller,
    "RBP(p=0.8, top=3)": lambda run, truth, k: sum(
        0.2 * truth.get(item, 0) / 3 * 0.8**i for i, item in enumerate(ranked(run)[:k])
    ),
    "ERR(top=3)": err,
    "nDCG(gain=exponential)": gain,
}
BRUTE: dict[str, Loop] = {
    **WHOLE,
    **CUT,
    **{f"{name}@{k}": loop for name, loop in CUT.items() for k in (1, 4, 50)},
    "F1@4": lambda run, truth, k: (
        2 * sum(good(run, truth)[:k]) / (k + relevant)
        if (relevant := sum(grade >= 1 for grade in truth.values()))
        else math.nan
    ),
}


@pytest.mark.parametrize("name", BRUTE)
def test_brute_force(name: str) -> None:
    """All lists of a run have the scores that a plain loop gives, NaN where it divides by 0."""
    run, truth = random_run(10, queries=60)
    scores = measures.evaluate(run, truth, [name], ties="given")
    k = int(name.partition("@")[2] or 1000)
    for query, score in zip(run, scores[name].tolist(), strict=True):
        try:
            expected = BRUTE[name](run[query], truth[query], k)
        except ZeroDivisionError:
            expected = math.nan
        assert score == pytest.approx(expected, abs=1e-12, nan_ok=True), query
