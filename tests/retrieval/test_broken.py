"""Retrievers that break their promise, and files that are wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.patience import SECONDS
from tests.retrieval.made import codes, evaluated, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

ALL: dict[str, Any] = {"id": "all", "linear": {}}
BROKEN = {
    "raise KeyError('boom')": "raised KeyError: 'boom' (bad.py:2)",
    "return 1 / 0 if query.id == 'q2' else [('a', 1)]": "raised ZeroDivisionError",
    "return [('zzz', 1)]": "gave the unknown case 'zzz'",
    "return [('a', 1), ('a', .5)]": "gave the case 'a' twice",
    "return [('a', float('nan'))]": "gave nan as the similarity of 'a'",
    "return [('a', .1), ('b', .5)]": "not sorted: a with 0.1 before b with 0.5",
    "return None": "gave None, where a list of pairs",
    "return ['ab']": "gave 'ab', where a pair",
    "return [('a', '0.5')]": "gave '0.5' as the similarity of 'a', which is not a number",
    "return [(1, .5)]": "gave 1 as a case, where an id (a text) should be",
    "return [([], .5)]": "gave [] as a case, where an id (a text) should be",
    "raise SystemExit(3)": "raised SystemExit: 3",
    "yield 'a', 1\n    raise ValueError('late')": "raised ValueError: late (bad.py:3)",
}


@pytest.mark.parametrize(("code", "reason"), BROKEN.items(), ids=list(BROKEN.values()))
def test_broken_retriever_is_reported_and_others_stand(
    tmp_path: Path, code: str, reason: str
) -> None:
    """It is named with its query and reason, has no score there, and the other keeps its own."""
    retrievers = [ALL, {"id": "bad", "python": "bad:retrieve"}, {"id": "ok", "linear": {}}]
    path = write_study(tmp_path, retrievers, "all", bad_py=f"def retrieve(query, k):\n    {code}\n")
    result = evaluated(path, measures=["hits_norm@2"])
    message = codes(result)["retriever-failed"]
    assert reason in message
    assert "the retriever 'bad' gave no list for" in message
    assert "'q2'" in message
    failures = result.table("failures").set_index(["retriever", "query"])["reason"]
    assert reason in failures["bad", "q2"]
    assert result.means.set_index("system")["mean"]["ok"] == 1.0


def test_a_retriever_can_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it does to its query or cases stays with it; what it prints goes to stderr."""
    code = (
        "def retrieve(query, k, cases):\n    print('noise')\n    query.clear()\n"
        "    for case in cases.values():\n        case.clear()\n    cases.popitem()\n"
        "    return []\n"
        "def reads(query, k, cases):\n    return [(c, float(case['x'])) for c, case in "
        "sorted(cases.items(), key=lambda p: -p[1]['x'])][:k]\n"
    )
    retrievers = [ALL, {"id": "bad", "python": "bad:retrieve"}, {"id": "ok", "python": "bad:reads"}]
    result = evaluated(
        write_study(tmp_path, retrievers, "all", bad_py=code), measures=["hits_norm@4"]
    )
    assert result.means["mean"].tolist()[-1] == 1.0
    caught = capsys.readouterr()
    assert caught.out == ""
    assert "noise" in caught.err


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no such module": (
        {"retrievers": [ALL, {"id": "x", "python": "nowhere:r"}]},
        "study.yaml:8:11: retrievers[2].python: there is no file nowhere.py in the study's folder",
    ),
    "no such callable": (
        {"retrievers": [ALL, {"id": "x", "python": "mine:retreive"}], "mine_py": "retrieve = max"},
        "mine.py has no 'retreive'; did you mean retrieve?",
    ),
    "no entry": ({"retrievers": [ALL, {"id": "x", "python": "mine"}]}, "'mine' does not name"),
    "two sources": (
        {"retrievers": [{"id": "x", "linear": {}, "run": "r.txt"}]},
        "retrievers[1]: should have one of linear, python, similarities, or run, and not both",
    ),
    "no retriever": ({"retrievers": []}, "retrievers: name one retriever at least"),
    "same id": ({"retrievers": [ALL, ALL]}, "the id 'all' is already used; give each retriever"),
    "unknown truth": ({"ground_truth": "al"}, "there is no retriever 'al'; did you mean all?"),
    "truth is a file": (
        {"ground_truth": "truth.csv"},
        "there is no retriever 'truth.csv'; name a file as in {similarities: truth.csv}",
    ),
    "unknown measure": (
        {"analysis": {"measures": ["nDGC@3"]}},
        "analysis.measures[1]: there is no measure 'nDGC@3'; did you mean nDCG?",
    ),
    "claim": (
        {
            "retrievers": [ALL, {"id": "x", "python": "mine:r"}],
            "analysis": {"claims": ["x > ally"], "samples": 9},
            "mine_py": "def r(query, k): raise SystemExit",
        },
        "analysis.claims: there is no retriever 'ally'",
    ),
    "no cases": ({"cases": None}, "cases: is missing: the retriever 'all' needs the cases"),
    "no queries": ({"queries": None}, "queries: is missing: name the file of the queries"),
    "file of cases": ({"cases": "case.csv"}, "case.csv: file not found"),
    "column of ids": (
        {"cases": {"file": "cases.csv", "id": "name"}},
        "cases.csv:1: column 'name' with the ids of the case base not found",
    ),
    "ids twice": (
        {"cases_csv": "id,x\na,1\nb,2\na,3\n"},
        "cases.csv:4:1: id: duplicate id 'a'; line 2 has it too",
    ),
    "no id": ({"cases_csv": "id,x\n,1\nb,2\n"}, "cases.csv:2:1: id: is empty; add the id"),
    "no lines": ({"cases_csv": "id,x\n"}, "cases.csv: holds no line below the header"),
    "attribute": (
        {"retrievers": [{"id": "all", "linear": {"attributes": [{"name": "knd"}]}}]},
        "retrievers[1].linear.attributes[1].name: cases.csv has no attribute 'knd'; did you mean",
    ),
    "numeric": (
        {
            "retrievers": [
                {"id": "all", "linear": {"attributes": [{"name": "kind", "type": "numeric"}]}}
            ]
        },
        "'kind' has the value 'p', which is not a number ('a' in cases.csv)",
    ),
    "range": (
        {"retrievers": [{"id": "all", "linear": {"attributes": [{"name": "x", "range": [3, 1]}]}}]},
        "the range should go from a lower to a higher number",
    ),
    "pairs": (
        {"mac_fac": {"mac": "all", "fac": "all", "filters": [1, 2, 3], "k": [1, 2]}},
        "filters and k make pairs, and there are 3 filters and 2 k",
    ),
    "fac": (
        {
            "retrievers": [ALL, {"id": "x", "python": "mine:r"}],
            "mac_fac": {"mac": "all", "fac": "x", "filters": 2, "k": 1},
            "mine_py": "def r(query, k): return []",
        },
        "mac_fac.fac: 'x' cannot search what the first phase kept; let it take the cases",
    ),
    "json": (
        {"cases": "c.json", "c_json": '[{"id": 1}, {"ix": 2}]'},
        "c.json:1: id: is empty; add the id",
    ),
    "infinite": (
        {"cases_csv": "id,x,kind\na,1,p\nb,inf,q\nc,3,p\n"},
        "cases.csv:3:2: x: 'inf' is not a finite number; correct it, leave the cell empty if",
    ),
    "overflow": (
        {"queries_csv": "id,x,kind\nq1,1e999,p\nq2,3,q\n"},
        "queries.csv:2:2: x: '1e999' is not a finite number",
    ),
    "json overflow": (
        {"cases": "c.json", "c_json": '[{"id": 1, "x": 2}, {"id": 2, "x": 1' + "0" * 400 + "}]"},
        "c.json:1: x: '1000",
    ),
    "solution": (
        {"cases": {"file": "cases.csv", "solution": "kinds"}},
        "study.yaml:4:13: cases.solution: cases.csv has no column 'kinds'; did you mean kind?",
    ),
    "two roles": (
        {"cases": {"file": "cases.csv", "solution": "kind", "ignore": ["x", "kind"]}},
        "cases: the column 'kind' is both solution and ignored; name it once",
    ),
    "ignored": (
        {
            "cases": {"file": "cases.csv", "ignore": "x"},
            "retrievers": [{"id": "all", "linear": {"attributes": [{"name": "x"}]}}],
        },
        "attributes[1].name: 'x' is ignored (cases.ignore); compare it or ignore it",
    ),
    "no json": ({"cases": "c.json", "c_json": "[{]"}, "c.json:1:3: is not valid JSON"),
}


