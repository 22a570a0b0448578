"""The confined process that parses PDFs page by page for `quem.blinding.pdf`.

A PDF is cleaned first, so that its image and its extracted text agree.
"""

from __future__ import annotations

import ctypes
import io
import re
import unicodedata
from contextlib import suppress
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pikepdf
import pypdfium2
from pikepdf import Array, Dictionary, Name, Object, Pdf, Stream, String
from PIL import Image, ImageChops, ImageDraw
from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from quem.blinding.spans import MARK, found_spans, joined_spans
from quem.blinding.workers import RefusedError, patterns_of, serve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Patterns = Sequence[re.Pattern[str]]

__all__: list[str] = []

# Text that is extracted in place of visible text.
_INSTEAD = ("/ActualText", "/Alt", "/E")
_UNUSED = ("/AA", "/AcroForm", "/Metadata", "/Names", "/OpenAction", "/Outlines", "/StructTreeRoot")
_MARKS = ("BDC", "DP")
_LONGEST_ENTRY = 100_000


def entries_of(pdf: Pdf) -> Iterator[tuple[str, str]]:
    """The metadata of a document: names and values."""
    info = pdf.trailer.get("/Info")
    if isinstance(info, Dictionary):
        for key, value in info.items():
            yield str(key).lstrip("/"), str(value)[:_LONGEST_ENTRY]
    metadata = pdf.Root.get("/Metadata")
    if isinstance(metadata, Stream):
        yield "XMP", metadata.read_bytes()[:_LONGEST_ENTRY].decode("utf-8", "replace")
    attached = ", ".join(pdf.attachments)
    yield from [("attachments", attached)] if attached else []
    notes = [note for page in pdf.pages for note in _items(page.obj.get("/Annots"))]
    if authors := dict.fromkeys(str(note.get("/T")) for note in notes if "/T" in note):
        yield "authors of notes", ", ".join(authors)


def clean(pdf: Pdf) -> None:
    """Change a document so that its image and its extracted text agree.

    Annotations and filled fields become part of their page. Those without an appearance are
    removed, and so are texts that a screen does not show.
    """
    if "/AcroForm" in pdf.Root:
        # Fields that a viewer would draw from their values get an appearance.
        pdf.generate_appearance_streams()
    for page in pdf.pages:
        for note in _items(page.obj.get("/Annots")):
            _put_into_layer(note)
    pdf.flatten_annotations("screen")
    _drop(pdf.Root, _UNUSED)
    for page in pdf.pages:
        # pdfium would draw the author of a note.
        _drop(page.obj, ("/Annots", "/AA"))
        page.contents_coalesce()
        contents = page.obj.get("/Contents")
        if isinstance(contents, Stream):
            _clean_content(pdf, contents, page)
    for thing in pdf.objects:
        _clean_object(pdf, thing)


def _items(value: object) -> Iterator[Dictionary]:
    if isinstance(value, Array):
        yield from (item for item in value.as_list() if isinstance(item, Dictionary))


def _put_into_layer(note: Dictionary) -> None:
    """Hide the appearance of an annotation with its layer."""
    layer, looks = note.get("/OC"), note.get("/AP")
    look = looks.get("/N") if isinstance(looks, Dictionary) else None
    if layer is None or look is None:
        return
    if not layer.is_indirect:
        return
    states = [look] if isinstance(look, Stream) else [state for _, state in look.items()]
    for state in states:
        if isinstance(state, Stream):
            state["/OC"] = layer


def _clean_object(pdf: Pdf, thing: Object, depth: int = 0) -> None:
    """Drop replacement texts from an object, and from its direct children."""
    if isinstance(thing, Array):
        parts = list(thing.as_list())
    elif isinstance(thing, Dictionary | Stream):
        _drop(thing, tuple(key for key in _INSTEAD if isinstance(thing.get(key), String)))
        if isinstance(thing, Stream) and thing.get("/Subtype") == Name.Form:
            _clean_content(pdf, thing, thing)
        parts = [value for _, value in thing.items()]
    else:
        return
    for part in parts:
        direct = isinstance(part, Dictionary | Array) and not part.is_indirect
        if direct and depth < 50:  # noqa: PLR2004  deeper than any program writes
            _clean_object(pdf, part, depth + 1)


