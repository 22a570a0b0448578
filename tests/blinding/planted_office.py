"""Documents, slides, and workbooks with names planted wherever programs and cheats put them.

In the templates, «kind» is replaced by the name planted for that kind of place, and HOST for a host
that nobody may call. All show an ordinary text beside what is planted.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tests.blinding.planted import photo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Name: TypeAlias = Callable[[str], str]

BEGINNING, END = "A plan to see", "The end of a plan."
_MAIN = "application/vnd.openxmlformats-officedocument"
_OPEN_XML = "http://schemas.openxmlformats.org"
_RELS = f"{_OPEN_XML}/officeDocument/2006/relationships"
_PACKAGE = f"{_OPEN_XML}/package/2006"
_CORE = f"{_PACKAGE}/relationships/metadata"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_OF_ODF = ("manifest", "office", "text", "table", "style", "meta", "presentation")
_SPACES = {
    "w": f"{_OPEN_XML}/wordprocessingml/2006/main",
    "x": f"{_OPEN_XML}/spreadsheetml/2006/main",
    "p": f"{_OPEN_XML}/presentationml/2006/main",
    "a": f"{_OPEN_XML}/drawingml/2006/main",
    "wp": f"{_OPEN_XML}/drawingml/2006/wordprocessingDrawing",
    "xdr": f"{_OPEN_XML}/drawingml/2006/spreadsheetDrawing",
    "pic": f"{_OPEN_XML}/drawingml/2006/picture",
    "r": _RELS,
    "cp": f"{_PACKAGE}/metadata/core-properties",
    "vt": f"{_OPEN_XML}/officeDocument/2006/docPropsVTypes",
    "p14": "http://schemas.microsoft.com/office/powerpoint/2010/main",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xlink": "http://www.w3.org/1999/xlink",
    "draw": f"{_ODF}:drawing:1.0",
    "svg": f"{_ODF}:svg-compatible:1.0",
    **{name: f"{_ODF}:{name}:1.0" for name in _OF_ODF},
}
_PREFIXES = " ".join(f'xmlns:{prefix}="{space}"' for prefix, space in _SPACES.items())


def filled(template: str, name: Name) -> str:
    return re.sub("«(.*?)»", lambda match: name(match[1]), template)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for part, content in parts.items():
            how = zipfile.ZIP_STORED if part == "mimetype" else zipfile.ZIP_DEFLATED
            package.writestr(part, content, how)
    return out.getvalue()


def _xml(body: str, space: str = "") -> str:
    """A part in XML, in a namespace."""
    spaces = f'xmlns="{space}" {_PREFIXES}' if space else _PREFIXES
    root = re.sub(r"<([\w:-]+)", lambda match: f"<{match[1]} {spaces}", body, count=1)
    return f'<?xml version="1.0" encoding="UTF-8"?>{root}'


def _package(main: str, prefix: str, parts: Mapping[str, str | bytes]) -> bytes:
    """A package of Office Open XML: parts by path, and what they lead to.

    In a part `r:id="key=target"` links to a part or an address; the key without its number is the
    type. The main part leads to all in its folder.
    """
    family = _SPACES[prefix].split("/")[3]
    home = PurePosixPath(main).parent
    kinds = {"drawing": "drawing", "document": f"{family}.document.main"}
    kinds |= {"presentation": f"{family}.presentation.main", "workbook": f"{family}.sheet.main"}
    links, packed = [("", "officeDocument", main)], dict(parts)
    listed = '<Default Extension="jpg" ContentType="image/jpeg"/><Default Extension="rels" '
    listed += f'ContentType="{_MAIN.replace("officedocument", "package")}.relationships+xml"/>'
    for path, body in parts.items():
        if isinstance(body, bytes):
            continue
        place = PurePosixPath(path)
        stem = place.stem.rstrip("0123456789")
        kind = f"{_MAIN}.{kinds.get(stem, f'{family}.{stem}')}+xml"
        listed += f'<Override PartName="/{path}" ContentType="{kind}"/>'
        if place.is_relative_to(home) and path != main:
            links.append((main, place.stem, str(place.relative_to(home))))
        elif path.startswith("docProps"):
            links.append(("", f"{stem.replace('app', 'extended')}-properties", path))
        links += [(path, *link) for link in re.findall(r' r:\w+="(\w+)=([^"]+)"', body)]
        packed[path] = _xml(re.sub(r'( r:\w+="\w+)=[^"]+', r"\1", body), _SPACES[prefix])
    packed["[Content_Types].xml"] = f'<Types xmlns="{_PACKAGE}/content-types">{listed}</Types>'
    for source in dict.fromkeys(link[0] for link in links):
        rows = "".join(
            f'<Relationship Id="{key}" Type="{_CORE if key.startswith("core") else _RELS}/'
            f'{key.rstrip("0123456789")}" '
            f'Target="{target}" TargetMode="{"External" if ":" in target else "Internal"}"/>'
            for path, key, target in links
            if path == source
        )
        place = PurePosixPath(source)
        whole = f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'
        packed[str(place.parent / "_rels" / f"{place.name}.rels")] = whole
    return zipped(packed)


def simple_docx(*paragraphs: str, header: str = "") -> bytes:
    """A document of plain texts, or of runs in XML; a form feed ends a page."""
    runs = [one if one.startswith("<") else f"<r><t>{one}</t></r>" for one in paragraphs]
    body = "".join(f"<p>{run}</p>" for run in runs).replace("<t>\f", '<br w:type="page"/><t>')
    section = '<sectPr><headerReference w:type="default" r:id="header1"/></sectPr>'
    parts: dict[str, str | bytes] = {
        "word/document.xml": f"<document><body>{body}{section}</body></document>",
        "word/header1.xml": f"<hdr><p><r><t>{header}</t></r></p></hdr>",
    }
    return _package("word/document.xml", "w", parts)


# The author in the three places of Office Open XML, and custom XML.
_PROPERTIES = {
    "docProps/core.xml": "<cp:coreProperties><dc:creator>«dc:creator»</dc:creator>"
    "<cp:lastModifiedBy>«cp:lastModifiedBy»</cp:lastModifiedBy><dc:title>«dc:title»</dc:title>"
    "<cp:keywords>«cp:keywords»</cp:keywords></cp:coreProperties>",
    "docProps/app.xml": "<Properties><Company>«Company»</Company><Manager>«Manager»</Manager>"
    "</Properties>",
    "docProps/custom.xml": '<Properties><property pid="2" name="Team"><vt:lpwstr>«custom property»'
    "</vt:lpwstr></property></Properties>",
    "customXml/item1.xml": "<a>«custom XML»</a>",
}
_LINK = 'r:id="hyperlink=http://HOST/«target of a link»"'
_SHAPE = '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
_FILL = '<a:blip r:embed="image1=media/image1.jpg"/><a:stretch><a:fillRect/></a:stretch>'

_MARKS = 'w:id="9" w:date="2020-01-01T00:00:00Z" w:author="«author of changes»"'
_PICTURE = f"""<p><r><drawing><wp:inline><wp:extent cx="900000" cy="450000"/>
<wp:docPr id="1" name="«name of a picture»" descr="«alt text»" title="«title of a picture»"/>
<a:graphic><a:graphicData uri="{_SPACES["pic"]}"><pic:pic><pic:nvPicPr>
<pic:cNvPr id="1" name="«inner name»" descr="«inner alt text»"/><pic:cNvPicPr/></pic:nvPicPr>
<pic:blipFill>{_FILL}</pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/>
<a:ext cx="900000" cy="450000"/></a:xfrm>{_SHAPE}</pic:spPr></pic:pic></a:graphicData></a:graphic>
</wp:inline></drawing></r></p>"""
_LINKED = _PICTURE.replace("»", " that is linked»").replace("embed", "link")
_LINKED = _LINKED.replace("image1=media/image1.jpg", "image2=http://HOST/«linked picture».png")
_DOCX = {
    "word/document.xml": f"""<!-- «comment in XML» --><document><body>
