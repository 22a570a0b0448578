"""The kind of a file, why it cannot be shown, and its metadata.

Metadata of images and PDFs may name authors, programs, and places.
"""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

from quem.errors import FileError, Mistake, QuemError
from quem.io.text import read_text
from quem.solutions.model import Kind, SolutionFile

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from PIL import Image


FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
# A quarter of a gigabyte when decoded.
MOST_PIXELS = 64_000_000
_LONGEST = 60
# Entries needed for display, which do not identify the author.
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
_MOST_TEXT = 1_000_000
_MOST_BYTES = 50_000_000
_MARKDOWN = {".md", ".markdown", ".mdown", ".mkd"}
_TEXT = {"", ".txt", ".text"}
_HTML = {".html", ".htm", ".xhtml"}
_BEGINNINGS = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
    ".webp": (b"RIFF",),
}
_ALL_BEGINNINGS = tuple({start for starts in _BEGINNINGS.values() for start in starts})
# Rasterized before anything else.
DRAWING = ".svg"
_PICTURES = (".bmp", ".tif", ".tiff", ".avif", ".heic", ".heif", ".jxl", ".ico", ".eps", ".psd")
# Extensions of office formats, and the parts that each requires.
_DOCUMENTS = {".docx": "word/", ".pptx": "ppt/", ".odt": "content.xml", ".odp": "content.xml"}
_WORKBOOKS = {".xlsx": "xl/", ".ods": "content.xml"}
_PACKAGES = _DOCUMENTS | _WORKBOOKS
_RTF = ".rtf"
_ENDINGS: dict[Kind, Container[str]] = {
    "markdown": _MARKDOWN,
    "html": _HTML,
    "image": {*_BEGINNINGS, DRAWING},
    "pdf": {".pdf"},
    "office": {*_DOCUMENTS, _RTF},
    "workbook": _WORKBOOKS,
    "notebook": {".ipynb"},
}
_REMEDIES = {
    ".svgz": "is a packed drawing; save it as SVG or PNG",
    **dict.fromkeys(_PICTURES, "is a picture that browsers may not show; save it as PNG"),
    ".doc": "is a document in an old format; save it as DOCX",
    ".xls": "is a workbook in an old format; save it as XLSX",
    ".ppt": "is a presentation in an old format; save it as PPTX",
    **dict.fromkeys((".docm", ".dotx", ".dotm"), "can hold macros or templates; save it as DOCX"),
    **dict.fromkeys((".xlsm", ".xlsb", ".xltx"), "can hold macros or templates; save it as XLSX"),
    **dict.fromkeys((".pptm", ".ppsx", ".ppsm"), "can hold macros or a show; save it as PPTX"),
    ".pages": "is a Pages document; export it as DOCX or PDF",
    ".key": "is a Keynote presentation; export it as PPTX or PDF",
    ".numbers": "is a Numbers workbook; export it as XLSX",
    ".epub": "is a book; save it as HTML or PDF",
    **dict.fromkeys((".zip", ".tar", ".gz", ".7z", ".rar"), "is an archive; unpack it here"),
}
_UNKNOWN = (
    "is in no format that can be shown; save it as Markdown, plain text, HTML, PNG, JPEG, PDF, "
    "DOCX, PPTX, or XLSX"
)
_DIGITS = "0123456789"
_IGNORED = re.compile(
    r"\..*|.*~|~\$.*|#.*#|Thumbs\.db|desktop\.ini|__MACOSX|__pycache__", re.IGNORECASE
)


def is_ignored(name: str) -> bool:
    """Whether a file's name is that of an editor's or the system's file."""
    return bool(_IGNORED.fullmatch(name))


def natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A sorting key that puts ``2.md`` before ``10.md``."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", name.casefold())
    return [(0, int(p), "") if p[0] in _DIGITS else (1, 0, p) for p in parts], name


def kind_of(path: PurePath) -> Kind:
    """The kind of a file by its extension; all except documents, pages, and images are code."""
    ending = path.suffix.casefold()
    for kind, endings in _ENDINGS.items():
        if ending in endings:
            return kind
    return "text" if ending in _TEXT or not ending[1:2].isalpha() else "code"


def inspect(
    path: Path, name: str, inner: str, *, what: str = "solution", only: Iterable[Kind] = ()
) -> SolutionFile:
    """Check that a file can be shown."""
    if remedy := _REMEDIES.get(path.suffix.casefold()):
        raise _refusal(name, remedy)
    kind = kind_of(path)
    allowed = set(only)
    if allowed and kind not in allowed:
        raise _refusal(name, f"is no {what} in Markdown, plain text, or HTML; save it as one")
    size, start = _beginning(path, name, what)
    if kind == "image":
        _check_image(path, name, size, start)
    elif kind == "pdf":
        _check_pdf(path, name, size, start)
    elif kind in ("office", "workbook"):
        _check_office(path, name, size, start)
    elif kind == "notebook":
        _check_notebook(path, name)
    else:
        _check_text(path, name, what, size, start)
    return SolutionFile(path, kind, name, str(PurePosixPath(inner)))


