"""What unjudged cases could change is what trying all their grades says."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quem.lists import evaluate, measure
from quem.retrieval.lists import CaseLists, lists_of, score_lists
from quem.retrieval.unjudged import Compared, Unjudged, find_unjudged
from tests.retrieval.made import codes, evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.lists.lists import Ties

_CASES = tuple(f"c{case:02d}" for case in range(14))


def _made(
    rng: np.random.Generator, *, queries: int, length: int, judged: int, tied: bool, top: int
) -> tuple[list[CaseLists], CaseLists]:
    """Two random runs, and grades of some of the cases."""
    names = [f"q{query}" for query in range(queries)]

    def run() -> CaseLists:
        each = []
        for _ in names:
            case = rng.permutation(len(_CASES))[:length].astype(np.int32)
            score = np.sort(rng.integers(0, 3 if tied else 10**6, length).astype(float))[::-1]
            each.append((case, score))
        return lists_of(names, _CASES, each)

    truth = []
    for query in range(queries):
        case = rng.permutation(len(_CASES))[:judged].astype(np.int32)
        # Some queries have no relevant case.
        grade = rng.integers(0, top + 1, judged).astype(float) * (query % 4 > 0)
        order = np.argsort(-grade, kind="stable")
        truth.append((case[order], grade[order]))
    return [run(), run()], lists_of(names, _CASES, truth)


def _found(runs: list[CaseLists], truth: CaseLists, name: str, ties: Ties) -> Unjudged:
    by = measure(name)
    compared = [
        Compared(at, "ab"[at], run, score_lists(run, truth, [by], ties))
        for at, run in enumerate(runs)
    ]
    found = find_unjudged(compared, truth, by, 0, ties=ties)
    assert found is not None
    return found


def _tried(
    runs: list[CaseLists], truth: CaseLists, name: str, ties: Ties, top: int
) -> tuple[float, float]:
    """The bounds by a plain loop over all grades of each query, and all choices of queries."""
    k = measure(name).depth
    ways: list[list[float]] = []
    now: list[float] = []
    for query in range(len(truth.queries)):
        known = truth.items(query, np.array(_CASES, dtype=object))
        assert isinstance(known, dict)
        lists = [run.items(query, np.array(_CASES, dtype=object)) for run in runs]
        looked: set[str] = set()
        for run in runs:
            cut = run if k is None else run.top(k)
            looked |= {_CASES[case] for case in cut.of(query)[0].tolist()}
        open_cases = sorted(looked - set(known))
        levels = [float(grade) for grade in range(top + 1)]
        truths = {
            at: {**known, **dict(zip(open_cases, way, strict=True))}
            for at, way in enumerate(product(levels, repeat=len(open_cases)))
        }
        each = [
            evaluate(dict.fromkeys(truths, one), truths, [name], ties=ties).values[:, 0]
            for one in lists
        ]
        ways.append((each[0] - each[1]).tolist())
        scores = [evaluate({0: one}, {0: known}, [name], ties=ties).values[0, 0] for one in lists]
        now.append(float(scores[0] - scores[1]))
    ends = []
    for sign in (-1, 1):
        best = [max((sign * d for d in way if not np.isnan(d)), default=np.nan) for way in ways]
        fixed = [d for d, known in zip(best, now, strict=True) if not np.isnan(known)]
        free = [
            d for d, known in zip(best, now, strict=True) if np.isnan(known) and not np.isnan(d)
        ]
        choices = [
            [*fixed, *(d for d, taken in zip(free, way, strict=True) if taken)]
            for way in product((False, True), repeat=len(free))
        ]
        ends.append(sign * max(float(np.mean(one)) for one in choices if one))
    return ends[0], ends[1]


_SETTINGS: dict[str, Any] = {"queries": 6, "length": 5, "judged": 8}


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        *("nDCG@3", "nDCG", "nDCG(gain=exponential)@4", "P@3", "P", "P(rel=2)@4", "R@4", "R"),
        *("RBP", "RBP(top=2)@4", "RR", "RR@3", "Success@2"),
    ],
)
def test_bounds_are_those_of_all_grades(name: str, tied: bool) -> None:  # noqa: FBT001
    """They are the extremes over all grades of unjudged cases; RR and Success have none in ties."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        top = 1 + seed % 2 if name != "P(rel=2)@4" else 2
        runs, truth = _made(rng, tied=tied, top=top, **_SETTINGS)
        top = int(max(truth.similarity.max(initial=1), 1))
        found = _found(runs, truth, name, "expected")
        if tied and name.startswith(("RR", "Success")):
            assert (found.flips, found.n_unbounded) == ((), 1)
            continue
        (flip,) = found.flips
        wanted = _tried(runs, truth, name, "expected", top)
        assert (flip.low, flip.high) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("name", ["AP", "ERR@4", "Rprec", "bpref", "P(unjudged=skip)@3"])
