"""What the people's half of a study stores: subjects, their answers and clocks, and mail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quem.store.models import Utc

revision = "0006"
down_revision = "0005"
branch_labels = depends_on = None


def upgrade() -> None:
    """Make the new tables, empty."""
    _make_mail()
    _make_solving()
    _make_subject()
    _make_reply()
    _make_task()
    _make_draft()
    _make_upload()
    _make_stretch()


def _make_mail() -> None:
    op.create_table(
        "mail",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("person_key", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("error", sa.String, nullable=False),
        sa.Column("made_at", Utc, nullable=False),
        sa.Column("due_at", Utc, nullable=False),
        sa.Column("sent_at", Utc, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_mail"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_mail_study_id"),
        sa.UniqueConstraint("message_id", name="uq_mail_message_id"),
        sa.UniqueConstraint(
            "study_id",
            "role",
            "person_key",
            "kind",
            "round",
            name="uq_mail_study_id_role_person_key_kind_round",
        ),
    )


def _make_solving() -> None:
    op.create_table(
        "solving",
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("study_id", name="pk_solving"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_solving_study_id"),
    )


def _make_subject() -> None:
    op.create_table(
        "subject",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("study_id", sa.String, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("added", sa.Boolean, nullable=False),
        sa.Column("session_hash", sa.String, nullable=True),
        sa.Column("linked_at", Utc, nullable=True),
        sa.Column("revoked_at", Utc, nullable=True),
        sa.Column("seen_at", Utc, nullable=True),
        sa.Column("consented_at", Utc, nullable=True),
        sa.Column("declined_at", Utc, nullable=True),
        sa.Column("finished_at", Utc, nullable=True),
        sa.Column("withdrawn_at", Utc, nullable=True),
        sa.Column("forgotten_at", Utc, nullable=True),
        sa.Column("row", sa.Integer, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_subject"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_subject_study_id"),
        sa.UniqueConstraint("session_hash", name="uq_subject_session_hash"),
        sa.UniqueConstraint("study_id", "id", name="uq_subject_study_id_id"),
    )


def _make_reply() -> None:
    op.create_table(
        "reply",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("subject_key", sa.Integer, nullable=False),
        sa.Column("question", sa.String, nullable=False),
        sa.Column("value", sa.String, nullable=False),
        sa.Column("made_at", Utc, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_reply"),
        sa.ForeignKeyConstraint(["subject_key"], ["subject.key"], name="fk_reply_subject_key"),
    )
    op.create_index("ix_reply_subject_key", "reply", ["subject_key"])


def _make_task() -> None:
    op.create_table(
        "task",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("public_id", sa.String, nullable=False),
        sa.Column("subject_key", sa.Integer, nullable=False),
        sa.Column("problem", sa.String, nullable=False),
        sa.Column("practice", sa.Boolean, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("head", sa.Integer, nullable=False),
        sa.Column("ended", sa.String, nullable=True),
        sa.Column("opened_at", Utc, nullable=True),
        sa.Column("limit_seconds", sa.Double, nullable=True),
        sa.Column("running", sa.String, nullable=True),
        sa.Column("since", Utc, nullable=True),
        sa.Column("beat_at", Utc, nullable=True),
        sa.Column("holder", sa.String, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_task"),
        sa.ForeignKeyConstraint(["subject_key"], ["subject.key"], name="fk_task_subject_key"),
        sa.UniqueConstraint("subject_key", "problem", name="uq_task_subject_key_problem"),
        sa.UniqueConstraint("public_id", name="uq_task_public_id"),
    )
    op.create_index("ix_task_subject_key", "task", ["subject_key"])


def _make_draft() -> None:
    op.create_table(
        "draft",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("task_key", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("base", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("text", sa.String, nullable=False),
        sa.Column("files", sa.JSON, nullable=False),
        sa.Column("client", sa.String, nullable=False),
        sa.Column("change", sa.Integer, nullable=False),
        sa.Column("made_at", Utc, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_draft"),
        sa.ForeignKeyConstraint(["task_key"], ["task.key"], name="fk_draft_task_key"),
        sa.UniqueConstraint("task_key", "number", name="uq_draft_task_key_number"),
    )
    op.create_index("ix_draft_task_key_client_change", "draft", ["task_key", "client", "change"])


def _make_upload() -> None:
    op.create_table(
        "upload",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("public_id", sa.String, nullable=False),
        sa.Column("task_key", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("ending", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("made_at", Utc, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_upload"),
        sa.ForeignKeyConstraint(["task_key"], ["task.key"], name="fk_upload_task_key"),
        sa.UniqueConstraint("public_id", name="uq_upload_public_id"),
    )
    op.create_index("ix_upload_task_key", "upload", ["task_key"])


def _make_stretch() -> None:
    op.create_table(
        "stretch",
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column("task_key", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("began_at", Utc, nullable=False),
        sa.Column("ended_at", Utc, nullable=False),
        sa.Column("client", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_stretch"),
        sa.ForeignKeyConstraint(["task_key"], ["task.key"], name="fk_stretch_task_key"),
    )
    op.create_index("ix_stretch_task_key", "stretch", ["task_key"])
