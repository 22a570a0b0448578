"""Certificates of claims: every line against an enumeration, and what the verdict comes to."""

from __future__ import annotations

from html import escape
from itertools import chain, combinations, permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from quem.lists import evaluate, measure
from quem.scores.certificate import Line
from quem.scores.inference import Inference, judge_sample
from quem.scores.result import ScoresResult
from quem.scores.scoring import score_runs
from quem.scores.table import ScoreTable
from quem.scores.unjudged import Unjudged, find_unjudged
from tests.scores.made import Named, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from quem.scores.certificate import Certificate

    Run = dict[str, dict[str, float]]

_DATA = Path(__file__).parent / "data"
_GOLDEN = {name: str(_DATA / f"{name}.run") for name in ("bm25", "dense", "hybrid")}


def _table(
    runs: Mapping[str, object],
    judgments: object,
    *measures: str,
    **more: Any,  # noqa: ANN401
) -> ScoreTable:
    scored = score_runs(runs, judgments, [measure(one) for one in measures])
    queries = tuple(map(str, scored.queries))
    of = scored.systems, queries, scored.measures, scored.values
    return ScoreTable(*of, evidence=scored, **more)


def _said(certificate: Certificate) -> dict[str, tuple[str, str]]:
    return {line.question: (line.verdict, line.text) for line in certificate.lines}


def _runs(good: str = "rxy", bad: str = "xyr", n: int = 8) -> dict[str, Run]:
    return {
        name: {f"q{q}": {case: -float(at) for at, case in enumerate(cases)} for q in range(n)}
        for name, cases in (("good", good), ("bad", bad))
    }


def _graded(n: int = 8, **more: float) -> Run:
    return {f"q{q}": {"r": 1, "x": 0, "y": 0, **more} for q in range(n)}


def _by(judges: int, contrary: int = 0) -> list[dict[str, object]]:
    """Judgments of several judges, the last of whom find x relevant, not r."""
    return [
        {"query": f"q{query}", "case": case, "judge": f"j{judge}", "grade": int(case == relevant)}
        for judge in range(judges)
        for relevant in ("x" if judge >= judges - contrary else "r")
        for query in range(8)
        for case in "rxy"
    ]


_TIED = {
    name: {f"q{q}": {"r": 2.0, "x": score} for q in range(8)}
    for name, score in (("good", 1.0), ("bad", 2.0))
}
_BETTER = "good > bad by RR"
_ON_THESE = "supported on these judgments; "


@pytest.mark.parametrize(
    ("runs", "judgments", "claim", "verdict", "lines"),
    [
        (
            *(_GOLDEN, str(_DATA / "qrels.txt"), "hybrid > bm25 by nDCG@5", "not shown"),
            {
                "sample of queries": "open: −0.060 to +0.234 (95% for this pair, not for all 3",
                "sample of judges": "-: no judges",
                "unjudged cases": "open: −0.116 to +0.236 over all grades of 43 unjudged cases",
                "order of ties": "yes: +0.075 to +0.099 over all orders of 69 tied items",
            },
        ),
        (
            *(_GOLDEN, str(_DATA / "judgments.csv"), "hybrid > bm25 by nDCG@5"),
            f"{_ON_THESE}open: sample of judges and other measures",
            {
                "sample of queries": "yes: +0.046 to +0.222 (95% for this pair, not for all 3",
                "sample of judges": "open: higher for 3 of 3 judges; +0.047 to +0.202",
                "order of ties": "yes: +0.126 to +0.141 over all orders of 69 tied items",
                "human reference": "-: a judge's own order scores 0.835",
            },
        ),
        (
            *(_runs(), _graded(), _BETTER, "supported"),
            {
                "sample of queries": "yes: +0.667 to +0.667, p .008 (not adjusted for 2 ",
                "unjudged cases": "yes: none among",
                "order of ties": "yes: none are tied",
                "other measures": "yes: higher by 1 of 1 other, 1 significant",
            },
        ),
        (
            *(_runs(), _graded(), "bad > good by RR", "contradicted"),
            {
                "sample of queries": "no: −0.667 to −0.667",
                "order of ties": "no: none are tied",
                "other measures": "no: higher by 0 of 1 other, 0 significant; significantly",
            },
        ),
        (_runs(n=4), _graded(4), _BETTER, "not shown", {"sample of queries": "open: –, p .125"}),
        (_runs("rxu", "uxr"), _graded(), _BETTER, f"{_ON_THESE}open: unjudged cases", {}),
        (_runs("xru", "uxr"), _graded(u=0), "good > bad by R@1", "not shown", {}),
        (_TIED, _graded(), _BETTER, f"{_ON_THESE}open: order of ties", {}),
        (_runs(), _graded(), "good > bad by AP", f"{_ON_THESE}not examined: unjudged cases", {}),
        (_runs(), _by(5), _BETTER, "supported", {"sample of judges": "yes: higher for 5 of 5"}),
        (_runs(), _by(5, contrary=2), _BETTER, f"{_ON_THESE}open: sample of judges", {}),
        (_runs(), _by(1), _BETTER, "supported", {"sample of judges": "-: one judge"}),
    ],
)
def test_verdicts(
    runs: dict[str, Run], judgments: object, claim: str, verdict: str, lines: dict[str, str]
) -> None:
    """Every line says yes, open, or no by its rule, and the verdict sums them up."""
    better, _, worse, _, name = claim.split()
    table = _table(runs, judgments, name, "R@1" if name != "R@1" else "RR")
    certificate = table.certificate(better, worse, name)
    said = _said(certificate)
    assert certificate.verdict == verdict, str(certificate)
    for question, expected in lines.items():
        assert ": ".join(said[question]).startswith(expected), str(certificate)
    assert len(str(certificate).splitlines()) <= 12


