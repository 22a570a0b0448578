"""Judges and their links: made once, replaced, revoked, and judges forgotten."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select, update

from quem.errors import QuemError
from quem.store.engine import SCRUB
from quem.store.events import record
from quem.store.models import (
    BallotRow,
    ErasedJudgeRow,
    EventRow,
    JudgeRow,
    RevisionRow,
    insert_new,
    now,
)
from quem.store.outbox import forget_letters
from quem.store.state import without_words
from quem.store.studies import (
    digest_of,
    ended_link,
    new_link,
    person_named,
    session_of,
    session_values,
    signed_in,
    status_of,
)

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Container, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from quem.studyfile.models import Judge as DeclaredJudge

_SEEN_SECONDS = 60
_GREATEST_KEY = 2**31 - 1


@dataclass(frozen=True)
class StoredJudge:
    """A judge as the store knows them; see `quem.store.models.JudgeRow`."""

    key: int
    study_id: str
    id: str
    name: str
    experience: float | None
    added: bool
    session_hash: str | None
    linked_at: dt.datetime | None
    revoked_at: dt.datetime | None
    seen_at: dt.datetime | None
    consented_at: dt.datetime | None
    closing: dict[str, Any]
    forgotten_at: dt.datetime | None

    @property
    def has_link(self) -> bool:
        """Whether the judge has a link that works."""
        return self.session_hash is not None


_COLUMNS = tuple(getattr(JudgeRow, name) for name in StoredJudge.__dataclass_fields__)
# Each page asks this: a statement that is made once takes half the time.
_OF_SESSION = select(*_COLUMNS).where(
    signed_in(JudgeRow.session_hash), JudgeRow.study_id == bindparam("study")
)


def judges_of(c: Connection, study_id: str) -> list[StoredJudge]:
    """Give all judges of a study, in the order in which they were made."""
    rows = c.execute(select(*_COLUMNS).where(JudgeRow.study_id == study_id).order_by(JudgeRow.key))
    return [StoredJudge(**row) for row in rows.mappings()]


def judge_of_key(c: Connection, study_id: str, key: int) -> StoredJudge | None:
    """Find a judge of a study by their key, be it one that no database can hold."""
    if key > _GREATEST_KEY:
        return None
    row = c.execute(
        select(*_COLUMNS).where(JudgeRow.study_id == study_id, JudgeRow.key == key)
    ).one_or_none()
    return StoredJudge(*row) if row else None


def has_judges(c: Connection, study_id: str) -> bool:
    """Whether a study has any judge."""
    return (
        c.execute(select(JudgeRow.key).where(JudgeRow.study_id == study_id).limit(1)).first()
        is not None
    )


def judge_of_session(c: Connection, study_id: str, session: str) -> StoredJudge | None:
    """Find the judge whose cookie this is."""
    values = session_values(study_id, session)
    row = c.execute(_OF_SESSION, values).one_or_none()
    return StoredJudge(*row) if row else None


def judge_named(c: Connection, study_id: str, judge_id: str) -> StoredJudge:
    """Find a judge by id."""
    return person_named(judges_of(c, study_id), judge_id, "judge")


def sync_judges(c: Connection, study_id: str, declared: Iterable[DeclaredJudge]) -> None:
    """Take the judges of the study file over, and what it says of them."""
    known = {judge.id: judge for judge in judges_of(c, study_id)}
    gone = set(
        c.execute(
            select(ErasedJudgeRow.id_hash).where(ErasedJudgeRow.study_id == study_id)
        ).scalars()
    )
    new, changed = [], []
    for judge in declared:
        fields = {"name": judge.name, "experience": judge.experience}
        if judge.id not in known:
            if _hash(study_id, judge.id) not in gone:
                new.append({"study_id": study_id, "id": judge.id, "added": False, **fields})
        elif (known[judge.id].name, known[judge.id].experience) != (judge.name, judge.experience):
            changed.append({"held": known[judge.id].key, **fields})
    if new:
        # Several workers start at once.
        c.execute(insert_new(c, JudgeRow), new)
    if changed:
        c.execute(update(JudgeRow).where(JudgeRow.key == bindparam("held")), changed)


def add_judge(
    c: Connection, study_id: str, judge_id: str, name: str, experience: float | None, actor: str
) -> StoredJudge:
    """Add a judge midway."""
    if not judge_id.strip() or not judge_id.isprintable() or len(judge_id) > 100:  # noqa: PLR2004
        raise QuemError("a judge's id is one line of 1 to 100 printable characters")
    if any(judge.id == judge_id for judge in judges_of(c, study_id)):
        raise QuemError(f"judge {judge_id} already exists; choose another ID")
    values = {"study_id": study_id, "id": judge_id, "name": name, "experience": experience}
    c.execute(insert(JudgeRow).values(added=True, **values))
    judge = judge_named(c, study_id, judge_id)
    record(c, study_id, actor, "judge-added", judge.key)
    return judge


def issue_link(c: Connection, judge: StoredJudge, actor: str) -> str:
    """Make a judge's link, in place of an earlier one; gives its token, which is stored hashed."""
    (token,) = issue_links(c, [judge], actor)
    return token


def withdraw_link(c: Connection, judge: StoredJudge, token: str, actor: str) -> None:
    """Take back a new link that its judge was never sent: the one that they had holds again."""
    # Meanwhile somebody may have replaced or revoked it.
    is_new = JudgeRow.session_hash == digest_of(session_of(token))
    former = {
        "session_hash": judge.session_hash,
        "linked_at": judge.linked_at,
        "revoked_at": judge.revoked_at,
    }
    if c.execute(
        update(JudgeRow).where(JudgeRow.key == judge.key, is_new).values(**former)
    ).rowcount:
        record(c, judge.study_id, actor, "link-withdrawn", judge.key)


