"""Responses to refusals and errors: JSON for scripts, a page for people."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

from flask import (
    abort,
    current_app,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from werkzeug.exceptions import HTTPException

from quem.store.database import LostError, UnavailableError
from quem.store.uploads import TooLargeError, TooMuchError
from quem.store.work import (
    ClosedError,
    ElsewhereError,
    NotAssignedError,
    PausedError,
    SubmittedError,
)

if TYPE_CHECKING:
    from flask import Flask, Response

_log = logging.getLogger("webjudge")
_QUIET_SECONDS = 60  # between log entries of the same database error
_OWN_WORDS = (400, 401, 403, 404, 409, 422)
# Status and error code of each refusal; `judge/sentences.txt` has
# the texts. Other errors use their status as code.
_REFUSALS: dict[str | int, tuple[int, str]] = {
    **{code: (409, code) for code in ("stale", "layout", "gone", "unanswered", "elsewhere")},
    **{code: (403, code) for code in ("closed", "paused", "submitted", "ended")},
    **dict.fromkeys(("unranked", "empty"), (422, "invalid")),
    **dict.fromkeys(("file-kind", "file-count", "file-size"), (422, "file")),
    **dict.fromkeys(("files-size", "file-unreadable"), (422, "file")),
    **dict.fromkeys((401, "link-lacking", "dashboard-lacking"), (401, "link")),
    **dict.fromkeys((403, "origin"), (403, "refused")),
    **dict.fromkeys((404, "link-ended", "dashboard-ended", "file-lost"), (404, "missing")),
    **dict.fromkeys((503, "conflict"), (503, "busy")),
    "host": (400, "invalid"),
    "lost": (503, "lost"),
    "task-incomplete": (503, "missing"),
    500: (500, "bug"),
}
_CODES: dict[type[Exception], str | int] = {
    NotAssignedError: 404,
    ClosedError: "closed",
    PausedError: "paused",
    SubmittedError: "submitted",
    ElsewhereError: "elsewhere",
    TooLargeError: "file-size",
    TooMuchError: "files-size",
    LostError: "lost",
    **dict.fromkeys((UnavailableError, OperationalError, InterfaceError, PoolTimeoutError), 503),
}


class RefusedError(Exception):
    """A refused request; the details go to the script and into the text."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code)
        self.code, self.details = code, details


def answer_errors(app: Flask) -> None:
    """Register handlers that never show a traceback."""
    app.register_error_handler(Exception, answer)


def go(endpoint: str, **values: Any) -> NoReturn:  # noqa: ANN401  parts of a URL
    """Abort with a redirect."""
    abort(redirect(url_for(endpoint, **values), code=303))


def message_page(code: str | int, status: int = 200, own: str = "", **details: object) -> Response:
    """Render a message from `judge/sentences.txt`."""
    study = {"title": current_app.extensions["quem"].spec.title}
    text = own or _sentence(code, details)
    values = {"study": study, "code": code, "status": status, "text": text, "notice": None}
    return make_response(render_template("judge/message.html", **values), status)


def _sentence(code: str | int, details: dict[str, object]) -> str:
    return render_template("judge/sentences.txt", code=code, **details).strip()


def answer(error: Exception) -> Response:
    """Build the response to an error."""
    details = error.details if isinstance(error, RefusedError) else {}
    code, own = _code(error), ""
    status, kind = _REFUSALS.get(code) or (int(code), "invalid")
    if isinstance(error, HTTPException) and code in _OWN_WORDS:
        # Use a description only if it is ours and not Werkzeug's default.
        own = (error.description or "") if error.description != type(error).description else ""
    elif code in (503, "lost"):
        _note_trouble(error)
    elif code == 500:  # noqa: PLR2004
        _log.error("%s %s", request.method, request.endpoint, exc_info=error)
    if request.is_json or request.method == "PUT" or request.endpoint == "solve.files":
        message = own or _sentence(code, details)
        response = jsonify({"error": kind, "message": message, **details})
        response.status_code = status
    else:
        response = message_page(code, status, own, **details)
    if status == 503:  # noqa: PLR2004
        response.headers["Retry-After"] = "2"
    return response


def _code(error: Exception) -> str | int:
    if isinstance(error, HTTPException):
        return error.code or 500
    if isinstance(error, RefusedError):
        return error.code
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), 500)
    return "ended" if code == "submitted" and request.blueprint == "solve" else code


def _note_trouble(error: Exception) -> None:
    """Log a database error, at most once per kind and interval."""
    orig, last = getattr(error, "orig", error), current_app.extensions["quem"].reported
    reason = " ".join(str(getattr(error, "reason", orig)).split())
    # While PostgreSQL restarts, requests fail with different errors.
    is_away = (getattr(orig, "sqlstate", reason) or "57").startswith("57")
    kind = "away" if is_away else reason
    if monotonic() - last.get(kind, -_QUIET_SECONDS) >= _QUIET_SECONDS:
        last[kind] = monotonic()
        _log.warning("database: %s", reason)
