"""How long each solution was in view."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = depends_on = None


def upgrade() -> None:
    """Say of each ballot that nobody measured it so far."""
    op.add_column("ballot", sa.Column("views", sa.JSON, nullable=False, server_default="{}"))
    with op.batch_alter_table("ballot") as batch:
        batch.alter_column("views", existing_type=sa.JSON(), server_default=None)