def test_five_queries_are_told() -> None:
    """Beside every interval over queries."""
    judged = [one for one in _by(5) if one["query"] in _graded(5)]
    table = _table(_runs(n=5), judged, "RR", inference=Inference(level=0.9))
    said = _said(table.certificate("good", "bad"))
    for question in ("sample of queries", "sample of judges"):
        assert "with only 5 queries" in said[question][1]


def test_certificates_in_report_and_document() -> None:
    table = _table(_GOLDEN, str(_DATA / "qrels.txt"), "nDCG@5", "AP")
    certificate = table.certificate("hybrid", "bm25")
    result = ScoresResult.of(table, [certificate])
    (claim,) = result.to_dict()["claims"]
    assert claim == certificate.as_dict()
    assert len(claim["to_judge"]) == 7
    assert claim["to_judge"][0] == {"query": "q9", "case": "d13"}
    page = result.to_html()
    assert "q9 d13; q1 d14; q0 d13; " in page
    for _, text in _said(certificate).values():
        assert escape(text) in page


def test_kinds_without_lists() -> None:
    """Fewer lines; less can be better; a kind adds lines of its own."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 40, 2)) + np.array([[[0.0, 0.0]], [[5.0, -5.0]]])
    measures = Named("errors", "lower"), Named("hits")
    check = Line("granularity", "open", "1 step of 3")
    table = table_of(values, *measures, checks=(lambda *_: check,))
    certificate = table.certificate("s0", "s1")
    assert certificate.claim.startswith("s0 scores better than s1 by errors")
    assert certificate.verdict == "supported on these judgments; open: granularity"
    said = _said(certificate)
    assert list(said) == ["sample of queries", "other measures", "granularity"]
    assert said["other measures"] == ("yes", "better by 1 of 1 other, 1 significant")
    untested = table_of(values, *measures, inference=Inference(samples=0))
    assert untested.certificate("s0", "s1").verdict == "not shown"


_CASES = "abcdefgh"


def _unjudged(table: ScoreTable, a: int, b: int, column: int = 0) -> Unjudged:
    assert table.evidence
    now = table.values[a, :, column] - table.values[b, :, column]
    found = find_unjudged(table.evidence, (a, b), table.evidence.measures[column], now)
    assert found is not None
    return found


def _drawn(seed: int, *, top: int, tied: bool, queries: int = 3) -> tuple[dict[str, Run], Run]:
    """Two runs of 5 of 8 cases, and grades of 4 of the cases, at least one of them relevant."""
    rng = np.random.default_rng(seed)

    def listed() -> dict[str, float]:
        scores = rng.integers(0, 3, 5) if tied else rng.permutation(5)
        return dict(zip(rng.permutation(list(_CASES))[:5].tolist(), scores * 1.0, strict=True))

    names = [f"q{query}" for query in range(queries)]
    runs = {system: {name: listed() for name in names} for system in "AB"}
    truth = {
        name: {"a": 1.0, **{case: float(rng.integers(0, top + 1)) for case in "bcd"}}
        for name in names
    }
    truth["q0"]["a"] = float(top)
    return runs, truth


def _extremes(runs: dict[str, Run], truth: Run, name: str, top: int) -> NDArray[np.float64]:
    """The least and greatest difference on each query, over all grades of unjudged cases."""
    found = []
    for query, known in truth.items():
        cases = sorted({*chain(*(run[query] for run in runs.values()))} - {*known})
        ways = product(map(float, range(top + 1)), repeat=len(cases))
        truths = {at: known | dict(zip(cases, way, strict=True)) for at, way in enumerate(ways)}
        scores = [
            evaluate(dict.fromkeys(truths, run[query]), truths, [name], ties="expected").values
            for run in runs.values()
        ]
        apart = scores[0] - scores[1]
        found.append((np.nanmin(apart), np.nanmax(apart)))
    return np.array(found)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("name", "top"),
    [
        *(("P@3", 1), ("P", 1), ("P(rel=2)@3", 2), ("R@3", 1), ("R", 2), ("RBP", 1)),
        *(("RBP(top=2)@3", 2), ("nDCG@3", 1), ("nDCG@3", 2), ("nDCG@2", 2), ("nDCG", 2)),
        *(("nDCG(gain=exponential)@3", 2), ("RR", 1), ("RR@3", 2), ("Success@2", 1)),
    ],
)
def test_bounds_are_the_extremes_over_all_grades(
    name: str,
    top: int,
    tied: bool,  # noqa: FBT001  a parameter
) -> None:
    """They are exact; of RR and Success in ties they hold.

    A query without a score, unless an unjudged case gives it one, counts where it moves the mean.
    """
    for seed in range(12):
        runs, truth = _drawn(seed, top=top, tied=tied)
        if name.startswith("P(rel"):
            truth["q2"] = dict.fromkeys(truth["q2"], 1.0)
        found = _unjudged(_table(runs, truth, name, "AP"), 0, 1)
        scored = ~np.isnan(found.now)
        means = [
            _extremes(runs, truth, name, top)[[*np.flatnonzero(scored), *more]].mean(axis=0)
            for n in range((~scored).sum() + 1)
            for more in combinations(np.flatnonzero(~scored), n)
            if scored.any() or more
        ]
        low, high = min(low for low, _ in means), max(high for _, high in means)
        if tied and name.startswith(("RR", "Success")):
            assert found.low <= low + 1e-9
            assert found.high >= high - 1e-9
        else:
            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", ["P@3", "nDCG@2", "R@2", "RBP", "RR", "nDCG"])
def test_cases_to_judge_settle_the_sign(name: str, tied: bool) -> None:  # noqa: FBT001
    """Once they are judged not relevant, the bounds exclude 0; by P, not before the last one is."""
    settled = 0
    for seed in range(20):
        runs, truth = _drawn(seed, top=1, tied=tied, queries=6)
        found = _unjudged(_table(runs, truth, name), 0, 1)
        to_judge = found.to_judge()
        mean = float(found.now.mean())
        is_open = abs(mean) > 1e-9 and found.low <= 1e-9 and found.high >= -1e-9
        assert bool(to_judge.n) == is_open
        assert len(to_judge.cases) == to_judge.n == len({*to_judge.cases})
        for left, (query, case) in zip(range(to_judge.n)[::-1], to_judge.cases, strict=True):
            assert case not in truth[query]
            truth[query][case] = 0.0
            if left == 0 or (left == 1 and name == "P@3"):
                after = _unjudged(_table(runs, truth, name), 0, 1)
                assert after.now == pytest.approx(found.now)
                assert ((after.low if mean > 0 else -after.high) > 1e-9) == (left == 0)
        settled += is_open
    assert settled > 3


def test_many_queries_have_the_bounds_of_their_parts() -> None:
    """Bounds of more items than are looked at in one go are the means of both halves' bounds."""
    rng = np.random.default_rng(9)
    listed = [f"d{case}" for case in range(180)]
    names = [f"q{query}" for query in range(400)]
    runs: dict[str, Run] = {"A": {}, "B": {}}
    truth: Run = {}
    for name in names:
        for run in runs.values():
            run[name] = dict(zip(listed, (rng.permutation(180) // 2).tolist(), strict=True))
        truth[name] = {c: float(rng.random() < 0.3) for c in listed if rng.random() < 0.97}
    for name in ("nDCG@5", "RR"):
        whole, *halves = (
            _unjudged(_table(runs, {query: truth[query] for query in part}, name), 0, 1)
            for part in (names, names[:200], names[200:])
        )
        assert len(whole) == sum(map(len, halves))
        assert whole.low == pytest.approx(np.mean([half.low for half in halves]), abs=1e-12)
        assert whole.high == pytest.approx(np.mean([half.high for half in halves]), abs=1e-12)
    to_judge = _unjudged(_table(runs, truth, "P@5"), 0, 1).to_judge()
    assert {int(query[1:]) // 200 for query, _ in to_judge.cases} == {0, 1}
    for query, case in to_judge.cases:
        truth[query][case] = 0.0
    after = _unjudged(_table(runs, truth, "P@5"), 0, 1)
    assert after.low > 0 or after.high < 0


def _orders(scores: dict[str, float]) -> list[list[str]]:
    levels = sorted({*scores.values()})[::-1]
    groups = [[case for case in scores if scores[case] == level] for level in levels]
    return [[*chain(*way)] for way in product(*map(permutations, groups))]


@pytest.mark.parametrize("name", ["nDCG@3", "AP", "P@2", "RR", "RBP", "R@3", "Rprec"])
def test_order_of_ties_is_over_all_orders(name: str) -> None:
    """The range is that of enumerated orders; every item of a tie counts."""
    for seed in range(6):
        runs, truth = _drawn(seed, top=2, tied=True)
        ends = []
        for query, grades in truth.items():
            a, b = (
                [
                    evaluate({query: order}, {query: grades}, [name], ties="given").values[0, 0]
                    for order in _orders(runs[system][query])
                ]
                for system in "AB"
            )
            ends.append((min(a) - max(b), max(a) - min(b)))
        lists = [[*one.values()] for run in runs.values() for one in run.values()]
        tied = sum(one.count(score) > 1 for one in lists for score in one)
        text = _said(_table(runs, truth, name).certificate("A", "B"))["order of ties"][1]
        assert text.endswith(f"over all orders of {tied} tied items")
        numbers = [float(one.replace("−", "-")) for one in text.split()[:3:2]]
        assert numbers == pytest.approx(np.mean(ends, axis=0), abs=6e-4)


def _interval(mean: float, variances: Sequence[float], df: Sequence[float]) -> tuple[float, ...]:
    """Satterthwaite's interval of variances that are added, the last one taken off."""
    judges, queries, rest = variances
    variance = judges + queries - rest
    free = variance**2 / sum(one**2 / n for one, n in zip(variances, df, strict=True))
    half = stats.t.ppf(0.975, free) * np.sqrt(variance)
    return mean - half, mean + half, free


def test_sample_of_judges_is_by_analysis_of_variance() -> None:
    for judges, queries, taste in ((3, 12, 0.3), (5, 20, 0.0), (8, 6, 0.1)):
        rng = np.random.default_rng(judges)
        apart = 0.2 + rng.normal(0, taste, (judges, 1)) + rng.normal(0, 0.3, queries)
        apart = apart + rng.normal(0, 0.2, (judges, queries))
        found = judge_sample(apart, 0.95)
        judge, query = (one.ravel() for one in np.indices(apart.shape))
        frame = pd.DataFrame({"d": apart.ravel(), "judge": judge, "query": query})
        squares = anova_lm(ols("d ~ C(judge) + C(query)", frame).fit())["mean_sq"].to_numpy()
        # A component below 0 is 0.
        variances = np.maximum(squares, squares[-1]) / apart.size
        df = judges - 1, queries - 1, (judges - 1) * (queries - 1)
        expected = _interval(apart.mean(), variances, df)
        assert (found.low, found.high, found.df) == pytest.approx(expected)


def test_sample_of_judges_with_missing_cells() -> None:
    """The components are those of squared differences of all two cells, and queries weigh alike."""
    rng = np.random.default_rng(9)
    apart = rng.normal(0, 0.4, (6, 1)) + rng.normal(0, 0.3, 15) + rng.normal(0.2, 0.2, (6, 15))
    apart[rng.random(apart.shape) < 0.4] = np.nan
    cells = [*zip(*np.nonzero(~np.isnan(apart)), strict=True)]
    seen: dict[tuple[bool, bool], list[float]] = {}
    for one, other in combinations(cells, 2):
        same = one[0] == other[0], one[1] == other[1]
        seen.setdefault(same, []).append((apart[one] - apart[other]) ** 2 / 2)
    judge_rest, query_rest, every = (
        np.mean(seen[same]) for same in ((False, True), (True, False), (False, False))
    )
    rest = judge_rest + query_rest - every
    weight = np.array([1 / (~np.isnan(apart[:, q])).sum() / apart.shape[1] for _, q in cells])
    of_judge, of_query = (np.bincount([cell[at] for cell in cells], weight) ** 2 for at in (0, 1))
    own = rest * (weight**2).sum()
    variances = (
        max(judge_rest - rest, 0) * of_judge.sum() + own,
        max(query_rest - rest, 0) * of_query.sum() + own,
        own,
    )
    df = 1 / of_judge.sum() - 1, 1 / of_query.sum() - 1, len(cells) - sum(apart.shape) + 1
    found = judge_sample(apart, 0.95)
    mean = np.nanmean(apart, axis=0).mean()
    assert found.mean == pytest.approx(mean)
    assert (found.low, found.high, found.df) == pytest.approx(_interval(mean, variances, df))


def test_judges_who_share_no_query_say_nothing_about_others() -> None:
    """Neither do their differences on queries that nobody else judged."""
    apart = np.where(np.eye(3, dtype=bool), 0.5, np.nan)
    found = judge_sample(apart, 0.95)
    assert found.mean == pytest.approx(0.5)
    assert np.isnan(found.low)
    assert np.isnan(judge_sample(np.full((2, 3), np.nan), 0.95).mean)
