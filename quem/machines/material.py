"""The material for a machine judge: the same texts and images as in a judge's browser.

The code of the judges' pages renders it, so cleaning and redaction are the same.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quem.blinding.pages import image_of
from quem.blinding.rendering import Part, read_as_judge, render_page_text, render_solution
from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.solutions import Solution, SolutionFile
    from quem.solutions.model import Sheet

ADVICE = "machine judges need httpx and markdownify; run: pip install 'quem[machines]'"
# Invisible characters, and those that change the direction of text.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_IMAGE = re.compile(r"!\[([^\]]*)\]\((quem-image-\d+-\d*)[^)]*\)")


class ImagesError(ValueError):
    """Content that can only be seen in images."""


@dataclass(frozen=True)
class Piece:
    """A text, or an image with its description."""

    text: str  # of an image its description by the author
    media_type: str = ""  # empty for a text
    data: bytes = b""
    hidden: int = 0  # number of invisible characters removed

    @property
    def is_image(self) -> bool:
        """Whether it is an image."""
        return bool(self.media_type)

    @property
    def sha256(self) -> str:
        """Of an image, in hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()


def sheet_pieces(sheet: Sheet | None, *, images: bool) -> tuple[Piece, ...]:
    """The pieces of the briefing or a statement; empty for None."""
    if sheet is None:
        return ()
    html = str(render_page_text(sheet, _addresses))
    return _seen(_from_html(html, sheet.files), images=images)


def solution_pieces(solution: Solution, *, images: bool) -> tuple[Piece, ...]:
    """The pieces of a solution, file by file."""
    gone = f"quem-gone-{solution.solver}"
    rendered = render_solution(solution, _addresses, gone=gone)
    pieces: list[Piece] = []
    shown = [part for part in rendered.parts if part.kind != "html" or str(part.html).strip()]
    for part in shown:
        if gone in part.html:
            name = f"{solution.solver} on {solution.problem}"
            message = f"{name} cannot be shown; `quem check` says why"
            raise QuemError(Mistake(solution.files[0].name, message=message))
        if len(shown) > 1:
            pieces.append(Piece(part.name))
        pieces += _of_part(part, solution.files, images=images)
    return _seen(pieces, images=images)


def _addresses(number: int, page: int | None = None) -> str:
    return f"quem-image-{number}-{page or ''}"


def _of_part(part: Part, files: Sequence[SolutionFile], *, images: bool) -> Iterator[Piece]:
    """The pieces of one file in the order of the page."""
    if part.kind == "image":
        yield _image(part.url, "", files)
    if part.html:
        # Unchanged: a conversion would interpret its characters as markup.
        if len(files) == 1 and files[0].kind in ("text", "code"):
            yield Piece(read_as_judge(files[0], files))
        else:
            yield from _from_html(str(part.html), files)
    for page in part.pages:
        if not (images or page.text.strip()):
            raise ImagesError(f"page {page.number} has no text")
        yield Piece(f"Page {page.number}\n{page.text}".rstrip())
        if images:
            yield _image(page.url, "", files)


def _from_html(html: str, files: Sequence[SolutionFile]) -> Iterator[Piece]:
    """Text with the structure of HTML, split at images."""
    try:
        from markdownify import markdownify
    except ImportError:
        raise QuemError(ADVICE) from None
    plain: Any = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    text = re.sub(r"\n{3,}", "\n\n", markdownify(html, heading_style="ATX", **plain))
    # Text, description, address, text, and so on.
    rest, *found = _IMAGE.split(text)
    yield Piece(rest.strip())
    for said, address, after in zip(found[::3], found[1::3], found[2::3], strict=True):
        yield _image(address, said, files)
        yield Piece(after.strip())


def _image(address: str, text: str, files: Sequence[SolutionFile]) -> Piece:
    number, page = address.removeprefix("quem-image-").split("-")
    data, media_type = image_of(files[int(number) - 1], int(page) if page else None)
    return Piece(text, media_type, data)


def _seen(pieces: Iterable[Piece], *, images: bool) -> tuple[Piece, ...]:
    """Remove invisible characters; refuse images that are not sent."""
    seen = []
    for piece in pieces:
        if piece.is_image and not images:
            raise ImagesError("it has images")
        text, hidden = _UNSEEN.subn("", piece.text)
        if piece.text or piece.is_image:
            seen.append(replace(piece, text=text, hidden=hidden))
    return tuple(seen)
