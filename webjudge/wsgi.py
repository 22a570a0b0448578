"""WSGI entry point: ``QUEM_STUDY=study.yaml gunicorn webjudge.wsgi``.

``QUEM_URL`` is what judges' links begin with, ``QUEM_BEHIND_PROXY=1`` trusts a proxy in front,
``QUEM_OFFICE_UNSANDBOXED=1`` allows conversion of documents and uploads of subjects where no
sandbox holds,
``QUEM_SMTP`` and others name a mail server (see `quem.mail.server`),
``QUEM_THREADS`` is the number of threads of a worker (default 8).
Links are made by ``quem links organizers`` and ``quem links judges``. Several workers need
PostgreSQL (``QUEM_DATABASE_URL``).
"""

from __future__ import annotations

import atexit
import os
import ssl
import sys
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.store.database import THREADS
from webjudge import create_app, open_site
from webjudge.housekeeping import Housekeeping
from webjudge.mailing import POST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask

_MOST_THREADS = 256


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def _threads() -> int:
    number = os.environ.get("QUEM_THREADS", str(THREADS))
    if not (number.isdecimal() and 1 <= int(number) <= _MOST_THREADS):
        sys.exit(f"error: QUEM_THREADS is {number!r}; use a number from 1 to {_MOST_THREADS}")
    return int(number)


def _unforwarded(app: WSGIApplication) -> WSGIApplication:
    """Take the scheme from gunicorn's socket, since gunicorn trusts X-Forwarded-Proto locally."""

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if "gunicorn.socket" in environ:
            is_tls = isinstance(environ["gunicorn.socket"], ssl.SSLSocket)
            environ["wsgi.url_scheme"] = "https" if is_tls else "http"
        return app(environ, start)

    return answer


def _application() -> Flask:
    """Create the app of one study; each worker runs its own background jobs."""
    study = os.environ.get("QUEM_STUDY")
    if not study:
        sys.exit("error: set QUEM_STUDY to a study file")
    site = open_site(study, sandboxed=not _is_set("QUEM_OFFICE_UNSANDBOXED"), threads=_threads())
    app = create_app(
        site, behind_proxy=_is_set("QUEM_BEHIND_PROXY"), url=os.environ.get("QUEM_URL")
    )
    if not _is_set("QUEM_BEHIND_PROXY"):
        app.wsgi_app = _unforwarded(app.wsgi_app)  # type: ignore[method-assign, assignment]
    housekeeping = Housekeeping(site)
    post = app.extensions[POST]
    post.keep(housekeeping)
    for trouble in site.troubles.values():
        sys.stderr.write(f"alert: {trouble}\n")
    housekeeping.start()
    atexit.register(site.store.close)
    atexit.register(housekeeping.stop)
    atexit.register(post.stop)  # which comes first
    return app


try:
    application = _application()
except QuemError as error:
    sys.exit("\n".join(f"error: {mistake}" for mistake in error.mistakes))
