"""Solutions and texts for judges as safe HTML that does not reveal the authors."""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import dataclass
from functools import partial
from html import unescape
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup, escape

from quem.blinding.cache import SizedCache
from quem.blinding.formulas import Formulas, without_formulas
from quem.blinding.markup import code_html, markdown_html, sanitize, text_html
from quem.blinding.notebooks import EMBEDDED, output_html, read_notebook
from quem.blinding.office import read_office
from quem.blinding.pages import pages_of
from quem.blinding.redacting import TAG, VALUE, flat, redact_html, redact_text
from quem.blinding.same_look import level_html, level_text
from quem.blinding.workbooks import FORMULA, Table
from quem.errors import FileError, QuemError
from quem.io.text import read_text, word_count
from quem.solutions.model import Sheet, Solution, SolutionFile, signature
from quem.solutions.sheets import inner_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_log = logging.getLogger("webjudge")
# Cached characters of HTML; 20 problems of 8 solutions have about 2 million.
_MOST_KEPT = 16_000_000
# Reserved characters: input never holds them.
_IMAGE = f"image-{secrets.token_hex(16)}-"
_CODE = f"code-{secrets.token_hex(16)}-"
_PICTURE = f"picture-{secrets.token_hex(16)}-"
_MATH = f"formula-{secrets.token_hex(16)}-"
_IMAGE_NUMBER = re.compile(rf"({_IMAGE}|{_PICTURE})(\d+)")
_CODE_NUMBER = re.compile(rf"<pre[^>]*>{_CODE}(\d+)</pre>")
_NOTHING = Markup()
_HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)
# Length of a snippet; a row of the ranking page shows about half of it.
_SNIPPET = 80
# Words of a snippet, of which solutions to one problem may share those of a form.
_BEGINNING = 1000
# Placeholder where a sheet has more rows and columns than are shown.
_MORE = re.compile("<p>\ue000more-([0-9]+)-([0-9]+)\ue000</p>")


@dataclass(frozen=True)
class Phrases:
    """Sentences on workbooks in the judge's language."""

    formula: str = "(formula)"  # replaces an unknown result
    # The number of omitted rows and columns of a sheet.
    more: Callable[[int, int], str] = "{} more rows, {} more columns".format


_ENGLISH = Phrases()


@dataclass(frozen=True)
class PageImage:
    """A page of a PDF or document, as an image with its text below."""

    number: int  # from 1
    url: str  # address of the image
    # Pixels
    width: int
    height: int
    text: str  # text visible in the image


@dataclass(frozen=True)
class Part:
    """A file of a solution on a page."""

    kind: Literal["html", "image", "pdf"]
    name: str  # a neutral name: "File 1 of 3"
    html: Markup = _NOTHING  # safe HTML; empty for images, PDFs, and documents
    url: str = ""  # address of the image; empty for others
    # Of a PDF or document, and of sheets with charts or pictures.
    pages: tuple[PageImage, ...] = ()


@dataclass(frozen=True)
class Rendered:
    """A solution on a page."""

    parts: tuple[Part, ...]
    n_words: int  # of its texts and PDFs; code is counted in lines
    # Of its code files, PDFs and documents, pictures (also in texts), and sheets of workbooks
    n_lines: int = 0
    n_pages: int = 0
    n_pictures: int = 0
    n_sheets: int = 0
    # Snippet: its first heading or words; may be empty.
    snippet: str = ""
    # Its first words, where the snippet is not distinctive.
    beginning: tuple[str, ...] = ()

    @property
    def shape(self) -> Literal["text", "code", "pages", "sheets"]:
        """Its layout: text, or code, pages, or sheets alone."""
        if len(self.parts) == 1 and self.parts[0].kind == "pdf":
            return "pages"
        if len(self.parts) == 1 and self.n_sheets:
            return "sheets"
        return "code" if self.n_lines and not self.n_words else "text"

    @property
    def size(self) -> int:
        """Its length as HTML."""
        texts = (len(page.text) for part in self.parts for page in part.pages)
        return sum(len(part.html) for part in self.parts) + sum(texts)


