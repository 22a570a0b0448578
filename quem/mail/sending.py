"""Works off the outbox: one letter after another, each committed as tried before it leaves."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.mail.server import MailServer
from quem.store.outbox import KINDS, UNKNOWN, claim, is_due, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from email.message import EmailMessage

    from sqlalchemy.orm import Session

    from quem.mail.server import MailSettings
    from quem.store.engine import Store
    from quem.store.models import LetterKind, LetterRow, LetterState

    # Writes a letter in the transaction in which it is claimed; with it comes what takes back what
    # was stored for it. None where it is not wanted any more.
    Writer = Callable[[Session, LetterRow], tuple[EmailMessage, Callable[[Session], object]] | None]

_PATIENCE = 30.0  # seconds: what became of a letter has to be noted


def send_due(
    store: Store,
    study_id: str,
    settings: MailSettings,
    write: Writer,
    actor: str,
    *,
    kinds: Collection[LetterKind] = KINDS,
    tell: Callable[[LetterRow], object] = lambda _: None,
    stop: threading.Event | None = None,
) -> Counter[str]:
    """Send until nothing is due, or somebody says to stop; counts letters by state."""
    stop = stop or threading.Event()
    counts: Counter[str] = Counter()
    with closing(MailServer(settings)) as server:
        while not stop.is_set():
            with store.read() as c:
                if not is_due(c, study_id, kinds):
                    break
            send = partial(server.send, server.ready())
            letter = _send_one(store, study_id, send, write, actor, kinds)
            if letter:
                counts[letter.state] += 1
                tell(letter)
                stop.wait(1 / settings.rate)
    return counts


def _send_one(
    store: Store,
    study_id: str,
    send: Callable[[EmailMessage], tuple[LetterState, str]],
    write: Writer,
    actor: str,
    kinds: Collection[LetterKind],
) -> LetterRow | None:
    with store.write() as c:
        letter = claim(c, study_id, kinds)
        if letter is None:
            return None
        try:
            with c.begin_nested():
                written = write(c, letter)
        except QuemError as error:
            return settle(c, letter, "failed", actor, error.mistakes[0].message)
        if written is None:
            c.delete(letter)
            return None
    message, undo = written
    state, reason = send(message)
    with store.write(_PATIENCE) as c:
        if state != "sent" and reason != UNKNOWN:
            undo(c)
        return settle(c, letter, state, actor, reason)