@pytest.mark.parametrize(("changed", "message"), MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes_are_named(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    """Each with its place and its remedy."""
    keys = {"retrievers": [ALL], "ground_truth": "all", **changed}
    path = write_study(tmp_path, keys.pop("retrievers"), keys.pop("ground_truth"), **keys)
    assert message in mistakes(path)


TABLES = {
    "query,case,similarity\nq1,a,1\nq1,a,.5\n": "t.csv:3: the case 'a' is already listed for the "
    "query 'q1', on line 2",
    "query,case,similarity\nq1,a,1\nq1,z,.5\n": "t.csv:3: case: unknown case 'z' of the query "
    "'q1'; add it to",
    "query,case,similarity\nq1,a,nan\n": "t.csv:2: score: 'nan' is not a finite number",
    "query,case,similarity\nq1,a,\n": "t.csv:2: score: '' is not a finite number",
    "query,case,similarity\nq9,a,1\n": "t.csv: has none of the queries of queries.csv",
    "query,case,similarity\n": "t.csv: has a header and no rows",
    "query,a,a\nq1,1,2\n": "t.csv:1:3: a: duplicate column",
    "query,a,b\nq1,1,x\n": "t.csv:2: similarity: 'x' is not a finite number",
    "query,a,b\nq1,,\n": "t.csv: holds no similarity below the header",
    "": "t.csv: is empty",
}


@pytest.mark.parametrize(("text", "message"), TABLES.items(), ids=list(TABLES.values()))
def test_wrong_tables_are_named(tmp_path: Path, text: str, message: str) -> None:
    """With file and line."""
    path = write_study(tmp_path, [ALL], {"similarities": "t.csv"}, t_csv=text)
    assert message in mistakes(path)


@pytest.mark.parametrize("square", [True, False])
def test_tables_of_similarities(tmp_path: Path, square: bool) -> None:  # noqa: FBT001
    """Long or square, with semicolons, CRLF and BOM: the same lists."""
    long = "\ufeffSimilarity;Query;Case\r\n0.5;q1;a\r\n0.25;q1;b\r\n1;q2;b\r\n0;q3;a\r\n"
    text = "query\ta\tb\nq1\t0.5\t0.25\nq2\t\t1\nq3\t0\t\n" if square else long
    retrievers = [ALL, {"id": "t", "similarities": "t.csv"}]
    result = evaluated(write_study(tmp_path, retrievers, "all", t_csv=text))
    lists = result.findings.found.runs["t"].lists
    assert lists.case.tolist() == [0, 1, 1, 0]
    assert lists.similarity.tolist() == [0.5, 0.25, 1.0, 0.0]


def test_doubtful_lists_are_told(tmp_path: Path) -> None:
    """Lists for other queries, none for one, and a run without its tag."""
    run = "q1 Q0 a 1 0.5\nq1 Q0 b 2 0.4\nq9 Q0 a 1 1\nq2 Q0 a 1 1\n"
    path = write_study(tmp_path, [ALL, {"id": "r", "run": "r.txt"}], "all", r_txt=run)
    messages = codes(evaluated(path))
    assert "has no list for the query 'q3'" in messages["no-list"]
    assert "for the query 'q9', which" in messages["unknown-query"]
    assert "r.txt: its lines have 5 words" in messages["no-tag"]


def test_other_doubts_are_told(tmp_path: Path) -> None:
    """Ids of cases, a query without truth, similarities beyond 1."""
    path = write_study(
        tmp_path,
        [ALL],
        {"similarities": "t.csv"},
        queries_csv="id,x,kind\na,1,p\nq2,2,p\n",
        t_csv="query,case,similarity\na,b,7\na,c,3\n",
        mac_fac={"mac": "all", "fac": "all", "filters": 2, "k": 3},
        analysis={"measures": "hits_norm@9"},
    )
    messages = codes(evaluated(path))
    assert messages.keys() == {
        "query-is-case",
        "no-ground-truth",
        "similarity-range",
    }
    assert "from 3 to 7" in messages["similarity-range"]


SWALLOWS = """
import time
def once(query, k):
    print("asked", flush=True)
    try:
        time.sleep(600)
    except BaseException:
        pass
    return [("a", 1)]
def never(query, k):
    print("asked", flush=True)
    while True:
        try:
            time.sleep(600)
        except BaseException:
            print("no", flush=True)
"""


@pytest.mark.parametrize(("name", "presses"), [("once", 1), ("never", 2)])
def test_interrupt_ends_what_swallows_it(tmp_path: Path, name: str, presses: int) -> None:
    """One Ctrl-C ends a retriever that swallows it; a second one that never returns."""
    retrievers = [ALL, {"id": "x", "python": f"mine:{name}"}]
    path = write_study(tmp_path, retrievers, "all", mine_py=SWALLOWS)
    command = [sys.executable, "-m", "quem", "analyze", str(path)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        for word in ("asked", "no")[:presses]:
            for line in run.stderr:
                if line.startswith(word):
                    break
            run.send_signal(signal.SIGINT)
        assert run.wait(timeout=SECONDS) in (130, -signal.SIGINT)
    assert not (tmp_path / "study-report").exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "class R:\n    def __init__(self, cases):\n        raise OSError('no index')\n",
            "retrievers[2].python: mine:R (mine.py) raised OSError: no index (mine.py:3)",
        ),
        ("def R(:\n", "retrievers[2].python: mine:R cannot be loaded: it raised SyntaxError"),
        ("class R:\n    def __init__(self, cases): pass\n", "is a class without a method `retr"),
    ],
)
def test_retriever_that_cannot_be_made_is_refused(tmp_path: Path, code: str, message: str) -> None:
    """By raising when its module is loaded, or when it is made of the cases."""
    retrievers = [ALL, {"id": "x", "python": "mine:R"}, {"id": "ok", "linear": {}}]
    assert message in mistakes(write_study(tmp_path, retrievers, "all", mine_py=code))


def test_lists_that_differ_are_told(tmp_path: Path) -> None:
    """A retriever that gives another list each time is unstable."""
    code = "n = [0]\ndef r(query, k):\n    n[0] += 1\n    return [('ab'[n[0] % 2], 1)]\n"
    path = write_study(tmp_path, [ALL, {"id": "bad", "python": "bad:r"}], "all", bad_py=code)
    assert "'bad' returned different lists" in codes(evaluated(path))["unstable-retriever"]
