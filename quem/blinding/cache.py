"""Caches of converted files, in memory and in a folder that may be deleted at any time."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import OrderedDict
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

_MOST_BYTES = 1_000_000_000
_OWNER_ONLY = 0o700
_trimming = Lock()

K = TypeVar("K")
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """A mapping of limited size that evicts the least recently used values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """Number of values."""
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        with self._lock:
            entry = self._values.get(key)
            if entry is None:
                return None
            self._values.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value, unless it alone is too large."""
        if size > self._most:
            return
        with self._lock:
            old = self._values.pop(key, None)
            self._size += size - (old[1] if old else 0)
            self._values[key] = (value, size)
            while self._size > self._most:
                _, (_, freed) = self._values.popitem(last=False)
                self._size -= freed


def cache_folder(name: str) -> Path:
    """A folder in the user's cache folder that only its owner can open."""
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
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir())
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  Path.home() fails without a home
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    partial.replace(path)


def trim(folder: Path, keep: str, most: int = _MOST_BYTES) -> None:
    """Delete the least recently used entries of a cache until the rest fits."""
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
