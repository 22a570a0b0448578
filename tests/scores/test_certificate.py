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
from quem.scores.runs import ScoresResult
from quem.scores.scoring import score_runs
from quem.scores.table import ScoreTable
from quem.scores.unjudged import Unjudged, find_unjudged
from tests.scores.made import Named, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


# Golden


def test_a_claim_on_partly_judged_lists() -> None:
    """The bounds are the exact ones of three runs with 43 unjudged cases."""
    table = _table(_GOLDEN, str(_DATA / "qrels.txt"), "nDCG@5", "AP", "P@5")
    assert str(table.certificate("hybrid", "bm25")).splitlines() == [
        "Claim    hybrid scores higher than bm25 by nDCG@5: 0.619 against 0.532, +0.087",
        "Verdict  not shown",
        "  open  sample of queries  −0.060 to +0.234 (this pair alone), p .290 (adjusted for 3 "
        "pairs, not for 3 measures); higher on 9, lower on 3 of 12",
        "  -     sample of judges   no judges are named",
        "  open  unjudged cases     −0.116 to +0.236 over all grades of 43 unjudged cases; judge "
        "these 7 cases to settle it, if none is relevant: q9 d13, q1 d14, q0 d13, ...",
        "  yes   order of ties      +0.075 to +0.099 over all orders of 69 tied items",
        "  open  other measures     higher by 2 of 2 others, 0 significant",
    ]
    found = _unjudged(table, 2, 0)
    assert (found.low, found.high) == pytest.approx((-0.11636, 0.23626), abs=5e-6)
    assert len(found) == 43


def test_a_claim_on_the_grades_of_three_judges() -> None:
    """With the sample of judges, and what a judge's own order scores."""
    table = _table(_GOLDEN, str(_DATA / "judgments.csv"), "nDCG@5")
    certificate = table.certificate("hybrid", "bm25")
    assert str(certificate).splitlines() == [
        "Claim    hybrid scores higher than bm25 by nDCG@5: 0.875 against 0.741, +0.134",
        "Verdict  supported on these judgments; open: sample of judges",
        "  yes   sample of queries  +0.046 to +0.222 (this pair alone), p .002 (adjusted for 3 "
        "pairs); higher on 11, lower on 1 of 12",
        "  open  sample of judges   higher for 3 of 3 judges; +0.047 to +0.202 for others like "
        "them; 3 are few",
        "  yes   unjudged cases     none among the cases that either lists",
        "  yes   order of ties      +0.126 to +0.141 over all orders of 69 tied items",
        "  -     other measures     one measure",
        "  -     human reference    a judge's own order scores 0.835 against the other judges "
        "(lowest 0.828, highest 0.840); hybrid 0.852",
    ]
    document = certificate.as_dict()
    assert document["verdict"] == certificate.verdict
    assert document["lines"][1]["verdict"] == "open"


def test_certificates_in_report_and_document() -> None:
    """Both have the lines, and the cases to judge."""
    table = _table(_GOLDEN, str(_DATA / "qrels.txt"), "nDCG@5", "AP")
    certificate = table.certificate("hybrid", "bm25")
    result = ScoresResult.of(table, [certificate])
    (claim,) = result.to_dict()["claims"]
    assert claim == certificate.as_dict()
    assert len(claim["to_judge"]) == 7
    assert claim["to_judge"][0] == {"query": "q9", "case": "d13"}
    page = result.to_html()
    for _, _, text in certificate.lines:
        assert escape(text) in page
    assert "q9 d13; q1 d14; q0 d13; " in page


# Verdicts

_FIRST = {"good": ["r", "x", "y"], "bad": ["x", "y", "r"]}


def _runs(n: int, **lists: list[str]) -> dict[str, Run]:
    """Systems that list the same cases, best first, for n queries."""
    return {
        name: {f"q{q}": {case: -float(at) for at, case in enumerate(cases)} for q in range(n)}
        for name, cases in lists.items()
    }


