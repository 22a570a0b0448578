"""Times are taken in rounds, and what is kept is what the measures need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.lists import DEFINITIONS, measure
from quem.retrieval.choosing import truth_depth_of
from quem.retrieval.retrievers import make_retrievers
from quem.retrieval.truth import Need, find_truth
from quem.scores.scoring import digest_of, score_runs
from tests.retrieval.made import evaluated, write_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ALL: dict[str, Any] = {"id": "all", "linear": {}}
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
    entry = next(one for one in result.to_dict()["systems"] if one["id"] == "a")
    assert entry["ms"] == pytest.approx(np.median(own))
    # Of six rounds the extremes hold the median with a chance of 97%; of five, with 94%.
    assert entry["ms_interval"] == pytest.approx([own.min(), own.max()])
    assert "6 rounds" in result.to_html()
    fewer = evaluated(path, repeats=5, warm_up=0)
    assert fewer.to_dict()["systems"][1]["ms_interval"] is None
    assert "an interval at 95% needs 6 rounds" in fewer.to_html()


def silent(_: str, __: int) -> Callable[[int], object]:
    return lambda _: None


def test_cut_truth_scores_as_the_whole(tmp_path: Path) -> None:
    """By every measure at k: the k best, what ties with them, and what retrievers gave."""
    random = np.random.default_rng(3)
    rows = [f"c{i},{random.integers(30)},{random.choice(list('pqr'))}" for i in range(40)]
    text = "\n".join(["id,x,kind", *rows])
    path = write_study(tmp_path, [ALL, X], "all", queries="leave-one-out", cases_csv=text)
    study = quem.load_study(path, kind="retrieval")
    retrievers, _ = make_retrievers(study)
    lists = evaluated(path, measures=["nDCG@5"]).findings.found.runs["x"].lists
    whole = find_truth(study, retrievers, Need(5, [lists]), silent)
    cut = find_truth(study, retrievers, Need(5, [lists], whole=0), silent)
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
