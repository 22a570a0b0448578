"""The life of a study in the store: on trial, open, paused, closed; hidden or revealed."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from quem.errors import QuemError
from quem.store.events import record
from quem.store.models import (
    BallotRow,
    EventRow,
    JudgeRow,
    Layout,
    RevisionRow,
    SessionRow,
    StudyRow,
    insert_new,
    now,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection


Life = Literal["trial", "open", "paused", "closed"]


class _Named(Protocol):
    """A judge or an organizer."""

    @property
    def id(self) -> str: ...


Person = TypeVar("Person", bound=_Named)
_TOKEN_BYTES = 24  # 192 bits
_SECRET_BYTES = 32
# Events that go with rankings on trial.
_OF_RANKINGS = ("maker-guessed", "makers-skipped", "blinding-frozen")
LONGEST = dt.timedelta(weeks=26)  # of a session


@dataclass(frozen=True)
class StudyStatus:
    """Where a study is in its life."""

    id: str
    state: Life
    # When the rankings were first shown before the study was closed.
    revealed_at: dt.datetime | None

    @property
    def is_shown(self) -> bool:
        """Whether the experimenter may see rankings."""
        return self.state == "closed" or self.revealed_at is not None


# Each page asks this: a statement that is made once takes half the time.
_STATUS = select(StudyRow.id, StudyRow.state, StudyRow.revealed_at).where(
    StudyRow.id == bindparam("id")
)


def session_of(token: str) -> str:
    """Give what a cookie holds for a token: the token cannot be derived from it."""
    return hashlib.sha256(f"session:{token}".encode()).hexdigest()


def signed_in(link: Any) -> Any:  # noqa: ANN401  a column and a condition
    """Give the condition that a link is the one given, or that of a session that still lasts."""
    session = select(SessionRow.link).where(
        SessionRow.hash == bindparam("session"), SessionRow.seen_at > bindparam("since")
    )
    return or_(link == bindparam("session"), link == session.scalar_subquery())


def session_values(study_id: str, session: str, idle: dt.timedelta = LONGEST) -> dict[str, Any]:
    """Give the values of a statement that asks whose session it is."""
    return {"study": study_id, "session": digest_of(session), "since": now() - idle}


def sign_in(c: Connection, link: str) -> str:
    """Begin a session of a link; gives what its cookie holds, which no other sign-in has."""
    c.execute(delete(SessionRow).where(SessionRow.seen_at < now() - LONGEST))
    session = secrets.token_hex(_SECRET_BYTES)
    c.execute(insert(SessionRow).values(hash=digest_of(session), link=digest_of(link)))
    return session


def sign_out(c: Connection, session: str) -> None:
    """End a session, wherever its cookie is."""
    c.execute(delete(SessionRow).where(SessionRow.hash == digest_of(session)))


def note_session(c: Connection, session: str) -> None:
    """Note that a session is in use."""
    mine = update(SessionRow).where(SessionRow.hash == digest_of(session))
    c.execute(mine.values(seen_at=now()))


def new_link() -> tuple[str, dict[str, Any]]:
    """Make a link; gives its token, and what the store holds of it."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    digest = digest_of(session_of(token))
    return token, {"session_hash": digest, "linked_at": now(), "revoked_at": None}


def ended_link() -> dict[str, Any]:
    """Give what the store holds of a link that is ended now."""
    return {"session_hash": None, "revoked_at": now()}


def person_named(people: Iterable[Person], person_id: str, noun: str) -> Person:
    """Find one of a study's judges or organizers by their id."""
    by_id = {person.id: person for person in people}
    if person_id not in by_id:
        known = ", ".join(by_id) or "none"
        raise QuemError(f"there is no {noun} {person_id!r}; the study's {noun}s are: {known}")
    return by_id[person_id]


def digest_of(session: str) -> str:
    """Give what the store holds for a session: neither session nor token can be derived from it."""
    return hashlib.sha256(session.encode()).hexdigest()