def _clean_content(pdf: Pdf, stream: Stream, drawn: pikepdf.Page | Stream) -> None:
    """Drop replacement texts from the marked content of a page or a part of it."""
    raw = stream.read_bytes()
    if not any(mark.encode() in raw for mark in _MARKS):
        return
    steps = []
    for step in pikepdf.parse_content_stream(drawn):
        if str(step.operator) in _MARKS:
            for operand in step.operands:
                _clean_object(pdf, operand)
        steps.append(step)
    stream.write(pikepdf.unparse_content_stream(steps))


def _drop(thing: Object, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key in thing:
            del thing[key]


_LONGEST_SIDE = 5_000
_JPEG_QUALITY = 85
# Bits of brightness per pixel: a page of text has about 1, a photograph 7.
_PHOTOGRAPH = 5.0
_NO_COLOR = 8
# Pixels and gray levels that make a character visible.
_LEAST_HEIGHT = 3
_LEAST_CONTRAST = 24
_LEAST_INK = 1  # of faint characters, which are searched, but are not in the text
_NARROW = 0.4
# Coordinates are rounded to this fraction of a pixel, and sampled at this distance.
_FINE = 64
_FAR = 1_000.0
_POINTS = ((0.0, 0.0), (_FAR, 0.0), (0.0, _FAR))
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# A hyphen at a line end, as pdfium returns it.
_HYPHEN = "\x02"
_UNSEEN = re.compile("[^\\S\n]+")
# Not printable, so no text of a page holds it.
_PLACE = "\ue000"
# Gray of the redaction box, and its margin in pixels.
_COVER = (128, 128, 128)
_MARGIN = 2


def size_of(pdf: PdfDocument, number: int, dpi: int) -> tuple[int, int]:
    """Width and height of a page's image in pixels."""
    width, height = pdf.get_page_size(number - 1)
    scale = _scale(width, height, dpi)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def encoded(pdf: PdfDocument, number: int, dpi: int, patterns: Patterns = ()) -> tuple[bytes, str]:
    """A page as an encoded image."""
    page = pdf[number - 1]
    image = _drawn(page, size_of(pdf, number, dpi), dpi)
    if patterns:
        _cover(page, image, patterns)
    gray = image.convert("L")
    is_grey = _is_grey(image)
    out = io.BytesIO()
    if gray.entropy() > _PHOTOGRAPH:
        (gray if is_grey else image).save(out, "JPEG", quality=_JPEG_QUALITY)
        return out.getvalue(), "jpg"
    if not is_grey:
        gray = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    gray.save(out, "PNG")
    return out.getvalue(), "png"


def visible_texts(
    pdf: PdfDocument, number: int, dpi: int, patterns: Patterns = ()
) -> tuple[str, ...]:
    """The text of a page, restricted to clear characters, and its other readings."""
    page = pdf[number - 1]
    seen = list(_seen(page, _drawn(page, size_of(pdf, number, dpi), dpi).convert("L")))
    for start, end in _spans(seen, patterns):
        mark = seen[start]._replace(text=_PLACE, is_clear=True)
        seen[start:end] = [mark, *[mark._replace(text="")] * (end - start - 1)]
    return tuple(dict.fromkeys(_lines("".join(signs)) for signs in _readings(seen)))


def _lines(signs: str) -> str:
    signs = signs.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    signs = signs.replace("\r\n", "\n").replace("\r", "\n").replace(_PLACE, MARK)
    lines = [_UNSEEN.sub(" ", line).strip() for line in signs.split("\n")]
    return "\n".join(line for line in lines if line)


def _readings(seen: list[_Sign]) -> Iterator[list[str]]:
    """The texts of signs, clear or all of them, with broken words joined or as drawn."""
    for has_faint in (False, True):
        signs = [one.text if one.is_clear or has_faint else "" for one in seen]
        yield list(_as_read(signs, joins=True))
        yield list(_as_read(signs, joins=False))


def _as_read(signs: list[str], *, joins: bool) -> Iterator[str]:
    """The characters normalized for search: ligatures as letters, and a hyphen at a line end."""
    broken = False
    for sign in signs:
        broken = sign == _HYPHEN or (broken and sign.isspace())
        text = sign.replace(_HYPHEN, "-")
        text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        yield "" if broken and joins else text


def _spans(seen: list[_Sign], patterns: Patterns) -> list[tuple[int, int]]:
    """The places of words in any reading."""
    readings = _readings(seen) if patterns else ()
    return joined_spans(span for signs in readings for span in found_spans(signs, patterns))


def _cover(page: PdfPage, image: Image.Image, patterns: Patterns) -> None:
    """Draw boxes over words."""
    seen = list(_seen(page, image.convert("L")))
    text = page.get_textpage()
    places = _Places(page, image.size)
    draw = ImageDraw.Draw(image)
    for start, end in _spans(seen, patterns):
        numbers = [one.number for one in seen[start:end] if not _is_between(one.text)]
        for left, top, right, bottom in _joined(_box(text, number, places) for number in numbers):
            area = floor(left) - _MARGIN, floor(top), ceil(right) + _MARGIN, ceil(bottom)
            draw.rectangle(area, fill=_COVER)


def _box(text: PdfTextPage, index: int, places: _Places) -> tuple[float, ...]:
    """The box over a character, as high as its line."""
    left, top, right, bottom = places.of(text.get_charbox(index))
    with suppress(pypdfium2.PdfiumError):
        line = places.of(text.get_charbox(index, loose=True))
        left, top = min(left, line[0]), min(top, line[1])
        right, bottom = max(right, line[2]), max(bottom, line[3])
    return left, top, right, bottom


def _joined(boxes: Iterable[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """One box for all that follow each other in a line, including blanks."""
    joined: list[tuple[float, ...]] = []
    for box in boxes:
        last = joined[-1] if joined else None
        if last and last[1] < (box[1] + box[3]) / 2 < last[3] and box[0] >= last[0]:
            joined[-1] = last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3])
        else:
            joined.append(box)
    return joined


def _scale(width: float, height: float, dpi: int) -> float:
    return min(dpi / 72, _LONGEST_SIDE / max(width, height, 1))


def _drawn(page: PdfPage, size: tuple[int, int], dpi: int) -> Image.Image:
    width, height = page.get_size()
    scale = _scale(width, height, dpi)
    drawn = page.render(scale=scale, may_draw_forms=False, draw_annots=False, rev_byteorder=True)
    image: Image.Image = drawn.to_pil()
    image = image if image.mode == "RGB" else image.convert("RGB")
    # pypdfium2 rounds up.
    return image if image.size == size else image.crop((0, 0, *size))


def _is_grey(image: Image.Image) -> bool:
    red, green, blue = image.split()
    differences = (ImageChops.difference(red, green), ImageChops.difference(green, blue))
    return all(_extremes(difference)[1] < _NO_COLOR for difference in differences)


def _extremes(gray: Image.Image) -> tuple[float, float]:
    """The darkest and the lightest value of a gray image."""
    return cast("tuple[float, float]", gray.getextrema())


class _Sign(NamedTuple):
    """A character with ink, or a blank between."""

    number: int  # on the page
    text: str
    is_clear: bool  # whether it is in the text that judges can copy


def _seen(page: PdfPage, gray: Image.Image) -> Iterator[_Sign]:
    """Each character with ink, and the blanks between."""
    text = page.get_textpage()
    places = _Places(page, gray.size)
    for index in range(text.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text, index))
        between = _is_between(sign)
        printable = sign.isprintable() or "\ud800" <= sign <= "\udfff"
        ink = _ink(text, index, sign, places, gray) if printable and not between else 0
        if between or ink >= _LEAST_INK:
            yield _Sign(index, sign, between or ink >= _LEAST_CONTRAST)