def _beginning(path: Path, name: str, what: str) -> tuple[int, bytes]:
    """The size of a regular file, and its first bytes."""
    try:
        if path.is_dir():
            raise _refusal(name, f"is a folder; name the {what} inside it")
        if path.exists() and not path.is_file():
            # Reading a pipe, for example, might never end.
            raise _refusal(name, f"is not a regular file; save the {what} as one")
        size = path.stat().st_size
        start = _start(path)
    except OSError as error:
        raise _refusal(name, f"cannot be read: {error.strerror or error}") from None
    if not size:
        raise _refusal(name, f"is empty; put the {what} into it")
    return size, start


def _check_image(path: Path, name: str, size: int, start: bytes) -> None:
    if size > _MOST_BYTES:
        raise _too_large(name, _MOST_BYTES)
    if path.suffix.casefold() == DRAWING:
        _check_drawing(path, name)
        return
    if not start.startswith(_ALL_BEGINNINGS):
        form = path.suffix[1:].upper()
        raise _refusal(name, f"is named as an image but is no {form}; save it again as PNG")

    from quem.blinding.workers import parser

    answer, _ = parser.ask("image_problem", path.read_bytes())
    if problem := answer["problem"]:
        raise _refusal(name, problem)


def _check_drawing(path: Path, name: str) -> None:
    from quem.blinding.images import clean_file

    try:
        clean_file(path)
    except FileError as error:
        raise _refusal(name, error.mistakes[0].message) from None


def _check_notebook(path: Path, name: str) -> None:
    from quem.blinding.notebooks import read_notebook

    try:
        notebook = read_notebook(path)
    except FileError as error:
        raise _refusal(name, error.mistakes[0].message) from None
    if not notebook.blocks:
        raise _refusal(name, "is an empty notebook; put the solution into it")


def _check_pdf(path: Path, name: str, size: int, start: bytes) -> None:
    if size > _MOST_BYTES:
        raise _too_large(name, _MOST_BYTES)
    if b"%PDF-" not in start:
        raise _refusal(name, "is named as a PDF but is none; save it again")

    if problem := pdf_problem(path):
        raise _refusal(name, problem)


def _check_office(path: Path, name: str, size: int, start: bytes) -> None:
    """Checks that need no LibreOffice; `quem.blinding.office` does the others."""
    from quem.blinding.packages import package_problem

    if size > _MOST_BYTES:
        raise _too_large(name, _MOST_BYTES)
    ending = path.suffix.casefold()
    if ending == _RTF:
        if not start.startswith(rb"{\rtf"):
            raise _refusal(name, "is named as RTF but is none; save it again")
    elif problem := package_problem(path, _PACKAGES[ending], ending[1:].upper()):
        raise _refusal(name, problem)


def _check_text(path: Path, name: str, what: str, size: int, start: bytes) -> None:
    if size > _MOST_TEXT:
        raise _too_large(name, _MOST_TEXT)
    if start.startswith((*_ALL_BEGINNINGS, b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise _refusal(name, _UNKNOWN)
    try:
        text = read_text(path, name, what=what)
    except QuemError:
        # Distinguishes a text in an old encoding from binary data.
        if any(byte < 9 for byte in start):  # noqa: PLR2004  a tab is the first sign of text
            raise _refusal(name, _UNKNOWN) from None
        raise
    if not text.strip("\ufeff \t\n"):
        raise _refusal(name, f"is empty; put the {what} into it")


def _too_large(name: str, most: int) -> QuemError:
    return _refusal(name, f"is larger than {most // 1_000_000} MB; make it smaller")


def _refusal(name: str, message: str) -> QuemError:
    return QuemError(Mistake(name, message=message))


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024)


def image_problem(raw: bytes) -> str:
    """Why an image cannot be shown; empty where it can."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(raw), formats=FORMATS) as image:
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
    """Decode an image to its end, at the lowest resolution of its format."""
    if image.format == "PNG":
        image.verify()
        return
    image.draft("L", (max(image.width // 8, 1), max(image.height // 8, 1)))
    image.load()


def pdf_problem(path: Path) -> str:
    """Why a PDF cannot be shown; empty where it can."""
    from quem.blinding.pdf import read_pdf

    try:
        read_pdf(path)
    except FileError as error:
        return error.message
    return ""


def metadata_of(file: SolutionFile) -> dict[str, str]:
    """The metadata of an image, a PDF, or an office file."""
    try:
        if file.kind in ("office", "workbook"):
            from quem.blinding.office import read_office

            entries = read_office(file).entries
        elif file.kind == "notebook":
            from quem.blinding.notebooks import notebook_entries

            entries = notebook_entries(file.path)
        else:
            is_image = file.kind == "image"
            entries = _image_metadata(file.path) if is_image else dict(_pdf_entries(file.path))
    except Exception:  # noqa: BLE001  a broken file is refused by `inspect`
        return {}
    lines = {name: " ".join(text.replace("\0", "").split()) for name, text in entries.items()}
    return {name: text[:_LONGEST] for name, text in lines.items() if text}


def _image_metadata(path: Path) -> dict[str, str]:
    from quem.blinding.workers import parser

    if path.suffix.casefold() == DRAWING:
        return {}
    answer, _ = parser.parsed("image_entries", path.read_bytes())
    return {str(name): str(text) for name, text in answer["entries"].items()}


def image_entries(raw: bytes) -> Iterator[tuple[str, str]]:
    """The metadata of an image: names of entries and their values."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(raw), formats=FORMATS) as image:
            if image.format == "PNG":
                # Text may follow the pixels.
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
    """The readable text of an XMP packet, without markup."""
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


# A longer text is not a solution that a judge can read, and slow to show.