<p><r><t>{BEGINNING}</t></r></p>
<p><del {_MARKS}><r><delText>«deleted text»</delText></r></del></p>
<p><ins {_MARKS}><r><t>inserted</t></r></ins></p>
<p><moveFrom {_MARKS}><r><t>«moved text»</t></r></moveFrom></p>
<p><r><rPr><b/><rPrChange {_MARKS}><rPr/></rPrChange></rPr><t>bold</t></r></p>
<p><r><rPr><vanish/></rPr><t>«hidden text»</t></r></p>
<p><bookmarkStart w:id="1" w:name="«bookmark»"/><r><t>marked</t></r><bookmarkEnd w:id="1"/></p>
<p><sdt><sdtPr><alias w:val="«title of a field»"/><tag w:val="«tag of a field»"/></sdtPr>
<sdtContent><r><t>filled</t></r></sdtContent></sdt></p>
<p><hyperlink {_LINK} w:tooltip="«tip of a link»">
<r><t>a link</t></r></hyperlink></p>
<p><commentRangeStart w:id="0"/><r><t>remarked</t></r><commentRangeEnd w:id="0"/>
<r><commentReference w:id="0"/></r></p>
<p><r><fldChar w:fldCharType="begin"><ffData><name w:val="«name of a field»"/></ffData></fldChar>
<instrText> AUTHOR «code of a field» </instrText><fldChar w:fldCharType="begin"/></r>
<r><instrText>IF</instrText><fldChar w:fldCharType="separate"/><t>«result inside a code»</t></r>
<r><fldChar w:fldCharType="end"/><fldChar w:fldCharType="separate"/><t>result</t></r>
<r><fldChar w:fldCharType="end"/></r></p>
<p><fldSimple w:instr=" DOCPROPERTY «simple field» "><r><t>simple</t></r></fldSimple></p>
{_PICTURE}{_LINKED}<p><r><t>{END}</t></r></p>
<tbl><tblPr/><tblGrid><gridCol w:w="900"/></tblGrid>
<tr><tc><p><r><t>kept row</t></r></p></tc></tr>
<tr><trPr><del {_MARKS}/></trPr><tc><p><r><t>«deleted row»</t></r></p></tc></tr></tbl>
<altChunk r:id="aFChunk=chunk.html"/><sectPr><headerReference w:type="default" r:id="header1"/>
<footerReference w:type="default" r:id="footer1"/></sectPr></body></document>""",
    "word/settings.xml": '<settings><attachedTemplate r:id="attachedTemplate=http://HOST/«template».dotx"/>'
    '<rsids><rsid w:val="«revision id»"/></rsids>'
    '<docVars><docVar w:name="«variable»" w:val="«value»"/></docVars></settings>',
    "word/comments.xml": '<comments><comment w:id="0" w:author="«author of a comment»">'
    "<p><r><t>«comment»</t></r></p></comment></comments>",
    "word/header1.xml": "<hdr><p><r><t>«header»</t></r></p></hdr>",
    "word/footer1.xml": "<ftr><p><r><t>«footer»</t></r></p></ftr>",
    "word/people.xml": '<people><person w:author="«person»"/></people>',
    "word/chunk.html": "<p>«chunk» <img src='http://HOST/chunk.png'></p>",
    "word/media/«name of a part».xml": "<a/>",
}


def _shape(text: str, y: float, x: float = 0.9, about: str = 'name=""', holds: str = "") -> str:
    """A shape of a slide, some centimeters from its corner."""
    place = f'<a:off x="{int(x * 1e6)}" y="{int(y * 1e6)}"/><a:ext cx="6000000" cy="500000"/>'
    return f"""<sp><nvSpPr><cNvPr id="{int(9 + y * 10)}" {about}/><cNvSpPr/><nvPr>{holds}</nvPr>
