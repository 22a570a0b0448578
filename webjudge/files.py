"""Files of solutions as they are sent: cleaned, under names that tell nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import abort, make_response

from quem.blinding.images import clean_file
from quem.blinding.pdf import page_image
from quem.errors import QuemError
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Response

    from quem.solutions import SolutionFile

__all__ = ["send_part"]


def send_part(
    files: Sequence[SolutionFile], number: int, label: str, page: int | None = None
) -> Response:
    """Send an image, or a page of a PDF.

    Parameters
    ----------
    files : sequence of SolutionFile
        Of a solution.
    number : int
        Of the file, from 1.
    label : str
        What the file is called when it is saved.
    page : int, optional
        From 1; only for PDFs.
    """
    kind = files[number - 1].kind if 1 <= number <= len(files) else None
    if kind != ("image" if page is None else "pdf"):
        abort(404)
    path = files[number - 1].path
    try:
        body, mimetype = clean_file(path) if page is None else page_image(path, page)
    except IndexError:
        abort(404)
    except QuemError:
        abort(404, "This file cannot be shown at the moment. Please tell the organiser.")
    response = make_response(body)
    response.content_type = mimetype
    name = "-".join(str(part) for part in (label, number, page) if part is not None)
    ending = mimetype.rpartition("/")[2]
    response.headers["Content-Disposition"] = f'inline; filename="{name}.{ending}"'
    # Neither an ETag nor a date: both are the same for all judges, or tell when it was made.
    response.headers["Cache-Control"] = "private, max-age=3600"
    response.headers["Content-Security-Policy"] = policy(sandbox="")
    return response
