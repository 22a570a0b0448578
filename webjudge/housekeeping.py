"""Background jobs of a running server, with a first run at its start and a last at its stop."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from time import monotonic, time
from typing import TYPE_CHECKING, Self

from sqlalchemy.exc import InterfaceError, OperationalError

from quem.blinding.office import await_conversion, prepare
from quem.store.uploads import UploadFolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from webjudge.site import Site

_log = logging.getLogger("webjudge")
_CHECKPOINT_SECONDS = 60
_DOCUMENT_SECONDS = 20
# Uploads without new data for this long have failed.
_UPLOAD_SECONDS = 3600
_STOP_SECONDS = 30  # to wait for a running job when the server stops
_KEY = "documents"


@dataclass(frozen=True)
class Job:
    """A periodic job."""

    name: str  # in the log, and key of its failure in `Site.troubles`
    seconds: float  # seconds between the end of a run and the next start
    # Exceptions are logged, and shown on the dashboard until a run succeeds.
    work: Callable[[], object]


class Housekeeping:
    """Thread that runs a server's jobs at the start, periodically, and at the stop."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        self.jobs = [
            Job("checkpoint", _CHECKPOINT_SECONDS, site.store.checkpoint),
            Job("documents", _DOCUMENT_SECONDS, Documents(site).look),
            Job("uploads", _UPLOAD_SECONDS, self._clear_uploads),
        ]

    def add(self, name: str, seconds: float, work: Callable[[], object]) -> None:
        """Add a job, before the start; see `Job`."""
        self.jobs.append(Job(name, seconds, work))

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Wait for the running job, run each job once more, and stop."""
        self._stopping.set()
        self._thread.join(_STOP_SECONDS)
        if self._thread.is_alive():
            _log.error("housekeeping did not end within %d s", _STOP_SECONDS)
            return
        for job in self.jobs:
            self._do(job)

    def _clear_uploads(self) -> None:
        UploadFolder(self._site.path).clear_partial(time() - _UPLOAD_SECONDS)

    def _run(self) -> None:
        due = dict.fromkeys(self.jobs, monotonic())
        while not self._stopping.is_set():
            job = min(due, key=lambda one: due[one])
            if self._stopping.wait(max(0.0, due[job] - monotonic())):
                return
            self._do(job)
            due[job] = monotonic() + job.seconds

    def _do(self, job: Job) -> None:
        try:
            job.work()
        except Exception as error:  # noqa: BLE001  whatever it is, the server goes on
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            message = f"{job.name}: {reason or type(error).__name__}"
            if self._site.troubles.get(job.name) != message:  # once, however often it is tried
                is_away = isinstance(error, OperationalError | InterfaceError)
                _log.error("housekeeping: %s", message, exc_info=not is_away)
            self._site.troubles[job.name] = message
        else:
            self._site.troubles.pop(job.name, None)


class Documents:
    """Converts changed documents; until then judges read that a part cannot be displayed."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._thread: threading.Thread | None = None
        self._files = [file for solution in site.solutions for file in solution.files]

    def look(self) -> None:
        """Start converting changed documents, unless a conversion is running."""
        if self._thread and self._thread.is_alive():
            return
        if await_conversion(self._files):
            # LibreOffice takes seconds and must not block other requests.
            self._thread = threading.Thread(target=self._convert, name=_KEY, daemon=True)
            self._thread.start()

    def _convert(self) -> None:
        mistakes = prepare(self._files, sandboxed=self._site.sandboxed)
        if mistakes:
            self._site.troubles[_KEY] = "; ".join(map(str, mistakes))
        else:
            self._site.troubles.pop(_KEY, None)