</nvSpPr><spPr><a:xfrm>{place}</a:xfrm>{_SHAPE}</spPr><txBody><a:bodyPr/><a:p>
<a:r><a:rPr lang="en-US" sz="1800"/><a:t>{text}</a:t></a:r></a:p></txBody></sp>"""


def _slide(tag: str, shapes: str = "", name: str = "", end: str = "") -> str:
    tree = '<nvGrpSpPr><cNvPr id="1" name=""/><cNvGrpSpPr/><nvPr/></nvGrpSpPr><grpSpPr/>'
    tree = f'<cSld name="{name}"><spTree>{tree}{shapes}</spTree></cSld>'
    return f"<{tag}>{tree}{end}</{tag.partition(' ')[0]}>"


_TIP = f'<a:rPr lang="en-US" sz="1800"><a:hlinkClick {_LINK} tooltip="«tip of a link»"/>'
_PIC = f"""<pic><nvPicPr><cNvPr id="90" name="«name of a picture»" descr="«alt text of a picture»"/>
<cNvPicPr/><nvPr/></nvPicPr><blipFill>{_FILL}</blipFill><spPr><a:xfrm>
<a:off x="900000" y="3500000"/><a:ext cx="900000" cy="450000"/></a:xfrm>{_SHAPE}</spPr></pic>"""
_COLORS = "".join(f' accent{n}="accent{n}"' for n in range(1, 7))
_PPTX = {
    "ppt/presentation.xml": """<presentation>
