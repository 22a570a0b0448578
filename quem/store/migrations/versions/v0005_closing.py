"""What judges answered at the end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = depends_on = None


def upgrade() -> None:
    """Say of each judge that nobody asked them so far."""
    op.add_column("judge", sa.Column("closing", sa.JSON, nullable=False, server_default="{}"))
    with op.batch_alter_table("judge") as batch:
        batch.alter_column("closing", existing_type=sa.JSON(), server_default=None)
