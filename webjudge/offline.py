"""Working without a connection: the worker that keeps a judge's pages, and what ends that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    g,
    make_response,
    render_template,
    request,
    url_for,
)

from quem.store.digests import keyed
from webjudge.access import current_judge, had_link, log_out, site
from webjudge.languages import gettext
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.store.judges import StoredJudge
    from webjudge.pages import Area

offline = Blueprint("offline", __name__, url_prefix="/judge")

# The key of the app's settings that holds the digest of all static files.
VERSION = "QUEM_STATIC_VERSION"
_SCRIPT = "sw.js"
_SENT = (".css", ".js", ".svg", ".woff2")
_NOT_FOR_JUDGES = ("dashboard.css", "dashboard.js", "deciding.js", _SCRIPT)
_CLEAR, _CLEAR_COPIES = '"cache", "storage"', '"cache"'
# Whose pages an answer is of.
_ID, _OVER = "Offline-Id", "over"


def offline_values(
    area: Area, groups: Sequence[dict[str, Any]], judge: StoredJudge
) -> dict[str, Any] | None:
    """Give what a page needs to work without a connection, or None where that is off."""
    if not site().spec.judging.offline:
        return None
    version = current_app.config[VERSION]
    name = _id_of(judge)
    waiting = (one for one in groups if not one["practice"] and one["state"] != "submitted")
    return {
        "judge": name,
        "version": version,
        "isOver": area.state == "closed" or not any(waiting),
        "home": url_for("judge.home"),
        "worker": url_for("offline.worker", judge=name, version=version),
        "pages": [url_for("judge.home"), *(group["url"] for group in groups if group["url"])],
    }


def mark(response: Response) -> Response:
    """Say in an answer to a judge whose it is, or that nothing of it may stay in the browser."""
    if not site().spec.judging.offline:
        return response
    response.headers.setdefault("Content-Security-Policy", policy(worker_src="'self'"))
    if response.status_code == 401:  # noqa: PLR2004  as in the other tables of codes
        # Whoever only lost the cookie comes again by their link, and finds what is not sent yet.
        _clear(response, _CLEAR if had_link() else _CLEAR_COPIES)
        # Browsers do not show scripts that header.
        response.headers[_ID] = _OVER if had_link() else ""
    elif g.get("judge") is not None:
        response.headers[_ID] = _id_of(g.judge)
    return response


@offline.get(f"/{_SCRIPT}")
def worker() -> Response:
    """Send the worker; where offline is off, one that ends itself."""
    is_on = site().spec.judging.offline
    values = {
        "VERSION": current_app.config[VERSION] if is_on else "",
        "FILES": list(_files()),
    }
    head = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in values.items())
    script = _folder().joinpath(_SCRIPT).read_text(encoding="utf-8")
    headers = {"Cache-Control": "no-cache", "Service-Worker-Allowed": url_for("judge.home")}
    return Response(head + script, content_type="text/javascript; charset=utf-8", headers=headers)


@offline.post("/sign-out")
def sign_out() -> Response:
    """Take the judge's cookie away from this browser, and all that it keeps; the link works on."""
    with site().store.read() as c:
        current_judge(c)
    if not site().spec.judging.offline:
        abort(404)
    page = render_template(
        "judge/message.html",
        study={"title": site().spec.title},
        title=gettext("You are signed out"),
        text=gettext("This device keeps nothing of this study. Your private link still works."),
        notice=None,
    )
    response = make_response(page)
    log_out(response, "judge")
    _clear(response, _CLEAR)
    return response


def _clear(response: Response, what: str) -> None:
    """Have the browser forget, besides what scripts remove; not where others' studies are there."""
    if not request.script_root:
        response.headers["Clear-Site-Data"] = what


def _id_of(judge: StoredJudge) -> str:
    """A name for whose pages a browser keeps: of no meaning anywhere else."""
    return keyed(site().secret, "offline", judge.key)


def _files() -> Iterator[str]:
    """The addresses of the static files of judges' pages."""
    for path in sorted(_folder().rglob("*")):
        if path.suffix in _SENT and path.name not in _NOT_FOR_JUDGES:
            yield url_for("static", filename=path.relative_to(_folder()).as_posix())


def _folder() -> Path:
    return Path(str(current_app.static_folder))


offline.after_request(mark)
