"""Copies of solutions for people other than judges, cleaned and under neutral names."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

from quem.blinding.pages import image_of, pages_of
from quem.blinding.redacting import redact_text
from quem.blinding.rendering import read_as_judge, render_solution
from quem.errors import Mistake, QuemError
from quem.io.text import read_text
from quem.solutions.files import inspect
from quem.solutions.model import Solution, SolutionFile

_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_GONE = "quem-gone"
# Invisible, and they can name authors.
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_WORD, _FENCE = re.compile(r"[^\W\d_]{2,}"), re.compile(r"^ *(?:```+|~~~+) *(\w+)", re.MULTILINE)
_FORMULA = re.compile(r'<span class="math"( data-display="true")?>(.*?)</span>', re.DOTALL)


def clean_copy(solution: Solution) -> dict[str, bytes]:
    """Copy a solution as judges receive it: cleaned, with its redactions, without authors.

    Texts and Markdown keep their format. Pages of documents become images, and other texts HTML.
    """
    files = solution.files
    names = {n: f"{n:02d}{_ending(file)}" for n, file in enumerate(files, 1)}
    copies: dict[str, bytes] = {}
    for n, file in enumerate(files, 1):
        if file.kind == "image":
            copies[names[n]] = image_of(file, None)[0]
        elif file.kind in ("text", "code"):
            copies[names[n]] = read_as_judge(file, files).encode()
        elif file.kind == "markdown" and (text := _markdown(solution, n, names)):
            copies[_as_markdown(names[n])] = text.encode()
        else:
            copies |= _drawn(solution, n, names)
    return copies


def _ending(file: SolutionFile) -> str:
    if file.kind == "image":
        return _ENDINGS[image_of(file, None)[1]]
    if file.kind in ("text", "code"):
        return file.path.suffix.casefold() or ".txt"
    return ".html"


def _markdown(solution: Solution, n: int, names: dict[int, str]) -> str:
    """Markdown without invisible words if it renders the same, else an empty text."""
    file = solution.files[n - 1]
    text = _FRONT_MATTER.sub("", read_text(file.path, file.name, what="solution"))
    text = redact_text(_COMMENT.sub("", text), file.patterns)
    images = {m: other for m, other in enumerate(solution.files, 1) if other.kind == "image"}
    for m, other in images.items():
        text = text.replace(other.inner, names[m])
    with TemporaryDirectory() as place:
        folder = Path(place)
        own = _as_markdown(names[n])
        (folder / own).write_text(text, encoding="utf-8", newline="")
        for m in images:
            (folder / names[m]).write_bytes(image_of(images[m], None)[0])
        copied = [inspect(folder / k, k, k) for k in (own, *(names[m] for m in images))]
        copy = Solution(solution.problem, solution.solver, tuple(copied))
        numbers = dict(enumerate(images, 2))
        shown = render_solution(copy, lambda m: names[numbers[m]]).parts[0].html
    html = _html(solution, n, names)
    return text if str(shown).split() == html.split() and not _hides(text, html) else ""


def _hides(text: str, html: str) -> bool:
    """Whether Markdown holds invisible words, as in an attribute or an unused link."""
    words, shown = (
        {word.casefold() for word in _WORD.findall(of)} for of in (text, unescape(html))
    )
    return bool(words - shown - {name for name in _FENCE.findall(text) if _is_language(name)})


def _is_language(name: str) -> bool:
    """Whether the language of code is needed for its colors."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        get_lexer_by_name(name)
    except ClassNotFound:
        return False
    return True


def _as_markdown(name: str) -> str:
    return f"{name.removesuffix('.html')}.md"


def _html(solution: Solution, n: int, names: dict[int, str]) -> str:
    """A solution's text as HTML, as judges receive it."""
    file = solution.files[n - 1]
    others = tuple(other for other in solution.files if other.kind == "image")
    numbers = {1: n} | {k: solution.files.index(other) + 1 for k, other in enumerate(others, 2)}

    def address(m: int, page: int | None = None) -> str:
        name = names[numbers[m]]
        return f"{name.partition('.')[0]}-picture-{page:03d}.png" if page else name

    alone = Solution(solution.problem, solution.solver, (file, *others))
    html = str(render_solution(alone, address, gone=_GONE).parts[0].html)
    if _GONE in html:
        raise QuemError(Mistake(file.name, message="cannot be shown; `quem check` says why"))
    return html


def _drawn(solution: Solution, n: int, names: dict[int, str]) -> dict[str, bytes]:
    """A document as images of its pages, with its remaining text as HTML."""
    file = solution.files[n - 1]
    copies: dict[str, bytes] = {}
    stem = names[n].partition(".")[0]
    if file.kind not in ("pdf", "office"):
        html = _FORMULA.sub(
            lambda m: f"\\[{m[2]}\\]" if m[1] else f"\\({m[2]}\\)", _html(solution, n, names)
        )
        copies[names[n]] = html.encode()
        for name in re.findall(rf'src="({stem}-picture-(\d+)\.png)"', html):
            copies[name[0]] = image_of(file, int(name[1]))[0]
    if file.kind in ("pdf", "office", "workbook"):
        for page in range(1, len(pages_of(file)) + 1):
            content, mimetype = image_of(file, page)
            copies[f"{stem}-page-{page:03d}{_ENDINGS[mimetype]}"] = content
    return copies
