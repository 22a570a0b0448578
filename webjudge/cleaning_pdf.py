"""PDFs without authors, programs, dates, attachments and scripts."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Pdf, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["clean_pdf", "strip_jpeg"]

# Of the document: attachments, scripts, forms with their signatures, traces of programs.
_OF_ROOT = (
    *("/AA", "/AF", "/AcroForm", "/Collection", "/DSS", "/Legal", "/Metadata", "/OpenAction"),
    "/OutputIntents",
    *("/Perms", "/PieceInfo", "/Requirements", "/SpiderInfo", "/Threads", "/URI"),
)
_OF_NAMES = ("/AlternatePresentations", "/EmbeddedFiles", "/IDS", "/JavaScript", "/Renditions")
# Of any object: what programs keep for themselves, and events that run something.
_OF_ALL = (
    *("/AA", "/AF", "/LastModified", "/Metadata", "/PieceInfo", "/SeparationInfo"),
    *("/SourceModified", "/CreatorInfo", "/PtData", "/Measure", "/OPI"),
)
# Of an annotation: who made it, when, and under which name.
_OF_NOTE = (
    *("/T", "/NM", "/M", "/CreationDate", "/RC", "/Subj", "/V", "/DV", "/TU", "/TM", "/Parent"),
    *("/Popup", "/IRT"),
)
_OF_FIELD = ("/DA", "/FT", "/Ff", "/Kids", "/MK", "/MaxLen", "/Opt", "/Q", "/TI")
_HARMLESS_NOTES = {
    *("/Text", "/FreeText", "/Line", "/Square", "/Circle", "/Polygon", "/PolyLine", "/Ink"),
    *("/Highlight", "/Underline", "/Squiggly", "/StrikeOut", "/Caret", "/Stamp", "/Link"),
    "/Widget",
}
_HARMLESS_ACTIONS = {"/GoTo", "/URI", "/Named"}
_MARKER = 0xFF
_ADOBE = 0xEE
_FIRST_APP, _LAST_APP, _COMMENT, _SCAN, _END = 0xE0, 0xEF, 0xFE, 0xDA, 0xD9
_ALONE = {0x01, *range(0xD0, 0xD9)}


def clean_pdf(raw: bytes) -> bytes:
    """Write a PDF anew without what is not shown.

    Removed are document information, XMP, ids, attachments, scripts and other actions, form
    fields and signatures (their looks stay), authors and dates of annotations, thumbnails,
    private data of programs, and the metadata of images inside.

    Parameters
    ----------
    raw : bytes

    Returns
    -------
    bytes
        Without encryption.

    Raises
    ------
    ValueError
        It is broken, or needs a password.
    """
    try:
        with pikepdf.open(io.BytesIO(raw)) as pdf:
            _clean_document(pdf)
            out = io.BytesIO()
            pdf.save(out, deterministic_id=True, fix_metadata_version=False)
            return out.getvalue()
    except pikepdf.PasswordError:
        message = "is a PDF with a password; save it without one"
        raise ValueError(message) from None
    except Exception:  # noqa: BLE001  whatever is wrong with it, it must not be shown as it is
        message = "is a broken PDF; save it again"
        raise ValueError(message) from None


def _clean_document(pdf: Pdf) -> None:
    if "/AcroForm" in pdf.Root:
        # Fields that a viewer would have drawn from their values get a look of their own.
        pdf.generate_appearance_streams()
    _drop(pdf.trailer, ("/Info", "/ID"))
    _drop(pdf.Root, _OF_ROOT)
    names = pdf.Root.get("/Names")
    if isinstance(names, Dictionary):
        _drop(names, _OF_NAMES)
    for page in pdf.pages:
        _drop(page.obj, ("/Thumb",))
        _clean_notes(page.obj)
    for item in _outlines(pdf):
        _clean_action(item)
    for thing in pdf.objects:
        _clean_object(thing)


def _clean_notes(page: Object) -> None:
    """Keep the notes on a page that show something, without their authors."""
    notes = page.get("/Annots")
    if not isinstance(notes, Array):
        return
    kept = []
    for note in notes:
        if not isinstance(note, Dictionary) or str(note.get("/Subtype")) not in _HARMLESS_NOTES:
            continue
        _drop(note, _OF_NOTE)
        _clean_action(note)
        if note.Subtype == Name.Widget:
            # Without the form, the field is a picture of what was filled in.
            note.Subtype = Name.Stamp
            _drop(note, _OF_FIELD)
        kept.append(note)
    page[Name.Annots] = Array(kept)


def _clean_action(holder: Object) -> None:
    action = holder.get("/A")
    if isinstance(action, Dictionary) and str(action.get("/S")) not in _HARMLESS_ACTIONS:
        _drop(holder, ("/A",))
    elif isinstance(action, Dictionary):
        _drop(action, ("/Next",))


def _outlines(pdf: Pdf) -> Iterator[Object]:
    """Each entry of the table of contents."""
    seen: set[tuple[int, int]] = set()
    waiting = [pdf.Root.get("/Outlines")]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, Dictionary) or item.objgen in seen:
            continue
        if item.is_indirect:
            seen.add(item.objgen)
        yield item
        waiting += [item.get("/First"), item.get("/Next")]


def _clean_object(thing: Object, depth: int = 0) -> None:
    """Clean an object, and what it holds directly."""
    if isinstance(thing, Array):
        parts = list(thing.as_list())
    elif isinstance(thing, Dictionary | Stream):
        # Fonts and pictures may be called anything where a page lists them.
        _drop(thing, tuple(key for key in _OF_ALL if not _is_shown(thing.get(key))))
        if isinstance(thing, Stream):
            _clean_picture(thing)
        parts = [value for _, value in thing.items()]
    else:
        return
    for part in parts:
        direct = isinstance(part, Dictionary | Array) and not part.is_indirect
        if direct and depth < 50:  # noqa: PLR2004  deeper than any program writes
            _clean_object(part, depth + 1)


def _is_shown(value: object) -> bool:
    """Whether this is a font, a picture or a part of a page."""
    if not isinstance(value, Dictionary | Stream):
        return False
    return value.get("/Type") == Name.Font or value.get("/Subtype") in (Name.Image, Name.Form)


def _clean_picture(stream: Stream) -> None:
    """Clean a photograph inside, which carries all that its camera noted."""
    filters = stream.get("/Filter")
    names = [str(name) for name in filters] if isinstance(filters, Array) else [str(filters)]
    if stream.get("/Subtype") != Name.Image or names[-1] != "/DCTDecode":
        return
    raw = stream.read_raw_bytes()
    for name in names[:-1]:
        if name not in ("/FlateDecode", "/Fl"):
            return
        raw = zlib.decompress(raw)
    parms = stream.get("/DecodeParms")
    stream.write(strip_jpeg(raw), filter=Name.DCTDecode)
    last = parms[-1] if isinstance(parms, Array) and len(parms) else parms
    if isinstance(last, Dictionary):
        stream.DecodeParms = last


def _drop(thing: Object, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key in thing:
            del thing[key]


def strip_jpeg(raw: bytes) -> bytes:
    """Leave out what a JPEG holds beside its picture, without decoding it.

    Parameters
    ----------
    raw : bytes

    Returns
    -------
    bytes
        Without application segments (but Adobe's, which says how colours are coded) and
        comments; as it was where it is no JPEG.
    """
    if not raw.startswith(b"\xff\xd8"):
        return raw
    kept = [raw[:2]]
    at = 2
    while at + 4 <= len(raw):
        if raw[at] != _MARKER:
            return raw
        kind = raw[at + 1]
        if kind == _MARKER:
            at += 1
            continue
        if kind in _ALONE:
            kept.append(raw[at : at + 2])
            at += 2
            continue
        if kind in (_SCAN, _END):
            break
        end = at + 2 + int.from_bytes(raw[at + 2 : at + 4], "big")
        unseen = kind == _COMMENT or (_FIRST_APP <= kind <= _LAST_APP and kind != _ADOBE)
        if not unseen:
            kept.append(raw[at:end])
        at = end
    stop = raw.rfind(b"\xff\xd9")
    return b"".join(kept) + (raw[at : stop + 2] if stop > at else raw[at:])
