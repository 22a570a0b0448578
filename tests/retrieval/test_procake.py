"""ProCAKE's page on the evaluation of retrievers, in memory and as a study; and the bicycles."""

from __future__ import annotations

import math
import re
import runpy
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.studyfile.retrieval import Linear
from tests.docs.pages import table_rows
from tests.retrieval.made import STUDIES, evaluated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from quem.retrieval.bases import Case

PROCAKE = STUDIES / "procake-example"
NAMES = {
    "hits normalized": "hits_norm",
    "MAE by case": "MAE(by=case)",
    "MSE by case": "MSE(by=case)",
    "quality (Stromer)": "quality_stromer",
    "quality (Mueller)": "quality_mueller",
    "Kendall": "kendall",
    "Spearman": "spearman",
}
GRAPHS = ["G2", "G3", "G4"]


class LinearRetriever:
    """Knows how similar each case is to the page's query."""

    def __init__(self, similarities: dict[str, float]) -> None:
        self.similarities = similarities

    def search(self, query: Case, k: int, cases: Mapping[str, Any]) -> list[tuple[str, float]]:
        assert query.id == "G1"
        found = [(case, self.similarities[case]) for case in cases]
        return sorted(found, key=lambda pair: -pair[1])[:k]


# The page's ground truth, and the retriever that it evaluates.
TRUTH = LinearRetriever({"G2": 0.5, "G3": 0.3, "G4": 0.2})
EXAMPLE = LinearRetriever({"G2": 0.5, "G3": 0.2, "G4": 0.3})
GIVEN: dict[str, Any] = {"cases": GRAPHS, "queries": ["G1"]}


