"""From a table of judgments to a result: consensus, qrels, warnings, files, mistakes."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import ir_measures
import pytest

import quem
from quem.report.files import json_text
from quem.report.tables import table_files
from tests.docs.pages import ROOT
from tests.docs.schema import mistakes
from tests.relevance.made import analysed, drawn, study_in, table
from tests.retrieval.made import evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "query,case,judge,grade\n"
GOOD = "q1,a,J1,1\n"
FEW = HEAD + "q1,a,J1,2\nq1,a,J2,1\nq1,b,J1,0\nq1,b,J2,0\nq2,a,J1,1\nq2,c,J2,2\n"


def _files(path: Path, **settings: object) -> dict[str, str]:
    result = analysed(path, **settings)
    files = [*result.attachments().items(), *table_files(result, ["csv"])]
    return {name: bytes(text).decode() for name, text in files}


def test_qrels_are_the_consensus_and_what_was_judged_before(tmp_path: Path) -> None:
    """The lower of two grades; old grades of other cases stay, of the same the new one counts."""
    (tmp_path / "old.txt").write_text("q1 0 a 0\nq3 0 z 2\n")
    path = study_in(tmp_path, FEW, judged="old.txt")
    files = _files(path)
    assert files["judgments.csv"] == FEW
    expected = {("q1", "a"): 1, ("q1", "b"): 0, ("q2", "a"): 1, ("q2", "c"): 2, ("q3", "z"): 2}
    rows = list(csv.DictReader(files["qrels.csv"].splitlines()))
    assert {(row["query"], row["case"]): int(row["grade"]) for row in rows} == expected
    (tmp_path / "new.txt").write_text(files["qrels.txt"])
    read = list(ir_measures.read_trec_qrels(str(tmp_path / "new.txt")))
    assert {(one.query_id, one.doc_id): one.relevance for one in read} == expected


def test_tables_hold_what_judges_said(tmp_path: Path) -> None:
    """Counts, means, and ends, worked out by hand; without samples there is no interval."""
    result = analysed(study_in(tmp_path, FEW), samples=0)
    frame = result.table("consensus").fillna(-1).astype({"lowest": int, "highest": int})
    assert frame.to_numpy().tolist() == [
        ["q1", "a", 2, 1, "Partly", 1, 2],
        ["q1", "b", 2, 0, "No", 0, 0],
        ["q2", "a", 1, 1, "Partly", 1, 1],
        ["q2", "c", 1, 2, "Yes", 2, 2],
    ]
    assert result.table("judges")["mean"].tolist() == [1.0, 1.0]
    assert result.table("pairs").iloc[0].tolist()[:4] == ["J1", "J2", 2, 0.5]
    assert result.table("queries")["n_relevant"].tolist() == [1, 2]
    document = result.to_dict()
    assert [one["grades"] for one in document["judges"]] == [[1, 1, 1], [1, 1, 1]]
    assert document["overall"]["alpha_interval"] == [None, None]


@pytest.mark.parametrize(
    ("rows", "codes"),
    [
        ("q1,a,J1,0\nq1,b,J1,2\nq1,c,J1,1\n", {"judged-once", "unjudged-candidates"}),
        ("q1,a,J1,0\nq1,b,J1,2\nq1,a,J2,2\nq1,b,J2,0\n", {"low-relevance-agreement"}),
        ("q1,a,J1,0\nq1,b,J1,2\nq1,a,J2,0\nq1,b,J2,2\n", set()),
    ],
)
def test_warnings_say_what_is_doubtful(tmp_path: Path, rows: str, codes: set[str]) -> None:
    keys = candidates(*"abcd") if "unjudged-candidates" in codes else {}
    result = analysed(study_in(tmp_path, HEAD + rows, **keys))
    assert {one.code for one in result.warnings} == codes


def test_report_and_summary_name_the_agreement(tmp_path: Path) -> None:
    """The page has judges, pairs, queries, and candidates; analysis.json fits its schema."""
    path = study_in(tmp_path, table(drawn(3).first, 8), title="On <b>")
    result = analysed(path)
    alpha = result.findings.alpha.overall
    assert f"alpha {alpha:.2f}" in result.summary()
    page = result.to_html()
    assert "On &lt;b&gt;" in page
    for title in ("Pairs of judges", "What was judged of each query", "Consensus on each"):
        assert title in page
    assert result.figures() == {}
    assert repr(result) == "<RelevanceResult of made: 40 candidates>"
    for one in (result, analysed(ROOT / "templates/init/relevance/study.yaml")):
        assert not mistakes(json.loads(json_text(one.to_dict())))


def candidates(*ids: str, **more: str) -> dict[str, object]:
    found = [{"problem": "q1", "id": one, **more} for one in ids]
    return {"problems": [{"id": "q1"}], "candidates": found}


QUESTION = {"id": "grade", "about": "task", "kind": "text", "text": "?"}


@pytest.mark.parametrize(
    ("rows", "keys", "message"),
    [
        ("q1,a,J1,3\n", {}, "table.csv:2: grade: 3 is not a whole number from 0 to 2"),
        ("q1,a,J1,-1\n", {}, "grade: -1 is not a whole number from 0 to 2"),
        ("q1,a,J1,1\nq1,a,J1,2\n", {}, ":3: the case 'a' is already listed for the query 'q1' by"),
        ("", {}, "table.csv: has a header and no rows"),
        (GOOD, {"judgments": "no.csv"}, "there is no file 'no.csv'"),
        (GOOD, {"grades": ["One"]}, "needs 2 to 10 labels"),
        (GOOD, {"grades": ["One", "one"]}, "has a label twice"),
        (GOOD, {"judging": {"questions": [QUESTION]}}, "judging.questions has the id 'grade'"),
        ("q1,x,J1,1\n", candidates("a"), "'x' is not a candidate of 'q1'"),
        (GOOD, candidates("a", "a"), "candidates[2].id: 'a' is there twice for 'q1'"),
        (GOOD, candidates("a", "b", case="a"), "candidates: a and b are the same case of the same"),
        (GOOD, candidates("a", problem="q2"), "candidates[1].problem: there is no problem 'q2'"),
    ],
)
def test_mistakes_name_place_and_remedy(
    rows: str, keys: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = study_in(tmp_path, HEAD + rows, **keys)
    with pytest.raises(quem.QuemError) as raised:
        quem.load_study(path, kind="relevance")
    assert message in str(raised.value)


def test_retrievers_are_measured_against_graded_judgments(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    rows = "q1,a,J1,2\nq1,b,J1,1\nq1,c,J1,0\nq2,b,J1,2\nq2,d,J1,0\nq3,a,J1,1\nq3,c,J1,1\n"
    pool = study_in(folder, HEAD + rows)
    (tmp_path / "qrels.txt").write_text(_files(pool)["qrels.txt"])
    run = "query,case,rank\nq1,b,1\nq1,a,2\nq2,d,1\nq2,b,2\nq3,c,1\nq3,d,2\n"
    retrievers = [{"id": "r", "run": "run.csv"}]
    path = write_study(tmp_path, retrievers, {"study": "pool/study.yaml"}, run_csv=run)
    by_study = evaluated(path)
    path = write_study(tmp_path, retrievers, {"qrels": "qrels.txt"}, run_csv=run)
    by_qrels = evaluated(path)
    assert by_study.means.equals(by_qrels.means)
    assert by_study.findings.found.truth.kind == "grades"
