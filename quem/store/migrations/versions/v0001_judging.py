"""The tables of judging sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quem.store.models import Utc

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "study",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("desk_hash", sa.String),
        sa.Column("made_at", Utc, nullable=False),
        sa.Column("revealed_at", Utc),
        sa.PrimaryKeyConstraint("id", name="pk_study"),
    )
    op.create_table(
        "judge",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("experience", sa.Double),
        sa.Column("added", sa.Boolean, nullable=False),
        sa.Column("session_hash", sa.String),
        sa.Column("linked_at", Utc),
        sa.Column("revoked_at", Utc),
        sa.Column("seen_at", Utc),
        sa.Column("consented_at", Utc),
        sa.Column("forgotten_at", Utc),
        sa.PrimaryKeyConstraint("key", name="pk_judge"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_judge_study_id"),
        sa.UniqueConstraint("study_id", "id", name="uq_judge_study_id_id"),
        sa.UniqueConstraint("session_hash", name="uq_judge_session_hash"),
    )
    op.create_table(
        "forgotten",
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("id_hash", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("study_id", "id_hash", name="pk_forgotten"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_forgotten_study_id"),
    )
    op.create_table(
        "ballot",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("public_id", sa.String, nullable=False),
        sa.Column("judge_key", sa.Integer, nullable=False),
        sa.Column("problem", sa.String, nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("occasion", sa.Integer, nullable=False),
        sa.Column("practice", sa.Boolean, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("layout", sa.JSON),
        sa.Column("head", sa.Integer, nullable=False),
        sa.Column("submitted", sa.Integer),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("opened_at", Utc),
        sa.PrimaryKeyConstraint("key", name="pk_ballot"),
        sa.ForeignKeyConstraint(["judge_key"], ["judge.key"], name="fk_ballot_judge_key"),
        sa.UniqueConstraint("public_id", name="uq_ballot_public_id"),
        sa.UniqueConstraint(
            "judge_key",
            "problem",
            "block",
            "occasion",
            name="uq_ballot_judge_key_problem_block_occasion",
        ),
    )
    op.create_index("ix_ballot_judge_key", "ballot", ["judge_key"])
    op.create_table(
        "revision",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("ballot_key", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("base", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("state", sa.JSON, nullable=False),
        sa.Column("client", sa.String, nullable=False),
        sa.Column("change", sa.Integer, nullable=False),
        sa.Column("made_at", Utc, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_revision"),
        sa.ForeignKeyConstraint(["ballot_key"], ["ballot.key"], name="fk_revision_ballot_key"),
        sa.UniqueConstraint("ballot_key", "number", name="uq_revision_ballot_key_number"),
    )
    op.create_index(
        "ix_revision_ballot_key_client_change", "revision", ["ballot_key", "client", "change"]
    )
    op.create_table(
        "event",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("judge_key", sa.Integer),
        sa.Column("made_at", Utc, nullable=False),
        sa.Column("actor", sa.String, nullable=False),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_event"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_event_study_id"),
        sa.ForeignKeyConstraint(["judge_key"], ["judge.key"], name="fk_event_judge_key"),
    )
    op.create_index("ix_event_study_id", "event", ["study_id"])
    op.create_table(
        "shown",
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("problem", sa.String, nullable=False),
        sa.Column("solver", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("shown_at", Utc, nullable=False),
        sa.PrimaryKeyConstraint("study_id", "problem", "solver", name="pk_shown"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_shown_study_id"),
    )
