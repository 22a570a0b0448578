"""Notices when an SQLite file is no longer where it was opened."""

from __future__ import annotations

from pathlib import Path

from quem.store.turns import UnavailableError

__all__ = ["LostError", "Watch"]


class LostError(UnavailableError):
    """What would be written goes to a file that nobody will find."""

    def __init__(self, reason: str) -> None:
        self.reason = reason  # for whoever runs the server: it names the file
        super().__init__(
            "The database is not in its place, so nothing can be saved now. Keep this page open, "
            "and tell the organizer."
        )


class Watch:
    """Device and inode of an open database and its log.

    Parameters
    ----------
    file : Path
        Of a database that a connection has read from, and that stays open: the log lasts as
        long as the first and the last connection.
    """

    def __init__(self, file: Path) -> None:
        file = file.absolute()
        # The log is beside the file itself, also where a link leads to that.
        files = (file, Path(f"{file.resolve()}-wal"))
        self._held = {path: inode for path in files if (inode := _inode(path))}

    @property
    def lost(self) -> str:
        """What is wrong now; empty where both are in their places."""
        for path, held in self._held.items():
            found = _inode(path)
            if found == held:
                continue
            if path.name.endswith("-wal"):
                return f"{path} was renamed or deleted while in use; stop the server, and start it"
            what = "another file is in its place" if found else "it was renamed or deleted"
            return f"{path}: {what}; put the file back that was there when the server started"
        return ""

    def refuse(self) -> None:
        """Refuse to go on with files that are not in their places.

        Raises
        ------
        LostError
        """
        if reason := self.lost:
            raise LostError(reason)


def _inode(path: Path) -> tuple[int, int] | None:
    """Give device and inode of a file, or None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
