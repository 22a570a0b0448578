"""Retrievers that break their promise, and lists that are doubtful."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.patience import SECONDS
from tests.retrieval.made import codes, evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

ALL: dict[str, Any] = {"id": "all", "linear": {}}
BROKEN = {
    "raise KeyError('boom')": r"raised KeyError: 'boom' \(bad.py:2\)",
    "return 1 / 0 if query.id == 'q2' else [('a', 1)]": "raised ZeroDivisionError",
    "return [('zzz', 1)]": "gave the unknown case 'zzz'",
    "return [('a', 1), ('a', .5)]": "gave the case 'a' twice",
    "return [('a', float('nan'))]": "gave nan as the similarity of 'a'",
    "return [('a', .1), ('b', .5)]": "not sorted: a with 0.1 before b with 0.5",
    "return None": "gave None, where a list of pairs",
    "return ['ab']": "gave 'ab', where a pair",
    "return [('a', '0.5')]": "gave '0.5' as the similarity of 'a'",
    "return [(1, .5)]": "gave 1 as a case, where an id",
    "return [([], .5)]": r"gave \[\] as a case, where an id",
    "raise SystemExit(3)": "raised SystemExit: 3",
    "yield 'a', 1\n    raise ValueError('late')": "raised ValueError: late",
}


def test_broken_retrievers_are_reported_and_others_stand(tmp_path: Path) -> None:
    """Each is named with its query and reason, has no score there, and another keeps its own."""
    code = "".join(f"def r{n}(query, k):\n    {body}\n" for n, body in enumerate(BROKEN))
    bad = [{"id": f"bad{n}", "python": f"bad:r{n}"} for n in range(len(BROKEN))]
    path = write_study(tmp_path, [ALL, *bad, {"id": "ok", "linear": {}}], "all", bad_py=code)
    result = evaluated(path, measures=["hits_norm@2"])
    failures = result.table("failures").set_index(["retriever", "query"])["reason"]
    for n, reason in enumerate(BROKEN.values()):
        assert re.search(reason, failures[f"bad{n}", "q2"])
    messages = [one.message for one in result.warnings if one.code == "retriever-failed"]
    assert len(messages) == len(BROKEN)
    assert "the retriever 'bad1' gave no list for" in messages[1]
    assert "'q2'" in messages[1]
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
    path = write_study(tmp_path, retrievers, "all", bad_py=code)
    assert evaluated(path, measures=["hits_norm@4"]).means["mean"].tolist()[-1] == 1.0
    caught = capsys.readouterr()
    assert caught.out == ""
    assert "noise" in caught.err


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
    """Lists for other queries, none for one, no tag, and lists that differ each time."""
    run = "q1 Q0 a 1 0.5\nq1 Q0 b 2 0.4\nq9 Q0 a 1 1\nq2 Q0 a 1 1\n"
    code = "n = [0]\ndef r(query, k):\n    n[0] += 1\n    return [('ab'[n[0] % 2], 1)]\n"
    retrievers = [ALL, {"id": "r", "run": "r.txt"}, {"id": "bad", "python": "bad:r"}]
    messages = codes(evaluated(write_study(tmp_path, retrievers, "all", r_txt=run, bad_py=code)))
    assert "has no list for the query 'q3'" in messages["no-list"]
    assert "for the query 'q9', which" in messages["unknown-query"]
    assert "r.txt: its lines have 5 words" in messages["no-tag"]
    assert "'bad' returned different lists" in messages["unstable-retriever"]


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
    assert messages.keys() == {"query-is-case", "no-ground-truth", "similarity-range"}
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
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stderr=pipe, stdout=pipe, text=True) as run:
        assert run.stderr is not None
        for word in ("asked", "no")[:presses]:
            for line in run.stderr:
                if line.startswith(word):
                    break
            run.send_signal(signal.SIGINT)
        assert run.wait(timeout=SECONDS) in (130, -signal.SIGINT)
    assert not (tmp_path / "study-report").exists()
