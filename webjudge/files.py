"""Files of solutions as they are sent: cleaned, under names that reveal nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import abort, make_response

from quem import __version__
from quem.blinding.pages import PAGED, image_of
from quem.errors import QuemError
from quem.store.digests import keyed
from webjudge.errors import RefusedError
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flask import Response

    from quem.solutions import SolutionFile
    from quem.store.models import TaskRow
    from webjudge.site import Site


def file_token(site: Site, gid: str, file: SolutionFile) -> str:
    """Give what names a file in a judge's addresses: a keyed hash of its bytes.

    So an address never leads to other bytes, and a picture that a browser kept can never appear
    under another letter. It is another one for each judge and group.
    """
    try:
        return keyed(site.secret, "file", __version__, gid, file.digest)
    except OSError:
        return "gone"


def send_file(site: Site, ballot: TaskRow, token: str, page: int | None = None) -> Response:
    """Send an image of a ballot's solutions or statement, or a page of a document."""
    files = [*_solutions(site, ballot), *statement_files(site, ballot.problem)]
    return send_one(site, ballot.public_id, files, token, page)


def send_one(
    site: Site,
    gid: str,
    files: Iterable[tuple[str, SolutionFile]],
    token: str,
    page: int | None = None,
) -> Response:
    """Send one of some files."""
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
        abort(404)  # it changed while it was read
    response = make_response(body)
    response.content_type = mimetype
    name += "" if page is None else f"-{page}"
    ending = mimetype.rpartition("/")[2]
    response.headers["Content-Disposition"] = f'inline; filename="{name}.{ending}"'
    # Neither an ETag nor a date: both are the same for all judges, or tell when it was made.
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    response.headers["Content-Security-Policy"] = policy(sandbox="")
    return response


def _solutions(site: Site, ballot: TaskRow) -> Iterator[tuple[str, SolutionFile]]:
    """Each file of a ballot's solutions, with what it is called when it is saved."""
    for letter, solver in ballot.layout.solvers.items() if ballot.layout else ():
        solution = site.solution(ballot.problem, solver)
        for number, file in enumerate(solution.files if solution else (), 1):
            yield f"{letter}-{number}", file


def statement_files(site: Site, problem: str) -> list[tuple[str, SolutionFile]]:
    """Each file of a statement and its translations, with what it is called when it is saved."""
    sheet = site.solutions.statements.get(problem)
    sheets = (sheet, *sheet.translations.values()) if sheet else ()
    files = (file for one in sheets for file in one.files)
    return [(f"statement-{number}", file) for number, file in enumerate(files, 1)]
