"""For servers such as gunicorn: ``QUEM_STUDY=study.yaml gunicorn webjudge.wsgi``.

``QUEM_URL`` is what judges' links begin with, ``QUEM_BEHIND_PROXY=1`` trusts a proxy in front,
``QUEM_OFFICE_UNSANDBOXED=1`` lets LibreOffice convert documents where it has network,
``QUEM_SMTP`` and others name a mail server (see `quem.mail.server`),
``QUEM_THREADS`` is the number of threads of a worker where it is not 8.
Links are made by ``quem organizers`` and ``quem judges``. Several workers need PostgreSQL
(``QUEM_DATABASE_URL``).
"""

from __future__ import annotations

import atexit
import os
import sys

from quem.errors import QuemError
from quem.store.engine import THREADS
from webjudge import create_app, open_site
from webjudge.housekeeping import Housekeeping
from webjudge.mailing import POST

__all__ = ["application"]

_MOST_THREADS = 256


def _study() -> str:
    if not (study := os.environ.get("QUEM_STUDY")):
        sys.exit("error: set QUEM_STUDY to the path of the study file")
    return study


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def _threads() -> int:
    number = os.environ.get("QUEM_THREADS", str(THREADS))
    if not (number.isdecimal() and 1 <= int(number) <= _MOST_THREADS):
        sys.exit(f"error: QUEM_THREADS is {number!r}; use a number from 1 to {_MOST_THREADS}")
    return int(number)


try:
    _site = open_site(
        _study(), sandboxed=not _is_set("QUEM_OFFICE_UNSANDBOXED"), threads=_threads()
    )
    application = create_app(
        _site,
        behind_proxy=_is_set("QUEM_BEHIND_PROXY"),
        url=os.environ.get("QUEM_URL"),
    )
except QuemError as error:
    sys.exit("\n".join(f"error: {mistake}" for mistake in error.mistakes))

# Each worker loads this module, and keeps house for itself until it ends.
_housekeeping = Housekeeping(_site)
_post = application.extensions[POST]
_post.keep(_housekeeping)
for _trouble in _site.troubles.values():
    sys.stderr.write(f"alert: {_trouble}\n")
_housekeeping.start()
atexit.register(_site.store.close)
atexit.register(_housekeeping.stop)
atexit.register(_post.stop)  # which comes first
