"""Prints what a migration has to do: ``python -m tests.store.migration``.

With ``baseline`` it rewrites the baseline, which holds until the first release.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from alembic.autogenerate import produce_migrations, render_python_code
from alembic.migration import MigrationContext
from sqlalchemy import TypeDecorator, create_engine

from quem.store import database as schema
from quem.store.models import Base

if TYPE_CHECKING:
    from typing import Literal

    from sqlalchemy import Connection

BASELINE = Path(schema.__file__).with_name("migrations") / "versions" / "v0007_baseline.py"


def lacking(c: Connection) -> str:
    """What the models have and a database lacks, as code; empty where they agree."""
    steps = produce_migrations(MigrationContext.configure(c), Base.metadata).upgrade_ops
    assert steps is not None
    return "" if steps.is_empty() else render_python_code(steps, render_item=_plain)


def _plain(kind: str, value: object, _: object) -> str | Literal[False]:
    """A type of ours as the database has it."""
    return f"sa.{value.impl!r}" if kind == "type" and isinstance(value, TypeDecorator) else False


if __name__ == "__main__":
    with create_engine("sqlite://").begin() as c:
        if sys.argv[1:] == ["baseline"]:
            head = BASELINE.read_text().partition("    # ###")[0]
            BASELINE.write_text(f"{head}    {lacking(c)}\n")
        else:
            schema.upgrade(c)
            sys.stdout.write(lacking(c))
