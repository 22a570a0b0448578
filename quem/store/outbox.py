"""The outbox: letters that are due, sent, or failed.

A letter is committed as failed before it leaves, and as sent when a mail server has accepted it,
so a killed program sends nothing twice. Neither letters nor addresses are stored.
"""

from __future__ import annotations

import datetime as dt
import secrets
from typing import TYPE_CHECKING, Any, Literal, get_args

from sqlalchemy import ColumnElement, Select, delete, func, or_, select, update

from quem.errors import QuemError
from quem.store.events import record
from quem.store.models import LetterKind, LetterRow, LetterState, PersonRow, Role, insert_new, now

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.orm import Session


KINDS: tuple[LetterKind, ...] = get_args(LetterKind)
UNKNOWN = "nobody knows whether it was sent"
# The note in a copy on letters that were due: they may have been sent since.
DOUBT: dict[str, Any] = {"state": "failed", "error": UNKNOWN}
# The time limit of sending a letter, which `quem.mail.server` enforces.
_LEAVING = dt.timedelta(minutes=10)
# Delays of retries after temporary failures.
_TRY_AGAIN = tuple(dt.timedelta(minutes=minutes) for minutes in (5, 30, 120, 480))


def letters_of(
    c: Session, study_id: str, role: Role, person_key: int | None = None
) -> list[LetterRow]:
    """The letters to people of a role, or to one of them, in order of creation."""
    mine = select(LetterRow).join(PersonRow, PersonRow.key == LetterRow.person_key)
    mine = mine.where(PersonRow.of(study_id, role))
    if person_key is not None:
        mine = mine.where(LetterRow.person_key == person_key)
    return [*c.scalars(mine.order_by(LetterRow.key))]


def awaiting(study_id: str, role: Role) -> Select[int]:
    """The keys of people whose link comes with a letter that is due."""
    found = select(LetterRow.person_key).join(PersonRow, PersonRow.key == LetterRow.person_key)
    return found.where(
        PersonRow.of(study_id, role), LetterRow.kind == "invitation", LetterRow.state == "due"
    )


def count_failed(c: Session, study_id: str) -> int:
    """The number of failed letters to people who have not visited yet."""
    gone = (PersonRow.seen_at, PersonRow.declined_at, PersonRow.withdrawn_at, PersonRow.erased_at)
    mine = LetterRow.study_id == study_id, LetterRow.state == "failed", LetterRow.due_at <= now()
    count = select(func.count(LetterRow.key)).join(PersonRow, PersonRow.key == LetterRow.person_key)
    return c.execute(count.where(*mine, *(one.is_(None) for one in gone))).scalar_one()


def queue_letter(
    c: Session, study_id: str, person_key: int, kind: LetterKind, after: LetterRow | None = None
) -> bool:
    """Queue a letter, replacing an earlier one; False if another was queued meanwhile."""
    at = now()
    values = {
        "study_id": study_id,
        "person_key": person_key,
        "kind": kind,
        "state": "due",
        "tries": 0,
        "error": "",
        "message_id": secrets.token_hex(16),
        "made_at": at,
        "due_at": at,
        "sent_at": None,
    }
    made = (
        update(LetterRow).where(LetterRow.message_id == after.message_id)
        if after
        else insert_new(c, LetterRow)
    )
    return c.execute(made.values(**values).returning(LetterRow.key)).first() is not None


def is_due(c: Session, study_id: str, kinds: Collection[LetterKind]) -> bool:
    """Whether a letter is due now."""
    return c.scalars(select(LetterRow).where(*_due(study_id, kinds)).limit(1)).first() is not None


def claim(c: Session, study_id: str, kinds: Collection[LetterKind]) -> LetterRow | None:
    """Take the next letter; its state is unknown until it is settled."""
    first = select(LetterRow).where(*_due(study_id, kinds)).order_by(LetterRow.due_at)
    letter = c.scalars(first.limit(1).with_for_update(skip_locked=True)).first()
    if letter:
        letter.state, letter.error = "failed", UNKNOWN
        letter.tries += 1
        letter.due_at = now() + _LEAVING
        c.flush()
    return letter


def _due(study_id: str, kinds: Collection[LetterKind]) -> tuple[ColumnElement[bool], ...]:
    return (
        LetterRow.study_id == study_id,
        LetterRow.state == "due",
        LetterRow.kind.in_(kinds),
        LetterRow.due_at <= now(),
    )


def settle(
    c: Session, claimed: LetterRow, state: LetterState, actor: str, reason: str = ""
) -> LetterRow | None:
    """Record the outcome of a letter; too many retries fail it."""
    mine = select(LetterRow).where(LetterRow.message_id == claimed.message_id)
    letter = c.scalars(mine.with_for_update()).one_or_none()
    if letter is None:  # erased, or sent again
        return None
    if state == "due" and letter.tries > len(_TRY_AGAIN):
        state = "failed"
    letter.state, letter.error, letter.due_at = state, reason, now()
    if state == "due":
        letter.due_at += _TRY_AGAIN[letter.tries - 1]
    letter.sent_at = now() if state == "sent" else None
    _record(c, letter, actor, state)
    return letter


def doubt_unsent(c: Session) -> None:
    """Note in a copy of a database that letters may have been sent since."""
    c.execute(update(LetterRow).where(LetterRow.state == "due").values(**DOUBT))


def decide(
    c: Session, study_id: str, message_id: str, choice: Literal["arrived", "again"], actor: str
) -> LetterRow:
    """Mark a letter of unknown outcome as arrived, or send one again."""
    mine = LetterRow.message_id == message_id, LetterRow.study_id == study_id
    letter = c.scalars(select(LetterRow).where(*mine).with_for_update()).one_or_none()
    is_open = letter and letter.is_settled and (choice == "again" or letter.error == UNKNOWN)
    if letter is None or not is_open:
        raise QuemError("there is nothing to decide about this letter any more; reload the page")
    if choice == "again":
        queue_letter(c, study_id, letter.person_key, letter.kind, letter)
    else:
        letter.state, letter.error, letter.sent_at = "sent", "", letter.due_at - _LEAVING
    _record(c, letter, actor, choice)
    return letter


def forget_letters(c: Session, person_key: int) -> None:
    """Delete a person's unsent letters, and mail servers' responses about them."""
    mine = LetterRow.person_key == person_key
    is_open = or_(LetterRow.state == "due", LetterRow.due_at > now())
    c.execute(delete(LetterRow).where(mine, is_open))
    c.execute(update(LetterRow).where(mine).values(error=""))


def _record(c: Session, letter: LetterRow, actor: str, state: str) -> None:
    """Log person, letter, and outcome: never a link, an address, or the text."""
    record(c, letter.study_id, actor, "mail", letter.person_key, kind=letter.kind, state=state)
