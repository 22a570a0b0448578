"""Zip archives of other programs, read within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, ClassVar, Self

from quem.errors import FileError, readable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ZSTANDARD = 93
_OLDEST = (1980, 1, 1, 0, 0, 0)
_LOCAL_HEADER = 30
_CHUNK = 1 << 16


class Package:
    """A zip archive whose parts are deflated, stored, or compressed by Zstandard.

    Python's ``zipfile`` before 3.14 lacks Zstandard, which newer programs use.
    """

    broken: ClassVar = "is not a zip archive, or is a damaged one; save it again"

    def __init__(
        self,
        path: Path,
        content: bytes | None = None,
        *,
        most_parts: int = 5_000,
        most_bytes: int = 200_000_000,
    ) -> None:
        self.path = path
        self._left = most_bytes
        self._limits = f"{most_bytes // 1_000_000:,} MB, or to more than {most_parts:,} parts"
        with readable(path):
            self._stream = path.open("rb") if content is None else io.BytesIO(content)
        try:
            self._zip = zipfile.ZipFile(self._stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            self._stream.close()
            raise FileError(path, self.broken) from None
        entries = self._zip.infolist()
        if len(entries) > most_parts or sum(one.file_size for one in entries) > most_bytes:
            self._stream.close()
            raise self._too_large()
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            # Of two parts with one name the first counts.
            self._entries.setdefault(self._key(entry.filename), entry)

    @staticmethod
    def _key(name: str) -> str:
        return name

    def __enter__(self) -> Self:
        """Keep it open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._zip.close()
        self._stream.close()

    def __contains__(self, name: str) -> bool:
        """Whether it has a part."""
        return self._key(name) in self._entries

    @property
    def names(self) -> list[str]:
        """The names of all parts in order, without folders."""
        return [one.filename for one in self._entries.values() if not one.is_dir()]

    @property
    def all_names(self) -> list[str]:
        """The names of all parts, duplicates included."""
        return [one.filename for one in self._zip.infolist() if not one.is_dir()]

    def read(self, name: str) -> bytes:
        """The content of a part."""
        entry = self._entries.get(self._key(name))
        if entry is None:
            raise FileError(self.path, self.broken)
        try:
            if entry.compress_type == _ZSTANDARD:
                return self._zstandard(entry)
            with self._zip.open(entry) as part:
                return self._limited(part)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError):
            raise FileError(self.path, self.broken) from None

    def _zstandard(self, entry: zipfile.ZipInfo) -> bytes:
        try:
            import zstandard
        except ImportError:
            raise FileError(
                self.path, "is compressed by Zstandard; pip install 'quem[import]'"
            ) from None
        self._stream.seek(entry.header_offset)
        header = self._stream.read(_LOCAL_HEADER)
        lengths = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        self._stream.seek(entry.header_offset + _LOCAL_HEADER + sum(lengths))
        packed = self._stream.read(entry.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(
                packed, read_across_frames=True
            ) as part:
                return self._limited(part)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile from error

    def _limited(self, part: IO[bytes]) -> bytes:
        chunks = []
        while chunk := part.read(_CHUNK):
            self._left -= len(chunk)
            if self._left < 0:
                raise self._too_large()
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self) -> FileError:
        return FileError(self.path, f"unpacks to more than {self._limits}; make it simpler")


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Write a canonical zip archive: the same files yield the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _OLDEST)
            # The same on every system.
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, files[name])
    return packed.getvalue()
