"""Attempts to open links that do not work: counted, and noted in the log now and then."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError

from quem.store.connecting import UnavailableError
from quem.store.events import record

if TYPE_CHECKING:
    from quem.store.engine import Store

# However many attempts there are, they bring about no more than one event in that time, beside
# the one that housekeeping writes.
SECONDS = 60.0


class Attempts:
    """Counts attempts since the last event that told of some.

    What was tried is not kept: a mistyped link may be almost a good one. Nor is who tried: the
    address of a judge is nobody's business.
    """

    def __init__(self, store: Store, study_id: str) -> None:
        self._store, self._study_id = store, study_id
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._noted = float("-inf")

    def add(self, whose: str) -> None:
        """Count one, and note it if that is due."""
        with self._lock:
            self._counts[whose] += 1
            is_due = monotonic() - self._noted >= SECONDS
        if is_due:
            self.note()

    def note(self) -> None:
        """Write an event of what was counted."""
        with self._lock:
            if not self._counts:
                return
            counts, self._counts = self._counts, Counter()
            self._noted = monotonic()
        try:
            with self._store.write(patience=0) as c:
                record(c, self._study_id, "server", "links-refused", **counts)
        except (OperationalError, UnavailableError):
            # A busy database is no reason to answer otherwise; they are noted later.
            with self._lock:
                self._counts += counts
