"""Scores that mislead nobody: orders of grades, failures, unjudged cases, and few queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.retrieval.analysis import check_retrieval
from tests.retrieval.made import codes, evaluated, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, Any] = {"cases": None, "queries": None}


def _judged(folder: Path, **more: Any) -> Path:  # noqa: ANN401
    """20 queries with lists full of ties, and graded judgments of a half."""
    rng = np.random.default_rng(3)
    qrels, run = [], []
    for query in range(20):
        grades = rng.integers(-3, 3, 40)
        qrels += [f"q{query} 0 d{case} {grade}" for case, grade in enumerate(grades) if grade >= 0]
        for rank, case in enumerate(rng.permutation(40)[:25], 1):
            run.append(f"q{query} Q0 d{case} {rank} {rng.choice([0.1, 0.2, 0.3])} t")
    return write_study(
        folder,
        [{"id": "t", "run": "t.txt"}],
        {"qrels": "q.txt"},
        **FILES,
        t_txt="\n".join(run),
        q_txt="\n".join(rng.permutation(qrels).tolist()),
        analysis={"samples": 0, **more},
    )


def test_grades_have_no_order(tmp_path: Path) -> None:
    """Measures that need one are refused by name, also by check; the defaults are without."""
    path = _judged(tmp_path, measures=["hits_norm@5", "AP"])
    message = mistakes(path)
    assert message.startswith("study.yaml:")
    assert "hits_norm@5 needs an order of the cases" in message
    assert "AP needs" not in message
    with pytest.raises(quem.QuemError, match="hits_norm@5 needs an order"):
        check_retrieval(quem.load_study(path, kind="retrieval"))
    result = evaluated(_judged(tmp_path))
    assert result.table_of_scores.columns == ("nDCG@10", "AP", "RR", "P@10", "R@100")
    (row,) = result.to_dict()["systems"]
    assert row["tied"] == 1
    found = result.findings.found.scored.matched[0]
    judged = [(found.found[found.rows.cells(q)][:10] >= 0).mean() for q in range(20)]
    assert row["judged"] == pytest.approx(np.mean(judged))
    assert "of 't' are judged" in codes(result)["unjudged-cases"]


def test_k_makes_columns(tmp_path: Path) -> None:
    """A measure that knows k is there without it and with each; a section has both in a line."""
    result = evaluated(_judged(tmp_path, measures=["nDCG", "RR", "P@3"], k=[2, 5]))
    names = ("nDCG", "nDCG@2", "nDCG@5", "RR", "RR@2", "RR@5", "P@3")
    assert result.table_of_scores.columns == names
    lines = result.summary().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("  measure"))
    means = dict(zip(result.means["measure"], result.means["mean"], strict=True))
    assert lines[at].split() == ["measure", "t", *"t (k = 2)".split(), *"t (k = 5)".split()]
    assert lines[at + 1].split() == ["nDCG", *(f"{means[n]:.4f}" for n in names[:3])]
    assert lines[at + 3].split() == ["P@3", "–", "–", "–"]


def test_few_queries_and_undefined_scores_are_told(tmp_path: Path) -> None:
    """A mean over 2 of 20 queries, and why the others have none."""
    lists = {f"q{n}": "abc" if n < 2 else "a" for n in range(20)}
    run = ["query,case", *(f"{query},{case}" for query, cases in lists.items() for case in cases)]
    values = (("a", 0.9), ("b", 0.6), ("c", 0.1))
    truth = ["query,case,similarity", *(f"{q},{c},{v}" for q in lists for c, v in values)]
    path = write_study(
        tmp_path,
        [{"id": "lucky", "run": "r.csv"}],
        {"similarities": "t.csv"},
        **FILES,
        r_csv="\n".join(run),
        t_csv="\n".join(truth),
    )
    messages = codes(evaluated(path, measures=["kendall", "hits_norm@2"]))
    assert "lucky is neither ranked nor tested by kendall" in messages["few-defined"]
    assert "kendall for 18 of 20 queries (" in messages["undefined-scores"]


FAILING = """
def retrieve(query, k, cases):
    if query.id == "q2":
        raise OSError("down")
    return [(name, 1 / (1 + abs(case["x"] - query["x"]))) for name, case in sorted(
        cases.items(), key=lambda pair: abs(pair[1]["x"] - query["x"]))][:k]
"""


def test_a_failure_scores_like_an_empty_list(tmp_path: Path) -> None:
    """As the same lists do in a file that lacks the query: 0."""
    retrievers: list[dict[str, Any]] = [
        {"id": "all", "linear": {"attributes": [{"name": "x"}]}},
        {"id": "fails", "python": "fails:retrieve"},
        {"id": "lacks", "run": "lacks.csv"},
    ]
    keys: dict[str, Any] = {
        "queries_csv": "id,x\nq1,1.6\nq2,3\nq3,2.2\n",
        "fails_py": FAILING,
        "lacks_csv": "query,position,case\nq1,1,b\nq1,2,a\nq3,1,b\nq3,2,c\n",
    }
    path = write_study(tmp_path, retrievers, "all", **keys)
    result = evaluated(path, measures=["hits_norm@2", "nDCG@2"])
    means = result.table_of_scores.means
    assert (means.mean[0] == means.mean[1]).all()
    assert ((means.mean > 0) & (means.mean < 1)).all()
    assert (means.n == 3).all()
    assert {one["id"]: one["failures"] for one in result.to_dict()["systems"]} == {
        "fails": 1,
        "lacks": 1,
    }
    assert "1 of 3 queries, which counts as empty" in codes(result)["retriever-failed"]
    reasons = result.table("failures").set_index("retriever")["reason"]
    assert "raised OSError: down" in reasons["fails"]
    assert reasons["lacks"] == "is not in the file"
