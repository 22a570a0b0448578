"""The coverage study: resumable, the same numbers wherever it runs, and in the docs."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BENCHMARK = ROOT / "benchmarks" / "coverage.py"
sys.path.append(str(BENCHMARK.parent))  # its modules import each other


def _benchmark(name: str) -> Any:  # noqa: ANN401  a script of benchmarks/
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARK.with_stem(name))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _run(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARK), "--grid", "tiny", "--out", str(out), *options]
    # The script has the name of the package that measures which branches tests reach.
    unmeasured = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    return subprocess.run(
        command, env=unmeasured, capture_output=True, text=True, timeout=600, check=False
    )


def _parts(path: Path) -> dict[str, Any]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    records = [json.loads(line) for line in lines]
    parts = {json.dumps([part["case"], part["part"]]): part["rows"] for part in records}
    assert len(parts) == len(records)
    return parts


def test_each_part_holds_a_method_to_its_bar() -> None:
    """Each has cases that are simulated, counted, and pooled; what misses its bar is counted."""
    parts = _benchmark("coverage_parts")
    for name, part in parts.PARTS.items():
        cases = [replace(case, studies=20) for case in (part.cases[0], part.cases[-1])]
        cells, _ = parts.table(name, [parts.run_case(case, 0, 0) for case in cases])
        assert {case.cell for case in cases} <= set(cells["cell"])
        assert cells["%"].between(0, 100).all()
        assert cells["of"].between(0, 20).all()
        assert f"<!-- {name} begin -->\n| what " in (ROOT / "docs/coverage.md").read_text()
    rows = [{"what": "typical", "is_so": 5, "defined": 20, "width": 2.0, "line": 3.0}]
    case = {"cell": "7 subjects; 4 years; low"}
    cells, missed = parts.table("hierarchical", [{"case": case, "rows": rows}])
    assert cells.iloc[0, 2:].tolist() == [25.0, 20, "93.5 to 98 MISSED", "2.0 (3.0)"]
    assert parts.summary(cells).splitlines()[-1].split()[1:-1:2] == [
        "typical",
        "1",
        *["25.0"] * 3,
        "1",
    ]
    assert missed == 1


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The results of one process, and what it printed."""
    path = tmp_path_factory.mktemp("coverage") / "alone.jsonl"
    ran = _run(path, "--jobs", "1")
    assert ran.returncode == 0, ran.stderr
    return path, ran.stdout


@pytest.fixture
def stopped(alone: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """Results of a study that was stopped while it wrote a part, and what was written whole."""
    lines = alone[0].read_text(encoding="utf-8").splitlines(keepends=True)
    finished = "".join(lines[: len(lines) // 2])
    path = tmp_path / "stopped.jsonl"
    path.write_text(finished + lines[len(lines) // 2][:40], encoding="utf-8")
    return path, finished


def test_a_stopped_study_goes_on(alone: tuple[Path, str], stopped: tuple[Path, str]) -> None:
    """What was finished is kept, half a part is done again; two processes give the same numbers."""
    path, finished = stopped
    assert _run(path, "--jobs", "2").stdout == alone[1]
    assert path.read_text(encoding="utf-8").startswith(finished)
    assert _parts(path) == _parts(alone[0])
    again = path.read_bytes()
    assert _run(path, "--jobs", "1").stdout == alone[1]
    assert path.read_bytes() == again


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    """One message names the address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        ran = _run(tmp_path / "none.jsonl", "--cluster", address)
    assert ran.returncode == 1
    assert f"{address}: there is no cluster" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_parts_of_a_case_differ() -> None:
    """Each part has random numbers of its own, and always the same."""
    study = _benchmark("coverage")
    case = study.Case("peer", "low", 7, 2, 3)
    # As text, since what is undefined is NaN, and equals nothing.
    first, again, second = (repr(study.cover(case, 40, part=part)) for part in (0, 0, 1))
    assert first == again
    assert first != second


def test_the_docs_show_the_committed_results() -> None:
    """The tables of docs/explanation are those of docs/coverage.csv."""
    tables = _benchmark("coverage_tables")
    committed = pd.read_csv(ROOT / "docs" / "coverage.csv", keep_default_na=False, na_values=[""])
    assert {name for names in tables.PAGES.values() for name in names} == set(tables.TABLES)
    for name, shown in tables.PAGES.items():
        page = (ROOT / "docs" / "explanation" / name).read_text(encoding="utf-8")
        assert tables.filled(page, committed, shown) == page
