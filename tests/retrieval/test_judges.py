"""Grades of several judges as ground truth: consensus, panels, agreement, and what is refused."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.lists import evaluate
from quem.retrieval.analysis import analyze_retrieval
from quem.retrieval.judges import By, JudgeGrades, grades_of_rows
from quem.retrieval.loading import load_retrieval
from quem.retrieval.truth import panel_means, panels_of
from tests.retrieval.made import codes, evaluated, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

RUNS: list[dict[str, Any]] = [{"id": "a", "run": "a.txt"}, {"id": "b", "run": "b.txt"}]
Rows = list[tuple[str, str, str, float]]


def _grades(rows: Rows, by: By = "median") -> JudgeGrades:
    return grades_of_rows("memory", "the made-up session", rows, by=by)


def _made(seed: int = 0, *, queries: int = 12, judges: int = 3, share: float = 1.0) -> Rows:
    """Grades of eight cases of each query; a share of them by each judge."""
    rng = np.random.default_rng(seed)
    return [
        (f"q{query}", f"d{case}", f"J{judge}", float(rng.integers(0, 4)))
        for query in range(queries)
        for case in range(8)
        for judge in range(judges)
        if judge == case % judges or rng.random() < share
    ]


def _study(tmp_path: Path, rows: Rows, truth: Any = None, **more: Any) -> Path:  # noqa: ANN401
    rng = np.random.default_rng(7)
    queries = list(dict.fromkeys(row[0] for row in rows))
    texts = {
        f"{name}_txt": "\n".join(
            f"{query} Q0 d{case} {rank} {20 - rank} {name}"
            for query in queries
            for rank, case in enumerate(rng.permutation(8)[:6].tolist(), 1)
        )
        for name in "ab"
    }
    lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
    defaults: dict[str, Any] = {
        "cases": None,
        "queries": None,
        "judgments_csv": f"query,case,judge,grade\n{lines}",
        "analysis": {"measures": ["nDCG@5", "P(rel=2)@5"], "bootstrap": 400, "permutations": 200},
        **texts,
    }
    return write_study(
        tmp_path, RUNS, truth or {"judgments": "judgments.csv"}, **{**defaults, **more}
    )


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=7, unique_by=id),
    st.sampled_from(["median", "mean", "mode"]),
)
def test_consensus_counts_each_judge_as_often_as_drawn(each: list[tuple[int, int]], by: By) -> None:
    """The median or mode, the lower of two, or the mean of as many copies as a judge has."""
    rows = [("q", "d", f"J{at}", float(g)) for at, (g, _) in enumerate(each)]
    # What was judged before holds whoever is on the panel.
    others = [("q", "c", "", 2.0), ("q", "e", "", 1.0)]
    grades = _grades([others[0], *rows, others[1]], by)
    weights = np.array([weight for _, weight in each])
    copies = [grade for grade, weight in each for _ in range(weight)]
    # Without any judge of the case on the panel it keeps its whole consensus.
    copies = copies or [grade for grade, _ in each]
    wanted: dict[By, float] = {
        "median": statistics.median_low(copies),
        "mean": statistics.fmean(copies),
        "mode": min(statistics.multimode(copies)),
    }
    assert grades.judges == tuple(f"J{at}" for at in range(len(each)))
    assert grades.consensus(weights) == pytest.approx([2, wanted[by], 1])


def test_intervals_draw_panels(tmp_path: Path) -> None:
    """They are those of scores against the consensus of each panel, by a plain loop."""
    rows = _made(3, share=0.5)
    result = evaluated(_study(tmp_path, rows))
    panels = panels_of(3, np.random.default_rng(0))
    by_pair: dict[tuple[str, str], dict[str, float]] = {}
    for query, case, judge, grade in rows:
        by_pair.setdefault((query, case), {})[judge] = grade
    runs = {one.id: one.run.lists for one in result.findings.scored}
    scores: dict[str, list[np.ndarray[Any, Any]]] = {"a": [], "b": []}
    for weights in panels.weights.tolist():
        truth: dict[str, dict[str, float]] = {}
        for (query, case), given_grades in by_pair.items():
            copies = [g for judge, g in given_grades.items() for _ in range(weights[int(judge[1])])]
            grade = statistics.median_low(copies or list(given_grades.values()))
            truth.setdefault(query, {})[case] = grade
        for name, lists in runs.items():
            names = np.array(lists.cases, dtype=object)
            run = {query: lists.items(at, names) for at, query in enumerate(lists.queries)}
            by = ["nDCG@5", "P(rel=2)@5"]
            scores[name].append(evaluate(run, truth, by, ties="expected").values)
    used = {"level": 0.95, "replicates": 400, "seed": 0}
    for name, each in scores.items():
        wanted = panel_means(each, panels, **used)  # type: ignore[arg-type]
        own = result.measures[result.measures["retriever"] == name]
        assert own[["low", "high"]].to_numpy() == pytest.approx(wanted)
    apart = [a - b for a, b in zip(scores["a"], scores["b"], strict=True)]
    wanted = panel_means(apart, panels, **used)  # type: ignore[arg-type]
    assert result.differences[["low", "high"]].to_numpy() == pytest.approx(wanted)


def test_each_judge_is_compared_with_the_others(tmp_path: Path) -> None:
    """On the cases that both graded, the judge's equal grades in all orders."""
    rows = _made(5, share=0.7)
    result = evaluated(_study(tmp_path, rows))
    values = []
    for judge in ("J0", "J1", "J2"):
        run: dict[str, dict[str, float]] = {}
        truth: dict[str, dict[str, float]] = {}
        for query, case, by, grade in rows:
            others = [g for q, c, j, g in rows if (q, c) == (query, case) and j != judge]
            if by == judge and others:
                run.setdefault(query, {})[case] = grade
                truth.setdefault(query, {})[case] = statistics.median_low(others)
        truth = {f"q{at}": truth[f"q{at}"] for at in range(12)}
        values.append(evaluate(run, truth, ["nDCG@5"], ties="expected").values)
    judges = result.findings.judges
    assert judges is not None
    assert judges.scores is not None
    assert judges.scores.values[:, :1] == pytest.approx(np.mean(values, axis=0))


