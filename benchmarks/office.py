"""Converting documents until judges can read them; needs LibreOffice."""

from __future__ import annotations

import os
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.measuring import Row, timed
from quem.blinding.libreoffice import find_office, is_sandboxed
from quem.blinding.office import prepare
from quem.blinding.pages import image_of, pages_of
from quem.solutions.files import inspect

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def rows(*, short: bool) -> Iterator[Row]:
    """Twenty documents of twelve pages, at the first start and again, and the image of a page."""
    if not find_office():
        raise RuntimeError("install LibreOffice")
    count, pages = (1, 2) if short else (20, 12)
    with (
        tempfile.TemporaryDirectory() as name,
        patch.dict(os.environ, XDG_CACHE_HOME=name),
    ):
        paths = [Path(name) / f"{number}.docx" for number in range(count)]
        for path in paths:
            write(path, pages)
        files = [inspect(path, str(path), path.name) for path in paths]

        def convert() -> None:
            if mistakes := prepare(files, sandboxed=is_sandboxed()):
                raise RuntimeError(str(mistakes))

        documents = f"{count} documents of {pages} pages"
        yield Row(f"convert {documents} by LibreOffice", timed(convert), "s", most=15)
        yield Row(f"find {documents} converted", timed(convert), "s", most=1)
        if len(pages_of(files[0])) < pages:
            raise RuntimeError("pages are missing")
        seconds = timed(partial(image_of, files[0], 1))
        yield Row("make the image of a document's page", seconds, "s", most=0.15)


def write(path: Path, pages: int) -> None:
    """Write a document with headings, paragraphs, and a table on each page."""
    words = f"{path.stem} writes of plans, costs, and risks, and of what to do about them. " * 6
    body = ""
    for number in range(pages):
        parts = [f"Part {number + 1}", *[words] * 4]
        body += "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in parts)
        cells = "".join(
            f"<w:tc><w:p><w:r><w:t>{number * cell}</w:t></w:r></w:p></w:tc>" for cell in range(5)
        )
        grid = "<w:gridCol w:w='1500'/>" * 5
        body += f"<w:tbl><w:tblGrid>{grid}</w:tblGrid>{f'<w:tr>{cells}</w:tr>' * 8}</w:tbl>"
        if number + 1 < pages:
            body += "<w:p><w:r><w:br w:type='page'/></w:r></w:p>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", _TYPES)
        package.writestr("_rels/.rels", _RELS)
        xml = f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
        package.writestr("word/document.xml", xml)
