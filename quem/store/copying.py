"""One copy of a store, made while it is in use and checked before it has its name."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DatabaseError

from quem.errors import FileError
from quem.store.archive import archive_text, restore_archive
from quem.store.archive_rows import read_archive
from quem.store.dump import dump, dump_program, holdings_of_dump
from quem.store.engine import open_store
from quem.store.holdings import Holdings, holdings_of, holdings_of_file
from quem.store.location import locate_database
from quem.store.models import now
from quem.store.waiting import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.store.engine import Store

__all__ = [
    "PARTIAL",
    "SIDES",
    "Copy",
    "clear_failures",
    "reason_of",
    "save_copy",
    "stamp",
    "sync_folder",
]

PARTIAL = ".partial"
# Files beside one of SQLite that belong to it.
SIDES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Copy:
    """A copy that was made and checked.

    Parameters
    ----------
    size : int
        Bytes.
    note : str
        What its maker should know, such as that there is no ``pg_dump``; may be empty.
    """

    path: Path
    size: int
    holdings: Holdings
    note: str = ""


def save_copy(store: Store, study_id: str, folder: Path, stem: str, suffix: str = "") -> Copy:
    """Make a copy and check it; it has its name only once it is whole and on the disk.

    Parameters
    ----------
    stem : str
        The file's name, without the ending that says its kind.
    suffix : str, optional
        Another ending than that of its kind.

    Raises
    ------
    QuemError
        No copy was made, and nothing of it is left.
    """
    with clear_failures(folder):
        own_suffix, write, note = _way(store)
        target = folder / f"{stem}{suffix or own_suffix}"
        with _whole(target) as partial:
            holdings = write(store, study_id, partial)
        return Copy(target, target.stat().st_size, holdings, note)


def stamp() -> str:
    """The time in UTC as part of a file's name, such as "20261121T100000.000Z"."""
    return f"{now():%Y%m%dT%H%M%S.%f}"[:-3] + "Z"


def _way(store: Store) -> tuple[str, Callable[[Store, str, Path], Holdings], str]:
    """How a store is copied: the ending of the file, the function, and a note."""
    if store.engine.dialect.name == "sqlite":
        return ".sqlite3", _copy_file, ""
    with store.read() as c:
        program = dump_program(c)
    if program is None:
        note = "no pg_dump of the server's version was found, so the copy is an archive"
        return ".jsonl", _write_archive, note
    return ".dump", lambda store, _, partial: _write_dump(store, program, partial), ""


def _copy_file(store: Store, _: str, partial: Path) -> Holdings:
    """Copy an SQLite database in one go.

    In steps it would restart at each write of another connection, and never end.
    """
    with store.read() as c:
        held = holdings_of(c)
        source: Any = c.connection.driver_connection
        with closing(sqlite3.connect(partial)) as target:
            target.execute("PRAGMA fullfsync = ON")
            # The transaction that counted goes on, so the copy is of the very same state.
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
    _compare(held, holdings_of_file(partial, f"copy of {store.place.name}"))
    return held


def _write_dump(store: Store, program: str, partial: Path) -> Holdings:
    with store.read() as c:
        held = dump(c, program, partial)
    _compare(held, holdings_of_dump(partial, f"copy of {store.place.name}"))
    return held


def _write_archive(store: Store, study_id: str, partial: Path) -> Holdings:
    """Write an archive, and restore it into a scratch store, whose archive has to be the same."""
    with store.read() as c:
        partial.write_text(archive_text(c, study_id), encoding="utf-8", newline="\n")
    written = partial.read_text(encoding="utf-8")
    rows = read_archive(written, partial.name, study_id)
    with tempfile.TemporaryDirectory(prefix="quem-") as folder:
        scratch = open_store(locate_database(Path(folder), str(Path(folder) / "scratch.sqlite3")))
        try:
            with scratch.write() as c:
                restore_archive(c, study_id, rows, partial.name)
            with scratch.read() as c:
                again, held = archive_text(c, study_id), holdings_of(c)
        finally:
            scratch.close()
    if again.partition("\n")[2] != written.partition("\n")[2]:
        _refuse_copy()
    return held


def _compare(held: Holdings, copied: Holdings) -> None:
    if held != copied:
        _refuse_copy()


def _refuse_copy() -> None:
    message = "the copy does not hold what the database held"
    raise OSError(message)


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """Give a file to write to, which gets its name once it is on the disk, or is removed."""
    partial = target.with_name(target.name + PARTIAL)
    try:
        # Exclusive: two processes must not write one copy. Only the owner may read it.
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield partial
        with partial.open("r+b") as file:
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        for side in ("", *SIDES):
            partial.with_name(partial.name + side).unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def clear_failures(folder: Path) -> Iterator[None]:
    """Say in clear words why there is no copy.

    Parameters
    ----------
    folder : Path
        Where it was to be.

    Raises
    ------
    QuemError
    """
    try:
        yield
    except (OSError, sqlite3.Error, DatabaseError, UnavailableError) as error:
        message = (
            f"no backup was made: {reason_of(error)}; check that the folder can be written to and "
            "has room, and that the database can be read"
        )
        raise FileError(folder, message) from None


def reason_of(error: BaseException) -> str:
    """Give what an error of the system or of a database says, on one line."""
    known = (getattr(error, name, None) for name in ("strerror", "orig", "reason"))
    said = next(filter(None, known), error)
    return " ".join(str(said).split())
