"""Layouts with digests, hash chains, and organizers with links of their own."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import op

from quem.store.chains import (
    event_link,
    judge_digest,
    keyed,
    new_salt,
    revision_link,
    words_digest,
)
from quem.store.models import Utc
from quem.store.state import labels

if TYPE_CHECKING:
    from collections.abc import Callable

revision = "0003"
down_revision = "0002"
branch_labels = depends_on = None


def upgrade() -> None:
    """Make the new tables and columns, and give what is there its layouts and links."""
    _make_tables()
    _add_columns()
    c = op.get_bind()
    old = sa.MetaData()
    old.reflect(c, only=["study", "judge", "ballot", "revision", "event", "layout", "shown"])
    # JSON and times as the models have them, not as each database calls them.
    for table, column, kind in (
        *((t, "made_at", Utc()) for t in ("revision", "event", "layout")),
        *(("revision", "state", sa.JSON()), ("event", "detail", sa.JSON())),
        *(("ballot", "layout", sa.JSON()), ("layout", "items", sa.JSON())),
        *(("ballot", "opened_at", Utc()), ("shown", "shown_at", Utc())),
    ):
        old.tables[table].c[column].type = kind
    for study in c.execute(sa.select(old.tables["study"].c.id)).scalars().all():
        _bring_over(c, old.tables, study)
    for table, column in (("ballot", "layout"), ("study", "desk_hash")):
        with op.batch_alter_table(table) as batch:
            batch.drop_column(column)
    with op.batch_alter_table("ballot") as batch:
        batch.alter_column("layout_id", new_column_name="layout")
    op.drop_table("shown")
    for table, columns in _FILLED.items():
        with op.batch_alter_table(table) as batch:
            for column in columns:
                batch.alter_column(column, existing_type=sa.String(), nullable=False)


_FILLED = {
    "study": ("secret",),
    "judge": ("id_digest",),
    "revision": ("layout", "words_digest", "link"),
    "event": ("link",),
}


def _make_tables() -> None:
    op.create_table(
        "organizer",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("added", sa.Boolean, nullable=False),
        sa.Column("session_hash", sa.String),
        sa.Column("linked_at", Utc),
        sa.Column("revoked_at", Utc),
        sa.Column("seen_at", Utc),
        sa.PrimaryKeyConstraint("key", name="pk_organizer"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_organizer_study_id"),
        sa.UniqueConstraint("study_id", "id", name="uq_organizer_study_id_id"),
        sa.UniqueConstraint("session_hash", name="uq_organizer_session_hash"),
    )
    op.create_table(
        "layout",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("ballot_key", sa.Integer, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("items", sa.JSON, nullable=False),
        sa.Column("made_at", Utc, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_layout"),
        sa.ForeignKeyConstraint(["ballot_key"], ["ballot.key"], name="fk_layout_ballot_key"),
        sa.UniqueConstraint("ballot_key", "id", name="uq_layout_ballot_key_id"),
    )


def _add_columns() -> None:
    """Add columns that may be empty until they are filled."""
    op.add_column("study", sa.Column("secret", sa.String))
    op.add_column("judge", sa.Column("id_salt", sa.String))
    op.add_column("judge", sa.Column("id_digest", sa.String))
    op.add_column("ballot", sa.Column("layout_id", sa.String))
    op.add_column("ballot", sa.Column("sealed", sa.Integer, nullable=False, server_default="0"))
    with op.batch_alter_table("ballot") as batch:
        batch.alter_column("sealed", existing_type=sa.Integer(), server_default=None)
    for name in ("layout", "words_salt", "words_digest", "link"):
        op.add_column("revision", sa.Column(name, sa.String))
    op.add_column("event", sa.Column("link", sa.String))


def _bring_over(c: sa.Connection, tables: Any, study: str) -> None:  # noqa: ANN401
    """Give one study its secret, layouts, digests and links."""
    secret = secrets.token_hex(32)
    of = tables["study"]
    c.execute(sa.update(of).where(of.c.id == study).values(secret=secret))
    digests = _digests_of_judges(c, tables["judge"], study)
    shown = tables["shown"]
    known = {
        (row.problem, row.solver): f"1:{row.digest}"
        for row in c.execute(sa.select(shown).where(shown.c.study_id == study))
    }
    ballot = tables["ballot"]
    ballots = c.execute(sa.select(ballot).where(ballot.c.judge_key.in_(digests))).all()
    for row in ballots:
        solvers = row.layout or []
        items = [
            [letter, solver, known.get((row.problem, solver)), known.get((row.problem, solver))]
            for letter, solver in zip(labels(len(solvers)), solvers, strict=True)
        ]
        layout = keyed(secret, "layout", row.public_id, items) if solvers else None
        if layout:
            values = {"ballot_key": row.key, "id": layout, "items": items}
            c.execute(sa.insert(tables["layout"]).values(made_at=row.opened_at, **values))
            c.execute(sa.update(ballot).where(ballot.c.key == row.key).values(layout_id=layout))
        _chain_revisions(
            c, tables["revision"], row, {"layout": layout or "", "judge": digests[row.judge_key]}
        )
    _chain_events(c, tables["event"], study, digests.get)


def _digests_of_judges(c: sa.Connection, judge: sa.Table, study: str) -> dict[int, str]:
    digests = {}
    for row in c.execute(sa.select(judge).where(judge.c.study_id == study)).all():
        salt = new_salt()
        digests[row.key] = judge_digest(salt, row.id)
        kept = None if row.forgotten_at else salt
        values = {"id_salt": kept, "id_digest": digests[row.key]}
        c.execute(sa.update(judge).where(judge.c.key == row.key).values(**values))
    return digests


def _chain_revisions(c: sa.Connection, of: sa.Table, ballot: Any, told: dict[str, str]) -> None:  # noqa: ANN401
    before = ""
    rows = c.execute(sa.select(of).where(of.c.ballot_key == ballot.key).order_by(of.c.number))
    for row in rows.all():
        salt = new_salt()
        values = {
            "layout": told["layout"],
            "words_salt": salt,
            "words_digest": words_digest(salt, row.state),
        }
        before = revision_link(
            before,
            {**row._mapping, **values},  # noqa: SLF001
            ballot.public_id,
            told["judge"],
        )
        c.execute(sa.update(of).where(of.c.key == row.key).values(link=before, **values))


def _chain_events(
    c: sa.Connection, of: sa.Table, study: str, digest: Callable[[int], str | None]
) -> None:
    before = ""
    for row in c.execute(sa.select(of).where(of.c.study_id == study).order_by(of.c.key)).all():
        judge = digest(row.judge_key) if row.judge_key else None
        before = event_link(before, row._mapping, judge)  # noqa: SLF001
        c.execute(sa.update(of).where(of.c.key == row.key).values(link=before))