def register_study(c: Connection, study_id: str) -> None:
    """Make a study known to the store, if it is not yet."""
    secret = secrets.token_hex(_SECRET_BYTES)
    values = {"id": study_id, "state": "trial", "secret": secret, "made_at": now()}
    c.execute(insert_new(c, StudyRow).values(**values))


def status_of(c: Connection, study_id: str) -> StudyStatus:
    """Give a study's state."""
    return StudyStatus(**c.execute(_STATUS, {"id": study_id}).mappings().one())


def set_state(c: Connection, study_id: str, state: Life, actor: str, until: str = "") -> None:
    """Open, pause, or close a study, which is logged.

    A study that is opened again after it was revealed stays revealed: its rankings were seen.
    """
    before = c.execute(
        select(StudyRow.state).where(StudyRow.id == study_id).with_for_update(key_share=True)
    ).scalar_one()
    if before == state and (state != "paused" or pause_notice(c, study_id) == until):
        return
    c.execute(update(StudyRow).where(StudyRow.id == study_id).values(state=state))
    if state == "paused":
        record(c, study_id, actor, state, before=before, until=until)
    else:
        record(c, study_id, actor, state, before=before)


def pause_notice(c: Connection, study_id: str) -> str:
    """Give until when a paused study is paused, as its organizer said it last; may be empty."""
    mine = EventRow.study_id == study_id, EventRow.what == "paused"
    last = select(EventRow.detail).where(*mine).order_by(EventRow.key.desc()).limit(1)
    return str((c.execute(last).scalar_one_or_none() or {}).get("until", ""))


def reveal(c: Connection, study_id: str, actor: str) -> None:
    """Let the rankings be seen before the study is closed; logged each time."""
    hidden = StudyRow.id == study_id, StudyRow.revealed_at.is_(None)
    c.execute(update(StudyRow).where(*hidden).values(revealed_at=now()))
    record(c, study_id, actor, "revealed", state=status_of(c, study_id).state)


def count_ranked(c: Connection, study_id: str) -> int:
    """Count the ballots that somebody has started to rank."""
    judges = select(JudgeRow.key).where(JudgeRow.study_id == study_id)
    started = select(func.count()).where(BallotRow.judge_key.in_(judges), BallotRow.head > 0)
    return int(c.execute(started).scalar_one())


def discard_trial(c: Connection, study_id: str, actor: str) -> int:
    """Throw away what was ranked on trial; gives the number of rankings."""
    state = c.execute(
        select(StudyRow.state).where(StudyRow.id == study_id).with_for_update(key_share=True)
    ).scalar_one()
    if state != "trial":
        return 0
    judges = select(JudgeRow.key).where(JudgeRow.study_id == study_id)
    ballots = select(BallotRow.key).where(BallotRow.judge_key.in_(judges))
    # These wait for whoever deals ballots or lays them out, before any of it is deleted.
    mine = update(JudgeRow).where(JudgeRow.study_id == study_id)
    c.execute(mine.values(consented_at=None, closing={}))
    c.execute(ballots.order_by(BallotRow.key).with_for_update())
    started = count_ranked(c, study_id)
    for table in (RevisionRow, Layout):
        c.execute(delete(table).where(table.ballot_key.in_(ballots)))
    c.execute(delete(BallotRow).where(BallotRow.judge_key.in_(judges)))
    of_trial = EventRow.what.in_(_OF_RANKINGS)
    c.execute(delete(EventRow).where(EventRow.study_id == study_id, of_trial))
    # Whatever was revealed is gone.
    c.execute(update(StudyRow).where(StudyRow.id == study_id).values(revealed_at=None))
    record(c, study_id, actor, "trial-discarded", rankings=started)
    return started


def secret_of(c: Connection, study_id: str) -> str:
    """Give the key of the hashes that judges see."""
    return str(c.execute(select(StudyRow.secret).where(StudyRow.id == study_id)).scalar_one())