def _graded(n: int, **more: float) -> Run:
    return {f"q{q}": {"r": 1, "x": 0, "y": 0, **more} for q in range(n)}


def _by(judges: int, n: int, contrary: int = 0) -> list[dict[str, object]]:
    """Judgments of several judges, the last of whom find x relevant, not r."""
    return [
        {"query": query, "case": case, "judge": f"j{judge}", "grade": grade}
        for judge in range(judges)
        for query, graded in _graded(n).items()
        for case, grade in (
            {**graded, "r": 0, "x": 1} if judge >= judges - contrary else graded
        ).items()
    ]


_TIED = {"good": {"r": 2.0, "x": 1.0}, "bad": {"r": 2.0, "x": 2.0}}


@pytest.mark.parametrize(
    ("runs", "judgments", "claim", "verdict", "lines"),
    [
        (
            _runs(8, **_FIRST),
            _graded(8),
            ("good", "bad", "RR"),
            "supported",
            {
                "sample of queries": ("yes", "+0.667 to +0.667, p .008 (not adjusted for 2 "),
                "unjudged cases": ("yes", "none among"),
                "order of ties": ("yes", "none are tied"),
                "other measures": ("yes", "higher by 1 of 1 other, 1 significant"),
            },
        ),
        (
            _runs(8, **_FIRST),
            _graded(8),
            ("bad", "good", "RR"),
            "contradicted",
            {
                "sample of queries": ("no", "−0.667 to −0.667"),
                "order of ties": ("no", "none are tied"),
                "other measures": ("no", "higher by 0 of 1 other, 0 significant; significantly"),
            },
        ),
        (
            _runs(4, **_FIRST),
            _graded(4),
            ("good", "bad", "RR"),
            "not shown",
            {"sample of queries": ("open", "–, p .125 (not adjusted for 2 measures); too few ")},
        ),
        (
            _runs(8, good=["r", "x", "u"], bad=["u", "x", "r"]),
            _graded(8),
            ("good", "bad", "RR"),
            "supported on these judgments; open: unjudged cases",
            {"unjudged cases": ("open", "0 to +0.667 over all grades of 8 unjudged cases; judge")},
        ),
        (
            _runs(8, good=["x", "r", "u"], bad=["u", "x", "r"]),
            _graded(8, u=0),
            ("good", "bad", "R@1"),
            "not shown",
            {"other measures": ("yes", "higher by 1 of 1 other, 1 significant")},
        ),
        (
            {name: {f"q{q}": one for q in range(8)} for name, one in _TIED.items()},
            _graded(8),
            ("good", "bad", "RR"),
            "supported on these judgments; open: order of ties",
            {"order of ties": ("open", "0 to +0.500 over all orders of 16 tied items")},
        ),
        (
            _runs(8, **_FIRST),
            _graded(8),
            ("good", "bad", "AP"),
            "supported on these judgments; not examined: unjudged cases",
            {},
        ),
        (
            _runs(8, **_FIRST),
            _by(5, 8),
            ("good", "bad", "RR"),
            "supported",
            {"sample of judges": ("yes", "higher for 5 of 5 judges; +0.667 to +0.667 for others")},
        ),
        (
            _runs(8, **_FIRST),
            _by(5, 8, contrary=2),
            ("good", "bad", "RR"),
            "supported on these judgments; open: sample of judges",
            {"sample of judges": ("open", "higher for 3 of 5 judges; −0.")},
        ),
        (
            _runs(8, **_FIRST),
            _by(1, 8),
            ("good", "bad", "RR"),
            "supported",
            {"sample of judges": ("-", "one judge")},
        ),
    ],
)
def test_verdicts(
    runs: dict[str, Run],
    judgments: object,
    claim: tuple[str, str, str],
    verdict: str,
    lines: dict[str, tuple[str, str]],
) -> None:
    """Every line says yes, open, or no by its rule, and the verdict sums them up."""
    name = claim[2]
    table = _table(runs, judgments, name, "R@1" if name != "R@1" else "RR")
    certificate = table.certificate(*claim)
    said = _said(certificate)
    assert certificate.verdict == verdict, str(certificate)
    for question, (expected, text) in lines.items():
        assert said[question][0] == expected, str(certificate)
        assert said[question][1].startswith(text), str(certificate)
    assert len(str(certificate).splitlines()) <= 12


