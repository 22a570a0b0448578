"""ProCAKE's page on the evaluation of retrievers, call by call, in memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.studyfile.retrieval import Linear
from tests.retrieval.made import STUDIES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from quem.retrieval.bases import Case

# The page's table: without k, and with k = 2.
PRINTED: dict[str, tuple[float, float | None]] = {
    "hits": (3.0, 1.0),
    "hits_norm": (1.0, 0.5),
    "MAE": (0.0, None),
    "MSE": (0.0, None),
    "quality_stromer": (0.4444, 0.6),
    "quality_mueller": (1.0, 0.85),
    "correctness": (0.3333, None),
    "completeness": (1.0, None),
    "distance": (0.6666, None),
    "kendall": (0.3333, None),
    "spearman": (0.5, None),
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
    table = quem.score(
        {"Example retriever": EXAMPLE},  # addRetrieverToEvaluate
        TRUTH,  # computeGroundTruthSimilarities, setGroundTruthSimilarities
        # addMetricToEvaluate
        [*PRINTED, *(f"{name}@2" for name, (_, k) in PRINTED.items() if k is not None)],
        cases=GRAPHS,  # the train case base
        queries=["G1"],  # the test case base
        out=tmp_path,  # pathGroundTruthSimilarities
    )
    means = table.frame().set_index("measure")["mean"]  # performEvaluation
    for name, (whole, at_two) in PRINTED.items():
        assert means[name] == pytest.approx(whole, abs=1e-4), name
        if at_two is not None:
            assert means[f"{name}@2"] == pytest.approx(at_two), name
    # getMetricResultsAsCSVString, writeMetricResultsAsCSV
    assert "Example retriever" in str(table)
    table.frame().to_csv(tmp_path / "evalResults.csv", index=False)
    # The retrieval time is kept beside the scores.
    (row,) = table.details
    assert dict(row)["ms"] > 0
    assert (tmp_path / "similarities.csv").read_text().splitlines() == [
        "query,case,similarity",
        "G1,G2,0.5",
        "G1,G3,0.3",
        "G1,G4,0.2",
    ]


def test_similarities_are_used_again(tmp_path: Path) -> None:
    """Where retriever, cases and queries are the same, and the file is as it was written."""

    def asked(similar: dict[str, float]) -> int:
        calls: list[int] = []

        def retrieve(_: Case, k: int) -> list[tuple[str, float]]:
            calls.append(k)
            return sorted(similar.items(), key=lambda pair: -pair[1])[:k]

        quem.score([EXAMPLE], retrieve, "nDCG", **GIVEN, out=tmp_path, repeats=2)
        return len(calls)

    first = asked(TRUTH.similarities)
    # A call to warm up, and two rounds tell the time; one more computes the similarities.
    assert first == 4
    assert asked(TRUTH.similarities) == 3
    assert asked({**TRUTH.similarities, "G4": 0.1}) == 4
    assert asked({**TRUTH.similarities, "G4": 0.1}) == 3
    file = tmp_path / "similarities.csv"
    file.write_text(file.read_text().replace("0.1", "0.9"))
    assert asked({**TRUTH.similarities, "G4": 0.1}) == 4
    assert json.loads((tmp_path / "similarities.json").read_text()).keys() == {"inputs", "sha256"}


@pytest.mark.parametrize("stored", [False, True])
def test_mac_fac(stored: bool) -> None:  # noqa: FBT001
    """The FAC retriever is the ground truth; filter sizes and k make pairs, as on the page."""
    one, two = ({"G1": retriever.similarities} for retriever in (EXAMPLE, TRUTH))
    table = quem.score(
        {"mac": one, "fac": two} if stored else {"mac": EXAMPLE, "fac": TRUTH},
        "fac",  # setFacGTRetriever
        ["hits", "correctness"],
        **GIVEN,
        mac_fac=[(1, 1), (2, 2), (3, 2)],  # setFilterSizes, setKs
    )
    (section,) = [one for one in table.sections if one.id == "mac-fac"]
    # Of G2 and G4, which pass a filter of 2, G2 alone is among the two best.
    assert [row[:3] for row in section.tables[0].rows] == [
        ("1", "1", "1.000"),
        ("2", "2", "1.000"),
        ("3", "2", "2"),
    ]
    assert "MAC/FAC: mac, then fac" in str(table)
    assert ({row[4] for row in section.tables[0].rows} == {"–"}) == stored


def test_runs_and_retrievers_beside_each_other() -> None:
    """Lists of a file or a dict are scored with those of a function; judgments are a truth too."""
    run = pd.read_csv(STUDIES / "procake-example/results.csv")
    systems = {"stored": run, "two": lambda _: {"G2": 0.5, "G4": 0.3}}
    assert quem.score(systems, TRUTH, "nDCG hits@2", **GIVEN).means.mean[:, 1].tolist() == [1, 1]
    judged = quem.score({"two": TRUTH}, {"G1": {"G3": 1}}, "RR", **GIVEN)
    assert judged.means.mean.tolist() == [[0.5]]


def test_a_file_of_cases_and_queries_in_memory(tmp_path: Path) -> None:
    """An attribute has one type in both."""
    cases = tmp_path / "cases.csv"
    cases.write_text("id,x\na,1\nb,2\nc,3\n", encoding="utf-8")
    queries = pd.DataFrame({"x": [1.2, 2.9]}, index=["q1", "q2"])
    table = quem.score({"near": near}, Linear(), "kendall", cases=cases, queries=queries, repeats=1)
    assert table.queries == ("q1", "q2")
    assert table.values.ravel().tolist() == [1, 1]


def test_each_case_in_turn_is_a_query() -> None:
    """Without queries; what a retriever may search lacks the query."""
    cases = {name: {"x": float(at)} for at, name in enumerate(GRAPHS)}
    systems = {"first": lambda _: {"G2": 1.0}, "near": near}
    table = quem.score(systems, near, "hits_norm@1", cases=cases)
    assert table.systems == ("first",)
    assert table.queries == ("G2", "G3", "G4")
    assert table.values[0, :, 0].tolist() == [0, 0.5, 0]


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
    """What is wrong is named by its argument."""
    arguments = {"truth": TRUTH, "measures": "nDCG", **GIVEN, **given}
    with pytest.raises(quem.QuemError) as caught:
        quem.score({"example": EXAMPLE}, **arguments)
    assert message in str(caught.value)
