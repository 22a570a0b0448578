"""The files of a report: whole, the same each time, and never at the cost of other files."""

from __future__ import annotations

import html
import json
import os
import pickle
import re
import shutil
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import quem
from quem.errors import QuemError
from quem.report import tables as report_tables
from quem.report.files import TextTable, json_text, report_files, write_files, write_report
from quem.report.tables import csv_bytes, latex_text, markdown_text
from tests.golden.outcomes import STUDIES
from tests.made import random_ranks, study_of

if TYPE_CHECKING:
    from pathlib import Path

    from quem.parts.result import ExperienceResult

P3 = STUDIES / "p3-1997"
PAGE = STUDIES.parent / "templates" / "quarto" / "report.qmd"


@cache
def analyzed(name: str = "study.yaml") -> ExperienceResult:
    return quem.analyze(quem.load_study(P3 / name, kind="experience"))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_report_is_complete_and_the_same_each_time(tmp_path: Path) -> None:
    """Every file that the kind names is there; a later report removes what it has not."""
    result, later = analyzed(), analyzed("averages.yaml")
    for folder in ("a", "b"):
        write_report(result, tmp_path / folder)
    written = files(tmp_path / "a")
    assert {"report.html", "check.py", "check.R", "ranks.csv", "line.svg"} < set(written)
    assert set(written) < result.file_names
    assert written == files(tmp_path / "b")
    assert json.loads(written["analysis.json"])["study"]["id"] == "p3-1997"
    assert written["estimates.csv"].startswith(b"system,average_rank,")
    write_report(later, tmp_path / "a")
    names = set(files(tmp_path / "a"))
    assert names < later.file_names
    assert not {"ranks.csv", "ranks.svg", "agreement.png"} & names


def test_a_table_of_the_user_stays_where_there_was_no_report(tmp_path: Path) -> None:
    """A file with the name of a table that this report has not is not ours to remove."""
    (tmp_path / "ranks.csv").write_text("mine")
    write_report(analyzed("averages.yaml"), tmp_path)
    assert (tmp_path / "ranks.csv").read_text() == "mine"


def test_the_study_is_never_overwritten(tmp_path: Path) -> None:
    """A report into the study's own folder does not replace its rankings, also by a link."""
    own, link = tmp_path / "study", tmp_path / "link"
    shutil.copytree(P3, own, ignore=shutil.ignore_patterns("*-report"))
    before = files(own)
    result = quem.analyze(quem.load_study(own / "averages.yaml"))
    link.symlink_to(own)
    for folder in (own, link):
        with pytest.raises(QuemError, match=r"averages\.csv: belongs to the study"):
            write_report(result, folder)
    assert files(own) == before


def test_nothing_is_written_where_one_file_cannot_be(tmp_path: Path) -> None:
    """A folder in the place of a file is named, and the other files are not written."""
    (tmp_path / "report.html").mkdir()
    with pytest.raises(QuemError, match=r"report\.html: is a folder"):
        write_report(analyzed(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_numbers_have_twelve_significant_digits() -> None:
    """In JSON and CSV alike; what is not finite is null or empty."""
    content = {"a": [1 / 3, 2e20 / 3, float("nan"), float("-inf")], "b": (True, None, 7, "x")}
    numbers = [0.333333333333, 6.66666666667e19, None, None]
    assert json.loads(json_text(content)) == {"a": numbers, "b": [True, None, 7, "x"]}
    table = pd.DataFrame({"a": [1 / 3, float("nan")], "b": ["x,y", "é"]})
    assert csv_bytes(table) == 'a,b\n0.333333333333,"x,y"\n,é\n'.encode()


COLUMNS = st.one_of(
    st.lists(st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf, 1 / 3, 1e-300]), min_size=9),
    st.lists(st.integers(-5, 5), min_size=9),
    st.lists(st.booleans(), min_size=9),
    st.lists(st.sampled_from(["a", "", 'b"c', "d,e", "f\ng", "é", "null", None]), min_size=9),
)


@given(columns=st.lists(COLUMNS, min_size=1, max_size=6), missing=st.booleans())
def test_large_tables_are_written_as_pandas_does(columns: list[Any], *, missing: bool) -> None:
    """Distinct texts that are joined give the bytes of `DataFrame.to_csv`, whatever the values."""
    frame = pd.DataFrame({f"c{at}, {at}": values[:9] for at, values in enumerate(columns)})
    frame["id"] = pd.Categorical(["x", "y,z", "x"] * 3, categories=["y,z", "x", "w"])
    frame["n"] = pd.array([1, None if missing else 2, 3] * 3, dtype="Int64")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_tables, "_LARGE", 0)
        patch.setattr(report_tables, "_ROWS_AT_ONCE", 4)
        ours = csv_bytes(frame)
    theirs = frame.to_csv(index=False, float_format="%.12g", lineterminator="\n")
    assert ours.decode() == theirs


HOSTILE = r"50% & co_x {y} \\z ~^ $ # [1] <b> | *i* `q` \"é"
MOST = TextTable(
    f"Of {HOSTILE}",
    ("Solver", "Rank", HOSTILE, "Rank"),
    [(HOSTILE, "−1.50", "a\nb", "≥ 2"), ("[2]", "3 to 4", "p < .001", "R²")],
    note="F(1, 5) = 26.9; 5% of all.",
    words=frozenset({2}),
)