def test_measures_without_bounds(tmp_path: Path, name: str) -> None:
    """They are said to have none, and nothing is named to be judged."""
    qrels = "".join(f"q{q} 0 {d} {int(d != 'z')}\n" for q in range(4) for d in "xyz")
    result = evaluated(_study(tmp_path, qrels, measures=[name]))
    said = f"There is no bound for {result.findings.measures[0].name} over the grades"
    assert said in result.summary()
    assert said in result.to_html()
    document = result.to_dict()["unjudged"]
    assert (document["n_cases"], document["n_unbounded"], document["flips"]) == (4, 1, [])
    assert not len(result.judge_next)


def test_what_to_judge_next_narrows_most() -> None:
    """By P each case moves the difference by its weight in one list; the first are the greatest."""
    for seed in range(5):
        runs, truth = _made(np.random.default_rng(seed), tied=False, top=1, **_SETTINGS)
        found = _found(runs, truth, "P@3", "expected")
        (flip,) = found.flips
        defined = sum(bool((truth.of(q)[1] >= 1).any()) for q in range(len(truth.queries)))
        removes: dict[tuple[str, str], float] = {}
        for query, name in enumerate(truth.queries):
            known = {_CASES[case] for case in truth.of(query)[0].tolist()}
            both = [{_CASES[case] for case in run.of(query)[0][:3].tolist()} for run in runs]
            scored = (truth.of(query)[1] >= 1).any()
            for case in (both[0] ^ both[1]) - known:
                removes[name, case] = 1 / 3 / defined if scored else np.nan
        for one in found.next:
            wanted = removes.pop((one.query, one.case), 0.0)
            assert np.isnan(wanted) or one.removes == pytest.approx(wanted)
            assert set(one.positions.values()) <= {1, 2, 3}
        assert flip.could_flip
        left = [value for value in removes.values() if not np.isnan(value)]
        assert max(left, default=0) <= found.next[-1].removes + 1e-12 or len(found.next) < 10


def _study(tmp_path: Path, qrels: str, **analysis: Any) -> Path:  # noqa: ANN401  settings
    runs = {
        "a_txt": "".join(
            f"q{q} Q0 {d} {r} {9 - r} a\n" for q in range(4) for r, d in enumerate("xyz")
        ),
        "b_txt": "".join(
            f"q{q} Q0 {d} {r} {9 - r} b\n" for q in range(4) for r, d in enumerate("yzu")
        ),
    }
    return write_study(
        tmp_path,
        [{"id": "a", "run": "a.txt"}, {"id": "b", "run": "b.txt"}],
        {"qrels": "q.txt"},
        cases=None,
        queries=None,
        q_txt=qrels,
        analysis={"measures": ["P@3"], **analysis},
        **runs,
    )


def test_the_report_says_what_could_flip(tmp_path: Path) -> None:
    """With the share that is judged, the bounds, what to judge next, and doubts."""
    # By P@3, a leads by x; b could draw level with u, on which nobody is sure.
    qrels = "".join(f"q{q} 0 {d} {int(d != 'z')}\n" for q in range(4) for d in "xyz")
    result = evaluated(_study(tmp_path, qrels))
    flips = result.flips.iloc[0].to_dict()
    assert flips["difference"] == pytest.approx(1 / 3)
    assert (flips["low"], flips["high"]) == pytest.approx((0, 1 / 3))
    assert (flips["unjudged"], flips["could_flip"]) == (4, True)
    assert flips["to_settle"] == 1
    following = result.judge_next
    assert following[["query", "case", "positions"]].to_numpy().tolist() == [
        [f"q{q}", "u", "b 3"] for q in range(4)
    ]
    assert following["removes"].tolist() == pytest.approx([1 / 12] * 4)
    judged = result.measures.set_index("retriever")["judged"]
    assert judged.to_dict() == pytest.approx({"a": 1, "b": 2 / 3})
    doubts = codes(result)
    assert "only 66.7% of 'b'" in doubts["unjudged-cases"]
    assert "66.7% of those of 'b'" in doubts["judged-unevenly"]
    text = result.summary()
    assert "Judged@3" in text
    assert "1 of 1 difference by P@3 could change its sign if the 4 unjudged cases" in text
    page = result.to_html()
    assert "What unjudged cases could change" in page
    assert "What to judge next" in page
    document = result.to_dict()
    assert document["unjudged"]["n_cases"] == 4
    assert document["retrievers"][1]["judged"] == [
        {"k": 3, "share": pytest.approx(2 / 3)},
        {"k": 10, "share": pytest.approx(2 / 3)},
    ]

    settled = evaluated(_study(tmp_path, qrels + "q0 0 u 0\n"))
    assert not settled.flips["could_flip"].any()
    assert not len(settled.judge_next)
    assert "would change its sign, whatever" in settled.summary()
    everything = qrels + "".join(f"q{q} 0 u 0\n" for q in range(4))
    complete = evaluated(_study(tmp_path, everything))
    assert complete.findings.unjudged is None
    assert "Judged" not in complete.summary()
    assert not {"unjudged-cases", "judged-unevenly"} & set(codes(complete))
