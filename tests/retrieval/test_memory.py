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
from quem.studyfile.measures import spellings
from quem.studyfile.retrieval import Linear

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
    again = quem.analyze(result.study, ties="trec")
    assert again.findings.settings.ties == "trec"
    assert [one.name for one in again.findings.measures] == ["length", "nDCG@10"]
    assert repr(quem.compare(result.study)) == "<LeaderboardResult by nDCG@10: one, two>"


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
