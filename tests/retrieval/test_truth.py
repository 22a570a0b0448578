"""Where the ground truth comes from, and what holds whatever it is."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

import quem
from quem.retrieval.lists import rows_of
from tests.retrieval.made import evaluated, mistakes, write_study

STUDIES = Path(__file__).resolve().parents[2] / "studies"
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


def test_relevance_measures_agree_with_ir_measures(tmp_path: Path) -> None:
    """ir_measures reads the same files."""
    rng = np.random.default_rng(3)
    qrels, run = [], []
    for query in range(12):
        for case in range(30):
            grade = int(rng.integers(-6, 3))
            qrels += [f"q{query} 0 d{case} {grade}"] * (grade >= 0)
        order = rng.permutation(30)[:20]
        run += [f"q{query} Q0 d{c} {r + 1} {1 - r / 20:.3f} t" for r, c in enumerate(order)]
    path = write_study(
        tmp_path,
        [{"id": "t", "run": "t.txt"}],
        {"qrels": "q.txt"},
        cases=None,
        queries=None,
        t_txt="\n".join(run),
        q_txt="\n".join(qrels),
        analysis={"measures": ["AP", "RR", "nDCG@10"], "samples": 0},
    )
    result = evaluated(path)
    wanted = [ir_measures.AP, ir_measures.RR, ir_measures.nDCG @ 10]
    theirs = ir_measures.calc_aggregate(
        wanted,
        ir_measures.read_trec_qrels(str(tmp_path / "q.txt")),
        ir_measures.read_trec_run(str(tmp_path / "t.txt")),
    )
    ours = dict(zip(result.means["measure"], result.means["mean"], strict=True))
    for measure in wanted:
        assert ours[str(measure)] == pytest.approx(theirs[measure], abs=1e-9)


def _expert_study(tmp_path: Path, **more: Any) -> Path:  # noqa: ANN401  keys
    """A program's orders against the judges of the paper's study."""
    run = "query,rank,case\n" + "".join(
        f"P{p},{rank},{solver}\n"
        for p in (1, 2, 3)
        for rank, solver in enumerate(("S6", "S7", "p3", "S5", "S4", "S3", "S2", "S1"), 1)
    )
    truth = {"study": str(STUDIES / "p3-1997/study.yaml")}
    defaults: dict[str, Any] = {"cases": None, "queries": None, "order_csv": run}
    return write_study(
        tmp_path, [{"id": "order", "run": "order.csv"}], truth, **{**defaults, **more}
    )


def test_experts_are_ordered_by_average_rank(tmp_path: Path) -> None:
    """The consensus is the mean of the adjusted ranks, withheld solvers left out."""
    result = evaluated(_expert_study(tmp_path, analysis={"measures": ["kendall"]}))
    study = quem.load_study(STUDIES / "p3-1997/study.yaml", kind="experience")
    ranks = quem.analyze(study).ranks
    assert ranks is not None
    ranks = ranks[ranks["kind"] != "withheld"]
    mean = ranks.groupby(["problem", "solver"], observed=True)["adjusted_rank"].mean()
    evidence = result.table_of_scores.evidence
    assert evidence
    judgments = evidence.judgments
    truth, order = judgments.truth, ["S6", "S7", "p3", "S5", "S4", "S3", "S2", "S1"]
    names = judgments.columns.names(judgments.row[truth.item])
    taus: list[float] = []
    for query, problem in enumerate(judgments.queries):
        part = truth.rows.cells(query)
        held = dict(zip(names[part], truth.value[part].tolist(), strict=True))
        assert held == pytest.approx(mean[problem].to_dict())
        listed = [name for name in order if name in held]
        signs = [np.sign(held[a] - held[b]) for a, b in combinations(listed, 2)]
        taus.append(float(np.mean(signs)))
    assert result.means["mean"].tolist()[0] == pytest.approx(np.mean(taus))
    assert len(judgments.judges) == len(result.to_dict()["ground_truth"]["judges"]) > 1


def test_lists_name_solvers_of_the_study(tmp_path: Path) -> None:
    """A solver that no judge was shown is refused."""
    run = "query,rank,case\nP1,1,S1\nP1,2,S11\n"
    message = mistakes(_expert_study(tmp_path, order_csv=run))
    assert "order.csv:3: case: unknown case 'S11' of the query 'P1'; did you mean S1?" in message


def test_studies_without_whole_rankings_are_no_experts(tmp_path: Path) -> None:
    """Averages have no order on each problem; the message names that study's file."""
    truth = {"study": str(STUDIES / "p3-1997/averages.yaml")}
    path = write_study(
        tmp_path,
        [{"id": "o", "run": "o.csv"}],
        truth,
        cases=None,
        queries=None,
        o_csv="query,case\nP1,S1\n",
    )
    message = mistakes(path)
    assert "p3-1997/averages.yaml:" in message
    assert "the order on each problem needs the rankings" in message


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
