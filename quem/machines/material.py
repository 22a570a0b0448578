"""What a machine judge receives of a study: the same texts and images as a judge's browser.

It is made by the code that makes the judges' pages, so that what is cleaned or redacted there is
cleaned and redacted here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quem.blinding.pages import image_of
from quem.blinding.rendering import read_as_judge, render_page_text, render_solution
from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quem.blinding.rendering import Part
    from quem.solutions import Solution, SolutionFile
    from quem.solutions.model import Sheet

ADVICE = "machine judges need httpx and markdownify; run: pip install 'quem[machines]'"
# Characters that nobody sees, and that turn the direction of what is seen.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_ADDRESS = "quem-image-{}-{}"
_IMAGE = re.compile(r"!\[([^\]]*)\]\(quem-image-(\d+)-(\d*)[^)]*\)")


class ImagesError(ValueError):
    """There is something that only who sees images can read."""


@dataclass(frozen=True)
class Piece:
    """A text, or an image with its description."""

    text: str  # of an image what it shows, as far as its author says it
    media_type: str = ""  # empty for a text
    data: bytes = b""
    hidden: int = 0  # characters that nobody sees, which were taken out of the text

    @property
    def is_image(self) -> bool:
        """Whether it has to be seen."""
        return bool(self.media_type)


def sheet_pieces(sheet: Sheet | None, *, images: bool) -> list[Piece]:
    """Give the briefing, or a problem's statement; nothing of None."""
    if sheet is None:
        return []
    html = render_page_text(sheet, _addresses)
    pieces = _from_html(str(html), sheet.files)
    return list(_seen(pieces, images=images))


def solution_pieces(solution: Solution, *, images: bool) -> list[Piece]:
    """Give a solution, file by file."""
    gone = f"quem-gone-{solution.solver}"
    rendered = render_solution(solution, _addresses, gone=gone)
    pieces: list[Piece] = []
    shown = [part for part in rendered.parts if part.kind != "html" or str(part.html).strip()]
    for part in shown:
        if gone in part.html:
            name = f"{solution.solver} on {solution.problem}"
            raise QuemError(
                Mistake(
                    solution.files[0].name,
                    message=f"{name} cannot be shown; `quem check` says why",
                )
            )
        if len(shown) > 1:
            pieces.append(Piece(part.name))
        pieces += _of_part(part, solution.files, images=images)
    return list(_seen(pieces, images=images))


def _addresses(number: int, page: int | None = None) -> str:
    return _ADDRESS.format(number, page or "")


def _of_part(part: Part, files: Sequence[SolutionFile], *, images: bool) -> Iterator[Piece]:
    """Give the pieces of one file, in the order in which a page shows them."""
    if part.kind == "image":
        yield _image(part.url, "", files)
    if part.html:
        # As it is: a conversion would take marks in it for its own.
        plain = [file for file in files if file.kind in ("text", "code")]
        if len(files) == 1 and plain:
            yield Piece(read_as_judge(plain[0], files))
        else:
            yield from _from_html(str(part.html), files)
    for page in part.pages:
        text = f"Page {page.number}\n{page.text}".rstrip()
        if images:
            yield Piece(text)
            yield _image(page.url, "", files)
        elif page.text.strip():
            yield Piece(text)
        else:
            raise ImagesError(f"page {page.number} has no text")


def _from_html(html: str, files: Sequence[SolutionFile]) -> Iterator[Piece]:
    """Turn HTML into text that keeps its structure, cut where images are."""
    end = 0
    text = _markdown()(html)
    for match in _IMAGE.finditer(text):
        if before := text[end : match.start()].strip():
            yield Piece(before)
        yield _image(_ADDRESS.format(match[2], match[3]), match[1], files)
        end = match.end()
    if rest := text[end:].strip():
        yield Piece(rest)


def _markdown() -> Callable[[str], str]:
    try:
        from markdownify import markdownify
    except ImportError:
        raise QuemError(ADVICE) from None

    def convert(html: str) -> str:
        text = markdownify(
            html,
            heading_style="ATX",
            escape_asterisks=False,
            escape_underscores=False,
            escape_misc=False,
        )
        return re.sub(r"\n{3,}", "\n\n", str(text)).strip()

    return convert


def _image(address: str, text: str, files: Sequence[SolutionFile]) -> Piece:
    number, page = address.removeprefix("quem-image-").split("-")
    data, media_type = image_of(files[int(number) - 1], int(page) if page else None)
    return Piece(text, media_type, data)


def _seen(pieces: Sequence[Piece] | Iterator[Piece], *, images: bool) -> Iterator[Piece]:
    """Leave out what nobody sees, and refuse images that are not sent."""
    for piece in pieces:
        text, hidden = _UNSEEN.subn("", piece.text)
        if not piece.is_image or images:
            yield replace(piece, text=text, hidden=hidden)
        else:
            raise ImagesError("it has images")
