"""The tables of the first version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "study",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("solving", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revealed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
    )
    op.create_table(
        "person",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("experience", sa.Double(), nullable=True),
        sa.Column("added", sa.Boolean(), nullable=False),
        sa.Column("link_hash", sa.String(), nullable=True),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("consented_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("declined_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("former", sa.String(), nullable=True),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_person_study_id")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_person")),
        sa.UniqueConstraint("link_hash", name=op.f("uq_person_link_hash")),
        sa.UniqueConstraint("study_id", "role", "id", name=op.f("uq_person_study_id_role_id")),
    )
    op.create_table(
        "event",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("person_key", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["person_key"], ["person.key"], name=op.f("fk_event_person_key")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_event_study_id")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_study_id"), "event", ["study_id"], unique=False)
    op.create_table(
        "letter",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("person_key", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("error", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_key"], ["person.key"], name=op.f("fk_letter_person_key")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_letter_study_id")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_letter")),
        sa.UniqueConstraint("message_id", name=op.f("uq_letter_message_id")),
        sa.UniqueConstraint(
            "person_key", "kind", "round", name=op.f("uq_letter_person_key_kind_round")
        ),
    )
    op.create_table(
        "session",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("person_key", sa.Integer(), nullable=False),
        sa.Column("link", sa.String(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_key"], ["person.key"], name=op.f("fk_session_person_key")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_session")),
    )
    op.create_index(op.f("ix_session_person_key"), "session", ["person_key"], unique=False)
    op.create_table(
        "task",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("person_key", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("occasion", sa.Integer(), nullable=False),
        sa.Column("practice", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("solvers", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("layout", sa.String(), nullable=True),
        sa.Column("head", sa.Integer(), nullable=False),
        sa.Column("submitted", sa.Integer(), nullable=True),
        sa.Column("ended", sa.String(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("views", sa.JSON(), nullable=False),
        sa.Column("times", sa.JSON(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("limit_seconds", sa.Double(), nullable=True),
        sa.Column("running", sa.String(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("holder", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["person_key"], ["person.key"], name=op.f("fk_task_person_key")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_task")),
        sa.UniqueConstraint(
            "person_key",
            "problem",
            "block",
            "occasion",
            name=op.f("uq_task_person_key_problem_block_occasion"),
        ),
        sa.UniqueConstraint("public_id", name=op.f("uq_task_public_id")),
    )
    op.create_index(op.f("ix_task_person_key"), "task", ["person_key"], unique=False)
    op.create_table(
        "layout",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("task_key", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("items", sa.JSON(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_key"], ["task.key"], name=op.f("fk_layout_task_key")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_layout")),
        sa.UniqueConstraint("task_key", "id", name=op.f("uq_layout_task_key_id")),
    )
    op.create_table(
        "revision",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("task_key", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("layout", sa.String(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("client", sa.String(), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_key"], ["task.key"], name=op.f("fk_revision_task_key")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_revision")),
        sa.UniqueConstraint("task_key", "number", name=op.f("uq_revision_task_key_number")),
    )
    op.create_index(
        op.f("ix_revision_task_key_client_change"),
        "revision",
        ["task_key", "client", "change"],
        unique=False,
    )
    op.create_table(
        "upload",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("task_key", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_key"], ["task.key"], name=op.f("fk_upload_task_key")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_upload")),
        sa.UniqueConstraint("public_id", name=op.f("uq_upload_public_id")),
    )
    op.create_index(op.f("ix_upload_task_key"), "upload", ["task_key"], unique=False)
