"""A PDF with names planted wherever programs, cameras and cheats put them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pikepdf
from pikepdf import Array, Dictionary, Name, Pdf
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SHOWN = b"BT /F1 14 Tf 20 160 Td (An ordinary plan) Tj ET\n"


def token(kind: str) -> str:
    """A name that nothing else holds, for one kind of plant."""
    return "Zebulon" + "".join(word.capitalize() for word in kind.split())


def document(contents: bytes = _SHOWN, n_pages: int = 1) -> Pdf:
    """A document with some text on each page."""
    pdf = pikepdf.new()
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    for _ in range(n_pages):
        page = pdf.add_blank_page(page_size=(300, 200))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font), XObject={}, Properties={})
        page.obj.Contents = pdf.make_stream(contents)
    return pdf


def _text(word: str, setup: str = "", place: str = "20 100 Td", size: float = 14) -> bytes:
    return f"q {setup} BT /F1 {size} Tf {place} ({word}) Tj ET Q\n".encode()


def _jpeg(word: str) -> bytes:
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x013B] = word
    Image.new("RGB", (8, 8), "teal").save(out, "JPEG", exif=exif, comment=word)
    return out.getvalue()


def _jpeg2000(word: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(out, "JPEG2000", comment=word)
    return out.getvalue()


def _picture(pdf: Pdf, page: pikepdf.Page, raw: bytes, filter_: Name, **more: Any) -> bytes:  # noqa: ANN401  keys of the PDF
    image = pdf.make_stream(raw, Type=Name.XObject, Subtype=Name.Image, Width=8, Height=8, **more)
    image.Filter = filter_
    if filter_ == Name.DCTDecode:
        image.ColorSpace, image.BitsPerComponent = Name.DeviceRGB, 8
    page.obj.Resources.XObject.Im1 = image
    return b"q 40 0 0 40 20 20 cm /Im1 Do Q\n"


def _form(pdf: Pdf, page: pikepdf.Page, content: bytes = b"0 0 9 9 re f", **more: Any) -> bytes:  # noqa: ANN401  keys of the PDF
    form = pdf.make_stream(content, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 300, 200])
    for key, value in more.items():
        form[f"/{key.replace('_', '.')}"] = value
    form.Resources = Dictionary(Font=page.obj.Resources.Font)
    page.obj.Resources.XObject.Fm1 = form
    return b"/Fm1 Do\n"


def _layer(pdf: Pdf, name: str, *, hidden: bool = False) -> pikepdf.Object:
    layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=name))
    if "/OCProperties" not in pdf.Root:
        pdf.Root.OCProperties = Dictionary(OCGs=[], D=Dictionary(OFF=[], Order=[]))
    pdf.Root.OCProperties.OCGs.append(layer)
    if hidden:
        pdf.Root.OCProperties.D.OFF.append(layer)
    return layer


def _set(*path: str) -> Callable[[Pdf, pikepdf.Page, str], None]:
    """Plant a text under keys of the catalog, or of the page where the path begins with it."""

    def plant(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
        holder = page.obj if path[0] == "page" else pdf.Root
        for key in path[1:-1] if path[0] == "page" else path[:-1]:
            if key not in holder:
                holder[key] = Dictionary()
            holder = holder[key]
        holder[path[-1]] = pikepdf.String(word)

    return plant


def _note(**keys: Any) -> Callable[[Pdf, pikepdf.Page, str], None]:  # noqa: ANN401  keys of the PDF
    """Plant an annotation; "?" in its values becomes the name."""

    def plant(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
        filled = {f"/{key}": _filled(value, word) for key, value in keys.items()}
        note = Dictionary({"/Type": Name.Annot, "/Rect": [200, 10, 260, 40], **filled})
        page.obj.Annots = Array([pdf.make_indirect(note)])
        if keys["Subtype"] == Name.Widget:
            if "/AcroForm" not in pdf.Root:
                pdf.Root.AcroForm = Dictionary(Fields=[])
            pdf.Root.AcroForm.Fields.append(page.obj.Annots[0])

    return plant


def _filled(value: object, word: str) -> Any:  # noqa: ANN401  an object of pikepdf
    if isinstance(value, dict):
        return Dictionary({f"/{key}": _filled(part, word) for key, part in value.items()})
    return value.replace("?", word) if isinstance(value, str) else value


def _info(pdf: Pdf, _page: pikepdf.Page, word: str) -> None:
    pdf.docinfo["/Author"] = word


def _attachment(pdf: Pdf, _page: pikepdf.Page, word: str) -> None:
    pdf.attachments[f"{word}.txt"] = word.encode()


def _xmp(pdf: Pdf, _page: pikepdf.Page, word: str) -> None:
    pdf.Root.Metadata = pdf.make_stream(f"<x><creator>{word}</creator></x>".encode())


def _page_labels(pdf: Pdf, _page: pikepdf.Page, word: str) -> None:
    pdf.Root.PageLabels = Dictionary(Nums=[0, Dictionary(P=word, S=Name.D)])


def _structure(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
    element = Dictionary(S=Name.P, T=word, Alt=word, ActualText=word, E=word, Pg=page.obj, K=0)
    root = Dictionary(Type=Name.StructTreeRoot, K=pdf.make_indirect(element))
    pdf.Root.StructTreeRoot = pdf.make_indirect(root)


def _destination(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
    names = pdf.Root.Names if "/Names" in pdf.Root else Dictionary()
    names.Dests = Dictionary(Names=[word, Array([page.obj, Name.Fit])])
    pdf.Root.Names = names


def _outline(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
    with pdf.open_outline() as outline:
        outline.root.append(pikepdf.OutlineItem(word, pdf.pages.index(page)))


def _bead(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
    thread = pdf.make_indirect(Dictionary(I=Dictionary(Title=word)))
    bead = pdf.make_indirect(Dictionary(T=thread, P=page.obj, R=[0, 0, 9, 9]))
    bead.N = bead.V = bead
    thread.F = bead
    pdf.Root.Threads, page.obj.B = Array([thread]), Array([bead])


def _inline(_pdf: Pdf, _page: pikepdf.Page, word: str) -> bytes:
    raw = _jpeg(word).hex().encode()
    return (
        b"q 40 0 0 40 20 20 cm BI /W 8 /H 8 /CS /RGB /BPC 8 /F [/AHx /DCT] ID\n"
        + raw
        + b">\nEI Q\n"
    )


def _separation(_pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    tint = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0], C1=[1], N=1)
    space = Array([Name.Separation, Name(f"/{word}"), Name.DeviceGray, tint])
    page.obj.Resources.ColorSpace = Dictionary(Cs1=space)
    return b"/Cs1 cs 1 scn 5 5 9 9 re f\n"


def _resource(pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    drawn = _form(pdf, page)
    page.obj.Resources.XObject[f"/{word}"] = page.obj.Resources.XObject.Fm1
    return drawn.replace(b"Fm1", word.encode())


def _layer_name(pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    page.obj.Resources.Properties.L1 = _layer(pdf, word)
    return b"/OC /L1 BDC 5 5 9 9 re f EMC\n"


def _font(_pdf: Pdf, page: pikepdf.Page, word: str) -> None:
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name(f"/ABCDEF+{word}"))
    page.obj.Resources.Font = Dictionary(F1=font)


# What is beside the page: 31 kinds.
PLANTS: Mapping[str, Callable[[Pdf, pikepdf.Page, str], bytes | None]] = {
    "document information": _info,
    "xmp": _xmp,
    "attachment": _attachment,
    "page labels": _page_labels,
    "structure title": _structure,
    "named destination": _destination,
    "outline": _outline,
    "beads": _bead,
    "unknown key of the catalog": _set("/ZzMaker"),
    "unknown key of the page": _set("page", "/ZzMaker"),
    "private data": _set("page", "/PieceInfo", "/Tool", "/Private"),
    "script": _set("/OpenAction", "/JS"),
    "viewer": _set("/ViewerPreferences", "/Zz"),
    "ptex file name": lambda pdf, page, word: _form(pdf, page, PTEX_FileName=f"./{word}/fig.pdf"),
    "ptex info": lambda pdf, page, word: _form(pdf, page, PTEX_InfoDict=Dictionary(Creator=word)),
    "form private": lambda pdf, page, word: _form(pdf, page, LastModified=word),
    "resource": _resource,
    "separation": _separation,
    "font": _font,
    "content comment": lambda _pdf, _page, word: f"% {word}\n".encode(),
    "exif": lambda pdf, page, word: _picture(pdf, page, _jpeg(word), Name.DCTDecode),
    "jpeg2000": lambda pdf, page, word: _picture(pdf, page, _jpeg2000(word), Name.JPXDecode),
    "inline image": _inline,
    "image metadata": lambda pdf, page, word: _picture(
        pdf, page, _jpeg("x"), Name.DCTDecode, Metadata=pdf.make_stream(word.encode())
    ),
    "layer": _layer_name,
    "note author": _note(Subtype=Name.Text, T="?", Contents="a remark"),
    "note contents": _note(Subtype=Name.Text, Contents="?"),
    "popup": _note(Subtype=Name.Popup, T="?", Contents="?", Open=True),
    "file link": _note(Subtype=Name.Link, A={"S": Name.URI, "URI": "file:///home/?/a.pdf"}),
    "field name": _note(Subtype=Name.Widget, FT=Name.Tx, T="?", TU="?", DV="?"),
    "signature": _note(Subtype=Name.Widget, FT=Name.Sig, T="s", V={"Type": Name.Sig, "Name": "?"}),
}


def _in_hidden_layer(pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    page.obj.Resources.Properties.L2 = _layer(pdf, "notes", hidden=True)
    return b"/OC /L2 BDC " + _text(word) + b" EMC\n"


def _note_in_hidden_layer(pdf: Pdf, page: pikepdf.Page, word: str) -> None:
    look = pdf.make_stream(_text(word, place="2 5 Td"), Subtype=Name.Form, BBox=[0, 0, 200, 40])
    look.Resources = Dictionary(Font=page.obj.Resources.Font)
    note = Dictionary(Subtype=Name.Stamp, Rect=[20, 20, 220, 60], AP=Dictionary(N=look))
    note.OC = _layer(pdf, "stamps", hidden=True)
    page.obj.Annots = Array([pdf.make_indirect(note)])


def _in_property_list(_pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    page.obj.Resources.Properties.P1 = Dictionary(ActualText=word)
    return b"/Span /P1 BDC " + _text("Seen") + b"EMC\n"


def _transparent(_pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    page.obj.Resources.ExtGState = Dictionary(Gs1=Dictionary(ca=0, CA=0))
    return _text(word, "/Gs1 gs")


def _in_marks(_pdf: Pdf, _page: pikepdf.Page, word: str) -> bytes:
    keys = f"/ActualText ({word}) /Alt ({word}) /E ({word})"
    return f"/Span << {keys} >> BDC ".encode() + _text("Seen") + b"EMC\n"


def _in_form(pdf: Pdf, page: pikepdf.Page, word: str) -> bytes:
    content = f"/Span << /ActualText ({word}) >> BDC ".encode() + _text("Seen") + b"EMC"
    return _form(pdf, page, content)


# What text is found in, and nobody sees: 14 kinds.
HIDDEN: Mapping[str, Callable[[Pdf, pikepdf.Page, str], bytes | None]] = {
    "render mode": lambda _pdf, _page, word: _text(word, place="3 Tr 20 100 Td"),
    "white on white": lambda _pdf, _page, word: _text(word, "1 g"),
    "nearly white": lambda _pdf, _page, word: _text(word, ".97 g"),
    "hidden layer": _in_hidden_layer,
    "note in hidden layer": _note_in_hidden_layer,
    "covered": lambda _p, _q, word: _text(word) + b"q 0 .2 .4 rg 10 80 250 50 re f Q\n",
    "covered by white": lambda _p, _q, word: _text(word) + b"q 1 g 10 80 250 50 re f Q\n",
    "tiny": lambda _pdf, _page, word: _text(word, size=0.1),
    "outside": lambda _pdf, _page, word: _text(word, place="20 300 Td"),
    "clipped": lambda _pdf, _page, word: _text(word, "0 0 1 1 re W n"),
    "transparent": _transparent,
    "instead of text": _in_marks,
    "in a property list": _in_property_list,
    "in a form": _in_form,
}


def planted(
    kinds: Mapping[str, Callable[[Pdf, pikepdf.Page, str], bytes | None]],
    name: Callable[[str], str] = token,
) -> bytes:
    """Give a PDF with a page for each kind, which shows an ordinary text beside what is planted."""
    pdf = document(n_pages=len(kinds))
    for page, (kind, plant) in zip(pdf.pages, kinds.items(), strict=True):
        more = plant(pdf, page, name(kind))
        page.obj.Contents = pdf.make_stream(_SHOWN + (more or b""))
    out = io.BytesIO()
    pdf.save(out, fix_metadata_version=False)
    return out.getvalue()
