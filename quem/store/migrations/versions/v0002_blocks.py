"""Blocks: which solutions of a problem a judge is given together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = depends_on = None


def upgrade() -> None:
    """Say of each ballot which solvers it holds; none named are all."""
    op.add_column("ballot", sa.Column("solvers", sa.JSON))