class Picture(int):
    """The number of a picture inside a file, from 1."""


@dataclass(frozen=True)
class _Text:
    """A text as HTML, split where addresses of images belong."""

    pieces: tuple[str | int | Picture, ...]
    n_words: int
    images: frozenset[int]
    n_lines: int = 0
    n_pictures: int = 0
    snippet: str = ""
    n_sheets: int = 0
    beginning: tuple[str, ...] = ()

    def html(
        self, asset_url: Callable[..., str], phrases: Phrases = _ENGLISH, own: int = 1
    ) -> Markup:
        html = "".join(
            piece
            if isinstance(piece, str)
            else str(
                escape(asset_url(own, piece) if isinstance(piece, Picture) else asset_url(piece))
            )
            for piece in self.pieces
        )
        if self.n_sheets:
            html = html.replace(FORMULA, escape(phrases.formula))
            html = _MORE.sub(
                lambda match: _paragraph(phrases.more(int(match[1]), int(match[2]))), html
            )
        return Markup(html)  # noqa: S704  sanitized, or escaped


_texts: SizedCache[object, _Text] = SizedCache(_MOST_KEPT)


def render_solution(
    solution: Solution,
    asset_url: Callable[..., str],
    gone: str = "",
    phrases: Phrases = _ENGLISH,
) -> Rendered:
    """Render a solution as HTML."""
    files = solution.files
    texts = {n: _text(file, files, gone) for n, file in enumerate(files, 1) if _is_text(file)}
    inside = frozenset[int]().union(*(text.images for text in texts.values()))
    shown = [n for n in range(1, len(files) + 1) if n not in inside]
    parts = []
    for place, n in enumerate(shown, 1):
        name = f"File {place} of {len(shown)}"
        kind = files[n - 1].kind
        if kind == "image":
            parts.append(Part("image", name, url=asset_url(n)))
        elif kind in ("pdf", "office"):
            parts.append(_paged_part(files[n - 1], name, partial(asset_url, n), gone))
        elif kind == "workbook":
            drawn = _paged_part(files[n - 1], name, partial(asset_url, n), gone).pages
            html = texts[n].html(asset_url, phrases)
            parts.append(Part("html", name, html=html, pages=drawn))
        else:
            parts.append(Part("html", name, html=texts[n].html(asset_url, own=n)))
    read = [page.text for part in parts for page in part.pages]
    words = (page.split() for page in read)
    beginnings = (*(text.snippet for text in texts.values()), *map(shortened, read))
    return Rendered(
        tuple(parts),
        n_words=sum(t.n_words for t in texts.values()) + sum(map(word_count, read)),
        n_lines=sum(text.n_lines for text in texts.values()),
        n_pages=len(read),
        n_pictures=sum(part.kind == "image" for part in parts)
        + len(inside)
        + sum(text.n_pictures for text in texts.values()),
        n_sheets=sum(text.n_sheets for text in texts.values()),
        snippet=next(filter(None, beginnings), ""),
        beginning=tuple(islice(chain(*(t.beginning for t in texts.values()), *words), _BEGINNING)),
    )


def _paged_part(file: SolutionFile, name: str, page_url: Callable[[int], str], gone: str) -> Part:
    try:
        pages = pages_of(file)
    except FileError as error:
        _log.warning("a file of the study cannot be shown: %s", error)
        return Part("html", name, html=_paragraph(gone))
    shown = (PageImage(n, page_url(n), p.width, p.height, p.text) for n, p in enumerate(pages, 1))
    return Part("pdf", name, pages=tuple(shown))


def _paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>").format(text)


def render_page_text(
    sheet: Sheet | None, asset_url: Callable[..., str] | None = None, gone: str = ""
) -> Markup:
    """Render a statement, briefing, or consent text."""
    if sheet is None:
        return _NOTHING
    files = sheet.files if asset_url else sheet.files[:1]
    return _text(sheet.files[0], files, gone).html(asset_url or str)