<sldMasterIdLst><sldMasterId id="2147483648" r:id="slideMaster1"/></sldMasterIdLst>
<sldIdLst><sldId id="256" r:id="slide1"/><sldId id="257" r:id="slide2"/></sldIdLst>
<sldSz cx="9144000" cy="6858000"/><notesSz cx="6858000" cy="9144000"/>
<extLst><ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"><p14:sectionLst>
<p14:section name="«section»"/></p14:sectionLst></ext></extLst></presentation>""",
    "ppt/slideMaster1.xml": _slide(
        "sldMaster",
        name="«name of a master»",
        end=f'<clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2"{_COLORS} hlink="hlink" '
        'folHlink="folHlink"/><sldLayoutIdLst><sldLayoutId id="2147483649" '
        'r:id="slideLayout=slideLayout1.xml"/></sldLayoutIdLst>',
    ),
    "ppt/slideLayout1.xml": _slide(
        'sldLayout r:of="slideMaster=slideMaster1.xml"', name="«name of a layout»"
    ),
    "ppt/slide1.xml": _slide(
        'sld r:of="slideLayout=slideLayout1.xml" r:notes="notesSlide=notesSlides/notesSlide1.xml" '
        'r:with="comments=comments/comment1.xml" r:tag="tags=tags/tag1.xml" '
        'r:next="slide=slide2.xml"',
        _shape(BEGINNING, 0.5, about='name="«name of a shape»" descr="«alt text»" title="«title»"')
        + _shape("a link", 1.5).replace('<a:rPr lang="en-US" sz="1800"/>', f"{_TIP}</a:rPr>")
        + _shape(END, 2.5)
        + _shape("«beside the slide»", 0.7, x=12)
        + _shape("«footer»", 6, holds='<ph type="ftr"/>')
        + _PIC
        + _PIC.replace("embed", "link")
        .replace("image1=media/image1.jpg", "image2=http://HOST/«linked picture».png")
        .replace("3500000", "4500000"),
        name="«name of a slide»",
    ),
    "ppt/slide2.xml": _slide(
        'sld show="0" r:of="slideLayout=slideLayout1.xml"', _shape("«hidden slide»", 0.5)
    ),
    "ppt/notesSlides/notesSlide1.xml": _slide(
        "notes", _shape("«speaker note»", 0.5, holds='<ph type="body"/>')
    ),
    "ppt/comments/comment1.xml": '<cmLst><cm authorId="0" idx="1"><pos x="1" y="1"/>'
    "<text>«comment»</text></cm></cmLst>",
    "ppt/commentAuthors.xml": '<cmAuthorLst><cmAuthor id="0" name="«author of a comment»"/>'
    "</cmAuthorLst>",
    "ppt/tags/tag1.xml": '<tagLst><tag name="a" val="«tag»"/></tagLst>',
}


def _cell(place: str, text: str, style: int = 0) -> str:
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t>{text}</t></is></c>'


def _sheet(text: str) -> str:
    return f'<worksheet><sheetData><row r="1">{_cell("A1", text)}</row></sheetData></worksheet>'


_XLSX = {
    "xl/workbook.xml": """<workbook><sheets><sheet name="Budget" sheetId="1" r:id="worksheet1"/>
<sheet name="«name of a hidden sheet»" sheetId="2" state="hidden" r:id="worksheet2"/>
<sheet name="Deep" sheetId="3" state="veryHidden" r:id="worksheet3"/></sheets>
<externalReferences><externalReference r:id="externalLink1"/></externalReferences>
<definedNames><definedName name="«defined name»">Budget!$A$1</definedName>
<definedName name="Constant">"«constant»"</definedName></definedNames></workbook>""",
    "xl/styles.xml": """<styleSheet><numFmts count="1"><numFmt numFmtId="200" formatCode=";;;"/>
</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="1"><fill><patternFill patternType="none"/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="2"><xf/><xf numFmtId="200" applyNumberFormat="1"/></cellXfs></styleSheet>""",
    "xl/worksheet1.xml": f"""<worksheet r:with="comments=comments1.xml">
