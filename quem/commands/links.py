"""Where private links go: to a terminal, or to a file that only its owner can read."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import check_url, database_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from quem.commands.options import Decorated

# A header, or an id and what belongs to it.
Row = tuple[str, ...]


def link_options(command: Decorated) -> Decorated:
    """Add the options of a command that makes links."""
    address = click.option(
        "--url",
        default="http://127.0.0.1:8080",
        show_default=True,
        callback=check_url,
        help="Address of the server, with which links begin.",
    )
    file = click.option(
        "--out",
        type=click.Path(path_type=Path, dir_okay=False),
        help="New file for the table with the links, which only you can read.",
    )
    return database_option(address(file(command)))


@contextmanager
def links_session(
    study: Path, database: str | None, out: Path | None
) -> Iterator[tuple[Connection, LinkFile]]:
    """Open a study's store, made where there is none, to write; and a file for links.

    All is done that was asked for, and its links are handed over, or nothing is.
    """
    from quem.store.engine import clear_refusals, open_store
    from quem.store.location import locate_database

    store = open_store(locate_database(study, database))
    try:
        with clear_refusals(store.place), link_file(study, out) as file, store.write() as c:
            yield c, file
    finally:
        store.close()
    file.tell()


def may_show_links() -> bool:
    """Whether what is printed is seen by a person, and kept by no log."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def hand_over(rows: list[Row], file: LinkFile, *, is_asked: bool) -> None:
    """Show a table, but links only to a person at a terminal; others find them in the file."""
    at = rows[0].index("link")
    if is_asked or (any(row[at] for row in rows[1:]) and not may_show_links()):
        file.write(rows)
        rows = [rows[0], *((*row[:at], "", *row[at + 1 :]) for row in rows[1:])]
    click.echo(_table(rows), nl=False)
    sys.stdout.flush()


def _table(rows: Iterable[Row]) -> str:
    """Write rows as CSV; cells that a spreadsheet would calculate get an apostrophe in front."""
    import csv
    from io import StringIO

    from quem.io.text import no_formula

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(map(no_formula, row))
    return text.getvalue()


class LinkFile:
    """A file for links, which nobody else can read, and that replaces no other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_made = False

    def write(self, rows: Iterable[Row]) -> None:
        """Make the file; the first row is the header."""
        from quem.errors import FileError

        try:
            # Never one that is there, nor one that a link of somebody else leads to.
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self.is_made = True
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(_table(rows))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(
                self.path, f"cannot be written: {error.strerror}; name another file for the links"
            ) from None

    def tell(self) -> None:
        """Say where the links are."""
        if self.is_made:
            click.echo(f"Links: {self.path.absolute()} (only you can read it)", err=True)


@contextmanager
def link_file(study: Path, out: Path | None) -> Iterator[LinkFile]:
    """Give a file for links that is there afterwards only if all went well."""
    import datetime as dt

    made_at = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    file = LinkFile(out or study.with_name(f"{study.stem}-links-{made_at}.csv"))
    try:
        yield file
    except BaseException:
        if file.is_made:
            file.path.unlink(missing_ok=True)
        raise
