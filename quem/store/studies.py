"""The life of a study in the store: on trial, open, closed; hidden or revealed."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import delete, func, select, update

from quem.store.events import record
from quem.store.inserting import insert_new
from quem.store.models import Ballot, Judge, Revision, Shown, Study, now

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy import Connection

__all__ = [
    "StudyStatus",
    "digest_of",
    "discard_trial",
    "is_desk",
    "new_desk_token",
    "record_shown",
    "register_study",
    "reveal",
    "session_of",
    "set_state",
    "shown_digests",
    "status_of",
]

Life = Literal["trial", "open", "closed"]
_TOKEN_BYTES = 24  # 192 bits


@dataclass(frozen=True)
class StudyStatus:
    """Where a study is in its life.

    Parameters
    ----------
    id : str
    state : {"trial", "open", "closed"}
    revealed_at : datetime or None
        When the rankings were first shown before the study was closed.
    """

    id: str
    state: Life
    revealed_at: dt.datetime | None

    @property
    def is_shown(self) -> bool:
        """Whether the experimenter may see rankings."""
        return self.state == "closed" or self.revealed_at is not None


def new_token() -> str:
    """Make a secret for a link."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def session_of(token: str) -> str:
    """Give what a cookie holds for a token: the token cannot be told from it."""
    return hashlib.sha256(f"session:{token}".encode()).hexdigest()


def digest_of(session: str) -> str:
    """Give what the store holds for a session: neither session nor token can be told from it."""
    return hashlib.sha256(session.encode()).hexdigest()


def register_study(c: Connection, study_id: str) -> None:
    """Make a study known to the store, if it is not yet."""
    values = {"id": study_id, "state": "trial", "made_at": now()}
    c.execute(insert_new(c, Study).values(**values))


def status_of(c: Connection, study_id: str) -> StudyStatus:
    """Give a study's state.

    Parameters
    ----------
    c : Connection
    study_id : str
        Of a registered study.
    """
    columns = select(Study.id, Study.state, Study.revealed_at)
    row = c.execute(columns.where(Study.id == study_id)).mappings().one()
    return StudyStatus(**row)


def set_state(c: Connection, study_id: str, state: Life, actor: str) -> None:
    """Open or close a study, which is logged.

    A study that is opened again after it was revealed stays revealed: its rankings were seen.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id : str
    state : {"open", "closed"}
    actor : {"dashboard", "shell"}
    """
    before = c.execute(
        select(Study.state).where(Study.id == study_id).with_for_update()
    ).scalar_one()
    if before == state:
        return
    c.execute(update(Study).where(Study.id == study_id).values(state=state))
    record(c, study_id, actor, state, before=before)


def reveal(c: Connection, study_id: str, actor: str) -> None:
    """Let the rankings be seen before the study is closed; logged each time.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id : str
    actor : {"dashboard", "shell"}
    """
    open_now = Study.id == study_id, Study.revealed_at.is_(None)
    c.execute(update(Study).where(*open_now).values(revealed_at=now()))
    record(c, study_id, actor, "revealed")


def discard_trial(c: Connection, study_id: str, actor: str) -> int:
    """Throw away what was ranked on trial; gives the number of rankings.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id : str
        Of a study that is still on trial; another is left as it is.
    actor : {"dashboard", "shell"}
    """
    state = c.execute(
        select(Study.state).where(Study.id == study_id).with_for_update()
    ).scalar_one()
    if state != "trial":
        return 0
    judges = select(Judge.key).where(Judge.study_id == study_id)
    ballots = select(Ballot.key).where(Ballot.judge_key.in_(judges))
    begun = c.execute(
        select(func.count())
        .select_from(Ballot)
        .where(Ballot.judge_key.in_(judges), Ballot.head > 0)
    ).scalar_one()
    c.execute(delete(Revision).where(Revision.ballot_key.in_(ballots)))
    c.execute(delete(Ballot).where(Ballot.judge_key.in_(judges)))
    c.execute(delete(Shown).where(Shown.study_id == study_id))
    c.execute(update(Judge).where(Judge.study_id == study_id).values(consented_at=None))
    # Whatever was revealed is gone.
    c.execute(update(Study).where(Study.id == study_id).values(revealed_at=None))
    record(c, study_id, actor, "trial-discarded", rankings=begun)
    return begun


def new_desk_token(c: Connection, study_id: str) -> str:
    """Make a new secret for the dashboard's link; the old one ends.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id : str
    """
    token = new_token()
    digest = digest_of(session_of(token))
    c.execute(update(Study).where(Study.id == study_id).values(desk_hash=digest))
    return token


def is_desk(c: Connection, study_id: str, session: str) -> bool:
    """Whether a session is that of the dashboard's link."""
    held = c.execute(select(Study.desk_hash).where(Study.id == study_id)).scalar_one_or_none()
    return held is not None and secrets.compare_digest(held, digest_of(session))


def record_shown(c: Connection, study_id: str, problem: str, digests: dict[str, str]) -> None:
    """Keep the hash of each solution when it is first shown.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id : str
    problem : str
    digests : dict of str to str
        By solver.
    """
    known = set(
        c.execute(
            select(Shown.solver).where(Shown.study_id == study_id, Shown.problem == problem)
        ).scalars()
    )
    rows = [
        {"study_id": study_id, "problem": problem, "solver": solver, "digest": digest}
        for solver, digest in digests.items()
        if solver not in known
    ]
    if rows:
        c.execute(insert_new(c, Shown), rows)


def shown_digests(c: Connection, study_id: str) -> dict[tuple[str, str], str]:
    """Give the hashes of all solutions that were shown, by problem and solver."""
    rows = c.execute(
        select(Shown.problem, Shown.solver, Shown.digest).where(Shown.study_id == study_id)
    )
    return {(problem, solver): digest for problem, solver, digest in rows}
