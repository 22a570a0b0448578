"""Pages of PDFs as images, with the text that can be seen in them.

Only the worker imports this module: pdfium parses what strangers made, one page at a time.
"""

from __future__ import annotations

import ctypes
import io
import re
import unicodedata
from math import ceil, floor
from typing import TYPE_CHECKING, cast

import pypdfium2
from PIL import Image, ImageChops
from pypdfium2 import raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

__all__ = ["encoded", "size_of", "visible_text"]

_LONGEST_SIDE = 5_000
_JPEG_QUALITY = 85
# Bits per pixel of brightness: a page of text has about 1, a photograph 7.
_PHOTOGRAPH = 5.0
_NO_COLOR = 8
# Pixels and steps of grey that a character needs to be seen.
_LEAST_HEIGHT = 3
_LEAST_CONTRAST = 24
_NARROW = 0.4
# Coordinates are taken at this many parts of a pixel, and from points this far apart.
_FINE = 64
_FAR = 1_000.0
_POINTS = ((0.0, 0.0), (_FAR, 0.0), (0.0, _FAR))
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# A hyphen at the end of a line, as pdfium tells it.
_HYPHEN = "\x02"
_BROKEN_WORD = re.compile(f"{_HYPHEN}\\s*")
_UNSEEN = re.compile("[^\\S\n]+")


def size_of(pdf: PdfDocument, number: int, dpi: int) -> tuple[int, int]:
    """Give width and height of a page's image in pixels.

    Parameters
    ----------
    number : int
        Of the page, from 1.
    dpi : int
        Pixels per inch; fewer where a side would be longer than 5,000 pixels.
    """
    width, height = pdf.get_page_size(number - 1)
    scale = _scale(width, height, dpi)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def encoded(pdf: PdfDocument, number: int, dpi: int) -> tuple[bytes, str]:
    """Draw a page.

    Returns
    -------
    content : bytes
    ending : {"png", "jpg"}
        JPEG only where the page is a photograph.
    """
    image = _drawn(pdf[number - 1], size_of(pdf, number, dpi), dpi)
    grey = image.convert("L")
    is_grey = _is_grey(image)
    out = io.BytesIO()
    if grey.entropy() > _PHOTOGRAPH:
        (grey if is_grey else image).save(out, "JPEG", quality=_JPEG_QUALITY)
        return out.getvalue(), "jpg"
    if not is_grey:
        grey = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    grey.save(out, "PNG")
    return out.getvalue(), "png"


def visible_text(pdf: PdfDocument, number: int, dpi: int) -> str:
    """Give the text of a page, of which only what has ink in the image is kept.

    Returns
    -------
    str
        Lines in the order of the document.
    """
    page = pdf[number - 1]
    grey = _drawn(page, size_of(pdf, number, dpi), dpi).convert("L")
    signs = "".join(_seen(page, grey))
    signs = signs.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    signs = _BROKEN_WORD.sub("", signs.replace("\r\n", "\n").replace("\r", "\n"))
    signs = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), signs)
    lines = [_UNSEEN.sub(" ", line).strip() for line in signs.split("\n")]
    return "\n".join(line for line in lines if line)


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
    apart = (ImageChops.difference(red, green), ImageChops.difference(green, blue))
    return all(_extremes(difference)[1] < _NO_COLOR for difference in apart)


def _extremes(grey: Image.Image) -> tuple[float, float]:
    """The darkest and the lightest value of a grey image."""
    return cast("tuple[float, float]", grey.getextrema())


def _seen(page: PdfPage, grey: Image.Image) -> Iterator[str]:
    """Each character that has ink, and what is between."""
    text = page.get_textpage()
    places = _Places(page, grey.size)
    for index in range(text.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text, index))
        between = sign.isspace() or sign == _HYPHEN
        printable = sign.isprintable() or "\ud800" <= sign <= "\udfff"
        if between or (printable and _has_ink(text, index, sign, places, grey)):
            yield sign


def _has_ink(text: PdfTextPage, index: int, sign: str, places: _Places, grey: Image.Image) -> bool:
    try:
        left, top, right, bottom = box = places.of(text.get_charbox(index))
        # Points and dashes are small: how high their line is says whether they can be read.
        line = box if sign.isalnum() else places.of(text.get_charbox(index, loose=True))
    except pypdfium2.PdfiumError:
        return False
    # Text may run upward, so that its height is the width of a box.
    height = max(line[2] - line[0], line[3] - line[1])
    if height < _LEAST_HEIGHT or left < 0 or top < 0 or right > grey.width or bottom > grey.height:
        return False
    # A dash, or an I in large letters, fills its box; what is beside it shows that it is there.
    narrow, wide = sorted((right - left, bottom - top))
    more = 1 if not sign.isalnum() or narrow < _NARROW * wide else 0
    area = floor(left) - more, floor(top) - more, ceil(right) + more, ceil(bottom) + more
    darkest, lightest = _extremes(grey.crop(area))
    return lightest - darkest >= _LEAST_CONTRAST


class _Places:
    """Boxes in pixels of the image, from boxes in units of the page."""

    def __init__(self, page: PdfPage, size: tuple[int, int]) -> None:
        origin, one, other = (self._device(page, size, *point) for point in _POINTS)
        self._x = origin[0], (one[0] - origin[0]) / _FAR, (other[0] - origin[0]) / _FAR
        self._y = origin[1], (one[1] - origin[1]) / _FAR, (other[1] - origin[1]) / _FAR

    @staticmethod
    def _device(page: PdfPage, size: tuple[int, int], x: float, y: float) -> tuple[float, float]:
        found = ctypes.c_int(), ctypes.c_int()
        width, height = size[0] * _FINE, size[1] * _FINE
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, *found)
        return found[0].value / _FINE, found[1].value / _FINE

    def of(self, box: tuple[float, float, float, float]) -> tuple[float, ...]:
        """Give left, top, right and bottom."""
        corners = ((box[0], box[1]), (box[2], box[3]))
        xs = [self._x[0] + self._x[1] * x + self._x[2] * y for x, y in corners]
        ys = [self._y[0] + self._y[1] * x + self._y[2] * y for x, y in corners]
        return min(xs), min(ys), max(xs), max(ys)