def test_markdown_reads_as_it_was_meant() -> None:
    """A parser of Markdown finds the same texts in the same cells, and nothing else."""
    page = MarkdownIt("commonmark").enable("table").render(markdown_text([MOST]))
    cells = re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", page, flags=re.DOTALL)
    texts = [*MOST.columns, *(cell for row in MOST.rows for cell in row)]
    assert [*map(html.unescape, cells)] == [text.replace("\n", " ") for text in texts]
    assert page.count('style="text-align:right"') == 6
    assert "<strong>Of 50%" in page
    assert not re.search("<b>|<em>", page)


def test_latex_escapes_what_means_something() -> None:
    """In no cell a sign is left that LaTeX would obey; numbers keep their sign and decimals."""
    own = re.compile(r"\\[&%$#_{}]|\\[A-Za-z]+\*?(\{\})?|[{}$]")
    text = latex_text([MOST])
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line.removesuffix(r" \\") for line in body.strip().splitlines()]
    assert [len(re.split(r"(?<!\\) & ", row)) for row in rows] == [4, 4]
    assert set(own.sub("", "".join(rows).replace(" & ", ""))) & set("\\%#_~^&[]<>|") <= set("[]")
    cells = ("$-$1.50", r"$\geq$ 2", "{[}2{]} & 3 to 4", r"p \textless{} .001")
    assert all(cell in body for cell in (*cells, r"R\textsuperscript{2}"))
    parts = (r"\begin{tabular}{lrlr}", r"\toprule", r"\midrule", r"\bottomrule")
    assert all(part in text for part in parts)


def test_papers_have_the_tables_of_the_report() -> None:
    """Each table of the page is in both files, with its headings and its decimals."""
    written = report_files(analyzed(), ["markdown", "latex"])
    assert not any(name.endswith(".csv") for name in written)
    page, latex, markdown = (
        written[name].decode() for name in ("report.html", "tables.tex", "tables.md")
    )
    captions = re.findall(r"<caption>(.*?)</caption>", page)
    assert len(captions) == latex.count(r"\begin{tabular}") > 3
    assert markdown.count("\n|:---") == len(captions)
    assert "| P3" in markdown
    assert "5.67" in markdown
    assert "S5 & " in latex
    assert latex.index("tab:1") < latex.index("tab:2")
    assert "CSV files" not in page


def test_results_can_be_kept() -> None:
    """An analysis can be pickled, says itself in one line, and gives its tables as copies."""
    result = analyzed()
    again = pickle.loads(pickle.dumps(result))  # noqa: S301  our own bytes
    assert json_text(again.to_dict()) == json_text(result.to_dict())
    assert repr(result) == "<ExperienceResult of p3-1997: P3 7.2 years>"
    assert repr(result.study).startswith("<Study p3-1997: 9 solvers, from ")
    table = result.estimates
    table.loc[0, "paper_experience"] = 99.0
    assert result.estimates["paper_experience"][0] == pytest.approx(7.228, abs=1e-3)


def executed(cells: list[str], folder: Path) -> list[list[Any]]:
    """Run cells in one kernel, as Jupyter would; gives the outputs of each."""
    with warnings.catch_warnings():
        # Theirs, of versions that do not fit each other.
        warnings.simplefilter("ignore")
        from nbclient import NotebookClient
        from nbformat import v4

        new: Any = v4
        notebook = new.new_notebook(cells=[new.new_code_cell(cell) for cell in cells])
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources)
        client.execute(env={**os.environ, "PYTHONPATH": str(STUDIES.parent)})
    return [cell.outputs for cell in notebook.cells]


def test_notebooks_and_the_quarto_page_show_results(tmp_path: Path) -> None:
    """All cells of the page run without a word on stderr; a result that ends a cell is HTML."""
    write_report(analyzed(), tmp_path / "study-report", ())
    years = (1.0, 3.0, 4.0, 7.0, 9.0, 12.0)
    ranks = random_ranks(np.random.default_rng(1), years[::-1], (5.0,))
    without_years = json_text(quem.analyze(study_of(ranks, years)).to_dict()).encode()
    write_files(tmp_path / "shut-report", {"analysis.json": without_years})
    shown = f"import quem\nquem.analyze(quem.load_study({str(P3 / 'study.yaml')!r}))"
    cells = re.findall(r"(?ms)^```\{python\}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(cells) > 8
    again = [cells[0].replace("study-report", "shut-report"), *cells[1:]]
    (result,), *outputs = executed([shown, *cells, *again], tmp_path)
    assert result["output_type"] == "execute_result"
    assert "7.2 years of experience" in result["data"]["text/html"]
    assert "<svg" in result["data"]["text/html"]
    assert "<ExperienceResult of p3-1997" in result["data"]["text/plain"]
    assert not [one for each in outputs for one in each if one["output_type"] == "stream"]
    good, shut = (
        [one["data"] for each in half for one in each]
        for half in (outputs[: len(cells)], outputs[len(cells) :])
    )
    text = "\n".join(data.get("text/markdown", "") for data in good)
    assert "- p3: 7.2 years (95% prediction interval 3.6 to 10.9)" in text
    assert "| judge J2" in text
    assert "`no-reference`" in text
    assert sum("image/svg+xml" in data for data in good) == 1
    text = "\n".join(data.get("text/markdown", "") for data in shut)
    assert "do not allow a statement in years" in text
    assert not re.search(r"\d years", text)