def read_as_judge(file: SolutionFile, files: Sequence[SolutionFile]) -> str:
    """A text as judges receive it, without markup: words, alternative texts, and links."""
    if file.kind == "workbook":
        return "\n".join(text for _, text in sheet_texts(file))
    if file.kind in ("text", "code"):
        return redact_text(_content(file), file.patterns)
    html = "".join(piece for piece in _text(file, files).pieces if isinstance(piece, str))
    words = TAG.sub("\n", flat(html))
    return unescape("\n".join([words, *VALUE.findall(html)]))


def text_of(solution: Solution) -> str:
    """The text of a solution that judges receive."""
    texts = []
    for file in solution.files:
        try:
            if file.kind in ("pdf", "office"):
                texts += [page.text for page in pages_of(file)]
            elif file.kind != "image":
                texts.append(read_as_judge(file, solution.files))
        except QuemError as error:
            _log.warning("a file of the study cannot be shown: %s", error)
    return "\n".join(texts)


def sheet_texts(file: SolutionFile) -> Iterator[tuple[str, str]]:
    """Each visible sheet of a workbook: its name, and its text with the name."""
    for table in read_office(file).tables:
        html = redact_html(sanitize(_sheet_html(table), lambda _: None), file.patterns)
        yield table.name, unescape(TAG.sub("\n", flat(html)))


def _sheet_html(table: Table) -> str:
    more = f"<p>\ue000more-{table.rows}-{table.columns}\ue000</p>"
    heading = f"<h2>{escape(table.name)}</h2>"
    return f"{heading}{table.html}{more if table.rows or table.columns else ''}"


def _is_text(file: SolutionFile) -> bool:
    return file.kind not in ("image", "pdf", "office")


def _text(file: SolutionFile, files: Sequence[SolutionFile], gone: str = "") -> _Text:
    """A text as HTML, cached until its file changes."""
    try:
        key = (file.path, signature(file.path), len(files), file.redactions, file.same_look)
        if (known := _texts.get(key)) is not None:
            return known
        text = _rendering(file, files)
    except (QuemError, OSError) as error:
        _log.warning("a file of the study cannot be shown: %s", error)
        return _Text((_paragraph(gone),), 0, frozenset())
    _texts.put(key, text, sum(len(piece) for piece in text.pieces if isinstance(piece, str)))
    return text


def _rendering(file: SolutionFile, files: Sequence[SolutionFile]) -> _Text:
    if file.kind == "workbook":
        tables = [table for table in read_office(file).tables if table.html]
        html = sanitize("".join(map(_sheet_html, tables)), lambda _: None)
        html = redact_html(html, file.patterns)
        name = redact_text(tables[0].name, file.patterns) if tables else ""
        return _Text(
            (html,),
            # Nobody reads all numbers of a table.
            sum(any(map(str.isalpha, word)) for word in _words(html)),
            frozenset(),
            snippet=shortened(name),
            beginning=tuple(_words(html)[:_BEGINNING]),
            n_sheets=max(len(tables), 1),
        )
    if file.kind == "notebook":
        html = _notebook_html(file, files)
    else:
        content = _content(file)
        if file.kind == "code":
            html = redact_html(code_html(content, filename=file.path.name), file.patterns)
            lines = content.rstrip("\n").split("\n")
            first = next(filter(str.strip, unescape(TAG.sub("", html)).split("\n")), "")
            return _Text(
                (html,),
                0,
                frozenset(),
                n_lines=len(lines),
                snippet=shortened(first),
                beginning=tuple(unescape(TAG.sub("", html)).split()[:_BEGINNING]),
            )
        html = text_html(content) if file.kind == "text" else _safe(content, file, files)
    html = redact_html(level_html(html) if file.same_look else html, file.patterns)
    parts = _IMAGE_NUMBER.split(html)
    pieces: list[str | int | Picture] = []
    # The split yields triples of text, kind of number, and number.
    for at in range(0, len(parts), 3):
        pieces.append(parts[at])
        if at + 2 < len(parts):
            number = int(parts[at + 2])
            pieces.append(Picture(number) if parts[at + 1] == _PICTURE else number)
    numbers = [piece for piece in pieces if isinstance(piece, int)]
    inside = {number for number in numbers if isinstance(number, Picture)}
    images = frozenset(int(number) for number in numbers if not isinstance(number, Picture))
    plain = without_formulas(html)
    heading = _HEADING.search(plain)
    blocks = [_words(heading[1])] if heading else map(_words, TAG.split(flat(plain)))
    snippet = shortened(" ".join(next(filter(None, blocks), ())))
    words = _words(plain)
    beginning = _words(plain[heading.start() :])[:_BEGINNING] if heading else words[:_BEGINNING]
    return _Text(
        tuple(pieces),
        sum(map(word_count, words)),
        images,
        snippet=snippet,
        n_pictures=len(inside),
        beginning=tuple(beginning),
    )