def test_kinds_without_lists() -> None:
    """Fewer lines; less can be better; a kind adds lines of its own; p has no more digits."""
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
    assert "p < .001 (not adjusted for 2 measures); better on 40, worse on 0" in str(certificate)
    assert said["other measures"] == ("yes", "better by 1 of 1 other, 1 significant")
    untested = table_of(values, *measures, inference=Inference(samples=0))
    assert untested.certificate("s0", "s1").verdict == "not shown"


# Unjudged cases

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


def _extremes(runs: dict[str, Run], truth: Run, name: str, top: int) -> tuple[float, float]:
    """The least and greatest mean difference over all grades of unjudged cases."""
    low, high = [], []
    for query, known in truth.items():
        cases = {*chain(*(run[query] for run in runs.values()))} - {*known}
        ways = product(range(top + 1), repeat=len(cases))
        truths = {
            at: {**known, **dict(zip(sorted(cases), map(float, way), strict=True))}
            for at, way in enumerate(ways)
        }
        scores = [
            evaluate(dict.fromkeys(truths, run[query]), truths, [name], ties="expected").values
            for run in runs.values()
        ]
        apart = scores[0] - scores[1]
        low.append(np.nanmin(apart))
        high.append(np.nanmax(apart))
    return float(np.mean(low)), float(np.mean(high))


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
    """They are exact; of RR and Success in ties they hold."""
    for seed in range(12):
        runs, truth = _drawn(seed, top=top, tied=tied)
        if name.startswith("P(rel"):
            truth = {query: {**grades, "b": 2.0} for query, grades in truth.items()}
        found = _unjudged(_table(runs, truth, name), 0, 1)
        low, high = _extremes(runs, truth, name, top)
        if tied and name.startswith(("RR", "Success")):
            assert found.low <= low + 1e-9
            assert found.high >= high - 1e-9
        else:
            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_queries_that_get_a_score_count_where_they_move_the_mean() -> None:
    """A query without a case of grade 2 has no P(rel=2), unless an unjudged one gets it."""
    for seed in range(8):
        runs, truth = _drawn(seed, top=2, tied=False)
        truth["q2"] = dict.fromkeys(truth["q2"], 1.0)
        table = _table(runs, truth, "nDCG@3", "P(rel=2)@3")
        found = _unjudged(table, 0, 1, column=1)
        each = [
            [_extremes({s: {q: run[q]} for s, run in runs.items()}, {q: truth[q]}, name, 2)]
            for q in truth
            for name in ["P(rel=2)@3"]
        ]
        scored = ~np.isnan(found.now)
        for end, at in ((found.low, 0), (found.high, 1)):
            ends = np.array([one[0][at] for one in each])
            means = [
                ends[[*np.flatnonzero(scored), *more]].mean()
                for n in range((~scored).sum() + 1)
                for more in combinations(np.flatnonzero(~scored), n)
                if scored.any() or more
            ]
            assert end == pytest.approx([min(means), max(means)][at], abs=1e-9)


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
        if not is_open:
            continue
        settled += 1
        for query, case in to_judge.cases[:-1]:
            assert case not in truth[query]
            truth[query][case] = 0.0
        before = _unjudged(_table(runs, truth, name), 0, 1)
        query, case = to_judge.cases[-1]
        truth[query][case] = 0.0
        after = _unjudged(_table(runs, truth, name), 0, 1)
        assert after.now == pytest.approx(found.now)
        assert (after.low if mean > 0 else -after.high) > 0
        if name == "P@3":
            assert (before.low if mean > 0 else -before.high) <= 1e-9
    assert settled > 3


