"""Changes of the study file from the dashboard, which the running servers follow."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from flask import current_app, g

from quem.errors import QuemError
from quem.solutions.model import file_digest, signature
from quem.store.audit_log import last_event
from quem.store.events import record
from quem.study.editing import edited, read_bytes, replace_study
from webjudge.access import acting, site
from webjudge.site import reopened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.study.editing import Change

__all__ = ["edit_study", "follow_edits", "note_edit"]

_EVENT = "study-edited"
_SEEN = "quem-study-signature"
_lock = Lock()


def edit_study(changes: Sequence[Change], part: str) -> None:
    """Change the study file and serve what it says then.

    Parameters
    ----------
    part : str
        What was changed, for the activity log.

    Raises
    ------
    QuemError
        The file cannot be changed so, or would be no valid study; it stays as it is then.
    """
    path = site().path
    with _lock:
        before, text = read_bytes(path)
        new = edited(text, changes, str(path))
        if new == text:
            return
        replace_study(path, before, new)
        try:
            _reopen()
        except QuemError:
            # What only shows in a served study, such as a solution that nobody made any more.
            replace_study(path, new.encode(), text)
            _reopen()
            raise
        note_edit(part, hashlib.sha256(new.encode()).hexdigest())


def note_edit(part: str, sha256: str = "") -> None:
    """Log that something of the study was edited in the dashboard."""
    with site().store.write() as c:
        record(c, site().id, acting(), _EVENT, part=part, sha256=sha256)


def follow_edits() -> None:
    """Read the study again where another process of this server has edited it.

    Changes that were made otherwise wait for the next start: a file may be half written.
    """
    current = site()
    with suppress(OSError):
        now = signature(current.path)
        if current_app.extensions.setdefault(_SEEN, now) == now:
            return
        with current.store.read() as c:
            event = last_event(c, current.id, _EVENT)
        if event and event.detail.get("sha256") == file_digest(current.path):
            with _lock, suppress(QuemError):
                _reopen()
        current_app.extensions[_SEEN] = now


def _reopen() -> None:
    new = reopened(site())
    current_app.extensions["quem"] = g.site = new
    # The report is that of the study as it was.
    current_app.extensions.pop("quem-report", None)
    current_app.extensions[_SEEN] = signature(new.path)
