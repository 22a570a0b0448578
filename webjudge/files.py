"""Files of solutions as sent: cleaned, under names that do not identify solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Response, abort, make_response

from quem import __version__
from quem.blinding.pages import PAGED, image_of
from quem.errors import QuemError
from quem.store.digests import keyed
from webjudge.errors import RefusedError
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.solutions import SolutionFile
    from quem.store.models import TaskRow
    from webjudge.site import Site


def file_token(site: Site, gid: str, file: SolutionFile) -> str:
    """File name in addresses: a keyed hash of the bytes.

    So an address never leads to other bytes, and a picture that a browser kept can never appear
    under another letter. It is another one for each judge and group.
    """
    try:
        return keyed(site.secret, "file", __version__, gid, file.digest)
    except OSError:
        return "gone"


def send_file(site: Site, task: TaskRow, token: str, page: int | None = None) -> Response:
    """Send an image of a task's solutions or statement, or a page of a document."""
    return send_one(site, task.public_id, _files(site, task), token, page)


def send_one(
    site: Site,
    gid: str,
    files: Iterable[tuple[str, SolutionFile]],
    token: str,
    page: int | None = None,
) -> Response:
    """Send the file that has a token."""
    kinds = ("image",) if page is None else PAGED
    matches = (
        (name, file)
        for name, file in files
        if file.kind in kinds and file_token(site, gid, file) == token
    )
    name, file = next(matches, ("", None))
    if file is None:
        abort(404)
    try:
        body, mimetype = image_of(file, page)
    except IndexError:
        abort(404)
    except QuemError:
        raise RefusedError("file-lost") from None
    if file_token(site, gid, file) != token:
        abort(404)  # changed since the page was rendered
    response = make_response(body)
    response.content_type = mimetype
    name += "" if page is None else f"-{page}"
    ending = mimetype.rpartition("/")[2]
    response.headers["Content-Disposition"] = f'inline; filename="{name}.{ending}"'
    # No ETag or date: they would be equal for all judges, or show when the file was made.
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    response.headers["Content-Security-Policy"] = policy(sandbox="")
    return response


def _files(site: Site, task: TaskRow) -> Iterator[tuple[str, SolutionFile]]:
    """The files that a task shows, with their download names."""
    for letter, solver in task.layout.solvers.items() if task.layout else ():
        solution = site.solution(task.problem, solver)
        for number, file in enumerate(solution.files if solution else (), 1):
            yield f"{letter}-{number}", file
    sheet = site.solutions.statements.get(task.problem)
    sheets = (sheet, *sheet.translations.values()) if sheet else ()
    for number, file in enumerate((file for one in sheets for file in one.files), 1):
        yield f"statement-{number}", file
