"""How long documents take until judges can read them.

``python benchmarks/office.py`` makes up twenty documents of twelve pages (``--documents``,
``--pages``), converts them all as ``quem check`` does, and a second time as the start of
``quem serve`` after it, for which nothing is converted. It needs LibreOffice. It prints both times,
the time until the first page's image, and fails where one is above its demand.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from quem.blinding.libreoffice import find_office, is_sandboxed, office_version
from quem.blinding.office import prepare
from quem.blinding.pages import image_of, pages_of
from quem.solutions.files import inspect

# The demands, in seconds on two free cores.
FIRST, SECOND, IMAGE = 15.0, 1.0, 0.15
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


def main() -> int:
    """Measure, and print a line for each start."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--pages", type=int, default=12)
    options = parser.parse_args()
    if not find_office():
        sys.exit("error: install LibreOffice")
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name
        paths = [Path(name) / f"{number}.docx" for number in range(options.documents)]
        for path in paths:
            write(path, options.pages)
        files = [inspect(path, str(path), path.name) for path in paths]
        print(f"{len(files)} documents of {options.pages} pages, LibreOffice {office_version()}")
        converted: list[int] = []
        good = True
        for label, demand in (("first start", FIRST), ("second start", SECOND)):
            begun = time.perf_counter()
            mistakes = prepare(
                files, sandboxed=is_sandboxed(), tell=lambda done, _: converted.append(done)
            )
            seconds = time.perf_counter() - begun
            count = max(converted, default=0)
            converted.clear()
            good &= seconds <= demand and not mistakes
            print(f"{label:14} {seconds:6.2f} s (<= {demand:g} s), {count} converted")
        pages = len(pages_of(files[0]))
        begun = time.perf_counter()
        image_of(files[0], 1)
        seconds = time.perf_counter() - begun
        good &= seconds <= IMAGE and pages >= options.pages
        print(f"{'first image':14} {seconds:6.3f} s (<= {IMAGE:g} s), {pages} pages")
    return 0 if good else 1


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


if __name__ == "__main__":
    sys.exit(main())
