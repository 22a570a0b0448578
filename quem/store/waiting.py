"""Who may write now, who waits, and who must come again."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PATIENCE", "BusyError", "Turns", "UnavailableError"]

# Seconds that a writer waits for other writers, of this process and of others.
PATIENCE = 5.0
# Seconds after which a writer is stuck: before it holds the database's lock, and after.
_STUCK_WAITING, _STUCK_WORKING = 0.1, 1.0


class UnavailableError(Exception):
    """Nothing can be written now; the message is a sentence for people."""


class BusyError(UnavailableError):
    """Somebody else writes for too long."""

    def __init__(self) -> None:
        super().__init__("The database is busy. Please try again in a moment.")


class Turns:
    """Lets the writers of a process wait for each other, but never all threads of a server.

    SQLite lets one connection write at a time and makes the others poll; a queue inside the
    process is fairer, and its longest waits are a tenth as long. If the first is stuck, because
    another process holds the database, only a few wait with it; the others are turned away, so
    that there are threads left for what only reads.

    Parameters
    ----------
    most : int
        How many may wait for one that is stuck.
    one_by_one : bool
        Whether only one may write at a time, as in SQLite.

    Attributes
    ----------
    here : int
        How many write or wait.
    """

    def __init__(self, most: int, *, one_by_one: bool) -> None:
        self._most = most
        self._lock = threading.Lock() if one_by_one else None
        self._counting = threading.Lock()
        self.here = 0
        self._stuck_at = 0.0

    @contextmanager
    def take(self, patience: float) -> Iterator[float]:
        """Wait for one's turn; gives the seconds that are left to wait for other processes.

        Parameters
        ----------
        patience : float
            Seconds to wait at most.

        Raises
        ------
        BusyError
            It took too long, or too many wait.
        """
        until = monotonic() + patience
        with self._counting:
            if not self.here:
                self._stuck_at = monotonic() + _STUCK_WAITING
            self.here += 1
            too_many = self.here > self._most + 1  # one of them writes
        try:
            if self._lock:
                self._wait(self._lock, until, too_many=too_many)
            elif too_many:
                until = min(until, monotonic() + _STUCK_WORKING)
            try:
                yield max(0.0, until - monotonic())
            finally:
                if self._lock:
                    self._lock.release()
        finally:
            with self._counting:
                self.here -= 1

    def begun(self) -> None:
        """Note that the one whose turn it is holds the database's lock, too."""
        self._stuck_at = monotonic() + _STUCK_WORKING

    def _wait(self, lock: threading.Lock, until: float, *, too_many: bool) -> None:
        while True:
            # As long as turns pass on, nobody is turned away: that moment moves on, too.
            end = min(until, self._stuck_at) if too_many else until
            if lock.acquire(timeout=max(0.0, end - monotonic())):
                self._stuck_at = monotonic() + _STUCK_WAITING
                return
            if monotonic() >= (min(until, self._stuck_at) if too_many else until):
                raise BusyError
