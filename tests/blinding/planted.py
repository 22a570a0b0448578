"""A PDF with names planted wherever programs, cameras and cheats put them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, TypeAlias

import pikepdf
from pikepdf import Array, Name, Pdf
from pikepdf import Dictionary as Keys
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SHOWN = b"BT /F1 14 Tf 20 160 Td (An ordinary plan) Tj ET\n"
_DRAWN = "5 5 9 9 re f"


def token(kind: str) -> str:
    """A name that nothing else holds, for one kind of plant."""
    return "Zebulon" + "".join(word.capitalize() for word in kind.split())


def document(contents: bytes = _SHOWN, n_pages: int = 1) -> Pdf:
    pdf = pikepdf.new()
    font = Keys(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    for _ in range(n_pages):
        page = pdf.add_blank_page(page_size=(300, 200))
        page.obj.Resources = Keys(Font=Keys(F1=font), XObject={}, Properties={})
        page.obj.Contents = pdf.make_stream(contents)
    return pdf


Plant: TypeAlias = "Callable[[Pdf, pikepdf.Object, str], str | None]"


def _text(word: str, setup: str = "", place: str = "20 100 Td", size: float = 14) -> str:
    return f"q {setup} BT /F1 {size} Tf {place} ({word}) Tj ET Q\n"


def photo(word: str, form: str = "JPEG") -> bytes:
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x013B] = word
    Image.new("RGB", (8, 8), "teal").save(out, form, exif=exif, comment=word)
    return out.getvalue()


def _picture(pdf: Pdf, page: pikepdf.Object, word: str, form: str = "JPEG", xmp: str = "") -> str:
    image = pdf.make_stream(photo(word, form), Subtype=Name.Image, Width=8, Height=8)
    image.Filter = Name.DCTDecode if form == "JPEG" else Name.JPXDecode
    if form == "JPEG":
        image.ColorSpace, image.BitsPerComponent = Name.DeviceRGB, 8
    if xmp:
        image.Metadata = pdf.make_stream(xmp.encode())
    page.Resources.XObject.Im1 = image
    return "q 40 0 0 40 20 20 cm /Im1 Do Q\n"


def _form(
    pdf: Pdf,
    page: pikepdf.Object,
    content: str = _DRAWN,
    name: str = "Fm1",
    **keys: Any,  # noqa: ANN401  of PDF
) -> str:
    form = pdf.make_stream(content.encode(), Subtype=Name.Form, BBox=[0, 0, 300, 200])
    for key, value in keys.items():
        form[f"/{key.replace('_', '.')}"] = value
    form.Resources = Keys(Font=page.Resources.Font)
    page.Resources.XObject[f"/{name}"] = form
    return f"/{name} Do\n"


def _layer(pdf: Pdf, name: str, *, hidden: bool = False) -> pikepdf.Object:
    layer = pdf.make_indirect(Keys(Type=Name.OCG, Name=name))
    if "/OCProperties" not in pdf.Root:
        pdf.Root.OCProperties = Keys(OCGs=[], D=Keys(OFF=[], Order=[]))
    pdf.Root.OCProperties.OCGs.append(layer)
    if hidden:
        pdf.Root.OCProperties.D.OFF.append(layer)
    return layer


def _root(keys: str) -> Plant:
    """Plant a name for "?" under keys of the catalog."""

    def plant(pdf: Pdf, _page: pikepdf.Object, word: str) -> None:
        for key, value in pikepdf.Object.parse(keys.replace("?", word).encode()).items():
            pdf.Root[key] = value

    return plant


def _page(keys: str, content: str = "") -> Plant:
    """Plant a name for "?" under keys of the page, or of its resources, and in its content."""

    def plant(_pdf: Pdf, page: pikepdf.Object, word: str) -> str:
        for key, value in pikepdf.Object.parse(keys.replace("?", word).encode()).items():
            (page.Resources if content else page)[key] = value
        return content.replace("?", word)

    return plant


def _note(keys: str) -> Plant:
    """Plant an annotation, with a name for "?"."""

    def plant(pdf: Pdf, page: pikepdf.Object, word: str) -> None:
        whole = f"<< /Type /Annot /Rect [200 10 260 40] {keys.replace('?', word)} >>"
        page.Annots = Array([pdf.make_indirect(pikepdf.Object.parse(whole.encode()))])
        if "/Widget" in keys:
            if "/AcroForm" not in pdf.Root:
                pdf.Root.AcroForm = Keys(Fields=[])
            pdf.Root.AcroForm.Fields.append(page.Annots[0])

    return plant


def _attachment(pdf: Pdf, _page: pikepdf.Object, word: str) -> None:
    pdf.attachments[f"{word}.txt"] = word.encode()


def _xmp(pdf: Pdf, _page: pikepdf.Object, word: str) -> None:
    pdf.Root.Metadata = pdf.make_stream(f"<x><creator>{word}</creator></x>".encode())


def _destination(pdf: Pdf, page: pikepdf.Object, word: str) -> None:
    names = pdf.Root.Names if "/Names" in pdf.Root else Keys()
    names.Dests = Keys(Names=[word, Array([page, Name.Fit])])
    pdf.Root.Names = names


def _inline(_pdf: Pdf, _page: pikepdf.Object, word: str) -> str:
    keys = "/W 8 /H 8 /CS /RGB /BPC 8 /F [/AHx /DCT]"
    return f"q 40 0 0 40 20 20 cm BI {keys} ID\n{photo(word).hex()}>\nEI Q\n"


def _in_layer(pdf: Pdf, page: pikepdf.Object, name: str, text: str = "") -> str:
    page.Resources.Properties.L1 = _layer(pdf, name, hidden=bool(text))
    return f"/OC /L1 BDC {_text(text) if text else _DRAWN} EMC\n"


def _note_in_hidden_layer(pdf: Pdf, page: pikepdf.Object, word: str) -> None:
    look = pdf.make_stream(_text(word, place="2 5 Td").encode(), BBox=[0, 0, 200, 40])
    look.Subtype, look.Resources = Name.Form, Keys(Font=page.Resources.Font)
    note = Keys(Subtype=Name.Stamp, Rect=[20, 20, 220, 60], AP=Keys(N=look))
    note.OC = _layer(pdf, "stamps", hidden=True)
    page.Annots = Array([pdf.make_indirect(note)])


# Places outside of the page: 31 kinds.
PLANTS: Mapping[str, Plant] = {
    "document information": lambda pdf, _, word: pdf.docinfo.update({"/Author": word}),
    "xmp": _xmp,
    "attachment": _attachment,
    "page labels": _root("<< /PageLabels << /Nums [0 << /P (?) /S /D >>] >> >>"),
    "structure title": _root(
        "<< /StructTreeRoot << /Type /StructTreeRoot /K << /S /P /T (?) /Alt (?) /ActualText (?) "
        "/E (?) /K 0 >> >> >>"
    ),
    "named destination": _destination,
    "outline": _root("<< /Outlines << /First << /Title (?) /Dest [0 /Fit] >> /Count 1 >> >>"),
    "beads": _page("<< /B [<< /T << /I << /Title (?) >> >> /R [0 0 9 9] >>] >>"),
    "unknown key of the catalog": _root("<< /ZzMaker (?) >>"),
    "unknown key of the page": _page("<< /ZzMaker (?) >>"),
    "private data": _page("<< /PieceInfo << /Tool << /Private (?) >> >> >>"),
    "script": _root("<< /OpenAction << /JS (?) >> >>"),
    "viewer": _root("<< /ViewerPreferences << /Zz (?) >> >>"),
    "ptex file name": lambda pdf, page, word: _form(pdf, page, PTEX_FileName=f"./{word}/fig.pdf"),
    "ptex info": lambda pdf, page, word: _form(pdf, page, PTEX_InfoDict=Keys(Creator=word)),
    "form private": lambda pdf, page, word: _form(pdf, page, LastModified=word),
    "resource": lambda pdf, page, word: _form(pdf, page, name=word),
    "separation": _page(
        "<< /ColorSpace << /Cs1 [/Separation /? /DeviceGray "
        "<< /FunctionType 2 /Domain [0 1] /C0 [0] /C1 [1] /N 1 >>] >> >>",
        f"/Cs1 cs 1 scn {_DRAWN}\n",
    ),
    "font": _page(
        "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+? >> >> >>", "\n"
    ),
    "content comment": _page("<< >>", "% ?\n"),
    "exif": _picture,
    "jpeg2000": lambda pdf, page, word: _picture(pdf, page, word, "JPEG2000"),
    "inline image": _inline,
    "image metadata": lambda pdf, page, word: _picture(pdf, page, "x", xmp=word),
    "layer": _in_layer,
    "note author": _note("/Subtype /Text /T (?) /Contents (a remark)"),
    "note contents": _note("/Subtype /Text /Contents (?)"),
    "popup": _note("/Subtype /Popup /T (?) /Contents (?) /Open true"),
    "file link": _note("/Subtype /Link /A << /S /URI /URI (file:///home/?/a.pdf) >>"),
    "field name": _note("/Subtype /Widget /FT /Tx /T (?) /TU (?) /DV (?)"),
    "signature": _note("/Subtype /Widget /FT /Sig /T (s) /V << /Type /Sig /Name (?) >>"),
}
_COVER = "rg 10 80 250 50 re f Q\n"
_INSTEAD = f"/Span << /ActualText (?) /Alt (?) /E (?) >> BDC {_text('Seen')}EMC\n"

# Places of invisible text: 14 kinds.
HIDDEN: Mapping[str, Plant] = {
    "render mode": _page("<< >>", _text("?", place="3 Tr 20 100 Td")),
    "white on white": _page("<< >>", _text("?", "1 g")),
    "nearly white": _page("<< >>", _text("?", ".97 g")),
    "hidden layer": lambda pdf, page, word: _in_layer(pdf, page, "notes", word),
    "note in hidden layer": _note_in_hidden_layer,
    "covered": _page("<< >>", f"{_text('?')}q 0 .2 .4 {_COVER}"),
    "covered by white": _page("<< >>", f"{_text('?')}q 1 1 1 {_COVER}"),
    "tiny": _page("<< >>", _text("?", size=0.1)),
    "outside": _page("<< >>", _text("?", place="20 300 Td")),
    "clipped": _page("<< >>", _text("?", "0 0 1 1 re W n")),
    "transparent": _page("<< /ExtGState << /Gs1 << /ca 0 /CA 0 >> >> >>", _text("?", "/Gs1 gs")),
    "instead of text": _page("<< >>", _INSTEAD),
    "in a property list": _page(
        "<< /Properties << /P1 << /ActualText (?) >> >> >>", f"/Span /P1 BDC {_text('Seen')}EMC\n"
    ),
    "in a form": lambda pdf, page, word: _form(pdf, page, _INSTEAD.replace("?", word)),
}


def planted(kinds: Mapping[str, Plant], name: Callable[[str], str] = token) -> bytes:
    """A PDF with one page per kind, with an ordinary text beside the planted one."""
    pdf = document(n_pages=len(kinds))
    for page, (kind, plant) in zip(pdf.pages, kinds.items(), strict=True):
        more = plant(pdf, page.obj, name(kind)) or ""
        page.obj.Contents = pdf.make_stream(_SHOWN + more.encode())
    out = io.BytesIO()
    pdf.save(out, fix_metadata_version=False)
    return out.getvalue()
