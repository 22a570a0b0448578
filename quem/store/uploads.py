"""Uploaded files: their owners, and their bytes beside the database, named by hash."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from quem.store.backup import sync_folder
from quem.store.models import PersonRow, TaskRow, UploadRow
from quem.store.work import SubmittedError, open_task, require_running

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session


MOST_OF_SUBJECT = 200_000_000


class TooLargeError(Exception):
    """A file exceeds the size limit."""


class TooMuchError(Exception):
    """A person's files exceed the total size limit."""


class UploadFolder:
    """The files that subjects of a study uploaded."""

    def __init__(self, study: Path) -> None:
        self.folder = study.with_suffix(".uploads")

    def path(self, sha256: str, ending: str) -> Path:
        """The path of a file."""
        return self.folder / sha256[:2] / f"{sha256}{ending}"

    def receive(
        self, pieces: Iterable[bytes], most: int, owner: int, left: int
    ) -> tuple[Path, str, int]:
        """Write an upload to a temporary file.

        Concurrent uploads of a person share their remaining bytes.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(prefix=f".{owner}-", suffix=".partial", dir=self.folder)
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                for piece in pieces:
                    size += len(piece)
                    _limit(size, most)
                    digest.update(piece)
                    file.write(piece)
                    file.flush()
                    self._limit_all(owner, left)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path, digest.hexdigest(), size

    def _limit_all(self, owner: int, most: int) -> None:
        total = 0
        for path in self.folder.glob(f".{owner}-*.partial*"):
            with suppress(FileNotFoundError):
                total += path.stat().st_size
        if total > most:
            raise TooMuchError

    def keep(self, received: Path, sha256: str, ending: str) -> Path:
        """Name a received file by its hash, synced to disk."""
        path = self.path(sha256, ending)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        received.replace(path)
        sync_folder(path.parent)
        sync_folder(self.folder)
        return path

    def remove(self, files: Iterable[tuple[str, str]]) -> None:
        """Delete files by SHA-256 and extension."""
        for sha256, ending in files:
            self.path(sha256, ending).unlink(missing_ok=True)

    def clear_partial(self, before: float) -> None:
        """Delete incomplete and unchecked uploads of a killed server."""
        for path in self.folder.rglob(".*.partial*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()

    def copy_to(self, target: Path) -> None:
        """Copy all files to another folder.

        A name is the hash of its content, so existing files are not copied again.
        """
        _copy_lacking(self.folder, target)

    def take_back(self, source: Path) -> None:
        """Restore all files of a folder that `copy_to` made."""
        _copy_lacking(source, self.folder)


def add_upload(
    c: Session,
    person: PersonRow,
    public_id: str,
    *,
    sha256: str,
    size: int,
    ending: str,
    name: str,
) -> UploadRow | None:
    """Record a file that is on disk; None if the subject exceeds the limit."""
    task = open_task(c, person, public_id)
    if task.opened_at is None:
        raise SubmittedError
    require_running(task)
    if size > bytes_left(c, person):
        return None
    token = secrets.token_urlsafe(9)
    about = {"sha256": sha256, "size": size, "ending": ending, "name": name}
    upload = UploadRow(public_id=token, task_key=task.key, **about)
    c.add(upload)
    c.flush()
    return upload


def bytes_left(c: Session, person: PersonRow) -> int:
    """The number of bytes that a subject may still upload."""
    held = select(func.coalesce(func.sum(UploadRow.size), 0)).join(
        TaskRow, TaskRow.key == UploadRow.task_key
    )
    return MOST_OF_SUBJECT - int(c.scalar(held.where(TaskRow.person_key == person.key)) or 0)


def uploads_of(c: Session, task: TaskRow) -> list[UploadRow]:
    """All uploads of a task, also those removed from the answer."""
    mine = select(UploadRow).where(UploadRow.task_key == task.key).order_by(UploadRow.key)
    return list(c.scalars(mine))


def _copy_lacking(source: Path, target: Path) -> None:
    for path in sorted(source.glob("??/*")):
        place = target / path.parent.name / path.name
        if place.exists():
            continue
        for folder in (target, place.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        try:
            os.link(path, place)
        except OSError:
            # Another disk, or a file system without links.
            handle, partial = tempfile.mkstemp(prefix=".0-", suffix=".partial", dir=target)
            os.close(handle)
            shutil.copyfile(path, partial)
            Path(partial).replace(place)
        sync_folder(place.parent)


def _limit(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError
