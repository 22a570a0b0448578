"""Tables as files: the same bytes as pandas writes, and the texts of the report in papers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import quem
from quem.report import tables as report_tables
from quem.report.files import TextTable, report_files
from quem.report.tables import csv_bytes, latex_text, markdown_text

STUDY = Path(__file__).resolve().parents[2] / "studies" / "p3-1997" / "study.yaml"
HOSTILE = r"50% & co_x {y} \\z ~^ $ # [1] <b> | *i* `q` \"é"
MOST = TextTable(
    f"Of {HOSTILE}",
    ("Solver", "Rank", HOSTILE, "Rank"),
    [(HOSTILE, "−1.50", "a\nb", "≥ 2"), ("[2]", "3 to 4", "p < .001", "R²")],
    note="F(1, 5) = 26.9; 5% of all.",
    words=frozenset({2}),
)

columns = st.one_of(
    st.lists(st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf, 1 / 3, 1e-300]), min_size=9),
    st.lists(st.integers(-5, 5), min_size=9),
    st.lists(st.booleans(), min_size=9),
    st.lists(st.sampled_from(["a", "", 'b"c', "d,e", "f\ng", "é", "null", None]), min_size=9),
)


@given(columns=st.lists(columns, min_size=1, max_size=6), missing=st.booleans())
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


def test_markdown_reads_as_it_was_meant() -> None:
    """A parser of Markdown finds the same texts in the same cells, and nothing else."""
    html = MarkdownIt("commonmark").enable("table").render(markdown_text([MOST]))
    cells = re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", html, flags=re.DOTALL)
    plain = [
        cell.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
        for cell in cells
    ]
    texts = [*MOST.columns, *(cell for row in MOST.rows for cell in row)]
    assert plain == [text.replace("\n", " ") for text in texts]
    assert html.count('style="text-align:right"') == 6
    assert "<strong>Of 50%" in html
    assert "<b>" not in html
    assert "<em>" not in html


_OWN = re.compile(r"\\[&%$#_{}]|\\[A-Za-z]+\*?(\{\})?|[{}$]")


def test_latex_escapes_what_means_something() -> None:
    """In no cell a sign is left that LaTeX would obey; numbers keep their sign and decimals."""
    text = latex_text([MOST])
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line.removesuffix(r" \\") for line in body.strip().splitlines()]
    assert [len(re.split(r"(?<!\\) & ", row)) for row in rows] == [4, 4]
    assert set(_OWN.sub("", "".join(rows).replace(" & ", ""))) & set("\\%#_~^&[]<>|") <= set("[]")
    assert "$-$1.50" in body
    assert r"$\geq$ 2" in body
    assert "{[}2{]} & 3 to 4" in body
    assert r"p \textless{} .001" in body
    assert r"\begin{tabular}{lrlr}" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert r"R\textsuperscript{2}" in body


def test_papers_have_the_tables_of_the_report() -> None:
    """Each table of the page is in both files, with its headings and its decimals."""
    files = report_files(quem.analyze(quem.load_study(STUDY)), ["markdown", "latex"])
    assert not any(name.endswith(".csv") for name in files)
    page = files["report.html"].decode()
    latex, markdown = files["tables.tex"].decode(), files["tables.md"].decode()
    captions = re.findall(r"<caption>(.*?)</caption>", page)
    assert len(captions) == latex.count(r"\begin{tabular}") > 3
    assert markdown.count("\n|:---") == len(captions)
    assert "| P3" in markdown
    assert "5.67" in markdown
    assert "S5 & " in latex
    assert latex.index("tab:1") < latex.index("tab:2")
    assert "CSV files" not in page
