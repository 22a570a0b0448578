"""The audit trail besides revisions: events, chained, and sealed with the newest revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, text, update

from quem.store.chains import event_link, head_entry, heads_digest
from quem.store.models import BallotRow, EventRow, JudgeRow, RevisionRow, StudyRow, now

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Where a connection's events wait until its transaction ends.
_WAITING = "quem_events"
# Any number, the same in every process: who holds it in PostgreSQL appends events.
_LOCK = 7_319_044_513
_AT_ONCE = 10_000


def record(
    c: Connection,
    study_id: str,
    actor: str,
    what: str,
    judge_key: int | None = None,
    **detail: Any,  # noqa: ANN401  JSON holds anything
) -> None:
    """Append an event, at the end of the transaction."""
    actor, _, organizer = actor.partition(":")
    if organizer:
        detail["organizer"] = organizer
    event = {"study_id": study_id, "actor": actor, "what": what, "judge_key": judge_key}
    c.info.setdefault(_WAITING, []).append(event | {"detail": detail})


def note_once(c: Connection, study_id: str, actor: str, what: str, **detail: Any) -> None:  # noqa: ANN401
    """Append an event, unless the last one of its name says the same."""
    mine = EventRow.study_id == study_id, EventRow.what == what
    last = select(EventRow.detail).where(*mine).order_by(EventRow.key.desc()).limit(1)
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
    _lock(c, {e["study_id"] for e in waiting}, {e["judge_key"] for e in waiting} - {None})
    keys = {e["judge_key"] for e in waiting} - {None}
    digests = _digests(c, keys)
    links: dict[str, str] = {}
    rows = []
    for event in waiting:
        study = event["study_id"]
        if study not in links:
            mine = EventRow.study_id == study
            last = select(EventRow.link).where(mine).order_by(EventRow.key.desc()).limit(1)
            links[study] = c.execute(last).scalar_one_or_none() or ""
        row = event | {"made_at": now()}
        links[study] = event_link(links[study], row, digests.get(event["judge_key"]))
        rows.append(row | {"link": links[study]})
    c.execute(insert(EventRow), rows)


def _digests(c: Connection, judges: set[int]) -> dict[int, str]:
    """Give the digests of judges, as many at a time as any database takes."""
    keys = sorted(judges)
    found: dict[int, str] = {}
    for first in range(0, len(keys), _AT_ONCE):
        some = JudgeRow.key.in_(keys[first : first + _AT_ONCE])
        rows = c.execute(select(JudgeRow.key, JudgeRow.id_digest).where(some))
        found |= {row[0]: row[1] for row in rows}
    return found


def forget_events(c: Connection) -> None:
    """Let go of events of a transaction that was undone."""
    c.info.pop(_WAITING, None)


def seal(c: Connection, study_id: str, why: str) -> None:
    """Bind the newest revisions of all ballots into the chain of events.

    The event names the ballots that have newer revisions than at the last one, with number and
    link of the newest, and a hash over those of all ballots. A ballot that is being saved is left
    to the next seal. Where nothing is newer, a submit or a minute leaves no event.
    """
    # Rows before the lock on events, and in the order study, ballot, as everybody does.
    c.execute(select(StudyRow.id).where(StudyRow.id == study_id).with_for_update(read=True))
    mine = select(JudgeRow.key).where(JudgeRow.study_id == study_id)
    unsealed = BallotRow.judge_key.in_(mine), BallotRow.head != BallotRow.sealed
    newer = select(BallotRow.key).where(*unsealed).order_by(BallotRow.key)
    keys = set(c.execute(newer.with_for_update(skip_locked=True, of=BallotRow)).scalars())
    if not keys and why in ("minute", "submit"):
        return
    _lock(c, {study_id}, set())
    statement = update(BallotRow).where(BallotRow.key == bindparam("held"))
    if keys:
        c.execute(statement.values(sealed=BallotRow.head), [{"held": key} for key in sorted(keys)])
    last = (RevisionRow.ballot_key == BallotRow.key) & (RevisionRow.number == BallotRow.sealed)
    columns = select(BallotRow.key, BallotRow.public_id, BallotRow.sealed, RevisionRow.link)
    rows = c.execute(columns.join(RevisionRow, last).where(BallotRow.judge_key.in_(mine))).all()
    heads = {ballot: (number, link) for _, ballot, number, link in rows}
    entries = (head_entry(ballot, *heads[ballot]) for ballot in sorted(heads))
    named = {ballot: [number, link] for key, ballot, number, link in rows if key in keys}
    record(c, study_id, "server", "sealed", why=why, ballots=named, heads=heads_digest(entries))


def _lock(c: Connection, studies: set[str], judges: set[int]) -> None:
    """Wait for the right to append events, and before that for the rows that these refer to.

    On SQLite whoever writes is alone.
    """
    if c.dialect.name != "postgresql":
        return
    for row, keys in ((StudyRow.id, sorted(studies)), (JudgeRow.key, sorted(judges))):
        for first in range(0, len(keys), _AT_ONCE):
            some = row.in_(keys[first : first + _AT_ONCE])
            statement = select(row).where(some).order_by(row)
            c.execute(statement.with_for_update(read=True, key_share=True))
    c.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
