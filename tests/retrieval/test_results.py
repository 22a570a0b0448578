"""What an evaluation writes, and MAC/FAC."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from subprocess import run
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import quem
from quem.report.files import json_text, report_files
from tests.docs.schema import mappings, mistakes
from tests.retrieval.made import codes, evaluated, write_study
from tests.retrieval.made import mistakes as refusals

if TYPE_CHECKING:
    from pathlib import Path

ALL: dict[str, Any] = {"id": "all", "linear": {"missing": "ignore"}}
ONE: dict[str, Any] = {"id": "one x", "name": "only x", "linear": {"attributes": [{"name": "x"}]}}
PYTHON: dict[str, Any] = {"id": "py", "python": "mine:retrieve"}
CODE = """
def retrieve(query, k, cases):
    near = lambda case: -abs((query["x"] or 0) - case["x"])
    return sorted(((name, near(case)) for name, case in cases.items()), key=lambda p: -p[1])[:k]
"""


def _rich(folder: Path, **more: Any) -> Path:  # noqa: ANN401  keys
    """A study with all that a result can have."""
    rng = np.random.default_rng(1)
    rows = [f"c{n},{rng.uniform(0, 9):.2f},{'pqr'[n % 3]}" for n in range(30)]
    queries = [f"q{n},{rng.uniform(0, 9):.2f},{'pqr'[n % 3]}" for n in range(12)]
    keys: dict[str, Any] = {
        "cases_csv": "\n".join(["id,x,kind", *rows]),
        "queries_csv": "\n".join(["id,x,kind", *queries]),
        "mine_py": CODE,
        "mac_fac": {"mac": "one x", "fac": "all", "filters": [2, 6, 30], "k": 3},
        "analysis": {"measures": ["hits_norm@3", "kendall"], "repeats": 2, "bootstrap": 100},
    }
    return write_study(folder, [ALL, ONE, PYTHON], "all", **{**keys, **more})


def test_command_writes_everything(tmp_path: Path) -> None:
    """Report, figures, and tables; JSON prints and writes nothing."""
    path = _rich(tmp_path)
    command = [sys.executable, "-m", "quem", "analyze", str(path)]
    done = run(command, capture_output=True, text=True, check=True)
    assert "hits_norm@3" in done.stdout
    assert "Retrieving: all, only x, and py" in done.stderr
    folder = tmp_path / "study-report"
    names = {file.name for file in folder.iterdir()}
    figures = {
        f"{s}.{e}" for s in ("quality", "differences", "times", "mac-fac") for e in ("svg", "png")
    }
    tables = ("measures", "scores", "differences", "times", "rounds", "mac-fac", "mac-fac-queries")
    page = {"report.html", "analysis.json"}
    assert names == figures | {f"{stem}.csv" for stem in tables} | page
    document = json.loads((folder / "analysis.json").read_text("utf-8"))
    assert not mistakes(document)
    (folder / "measures.csv").unlink()
    printed = run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed)["kind"] == "retrieval"
    assert not (folder / "measures.csv").exists()


def test_document_holds_what_the_schema_names(tmp_path: Path) -> None:
    """A key more or fewer, in any mapping, does not fit."""
    document = json.loads(json_text(evaluated(_rich(tmp_path)).to_dict()))
    assert not mistakes(document)
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        if (keys := tuple(mapping)) in seen:
            continue
        seen.add(keys)
        for key in keys:
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert mistakes(changed), f"{key} is missing beside {keys}"
        changed = deepcopy(document)
        list(mappings(changed))[index]["surplus"] = 1
        assert mistakes(changed), f"a key more beside {keys}"


def test_mac_fac_is_the_second_phase_on_what_the_first_keeps(tmp_path: Path) -> None:
    """Compared with both phases by hand; a filter of all cases loses nothing."""
    result = evaluated(_rich(tmp_path))
    mac_fac = result.findings.mac_fac
    assert mac_fac is not None
    full = {one.id: one for one in result.findings.evaluated}["one x"].run.lists
    truth = result.findings.truth.lists
    for pair in mac_fac.pairs:
        hits = []
        for query in range(12):
            candidates = set(full.of(query)[0][: pair.filter].tolist())
            best = truth.of(query)[0].tolist()
            wanted = [case for case in best if case in candidates][: pair.k]
            assert pair.run.lists.of(query)[0].tolist() == wanted
            hits.append(len(set(wanted) & set(best[: pair.k])) / pair.k)
        assert float(pair.means.mean[0]) == pytest.approx(np.mean(hits))
    assert mac_fac.pairs[-1].means.mean.tolist() == [1.0] * 4
    table = result.tables()["mac-fac"]
    assert (table["mac_seconds"] < table["seconds"]).all()
    assert (table["time_share"] > 0).all()


def test_stored_lists_can_be_phases(tmp_path: Path) -> None:
    """Then nothing is timed, and the figure goes by the size of the filter."""
    table = "query,c0,c1,c2,c3\n" + "".join(f"q{n},.9,.5,.7,.1\n" for n in range(12))
    retrievers = [ALL, {"id": "stored", "similarities": "t.csv"}]
    path = _rich(tmp_path, t_csv=table)
    text = path.read_text("utf-8").replace("mac: one x", "mac: stored")
    path.write_text(
        text.replace("id: py\n  python: mine:retrieve", "id: stored\n  similarities: t.csv")
    )
    del retrievers
    result = evaluated(path)
    mac_fac = result.findings.mac_fac
    assert mac_fac is not None
    assert all(np.isnan(pair.share.median) for pair in mac_fac.pairs)
    assert "mac-fac" in result.figures()


def test_means_and_differences_are_those_of_the_scores(tmp_path: Path) -> None:
    """The tables agree with each other; the ground truth has no scores, but a time."""
    result = evaluated(_rich(tmp_path))
    scores: dict[Any, list[float]] = {
        names: own["score"].tolist()
        for names, own in result.scores.groupby(["retriever", "measure"])
    }
    for row in result.measures.to_dict("records"):
        own = scores[row["retriever"], row["measure"]]
        assert row["mean"] == pytest.approx(np.mean(own))
        assert row["low"] <= row["mean"] <= row["high"]
    for row in result.differences.to_dict("records"):
        first, second = (scores[row[key], row["measure"]] for key in ("a", "b"))
        assert row["difference"] == pytest.approx(np.mean(np.subtract(first, second)))
    assert {name for name, _ in scores} == {"one x", "py"}
    assert set(result.times["retriever"]) == {"all", "one x", "py"}
    assert (result.times["seconds"] > 0).all()


def test_figures_and_page_can_be_drawn_of_little(tmp_path: Path) -> None:
    """One query, one retriever without any list, one measure."""
    code = "def retrieve(query, k):\n    raise OSError\n"
    path = write_study(
        tmp_path,
        [ALL, PYTHON],
        "all",
        mine_py=code,
        queries_csv="id,x\nq,1\n",
        analysis={"measures": "kendall", "bootstrap": 0},
    )
    result = evaluated(path)
    assert "retriever-failed" in codes(result)
    files = report_files(result)
    assert b"raised OSError" in files["report.html"]
    assert not mistakes(json.loads(files["analysis.json"]))
    assert "raised OSError" in result.summary()
    assert "raised OSError" in result._repr_html_()


def test_depth_is_as_much_as_the_measures_need(tmp_path: Path) -> None:
    """All cases, unless each measure looks at the k best only."""
    path = _rich(tmp_path)
    assert evaluated(path).findings.depth == 30
    findings = evaluated(path, measures=["hits_norm@3", "nDCG@7"]).findings
    assert findings.depth == 7
    assert {int(size) for one in findings.scored for size in one.run.lists.sizes} == {7}


def test_default_measures_fit_the_ground_truth(tmp_path: Path) -> None:
    """With k = 10 where there are more cases, and with those k that are asked for."""
    path = _rich(tmp_path, analysis={})
    names = [measure.name for measure in evaluated(path).findings.measures]
    assert {"MAE", "quality_mueller", "quality_mueller@10", "spearman"} <= set(names)
    names = [
        m.name for m in evaluated(path, measures=["AP", "kendall"], k=[2, 4]).findings.measures
    ]
    assert names == ["AP", "AP@2", "AP@4", "kendall"]


def test_check_counts_and_runs_nothing(tmp_path: Path) -> None:
    """Retrievers are made, so that mistakes show, and asked nothing."""
    code = "def retrieve(query, k):\n    raise AssertionError\n"
    path = write_study(tmp_path, [ALL, PYTHON], "all", mine_py=code)
    command = [sys.executable, "-m", "quem", "check", str(path)]
    done = run(command, capture_output=True, text=True, check=True)
    assert "found: 2 retrievers, 4 cases, 3 queries" in done.stdout
    assert "warning: few-queries" in done.stderr


def test_tables_of_many_queries_are_read_quickly(tmp_path: Path) -> None:
    """2,000 queries of 50 cases each, without a case base."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "query": np.repeat([f"q{n}" for n in range(2000)], 50),
            "case": np.concatenate([rng.permutation(60)[:50] for _ in range(2000)]),
            "similarity": rng.uniform(0, 1, 100_000).round(6),
        }
    )
    rows.to_csv(tmp_path / "t.csv", index=False)
    keys: dict[str, Any] = {"cases": None, "queries": None}
    retrievers = [{"id": "t", "similarities": "t.csv"}]
    path = write_study(tmp_path, retrievers, {"similarities": "t.csv"}, **keys)
    loaded = quem.load_study(path, kind="retrieval")
    result = quem.analyze(loaded, measures=["hits_norm@10", "kendall"], bootstrap=0)
    assert result.measures["mean"].tolist() == [1.0, pytest.approx(1.0)]


def test_nothing_to_evaluate_is_refused(tmp_path: Path) -> None:
    """The ground truth alone has no score."""
    assert "no retriever is left to compare with the ground truth; add another" in refusals(
        write_study(tmp_path, [ALL], "all")
    )


def test_lists_without_what_nobody_judged(tmp_path: Path) -> None:
    """A measure at k that skips unjudged cases looks below position k of a run."""
    run = "query,case,similarity\n" + "".join(f"q1,{c},{1 - n / 9}\n" for n, c in enumerate("dcba"))
    path = write_study(
        tmp_path,
        [{"id": "a", "run": "run.csv"}],
        {"qrels": "qrels.csv"},
        run_csv=run,
        qrels_csv="query,case,grade\nq1,a,1\nq1,b,0\n",
    )
    result = evaluated(path, measures=["RR(unjudged=skip)@2", "RR@2", "Judged@2", "F1@3"])
    means = result.measures.set_index("measure")["mean"]
    assert means.to_dict() == pytest.approx(
        {"RR(unjudged=skip)@2": 0.5, "RR@2": 0, "Judged@2": 0, "F1@3": 0}
    )