<sheetPr codeName="«code name»"/>
<cols><col min="3" max="4" width="9" hidden="1"/></cols><sheetData>
<row r="1">{_cell("A1", BEGINNING)}{_cell("B1", "shown")}{_cell("C1", "«hidden column»")}
{_cell("D1", "«second hidden column»")}{_cell("E1", "«hidden format»", 1)}</row>
<row r="2" hidden="1">{_cell("A2", "«hidden row»")}</row>
<row r="3">{_cell("A3", END)}<c r="B3"><f>IF(1,7,"«text in a formula»")</f><v>7</v></c>
<c r="F3"><f>[1]Sheet1!A1</f><v>5</v></c>
<c r="G3"><f>WEBSERVICE("http://HOST/«web service»")</f><v>6</v></c></row></sheetData>
<protectedRanges><protectedRange name="«protected range»" sqref="A1"/></protectedRanges>
<dataValidations count="1"><dataValidation type="whole" sqref="A9" showInputMessage="1"
promptTitle="x" prompt="«prompt»"/></dataValidations>
<hyperlinks><hyperlink ref="A1" {_LINK} tooltip="«tip of a link»"/></hyperlinks>
<headerFooter><oddHeader>&amp;L«printed header»</oddHeader></headerFooter>
<drawing r:id="drawing=drawing1.xml"/><legacyDrawing r:id="vmlDrawing"/></worksheet>""",
    "xl/worksheet2.xml": _sheet("«hidden sheet»"),
    "xl/worksheet3.xml": _sheet("«very hidden sheet»"),
    "xl/drawing1.xml": f"""<xdr:wsDr><xdr:oneCellAnchor><xdr:from><xdr:col>1</xdr:col>
<xdr:colOff>0</xdr:colOff><xdr:row>5</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from>
<xdr:ext cx="900000" cy="450000"/><xdr:pic><xdr:nvPicPr>
<xdr:cNvPr id="2" name="«name of a picture»" descr="«alt text»"/><xdr:cNvPicPr/></xdr:nvPicPr>
<xdr:blipFill>{_FILL}</xdr:blipFill><xdr:spPr>{_SHAPE}</xdr:spPr></xdr:pic><xdr:clientData/>
</xdr:oneCellAnchor></xdr:wsDr>""",
    "xl/comments1.xml": "<comments><authors><author>«author of a comment»</author></authors>"
    '<commentList><comment ref="A1" authorId="0"><text><t>«comment»</t></text></comment>'
    "</commentList></comments>",
    "xl/externalLink1.xml": "<externalLink><externalBook "
    'r:id="externalLinkPath=http://HOST/«other workbook».xlsx"/></externalLink>',
    "xl/connections.xml": '<connections><connection id="1" name="«connection»" type="4">'
    '<webPr url="http://HOST/x"/></connection></connections>',
    "xl/persons/person.xml": '<personList><person displayName="«person»"/></personList>',
}
_VERSION = 'office:version="1.2" manifest:version="1.2"'
_META = """<office:document-meta><office:meta>
<meta:initial-creator>«meta:initial-creator»</meta:initial-creator>
<dc:creator>«dc:creator»</dc:creator><dc:title>«dc:title»</dc:title>
<meta:user-defined meta:name="Team">«property»</meta:user-defined></office:meta>
</office:document-meta>"""
_HEADER = """<office:automatic-styles><style:page-layout style:name="l"/></office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="l">{}
</style:master-page></office:master-styles>"""
_NOTE = """<office:annotation><dc:creator>«author of a comment»</dc:creator>
<text:p>«comment»</text:p></office:annotation>"""
_HIDING = '<office:automatic-styles><style:style style:name="h" style:family="{0}"><style:{0}'
_HIDING += "-properties {1}/></style:style></office:automatic-styles>"


def _frame(text: str, y: int) -> str:
    return f"""<draw:frame svg:x="2cm" svg:y="{y}cm" svg:width="20cm" svg:height="2cm">
<draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"""


def _value(text: str) -> str:
    return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p>'


# By format: its name, its content, and the pages' header.
_OPEN = {
    "odt": (
        "text",
        f"""<office:body><office:text><text:tracked-changes><text:changed-region text:id="c1">
