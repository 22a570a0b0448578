"""Layouts with digests, hash chains, and organizers with links of their own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from quem.store.migration import TABLES, converted
from quem.store.models import Utc

revision = "0003"
down_revision = "0002"
branch_labels = depends_on = None


def upgrade() -> None:
    """Make the new tables and columns, and give what is there its layouts and links."""
    c = op.get_bind()
    ids = c.execute(sa.select(TABLES["study"].c.id)).scalars().all()
    studies = [_rows_of(c, study) for study in ids]
    _make_tables()
    _add_columns()
    for rows in studies:
        _bring_over(c, converted(rows))
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


def _rows_of(c: sa.Connection, study: str) -> dict[str, list[dict[str, Any]]]:
    """Read what the older tables hold of a study."""
    judge, ballot, revision = (TABLES[name] for name in ("judge", "ballot", "revision"))
    judges = sa.select(judge.c.key).where(judge.c.study_id == study)
    ballots = sa.select(ballot.c.key).where(ballot.c.judge_key.in_(judges))
    queries = {
        name: sa.select(table).where(table.c.study_id == study)
        for name, table in TABLES.items()
        if "study_id" in table.c
    } | {
        "study": sa.select(TABLES["study"]).where(TABLES["study"].c.id == study),
        "ballot": sa.select(ballot).where(ballot.c.judge_key.in_(judges)),
        "revision": sa.select(revision)
        .where(revision.c.ballot_key.in_(ballots))
        .order_by(revision.c.ballot_key, revision.c.number),
    }
    queries["event"] = queries["event"].order_by(TABLES["event"].c.key)
    return {name: [dict(row) for row in c.execute(q).mappings()] for name, q in queries.items()}


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


def _bring_over(c: sa.Connection, new: dict[str, list[dict[str, Any]]]) -> None:
    """Write what is new of one study."""
    study = new["study"][0]
    of = sa.table("study", sa.column("id"), sa.column("secret"))
    c.execute(sa.update(of).where(of.c.id == study["id"]).values(secret=study["secret"]))
    for ballot in new["ballot"]:
        ballot["layout_id"] = ballot["layout"]
    for name, columns in _CHANGED.items():
        table = sa.table(name, *map(sa.column, ("key", *columns)))
        values: dict[str, Any] = {column: sa.bindparam(f"new_{column}") for column in columns}
        change = sa.update(table).where(table.c.key == sa.bindparam("old_key")).values(values)
        rows = [
            {"old_key": row["key"], **{f"new_{column}": row[column] for column in columns}}
            for row in new[name]
            if "key" in row
        ]
        if rows:
            c.execute(change, rows)
    _insert(c, "layout", new["layout"])
    added = [row for row in new["event"] if "key" not in row]
    _insert(c, "event", [row | {"study_id": study["id"]} for row in added])


_CHANGED = {
    "judge": ("id_salt", "id_digest"),
    "ballot": ("layout_id",),
    "revision": ("layout", "words_salt", "words_digest", "link"),
    "event": ("link",),
}
_TYPES: dict[str, Any] = {"made_at": Utc(), "items": sa.JSON(), "detail": sa.JSON()}


def _insert(c: sa.Connection, name: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        columns: list[sa.ColumnClause[Any]] = [sa.column(x, _TYPES.get(x)) for x in rows[0]]
        c.execute(sa.insert(sa.table(name, *columns)), rows)
