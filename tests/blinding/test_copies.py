"""Copies of solutions: what judges receive, and nothing besides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from quem.blinding.copies import clean_copy
from quem.blinding.office import prepare
from quem.blinding.rendering import render_solution
from quem.solutions.files import inspect
from quem.solutions.model import Redaction, Solution
from tests.blinding.planted_images import SECRET, picture, planted_images, secret
from tests.blinding.planted_notebooks import planted_notebook
from tests.blinding.planted_office import simple_docx

if TYPE_CHECKING:
    from pathlib import Path

HIDING = {
    "front matter": "---\nauthor: Zebulon\n---\n# Plan\n",
    "comment": "# Plan\n\n<!-- Zebulon -->\n",
    "attribute": '# Plan\n\n<div data-who="Zebulon">all</div>\n',
    "unused link": "# Plan\n\nA link.\n\n[zebulon]: https://example.org/zebulon\n",
    "language of code": "# Plan\n\n```zebulon\nx\n```\n",
    "name of an image": "# Plan\n\n![plot](zebulon.png)\n",
    "redacted": "# Plan\n\nZebulon *made* it.\n",
}


def solution(folder: Path, *names: str, redacted: str = "") -> Solution:
    """Give a solution of files in a folder."""
    marks = (Redaction(redacted),) if redacted else ()
    files = [inspect(folder / name, name, name) for name in names]
    object_ = [file.__class__(**{**vars(file), "redactions": marks}) for file in files]
    return Solution("P1", "S1", tuple(object_))


@pytest.mark.parametrize("how", HIDING)
def test_what_judges_do_not_see_is_not_copied(tmp_path: Path, how: str) -> None:
    """A name in a comment, an attribute, a file name, or a redaction is gone."""
    (tmp_path / "a.md").write_text(HIDING[how], encoding="utf-8")
    names = ["a.md"]
    if how == "name of an image":
        picture().save(tmp_path / "zebulon.png")
        names.append("zebulon.png")
    mark = "Zebulon" if how == "redacted" else ""
    copies = clean_copy(solution(tmp_path, *names, redacted=mark))
    assert "Plan" in next(iter(copies.values())).decode()
    for name, content in copies.items():
        assert "zebulon" not in name.casefold()
        assert b"zebulon" not in content.lower()


def test_markdown_stays_markdown_and_looks_the_same(tmp_path: Path) -> None:
    """Formulas, code, tables, and images are shown as in the original."""
    text = (
        "---\nauthor: Amy\n---\n# Plan\n\nSo $a^2$ and *more*.\n\n```python\nx = 1\n```\n\n"
        "| a | b |\n|---|---|\n| one | two |\n\n![a plot](plots/amy.png)\n"
    )
    (tmp_path / "plots").mkdir()
    picture().save(tmp_path / "plots/amy.png")
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    original = solution(tmp_path, "a.md", "plots/amy.png")
    copies = clean_copy(original)
    assert list(copies) == ["01.md", "02.png"]
    copied = tmp_path / "copied"
    copied.mkdir()
    for name, content in copies.items():
        (copied / name).write_bytes(content)
    shown = [
        str(render_solution(one, lambda n, page=None: f"{n}-{page}").parts[0].html).split()
        for one in (original, solution(copied, *copies))
    ]
    assert shown[0] == shown[1]


def test_names_planted_in_images_and_notebooks_are_gone(tmp_path: Path) -> None:
    """Metadata of every image format, and all that a notebook holds besides its cells."""
    for name, content in planted_images(secret).items():
        (tmp_path / name).write_bytes(content)
        for copy in clean_copy(solution(tmp_path, name)).values():
            assert SECRET.encode() not in copy, name
    made = json.dumps(planted_notebook(secret))
    (tmp_path / "a.ipynb").write_text(made, encoding="utf-8")
    copies = clean_copy(solution(tmp_path, "a.ipynb"))
    assert len(copies) == 1 + made.count("image/png")
    assert not [name for name, copy in copies.items() if SECRET.encode() in copy]


def test_documents_become_images_of_their_pages(tmp_path: Path) -> None:
    """A document is copied page by page."""
    (tmp_path / "a.docx").write_bytes(simple_docx("Hello", "there"))
    original = solution(tmp_path, "a.docx")
    prepare(list(original.files))
    copies = clean_copy(original)
    assert list(copies) == ["01-page-001.png"]
    assert copies["01-page-001.png"].startswith(b"\x89PNG")