def _is_between(sign: str) -> bool:
    return sign.isspace() or sign == _HYPHEN


def _ink(text: PdfTextPage, index: int, sign: str, places: _Places, gray: Image.Image) -> float:
    """The contrast of a character; 0 if it cannot be read."""
    try:
        left, top, right, bottom = box = places.of(text.get_charbox(index))
        # Dots and dashes are small: the height of their line decides whether they can be read.
        line = box if sign.isalnum() else places.of(text.get_charbox(index, loose=True))
    except pypdfium2.PdfiumError:
        return 0
    # Text may run upward, so its height is the width of a box.
    height = max(line[2] - line[0], line[3] - line[1])
    if height < _LEAST_HEIGHT or left < 0 or top < 0 or right > gray.width or bottom > gray.height:
        return 0
    # A dash or a capital I fills its box; the neighboring pixels show its ink.
    narrow, wide = sorted((right - left, bottom - top))
    more = 1 if not sign.isalnum() or narrow < _NARROW * wide else 0
    area = floor(left) - more, floor(top) - more, ceil(right) + more, ceil(bottom) + more
    darkest, lightest = _extremes(gray.crop(area))
    return lightest - darkest


class _Places:
    """Conversion of boxes from page units to pixels."""

    def __init__(self, page: PdfPage, size: tuple[int, int]) -> None:
        origin, one, other = (self._device(page, size, *point) for point in _POINTS)
        self._x = origin[0], (one[0] - origin[0]) / _FAR, (other[0] - origin[0]) / _FAR
        self._y = origin[1], (one[1] - origin[1]) / _FAR, (other[1] - origin[1]) / _FAR

    @staticmethod
    def _device(page: PdfPage, size: tuple[int, int], x: float, y: float) -> tuple[float, float]:
        pixel = ctypes.c_int(), ctypes.c_int()
        width, height = size[0] * _FINE, size[1] * _FINE
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, *pixel)
        return pixel[0].value / _FINE, pixel[1].value / _FINE

    def of(self, box: tuple[float, float, float, float]) -> tuple[float, ...]:
        """Left, top, right, and bottom of a box."""
        corners = ((box[0], box[1]), (box[2], box[3]))
        xs = [self._x[0] + self._x[1] * x + self._x[2] * y for x, y in corners]
        ys = [self._y[0] + self._y[1] * x + self._y[2] * y for x, y in corners]
        return min(xs), min(ys), max(xs), max(ys)


