"""Works off the outbox: one letter after another, each committed as being sent before it leaves."""

from __future__ import annotations

import threading
from collections import Counter
from time import sleep
from typing import TYPE_CHECKING, NamedTuple, Protocol

from quem.errors import QuemError
from quem.mail.message import message_of
from quem.mail.server import MailServer, MailServerError, Outcome
from quem.store.connecting import UnavailableError
from quem.store.outbox import claim, drop, lapse, next_due, release, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from email.message import EmailMessage

    from sqlalchemy.orm import Session

    from quem.mail.message import Letter
    from quem.mail.server import MailSettings
    from quem.store.engine import Store
    from quem.store.models import Role
    from quem.store.outbox import Kind, Settled, StoredLetter

KINDS: tuple[Kind, ...] = ("invite", "remind")
# Seconds, and how often: what became of a letter has to be noted.
_PATIENCE, _ATTEMPTS = 30.0, 10


class Writer(Protocol):
    """Writes letters to people of one role."""

    def write(self, c: Session, stored: StoredLetter) -> Letter | None:
        """Write a letter that is about to be sent; None where it is not wanted any more.

        A new link is made now, in the transaction in which the letter was taken.
        """


class _Taken(NamedTuple):
    stored: StoredLetter
    letter: Letter
    message: EmailMessage


class Sender:
    """Sends what is due of a study's outbox."""

    def __init__(
        self,
        store: Store,
        study_id: str,
        settings: MailSettings,
        writers: Mapping[Role, Writer],
        actor: str,
        *,
        kinds: Collection[Kind] = KINDS,
        tell: Callable[[StoredLetter, Outcome], object] = lambda _letter, _outcome: None,
    ) -> None:
        self._store, self._study_id, self._settings = store, study_id, settings
        self._writers, self._actor, self._kinds, self._tell = writers, actor, kinds, tell

    def run(self, stop: threading.Event | None = None) -> Counter[str]:
        """Send until nothing is due, or somebody says to stop; counts letters by state."""
        stop = stop or threading.Event()
        counts: Counter[str] = Counter()
        server = MailServer(self._settings)
        with self._store.write() as c:
            lapse(c, self._study_id)
        try:
            while not stop.is_set():
                with self._store.read() as c:
                    key = next_due(c, self._study_id, self._kinds, [*self._writers])
                if key is None:
                    break
                server.ready()
                taken = self._take(key, counts)
                if taken is not None:
                    self._send(server, taken, counts)
                    stop.wait(1 / self._settings.rate)
        finally:
            server.close()
        return counts

    def _take(self, key: int, counts: Counter[str]) -> _Taken | None:
        """Take and write a letter; one that cannot be written has failed."""
        try:
            with self._store.write() as c:
                if (stored := claim(c, key)) is None:
                    return None
                letter = self._writers[stored.role].write(c, stored)
                if letter is None:
                    drop(c, stored)
                    return None
                return _Taken(stored, letter, message_of(stored, letter, self._settings.sender))
        except QuemError as error:
            # All was undone: what failed is noted in another transaction.
            with self._store.write() as c:
                if stored := claim(c, key):
                    outcome = Outcome("failed", error.mistakes[0].message)
                    settle(c, stored, outcome.state, self._actor, outcome.reason)
                    self._count(stored, outcome, counts)
            return None

    def _send(self, server: MailServer, taken: _Taken, counts: Counter[str]) -> None:
        try:
            outcome = server.send(taken.message, taken.letter.to.email)
        except MailServerError:
            with self._store.write(_PATIENCE) as c:
                taken.letter.undo(c)
                release(c, taken.stored)
            raise
        state = self._note(taken, outcome) or outcome.state
        self._count(taken.stored, Outcome(state, outcome.reason), counts)

    def _note(self, taken: _Taken, outcome: Outcome) -> Settled | None:
        for attempt in range(_ATTEMPTS):
            try:
                with self._store.write(_PATIENCE) as c:
                    if outcome.state in ("retry", "failed"):
                        taken.letter.undo(c)
                    return settle(c, taken.stored, outcome.state, self._actor, outcome.reason)
            except UnavailableError:
                if attempt == _ATTEMPTS - 1:
                    raise
                sleep(1)
        return None

    def _count(self, stored: StoredLetter, outcome: Outcome, counts: Counter[str]) -> None:
        counts[outcome.state] += 1
        self._tell(stored, outcome)
