"""Files of solutions as they are sent: cleaned, under names that tell nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import abort, make_response

from webjudge.cleaning import CleaningError, clean_file
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Response

    from quem.solutions import SolutionFile

__all__ = ["send_part"]


def send_part(files: Sequence[SolutionFile], number: int, label: str) -> Response:
    """Send an image or a PDF.

    Parameters
    ----------
    files : sequence of SolutionFile
        Of a solution.
    number : int
        From 1.
    label : str
        What the file is called when it is saved.
    """
    if not 1 <= number <= len(files) or files[number - 1].kind not in ("image", "pdf"):
        abort(404)
    try:
        body, mimetype = clean_file(files[number - 1].path)
    except CleaningError:
        abort(404, "This file cannot be shown at the moment. Please tell the organiser.")
    response = make_response(body)
    response.content_type = mimetype
    ending = mimetype.rpartition("/")[2]
    response.headers["Content-Disposition"] = f'inline; filename="{label}-{number}.{ending}"'
    # Neither an ETag nor a date: both are the same for all judges, or tell when it was made.
    response.headers["Cache-Control"] = "private, max-age=3600"
    if ending == "pdf":
        # The browser's viewer is shown in a frame, and needs styles of its own.
        framed = policy(frame_ancestors="'self'", object_src="'self'", style_src="'unsafe-inline'")
        response.headers["Content-Security-Policy"] = framed
    else:
        response.headers["Content-Security-Policy"] = policy(sandbox="")
    return response