<text:deletion><office:change-info><dc:creator>«author of changes»</dc:creator>
<dc:date>2020-01-01T00:00:00</dc:date></office:change-info><text:p>«deleted text»</text:p>
</text:deletion></text:changed-region></text:tracked-changes><text:p>{BEGINNING}{_NOTE}</text:p>
<text:p><text:change text:change-id="c1"/>kept <text:a xlink:href="http://HOST/«target of a link»">
a link</text:a> <draw:frame draw:name="«name of a picture»" text:anchor-type="as-char"
svg:width="2cm" svg:height="1cm"><draw:image xlink:href="http://HOST/«linked».png"/>
<svg:title>«title»</svg:title><svg:desc>«alt text»</svg:desc></draw:frame></text:p>
<text:section text:name="s"><text:section-source xlink:href="http://HOST/«section».odt"/>
<text:p>section</text:p></text:section><text:p>{END}</text:p></office:text></office:body>""",
        "<style:header><text:p>«header»</text:p></style:header>",
    ),
    "odp": (
        "presentation",
        f"""{_HIDING.format("drawing-page", 'presentation:visibility="hidden"')}<office:body>
<office:presentation><draw:page draw:name="«name of a slide»" draw:master-page-name="Standard">
{_frame(BEGINNING, 2)}{_frame(END, 5)}<draw:frame svg:x="2cm" svg:y="9cm" svg:width="2cm"
svg:height="1cm"><draw:image xlink:href="http://HOST/«linked».png"/></draw:frame>
<presentation:notes>{_frame("«speaker note»", 2)}</presentation:notes></draw:page>
<draw:page draw:style-name="h" draw:master-page-name="Standard">{_frame("«hidden slide»", 2)}
</draw:page></office:presentation></office:body>""",
        "",
    ),
    "ods": (
        "spreadsheet",
        f"""{_HIDING.format("table", 'table:display="false"')}<office:body><office:spreadsheet>
<table:table table:name="Plan"><table:table-row>{_value(BEGINNING)}{_NOTE}</table:table-cell>
</table:table-row><table:table-row table:visibility="collapse">{_value("«hidden row»")}
</table:table-cell></table:table-row><table:table-row>{_value(END)}</table:table-cell>
<table:table-cell table:formula="of:=WEBSERVICE(&quot;http://HOST/«service»&quot;)"
office:value-type="float" office:value="4"><text:p>4</text:p></table:table-cell></table:table-row>
</table:table><table:table table:name="«name of a hidden sheet»" table:style-name="h">
<table:table-row>{_value("«hidden sheet»")}</table:table-cell></table:table-row></table:table>
</office:spreadsheet></office:body>""",
        "",
    ),
}
_RTF = (
    r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\info{\author «author»}{\company «company»}}"
    rf"{{\header «header»\par}}{BEGINNING}\par {{\deleted «deleted text»}}{{\v «hidden text»}}"
    r"{\*\atnid Z}{\*\atnauthor «author of a comment»}\chatn{\*\annotation «comment»}"
    r'{\field{\*\fldinst INCLUDEPICTURE "http://HOST/«linked».png"}{\fldrslt picture}}\par '
    rf"{END}\par}}"
)


def planted_office(name: Name, host: str = "127.0.0.1:9") -> dict[str, bytes]:
    def of(form: str, template: str) -> str:
        return filled(template.replace("HOST", host), lambda kind: name(f"{form} {kind}"))

    files = {"rtf": of("rtf", _RTF).encode()}
    for form, prefix, parts in (("docx", "w", _DOCX), ("pptx", "p", _PPTX), ("xlsx", "x", _XLSX)):
        whole: dict[str, str | bytes] = {
            of(form, path): of(form, text) for path, text in {**parts, **_PROPERTIES}.items()
        }
        main = next(iter(parts))
        whole[f"{main.partition('/')[0]}/media/image1.jpg"] = photo(name(f"{form} EXIF"))
        files[form] = _package(main, prefix, whole)
    for form, (kind, body, header) in _OPEN.items():
        mime = f"application/vnd.oasis.opendocument.{kind}"
        content = {
            "content.xml": f"<office:document-content {_VERSION}>{body}</office:document-content>",
            "styles.xml": f"<office:document-styles>{_HEADER.format(header)}"
            "</office:document-styles>",
            "meta.xml": _META,
            "Configurations2/«name of a part».xml": "<a/>",
        }
        files_in = {of(form, path): _xml(of(form, text)) for path, text in content.items()}
        entries = "".join(
            f'<manifest:file-entry manifest:full-path="{part}" manifest:media-type="{media}"/>'
            for part, media in {"/": mime, **dict.fromkeys(files_in, "text/xml")}.items()
        )
        manifest = _xml(f"<manifest:manifest {_VERSION}>{entries}</manifest:manifest>")
        files[form] = zipped({"mimetype": mime, "META-INF/manifest.xml": manifest, **files_in})
    return files
