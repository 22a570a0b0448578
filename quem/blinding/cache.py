"""A folder for what is slow to make of files, which may be deleted at any time."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

__all__ = ["cache_folder", "trim", "write_whole"]

_MOST_BYTES = 1_000_000_000
_OWNER_ONLY = 0o700
_trimming = Lock()


def cache_folder(name: str) -> Path:
    """Give a folder that only its owner can open, in the user's cache folder.

    Parameters
    ----------
    name : str
        Of the folder.

    Returns
    -------
    Path
        Where the cache folder cannot be written, one that lasts until the system clears it.
        One that was deleted is made again.
    """
    folder = _made_folder(name)
    if not folder.is_dir():
        _made_folder.cache_clear()
        folder = _made_folder(name)
    return folder


@cache
def _made_folder(name: str) -> Path:
    folder = _user_cache() / "quem" / name
    try:
        folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            raise PermissionError
        folder.chmod(_OWNER_ONLY)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix=f"quem-{name}-"))


def _user_cache() -> Path:
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir())
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  Path.home() fails without a home
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that others see whole or not at all."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    partial.replace(path)


def trim(folder: Path, keep: str, most: int = _MOST_BYTES) -> None:
    """Delete the entries of a cache that were longest not used, until the rest fits.

    Parameters
    ----------
    folder : Path
        Holds a folder for each entry, whose time of change says when it was last used.
    keep : str
        The name of an entry that stays.
    most : int
        Bytes of all entries.
    """
    if not _trimming.acquire(blocking=False):
        return
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.stat().st_mtime, reverse=True)
        total = 0
        for entry in entries:
            total += sum(file.stat().st_size for file in entry.iterdir())
            if total > most and entry.name != keep:
                shutil.rmtree(entry, ignore_errors=True)
    except OSError:
        # Another process deletes as well.
        return
    finally:
        _trimming.release()