def near(query: Case, k: int, cases: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The cases whose x is nearest; never the query."""
    assert query.id not in cases
    pairs = [(name, 1 / (1 + abs(case["x"] - query["x"]))) for name, case in cases.items()]
    return sorted(pairs, key=lambda pair: -pair[1])[:k]


def test_the_walk(tmp_path: Path) -> None:
    """Each call of the page has its place in one call of `quem.score`."""
    study = evaluated(PROCAKE / "study.yaml").means
    measures = [name for name in study["measure"] if "by=case" not in name]
    study = study[study["measure"].isin(measures)]
    table = quem.score(
        {"Example retriever": EXAMPLE},  # addRetrieverToEvaluate
        TRUTH,  # computeGroundTruthSimilarities, setGroundTruthSimilarities
        measures,  # addMetricToEvaluate
        cases=GRAPHS,  # the train case base
        queries=["G1"],  # the test case base
        out=tmp_path,  # pathGroundTruthSimilarities
    )
    means = table.frame().set_index("measure")["mean"]  # performEvaluation
    assert means.to_dict() == pytest.approx(study.set_index("measure")["mean"].to_dict())
    assert "Example retriever" in str(table)  # getMetricResultsAsCSVString
    # The retrieval time is kept beside the scores.
    (row,) = table.details
    assert dict(row)["ms"] > 0
    written = (tmp_path / "similarities.csv").read_text().split()
    assert written == ["query,case,similarity", "G1,G2,0.5", "G1,G3,0.3", "G1,G4,0.2"]


def test_similarities_are_used_again(tmp_path: Path) -> None:
    """Where retriever, cases and queries are the same, and the file is as it was written."""

    def asked(similar: dict[str, float]) -> int:
        calls: list[int] = []

        def retrieve(_: Case, k: int) -> list[tuple[str, float]]:
            calls.append(k)
            return sorted(similar.items(), key=lambda pair: -pair[1])[:k]

        quem.score([EXAMPLE], retrieve, "nDCG", **GIVEN, out=tmp_path, repeats=2)
        return len(calls)

    other = {**TRUTH.similarities, "G4": 0.1}
    # A call to warm up, and two rounds tell the time; one more computes the similarities.
    computed = [asked(one) for one in (TRUTH.similarities, TRUTH.similarities, other, other)]
    assert computed == [4, 3, 4, 3]
    file = tmp_path / "similarities.csv"
    file.write_text(file.read_text().replace("0.1", "0.9"))
    assert asked(other) == 4


@pytest.mark.parametrize("stored", [False, True])
def test_mac_fac(stored: bool) -> None:  # noqa: FBT001
    """The FAC retriever is the ground truth; filter sizes and k make pairs, as on the page."""
    two: list[Any] = [EXAMPLE, TRUTH]
    given = [{"G1": one.similarities} for one in two] if stored else two
    pairs = [(1, 1), (2, 2), (3, 2)]  # setFilterSizes, setKs; setFacGTRetriever is "fac"
    systems = dict(zip(("mac", "fac"), given, strict=True))
    table = quem.score(systems, "fac", ["hits", "correctness"], **GIVEN, mac_fac=pairs)
    (section,) = [one for one in table.sections if one.id == "mac-fac"]
    rows = section.tables[0].rows
    # Of G2 and G4, which pass a filter of 2, G2 alone is among the two best.
    assert [row[:3] for row in rows] == [("1", "1", "1.000"), ("2", "2", "1.000"), ("3", "2", "2")]
    assert ({row[4] for row in rows} == {"–"}) == stored


def test_runs_and_retrievers_beside_each_other() -> None:
    """Lists of a file or a dict are scored with those of a function; judgments are a truth too."""
    run = pd.read_csv(PROCAKE / "results.csv")
    systems = {"stored": run, "two": lambda _: {"G2": 0.5, "G4": 0.3}}
    assert quem.score(systems, TRUTH, "nDCG hits@2", **GIVEN).means.mean[:, 1].tolist() == [1, 1]
    judged = quem.score({"two": TRUTH}, {"G1": {"G3": 1}}, "RR", **GIVEN)
    assert judged.means.mean.tolist() == [[0.5]]


def test_each_case_in_turn_is_a_query() -> None:
    """Without queries; what a retriever may search lacks the query."""
    cases = {name: {"x": float(at)} for at, name in enumerate(GRAPHS)}
    systems = {"first": lambda _: {"G2": 1.0}, "near": near}
    table = quem.score(systems, near, "hits_norm@1", cases=cases)
    assert table.systems == ("first",)
    assert table.queries == ("G2", "G3", "G4")
    assert table.values[0, :, 0].tolist() == [0, 0.5, 0]
    same = quem.score({"near": near}, Linear(), "kendall", cases=cases)
    assert same.values.tolist() == [[[1], [0], [1]]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cases": None}, "cases: is missing"),
        ({"cases": {}}, "cases: is empty"),
        ({"cases": {"a": 3}}, "cases: 'a': should be a dict of attributes, and not 3"),
        ({"cases": [{"id": "a"}, {"id": "a"}]}, "cases: 'a': duplicate id 'a'; give each its own"),
        ({"cases": [{"x": 1}]}, "is empty; add the id"),
        ({"truth": "exampel"}, "truth: there is no retriever 'exampel'; did you mean example?"),
        ({"truth": {"q9": {"G2": 1}}}, "has none of the queries of queries, such as 'G1'"),
        ({"mac_fac": [(9, 1)]}, "mac_fac.filters: a filter of 9 is larger than the 3 cases"),
        ({"truth": {"G1": {"G2": 1}}, "mac_fac": [(1, 1)]}, "mac_fac: needs two retrievers"),
        ({"measures": "nope"}, "there is no measure 'nope'"),
    ],
)
def test_mistakes(given: dict[str, Any], message: str) -> None:
    arguments = {"truth": TRUTH, "measures": "nDCG", **GIVEN, **given}
    with pytest.raises(quem.QuemError) as caught:
        quem.score({"example": EXAMPLE}, **arguments)
    assert message in str(caught.value)


def test_procake_readme_prints_it() -> None:
    """Each row of the README has the computed numbers, rounded; the page printed the same."""
    table = evaluated(PROCAKE / "study.yaml").means
    means = table[table["system"] == "results"].set_index("measure")["mean"].to_dict()
    text = (PROCAKE / "README.md").read_text("utf-8")
    rows = [row for row in table_rows(text) if len(row) == 5]
    checked = 0
    for row in rows[1:]:
        cells = [cell.strip() for cell in row]
        name = NAMES.get(cells[0], cells[0])
        for printed, cell, key in ((*cells[1:3], name), (*cells[3:5], f"{name}@2")):
            if re.fullmatch(r"[\d.]+", printed):
                assert means[key] == pytest.approx(float(printed), abs=1e-4), key
            if re.fullmatch(r"[\d.]+", cell):
                digits = len(cell.partition(".")[2])
                assert f"{means[key]:.{digits}f}" == cell, key
                checked += 1
            else:
                assert math.isnan(means.get(key, math.nan)), key
    assert checked == 17


def test_bicycles_are_those_of_the_script(tmp_path: Path) -> None:
    script = tmp_path / "generate.py"
    script.write_text((STUDIES / "bicycles/generate.py").read_text("utf-8"), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    for name in ("bicycles.csv", "wishes.csv"):
        assert (tmp_path / name).read_text("utf-8") == (STUDIES / "bicycles" / name).read_text()