def _content(file: SolutionFile) -> str:
    """The contents of a text; plain text gets its uniform look here, since it has no markup."""
    text = read_text(file.path, file.name, what="solution")
    return level_text(text) if file.same_look and file.kind == "text" else text


def _words(html: str) -> list[str]:
    return unescape(TAG.sub(" ", flat(html))).split()


def shortened(text: str) -> str:
    """Truncate a text to the length of a row."""
    return " ".join(text[: 2 * _SNIPPET].split())[:_SNIPPET]


def _safe(content: str, file: SolutionFile, files: Sequence[SolutionFile]) -> str:
    """Sanitize Markdown or HTML, with placeholders for images."""
    formulas, code = Formulas(_MATH), list[str]()
    if file.kind == "markdown":
        content, _ = markdown_html(content, _CODE, formulas, code)
    else:
        content = formulas.keep_all(content)
    return _finished(content, _image_url(file, files), formulas, code)


def _image_url(file: SolutionFile, files: Sequence[SolutionFile]) -> Callable[[str], str | None]:
    """A function that returns the placeholder of an image beside a text, or None."""
    numbers = {other.inner: n for n, other in enumerate(files, 1) if other.kind == "image"}
    folded = {inner.casefold(): n for inner, n in numbers.items()}

    def image_url(target: str) -> str | None:
        inner = inner_path(target.strip(), file.inner)
        number = numbers.get(inner) or folded.get(inner.casefold())
        return f"{_IMAGE}{number}" if number else None

    return image_url


def _finished(
    html: str, image_url: Callable[[str], str | None], formulas: Formulas, code: list[str]
) -> str:
    """Sanitize HTML, and insert code and formulas."""
    safe = sanitize(html, image_url)
    safe = _CODE_NUMBER.sub(lambda match: code[int(match[1])], safe)
    return formulas.put_back(safe)


def _notebook_html(file: SolutionFile, files: Sequence[SolutionFile]) -> str:
    """A notebook as HTML: its cells one after another, with pictures in place."""
    notebook = read_notebook(file.path)
    formulas, code = Formulas(_MATH), list[str]()
    beside = _image_url(file, files)
    html = []
    for block in notebook.blocks:
        if block.kind == "markdown":
            text = block.text.replace(EMBEDDED, _PICTURE)
            html.append(markdown_html(text, _CODE, formulas, code)[0])
        elif block.kind == "html":
            # Parsed separately, so that its unclosed tags end with it.
            code.append(sanitize(formulas.keep_all(block.text), beside))
            html.append(f"<pre>{_CODE}{len(code) - 1}</pre>")
        elif block.kind == "tex":
            html.append(f"<p>{formulas.keep(block.text, displayed=True)}</p>")
        elif block.kind == "image":
            html.append(f'<p><img src="{_PICTURE}{block.text}" alt=""></p>')
        else:
            is_code = block.kind == "code"
            shown = code_html(block.text, language=notebook.language) if is_code else ""
            code.append(shown or output_html(block.text))
            html.append(f"<pre>{_CODE}{len(code) - 1}</pre>")

    def image_url(target: str) -> str | None:
        if target.startswith(_PICTURE):
            return target
        return beside(target)

    return _finished("\n".join(html), image_url, formulas, code)