def test_many_queries_have_the_bounds_of_their_parts() -> None:
    """Bounds of more items than are looked at in one go are the means of both halves' bounds."""
    rng = np.random.default_rng(9)
    listed = [f"d{case}" for case in range(180)]
    names = [f"q{query}" for query in range(400)]
    runs = {
        system: {
            name: dict(zip(listed, rng.permutation(180) // 2 * 1.0, strict=True)) for name in names
        }
        for system in "AB"
    }
    truth = {
        name: {case: float(rng.random() < 0.3) for case in listed if rng.random() < 0.97}
        for name in names
    }
    for name in ("nDCG@5", "P@5", "RR", "R@50"):
        whole, first, second = (
            _unjudged(_table(runs, {query: truth[query] for query in part}, name), 0, 1)
            for part in (names, names[:200], names[200:])
        )
        assert len(whole) == len(first) + len(second)
        for end in ("low", "high"):
            halves = getattr(first, end), getattr(second, end)
            assert getattr(whole, end) == pytest.approx(np.mean(halves), abs=1e-12)
    found = _unjudged(_table(runs, truth, "P@5"), 0, 1).to_judge()
    assert found.n == len(found.cases) > 0
    assert {int(query[1:]) // 200 for query, _ in found.cases} == {0, 1}
    for query, case in found.cases:
        assert case not in truth[query]
        truth[query][case] = 0.0
    after = _unjudged(_table(runs, truth, "P@5"), 0, 1)
    assert after.low > 0 or after.high < 0


# Order of ties


def _orders(scores: dict[str, float]) -> list[list[str]]:
    """All orders of a list, best first."""
    groups = [
        [case for case in scores if scores[case] == one] for one in sorted({*scores.values()})[::-1]
    ]
    return [[*chain(*way)] for way in product(*map(permutations, groups))]


@pytest.mark.parametrize("name", ["nDCG@3", "AP", "P@2", "RR", "RBP", "R@3", "Rprec"])
def test_order_of_ties_is_over_all_orders(name: str) -> None:
    """The range is that of enumerated orders; every item of a tie counts."""
    for seed in range(6):
        runs, truth = _drawn(seed, top=2, tied=True)
        table = _table(runs, truth, name)
        ends: Sequence[list[float]] = [], []
        for query, grades in truth.items():
            scores = [
                [
                    evaluate({query: order}, {query: grades}, [name], ties="given").values[0, 0]
                    for order in _orders(runs[system][query])
                ]
                for system in "AB"
            ]
            ends[0].append(min(scores[0]) - max(scores[1]))
            ends[1].append(max(scores[0]) - min(scores[1]))
        tied = sum(
            [*one.values()].count(score) > 1
            for run in runs.values()
            for one in run.values()
            for score in one.values()
        )
        text = _said(table.certificate("A", "B"))["order of ties"][1]
        assert text.endswith(f"over all orders of {tied} tied items")
        numbers = [float(one.replace("−", "-")) for one in text.split()[:3:2]]
        assert numbers == pytest.approx([np.mean(end) for end in ends], abs=6e-4)


# Sample of judges


def _interval(mean: float, variances: Sequence[float], df: Sequence[float]) -> tuple[float, ...]:
    """Satterthwaite's interval of variances that are added, the last one taken off."""
    judges, queries, rest = variances
    variance = judges + queries - rest
    free = variance**2 / sum(one**2 / n for one, n in zip(variances, df, strict=True))
    half = stats.t.ppf(0.975, free) * np.sqrt(variance)
    return mean - half, mean + half, free


def test_sample_of_judges_is_by_analysis_of_variance() -> None:
    """Without missing cells the components are those of a table of statsmodels."""
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