def issue_links(c: Connection, judges: Sequence[StoredJudge], actor: str) -> list[str]:
    """Make links of many judges at once; gives their tokens, as `issue_link`."""
    for judge in judges:
        _refuse_forgotten(judge)
    if not judges:
        return []
    links = [new_link() for _ in judges]
    change = update(JudgeRow).where(JudgeRow.key == bindparam("held"))
    rows = [{"held": one.key, **values} for one, (_, values) in zip(judges, links, strict=True)]
    c.execute(change, rows)
    states = {one: status_of(c, one).state for one in {judge.study_id for judge in judges}}
    for judge in judges:
        what = "link-replaced" if judge.linked_at else "link-made"
        record(c, judge.study_id, actor, what, judge.key, state=states[judge.study_id])
    return [token for token, _ in links]


def revoke_link(c: Connection, judge: StoredJudge, actor: str) -> None:
    """End a judge's link; rankings stay."""
    c.execute(update(JudgeRow).where(JudgeRow.key == judge.key).values(**ended_link()))
    record(c, judge.study_id, actor, "link-revoked", judge.key)


def erase_judge(c: Connection, judge: StoredJudge, actor: str) -> str:
    """Forget who a judge was: the id becomes a pseudonym, name and words are deleted, ranks stay.

    This is the one case in which saved revisions change: they lose their words.
    """
    _refuse_forgotten(judge)
    taken = {other.id for other in judges_of(c, judge.study_id)}
    number = 1
    while f"forgotten-{number}" in taken:
        number += 1
    pseudonym = f"forgotten-{number}"
    values = {
        "id": pseudonym,
        "name": "",
        "experience": None,
        "session_hash": None,
        "seen_at": None,
        "closing": {**judge.closing, "written": {}} if judge.closing else {},
        "forgotten_at": now(),
    }
    c.execute(update(JudgeRow).where(JudgeRow.key == judge.key).values(**values))
    id_hash = _hash(judge.study_id, judge.id)
    c.execute(insert_new(c, ErasedJudgeRow).values(study_id=judge.study_id, id_hash=id_hash))
    ballots = select(BallotRow.key).where(BallotRow.judge_key == judge.key)
    saved = c.execute(
        select(RevisionRow.key, RevisionRow.state)
        .where(RevisionRow.ballot_key.in_(ballots))
        .order_by(RevisionRow.key)
    ).all()
    for key, data in saved:
        erased = update(RevisionRow).where(RevisionRow.key == key)
        c.execute(erased.values(state=without_words(data)))
    forget_letters(c, judge.study_id, "judge", judge.key)
    record(c, judge.study_id, actor, "judge-forgotten", judge.key)
    c.info[SCRUB] = True
    return pseudonym


def consent(c: Connection, judge: StoredJudge) -> None:
    """Note that a judge agreed to take part."""
    if judge.consented_at is None:
        c.execute(update(JudgeRow).where(JudgeRow.key == judge.key).values(consented_at=now()))
        record(c, judge.study_id, "judge", "consented", judge.key)


def answer_closing(
    c: Connection,
    judge: StoredJudge,
    answers: Mapping[str, str],
    written: Mapping[str, str],
    asked: Container[str],
) -> None:
    """Keep what a judge answered at the end, instead of what they answered before.

    Answers to questions that are not asked any more stay.
    """
    closing = {
        shelf: {id_: text for id_, text in judge.closing.get(shelf, {}).items() if id_ not in asked}
        | given
        for shelf, given in (("answers", dict(answers)), ("written", dict(written)))
    }
    c.execute(update(JudgeRow).where(JudgeRow.key == judge.key).values(closing=closing))
    record(c, judge.study_id, "judge", "answered", judge.key)


def decline(c: Connection, judge: StoredJudge) -> None:
    """Note that a judge would rather not take part; one who has agreed is left as they are."""
    if judge.consented_at is None and judge.key not in declined_judges(c, judge.study_id):
        record(c, judge.study_id, "judge", "declined", judge.key)


def has_declined(study_id: str) -> ColumnElement[bool]:
    """Whether a judge declined, and has not agreed since: a condition on `JudgeRow`."""
    mine = EventRow.study_id == study_id
    # What was answered on trial is gone with it.
    trial = select(func.max(EventRow.key)).where(mine, EventRow.what == "trial-discarded")
    last = (
        select(func.max(EventRow.key))
        .where(mine, EventRow.what.in_(("declined", "consented")))
        .where(EventRow.key > func.coalesce(trial.scalar_subquery(), 0))
        .group_by(EventRow.judge_key)
    )
    declined = select(EventRow.judge_key).where(EventRow.key.in_(last), EventRow.what == "declined")
    return JudgeRow.key.in_(declined)


def declined_judges(c: Connection, study_id: str) -> set[int]:
    """Give the keys of the judges who declined, and have not agreed since."""
    mine = JudgeRow.study_id == study_id
    return set(c.execute(select(JudgeRow.key).where(mine, has_declined(study_id))).scalars())


def visited_recently(judge: StoredJudge) -> bool:
    """Whether the judge's last visit needs no new note yet."""
    return judge.seen_at is not None and (now() - judge.seen_at).total_seconds() < _SEEN_SECONDS


def record_visit(c: Connection, judge: StoredJudge) -> None:
    """Note that a judge is here."""
    c.execute(update(JudgeRow).where(JudgeRow.key == judge.key).values(seen_at=now()))


def _refuse_forgotten(judge: StoredJudge) -> None:
    if judge.forgotten_at:
        raise QuemError(f"{judge.id}'s personal data has been erased; no link can be created")


def _hash(study_id: str, judge_id: str) -> str:
    return hashlib.sha256(f"{study_id}\0{judge_id}".encode()).hexdigest()
