"""Files of cases, queries and lists, as people and programs write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.retrieval.analysis import check_retrieval
from tests.retrieval.made import CASES, QUERIES, codes, evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

ALL: dict[str, Any] = {"id": "all", "linear": {}}
RUN = {"q0": {"d1": 0.9, "d3": 0.5, "d0": 0.25}, "q1": {"d2": 0.5, "d4": 0.25}, "q2": {"d0": 1.0}}
QRELS = {"q0": {"d1": 2, "d3": 1, "d0": 0}, "q1": {"d2": 1}, "q2": {"d5": 1}}


def doubts(path: Path) -> list[tuple[str, str]]:
    found = check_retrieval(quem.load_study(path, kind="retrieval"))
    return [(doubt.code, doubt.message) for doubt in found]


TYPO = CASES.replace("c,3,p", "c,12.5x,p")
JSON = '[{"id": "a", "x": 1}, {"id": "b", "x": "2y"}]'


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"cases_csv": TYPO}, "cases.csv:4:2: x: '12.5x' is not a number"),
        ({"queries_csv": QUERIES.replace("3,q", "3 kg,q")}, "queries.csv:3:2: x: '3 kg' is not"),
        ({"cases": "c.json", "c_json": JSON}, "c.json:1: x: '2y'"),
    ],
)
def test_one_typo_is_told(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """With file, line and value; a column declared categorical is left alone."""
    told = dict(doubts(write_study(tmp_path, [ALL], "all", **files)))
    assert message in told["nearly-numeric"]
    words = {"attributes": [{"name": "x", "type": "categorical"}]}
    path = write_study(tmp_path, [{"id": "all", "linear": words}], "all", **files)
    assert "nearly-numeric" not in dict(doubts(path))


SEES = """
def r(query, k, cases):
    assert "kind" not in query, query
    assert all("kind" in case and "note" not in case for case in cases.values())
    return [(name, 1) for name in list(cases)[:k]]
def truth(query, k, cases):
    same = {name: float(case["kind"] == query["kind"]) for name, case in cases.items()}
    return sorted(same.items(), key=lambda pair: -pair[1])[:k]
"""


def test_the_solution_is_not_compared(tmp_path: Path) -> None:
    """Unless asked for; then, and where a column is named like an outcome, a warning tells."""
    base = "id,x,kind,note\n" + "".join(f"c{i},{i},{'pq'[i % 2]},n{i}\n" for i in range(6))
    both = {"attributes": [{"name": "x"}, {"name": "kind"}]}
    retrievers = [
        ALL,
        {"id": "asked", "linear": both},
        {"id": "sees", "python": "mine:r"},
        {"id": "truth", "python": "mine:truth"},
    ]
    cases = {"file": "cases.csv", "solution": "kind", "ignore": "note"}
    keys = {"cases_csv": base, "queries": "leave-one-out", "mine_py": SEES}
    result = evaluated(write_study(tmp_path, retrievers, "truth", cases=cases, **keys), repeats=1)
    lists = {name: run.lists for name, run in result.findings.found.runs.items()}
    # By x alone: of c0 the nearest are c1, c2, ...
    assert lists["all"].of(0)[0].tolist() == [1, 2, 3, 4, 5]
    assert lists["asked"].of(0)[0].tolist() == [2, 4, 1, 3, 5]
    messages = codes(result)
    assert "retriever-failed" not in messages
    assert messages["outcome-compared"].startswith("the retriever 'asked' compares 'kind', the sol")
    keys["cases_csv"] = base.replace("kind", "Class")
    told = doubts(write_study(tmp_path, [ALL, ALL | {"id": "b"}], "b", **keys))
    compared = [message for code, message in told if code == "outcome-compared"]
    assert compared[0].startswith("the retriever 'all' compares 'Class'")
    assert len(compared) == 2


def rows(held: dict[str, dict[str, Any]], *names: str) -> pd.DataFrame:
    cells = [(query, case, value) for query, cases in held.items() for case, value in cases.items()]
    return pd.DataFrame(cells, columns=list(names))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_study_of_beir(tmp_path: Path, ending: str) -> None:
    """Corpus and queries with `_id`, judgments in TSV or Parquet; scores are those of the dicts."""
    qrels = "qrels.tsv" if ending == "jsonl" else "qrels.parquet"
    frames = {
        f"corpus.{ending}": pd.DataFrame({"_id": [f"d{n}" for n in range(6)], "text": "Text"}),
        f"run.{ending}": rows(RUN, "q_id", "doc_id", "score"),
        "queries.jsonl": pd.DataFrame(
            [{"_id": f"q{n}", "text": "query", "metadata": {"url": "x"}} for n in range(3)]
        ),
        qrels: rows(QRELS, "query-id", "corpus-id", "score"),
    }
    for name, frame in frames.items():
        if name.endswith("parquet"):
            frame.to_parquet(tmp_path / name)
        elif name.endswith("jsonl"):
            frame.to_json(tmp_path / name, orient="records", lines=True)
        else:
            frame.to_csv(tmp_path / name, sep="\t", index=False)
    retrievers = [{"id": "a", "run": f"run.{ending}"}]
    files = {"cases": f"corpus.{ending}", "queries": "queries.jsonl"}
    path = write_study(tmp_path, retrievers, {"qrels": qrels}, **files)
    names = ["RR", "nDCG", "R@1"]
    expected = quem.score({"a": RUN}, QRELS, names, samples=0).frame()
    pd.testing.assert_frame_equal(evaluated(path, measures=names).means, expected)


@pytest.mark.parametrize("form", ["square.csv", "long.csv", "square.parquet", "long.parquet"])
def test_tables_of_similarities(tmp_path: Path, form: str) -> None:
    """Long or square, with semicolons, CRLF and BOM, or Parquet: the same lists."""
    long = "\ufeffSimilarity;Query;Case\r\n0.5;q1;a\r\n0.25;q1;b\r\n1;q2;b\r\n0;q3;a\r\n"
    square = "query\ta\tb\nq1\t0.5\t0.25\nq2\t\t1\nq3\t0\t\n"
    text = square if "square" in form else long
    retrievers = [ALL, {"id": "t", "similarities": form}]
    (tmp_path / form).write_text(text, encoding="utf-8")
    if form.endswith("parquet"):
        table = pd.read_csv(tmp_path / form, sep=None, engine="python", encoding="utf-8-sig")
        table.to_parquet(tmp_path / form)
    result = evaluated(write_study(tmp_path, retrievers, "all"))
    lists = result.findings.found.runs["t"].lists
    assert lists.case.tolist() == [0, 1, 1, 0]
    assert lists.similarity.tolist() == [0.5, 0.25, 1.0, 0.0]


def test_ids_are_the_text_that_was_written(tmp_path: Path) -> None:
    files = {
        "cases_csv": "id,x\n007,1\n7,2\n1.10,3\n",
        "queries_csv": "id,x\n01,1\n1,3\n",
        "r_txt": "01 Q0 007 1 1 t\n1 Q0 1.10 1 1 t\n",
        "q_txt": "01 0 007 1\n1 0 1.10 1\n",
    }
    path = write_study(tmp_path, [{"id": "r", "run": "r.txt"}], {"qrels": "q.txt"}, **files)
    assert evaluated(path, measures=["AP"]).means["mean"].tolist() == [1.0]
