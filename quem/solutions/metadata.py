"""What images and PDFs say beside what they show: authors, programs, places."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from PIL import Image

__all__ = ["FORMATS", "MOST_PIXELS", "image_problem", "metadata_of", "pdf_problem"]

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
# Decoded, this is a quarter of a gigabyte.
MOST_PIXELS = 64_000_000
_LONGEST = 60
# What an image needs to be shown says nothing of its maker.
_TECHNICAL = {
    "dpi", "jfif", "jfif_version", "jfif_unit", "jfif_density", "adobe", "adobe_transform",
    "gamma", "srgb", "transparency", "background", "duration", "loop", "extension", "interlace",
    "progressive", "progression", "aspect", "version", "timestamp", "chromaticity", "bbox",
    "default_image", "blend", "disposal", "mpoffset", "photoshop",
}  # fmt: skip
_EXIF_NAMES = {
    0x010E: "ImageDescription", 0x010F: "Make", 0x0110: "Model", 0x0131: "Software",
    0x0132: "DateTime", 0x013B: "Artist", 0x013C: "HostComputer", 0x8298: "Copyright",
    0x9C9B: "XPTitle", 0x9C9C: "XPComment", 0x9C9D: "XPAuthor", 0x9C9E: "XPKeywords",
    0x9C9F: "XPSubject",
}  # fmt: skip
_EXIF_PART, _GPS_PART = 0x8769, 0x8825
_EXIF_PART_NAMES = {0x9286: "UserComment", 0xA430: "CameraOwnerName", 0xA431: "BodySerialNumber"}


def image_problem(path: Path) -> str:
    """Say why an image cannot be shown; nothing where it can."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    return f"has {width} x {height} pixels, too many to be shown; make it smaller"
                _look_through(image)
    except (UnidentifiedImageError, SyntaxError):
        return "is a broken image; save it again"
    except Image.DecompressionBombError:
        return "has too many pixels to be shown; make it smaller"
    except Exception:  # noqa: BLE001  Pillow raises whatever its decoders stumble over
        return "is a broken image; save it again"
    return ""


def _look_through(image: Image.Image) -> None:
    """Read an image to its end, as coarsely as its format allows."""
    if image.format == "PNG":
        image.verify()
        return
    image.draft("L", (max(image.width // 8, 1), max(image.height // 8, 1)))
    image.load()


def pdf_problem(path: Path) -> str:
    """Say why a PDF cannot be shown; nothing where it can."""
    from quem.blinding.pdf import read_pdf
    from quem.errors import FileError

    try:
        read_pdf(path)
    except FileError as error:
        return error.message
    return ""


def metadata_of(path: Path, kind: str) -> dict[str, str]:
    """List what an image or a PDF says of itself.

    Returns
    -------
    dict of str to str
        Name of the entry to what it says, cut to a line. Empty where the file cannot be read:
        that is reported elsewhere.
    """
    try:
        entries = dict(_image_entries(path) if kind == "image" else _pdf_entries(path))
    except Exception:  # noqa: BLE001  a broken file is refused by `inspect`
        return {}
    lines = {name: " ".join(text.replace("\0", "").split()) for name, text in entries.items()}
    return {name: text[:_LONGEST] for name, text in lines.items() if text}


def _image_entries(path: Path) -> Iterator[tuple[str, str]]:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path, formats=FORMATS) as image:
            if image.format == "PNG":
                # Text may stand behind the pixels.
                image.load()
            yield from _exif_entries(image.getexif())
            yield from _info_entries(image.info)
            if "photoshop" in image.info:
                yield "IPTC", "present"


def _exif_entries(exif: Mapping[int, object]) -> Iterator[tuple[str, str]]:
    for tag, name in _EXIF_NAMES.items():
        if tag in exif:
            yield name, _text(exif[tag])
    get_ifd = getattr(exif, "get_ifd", None)
    if get_ifd:
        part = get_ifd(_EXIF_PART)
        yield from (
            (name, _text(part[tag])) for tag, name in _EXIF_PART_NAMES.items() if tag in part
        )
        if get_ifd(_GPS_PART):
            yield "GPS", "a place"


def _info_entries(info: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    for key, value in info.items():
        name = str(key)
        if name.casefold() in _TECHNICAL or name.casefold() == "exif":
            continue
        if name == "icc_profile":
            continue
        if name.casefold() in ("xmp", "xml:com.adobe.xmp"):
            yield "XMP", _xmp(value)
        elif isinstance(value, str | bytes):
            yield name, _text(value)


def _xmp(value: object) -> str:
    """What people read of an XMP packet: its text without markup."""
    import re

    text = re.sub(r"<\?.*?\?>|</?[^>]*>", " ", _text(value), flags=re.DOTALL)
    return " ".join(text.split()) or "present"


def _text(value: object) -> str:
    if isinstance(value, bytes):
        encoding = "utf-16-le" if value[1:2] == b"\0" else "utf-8"
        return value.decode(encoding, "replace")
    return str(value)


def _pdf_entries(path: Path) -> Iterator[tuple[str, str]]:
    from quem.blinding.pdf import read_pdf

    for name, text in read_pdf(path).entries.items():
        yield name, _xmp(text) if name == "XMP" else text
