"""Rows that may be there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from quem.store.models import Base

__all__ = ["insert_new"]


def insert_new(c: Connection, table: type[Base]) -> Any:  # noqa: ANN401  one type a dialect
    """Give an insert that leaves rows alone which are there already.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    """
    # Each dialect has its own statement, and PostgreSQL's takes megabytes of a server.
    if c.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table).on_conflict_do_nothing()
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table).on_conflict_do_nothing()
