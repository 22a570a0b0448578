"""The confined process that parses images, documents, and workbooks.

Its parents are `quem.blinding.images`, `quem.blinding.office`, and `quem.solutions.files`.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from quem.blinding.cleaning import clean_package
from quem.blinding.images import encode_image
from quem.blinding.workbooks import sheets_to_print, tables_of
from quem.blinding.workers import serve
from quem.errors import FileError
from quem.solutions.files import image_entries, image_problem

if TYPE_CHECKING:
    from types import ModuleType

_FILE = Path("file")  # for messages that are not shown


def _image(_: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    cleaned, form = encode_image(content)
    return {"form": form}, cleaned


def _image_problem(_: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    return {"problem": image_problem(content)}, b""


def _image_entries(_: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    return {"entries": dict(image_entries(content))}, b""


def _clean_package(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    made = clean_package(_FILE, content, keep_headers=request["keep_headers"])
    return {"entries": made.entries, "lost": made.lost}, made.content


def _tables_of(_: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    return {"tables": [asdict(table) for table in tables_of(_FILE, content)]}, b""


def _sheets_to_print(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    return {}, sheets_to_print(_FILE, content, request["names"])


def _problem(error: Exception) -> str:
    if isinstance(error, FileError):
        return error.message
    if isinstance(error, MemoryError):
        return "needs too much memory to be read; make it simpler"
    return "is a broken file; save it again"


if __name__ == "__main__":
    # openpyxl needs neither, and their threads would escape the confinement.
    sys.modules["numpy"] = sys.modules["pandas"] = cast("ModuleType", None)
    with suppress(ImportError):
        import lxml.etree  # noqa: F401
        import openpyxl  # noqa: F401  as all that is imported here: later it cannot be
    import PIL.ImageCms
    import PIL.ImageOps
    import PIL.ImageSequence

    PIL.Image.init()
    does = (_image, _image_problem, _image_entries, _clean_package, _tables_of, _sheets_to_print)
    serve({one.__name__.lstrip("_"): one for one in does}, _problem)
