"""The audit trail besides revisions: events, chained, and sealed with the newest revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, text, update

from quem.store.chains import event_link, heads_digest
from quem.store.models import Ballot, Event, Judge, Revision, now

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["append_events", "forget_events", "note_once", "record", "seal"]

# Where a connection's events wait until its transaction ends.
_WAITING = "quem_events"
# Any number, the same in every process: who holds it in PostgreSQL appends events.
_LOCK = 7_319_044_513


def record(
    c: Connection,
    study_id: str,
    actor: str,
    what: str,
    judge_key: int | None = None,
    **detail: Any,  # noqa: ANN401  JSON holds anything
) -> None:
    """Append an event, at the end of the transaction.

    Parameters
    ----------
    c : Connection
        Of a writing transaction of a `Store`.
    study_id : str
    actor : str
        "judge", "shell", "server", or "organizer:" and an organizer's id, which goes into the
        detail.
    what : str
        Such as "opened".
    judge_key : int, optional
        The judge whom it is about.
    **detail
        Never a token, nor a judge's name.
    """
    actor, _, organizer = actor.partition(":")
    if organizer:
        detail["organizer"] = organizer
    event = {"study_id": study_id, "actor": actor, "what": what, "judge_key": judge_key}
    c.info.setdefault(_WAITING, []).append(event | {"detail": detail})


def note_once(c: Connection, study_id: str, actor: str, what: str, **detail: Any) -> None:  # noqa: ANN401
    """Append an event, unless the last one of its name says the same.

    Parameters
    ----------
    c : Connection
        Of a writing transaction of a `Store`.
    study_id, actor, what : str
    **detail
        As of `record`.
    """
    mine = Event.study_id == study_id, Event.what == what
    last = select(Event.detail).where(*mine).order_by(Event.key.desc()).limit(1)
    if c.execute(last).scalar_one_or_none() != detail:
        record(c, study_id, actor, what, **detail)


def append_events(c: Connection) -> None:
    """Append the events of a transaction, each linked to the one before.

    That is the last thing that a transaction does: whoever appends holds a lock until it ends,
    and a transaction that went on to lock rows could wait in a circle.
    """
    waiting = c.info.pop(_WAITING, [])
    if not waiting:
        return
    _lock(c)
    for event in waiting:
        mine = Event.study_id == event["study_id"]
        last = select(Event.link).where(mine).order_by(Event.key.desc()).limit(1)
        digest = select(Judge.id_digest).where(Judge.key == event["judge_key"])
        judge = c.execute(digest).scalar_one_or_none() if event["judge_key"] else None
        row = event | {"made_at": now()}
        link = event_link(c.execute(last).scalar_one_or_none() or "", row, judge)
        c.execute(insert(Event).values(**row, link=link))


def forget_events(c: Connection) -> None:
    """Let go of events of a transaction that was undone."""
    c.info.pop(_WAITING, None)


def seal(c: Connection, study_id: str, why: str) -> None:
    """Bind the newest revisions of all ballots into the chain of events.

    The event names the ballots that have newer revisions than at the last one, with the number
    of the newest, and a hash over the newest links of all ballots. Where nothing is newer, only
    a start or a stop is noted.

    Parameters
    ----------
    c : Connection
        Of a writing transaction of its own.
    study_id : str
    why : {"start", "stop", "submit", "minute", "backup"}
    """
    _lock(c)
    mine = Judge.study_id == study_id
    unsealed = (
        select(func.count())
        .select_from(Ballot)
        .join(Judge, Judge.key == Ballot.judge_key)
        .where(mine, Ballot.head != Ballot.sealed)
    )
    if why in ("minute", "submit") and not c.execute(unsealed).scalar_one():
        return
    last = (Revision.ballot_key == Ballot.key) & (Revision.number == Ballot.head)
    rows = c.execute(
        select(Ballot.key, Ballot.public_id, Ballot.head, Ballot.sealed, Revision.link)
        .join(Judge, Judge.key == Ballot.judge_key)
        .join(Revision, last)
        .where(mine)
    ).all()
    newer = {row.public_id: row.head for row in rows if row.head != row.sealed}
    heads = heads_digest({row.public_id: (row.head, row.link) for row in rows})
    for row in rows:
        if row.head != row.sealed:
            c.execute(update(Ballot).where(Ballot.key == row.key).values(sealed=row.head))
    record(c, study_id, "server", "sealed", why=why, ballots=newer, heads=heads)


def _lock(c: Connection) -> None:
    if c.dialect.name == "postgresql":
        c.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
