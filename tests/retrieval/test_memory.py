"""Retrievers evaluated in memory: as a study of files, and with clear messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import quem
from quem.io.custom_functions import Entry
from quem.report.files import write_report
from quem.retrieval import evaluate
from quem.study.measures import spellings
from quem.study.retrieval import Linear

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.retrieval.bases import Case
    from quem.retrieval.result import RetrievalResult

STUDIES = Path(__file__).resolve().parents[2] / "studies"
TRUTH = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"c": 0.3}}
CASES = {"a": {"x": 1, "kind": "p"}, "b": {"x": 2, "kind": "q"}, "c": {"x": 3.5, "kind": "p"}}


def near(query: Case, k: int, cases: Mapping[str, Case]) -> list[tuple[str, float]]:
    """Compare by x."""
    pairs = [(name, 1 / (1 + abs(one["x"] - query["x"]))) for name, one in cases.items()]
    return sorted(pairs, key=lambda pair: -pair[1])[:k]


def _same(one: RetrievalResult, other: RetrievalResult) -> None:
    for name in ("measures", "scores", "differences"):
        pd.testing.assert_frame_equal(one.table(name), other.table(name))


def test_bicycles_in_memory() -> None:
    """Functions, a class, and linear retrievers on DataFrames give the tables of the files."""
    path = STUDIES / "bicycles/study.yaml"
    study = quem.load_study(path, kind="retrieval")
    runs: dict[str, Any] = {}
    for one in study.spec.retrievers:
        entry = study.entries.get(one.id)
        runs[one.id] = entry.target if isinstance(entry, Entry) else one.linear
    frames = [pd.read_csv(path.parent / name) for name in ("bicycles.csv", "wishes.csv")]
    phases = study.spec.mac_fac
    assert phases is not None
    used: dict[str, Any] = {"repeats": 1, "bootstrap": 50, "permutations": 99}
    result = evaluate(
        runs,
        "seller",
        measures=spellings(study.spec.analysis.measures),
        cases=frames[0],
        queries=frames[1].set_index("id"),
        mac_fac=phases.model_dump(),
        **used,
    )
    filed = quem.analyze(study, **used)
    _same(result, filed)
    columns = ["filter", "k", "measure", "mean", "low", "high"]
    mac_fac = [one.table("mac-fac")[columns] for one in (result, filed)]
    pd.testing.assert_frame_equal(mac_fac[0], mac_fac[1])
    runs.pop("seller")
    seller = study.entries["seller"]
    assert isinstance(seller, Entry)
    spelled = evaluate(runs, seller.target, cases=frames[0], queries=frames[1], repeats=1)
    assert spelled.findings.evaluated[-1].is_truth


@pytest.mark.parametrize("form", ["dict", "frame", "series"])
def test_procake_in_memory(form: str) -> None:
    """Similarities in each form give the tables of the files."""
    path = STUDIES / "procake-example/study.yaml"
    study = quem.load_study(path, kind="retrieval")
    run, truth = (pd.read_csv(path.parent / n) for n in ("results.csv", "ground-truth.csv"))
    one: Any = run
    if form != "frame":
        by_query = {q: rows.set_index("case")["similarity"] for q, rows in run.groupby("query")}
        one = by_query if form == "series" else {q: dict(s) for q, s in by_query.items()}
    result = evaluate(
        {"results": one},
        truth
        if form != "dict"
        else {"G1": dict(zip(truth["case"], truth["similarity"], strict=True))},
        truth_kind="similarities",
        measures=spellings(study.spec.analysis.measures),
        k=2,
    )
    _same(result, quem.analyze(study))


def test_equals_files_of_judgments(tmp_path: Path) -> None:
    """Random runs with ties and missing queries, against the same data in files."""
    rng = np.random.default_rng(5)
    rows = [
        (f"q{query}", f"d{case}", float(rng.integers(5)))
        for query in range(12)
        for case in rng.choice(30, 8, replace=False)
        if query != 3
    ]
    judged = [
        (f"q{query}", f"d{case}", int(rng.integers(3)))
        for query in range(12)
        for case in rng.choice(30, 10, replace=False)
    ]
    run = pd.DataFrame(rows, columns=["query", "case", "score"])
    truth = pd.DataFrame(judged, columns=["query", "case", "grade"])
    run.to_csv(tmp_path / "run.csv", index=False)
    truth.to_csv(tmp_path / "qrels.csv", index=False)
    (tmp_path / "study.yaml").write_text(
        "kind: retrieval\nretrievers: [{id: r, run: run.csv}]\nground_truth: {qrels: qrels.csv}\n",
        encoding="utf-8",
    )
    filed = quem.analyze(quem.load_study(tmp_path / "study.yaml", kind="retrieval"), bootstrap=50)
    typed = run.astype({"query": "string", "case": "category", "score": "Float64"})
    nested: dict[str, dict[str, float]] = {}
    for query, case, score in rows:
        nested.setdefault(query, {})[case] = score
    for form in (run, typed, run.set_index(["query", "case"]), nested):
        result = evaluate({"r": form}, truth, bootstrap=50)
        _same(result, filed)
        assert [w.code for w in result.warnings] == [w.code for w in filed.warnings]


def test_ids_are_what_they_say() -> None:
    """Numbers of Python, NumPy, and pandas are the same ids, also where a gap made them floats."""
    truth = {1: ["a"], 2: {"c": np.int8(1)}}
    frame = pd.DataFrame({"query": [1.0, 2.0], "case": ["a", "c"], "rank": [1, 1]})
    runs: dict[str, Any] = {
        "ints": {np.int64(1): ["a", "b"], np.int64(2): ["c"]},
        "texts": {"1": [("a", 0.5)], "2": [("c", 0.5)]},
        "frame": frame,
        "nullable": frame.astype({"query": "Int64", "case": "string"}),
    }
    result = evaluate(runs, truth, measures="AP", bootstrap=0)
    assert result.measures["mean"].tolist() == [1, 1, 1, 1]
    assert result.study.data.task.queries.ids == ("1", "2")


def test_judgments_called_scores_are_grades() -> None:
    """As in files of BEIR, a score of the ground truth is a grade, and a similarity is none."""
    frame = pd.DataFrame({"query-id": ["q1"], "corpus-id": ["a"], "score": [1]})
    kinds = [
        evaluate({"r": RUN}, truth, measures="nDCG", bootstrap=0).findings.truth.kind
        for truth in (frame, frame.rename(columns={"score": "similarity"}))
    ]
    assert kinds == ["grades", "similarities"]


def test_an_empty_list_and_a_missing_one_score_zero() -> None:
    """Both are warned of as an empty list."""
    runs = {"empty": {"q1": {"a": 1}, "q2": {}}, "missing": {"q1": ["a"]}}
    result = evaluate(runs, TRUTH, measures="AP", bootstrap=0)
    assert result.measures["mean"].tolist() == [0.5, 0.5]
    assert [w.code for w in result.warnings].count("no-list") == 2


def test_result_is_that_of_a_study(tmp_path: Path) -> None:
    """It has a summary, figures, a page, and files; no file is named as its source."""

    def length(items: list[str], _: dict[str, float]) -> float:
        """How long the list is."""
        return float(len(items))

    result = evaluate(
        {"one": RUN, "two": {"q1": ["b"], "q2": ["c"]}},
        TRUTH,
        measures=[length, "nDCG@10"],
        headline="nDCG@10",
        title="Our search",
        bootstrap=50,
    )
    assert result.summary().startswith("Our search\n")
    assert "length: How long the list is" in result.to_html()
    assert result.inputs == ()
    assert set(result.figures()) == {"quality", "differences"}
    assert len(result.differences) == 2
    write_report(result, tmp_path / "report", figures=("svg",))
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"report.html", "measures.csv"} <= names
    again = quem.analyze(result.study, ties="id")
    assert again.findings.settings.ties == "id"
    assert [one.name for one in again.findings.measures] == ["length", "nDCG@10"]
    assert repr(quem.compare(result.study)) == "<LeaderboardResult by nDCG@10: one, two>"


def test_retrievers_that_run(tmp_path: Path) -> None:
    """Functions and the linear retriever search the cases, from records, dicts, or ids alone."""
    records = [{"id": name, **attributes} for name, attributes in CASES.items()]
    results = [
        evaluate(
            {"near": near, "linear": Linear()},
            TRUTH,
            cases=cases,
            queries={"q1": {"x": 1, "kind": "p"}, "q2": {"x": 3, "kind": None}},
            measures=["nDCG"],
            repeats=1,
            bootstrap=0,
        )
        for cases in (CASES, records, pd.DataFrame(CASES).T)
    ]
    for other in results[1:]:
        _same(results[0], other)
    assert results[0].times["retriever"].unique().tolist() == ["near", "linear"]
    named = evaluate(
        {"f": lambda query, _: [("a", 0.5)] if query.id == "q1" else [("c", 1)]},
        TRUTH,
        cases=["a", "b", "c"],
        measures=["AP"],
        bootstrap=0,
        repeats=1,
    )
    assert named.measures["mean"].tolist() == [1.0]
    alone = evaluate({"l": Linear()}, near, cases=CASES, queries="leave-one-out", repeats=1)
    assert alone.study.data.task.leave_one_out
    assert [one.id for one in alone.findings.evaluated] == ["l", "ground truth"]
    write_report(results[0], tmp_path / "r", figures=())


@pytest.mark.parametrize(
    ("runs", "truth", "message"),
    [
        (
            {"q1": {"a": 0.5}},
            TRUTH,
            "run 'q1': query 'a': should be a dict or a list of items, and",
        ),
        ({}, TRUTH, "retrievers: name one retriever at least"),
        ([RUN], TRUTH, "runs: should be a dict of name to run, and not list"),
        ({"r": 3}, TRUTH, "run 'r': should be a dict of query to list, a DataFrame, or a function"),
        ({"r": {}}, TRUTH, "run 'r': holds no item"),
        ({"r": RUN}, {}, "the ground truth: holds no item"),
        ({"r": RUN}, "s", "truth: there is no run 's'"),
        (
            {"r": {"q1": {"a": float("nan")}}},
            TRUTH,
            "run 'r': query 'q1', case 'a', similarity: is e",
        ),
        (
            {"r": {"q1": {"a": float("inf")}}},
            TRUTH,
            "run 'r': query 'q1', case 'a', similarity: 'inf'",
        ),
        ({"r": {"q1": {"a": "x"}}}, TRUTH, "'x' is not a finite number"),
        (
            {"r": RUN},
            {"q1": {"a": pd.NA}},
            "the ground truth: query 'q1', case 'a', grade: is empty",
        ),
        (
            {"r": {"q9": ["a"]}},
            TRUTH,
            "run 'r': has none of the queries of the study, such as 'q1'",
        ),
        ({"r": {"q1": ["a", "a"]}}, TRUTH, "run 'r': query 'q1': a: is more than once in the list"),
        ({"r": {1: ["a"], "1": ["b"]}}, TRUTH, "run 'r': query '1': is there twice, as 1 and '1'"),
        ({"r": {("q", 1): ["a"]}}, TRUTH, "run 'r': query ('q', 1): an id should be a text or a"),
        ({"r": {"q1": ["a"], "q2": {"c": 1}}}, TRUTH, "has scores for the query 'q2' and only an"),
        ({"r": near}, TRUTH, "cases: is missing: the retriever 'r' needs the cases"),
        ({"r": Linear()}, TRUTH, "queries: is missing: give the queries, or 'leave-one-out'"),
    ],
)
def test_mistakes_name_run_and_query(runs: Any, truth: Any, message: str) -> None:  # noqa: ANN401  wrong data
    """What is wrong is one message, with the run and the query, and without a file."""
    with pytest.raises(quem.QuemError) as caught:
        evaluate(runs, truth)
    assert message in str(caught.value)
    assert "<memory>" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"case": ["a", "a"], "score": [1, 2]}, "duplicate: the case 'a' is already listed"),
        ({"case": ["a", "b"], "score": [1, np.nan]}, "query 'q1', case 'b', similarity: is empty"),
        ({"case": ["a", None], "score": [1, 2]}, "run 'r': query 'q1': is empty; add the case"),
        ({"case": ["a", "b"]}, "should have a column score or rank, besides query and case"),
        (
            {"thing": ["a", "b"], "score": [1, 2]},
            "column 'case' not found; a DataFrame has the col",
        ),
        ({"case": ["a", "b"], "doc_id": ["a", "b"], "rank": [1, 2]}, "doc_id: is a second column"),
    ],
)
def test_mistakes_in_frames(frame: dict[str, Any], message: str) -> None:
    """A row that is wrong, or a column that is missing, is named."""
    with pytest.raises(quem.QuemError) as caught:
        evaluate({"r": pd.DataFrame({"query": ["q1", "q1"], **frame})}, TRUTH)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measures": ["nope"]}, "measures: there is no measure 'nope'"),
        ({"levl": 0.9}, "levl: unknown setting; did you mean level?"),
        ({"cases": ["z"]}, "run 'r': query 'q1', case 'a': unknown case 'a'; add it to cases"),
        ({"cases": []}, "cases: is empty"),
        ({"cases": {"a": 3}}, "cases: 'a': should be a dict of attributes, and not 3"),
        ({"cases": [{"id": "a"}, {"id": "a"}]}, "cases: 'a': is there twice; give each its own id"),
        ({"cases": [{"x": 1}]}, "cases: id: is missing; give each an id"),
        ({"cases": CASES, "solution": "y"}, "cases.solution: cases has no column 'y'"),
        ({"queries": "all"}, "queries: should be data or 'leave-one-out', and not 'all'"),
        ({"truth_kind": "order"}, "truth_kind: should be grades or similarities, and not 'order'"),
        ({"mac_fac": {"mac": "x", "fac": "r", "filters": 2, "k": 1}}, "mac_fac.mac: there is no"),
    ],
)
def test_wrong_arguments(given: dict[str, Any], message: str) -> None:
    """What else is given wrong is named by its key."""
    with pytest.raises(quem.QuemError) as caught:
        evaluate({"r": RUN}, TRUTH, **given)
    assert message in str(caught.value)


def test_is_there_after_import_quem_alone() -> None:
    """The packages load when they are used, and nothing heavy before."""
    code = (
        "import quem, sys; quem.retrieval; quem.options; assert 'numpy' not in sys.modules; "
        "import quem.retrieval; assert 'pandas' not in sys.modules; "
        "assert callable(quem.retrieval.evaluate) and callable(quem.options.evaluate)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
