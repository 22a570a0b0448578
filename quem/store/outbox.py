"""The outbox: which letters are to be sent, and what became of each.

A row is committed as being sent before its letter leaves, by whoever changed it: a letter is
never sent twice, whatever is killed, and however many send at once. Neither letters nor addresses
are kept.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import delete, func, select, update

from quem.errors import QuemError
from quem.store.events import record
from quem.store.models import LetterRow, PersonRow, Role, insert_new, now
from quem.store.studies import secret_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

Kind = Literal["invite", "remind"]
Settled = Literal["sent", "retry", "failed", "unknown"]
State = Literal["queued", "sending"] | Settled

_WAITING: tuple[State, ...] = ("queued", "retry")
# How long a letter can take from its claim to the answer of the mail server, which
# `quem.mail.server` limits; whoever was to tell what became of it is gone then.
LEASE = dt.timedelta(minutes=10)
# After how long a letter is tried again that a mail server did not want yet.
TRY_AGAIN = tuple(dt.timedelta(minutes=minutes) for minutes in (5, 30, 120, 480))


@dataclass(frozen=True)
class StoredLetter:
    """A letter as the store knows it; see `quem.store.models.LetterRow`."""

    key: int
    study_id: str
    role: Role
    person_key: int
    kind: Kind
    round: int
    state: State
    tries: int
    message_id: str
    error: str
    made_at: dt.datetime
    due_at: dt.datetime
    sent_at: dt.datetime | None


_COLUMNS = tuple(
    getattr(PersonRow if name == "role" else LetterRow, name)
    for name in StoredLetter.__dataclass_fields__
)
_LETTERS = select(*_COLUMNS).join(PersonRow, PersonRow.key == LetterRow.person_key)


def letters_of(
    c: Session, study_id: str, role: Role, person_key: int | None = None
) -> list[StoredLetter]:
    """Give the letters to people of a role, or to one of them, in the order of their making."""
    mine = _LETTERS.where(PersonRow.of(study_id, role))
    if person_key is not None:
        mine = mine.where(LetterRow.person_key == person_key)
    return [StoredLetter(*row) for row in c.execute(mine.order_by(LetterRow.key))]


def awaiting(study_id: str, role: Role) -> Select[int]:
    """The keys of those whose link comes with a letter that is still to be sent."""
    unsent = LetterRow.kind == "invite", LetterRow.state.in_((*_WAITING, "sending"))
    found = select(LetterRow.person_key).join(PersonRow, PersonRow.key == LetterRow.person_key)
    return found.where(PersonRow.of(study_id, role), *unsent)


def undecided_letters(c: Session, study_id: str) -> dict[str, int]:
    """Count the letters of which somebody has to say what becomes of them: failed, unknown."""
    mine = LetterRow.study_id == study_id, LetterRow.state.in_(("failed", "unknown"))
    count = (
        select(LetterRow.state, func.count().label("number")).where(*mine).group_by(LetterRow.state)
    )
    return {row.state: row.number for row in c.execute(count)}


def queue_letter(c: Session, study_id: str, person_key: int, kind: Kind, round_: int) -> bool:
    """Have a letter sent; gives False where there is that letter already."""
    named = "\0".join((secret_of(c, study_id), study_id, str(person_key), kind, str(round_)))
    values = {
        "study_id": study_id,
        "person_key": person_key,
        "kind": kind,
        "round": round_,
        "state": "queued",
        "tries": 0,
        "error": "",
        "message_id": hashlib.sha256(named.encode()).hexdigest()[:32],
        "made_at": now(),
        "due_at": now(),
    }
    made = insert_new(c, LetterRow).values(**values).returning(LetterRow.key)
    return c.execute(made).first() is not None


def next_due(
    c: Session, study_id: str, kinds: Collection[Kind], roles: Collection[Role]
) -> int | None:
    """Give the key of the letter to be sent next, or None."""
    due = (
        LetterRow.study_id == study_id,
        LetterRow.state.in_(_WAITING),
        LetterRow.kind.in_(kinds),
        PersonRow.role.in_(roles),
        LetterRow.due_at <= now(),
    )
    first = select(LetterRow.key).join(PersonRow, PersonRow.key == LetterRow.person_key)
    mine = first.where(*due).order_by(LetterRow.due_at, LetterRow.key).limit(1)
    return c.execute(mine).scalar_one_or_none()


def claim(c: Session, key: int) -> StoredLetter | None:
    """Take a letter to be sent, when the transaction is committed; None where it is taken."""
    free = update(LetterRow).where(LetterRow.key == key, LetterRow.state.in_(_WAITING))
    values = {"state": "sending", "tries": LetterRow.tries + 1, "due_at": now() + LEASE}
    if c.execute(free.values(**values).returning(LetterRow.key)).first() is None:
        return None
    return StoredLetter(*c.execute(_LETTERS.where(LetterRow.key == key)).one())


def settle(
    c: Session, letter: StoredLetter, state: Settled, actor: str, reason: str = ""
) -> Settled | None:
    """Note what became of a letter that was taken; what is to be tried again too often failed."""
    if state == "retry" and letter.tries > len(TRY_AGAIN):
        state = "failed"
    # Whoever sent it knows best: also where it took so long that nobody knew any more.
    taken = LetterRow.key == letter.key, LetterRow.state.in_(("sending", "unknown"))
    at = now()
    values = {
        "state": state,
        "error": reason,
        "sent_at": at if state == "sent" else None,
        "due_at": at + TRY_AGAIN[letter.tries - 1] if state == "retry" else at,
    }
    noted = update(LetterRow).where(*taken).values(**values).returning(LetterRow.key)
    if c.execute(noted).first() is None:
        return None
    _record(c, letter, actor, state)
    return state


def release(c: Session, letter: StoredLetter) -> None:
    """Put back a letter that was taken and did not leave, though nothing is wrong with it."""
    taken = LetterRow.key == letter.key, LetterRow.state == "sending"
    back = {"state": "queued", "tries": letter.tries - 1, "due_at": now()}
    c.execute(update(LetterRow).where(*taken).values(**back))


def drop(c: Session, letter: StoredLetter) -> None:
    """Delete a letter that nobody needs any more."""
    c.execute(delete(LetterRow).where(LetterRow.key == letter.key))


def has_lapsed(c: Session, study_id: str) -> bool:
    """Whether there is something for `lapse` to note."""
    late = LetterRow.study_id == study_id, LetterRow.state == "sending", LetterRow.due_at <= now()
    return c.execute(select(LetterRow.key).where(*late).limit(1)).first() is not None


def lapse(c: Session, study_id: str, lease: dt.timedelta = LEASE) -> int:
    """Note that nobody knows what became of letters that were taken long ago; gives how many."""
    late = (
        LetterRow.study_id == study_id,
        LetterRow.state == "sending",
        LetterRow.due_at <= now() + LEASE - lease,
    )
    lapsed = [StoredLetter(*row) for row in c.execute(_LETTERS.where(*late))]
    count = 0
    for letter in lapsed:
        mine = LetterRow.key == letter.key, LetterRow.state == "sending"
        noted = update(LetterRow).where(*mine).values(state="unknown").returning(LetterRow.key)
        if c.execute(noted).first():
            _record(c, letter, "server", "unknown")
            count += 1
    return count


# What a copy says of a letter that was unsent: it may have been sent since.
DOUBT: dict[str, Any] = {"state": "unknown"}


def doubt_unsent(c: Session) -> None:
    """Note that nobody knows what became of letters that were unsent in a copy of a database.

    They may have been sent since the copy was made.
    """
    unsent = LetterRow.state.in_((*_WAITING, "sending"))
    c.execute(update(LetterRow).where(unsent).values(**DOUBT))


def decide(c: Session, study_id: str, key: int, choice: str, actor: str) -> None:
    """Say of a letter that failed, or of which nobody knows, what is to become of it."""
    mine = LetterRow.key == key, LetterRow.study_id == study_id
    row = c.execute(_LETTERS.where(*mine).with_for_update(of=LetterRow)).one_or_none()
    letter = StoredLetter(*row) if row else None
    open_ = {"sent": ("unknown",), "again": ("unknown", "failed")}.get(choice, ())
    if letter is None or letter.state not in open_:
        raise QuemError("there is nothing to decide about this letter any more; reload the page")
    if choice == "sent":
        values = {"state": "sent", "error": "", "sent_at": letter.due_at - LEASE}
    else:
        values = {"state": "queued", "error": "", "tries": 0, "due_at": now()}
    c.execute(update(LetterRow).where(LetterRow.key == key).values(**values))
    _record(c, letter, actor, "marked-sent" if choice == "sent" else "again")


def forget_letters(c: Session, person_key: int) -> None:
    """Let nothing be sent any more to somebody whose data are erased; what was said is deleted.

    That a letter was sent, and when, stays.
    """
    mine = LetterRow.person_key == person_key
    c.execute(delete(LetterRow).where(mine, LetterRow.state.in_((*_WAITING, "sending"))))
    c.execute(update(LetterRow).where(mine).values(error=""))


def _record(c: Session, letter: StoredLetter, actor: str, state: str) -> None:
    """Log who, which letter, and what became of it: never a link, an address, or the text."""
    detail = {"kind": letter.kind, "state": state}
    record(c, letter.study_id, actor, "mail", letter.person_key, **detail)
