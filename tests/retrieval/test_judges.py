"""Several judges as ground truth: the truth is their mean, and each is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quem.lists import evaluate
from quem.retrieval.analysis import analyze_retrieval
from quem.retrieval.loading import load_retrieval
from quem.retrieval.truth import Truth, graded
from tests.retrieval.made import evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

RUNS: list[dict[str, Any]] = [{"id": "a", "run": "a.txt"}, {"id": "b", "run": "b.txt"}]
Rows = list[tuple[str, str, str, float]]


def _made() -> Rows:
    """Grades of eight cases of each of 12 queries, 60% of them by each of three judges."""
    rng = np.random.default_rng(0)
    return [
        (f"q{query}", f"d{case}", f"J{judge}", float(rng.integers(0, 4)))
        for query in range(12)
        for case in range(8)
        for judge in range(3)
        if judge == case % 3 or rng.random() < 0.6
    ]


def _study(tmp_path: Path, truth: str = "judgments") -> Path:
    rng = np.random.default_rng(7)
    texts = {
        f"{name}_txt": "\n".join(
            f"q{query} Q0 d{case} {rank} {20 - rank} {name}"
            for query in range(12)
            for rank, case in enumerate(rng.permutation(8)[:6].tolist(), 1)
        )
        for name in "ab"
    }
    lines = "".join(",".join(map(str, row)) + "\n" for row in _made())
    return write_study(
        tmp_path,
        RUNS,
        {truth: "judgments.csv" if truth == "judgments" else "other.yaml"},
        cases=None,
        queries=None,
        judgments_csv=f"query,case,judge,grade\n{lines}",
        analysis={"measures": ["nDCG@5"], "samples": 0},
        **texts,
    )


def _means(rows: Rows, judge: str = "") -> dict[str, dict[str, float]]:
    """The mean grade of each case, or one judge's grades."""
    cells: dict[tuple[str, str], list[float]] = {}
    for query, case, by, grade in rows:
        if judge in ("", by):
            cells.setdefault((query, case), []).append(grade)
    truth: dict[str, dict[str, float]] = {}
    for (query, case), grades in cells.items():
        truth.setdefault(query, {})[case] = float(np.mean(grades))
    return truth


def test_the_truth_is_the_mean_grade_and_each_judge_is_kept(tmp_path: Path) -> None:
    """Scores against the mean, and against each judge alone, by a plain loop."""
    result = evaluated(_study(tmp_path))
    rows, table = _made(), result.table_of_scores
    assert table.evidence is not None
    for at, name in enumerate("ab"):
        run: dict[str, dict[str, float]] = {}
        for line in (tmp_path / f"{name}.txt").read_text().splitlines():
            query, _, case, _, score, _ = line.split()
            run.setdefault(query, {})[case] = float(score)
        by_judge = {judge: table.evidence.by_judge[judge] for judge in ("J0", "J1", "J2")}
        for judge, values in {"": table.values, **by_judge}.items():
            wanted = evaluate(run, _means(rows, judge), ["nDCG@5"])
            held = dict(zip(table.queries, values[at, :, 0], strict=True))
            for query, value in zip(map(str, wanted.queries), wanted.values[:, 0], strict=True):
                assert held[query] == pytest.approx(value, nan_ok=True)
    truth = result.to_dict()["ground_truth"]
    assert truth["source"] == "3 judges (judgments.csv)"
    assert truth["judges"] == ["J0", "J1", "J2"]


def test_a_study_gives_its_judges(tmp_path: Path) -> None:
    """A study whose judges graded hands them over; scores are those of the same file."""
    wanted = evaluated(_study(tmp_path)).table_of_scores.values
    (tmp_path / "other.yaml").write_text("")

    def experts(path: Path, name: str) -> Truth:
        assert path.name == "other.yaml"
        return graded(name, "the made-up session", _made())

    path = _study(tmp_path, "study")
    result = analyze_retrieval(load_retrieval(path, experts=experts))
    np.testing.assert_array_equal(result.table_of_scores.values, wanted)
    assert result.findings.found.truth.source == "3 judges (the made-up session)"
