"""Several judges as ground truth: the truth is their mean, and each is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quem.lists import evaluate
from quem.retrieval.analysis import analyze_retrieval
from quem.retrieval.loading import load_retrieval
from quem.retrieval.truth import Truth, graded
from tests.retrieval.made import evaluated, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

RUNS: list[dict[str, Any]] = [{"id": "a", "run": "a.txt"}, {"id": "b", "run": "b.txt"}]
Rows = list[tuple[str, str, str, float]]


def _made(*, share: float = 1.0) -> Rows:
    """Grades of eight cases of each of 12 queries; a share of them by each of three judges."""
    rng = np.random.default_rng(0)
    return [
        (f"q{query}", f"d{case}", f"J{judge}", float(rng.integers(0, 4)))
        for query in range(12)
        for case in range(8)
        for judge in range(3)
        if judge == case % 3 or rng.random() < share
    ]


def _study(tmp_path: Path, truth: Any = None, text: str = "") -> Path:  # noqa: ANN401
    rng = np.random.default_rng(7)
    texts = {
        f"{name}_txt": "\n".join(
            f"q{query} Q0 d{case} {rank} {20 - rank} {name}"
            for query in range(12)
            for rank, case in enumerate(rng.permutation(8)[:6].tolist(), 1)
        )
        for name in "ab"
    }
    lines = "".join(",".join(map(str, row)) + "\n" for row in _made(share=0.6))
    return write_study(
        tmp_path,
        RUNS,
        truth or {"judgments": "judgments.csv"},
        cases=None,
        queries=None,
        judgments_csv=text or f"query,case,judge,grade\n{lines}",
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
    rows, table = _made(share=0.6), result.table_of_scores
    run = {
        name: {
            f"q{at}": {
                line.split()[2]: float(line.split()[4])
                for line in (tmp_path / f"{name}.txt").read_text().splitlines()
                if line.startswith(f"q{at} ")
            }
            for at in range(12)
        }
        for name in "ab"
    }
    for at, name in enumerate("ab"):
        wanted = evaluate(run[name], _means(rows), ["nDCG@5"])
        assert dict(zip(table.queries, table.values[at, :, 0], strict=True)) == pytest.approx(
            dict(zip(map(str, wanted.queries), wanted.values[:, 0], strict=True))
        )
        assert table.evidence is not None
        for judge in ("J0", "J1", "J2"):
            alone = evaluate(run[name], _means(rows, judge), ["nDCG@5"])
            assert table.evidence
            found = table.evidence.by_judge[judge][at, :, 0]
            held = dict(zip(table.queries, found, strict=True))
            for query, value in zip(map(str, alone.queries), alone.values[:, 0], strict=True):
                assert held[query] == pytest.approx(value, nan_ok=True)
    assert result.to_dict()["ground_truth"] == {
        "kind": "grades",
        "source": "3 judges (judgments.csv)",
        "judges": ["J0", "J1", "J2"],
        "ms": None,
        "ms_interval": None,
    }


def test_a_study_gives_its_judges(tmp_path: Path) -> None:
    """A study whose judges graded hands them over; scores are those of the same file."""
    wanted = evaluated(_study(tmp_path)).table_of_scores.values
    (tmp_path / "other.yaml").write_text("")

    def experts(path: Path, name: str) -> Truth:
        assert path.name == "other.yaml"
        return graded(name, "the made-up session", _made(share=0.6))

    path = _study(tmp_path, {"study": "other.yaml"})
    result = analyze_retrieval(load_retrieval(path, experts=experts))
    np.testing.assert_array_equal(result.table_of_scores.values, wanted)
    assert result.findings.found.truth.source == "3 judges (the made-up session)"


_HEAD = "query,case,judge,grade\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            _HEAD + "q1,d1,J1,2\nq1,d2,J1,1\nq1,d1,J1,0\n",
            "judgments.csv:4: the case 'd1' is already listed for the query 'q1' by the judge "
            "'J1', on line 2",
        ),
        (_HEAD + "q1,d1,J1,good\n", "judgments.csv:2: grade: 'good' is not a finite number"),
        (_HEAD + "q1,d1,J1,inf\n", "judgments.csv:2: grade: 'inf' is"),
        (_HEAD, "judgments.csv: has a header and no rows"),
        ("query,case,grade\nq1,d1,2\n", "judgments.csv: has no column of judges; call it judge"),
    ],
)
def test_wrong_judgments_are_named(tmp_path: Path, text: str, message: str) -> None:
    """With file, line, and what to do."""
    assert message in mistakes(_study(tmp_path, text=text))


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ({"judgments": "judgments.csv", "consensus": "mean"}, "consensus: is not a setting any"),
        ({"judgments": "judgments.csv", "qrels": "a.txt"}, "not both qrels and judgments"),
    ],
)
def test_keys_that_do_not_go_together(tmp_path: Path, truth: Any, message: str) -> None:  # noqa: ANN401
    """They are refused, with a reason."""
    assert message in mistakes(_study(tmp_path, truth))
