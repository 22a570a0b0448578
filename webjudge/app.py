"""Assembles the app."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from flask import Flask
from sqlalchemy import text
from werkzeug.middleware.proxy_fix import ProxyFix

from quem.resources import resource
from webjudge.access import access, site
from webjudge.dashboard import dashboard
from webjudge.errors import answer_errors
from webjudge.judging import judge
from webjudge.languages import (
    LANGUAGES,
    gettext,
    language_values,
    moment,
    ngettext,
    translations,
)
from webjudge.mailing import POST, Post
from webjudge.preview import preview
from webjudge.security import Hosts, Kept, protect
from webjudge.solving import LARGEST_UPLOAD, solve
from webjudge.static_files import send_static, version
from webjudge.study_edits import follow_edits

if TYPE_CHECKING:
    from webjudge.site import Site

# Configuration key of the limit of a request body, in bytes.
LARGEST = "QUEM_LARGEST"

# Enough for 30 solutions, each with a comment of maximum length.
_LARGEST_BODY = 1 << 20
# Lifetime of the language cookie.
_KEPT = timedelta(weeks=26)


def create_app(
    served: Site,
    *,
    behind_proxy: bool = False,
    url: str | None = None,
    listens: str = "",
) -> Flask:
    """Create the Flask app for a site."""
    app = Flask("webjudge", template_folder=str(resource("templates")), static_folder=None)
    # A version in the address keeps cached scripts from running on a newer page.
    app.add_url_rule(f"/static/{version()}/<path:filename>", "static", send_static)
    url = url.rstrip("/") if url else None
    app.config.update(
        QUEM_URL=url,
        MAX_CONTENT_LENGTH=_LARGEST_BODY,
        SECRET_KEY=served.secret,
        SESSION_COOKIE_NAME=f"quem-kept-{served.key}",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=_KEPT,
    )
    app.session_interface = Kept()
    app.config[LARGEST] = LARGEST_UPLOAD if served.spec.solving else _LARGEST_BODY
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.extensions["quem"] = served
    app.extensions[POST] = Post(lambda: app.extensions["quem"], url or "")
    follow_edits(app, served)
    _prepare_templates(app)
    app.context_processor(language_values)
    for blueprint in (access, judge, solve, dashboard, preview):
        app.register_blueprint(blueprint)
    app.add_url_rule("/healthz", "healthz", _healthz)
    protect(app, Hosts(listens, url, behind_proxy=behind_proxy))
    answer_errors(app)
    if behind_proxy:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1, x_host=1)  # type: ignore[method-assign]
    return app


def _prepare_templates(app: Flask) -> None:
    """Set up Jinja with the translations of each request's language."""
    for code in LANGUAGES:
        translations(code)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
    app.jinja_env.globals["moment"] = moment


def _healthz() -> tuple[str, dict[str, str]]:
    """Health check of app and database."""
    with site().store.read() as c:
        c.execute(text("SELECT 1"))
    return "ok", {"Content-Type": "text/plain; charset=utf-8"}
