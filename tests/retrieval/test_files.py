"""Files as other programs write them: BEIR, pytrec_eval, ranx, PyTerrier, JSON Lines, Parquet."""

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
Held = dict[str, dict[str, Any]]


def records(held: Held, query: str, case: str, value: str) -> list[dict[str, Any]]:
    """One record for each query and case."""
    return [
        {query: q, case: name, value: number}
        for q, cases in held.items()
        for name, number in cases.items()
    ]


def lines(entries: list[dict[str, Any]]) -> str:
    """JSON Lines."""
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def beir(folder: Path, cases: str = "corpus.jsonl") -> dict[str, Any]:
    """Write corpus and queries as BEIR has them, and name them in a study."""
    corpus = [
        {"_id": f"d{n}", "title": f"Title {n}", "text": f"Text {n}", "metadata": {}}
        for n in range(6)
    ]
    queries = [{"_id": f"q{n}", "text": f"query {n}", "metadata": {"url": "x"}} for n in range(3)]
    (folder / "corpus.jsonl").write_text(lines(corpus), encoding="utf-8")
    pd.DataFrame(corpus).drop(columns="metadata").to_parquet(folder / "corpus.parquet")
    (folder / "queries.jsonl").write_text(lines(queries), encoding="utf-8")
    return {"kind": "retrieval", "cases": cases, "queries": "queries.jsonl"}


def scores(folder: Path, spec: dict[str, Any], run: str, qrels: str) -> pd.DataFrame:
    """Evaluate a run by qrels, query by query."""
    spec = {
        **spec,
        "retrievers": [{"id": "a", "run": run}],
        "ground_truth": {"qrels": qrels},
        "analysis": {"measures": ["RR", "nDCG", "R@1"], "samples": 0},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    result = quem.analyze(quem.load_study(folder / "study.yaml", kind="retrieval"))
    return result.means


def write(path: Path, content: str | list[dict[str, Any]]) -> str:
    """Write a file, a table of Parquet by its ending; gives its name."""
    if isinstance(content, list):
        pd.DataFrame(content).to_parquet(path)
    else:
        path.write_text(content, encoding="utf-8")
    return path.name


TABLE = "query,case,similarity\n" + "".join(
    f"{q},{case},{value}\n" for q, cases in RUN.items() for case, value in cases.items()
)
JUDGED = "query,case,grade\n" + "".join(
    f"{q},{case},{value}\n" for q, cases in QRELS.items() for case, value in cases.items()
)
RUNS: dict[str, str | list[dict[str, Any]]] = {
    "pytrec_eval.json": json.dumps(RUN, indent=1),
    "ids.json": json.dumps({q: list(cases) for q, cases in RUN.items()}),
    "rows.jsonl": lines([{**row, "tag": "bm25"} for row in records(RUN, "qid", "docno", "score")]),
    "rows.json": json.dumps(records(RUN, "query_id", "doc_id", "score")),
    "ranx.parquet": records(RUN, "q_id", "doc_id", "score"),
    "pyterrier.parquet": [
        {**row, "rank": n} for n, row in enumerate(records(RUN, "qid", "docno", "score"))
    ],
}
JUDGMENTS: dict[str, str | list[dict[str, Any]]] = {
    "test.tsv": "query-id\tcorpus-id\tscore\n"
    + "".join(f"{q}\t{d}\t{g}\n" for q, held in QRELS.items() for d, g in held.items()),
    "qrels.json": json.dumps(QRELS),
    "qrels.jsonl": lines(records(QRELS, "query-id", "corpus-id", "score")),
    "qrels.parquet": records(QRELS, "qid", "docno", "label"),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs(tmp_path: Path, name: str) -> None:
    """Each shape of a run gives the scores of the same run as a table."""
    spec = beir(tmp_path)
    plain = write(tmp_path / "run.csv", TABLE), write(tmp_path / "qrels.csv", JUDGED)
    expected = scores(tmp_path, spec, *plain)
    assert 0 < expected["mean"].mean() < 1
    found = scores(tmp_path, spec, write(tmp_path / name, RUNS[name]), plain[1])
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments(tmp_path: Path, name: str) -> None:
    """Each shape of judgments too, beside a corpus in Parquet."""
    plain = write(tmp_path / "run.csv", TABLE), write(tmp_path / "qrels.csv", JUDGED)
    expected = scores(tmp_path, beir(tmp_path), *plain)
    qrels = write(tmp_path / name, JUDGMENTS[name])
    found = scores(tmp_path, beir(tmp_path, "corpus.parquet"), plain[0], qrels)
    pd.testing.assert_frame_equal(found, expected)


def test_similarities_in_parquet(tmp_path: Path) -> None:
    """A long table and a square one are read as those of CSV."""
    square = pd.DataFrame(RUN).T.rename_axis("query").reset_index()
    square.to_parquet(tmp_path / "square.parquet")
    pd.DataFrame(records(RUN, "query", "case", "similarity")).to_parquet(tmp_path / "long.parquet")
    spec = {
        "kind": "retrieval",
        "retrievers": [{"id": n, "similarities": f"{n}.parquet"} for n in ("square", "long")],
        "ground_truth": {"qrels": write(tmp_path / "qrels.csv", JUDGED)},
        "analysis": {"measures": ["RR"], "samples": 0},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    result = quem.analyze(quem.load_study(tmp_path / "study.yaml", kind="retrieval"))
    assert result.means["mean"].tolist() == pytest.approx([2 / 3, 2 / 3])
