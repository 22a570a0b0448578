"""Every error is a clear answer: JSON for the page's own requests, a page for people."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from flask import jsonify, make_response, render_template, request
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from werkzeug.exceptions import HTTPException

from quem.store.connecting import UnavailableError
from quem.store.engine import LostError
from webjudge.access import site
from webjudge.languages import gettext, marked

if TYPE_CHECKING:
    from flask import Flask, Response

_log = logging.getLogger("webjudge")
_QUIET_SECONDS = 60  # in which a trouble of the database is not logged again
_TEXTS = {
    400: ("invalid", marked("Invalid request.")),
    401: ("link", marked("Open your private link again.")),
    403: ("refused", marked("You don't have access to this.")),
    404: ("missing", marked("Page not found.")),
    405: ("invalid", marked("This action is not available here.")),
    413: ("invalid", marked("This is too large to save.")),
    415: ("invalid", marked("This is not sent as JSON.")),
    422: ("invalid", marked("This could not be saved.")),
    500: ("bug", marked("Something went wrong on the server. Everything saved earlier is safe.")),
    503: ("busy", marked("The server is busy or out of space. Try again in a moment.")),
}
_TITLES = {
    401: marked("Link required"),
    404: marked("Not found"),
    413: marked("Too large"),
    503: marked("Please wait"),
}
_SORRY = marked("Sorry")
_LOST = marked(
    "The database is not in its place, so nothing can be saved now. Keep this page open, and tell "
    "the organizer."
)


def answer_errors(app: Flask) -> None:
    """Answer all errors in words, never with a traceback."""
    app.register_error_handler(HTTPException, _answer_http)
    app.register_error_handler(OperationalError, _answer_busy)
    app.register_error_handler(InterfaceError, _answer_busy)
    app.register_error_handler(PoolTimeoutError, _answer_busy)
    app.register_error_handler(UnavailableError, _answer_unavailable)
    app.register_error_handler(Exception, _answer_bug)


def refusal(code: int, error: str, message: str, **more: object) -> Response:
    """Refuse what a page asked for, as JSON."""
    response = jsonify({"error": error, "message": message, **more})
    response.status_code = code
    return response


def _answer_http(error: HTTPException) -> Response:
    code = error.code or 500
    kind, text = _TEXTS.get(code, ("refused", error.name))
    own = error.description if code in (400, 401, 403, 404, 409, 422) else None
    # Werkzeug's own sentences speak of URLs and servers; ours are told by how they are written.
    if own and own != type(error).description:
        text = own
    return _answer(code, kind, text)


def _answer_busy(error: Exception) -> Response:
    orig, last = getattr(error, "orig", error), site().reported
    reason = " ".join(str(orig).split())
    # While PostgreSQL restarts one request hears this of it and the next that.
    is_away = (getattr(orig, "sqlstate", reason) or "57").startswith("57")
    kind = "away" if is_away else reason
    if monotonic() - last.get(kind, -_QUIET_SECONDS) >= _QUIET_SECONDS:
        last[kind] = monotonic()
        _log.warning("database: %s", reason)
    return _answer_later(*_TEXTS[503])


def _answer_unavailable(error: UnavailableError) -> Response:
    is_lost = isinstance(error, LostError)
    _log.warning("database: %s", error.reason if isinstance(error, LostError) else error)
    return _answer_later(*(("lost", _LOST) if is_lost else _TEXTS[503]))


def _answer_later(kind: str, text: str) -> Response:
    response = _answer(503, kind, text)
    response.headers["Retry-After"] = "2"
    return response


def _answer_bug(error: Exception) -> Response:
    _log.error("%s %s", request.method, request.endpoint, exc_info=error)
    return _answer(500, *_TEXTS[500])


def _answer(code: int, kind: str, text: str) -> Response:
    text = gettext(text)
    if request.is_json or request.method == "PUT":
        return refusal(code, kind, text)
    page = render_template(
        "judge/message.html",
        study={"title": site().spec.title},
        title=gettext(_TITLES.get(code, _SORRY)),
        text=text,
        notice=None,
    )
    return make_response(page, code)
