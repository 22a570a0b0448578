"""Output files of an evaluation, and MAC/FAC."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from quem.cli import main
from quem.report.files import report_files
from quem.retrieval.lists import rows_of
from tests.docs.schema import mistakes
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


@pytest.fixture
def rich(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    cases, queries = (
        [f"{sign}{n},{rng.uniform(0, 9):.2f},{'pqr'[n % 3]}" for n in range(count)]
        for sign, count in (("c", 30), ("q", 12))
    )
    return write_study(
        tmp_path,
        [ALL, ONE, PYTHON],
        "all",
        cases_csv="\n".join(["id,x,kind", *cases]),
        queries_csv="\n".join(["id,x,kind", *queries]),
        mine_py=CODE,
        mac_fac={"mac": "one x", "fac": "all", "filters": [2, 6, 30], "k": 3},
        analysis={"measures": ["hits_norm@3", "kendall"], "repeats": 2, "samples": 0},
    )


def test_command_writes_everything(rich: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Report, figures, and tables; JSON prints and writes nothing."""
    monkeypatch.setattr("quem.retrieval.running._TRUTH_TIMED", 5)
    done = CliRunner().invoke(main, ["analyze", str(rich)], catch_exceptions=False)
    assert "hits_norm@3" in done.stdout
    assert "Retrieving: all, only x, and py" in done.stderr
    folder = rich.with_name("study-report")
    figures = {"scores.svg", "times.svg", "mac-fac.svg"}
    tables = {f"{t}.csv" for t in "means scores differences systems times mac-fac".split()}
    paper = {"table.md", "table.tex", "table.html"}
    names = {file.name for file in folder.iterdir()}
    assert names == figures | tables | paper | {"report.html", "analysis.json"}
    assert not mistakes(json.loads((folder / "analysis.json").read_text("utf-8")))
    page = (folder / "report.html").read_text("utf-8")
    assert page.count("mean time of 12 queries (all: 5), all retrievers in turn") == 2
    (folder / "means.csv").unlink()
    printed = CliRunner().invoke(main, ["analyze", str(rich), "--json"]).stdout
    assert json.loads(printed)["kind"] == "retrieval"
    assert not (folder / "means.csv").exists()


def test_mac_fac_is_the_second_phase_on_what_the_first_keeps(rich: Path) -> None:
    """Compared with both phases by hand; a filter of all cases loses nothing."""
    result = evaluated(rich)
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
    """One query, one retriever without any list, one measure; check runs none of it."""
    code = "def retrieve(query, k):\n    raise OSError\n"
    path = write_study(
        tmp_path,
        [ALL, PYTHON],
        "all",
        mine_py=code,
        queries_csv="id,x\nq,1\n",
        analysis={"measures": "kendall"},
    )
    done = CliRunner().invoke(main, ["check", str(path)])
    assert "found: 2 retrievers, 4 cases, 1 query" in done.stdout
    result = evaluated(path)
    assert "retriever-failed" in codes(result)
    files = report_files(result)
    assert not mistakes(json.loads(files["analysis.json"]))
    for text in (files["report.html"], files["failures.csv"], result.summary().encode()):
        assert b"raised OSError" in text
