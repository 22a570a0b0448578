"""Files as other programs write them: BEIR, ranx, Parquet; runs alone are in tests/scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import yaml

import quem

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"q0": {"d1": 0.9, "d3": 0.5, "d0": 0.25}, "q1": {"d2": 0.5, "d4": 0.25}, "q2": {"d0": 1.0}}
QRELS = {"q0": {"d1": 2, "d3": 1, "d0": 0}, "q1": {"d2": 1}, "q2": {"d5": 1}}
MEASURES = ["RR", "nDCG", "R@1"]


def table(held: dict[str, dict[str, Any]], *names: str) -> pd.DataFrame:
    """One row for each query and case."""
    rows = [(query, case, value) for query, cases in held.items() for case, value in cases.items()]
    return pd.DataFrame(rows, columns=list(names))


def means(folder: Path, **keys: Any) -> pd.DataFrame:  # noqa: ANN401  of a study
    """Evaluate a study."""
    analysis = {"measures": MEASURES, "samples": 0}
    content = {"kind": "retrieval", "analysis": analysis, **keys}
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return quem.analyze(quem.load_study(folder / "study.yaml", kind="retrieval")).means


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_study_of_beir(tmp_path: Path, ending: str) -> None:
    """Corpus and queries with `_id`, judgments in TSV or Parquet; scores are those of the dicts."""
    corpus = pd.DataFrame({"_id": [f"d{n}" for n in range(6)], "text": "Text"})
    queries = [{"_id": f"q{n}", "text": "query", "metadata": {"url": "x"}} for n in range(3)]
    lines = "".join(f"{json.dumps(entry)}\n" for entry in queries)
    (tmp_path / "queries.jsonl").write_text(lines, encoding="utf-8")
    run = table(RUN, "q_id", "doc_id", "score")
    qrels = table(QRELS, "query-id", "corpus-id", "score")
    if ending == "parquet":
        corpus.to_parquet(tmp_path / "corpus.parquet")
        run.to_parquet(tmp_path / "run.parquet")
        qrels.to_parquet(tmp_path / "qrels.parquet")
    else:
        corpus.to_json(tmp_path / "corpus.jsonl", orient="records", lines=True)
        run.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
        qrels.to_csv(tmp_path / "qrels.tsv", sep="\t", index=False)
    found = means(
        tmp_path,
        cases=f"corpus.{ending}",
        queries="queries.jsonl",
        retrievers=[{"id": "a", "run": f"run.{ending}"}],
        ground_truth={"qrels": "qrels.parquet" if ending == "parquet" else "qrels.tsv"},
    )
    expected = quem.score({"a": RUN}, QRELS, MEASURES, samples=0).frame()
    assert 0 < expected["mean"].mean() < 1
    pd.testing.assert_frame_equal(found, expected)


def test_similarities_in_parquet(tmp_path: Path) -> None:
    """A long table and a square one are read as those of CSV."""
    square = pd.DataFrame(RUN).T.rename_axis("query").reset_index()
    square.to_parquet(tmp_path / "square.parquet")
    table(RUN, "query", "case", "similarity").to_parquet(tmp_path / "long.parquet")
    table(QRELS, "query", "case", "grade").to_csv(tmp_path / "qrels.csv", index=False)
    found = means(
        tmp_path,
        retrievers=[{"id": n, "similarities": f"{n}.parquet"} for n in ("square", "long")],
        ground_truth={"qrels": "qrels.csv"},
    )
    rr = found[found["measure"] == "RR"]
    assert rr["mean"].tolist() == pytest.approx([2 / 3, 2 / 3])
