"""Where private links go: to a terminal, or to a file that only its owner can read."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["JUDGES", "LinkFile", "Row", "hand_over", "link_file", "may_show_links"]

Row = tuple[str, ...]
# The last two columns of all such tables are the link and its state.
JUDGES: Row = ("judge", "name", "link", "state")
# What a spreadsheet would take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def may_show_links() -> bool:
    """Whether what is printed is seen by a person, and kept by no log."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def hand_over(columns: Row, rows: list[Row], file: LinkFile, *, is_asked: bool) -> None:
    """Show a table, but links only to a person at a terminal; others find them in the file.

    Parameters
    ----------
    columns : tuple of str
        Their names.
    rows : list of tuple
    file : LinkFile
    is_asked : bool
        Whether the file was asked for.
    """
    if is_asked or (any(row[-2] for row in rows) and not may_show_links()):
        file.write(columns, rows)
        rows = [(*row[:-2], "", row[-1]) for row in rows]
    click.echo(_table(columns, rows), nl=False)
    sys.stdout.flush()


def _table(columns: Row, rows: Iterable[Row]) -> str:
    """Write rows as CSV; cells that a spreadsheet would calculate get an apostrophe in front."""
    import csv
    from io import StringIO

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row])
    return text.getvalue()


class LinkFile:
    """A file for links, which nobody else can read, and that replaces no other.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_made = False

    def write(self, columns: Row, rows: Iterable[Row]) -> None:
        """Make the file.

        Raises
        ------
        QuemError
            It cannot be made, or is there already.
        """
        from quem.errors import Mistake, QuemError

        try:
            # Never one that is there, nor one that a link of somebody else leads to.
            held = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self.is_made = True
            with os.fdopen(held, "w", encoding="utf-8") as file:
                file.write(_table(columns, rows))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            reason = f"cannot be written: {error.strerror}; name another file for the links"
            raise QuemError([Mistake(str(self.path), message=reason)]) from None

    def tell(self) -> None:
        """Say where the links are."""
        if self.is_made:
            click.echo(f"Links: {self.path.absolute()} (only you can read it)", err=True)


@contextmanager
def link_file(study: Path, out: Path | None) -> Iterator[LinkFile]:
    """Give a file for links that is there afterwards only if all went well.

    Parameters
    ----------
    study : Path
        The study file, beside which the file is by default.
    out : Path or None
        Another place for it.
    """
    import datetime as dt

    made_at = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    file = LinkFile(out or study.with_name(f"{study.stem}-links-{made_at}.csv"))
    try:
        yield file
    except BaseException:
        if file.is_made:
            file.path.unlink(missing_ok=True)
        raise
