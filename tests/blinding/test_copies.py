"""Copies of solutions: what judges receive, and nothing besides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from quem.blinding.copies import clean_copy
from quem.solutions.model import Redaction, Solution
from tests.blinding.made import rendered, written
from tests.blinding.planted_images import SECRET, picture, planted_images, secret
from tests.blinding.planted_notebooks import planted_notebook
from tests.blinding.planted_texts import FRONT_MATTER, HTML, MARKDOWN
from tests.blinding.searching import everything_in

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, str | bytes] = {
    "a.md": FRONT_MATTER + "\n\n".join(["A plan", *MARKDOWN.values()]),
    "a.html": "\n".join(["<p>A plan</p>", *HTML.values()]),
    "redacted.md": f"A plan\n\n{SECRET} *made* it.\n",
    "a.ipynb": json.dumps(planted_notebook(secret)),
    **planted_images(secret),
}


@pytest.mark.parametrize("name", FILES)
def test_what_judges_do_not_see_is_not_copied(tmp_path: Path, name: str) -> None:
    content = FILES[name]
    raw = content.replace("?", SECRET).encode() if isinstance(content, str) else content
    marks = (Redaction(SECRET),) if name == "redacted.md" else ()
    copies = clean_copy(Solution("P1", "S1", (written(tmp_path, name, raw, redactions=marks),)))
    assert len(copies) == (2 if name.endswith("ipynb") else 1)
    for path, copy in copies.items():
        assert path.startswith("0")
        assert isinstance(content, bytes) or path.endswith("png") or b"plan" in copy
        assert SECRET.lower().encode() not in everything_in(copy).lower()


def test_markdown_stays_markdown_and_looks_the_same(tmp_path: Path) -> None:
    """Formulas, code, tables, and images are shown as in the original."""
    text = (
        "---\nauthor: Amy\n---\n# Plan\n\nSo $a^2$ and *more*.\n\n```python\nx = 1\n```\n\n"
        "| a | b |\n|---|---|\n| one | two |\n\n![a plot](plots/amy.png)\n"
    )
    (tmp_path / "plots").mkdir()
    picture().save(tmp_path / "plots/amy.png")
    plot = (tmp_path / "plots/amy.png").read_bytes()
    files = written(tmp_path, "a.md", text), written(tmp_path, "plots/amy.png", plot)
    copies = clean_copy(Solution("P1", "S1", files))
    assert list(copies) == ["01.md", "02.png"]
    copied = [written(tmp_path / "copied", *copy) for copy in copies.items()]
    first, second = (str(rendered(*some).parts[0].html).split() for some in (files, copied))
    assert first == second
