"""Images of a file's pages, whatever its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.blinding.images import clean_file, clean_image
from quem.blinding.notebooks import read_notebook
from quem.blinding.office import read_office
from quem.blinding.pdf import PdfPage, page_image, read_pdf
from quem.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

    from quem.solutions.model import Kind, SolutionFile

# Kinds that can have pages; a workbook has those of its sheets with charts or pictures, a notebook
# has its pictures.
PAGED: tuple[Kind, ...] = ("pdf", "office", "workbook", "notebook")


def pages_of(file: SolutionFile) -> tuple[PdfPage, ...]:
    """The pages of a file, without the redacted words."""
    pdf = _pdf(file)
    return read_pdf(pdf, file.patterns).pages if pdf else ()


def image_of(file: SolutionFile, number: int | None) -> tuple[bytes, str]:
    """An image, or that of a page, with its type."""
    if number is None:
        return clean_file(file.path, file.patterns)
    if file.kind == "notebook":
        return _picture(file, number)
    pdf = _pdf(file)
    if pdf is None:
        raise IndexError(number)
    return page_image(pdf, number, file.patterns)


def _picture(file: SolutionFile, number: int) -> tuple[bytes, str]:
    images = read_notebook(file.path).images
    if not 1 <= number <= len(images):
        raise IndexError(number)
    try:
        return clean_image(images[number - 1])
    except ValueError as error:
        raise FileError(file.path, str(error)) from None


def _pdf(file: SolutionFile) -> Path | None:
    return file.path if file.kind == "pdf" else read_office(file).pdf
