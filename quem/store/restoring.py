"""A copy of a store in the place of the store, all of it or nothing; the old one is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import FileError, QuemError
from quem.io.text import shown
from quem.store.backup import refuse_server
from quem.store.copying import (
    SIDES,
    Holdings,
    copy_into,
    holdings_of_file,
    new_file,
    reason_of,
    stamp,
    sync_folder,
)
from quem.store.engine import clear_refusals, open_store
from quem.store.events import record
from quem.store.outbox import doubt_unsent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quem.store.location import DatabaseLocation

_LOCK_SECONDS = 2
_NOT_OURS = "name a copy that `quem backup` made"
_KEPT = "--replace to put the copy in its place (the database is kept beside it)"


@dataclass(frozen=True)
class Restored:
    """What was restored."""

    holdings: Holdings  # of the database now, but for the event that says so
    kept: Path | None  # where the old database is; None where there was none


def restore_copy(
    place: DatabaseLocation, study_id: str, copy: Path, *, replace: bool = False
) -> Restored:
    """Put a copy that has a study in the place of a database, which is kept beside it."""
    refuse_server(place)
    file = place.file
    assert file is not None  # noqa: S101  else it would be refused
    try:
        with clear_refusals(place):
            if file.exists() and copy.exists() and file.samefile(copy):
                raise FileError(copy, "is the database itself; name a copy")
            part = file.with_name(f"{file.name}.restoring-{os.getpid()}")
            with new_file(part):
                holdings = _checked_part(part, study_id, copy)
                if file.exists() and not replace:
                    _refuse_used(file)
                with _alone(file):
                    kept = _set_aside(file)
                    part.replace(file)
            sync_folder(file.parent)
            _log(place, study_id, copy)
    except OSError as error:
        raise FileError(file, f"nothing was restored: {reason_of(error)}") from None
    return Restored(holdings, kept)


def _checked_part(part: Path, study_id: str, copy: Path) -> Holdings:
    """Take a copy of the copy, with what a log beside it holds, and look at each page of it."""
    has_log = copy.with_name(copy.name + "-wal").exists()
    # Without a log nothing has to be written beside the copy, which may be in a read-only place.
    address = f"{copy.absolute().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as source:
            copy_into(source, part)
    except sqlite3.Error as error:
        raise FileError(copy, f"cannot be copied: {error}; {_NOT_OURS}") from None
    holdings = holdings_of_file(part, str(copy), thorough=True)
    if not holdings.studies:
        raise FileError(copy, f"holds no study; {_NOT_OURS}")
    if study_id not in holdings.studies:
        raise FileError(copy, f"is a copy of {_listed(holdings)}, and this is {shown(study_id)}")
    return holdings


def _refuse_used(file: Path) -> None:
    """Refuse to replace a database that holds something; a damaged one may hold anything."""
    try:
        holdings = holdings_of_file(file, str(file))
    except QuemError:
        raise FileError(file, f"cannot be read; give {_KEPT}") from None
    if holdings.studies:
        elsewhere = "name another place with --database"
        raise FileError(file, f"holds {_listed(holdings)} already; {elsewhere}, or give {_KEPT}")


def _listed(holdings: Holdings) -> str:
    names = ", ".join(shown(study) for study in holdings.studies)
    return f"the {'study' if len(holdings.studies) == 1 else 'studies'} {names}"


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Hold an SQLite database so that nobody else can use it, with all of it in its one file."""
    if not file.exists():
        yield
        return
    with closing(sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
        try:
            # Leaving the log is possible only where no other connection is open.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise FileError(file, "is in use; stop the server (quem serve) first") from None
            # It is damaged, which may be why the copy is needed.
        yield


def _set_aside(file: Path) -> Path | None:
    """Give a database another name too, and its log that name only.

    A log that stayed beside the restored database would be taken for its own.
    """
    backup = file.with_name(f"{file.name}.before-restore-{stamp()}")
    if file.exists():
        # The database has its own name until the copy takes it, so that there always is one.
        try:
            backup.hardlink_to(file)
        except OSError:
            shutil.copy(file, backup)
    for side in SIDES:
        with suppress(FileNotFoundError):
            file.with_name(file.name + side).rename(backup.with_name(backup.name + side))
    return backup if backup.exists() else None


def _log(place: DatabaseLocation, study_id: str, copy: Path) -> None:
    """Log that all studies of a database are as they were; letters may be newer."""
    store = open_store(place)
    try:
        with store.write() as c:
            doubt_unsent(c)
            record(c, study_id, "shell", "restored", file=copy.name)
    finally:
        store.close()