MOST_PAGES = 500


class _Worker:
    """Answers requests and keeps the last document open."""

    def __init__(self) -> None:
        self._open: tuple[str, PdfDocument] | None = None

    def clean(self, request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        """The cleaned document and the sizes of its pages."""
        out = io.BytesIO()
        with pikepdf.open(io.BytesIO(content)) as pdf:
            if not len(pdf.pages):
                raise RefusedError("is a PDF without pages; save it again")
            if len(pdf.pages) > MOST_PAGES:
                raise RefusedError(
                    f"has {len(pdf.pages)} pages; a judge can look at {MOST_PAGES} at most"
                )
            entries = dict(entries_of(pdf))
            clean(pdf)
            pdf.save(out, deterministic_id=True)
        cleaned = out.getvalue()
        drawn = cast("PdfDocument", self._opened(request["key"], cleaned))
        sizes = [size_of(drawn, n + 1, request["dpi"]) for n in range(len(drawn))]
        return {"sizes": sizes, "entries": entries}, cleaned

    def text(self, request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        """The visible text of a page, and its other readings."""
        drawn = self._opened(request["key"], content)
        if drawn is None:
            return {"gone": True}, b""
        patterns = patterns_of(request["redacted"])
        return {"texts": visible_texts(drawn, request["page"], request["dpi"], patterns)}, b""

    def image(self, request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        """The image of a page and its file extension."""
        drawn = self._opened(request["key"], content)
        if drawn is None:
            return {"gone": True}, b""
        patterns = patterns_of(request["redacted"])
        image, ending = encoded(drawn, request["page"], request["dpi"], patterns)
        return {"ending": ending}, image

    def _opened(self, key: str, content: bytes) -> PdfDocument | None:
        """The cleaned document, which is sent again if another was opened since."""
        if content:
            if self._open:
                self._open[1].close()
            self._open = None
            self._open = key, pypdfium2.PdfDocument(content)
        return self._open[1] if self._open and self._open[0] == key else None


def _problem(error: Exception) -> str:
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):  # qpdf's message
        return "is a PDF that needs too much memory to be drawn; make it simpler"
    if isinstance(error, pikepdf.PasswordError):
        return "is a PDF with a password; save it without one"
    return "is a broken PDF; save it again"


if __name__ == "__main__":
    Image.init()
    pypdfium2.PdfDocument.new().close()
    worker = _Worker()
    serve({"clean": worker.clean, "text": worker.text, "image": worker.image}, _problem)
