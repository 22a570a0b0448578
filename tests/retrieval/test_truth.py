"""Where the ground truth comes from, and what holds whatever it is."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.retrieval.lists import rows_of
from tests.retrieval.made import STUDIES, evaluated, write_study

if TYPE_CHECKING:
    from pathlib import Path

ALL: dict[str, Any] = {"id": "all", "linear": {}}
ONE: dict[str, Any] = {"id": "one", "linear": {"attributes": [{"name": "x"}]}}


def test_linear_is_the_weighted_mean_of_local_similarities(tmp_path: Path) -> None:
    """Compared with a plain loop, with missing values treated in each way."""
    attributes = [{"name": "x", "weight": 2, "range": [0, 5]}, {"name": "kind"}]
    cases = {"a": (1.0, "p"), "b": (2.0, "q"), "c": (3.0, "p"), "d": (4.0, None)}
    queries = {"q1": (1.5, "p"), "q2": (3.0, "q"), "q3": (None, "p")}
    for missing in ("different", "neutral", "ignore"):
        linear = {"attributes": attributes, "missing": missing}
        retrievers = [{"id": "all", "linear": linear}, ONE]
        found = evaluated(write_study(tmp_path, retrievers, "all")).findings.found
        truth = {(q, c): value for q, c, value in rows_of(found.truth.columns)}
        for place, (query, (x, kind)) in enumerate(queries.items()):
            similarities = {c: value for (q, c), value in truth.items() if q == query}
            for name, (own_x, own_kind) in cases.items():
                parts: list[tuple[int, float | None]] = [
                    (2, None if x is None or own_x is None else 1 - abs(x - own_x) / 5),
                    (1, None if own_kind is None else float(kind == own_kind)),
                ]
                rule = {"different": 0.0, "neutral": 0.5, "ignore": None}[missing]
                held = [(w, rule if s is None else s) for w, s in parts]
                known = [(w, s) for w, s in held if s is not None]
                weight = sum(w for w, _ in known)
                mean = sum(w * s for w, s in known) / weight if weight else 0.0
                assert similarities[name] == pytest.approx(mean), (missing, place, name)


def test_leave_one_out_leaves_the_query_out(tmp_path: Path) -> None:
    """Of every kind of retriever, and of the ground truth."""
    code = (
        "def own(query, k):\n"
        "    return [(query.id, 1.0), *((c, .5) for c in 'abcd' if c != query.id)]\n"
    )
    run = "".join(f"{q} Q0 {c} 1 {1 - i / 9} t\n" for q in "abcd" for i, c in enumerate("abcd"))
    retrievers = [
        ALL,
        ONE,
        {"id": "own", "python": "own:own"},
        {"id": "run", "run": "run.txt"},
    ]
    path = write_study(
        tmp_path, retrievers, "all", queries="leave-one-out", own_py=code, run_txt=run
    )
    found = evaluated(path).findings.found
    runs = [found.runs[name].lists.columns(name) for name in ("one", "own", "run")]
    wanted = {(query, case) for query in "abcd" for case in "abcd" if query != case}
    for columns in (found.truth.columns, *runs):
        assert {(query, case) for query, case, _ in rows_of(columns)} == wanted


ORDER = ("S6", "S7", "p3", "S5", "S4", "S3", "S2", "S1")


def test_experts_are_ordered_by_average_rank(tmp_path: Path) -> None:
    """The consensus is the mean of the adjusted ranks, withheld solvers left out."""
    lines = [f"P{p},{rank},{name}" for p in (1, 2, 3) for rank, name in enumerate(ORDER, 1)]
    path = write_study(
        tmp_path,
        [{"id": "order", "run": "order.csv"}],
        {"study": str(STUDIES / "p3-1997/study.yaml")},
        cases=None,
        queries=None,
        order_csv="\n".join(["query,rank,case", *lines]),
        analysis={"measures": ["kendall"]},
    )
    result = evaluated(path)
    study = quem.load_study(STUDIES / "p3-1997/study.yaml", kind="experience")
    ranks = quem.analyze(study).ranks
    assert ranks is not None
    ranks = ranks[ranks["kind"] != "withheld"]
    mean = ranks.groupby(["problem", "solver"], observed=True)["adjusted_rank"].mean()
    evidence = result.table_of_scores.evidence
    assert evidence is not None
    judgments = evidence.judgments
    truth = judgments.truth
    names = judgments.columns.names(judgments.row[truth.item])
    taus: list[float] = []
    for query, problem in enumerate(judgments.queries):
        part = truth.rows.cells(query)
        held = dict(zip(names[part], truth.value[part].tolist(), strict=True))
        assert held == pytest.approx(mean[problem].to_dict())
        listed = [name for name in ORDER if name in held]
        signs = [np.sign(held[a] - held[b]) for a, b in combinations(listed, 2)]
        taus.append(float(np.mean(signs)))
    assert result.means["mean"].tolist()[0] == pytest.approx(np.mean(taus))
    assert len(judgments.judges) == len(result.to_dict()["ground_truth"]["judges"]) > 1


def test_ids_are_the_text_that_was_written(tmp_path: Path) -> None:
    """007 is not 7, in tables, runs and judgments."""
    files = {
        "cases_csv": "id,x\n007,1\n7,2\n1.10,3\n",
        "queries_csv": "id,x\n01,1\n1,3\n",
        "r_txt": "01 Q0 007 1 1 t\n1 Q0 1.10 1 1 t\n",
        "q_txt": "01 0 007 1\n1 0 1.10 1\n",
    }
    path = write_study(tmp_path, [{"id": "r", "run": "r.txt"}], {"qrels": "q.txt"}, **files)
    result = evaluated(path, measures=["AP"])
    assert result.means["mean"].tolist() == [1.0]
