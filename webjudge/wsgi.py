"""For servers such as gunicorn: ``QUEM_STUDY=study.yaml gunicorn webjudge.wsgi``.

``QUEM_URL`` is what judges' links begin with, ``QUEM_BEHIND_PROXY=1`` trusts a proxy in front.
Links are made by ``quem organizers`` and ``quem judges``. Several workers need PostgreSQL
(``QUEM_DATABASE_URL``).
"""

from __future__ import annotations

import os
import sys

from quem.errors import QuemError
from webjudge import create_app, open_site

__all__ = ["application"]


def _study() -> str:
    if not (study := os.environ.get("QUEM_STUDY")):
        sys.exit("error: set QUEM_STUDY to the path of the study file")
    return study


try:
    application = create_app(
        open_site(_study()),
        behind_proxy=os.environ.get("QUEM_BEHIND_PROXY", "") not in ("", "0"),
        url=os.environ.get("QUEM_URL"),
    )
except QuemError as error:
    sys.exit("\n".join(f"error: {mistake}" for mistake in error.mistakes))
