"""In notebooks results show themselves, and the Quarto page runs on an analysis.json."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import quem
from quem.report.files import json_text, write_files, write_report
from tests.made import random_ranks, study_of

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "studies" / "p3-1997" / "study.yaml"
PAGE = ROOT / "templates" / "quarto" / "report.qmd"
SHOWN = f"""
import quem
study = quem.load_study({str(STUDY)!r})
quem.analyze(study)
"""


def _write_reports(folder: Path) -> None:
    """Write the report of the paper's study, and analysis.json where the gate is shut."""
    study = quem.load_study(STUDY, kind="experience")
    write_report(quem.analyze(study), folder / "study-report", ())
    years = (1.0, 3.0, 4.0, 7.0, 9.0, 12.0)
    ranks = random_ranks(np.random.default_rng(1), years[::-1], (5.0,))
    shut = quem.analyze(study_of(ranks, years))
    write_files(folder / "shut-report", {"analysis.json": json_text(shut.to_dict()).encode()})


def _executed(cells: list[str], folder: Path) -> list[Any]:
    """Run cells in one kernel, as Jupyter would; gives the outputs of each."""
    with warnings.catch_warnings():
        # Theirs, of versions that do not fit each other.
        warnings.simplefilter("ignore")
        from nbclient import NotebookClient
        from nbformat import v4

        new: Any = v4
        notebook = new.new_notebook(cells=[new.new_code_cell(cell) for cell in cells])
        client = NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    return [cell.outputs for cell in notebook.cells]


def _texts(outputs: list[Any]) -> str:
    """What a reader sees of the outputs as Markdown."""
    return "\n".join(
        one["data"].get("text/markdown", "") for each in outputs for one in each if "data" in one
    )


def test_cells_run_and_results_show_themselves(tmp_path: Path) -> None:
    """All cells of the page run without a word on stderr; a result that ends a cell is HTML."""
    _write_reports(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    page = re.findall(r"^```\{python\}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(page) > 8
    again = [page[0].replace("study-report", "shut-report"), *page[1:]]
    outputs = _executed([SHOWN, *page, *again], tmp_path)
    (result,) = outputs[0]
    assert result["output_type"] == "execute_result"
    assert "7.2 years of experience" in result["data"]["text/html"]
    assert "<svg" in result["data"]["text/html"]
    assert "<ExperienceResult of p3-1997" in result["data"]["text/plain"]
    assert not [one for each in outputs for one in each if one["output_type"] == "stream"]
    good, shut = outputs[1 : len(page) + 1], outputs[len(page) + 1 :]
    text = _texts(good)
    assert "- p3: 7.2 years (95% prediction interval 3.6 to 10.9)" in text
    assert "| judge J2" in text
    assert "`no-reference`" in text
    assert sum("image/svg+xml" in one["data"] for each in good for one in each) == 1
    text = _texts(shut)
    assert "do not allow a statement in years" in text
    assert not re.search(r"\d years", text)
