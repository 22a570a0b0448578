"""The backups of a study: made now or regularly, logged, with a limited number kept."""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.exc import DatabaseError

from quem.errors import Mistake, QuemError
from quem.store.connecting import UnavailableError
from quem.store.copying import (
    PARTIAL,
    SIDES,
    Copy,
    clear_failures,
    reason_of,
    save_copy,
    stamp,
)
from quem.store.events import record
from quem.store.models import EventRow, now

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from sqlalchemy.orm import Session

    from quem.store.engine import Store
    from quem.store.location import DatabaseLocation
    from quem.store.uploads import UploadFolder

# What the folder with the files of a solving session ends in, beside the copies.
UPLOADS = ".uploads"
_GOOD, _FAILED = "backup", "backup-failed"
_STAMPED = r"-\d{8}T\d{6}\.\d{3}Z\.sqlite3"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_STEM = 100
# A partial copy on which nothing was written for so long is of a process that was killed.
_STALE_SECONDS = 3600
_LATE = 2


@dataclass(frozen=True)
class BackupState:
    """How the copies of a study are."""

    at: dt.datetime | None = None  # when the last good one was made
    # Its number of rows and bytes
    rows: int = 0
    size: int = 0
    failure: str = ""  # why the last attempt failed; empty where it did not
    every: float | None = None  # seconds from one copy to the next, where they are made regularly

    @property
    def is_late(self) -> bool:
        """Whether the last good copy is older than two intervals."""
        if self.every is None or self.at is None:
            return False
        return (now() - self.at).total_seconds() > _LATE * self.every


def back_up(
    store: Store,
    study_id: str,
    folder: Path,
    *,
    actor: str,
    keep: int,
    every: float | None = None,
    uploads: UploadFolder | None = None,
) -> Copy:
    """Make a copy of a store, check it, log it, and remove the study's oldest copies."""
    stem = stem_of(study_id)
    try:
        make_folder(folder)
        refuse_server(store.place)
        copy = save_copy(store, folder, f"{stem}-{stamp()}")
        # A file is on the disk before the database names it.
        with clear_failures(folder):
            _copy_uploads(uploads, folder / f"{stem}{UPLOADS}")
    except QuemError as error:
        if every:
            _record_failure(store, study_id, actor, error)
        raise
    notes = []
    try:
        _prune(folder, stem, keep, copy.path)
    except OSError as error:
        notes.append(f"older copies could not be removed: {reason_of(error)}")
    detail: dict[str, Any] = {"file": copy.path.name, "rows": copy.holdings.row_count}
    detail |= {"bytes": copy.size} | ({"every": every} if every else {})
    try:
        with store.write() as c:
            record(c, study_id, actor, _GOOD, **detail)
    except (DatabaseError, UnavailableError) as error:
        notes.append(f"the copy is good but could not be logged: {reason_of(error)}")
    return replace(copy, note="; ".join(notes))


def refuse_server(place: DatabaseLocation) -> None:
    """Refuse a database of PostgreSQL, which pg_dump backs up."""
    if place.file is None:
        raise QuemError(
            Mistake(
                place.name,
                message=(
                    "is a PostgreSQL database: back it up with pg_dump, and restore it with "
                    "pg_restore, as docs/how-to/serving.md says"
                ),
            )
        )


def _copy_uploads(uploads: UploadFolder | None, target: Path) -> None:
    if uploads:
        uploads.copy_to(target)


def make_folder(folder: Path) -> None:
    """Make the folder for backups if it is missing, but not the one that it is in.

    A disk that is not mounted would otherwise look like a new folder.
    """
    with clear_failures(folder):
        folder.mkdir(mode=0o700, exist_ok=True)


def _record_failure(store: Store, study_id: str, actor: str, error: QuemError) -> None:
    """Log that no copy could be made, if that much can be done."""
    reason = "; ".join(mistake.message for mistake in error.mistakes)
    with suppress(DatabaseError, UnavailableError), store.write() as c:
        record(c, study_id, actor, _FAILED, reason=reason)


def backup_state(c: Session, study_id: str) -> BackupState:
    """Tell from the log how the copies of a study are, no matter how they are made."""
    columns = select(EventRow.key, EventRow.made_at, EventRow.detail).where(
        EventRow.study_id == study_id
    )
    newest = columns.order_by(EventRow.key.desc()).limit(1)
    good = c.execute(newest.where(EventRow.what == _GOOD)).first()
    failed = c.execute(newest.where(EventRow.what == _FAILED)).first()
    failure = failed.detail["reason"] if failed and (not good or failed.key > good.key) else ""
    if good is None:
        return BackupState(failure=failure)
    detail = good.detail
    return BackupState(good.made_at, detail["rows"], detail["bytes"], failure, detail.get("every"))


def stem_of(study_id: str) -> str:
    """Give a study's id as the beginning of file names, different for each."""
    plain = _UNSAFE.sub("-", study_id)
    if plain == study_id and len(plain) <= _LONGEST_STEM:
        return plain
    return f"{plain[:_LONGEST_STEM]}-{hashlib.sha256(study_id.encode()).hexdigest()[:8]}"


def _prune(folder: Path, stem: str, keep: int, newest: Path) -> None:
    """Remove a study's oldest copies, and what killed processes left; never the newest copy."""
    mine = re.compile(re.escape(stem) + _STAMPED)
    copies = sorted(path for path in _files(folder) if mine.fullmatch(path.name))
    # A clock that was set back makes the newest look old.
    others = [path for path in copies if path.name != newest.name]
    for path in others[: max(0, len(others) - keep + 1)]:
        path.unlink(missing_ok=True)
    left = re.compile(rf"{re.escape(stem)}{_STAMPED}{re.escape(PARTIAL)}({'|'.join(SIDES)})?")
    for path in _files(folder):
        with suppress(FileNotFoundError):
            if left.fullmatch(path.name) and time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
