"""The tables. Times are UTC; JSON columns are read and written whole."""

from __future__ import annotations

import datetime as dt
import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import StringConstraints
from sqlalchemy import (
    JSON,
    DateTime,
    ForeignKey,
    Index,
    MetaData,
    String,
    TypeDecorator,
    UniqueConstraint,
    and_,
)
from sqlalchemy.engine import Dialect  # noqa: TC002  read by the mapper
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, foreign, mapped_column, relationship

from quem.store.state import Seconds

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

Role = Literal["judge", "subject", "organizer"]
LetterKind = Literal["invitation", "reminder"]
LetterState = Literal["due", "sent", "failed"]
Life = Literal["trial", "open", "paused", "closed"]
SolvingState = Literal["trial", "open", "closed"]
Kind = Literal["save", "submit", "reopen", "skip", "timeout"]  # of a revision
Times = dict[str, Seconds]
Answers = dict[
    Annotated[str, StringConstraints(pattern="^(answers|written|replies)$")], dict[str, str]
]
Items = tuple[tuple[str, str, str, str], ...]  # see `Item`
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Ending = Annotated[str, StringConstraints(pattern=r"^\.[^/\\\x00]+$")]


def now() -> dt.datetime:
    """The current time in UTC."""
    return dt.datetime.now(dt.UTC)


class Utc(TypeDecorator[dt.datetime]):
    """A time in UTC, also if the database drops time zones, as SQLite does."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> dt.datetime | None:
        """Store UTC."""
        if value is None:
            return None
        value = value.astimezone(dt.UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(
        self, value: dt.datetime | None, dialect: Dialect
    ) -> dt.datetime | None:
        if value is None:
            return None
        return (
            value.replace(tzinfo=dt.UTC) if dialect.name == "sqlite" else value.astimezone(dt.UTC)
        )


class Item(NamedTuple):
    """The content of one letter."""

    letter: str
    solver: str
    digest: str
    origin: str  # digest of the content that first had the letter; differs for a correction


class Base(DeclarativeBase):
    """The base of the tables, with named constraints for migrations."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  SQLAlchemy's way
        dt.datetime: Utc(),
        str: String(),
        dict[str, Any]: JSON(),
        Times: JSON(),
        Answers: JSON(),
        list[str]: JSON(none_as_null=True),
        Items: JSON(),
    }


class StudyRow(Base):
    """A study that people solve or judge; its problems and solvers are in the study file alone."""

    __tablename__ = "study"

    id: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[Life] = mapped_column(String(), default="trial")
    solving: Mapped[SolvingState] = mapped_column(String(), default="trial")  # of its session
    secret: Mapped[str]  # key of the judges' hashes
    made_at: Mapped[dt.datetime] = mapped_column(default=now)
    revealed_at: Mapped[dt.datetime | None]  # time of revealing before closing

    @property
    def is_shown(self) -> bool:
        """Whether the organizer may see rankings."""
        return self.state == "closed" or self.revealed_at is not None


class PersonRow(Base):
    """An organizer, judge, or subject: declared in the study file, or added later."""

    __tablename__ = "person"
    __table_args__ = (UniqueConstraint("study_id", "role", "id"),)

    key: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    role: Mapped[Role] = mapped_column(String())
    id: Mapped[str]
    name: Mapped[str] = mapped_column(default="")
    experience: Mapped[float | None]
    added: Mapped[bool] = mapped_column(default=False)
    link_hash: Mapped[str | None] = mapped_column(unique=True)
    linked_at: Mapped[dt.datetime | None]
    revoked_at: Mapped[dt.datetime | None]
    seen_at: Mapped[dt.datetime | None]
    consented_at: Mapped[dt.datetime | None]
    declined_at: Mapped[dt.datetime | None]
    finished_at: Mapped[dt.datetime | None]
    withdrawn_at: Mapped[dt.datetime | None]
    erased_at: Mapped[dt.datetime | None]
    former: Mapped[str | None]  # hash of an erased id, which cannot be added again
    answers: Mapped[Answers] = mapped_column(default=dict)  # by shelf and question
    row: Mapped[int | None]  # in the Williams design; None until problems are assigned
    study: Mapped[StudyRow] = relationship(viewonly=True)

    @staticmethod
    def of(study_id: str, role: Role) -> ColumnElement[bool]:
        """The condition that a person has a role in a study."""
        return and_(PersonRow.study_id == study_id, PersonRow.role == role)

    @property
    def has_link(self) -> bool:
        """Whether they have an active link."""
        return self.link_hash is not None

    @property
    def is_gone(self) -> bool:
        """Whether all of their texts were deleted."""
        return bool(self.withdrawn_at or self.erased_at)

    @property
    def replies(self) -> dict[str, str]:
        """Their replies during solving, by question."""
        return dict(self.answers.get("replies", {}))

    @property
    def closing(self) -> dict[str, dict[str, str]]:
        """Their answers at the end of judging: chosen and written, by question."""
        return {s: dict(self.answers[s]) for s in ("answers", "written") if s in self.answers}


