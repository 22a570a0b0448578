"""Studies of retrievers that are wrong: each is refused with its place and its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.retrieval.made import STUDIES, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

Keys = dict[str, Any]
ALL: Keys = {"id": "all", "linear": {}}
X: Keys = {"id": "x", "linear": {"attributes": [{"name": "x"}]}}


def own(entry: str, code: str = "", **keys: Any) -> Keys:  # noqa: ANN401  keys of the study
    return {"retrievers": [ALL, {"id": "x", "python": entry}], "mine_py": code, **keys}


def linear(**attribute: object) -> Keys:
    return {"retrievers": [{"id": "all", "linear": {"attributes": [attribute]}}]}


def truth(rows: str, head: str = "query,case,similarity") -> Keys:
    return {"ground_truth": {"similarities": "t.csv"}, "t_csv": f"{head}\n{rows}"}


def judged(rows: str, head: str = "query,case,judge,grade", **keys: str) -> Keys:
    return {"ground_truth": {"judgments": "j.csv", **keys}, "j_csv": f"{head}\n{rows}"}


def filters(mac: str = "x", fac: str = "all", **numbers: int | list[int]) -> Keys:
    return {"retrievers": [ALL, X], "mac_fac": {"mac": mac, "fac": fac, **numbers}}


def ordered(*lines: str) -> Keys:
    return {
        "retrievers": [{"id": "order", "run": "o.csv"}],
        "ground_truth": {"study": "p3/study.yaml"},
        "o_csv": "\n".join(("query,rank,case", *lines)),
        "cases": None,
        "queries": None,
    }


CLASS = "class R:\n    def __init__(self, cases): "
REFUSED: list[tuple[Keys, str]] = [
    # The study file
    (own("nowhere:r"), "study.yaml:8:11: retrievers[2].python: there is no file nowhere.py"),
    (own("mine:retreive", "retrieve = max"), "mine.py has no 'retreive'; did you mean retrieve?"),
    (own("mine:R", f"{CLASS}raise OSError"), "retrievers[2].python: mine:R (mine.py) raised OSErr"),
    (
        own("mine:R", "def R(:\n"),
        "retrievers[2].python: mine:R cannot be loaded: it raised SyntaxE",
    ),
    (own("mine:R", f"{CLASS}pass\n"), "is a class without a method `retr"),
    ({"retrievers": [{**ALL, "run": "r.txt"}]}, "retrievers[1]: should have one of linear, python"),
    ({"retrievers": []}, "retrievers: name one retriever at least"),
    ({"retrievers": [ALL, ALL]}, "the id 'all' is already used"),
    ({"ground_truth": "al"}, "there is no retriever 'al'; did you mean all?"),
    ({"ground_truth": "truth.csv"}, "there is no retriever 'truth.csv'; name a file as in"),
    ({"analysis": {"measures": ["nDGC@3"]}}, "analysis.measures[1]: there is no measure 'nDGC@3'"),
    ({"analysis": {"headline": "AP"}}, "headline: is not a setting any longer"),
    ({"analysis": {"ties": "id"}}, "id is now trec"),
    (
        own("mine:r", "def r(query, k): exit()", analysis={"claims": ["x > ally"], "samples": 9}),
        "analysis.claims: there is no retriever 'ally'",
    ),
    ({"cases": None}, "cases: is missing: the retriever 'all' needs the cases"),
    ({"queries": None}, "queries: is missing: name the file of the queries"),
    (linear(name="knd"), "retrievers[1].linear.attributes[1].name: cases.csv has no attribute 'kn"),
    (linear(name="kind", type="numeric"), "'kind' has the value 'p', which is not a number"),
    (linear(name="x", range=[3, 1]), "the range should go from a lower to a higher number"),
    ({"cases": {"file": "cases.csv", "solution": "kinds"}}, "study.yaml:4:13: cases.solution: cas"),
    (
        {"cases": {"file": "cases.csv", "solution": "kind", "ignore": ["x", "kind"]}},
        "cases: the column 'kind' is both solution and ignored",
    ),
    (
        {"cases": {"file": "cases.csv", "ignore": "x"}, **linear(name="x")},
        "attributes[1].name: 'x' is ignored (cases.ignore)",
    ),
    # MAC/FAC
    (filters(filters=[1, 2, 3], k=[1, 2]), "filters and k make pairs, and there are 3 filters and"),
    (filters(filters=[2, 5], k=2), "mac_fac.filters[2]: a filter of 5 is larger than the 4 cases"),
    ({**filters(filters=4, k=2), "queries": "leave-one-out"}, "mac_fac.filters: a filter of 4 is"),
    (
        {**filters("all", "x", filters=2, k=1), **own("mine:r", "def r(query, k): return []")},
        "mac_fac.fac: 'x' cannot search what the first phase kept",
    ),
    # Cases and queries
    ({"cases": "case.csv"}, "case.csv: file not found"),
    ({"cases": {"file": "cases.csv", "id": "name"}}, "cases.csv:1: column 'name' with the ids"),
    ({"cases_csv": "id,x\na,1\nb,2\na,3\n"}, "cases.csv:4:1: id: duplicate id 'a'; line 2 has it"),
    ({"cases_csv": "id,x\n"}, "cases.csv: holds no line below the header"),
    ({"cases_csv": "id,x\na,1\nb,inf\n"}, "cases.csv:3:2: x: 'inf' is not a finite number"),
    ({"queries_csv": "id,x\nq1,1e999\nq2,3\n"}, "queries.csv:2:2: x: '1e999' is not a finite numb"),
    ({"cases": "c.json", "c_json": '[{"id": 1}, {"ix": 2}]'}, "c.json:1: id: is empty"),
    ({"cases": "c.json", "c_json": f'[{{"id": 1, "x": 1{"0" * 400}}}]'}, "c.json:1: x: '1000"),
    ({"cases": "c.json", "c_json": "[{]"}, "c.json:1:3: is not valid JSON"),
    # Similarities
    (truth("q1,a,1\nq1,a,.5\n"), "t.csv:3: the case 'a' is already listed for the query 'q1', on"),
    (truth("q1,a,1\nq1,z,.5\n"), "t.csv:3: case: unknown case 'z' of the query 'q1'"),
    (truth("q9,a,1\n"), "t.csv: has none of the queries of queries.csv"),
    (truth("q1,1,2\n", "query,a,a"), "t.csv:1:3: a: duplicate column"),
    (truth("q1,1,x\n", "query,a,b"), "t.csv:2: similarity: 'x' is not a finite number"),
    (truth("q1,,\n", "query,a,b"), "t.csv: holds no similarity below the header"),
    # Judgments
    (judged("q1,a,J,2\nq1,b,J,1\nq1,a,J,0\n"), "j.csv:4: the case 'a' is already listed for the q"),
    (judged("q1,a,J,good\n"), "j.csv:2: grade: 'good' is not a finite number"),
    (judged("q1,a,2\n", "query,case,grade"), "j.csv: has no column of judges"),
    (judged("q1,a,J,2\n", consensus="mean"), "consensus: is not a setting any"),
    (judged("q1,a,J,2\n", qrels="a.txt"), "not both qrels and judgments"),
    # Judges of another study
    (ordered("P1,1,S1", "P1,2,S11"), "o.csv:3: case: unknown case 'S11' of the query 'P1'; did yo"),
    (
        {**ordered("P1,1,S1"), "ground_truth": {"study": "p3/averages.yaml"}},
        "p3/averages.yaml:21:11: rankings: the order on each problem needs the rankings",
    ),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(tmp_path: Path, changed: Keys, message: str) -> None:
    (tmp_path / "p3").symlink_to(STUDIES / "p3-1997", target_is_directory=True)
    keys = {"retrievers": [ALL], "ground_truth": "all", **changed}
    path = write_study(tmp_path, keys.pop("retrievers"), keys.pop("ground_truth"), **keys)
    assert message in mistakes(path)
