"""Targets that are finished, kept in a file, so that an interrupted evaluation continues.

A file of lines: first a fingerprint of all that the dialogues depend on, then the dialogues of
some targets a line. A line is added in one piece and put to disk before the next; one that was cut
off, or that does not hold what its checksum says, is not there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.simulation import Dialogues
from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import IO, Any

__all__ = ["FINISHED", "Finished", "fingerprint"]

# What the file is called in the folder of a report.
FINISHED = "finished-targets.jsonl"
_FORMAT = 1


def fingerprint(*parts: object) -> str:
    """Make a short text that changes with what is given.

    Parameters
    ----------
    *parts : object
        Arrays, bytes, or what JSON can hold.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]


class Finished:
    """The file of finished targets.

    Parameters
    ----------
    path : Path
    made_of : str
        See `fingerprint`. A file that was made of something else is begun anew.
    """

    def __init__(self, path: Path, made_of: str) -> None:
        self.path, self._made_of = path, made_of
        self._file: IO[bytes] | None = None

    def read(self) -> list[Dialogues]:
        """Give what is there, without targets that are there twice."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._refusal(error) from None
        if lines[0] != self._header():
            return []
        found: list[Dialogues] = []
        seen: set[int] = set()
        for line in lines[1:]:
            told = _unpacked(line)
            if told is not None and not seen & set(told.targets.tolist()):
                seen |= set(told.targets.tolist())
                found.append(told)
        return found

    def add(self, told: Dialogues) -> None:
        """Add a line and put it to disk.

        Parameters
        ----------
        told : Dialogues

        Raises
        ------
        QuemError
            The file cannot be written.
        """
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(_packed(told) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._refusal(error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> IO[bytes]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        ours = False
        if self.path.exists():
            with self.path.open("rb") as old:
                ours = old.readline().rstrip(b"\n") == self._header()
        if not ours:
            new = self.path.open("wb")
            new.write(self._header() + b"\n")
            return new
        file = self.path.open("r+b")
        # After a line that was cut off a new one begins.
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
        file.seek(0, os.SEEK_END)
        return file

    def _header(self) -> bytes:
        return json.dumps({"quem": "finished targets", "of": self._made_of, "v": _FORMAT}).encode()

    def _refusal(self, error: OSError) -> QuemError:
        reason = error.strerror or str(error)
        message = f"finished targets cannot be kept here: {reason}; name another folder: --out"
        return QuemError([Mistake(str(self.path), message=message)])


def _packed(told: Dialogues) -> bytes:
    raw, shapes = [], {}
    for name in Dialogues.__dataclass_fields__:
        values: np.ndarray[Any, Any] = getattr(told, name)
        shapes[name] = [values.dtype.str, list(values.shape)]
        raw.append(np.ascontiguousarray(values).tobytes())
    data = zlib.compress(b"".join(raw), 1)
    entry = {"sum": zlib.crc32(data), "is": shapes, "data": base64.b64encode(data).decode()}
    return json.dumps(entry).encode()


def _unpacked(line: bytes) -> Dialogues | None:
    try:
        entry = json.loads(line)
        data = base64.b64decode(entry["data"])
        if zlib.crc32(data) != entry["sum"]:
            return None
        raw = zlib.decompress(data)
        start, columns = 0, {}
        for name, (kind, shape) in entry["is"].items():
            dtype = np.dtype(kind)
            size = int(np.prod(shape)) * dtype.itemsize
            columns[name] = np.frombuffer(raw[start : start + size], dtype).reshape(shape)
            start += size
        return Dialogues(**columns)
    except (ValueError, KeyError, TypeError, zlib.error):
        return None
