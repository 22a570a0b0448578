"""Options that several commands take."""

from __future__ import annotations

import click

__all__ = ["database_option"]

database_option = click.option(
    "--database",
    metavar="URL",
    help="Store of the judging session: a URL, or an SQLite file.  [default: $QUEM_DATABASE_URL, "
    "or STUDY's name with .sqlite3, beside it]",
)
