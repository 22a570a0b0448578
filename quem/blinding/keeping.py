"""What was made of files, kept as long as there is room."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Kept"]

K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """A mapping that forgets what was longest not used when it gets too large.

    Parameters
    ----------
    most : int
        How large all values may be together, in whatever `put` is told.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """How many values are kept."""
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Give the value of a key, or None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

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
