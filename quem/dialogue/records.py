"""What happened in dialogues, and the file that keeps it for the next run."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import IO, Any

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Dialogues:
    """What happened in the dialogues of some targets."""

    targets: NDArray[np.int64]  # of shape (t,)
    # Of shape (t, strategies, users, dialogues): after how many answers a case was selected; -1 if
    # none was.
    stop: NDArray[np.int16]
    right: NDArray[np.bool_]  # whether that case had the solution of the target
    # Of shape (t, strategies, dialogues): whether the top candidate after the last answer had.
    top_right: NDArray[np.bool_]
    # Of shape (t, strategies, m + 1): rank quality after 0 to m answers, averaged over the
    # dialogues.
    quality: NDArray[np.float64]
    contracted: NDArray[np.float64]  # share of the dialogues whose list had contracted to nothing
    # Of shape (t, strategies, measures, m + 1): means over the dialogues of the first
    # `quem.dialogue.further.MEASURES`.
    further: NDArray[np.float64]
    # Of shape (t, strategies, dialogues): after how many answers the target was at distance 0 from
    # itself for the first time; -1 if never, or if it is in no list.
    identical: NDArray[np.int16]

    def __len__(self) -> int:
        """How many targets there are."""
        return len(self.targets)

    def with_strategies(self, places: Sequence[int], other: Dialogues) -> Dialogues:
        """Put what happened with some strategies in the place of what is here."""
        columns = []
        for name in self.__dataclass_fields__:
            values = getattr(self, name)
            if name != "targets":
                values = values.copy()
                values[:, list(places)] = getattr(other, name)
            columns.append(values)
        return Dialogues(*columns)

    def at(self, order: NDArray[np.intp]) -> Dialogues:
        """Give some targets, by their places."""
        return Dialogues(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


def join(parts: Sequence[Dialogues]) -> Dialogues:
    """Put the dialogues of several sets of targets together."""
    names = Dialogues.__dataclass_fields__
    return Dialogues(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


# What the file is called in the folder of a report.
FINISHED = "finished-targets.jsonl"
_FORMAT = 2


def fingerprint(*parts: object) -> str:
    """Make a short text that changes with what is given."""
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
    """The file of finished targets."""

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
        parts: list[Dialogues] = []
        seen: set[int] = set()
        for line in lines[1:]:
            dialogues = _unpacked(line)
            if dialogues is not None and not seen & set(dialogues.targets.tolist()):
                seen |= set(dialogues.targets.tolist())
                parts.append(dialogues)
        return parts

    def add(self, dialogues: Dialogues) -> None:
        """Add a line and put it to disk."""
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(_packed(dialogues) + b"\n")
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


def _packed(dialogues: Dialogues) -> bytes:
    raw, shapes = [], {}
    for name in Dialogues.__dataclass_fields__:
        values: np.ndarray[Any, Any] = getattr(dialogues, name)
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
