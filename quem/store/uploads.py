"""Uploaded files: whose they are, and their bytes, named by their hash, beside the database."""

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

from quem.store.copying import sync_folder
from quem.store.models import TaskRow, UploadRow
from quem.store.solving import open_task
from quem.store.work import SubmittedError, require_running

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from quem.store.models import PersonRow

MOST_OF_SUBJECT = 200_000_000


class TooLargeError(Exception):
    """A file has more bytes than there may be."""


class TooMuchError(Exception):
    """Somebody has more bytes in all than there may be."""


class UploadFolder:
    """The files that subjects of a study uploaded."""

    def __init__(self, study: Path) -> None:
        self.folder = study.with_suffix(".uploads")

    def path(self, sha256: str, ending: str) -> Path:
        """Say where a file is."""
        return self.folder / sha256[:2] / f"{sha256}{ending}"

    def receive(
        self, pieces: Iterable[bytes], most: int, owner: int, left: int
    ) -> tuple[Path, str, int]:
        """Write what comes in to a file without a name yet.

        All that comes from its owner at once may have so many bytes as they have left.
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
        """Give a received file its name; it is on the disk then."""
        path = self.path(sha256, ending)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        received.replace(path)
        sync_folder(path.parent)
        sync_folder(self.folder)
        return path

    def remove(self, files: Iterable[tuple[str, str]]) -> None:
        """Delete files, each given by SHA-256 and ending."""
        for sha256, ending in files:
            self.path(sha256, ending).unlink(missing_ok=True)

    def clear_partial(self, before: float) -> None:
        """Delete what a server that was killed had not yet received or checked in full."""
        for path in self.folder.rglob(".*.partial*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()

    def copy_to(self, target: Path) -> None:
        """Have all files in another folder too.

        A name says what is in a file, so what is there already is never copied again.
        """
        _copy_lacking(self.folder, target)

    def take_back(self, source: Path) -> None:
        """Have all files of a folder that `copy_to` made."""
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
    """Note a file whose bytes are on the disk; None where the subject has too many bytes."""
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
    """How many bytes a subject may upload yet."""
    held = select(func.coalesce(func.sum(UploadRow.size), 0)).join(
        TaskRow, TaskRow.key == UploadRow.task_key
    )
    return MOST_OF_SUBJECT - int(c.scalar(held.where(TaskRow.person_key == person.key)) or 0)


def uploads_of(c: Session, task: TaskRow) -> list[UploadRow]:
    """All uploads of a task, also those that are no longer part of the answer."""
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
            # Another disk, or one without links.
            handle, partial = tempfile.mkstemp(prefix=".0-", suffix=".partial", dir=target)
            os.close(handle)
            shutil.copyfile(path, partial)
            Path(partial).replace(place)
        sync_folder(place.parent)


def _limit(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError
