"""Where the ground truth comes from, and what holds whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.retrieval.analysis import analyze_retrieval
from quem.retrieval.lists import rows_of
from quem.retrieval.loading import load_retrieval
from quem.retrieval.truth import graded
from tests.retrieval.made import DATA, STUDIES, evaluated, write_study

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
    code = "def own(query, k):\n    return [(c, 1) for c in sorted({query.id, *'abcd'})]\n"
    run = "".join(f"{q} Q0 {c} 1 {1 - i / 9} t\n" for q in "abcd" for i, c in enumerate("abcd"))
    others = [{"id": "own", "python": "own:own"}, {"id": "run", "run": "run.txt"}]
    keys = {"queries": "leave-one-out", "own_py": code, "run_txt": run}
    found = evaluated(write_study(tmp_path, [ALL, ONE, *others], "all", **keys)).findings.found
    runs = [found.runs[name].lists.columns(name) for name in ("one", "own", "run")]
    wanted = {(query, case) for query in "abcd" for case in "abcd" if query != case}
    for columns in (found.truth.columns, *runs):
        assert {(query, case) for query, case, _ in rows_of(columns)} == wanted


def test_experts_are_ordered_by_average_rank(tmp_path: Path) -> None:
    """The consensus is the mean of the adjusted ranks, withheld solvers left out."""
    study = STUDIES / "p3-1997/study.yaml"
    path = write_study(
        tmp_path,
        [{"id": "order", "run": "order.csv"}],
        {"study": str(study)},
        cases=None,
        queries=None,
        order_csv="query,rank,case\nP1,1,S6\nP1,2,S7\nP2,1,S1\nP3,1,S2\n",
        analysis={"measures": ["hits@1"]},
    )
    result = evaluated(path)
    ranks = quem.analyze(quem.load_study(study, kind="experience")).ranks
    assert ranks is not None
    ranks = ranks[ranks["kind"] != "withheld"]
    mean = ranks.groupby(["problem", "solver"], observed=True)["adjusted_rank"].mean()
    evidence = result.table_of_scores.evidence
    assert evidence is not None
    truth, columns = evidence.judgments.truth, evidence.judgments.columns
    names = columns.names(evidence.judgments.row[truth.item])
    for query, problem in enumerate(evidence.judgments.queries):
        part = truth.rows.cells(query)
        held = dict(zip(names[part], truth.value[part].tolist(), strict=True))
        assert held == pytest.approx(mean[problem].to_dict())
    judges = evidence.judgments.judges
    assert len(judges) == len(result.to_dict()["ground_truth"]["judges"]) > 1


def test_several_judges(tmp_path: Path) -> None:
    """Of a file, or of a study whose judges graded: as if they are given to quem.score."""
    judgments = DATA / "judgments.csv"
    retrievers = [{"id": name, "run": str(DATA / f"{name}.run")} for name in ("bm25", "dense")]
    runs = {one["id"]: one["run"] for one in retrievers}
    wanted = quem.score(runs, str(judgments), "nDCG@5", samples=0).frame()
    rows = list(pd.read_csv(judgments, dtype=str).astype({"grade": float}).itertuples(index=False))
    (tmp_path / "other.yaml").write_text("")
    keys: Any = {"cases": None, "queries": None, "analysis": {"measures": "nDCG@5"}}
    for truth in ({"judgments": str(judgments)}, {"study": "other.yaml"}):
        path = write_study(tmp_path, retrievers, truth, **keys)
        study = load_retrieval(path, experts=lambda _, name: graded(name, "made up", rows))
        result = analyze_retrieval(study)
        pd.testing.assert_frame_equal(result.means, wanted)
        found = result.to_dict()["ground_truth"]
        assert found["judges"] == sorted({str(row.judge) for row in rows})
        assert found["source"].startswith("3 judges (")
