"""PDFs as a screen shows them: nothing stays that replaces text or is drawn by a viewer.

Only the worker imports this module, since it parses what strangers made. Its results are drawn,
and never sent: authors, programs and attachments need not be removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Pdf, Stream, String

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["clean", "entries_of"]

# Text that is read in place of what is seen.
_INSTEAD = ("/ActualText", "/Alt", "/E")
_UNUSED = ("/AA", "/AcroForm", "/Metadata", "/Names", "/OpenAction", "/Outlines", "/StructTreeRoot")
_MARKS = ("BDC", "DP")
_LONGEST_ENTRY = 100_000


def entries_of(pdf: Pdf) -> Iterator[tuple[str, str]]:
    """List what a document says of itself: names of entries, and what they say."""
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
    """Change a document so that what is drawn and what is read of it are the same.

    Notes and filled fields become part of their page, those without a look of their own are
    left out, and so are texts that a screen does not show.
    """
    if "/AcroForm" in pdf.Root:
        # Fields that a viewer would have drawn from their values get a look of their own.
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
    """Let the look of a note be hidden with the layer that the note is in."""
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
    """Drop the texts that replace others from an object, and from what it holds directly."""
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
    """Drop the same texts from the marks in what draws a page or a part of it."""
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
