"""Retrievers take turns; those that break their promise, and lists that are doubtful."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.lists import DEFINITIONS, measure
from quem.retrieval.choosing import truth_depth_of
from quem.retrieval.retrievers import make_retrievers
from quem.retrieval.truth import Need, find_truth
from quem.scores.scoring import digest_of, score_runs
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
    table = result.findings.table
    assert not table.ranked[table.place("bad0")].any()
    assert "not tested, as bad0 has no list" in str(table.certificate("ok", "bad0"))


def test_a_retriever_can_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its changes of queries and cases have no effect; its output goes to stderr."""
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


def test_doubtful_lists_are_told(tmp_path: Path) -> None:
    run = "q1 Q0 a 1 0.5\nq1 Q0 b 2 0.4\nq9 Q0 a 1 1\nq2 Q0 a 1 1\n"
    code = "n = [0]\ndef r(query, k):\n    n[0] += 1\n    return [('ab'[n[0] % 2], 1)]\n"
    retrievers = [ALL, {"id": "r", "run": "r.txt"}, {"id": "bad", "python": "bad:r"}]
    messages = codes(evaluated(write_study(tmp_path, retrievers, "all", r_txt=run, bad_py=code)))
    assert "has no list for the query 'q3'" in messages["no-list"]
    assert "for the query 'q9', which" in messages["unknown-query"]
    assert "r.txt: its lines have 5 words" in messages["no-tag"]
    assert "'bad' returned different lists" in messages["unstable-retriever"]


def test_other_doubts_are_told(tmp_path: Path) -> None:
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


X: dict[str, Any] = {"id": "x", "linear": {"attributes": [{"name": "x"}]}}
LOGGED = """
from pathlib import Path
log = Path(__file__).parent / "calls.log"
def say(who):
    def retrieve(query, k, cases):
        with log.open("a") as file:
            file.write(f"{who} {query.id}\\n")
        return [(name, 1) for name in list(cases)[:k]]
    return retrieve
a, b = say("a"), say("b")
"""


def test_retrievers_take_turns(tmp_path: Path) -> None:
    """Query by query, so that a busy machine slows all alike; nobody is always the first."""
    retrievers = [{"id": who, "python": f"mine:{who}"} for who in "ab"]
    path = write_study(tmp_path, [ALL, *retrievers], "all", mine_py=LOGGED)
    result = evaluated(path, repeats=6, warm_up=0)
    calls = [line.split() for line in (tmp_path / "calls.log").read_text().splitlines()]
    assert len(calls) == 2 * 3 * 6
    pairs = list(zip(calls[::2], calls[1::2], strict=True))
    assert all({one[0], two[0]} == {"a", "b"} and one[1] == two[1] for one, two in pairs)
    assert {one[0] for one, _ in pairs} == {"a", "b"}
    own = 1000 * result.findings.found.runs["a"].taken.mean(axis=1)
    (entry,) = (one for one in result.to_dict()["systems"] if one["id"] == "a")
    assert entry["ms"] == pytest.approx(np.median(own))
    # Of six rounds the extremes hold the median with a chance of 97%; of five, with 94%.
    assert entry["ms_interval"] == pytest.approx([own.min(), own.max()])
    fewer = evaluated(path, repeats=5, warm_up=0)
    assert fewer.to_dict()["systems"][1]["ms_interval"] is None


def test_cut_truth_scores_as_the_whole(tmp_path: Path) -> None:
    """By every measure at k: the k best, what ties with them, and what retrievers gave."""
    random = np.random.default_rng(3)
    rows = [f"c{i},{random.integers(30)},{random.choice(list('pqr'))}" for i in range(40)]
    text = "\n".join(["id,x,kind", *rows])
    path = write_study(tmp_path, [ALL, X], "all", queries="leave-one-out", cases_csv=text)
    study = quem.load_study(path, kind="retrieval")
    retrievers, _ = make_retrievers(study)
    lists = evaluated(path, measures=["nDCG@5"]).findings.found.runs["x"].lists
    whole = find_truth(study, retrievers, Need(5, [lists]), lambda *_: lambda _: None)
    cut = find_truth(study, retrievers, Need(5, [lists], whole=0), lambda *_: lambda _: None)
    assert len(cut.columns) < len(whole.columns) / 2
    known = {name: {one.name for one in d.parameters} for name, d in DEFINITIONS.items()}
    named = [
        measure(name, k=5)
        for name, has in known.items()
        if "k" in has and "rel" not in has and DEFINITIONS[name].family != "dialogue"
    ]
    assert len(named) > 4
    scored = [score_runs({"x": lists.columns("x")}, t.columns, named) for t in (whole, cut)]
    np.testing.assert_array_equal(scored[0].values, scored[1].values)
    digests = [digest_of(one.judgments, 5) for one in scored]
    assert digests[0] == digests[1] != digest_of(scored[0].judgments, 6)
    # Of relevant cases all are needed.
    assert truth_depth_of([measure("nDCG", k=5)], 39) == 5
    assert truth_depth_of([measure("nDCG", k=5), measure("AP", k=5)], 39) == 39
