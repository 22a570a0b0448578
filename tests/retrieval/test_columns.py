"""What columns hold, and which of them are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import quem
from quem.retrieval.analysis import check_retrieval
from tests.retrieval.made import CASES, QUERIES, codes, evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.errors import StudyWarning

ALL: dict[str, Any] = {"id": "all", "linear": {}}


def checked(path: Path) -> tuple[StudyWarning, ...]:
    """What is doubtful before anything is run."""
    return check_retrieval(quem.load_study(path, kind="retrieval"))


def test_one_typo_is_told(tmp_path: Path) -> None:
    """With file, line and value, in queries too; a column declared categorical is left alone."""
    typo = CASES.replace("c,3,p", "c,12.5x,p")
    for text, message in (
        ({"cases_csv": typo}, "cases.csv:4:2: x: '12.5x' is not a number, so the whole column"),
        ({"queries_csv": QUERIES.replace("3,q", "3 kg,q")}, "queries.csv:3:2: x: '3 kg' is not"),
        (
            {"cases": "c.json", "c_json": '[{"id":"a","x":1},{"id":"b","x":"2y"}]'},
            "c.json:1: x: '2y'",
        ),
    ):
        path = write_study(tmp_path, [ALL], "all", **text)
        assert message in {d.code: d.message for d in checked(path)}["nearly-numeric"]
    words = {"attributes": [{"name": "x", "type": "categorical"}, {"name": "kind"}]}
    path = write_study(tmp_path, [{"id": "all", "linear": words}], "all", cases_csv=typo)
    assert "nearly-numeric" not in {d.code for d in checked(path)}


SEES = """
seen = []
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
    path = write_study(tmp_path, retrievers, "truth", cases=cases, **keys)
    result = evaluated(path, repeats=1)
    assert result.findings.study.data.task.cases.problem == ("x",)
    lists = {name: run.lists for name, run in result.findings.found.runs.items()}
    # By x alone: of c0 the nearest are c1, c2, ...
    assert lists["all"].of(0)[0].tolist() == [1, 2, 3, 4, 5]
    assert lists["asked"].of(0)[0].tolist() == [2, 4, 1, 3, 5]
    messages = codes(result)
    assert "retriever-failed" not in messages
    assert messages["outcome-compared"].startswith(
        "the retriever 'asked' compares 'kind', the solution"
    )
    named = base.replace("kind", "Class")
    path = write_study(
        tmp_path, [ALL, ALL | {"id": "b"}], "b", queries="leave-one-out", cases_csv=named
    )
    warned = [d.message for d in checked(path) if d.code == "outcome-compared"]
    assert [message.split(",")[0] for message in warned] == [
        "the retriever 'all' compares 'Class'",
        "the retriever 'b' compares 'Class'",
    ]