class SessionRow(Base):
    """A sign-in by a link; it ends with the link, or at sign-out."""

    __tablename__ = "session"

    hash: Mapped[str] = mapped_column(primary_key=True)  # of the cookie's value
    person_key: Mapped[int] = mapped_column(ForeignKey("person.key"), index=True)
    link: Mapped[str]  # hash of the link used
    seen_at: Mapped[dt.datetime] = mapped_column(default=now)


class Layout(Base):
    """The contents of the letters of a judge's task at one time. Append-only."""

    __tablename__ = "layout"
    __table_args__ = (UniqueConstraint("task_key", "id"),)

    key: Mapped[int] = mapped_column(primary_key=True)
    task_key: Mapped[int] = mapped_column(ForeignKey("task.key"))
    id: Mapped[str]  # keyed hash of the items
    rows: Mapped[Items] = mapped_column("items")
    made_at: Mapped[dt.datetime] = mapped_column(default=now)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The content of each letter in order."""
        return tuple(map(Item._make, self.rows))

    @cached_property
    def solvers(self) -> dict[str, str]:
        """Letter to solver."""
        return {item.letter: item.solver for item in self.items}

    @cached_property
    def letters(self) -> dict[str, str]:
        """Solver to letter."""
        return {item.solver: item.letter for item in self.items}


class RevisionRow(Base):
    """A saved state of a task: a ranking on a layout, or an answer of a text and uploads.

    Append-only.
    """

    __tablename__ = "revision"
    __table_args__ = (
        UniqueConstraint("task_key", "number"),
        Index(None, "task_key", "client", "change"),
    )

    key: Mapped[int] = mapped_column(primary_key=True)
    task_key: Mapped[int] = mapped_column(ForeignKey("task.key"))
    number: Mapped[int]
    base: Mapped[int]
    kind: Mapped[Kind] = mapped_column(String())
    layout: Mapped[str] = mapped_column(default="")
    state: Mapped[dict[str, Any]]
    client: Mapped[str]
    change: Mapped[int]
    made_at: Mapped[dt.datetime] = mapped_column(default=now)

    @property
    def id(self) -> str:
        """A unique id, also if a number is reused after a restore."""
        return f"{self.number}-{hashlib.sha256(self.made_at.isoformat().encode()).hexdigest()[:12]}"


class TaskRow(Base):
    """A problem for a subject, or a block and occasion for a judge.

    While the clock of a subject's task is running, `running` is its mode, `since` the start of the
    stretch, `beat_at` the last heartbeat, and `holder` the tab; completed stretches are in
    `times`.
    """

    __tablename__ = "task"
    __table_args__ = (UniqueConstraint("person_key", "problem", "block", "occasion"),)

    key: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(unique=True)
    person_key: Mapped[int] = mapped_column(ForeignKey("person.key"), index=True)
    problem: Mapped[str]
    block: Mapped[int] = mapped_column(default=1)
    occasion: Mapped[int] = mapped_column(default=1)
    practice: Mapped[bool] = mapped_column(default=False)
    position: Mapped[int]
    solvers: Mapped[list[str] | None]  # of the block; None for the whole group
    layout_id: Mapped[str | None] = mapped_column("layout")  # None until shown
    head: Mapped[int] = mapped_column(default=0)  # number of the last revision
    submitted: Mapped[int | None]  # number of the last submitted revision
    ended: Mapped[str | None]  # kind of the last revision: submit | skip | timeout; else None
    seconds: Mapped[float] = mapped_column(default=0.0)  # active time of a judge
    views: Mapped[Times] = mapped_column(default=dict)  # seconds in view by solver
    times: Mapped[Times] = mapped_column(default=dict)  # seconds of work, pause, and absence
    opened_at: Mapped[dt.datetime | None]
    limit_seconds: Mapped[float | None]
    running: Mapped[str | None]  # work | pause | away
    since: Mapped[dt.datetime | None]
    beat_at: Mapped[dt.datetime | None]
    holder: Mapped[str | None]
    last: Mapped[RevisionRow | None] = relationship(
        primaryjoin=lambda: and_(
            TaskRow.key == foreign(RevisionRow.task_key),
            TaskRow.head == foreign(RevisionRow.number),
        ),
        uselist=False,
        viewonly=True,
    )
    # All current and earlier layouts.
    layouts: Mapped[list[Layout]] = relationship(viewonly=True, order_by=lambda: Layout.key)

    @property
    def layout(self) -> Layout | None:
        """The current layout."""
        return self._layout_with(self.layout_id)

    @property
    def placed(self) -> Layout | None:
        """The layout of the last revision; None if nothing is saved."""
        return self._layout_with(self.last.layout) if self.last else None

    def _layout_with(self, layout_id: str | None) -> Layout | None:
        return next((one for one in self.layouts if one.id == layout_id), None)

    @property
    def letters(self) -> dict[str, str]:
        """The solver of each current or earlier letter; letters are not reused."""
        return {letter: s for one in self.layouts for letter, s in one.solvers.items()}

    @property
    def revision(self) -> str:
        """The base revision that a page sends with a change."""
        return self.last.id if self.last else "0"

    @property
    def is_submitted(self) -> bool:
        """Whether its last revision is a submitted one."""
        return self.submitted is not None and self.submitted == self.head

    @property
    def status(self) -> Literal["new", "started", "submitted"]:
        """The progress."""
        if self.is_submitted:
            return "submitted"
        return "started" if self.head else "new"

    @property
    def to_place(self) -> list[str]:
        """The letters of solutions added after the last revision."""
        if self.layout is None or self.placed is None:
            return []
        return [letter for letter in self.layout.solvers if letter not in self.placed.solvers]

    @property
    def is_complete(self) -> bool:
        """Whether it has ended and no solution was added since."""
        return (self.is_submitted or self.ended is not None) and not self.to_place


class EventRow(Base):
    """Events besides revisions: opened, closed, revealed, links, judges.

    Append-only, except events of test rankings, which are deleted with them.
    """

    __tablename__ = "event"

    key: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    person_key: Mapped[int | None] = mapped_column(ForeignKey("person.key"))
    made_at: Mapped[dt.datetime] = mapped_column(default=now)
    actor: Mapped[str]  # judge | subject | organizer | shell | server
    what: Mapped[str]
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)


class LetterRow(Base):
    """The last letter of a kind to a person, with its state.

    Neither the letter nor an address is stored. One that a mail server may have is `failed`, and
    is sent again only by an organizer.
    """

    __tablename__ = "letter"
    __table_args__ = (UniqueConstraint("person_key", "kind"),)

    key: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    person_key: Mapped[int] = mapped_column(ForeignKey("person.key"))
    kind: Mapped[LetterKind] = mapped_column(String())
    state: Mapped[LetterState] = mapped_column(String())
    tries: Mapped[int] = mapped_column(default=0)
    message_id: Mapped[str] = mapped_column(unique=True)  # changes when sent again
    error: Mapped[str] = mapped_column(default="")  # mail server's response; deleted at erasure
    made_at: Mapped[dt.datetime] = mapped_column(default=now)
    due_at: Mapped[dt.datetime] = mapped_column(default=now)  # later after a temporary failure
    sent_at: Mapped[dt.datetime | None]

    @property
    def is_settled(self) -> bool:
        """Whether it is neither due nor being sent."""
        return self.state == "sent" or (self.state == "failed" and self.due_at <= now())


class UploadRow(Base):
    """A file that a subject uploaded; its bytes are beside the database, named by their hash."""

    __tablename__ = "upload"

    key: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(unique=True)
    task_key: Mapped[int] = mapped_column(ForeignKey("task.key"), index=True)
    sha256: Mapped[Digest] = mapped_column(String())
    size: Mapped[int]
    ending: Mapped[Ending] = mapped_column(String())  # such as ".pdf"
    name: Mapped[str]  # original name, visible to its author only
    made_at: Mapped[dt.datetime] = mapped_column(default=now)


def insert_new(c: Session, table: type[Base]) -> Any:  # noqa: ANN401  one type a dialect
    """An insert that ignores existing rows."""
    # Each dialect has its own statement, and PostgreSQL's takes megabytes of memory.
    if c.get_bind().dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table).on_conflict_do_nothing()
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table).on_conflict_do_nothing()
