"""Documents, slides, and workbooks with names planted wherever programs and cheats put them.

Each function takes `name`, which gives the name to plant for a kind of plant, and the address of
a host that nobody may call. All show an ordinary text beside what is planted.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Name: TypeAlias = Callable[[str], str]

BEGINNING, END = "A plan to see", "The end of a plan."
_RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "application/vnd.openxmlformats-officedocument"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_PIC = "http://schemas.openxmlformats.org/drawingml/2006/picture"
_DC = "http://purl.org/dc/elements/1.1/"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def planted_office(name: Name, host: str = "127.0.0.1:9") -> dict[str, bytes]:
    """Give a file of each format, by its ending."""
    makers = {"docx": docx, "xlsx": xlsx, "pptx": pptx, "odt": odt, "odp": odp, "ods": ods}
    makers["rtf"] = rtf

    def of(form: str) -> Name:
        return lambda kind: name(f"{form} {kind}")

    return {form: make(of(form), host) for form, make in makers.items()}


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Pack parts into a zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for part, content in parts.items():
            how = zipfile.ZIP_STORED if part == "mimetype" else zipfile.ZIP_DEFLATED
            package.writestr(part, content, how)
    return out.getvalue()


def _jpeg(name: str) -> bytes:
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x013B] = name
    Image.new("RGB", (40, 20), "teal").save(out, "JPEG", exif=exif, comment=name)
    return out.getvalue()


def _types(overrides: Mapping[str, str]) -> str:
    parts = "".join(
        f'<Override PartName="/{part}" ContentType="{kind}"/>' for part, kind in overrides.items()
    )
    return (
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="{_MAIN.rpartition("/")[0]}/'
        'vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Default Extension="jpg" ContentType="image/jpeg"/>{parts}</Types>'
    )


def _rels(*rows: tuple[str, str, str]) -> str:
    """Relationships by id, type, and target; what begins with http leads out."""
    parts = ""
    for key, kind, target in rows:
        mode = ' TargetMode="External"' if ":" in target else ""
        full = kind if ":" in kind else f"{_RELS}/{kind}"
        parts += f'<Relationship Id="{key}" Type="{full}" Target="{target}"{mode}/>'
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{parts}</Relationships>'


def _properties(name: Name) -> dict[str, str]:
    """Who made it, in the three places of Office Open XML, and custom XML."""
    core = f"{_PACKAGE}/metadata/core-properties"
    extended = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
    custom = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
    values = "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"
    elements = "".join(
        f"<{tag}>{name(tag)}</{tag}>"
        for tag in ("dc:creator", "cp:lastModifiedBy", "dc:title", "cp:keywords")
    )
    firm = "".join(f"<{tag}>{name(tag)}</{tag}>" for tag in ("Company", "Manager"))
    return {
        "docProps/core.xml": f'{_HEAD}<cp:coreProperties xmlns:cp="{core}" xmlns:dc="{_DC}">'
        f"{elements}</cp:coreProperties>",
        "docProps/app.xml": f'{_HEAD}<Properties xmlns="{extended}">{firm}</Properties>',
        "docProps/custom.xml": f'{_HEAD}<Properties xmlns="{custom}" xmlns:vt="{values}">'
        f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="2" name="Team">'
        f"<vt:lpwstr>{name('custom property')}</vt:lpwstr></property></Properties>",
        "customXml/item1.xml": f"<a>{name('custom XML')}</a>",
    }


def _root(target: str) -> str:
    core = f"{_PACKAGE}/relationships/metadata/core-properties"
    return _rels(
        ("r1", "officeDocument", target),
        ("r2", core, "docProps/core.xml"),
        ("r3", "extended-properties", "docProps/app.xml"),
        ("r4", "custom-properties", "docProps/custom.xml"),
    )


_PROPERTY_TYPES = {
    "docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
    "docProps/app.xml": f"{_MAIN}.extended-properties+xml",
    "docProps/custom.xml": f"{_MAIN}.custom-properties+xml",
}


def simple_docx(*paragraphs: str, header: str = "") -> bytes:
    """A document of plain texts, or of runs in XML; a form feed ends a page."""
    body = "".join(
        f"<w:p>{text}</w:p>" if text.startswith("<") else f"<w:p>{_run(text)}</w:p>"
        for text in paragraphs
    )
    section = '<w:sectPr><w:headerReference w:type="default" r:id="r9"/></w:sectPr>'
    kind = f"{_MAIN}.wordprocessingml"
    return zipped(
        {
            "[Content_Types].xml": _types(
                {
                    "word/document.xml": f"{kind}.document.main+xml",
                    "word/header1.xml": f"{kind}.header+xml",
                }
            ),
            "_rels/.rels": _rels(("r1", "officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": _rels(("r9", "header", "header1.xml")),
            "word/header1.xml": f'{_HEAD}<w:hdr xmlns:w="{_W}"><w:p>{_run(header)}</w:p></w:hdr>',
            "word/document.xml": f'{_HEAD}<w:document xmlns:w="{_W}" xmlns:r="{_RELS}"><w:body>'
            f"{body}{section}</w:body></w:document>",
        }
    )


def _run(text: str, properties: str = "", tag: str = "t") -> str:
    breaks = '<w:br w:type="page"/>' * text.count("\f")
    words = text.replace("\f", "")
    return f"<w:r><w:rPr>{properties}</w:rPr>{breaks}<w:{tag}>{words}</w:{tag}></w:r>"


def _drawing(name: Name, how: str, key: str) -> str:
    return (
        f'<w:drawing><wp:inline xmlns:wp="{_WP}"><wp:extent cx="900000" cy="450000"/>'
        f'<wp:docPr id="1" name="{name("name of a picture")}" descr="{name("alt text")}" '
        f'title="{name("title of a picture")}"/><a:graphic xmlns:a="{_A}">'
        f'<a:graphicData uri="{_PIC}"><pic:pic xmlns:pic="{_PIC}"><pic:nvPicPr>'
        f'<pic:cNvPr id="1" name="{name("inner name")}" descr="{name("inner alt text")}"/>'
        f'<pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:{how}="{key}" xmlns:r="{_RELS}"/>'
        "<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm>"
        '<a:off x="0" y="0"/><a:ext cx="900000" cy="450000"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )


def docx(name: Name, host: str) -> bytes:
    """A document of a word processor, with 38 names."""
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="{}"/></w:ffData>'
        "</w:fldChar></w:r>{}"
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>{}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    marks = f'w:id="9" w:date="2020-01-01T00:00:00Z" w:author="{name("author of changes")}"'
    cell = "<w:tc><w:p>{}</w:p></w:tc>"
    paragraphs = [
        _run(BEGINNING),
        f"<w:del {marks}>{_run(name('deleted text'), tag='delText')}</w:del>",
        f"<w:ins {marks}>{_run('inserted')}</w:ins>",
        f"<w:moveFrom {marks}>{_run(name('moved text'))}</w:moveFrom>",
        f"<w:r><w:rPr><w:b/><w:rPrChange {marks}><w:rPr/></w:rPrChange></w:rPr>"
        "<w:t>bold</w:t></w:r>",
        _run(name("hidden text"), "<w:vanish/>"),
        f'<w:bookmarkStart w:id="1" w:name="{name("bookmark")}"/>{_run("marked")}'
        '<w:bookmarkEnd w:id="1"/>',
        f'<w:sdt><w:sdtPr><w:alias w:val="{name("title of a field")}"/>'
        f'<w:tag w:val="{name("tag of a field")}"/></w:sdtPr><w:sdtContent>{_run("filled")}'
        "</w:sdtContent></w:sdt>",
        f'<w:hyperlink r:id="r3" w:tooltip="{name("tip of a link")}">'
        f"{_run('a link')}</w:hyperlink>",
        f'<w:commentRangeStart w:id="0"/>{_run("remarked")}<w:commentRangeEnd w:id="0"/>'
        '<w:r><w:commentReference w:id="0"/></w:r>',
        field.format(
            name("name of a field"),
            _run(f" AUTHOR {name('code of a field')} ", tag="instrText")
            + field.format("x", _run("IF", tag="instrText"), _run(name("result inside a code"))),
            _run("result"),
        ),
        f'<w:fldSimple w:instr=" DOCPROPERTY {name("simple field")} ">'
        f"{_run('simple')}</w:fldSimple>",
        f"<w:r>{_drawing(name, 'embed', 'r4')}</w:r>",
        f"<w:r>{_drawing(lambda kind: name(f'{kind} that is linked'), 'link', 'r5')}</w:r>",
        _run(END),
    ]
    table = (
        f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w='900'/></w:tblGrid><w:tr>"
        f"{cell.format(_run('kept row'))}</w:tr><w:tr><w:trPr><w:del {marks}/></w:trPr>"
        f"{cell.format(_run(name('deleted row')))}</w:tr></w:tbl>"
    )
    body = "".join(f"<w:p>{text}</w:p>" for text in paragraphs) + f"{table}<w:altChunk r:id='r6'/>"
    section = (
        '<w:sectPr><w:headerReference w:type="default" r:id="r1"/>'
        '<w:footerReference w:type="default" r:id="r2"/></w:sectPr>'
    )
    kind = f"{_MAIN}.wordprocessingml"
    types = {
        "word/document.xml": f"{kind}.document.main+xml",
        "word/settings.xml": f"{kind}.settings+xml",
        "word/comments.xml": f"{kind}.comments+xml",
        "word/header1.xml": f"{kind}.header+xml",
        "word/footer1.xml": f"{kind}.footer+xml",
        "word/chunk.html": "text/html",
        "word/people.xml": "application/vnd.ms-word.people+xml",
    }
    settings = (
        f'<w:attachedTemplate r:id="t1"/><w:rsids><w:rsid w:val="{name("revision id")}"/></w:rsids>'
        f'<w:docVars><w:docVar w:name="{name("variable")}" w:val="{name("value")}"/></w:docVars>'
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": _types({**types, **_PROPERTY_TYPES}),
        "_rels/.rels": _root("word/document.xml"),
        **_properties(name),
        "word/_rels/document.xml.rels": _rels(
            ("r1", "header", "header1.xml"),
            ("r2", "footer", "footer1.xml"),
            ("r3", "hyperlink", f"http://{host}/{name('target of a link')}"),
            ("r4", "image", "media/image1.jpg"),
            ("r5", "image", f"http://{host}/{name('linked picture')}.png"),
            ("r6", "aFChunk", "chunk.html"),
            ("r7", "settings", "settings.xml"),
            ("r8", "comments", "comments.xml"),
            ("r9", "http://schemas.microsoft.com/office/2011/relationships/people", "people.xml"),
        ),
        "word/document.xml": f'{_HEAD}<!-- {name("comment in XML")} --><w:document xmlns:w="{_W}" '
        f'xmlns:r="{_RELS}" xmlns:w14="{_W14}"><w:body>{body}{section}</w:body></w:document>',
        "word/settings.xml": f'{_HEAD}<w:settings xmlns:w="{_W}" xmlns:r="{_RELS}">{settings}'
        "</w:settings>",
        "word/_rels/settings.xml.rels": _rels(
            ("t1", "attachedTemplate", f"http://{host}/{name('template')}.dotx")
        ),
        "word/comments.xml": f'{_HEAD}<w:comments xmlns:w="{_W}"><w:comment w:id="0" '
        f'w:author="{name("author of a comment")}" w:initials="Z"><w:p>{_run(name("comment"))}'
        "</w:p></w:comment></w:comments>",
        "word/header1.xml": f'{_HEAD}<w:hdr xmlns:w="{_W}">'
        f"<w:p>{_run(name('header'))}</w:p></w:hdr>",
        "word/footer1.xml": f'{_HEAD}<w:ftr xmlns:w="{_W}">'
        f"<w:p>{_run(name('footer'))}</w:p></w:ftr>",
        "word/people.xml": f'<w15:people xmlns:w15="urn:x"><w15:person '
        f'w15:author="{name("person")}"/></w15:people>',
        "word/chunk.html": f"<p>{name('chunk')} <img src='http://{host}/chunk.png'></p>",
        "word/media/image1.jpg": _jpeg(name("EXIF")),
        f"word/media/{name('name of a part')}.jpg": b"\xff\xd8\xff",
    }
    return zipped(parts)


def pptx(name: Name, host: str) -> bytes:
    """Slides, with 24 names."""
    kind = f"{_MAIN}.presentationml"
    empty = (
        '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    )
    spaces = f'xmlns:p="{_P}" xmlns:a="{_A}" xmlns:r="{_RELS}"'

    def shape(
        text: str, y: int, *, x: int = 900_000, placeholder: str = "", more: str = 'name=""'
    ) -> str:
        mark = f'<p:ph type="{placeholder}"/>' if placeholder else ""
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{y // 1000 + 5}" {more}/><p:cNvSpPr/>'
            f'<p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="{x}" y="{y}"/>'
            '<a:ext cx="6000000" cy="500000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/>'
            f"</a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:p>{text}</a:p></p:txBody></p:sp>"
        )

    def run(text: str, properties: str = "") -> str:
        return f'<a:r><a:rPr lang="en-US" sz="1800">{properties}</a:rPr><a:t>{text}</a:t></a:r>'

    def slide(shapes: str, more: str = "", title: str = "") -> str:
        return (
            f"{_HEAD}<p:sld {spaces} {more}><p:cSld name='{title}'><p:spTree>{empty}{shapes}"
            "</p:spTree></p:cSld></p:sld>"
        )

    link = f'<a:hlinkClick r:id="r3" tooltip="{name("tip of a link")}"/>'
    described = (
        f'name="{name("name of a shape")}" descr="{name("alt text")}" title="{name("title")}"'
    )
    picture = (
        f'<p:pic><p:nvPicPr><p:cNvPr id="90" name="{name("name of a picture")}" '
        f'descr="{name("alt text of a picture")}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill>'
        '<a:blip r:embed="r4"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm>'
        '<a:off x="900000" y="3500000"/><a:ext cx="900000" cy="450000"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
    )
    linked = picture.replace('r:embed="r4"', 'r:link="r5"').replace('y="3500000"', 'y="4500000"')
    shapes = (
        shape(run(BEGINNING), 500_000, more=described)
        + shape(run("a link", link), 1_500_000)
        + shape(run(END), 2_500_000)
        + shape(run(name("beside the slide")), 500_000, x=12_000_000)
        + shape(run(name("footer")), 6_000_000, placeholder="ftr")
        + picture
        + linked
    )
    notes = shape(run(name("speaker note")), 500_000, placeholder="body")
    master = (
        f'{_HEAD}<p:sldMaster {spaces}><p:cSld name="{name("name of a master")}"><p:spTree>{empty}'
        '</p:spTree></p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" '
        'accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" '
        'accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst>'
        '<p:sldLayoutId id="2147483649" r:id="r1"/></p:sldLayoutIdLst></p:sldMaster>'
    )
    layout = (
        f'{_HEAD}<p:sldLayout {spaces}><p:cSld name="{name("name of a layout")}"><p:spTree>{empty}'
        "</p:spTree></p:cSld></p:sldLayout>"
    )
    section = (
        '<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"><p14:sectionLst '
        'xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"><p14:section '
        f'name="{name("section")}"/></p14:sectionLst></p:ext></p:extLst>'
    )
    presentation = (
        f"{_HEAD}<p:presentation {spaces}><p:sldMasterIdLst><p:sldMasterId id='2147483648' "
        "r:id='r1'/></p:sldMasterIdLst><p:sldIdLst><p:sldId id='256' r:id='r2'/>"
        "<p:sldId id='257' r:id='r3'/></p:sldIdLst><p:sldSz cx='9144000' cy='6858000'/>"
        f"<p:notesSz cx='6858000' cy='9144000'/>{section}</p:presentation>"
    )
    types = {
        "ppt/presentation.xml": f"{kind}.presentation.main+xml",
        "ppt/slides/slide1.xml": f"{kind}.slide+xml",
        "ppt/slides/slide2.xml": f"{kind}.slide+xml",
        "ppt/slideMasters/slideMaster1.xml": f"{kind}.slideMaster+xml",
        "ppt/slideLayouts/slideLayout1.xml": f"{kind}.slideLayout+xml",
        "ppt/notesSlides/notesSlide1.xml": f"{kind}.notesSlide+xml",
        "ppt/comments/comment1.xml": f"{kind}.comments+xml",
        "ppt/commentAuthors.xml": f"{kind}.commentAuthors+xml",
        "ppt/tags/tag1.xml": f"{kind}.tags+xml",
    }
    return zipped(
        {
            "[Content_Types].xml": _types({**types, **_PROPERTY_TYPES}),
            "_rels/.rels": _root("ppt/presentation.xml"),
            **_properties(name),
            "ppt/presentation.xml": presentation,
            "ppt/_rels/presentation.xml.rels": _rels(
                ("r1", "slideMaster", "slideMasters/slideMaster1.xml"),
                ("r2", "slide", "slides/slide1.xml"),
                ("r3", "slide", "slides/slide2.xml"),
                ("r4", "commentAuthors", "commentAuthors.xml"),
            ),
            "ppt/slideMasters/slideMaster1.xml": master,
            "ppt/slideMasters/_rels/slideMaster1.xml.rels": _rels(
                ("r1", "slideLayout", "../slideLayouts/slideLayout1.xml")
            ),
            "ppt/slideLayouts/slideLayout1.xml": layout,
            "ppt/slideLayouts/_rels/slideLayout1.xml.rels": _rels(
                ("r1", "slideMaster", "../slideMasters/slideMaster1.xml")
            ),
            "ppt/slides/slide1.xml": slide(shapes, title=name("name of a slide")),
            "ppt/slides/_rels/slide1.xml.rels": _rels(
                ("r1", "slideLayout", "../slideLayouts/slideLayout1.xml"),
                ("r2", "notesSlide", "../notesSlides/notesSlide1.xml"),
                ("r3", "hyperlink", f"http://{host}/{name('target of a link')}"),
                ("r4", "image", "../media/image1.jpg"),
                ("r5", "image", f"http://{host}/{name('linked picture')}.png"),
                ("r6", "comments", "../comments/comment1.xml"),
                ("r7", "tags", "../tags/tag1.xml"),
                ("r8", "slide", "slide2.xml"),
            ),
            "ppt/slides/slide2.xml": slide(shape(run(name("hidden slide")), 500_000), 'show="0"'),
            "ppt/slides/_rels/slide2.xml.rels": _rels(
                ("r1", "slideLayout", "../slideLayouts/slideLayout1.xml")
            ),
            "ppt/notesSlides/notesSlide1.xml": slide(notes).replace("p:sld", "p:notes"),
            "ppt/comments/comment1.xml": f'<p:cmLst {spaces}><p:cm authorId="0" idx="1">'
            f'<p:pos x="1" y="1"/><p:text>{name("comment")}</p:text></p:cm></p:cmLst>',
            "ppt/commentAuthors.xml": f'<p:cmAuthorLst {spaces}><p:cmAuthor id="0" '
            f'name="{name("author of a comment")}" initials="Z" lastIdx="1" clrIdx="0"/>'
            "</p:cmAuthorLst>",
            "ppt/tags/tag1.xml": f'<p:tagLst {spaces}><p:tag name="a" val="{name("tag")}"/>'
            "</p:tagLst>",
            "ppt/media/image1.jpg": _jpeg(name("EXIF")),
        }
    )


def xlsx(name: Name, host: str) -> bytes:
    """A workbook, with 29 names."""
    kind = f"{_MAIN}.spreadsheetml"

    def text(place: str, words: str, style: int = 0) -> str:
        return f'<c r="{place}" s="{style}" t="inlineStr"><is><t>{words}</t></is></c>'

    rows = [
        f"<row r='1'>{text('A1', BEGINNING)}{text('B1', 'shown')}"
        f"{text('C1', name('hidden column'))}"
        f"{text('D1', name('second hidden column'))}{text('E1', name('hidden format'), 1)}</row>",
        f"<row r='2' hidden='1'>{text('A2', name('hidden row'))}</row>",
        f"<row r='3'>{text('A3', END)}<c r='B3'><f>IF(1,7,\"{name('text in a formula')}\")</f>"
        f"<v>7</v></c><c r='F3'><f>[1]Sheet1!A1</f><v>5</v></c>"
        f'<c r="G3"><f>WEBSERVICE("http://{host}/{name("web service")}")</f><v>6</v></c></row>',
    ]
    sheet = (
        f'{_HEAD}<worksheet xmlns="{_S}" xmlns:r="{_RELS}">'
        f'<sheetPr codeName="{name("code name")}"/>'
        f"<cols><col min='3' max='4' width='9' hidden='1'/></cols><sheetData>{''.join(rows)}"
        f"</sheetData><protectedRanges><protectedRange "
        f'name="{name("protected range")}" sqref="A1"/>'
        "</protectedRanges><dataValidations count='1'><dataValidation type='whole' sqref='A9' "
        f'showInputMessage="1" promptTitle="x" prompt="{name("prompt")}"/></dataValidations>'
        f'<hyperlinks><hyperlink ref="A1" r:id="r1" '
        f'tooltip="{name("tip of a link")}"/></hyperlinks>'
        f"<headerFooter><oddHeader>&amp;L{name('printed header')}</oddHeader></headerFooter>"
        '<drawing r:id="r2"/><legacyDrawing r:id="r4"/></worksheet>'
    )
    hidden = (
        f"{_HEAD}<worksheet xmlns='{_S}'><sheetData><row r='1'>{{}}</row></sheetData></worksheet>"
    )
    drawing = (
        '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
        f'xmlns:a="{_A}" xmlns:r="{_RELS}"><xdr:oneCellAnchor><xdr:from><xdr:col>1</xdr:col>'
        "<xdr:colOff>0</xdr:colOff><xdr:row>5</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from>"
        '<xdr:ext cx="900000" cy="450000"/><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" '
        f'name="{name("name of a picture")}" descr="{name("alt text")}"/><xdr:cNvPicPr/>'
        '</xdr:nvPicPr><xdr:blipFill><a:blip r:embed="r1"/><a:stretch><a:fillRect/></a:stretch>'
        '</xdr:blipFill><xdr:spPr><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></xdr:spPr>'
        "</xdr:pic><xdr:clientData/></xdr:oneCellAnchor></xdr:wsDr>"
    )
    book = (
        f'{_HEAD}<workbook xmlns="{_S}" xmlns:r="{_RELS}"><sheets>'
        '<sheet name="Budget" sheetId="1" r:id="r1"/>'
        f'<sheet name="{name("name of a hidden sheet")}" sheetId="2" state="hidden" r:id="r2"/>'
        '<sheet name="Deep" sheetId="3" state="veryHidden" r:id="r3"/></sheets>'
        '<externalReferences><externalReference r:id="r4"/></externalReferences>'
        f'<definedNames><definedName name="{name("defined name")}">Budget!$A$1</definedName>'
        f'<definedName name="Constant">"{name("constant")}"</definedName></definedNames></workbook>'
    )
    styles = (
        f'{_HEAD}<styleSheet xmlns="{_S}"><numFmts count="1"><numFmt numFmtId="200" '
        'formatCode=";;;"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/>'
        '</font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
        '<cellXfs count="2"><xf/><xf numFmtId="200" applyNumberFormat="1"/></cellXfs></styleSheet>'
    )
    types = {
        "xl/workbook.xml": f"{kind}.sheet.main+xml",
        "xl/styles.xml": f"{kind}.styles+xml",
        "xl/drawings/drawing1.xml": f"{_MAIN}.drawing+xml",
        "xl/comments1.xml": f"{kind}.comments+xml",
        "xl/externalLinks/externalLink1.xml": f"{kind}.externalLink+xml",
        "xl/connections.xml": f"{kind}.connections+xml",
        "xl/persons/person.xml": "application/vnd.ms-excel.person+xml",
        **{f"xl/worksheets/sheet{n}.xml": f"{kind}.worksheet+xml" for n in (1, 2, 3)},
    }
    return zipped(
        {
            "[Content_Types].xml": _types({**types, **_PROPERTY_TYPES}),
            "_rels/.rels": _root("xl/workbook.xml"),
            **_properties(name),
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": _rels(
                *((f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in (1, 2, 3)),
                ("r4", "externalLink", "externalLinks/externalLink1.xml"),
                ("r5", "connections", "connections.xml"),
                ("r6", "styles", "styles.xml"),
            ),
            "xl/styles.xml": styles,
            "xl/worksheets/sheet1.xml": sheet,
            "xl/worksheets/_rels/sheet1.xml.rels": _rels(
                ("r1", "hyperlink", f"http://{host}/{name('target of a link')}"),
                ("r2", "drawing", "../drawings/drawing1.xml"),
                ("r3", "comments", "../comments1.xml"),
            ),
            "xl/worksheets/sheet2.xml": hidden.format(text("A1", name("hidden sheet"))),
            "xl/worksheets/sheet3.xml": hidden.format(text("A1", name("very hidden sheet"))),
            "xl/drawings/drawing1.xml": drawing,
            "xl/drawings/_rels/drawing1.xml.rels": _rels(("r1", "image", "../media/image1.jpg")),
            "xl/media/image1.jpg": _jpeg(name("EXIF")),
            "xl/comments1.xml": f'<comments xmlns="{_S}"><authors><author>'
            f"{name('author of a comment')}</author></authors><commentList>"
            f'<comment ref="A1" authorId="0"><text><t>{name("comment")}</t></text></comment>'
            "</commentList></comments>",
            "xl/externalLinks/externalLink1.xml": f'<externalLink xmlns="{_S}" xmlns:r="{_RELS}">'
            '<externalBook r:id="r1"/></externalLink>',
            "xl/externalLinks/_rels/externalLink1.xml.rels": _rels(
                ("r1", "externalLinkPath", f"http://{host}/{name('other workbook')}.xlsx")
            ),
            "xl/connections.xml": f'<connections xmlns="{_S}"><connection id="1" '
            f'name="{name("connection")}" type="4"><webPr url="http://{host}/x"/></connection>'
            "</connections>",
            "xl/persons/person.xml": f'<personList><person displayName="{name("person")}"/>'
            "</personList>",
        }
    )


def _open(
    kind: str, name: Name, content: str, styles: str, more: Mapping[str, str | bytes] | None = None
) -> bytes:
    """A file of OpenDocument, whose properties name somebody."""
    spaces = " ".join(
        f'xmlns:{short}="{_ODF}:{long}:1.0"'
        for short, long in {
            **{one: one for one in ("office", "text", "table", "style", "meta", "presentation")},
            "draw": "drawing",
            "fo": "xsl-fo-compatible",
            "svg": "svg-compatible",
        }.items()
    )
    spaces += f' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="{_DC}"'
    made = "".join(
        f"<{tag}>{name(tag)}</{tag}>" for tag in ("meta:initial-creator", "dc:creator", "dc:title")
    )
    made += f'<meta:user-defined meta:name="Team">{name("property")}</meta:user-defined>'
    mime = f"application/vnd.oasis.opendocument.{kind}"
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{part}" manifest:media-type="{form}"/>'
        for part, form in [
            ("/", mime),
            *((p, "text/xml") for p in ("content.xml", "styles.xml", "meta.xml", *(more or {}))),
        ]
    )
    return zipped(
        {
            "mimetype": mime,
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0" '
            f'manifest:version="1.2">{entries}</manifest:manifest>',
            "meta.xml": f"{_HEAD}<office:document-meta {spaces}><office:meta>{made}</office:meta>"
            "</office:document-meta>",
            "content.xml": f'{_HEAD}<office:document-content {spaces} office:version="1.2">'
            f"{content}</office:document-content>",
            "styles.xml": f'{_HEAD}<office:document-styles {spaces} office:version="1.2">{styles}'
            "</office:document-styles>",
            **(more or {}),
        }
    )


def odt(name: Name, host: str) -> bytes:
    """A text of OpenDocument."""
    note = (
        f"<office:annotation><dc:creator>{name('author of a comment')}</dc:creator>"
        f"<text:p>{name('comment')}</text:p></office:annotation>"
    )
    changes = (
        '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion>'
        f"<office:change-info><dc:creator>{name('author of changes')}</dc:creator>"
        "<dc:date>2020-01-01T00:00:00</dc:date></office:change-info>"
        f"<text:p>{name('deleted text')}</text:p></text:deletion></text:changed-region>"
        "</text:tracked-changes>"
    )
    picture = (
        f'<draw:frame draw:name="{name("name of a picture")}" text:anchor-type="as-char" '
        f'svg:width="2cm" svg:height="1cm"><draw:image xlink:href="http://{host}/{name("linked")}'
        f'.png"/><svg:title>{name("title")}</svg:title><svg:desc>{name("alt text")}</svg:desc>'
        "</draw:frame>"
    )
    section = (
        f'<text:section text:name="s"><text:section-source xlink:href="http://{host}/'
        f'{name("section")}.odt"/><text:p>section</text:p></text:section>'
    )
    body = (
        f"<office:body><office:text>{changes}<text:p>{BEGINNING}{note}</text:p>"
        f'<text:p><text:change text:change-id="c1"/>kept <text:a xlink:href="http://{host}/'
        f'{name("target of a link")}">a link</text:a> {picture}</text:p>{section}'
        f"<text:p>{END}</text:p></office:text></office:body>"
    )
    header = (
        '<office:automatic-styles><style:page-layout style:name="l"/></office:automatic-styles>'
        '<office:master-styles><style:master-page style:name="Standard" '
        f'style:page-layout-name="l"><style:header><text:p>{name("header")}</text:p></style:header>'
        "</style:master-page></office:master-styles>"
    )
    more: dict[str, str | bytes] = {
        f"Configurations2/{name('name of a part')}.xml": "<a/>",
        "Thumbnails/thumbnail.png": b"",
    }
    return _open("text", name, body, header, more)


def odp(name: Name, host: str) -> bytes:
    """Slides of OpenDocument."""
    hidden = (
        '<office:automatic-styles><style:style style:name="h" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
        "</office:automatic-styles>"
    )

    def frame(text: str, y: int) -> str:
        return (
            f'<draw:frame svg:x="2cm" svg:y="{y}cm" svg:width="20cm" svg:height="2cm">'
            f"<draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"
        )

    notes = f"<presentation:notes>{frame(name('speaker note'), 2)}</presentation:notes>"
    picture = (
        '<draw:frame svg:x="2cm" svg:y="9cm" svg:width="2cm" svg:height="1cm"><draw:image '
        f'xlink:href="http://{host}/{name("linked")}.png"/></draw:frame>'
    )
    pages = (
        f'<draw:page draw:name="{name("name of a slide")}" draw:master-page-name="m">'
        f"{frame(BEGINNING, 2)}{frame(END, 5)}{picture}{notes}</draw:page>"
        f'<draw:page draw:style-name="h" draw:master-page-name="m">{frame(name("hidden slide"), 2)}'
        "</draw:page>"
    )
    masters = (
        '<office:automatic-styles><style:page-layout style:name="l"/></office:automatic-styles>'
        '<office:master-styles><style:master-page style:name="m" style:page-layout-name="l"/>'
        "</office:master-styles>"
    )
    body = f"{hidden}<office:body><office:presentation>{pages}</office:presentation></office:body>"
    return _open("presentation", name, body, masters)


def ods(name: Name, host: str) -> bytes:
    """A workbook of OpenDocument."""
    hidden = (
        '<office:automatic-styles><style:style style:name="h" style:family="table">'
        '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
    )

    def cell(text: str, more: str = "") -> str:
        return (
            f'<table:table-cell office:value-type="string"><text:p>{text}</text:p>{more}'
            "</table:table-cell>"
        )

    note = (
        f"<office:annotation><dc:creator>{name('author of a comment')}</dc:creator>"
        f"<text:p>{name('comment')}</text:p></office:annotation>"
    )
    formula = (
        f'<table:table-cell table:formula="of:=WEBSERVICE(&quot;http://{host}/{name("service")}'
        '&quot;)" office:value-type="float" office:value="4"><text:p>4</text:p></table:table-cell>'
    )
    rows = (
        f"<table:table-row>{cell(BEGINNING, note)}</table:table-row>"
        f'<table:table-row table:visibility="collapse">{cell(name("hidden row"))}</table:table-row>'
        f"<table:table-row>{cell(END)}{formula}</table:table-row>"
    )
    tables = (
        f'<table:table table:name="Plan">{rows}</table:table>'
        f'<table:table table:name="{name("name of a hidden sheet")}" table:style-name="h">'
        f"<table:table-row>{cell(name('hidden sheet'))}</table:table-row></table:table>"
    )
    body = f"{hidden}<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    return _open("spreadsheet", name, body, "")


def rtf(name: Name, host: str) -> bytes:
    """A text with commands."""
    text = (
        r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\info{\author "
        + name("author")
        + r"}{\company "
        + name("company")
        + r"}}{\header "
        + name("header")
        + r"\par}"
        + BEGINNING
        + r"\par {\deleted "
        + name("deleted text")
        + r"}{\v "
        + name("hidden text")
        + r"}{\*\atnid Z}{\*\atnauthor "
        + name("author of a comment")
        + r"}\chatn{\*\annotation "
        + name("comment")
        + r"}{\field{\*\fldinst INCLUDEPICTURE "
        + f'"http://{host}/{name("linked")}.png"'
        + r"}{\fldrslt picture}}\par "
        + END
        + r"\par}"
    )
    return text.encode()
