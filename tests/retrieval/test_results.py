"""What an evaluation writes, and MAC/FAC."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from subprocess import run
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quem.report.files import json_text, report_files
from quem.retrieval.lists import rows_of
from tests.docs.schema import mappings, mistakes, shortened
from tests.retrieval.made import codes, evaluated, write_study

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
        "analysis": {"measures": ["hits_norm@3", "kendall"], "repeats": 2, "samples": 0},
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
    figures = {f"{stem}.svg" for stem in ("scores", "times", "mac-fac")}
    tables = ("means", "scores", "differences", "systems", "times", "mac-fac")
    paper = {f"table.{ending}" for ending in ("md", "tex", "html")}
    page = {"report.html", "analysis.json"}
    assert names == figures | {f"{stem}.csv" for stem in tables} | paper | page
    document = json.loads((folder / "analysis.json").read_text("utf-8"))
    assert not mistakes(document)
    (folder / "means.csv").unlink()
    printed = run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed)["kind"] == "retrieval"
    assert not (folder / "means.csv").exists()


def test_document_holds_what_the_schema_names(tmp_path: Path) -> None:
    """A key more, in any mapping, does not fit, nor a key fewer below the first level."""
    document = shortened(json.loads(json_text(evaluated(_rich(tmp_path)).to_dict())))
    assert not mistakes(document)
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        if (keys := tuple(mapping)) in seen:
            continue
        seen.add(keys)
        for key in keys if index else ():
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert mistakes(changed), f"{key} is missing beside {keys}"
        changed = deepcopy(document)
        list(mappings(changed))[index]["surplus"] = 1
        assert mistakes(changed), f"a key more beside {keys}"


def test_mac_fac_is_the_second_phase_on_what_the_first_keeps(tmp_path: Path) -> None:
    """Compared with both phases by hand; a filter of all cases loses nothing."""
    result = evaluated(_rich(tmp_path))
    found = result.findings.found
    full, rows = found.runs["one x"].lists, rows_of(found.truth.columns)
    table = result.table("mac-fac").set_index(["filter", "measure"])
    for pair in found.mac_fac.pairs:
        hits = []
        for at, query in enumerate(full.queries):
            candidates = {full.cases[case] for case in full.of(at)[0][: pair.filter].tolist()}
            best = [case for name, case, _ in rows if name == query]
            wanted = [case for case in best if case in candidates][: pair.k]
            lists = pair.run.lists
            assert [lists.cases[case] for case in lists.of(at)[0].tolist()] == wanted
            hits.append(len({*wanted} & {*best[: pair.k]}) / pair.k)
        assert table.loc[(pair.filter, "hits_norm@3"), "mean"] == pytest.approx(np.mean(hits))
    assert table.loc[(30, "hits_norm@3"), "mean"] == 1
    assert (table["seconds"] > 0).all()
    assert (table["share"] > 0).all()
    assert "MAC/FAC: one x, then all" in result.summary()


def test_figures_and_page_can_be_drawn_of_little(tmp_path: Path) -> None:
    """One query, one retriever without any list, one measure."""
    code = "def retrieve(query, k):\n    raise OSError\n"
    path = write_study(
        tmp_path,
        [ALL, PYTHON],
        "all",
        mine_py=code,
        queries_csv="id,x\nq,1\n",
        analysis={"measures": "kendall"},
    )
    result = evaluated(path)
    assert "retriever-failed" in codes(result)
    files = report_files(result)
    assert b"raised OSError" in files["report.html"]
    assert not mistakes(json.loads(files["analysis.json"]))
    assert "raised OSError" in result.summary()
    assert "raised OSError" in files["failures.csv"].decode()


def test_check_counts_and_runs_nothing(tmp_path: Path) -> None:
    """Retrievers are made, so that mistakes show, and asked nothing."""
    code = "def retrieve(query, k):\n    raise AssertionError\n"
    path = write_study(tmp_path, [ALL, PYTHON], "all", mine_py=code)
    command = [sys.executable, "-m", "quem", "check", str(path)]
    done = run(command, capture_output=True, text=True, check=True)
    assert "found: 2 retrievers, 4 cases, 3 queries" in done.stdout