def test_grades_can_be_given_in_memory(tmp_path: Path) -> None:
    """A study whose judges graded hands them over; scores are those of the same file."""
    rows = _made(share=0.6)
    (tmp_path / "other.yaml").write_text("")
    wanted = evaluated(_study(tmp_path, rows, {"judgments": "judgments.csv", "consensus": "mean"}))
    path = _study(tmp_path, rows, {"study": "other.yaml"})
    asked = []

    def experts(path: Path, name: str) -> JudgeGrades:
        asked.append((path.name, name))
        return replace(_grades(rows), by="mean")

    result = analyze_retrieval(load_retrieval(path, experts=experts))
    assert asked[0][0] == "other.yaml"
    assert result.findings.truth.kind == "grades"
    pd.testing.assert_frame_equal(result.measures, wanted.measures)
    assert result.to_dict()["ground_truth"]["consensus"] == "mean"
    assert "the made-up session" in result.findings.truth.source


_HEAD = "query,case,judge,grade\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            _HEAD + "q1,d1,J1,2\nq1,d2,J1,1\nq1,d1,J1,0\n",
            "judgments.csv:4:2: case: duplicate: the judge 'J1' has already graded the case 'd1' "
            "for the query 'q1' on line 2; keep one of the lines",
        ),
        (_HEAD + "q1,d1,J1,good\n", "judgments.csv:2:4: grade: 'good' is not a finite number"),
        (_HEAD + "q1,d1,J1,inf\n", "judgments.csv:2:4: grade: 'inf' is"),
        (_HEAD + "q1,d1,,2\n", "judgments.csv:2:3: judge: is empty"),
        (_HEAD + "q1,d1,J1,\n", "judgments.csv:2:4: grade: is empty"),
        (_HEAD, "judgments.csv"),
        ("query,case,grade\nq1,d1,2\n", "judgments.csv:1: judge: column 'judge' not found"),
    ],
)
def test_wrong_judgments_are_named(tmp_path: Path, text: str, message: str) -> None:
    """With file, line, and what to do."""
    assert message in mistakes(_study(tmp_path, _made(), judgments_csv=text))


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ({"qrels": "a.txt", "consensus": "mean"}, "consensus is of judgments; leave it out"),
        ({"judgments": "judgments.csv", "qrels": "a.txt"}, "not both qrels and judgments"),
    ],
)
def test_keys_that_do_not_go_together(tmp_path: Path, truth: Any, message: str) -> None:  # noqa: ANN401
    """They are refused, with a reason."""
    assert message in mistakes(_study(tmp_path, _made(), truth))


def test_judging_is_doubted(tmp_path: Path) -> None:
    """By few judges, cases with one judge, and a significant difference that judges could undo."""
    assert "graded-once" in codes(evaluated(_study(tmp_path, _made(share=0.0))))
    assert "graded-once" not in codes(evaluated(_study(tmp_path, _made(share=0.9))))
    # One judge sees a great difference, and two see the opposite, a small one.
    rows = [
        (f"q{query}", f"d{case}", f"J{judge}", float(grade))
        for query in range(12)
        for judge in range(3)
        for case, grade in enumerate([0, 3] if judge == 0 else [2, 1])
    ]
    orders = {
        f"{name}_txt": "".join(
            f"q{query} Q0 {case} {rank} {9 - rank} {name}\n"
            for query in range(12)
            for rank, case in enumerate(order)
        )
        for name, order in (("a", ("d0", "d1")), ("b", ("d1", "d0")))
    }
    doubts = codes(evaluated(_study(tmp_path, rows, **orders)))
    assert "'a' and 'b' is significant" in doubts["judges-could-differ"]
    agreed = [row for row in rows if row[2] != "J0"]
    assert "judges-could-differ" not in codes(evaluated(_study(tmp_path, agreed, **orders)))
