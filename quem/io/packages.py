"""Zip archives of other programs, read within limits."""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Self

from quem.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Package"]

_MOST_PARTS = 5_000
_MOST_BYTES = 200_000_000
_ZSTANDARD = 93
_LOCAL_HEADER = 30
_CHUNK = 1 << 16


class Package:
    """A zip archive whose parts are deflated, stored, or compressed by Zstandard.

    ``zipfile`` of Python before 3.14 knows no Zstandard, in which newer programs write.

    Parameters
    ----------
    most_parts, most_bytes : int
        How many parts there may be, and how many bytes all of them unpacked; both by the
        directory and while reading, as the directory may lie.

    Raises
    ------
    FileError
        It is not a zip archive, has too many parts, or is too large.
    """

    def __init__(
        self, path: Path, *, most_parts: int = _MOST_PARTS, most_bytes: int = _MOST_BYTES
    ) -> None:
        self._path = path
        self._left = most_bytes
        self._limits = f"{most_bytes // 1_000_000:,} MB or {most_parts:,} parts"
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError):
            raise FileError(
                path, "is not a zip archive, or is a damaged one; save it again"
            ) from None
        except OSError as error:
            raise FileError(path, f"cannot be read: {error.strerror or error}") from None
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._zip.infolist():
            # Of two parts of one name the first counts.
            self._entries.setdefault(entry.filename, entry)
        size = sum(entry.file_size for entry in self._zip.infolist())
        if len(self._zip.infolist()) > most_parts or size > most_bytes:
            self._zip.close()
            raise self._too_large()

    def __enter__(self) -> Self:
        """Keep it open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._zip.close()

    def names(self) -> list[str]:
        """Name the parts, in their order."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """Give the content of a part.

        Raises
        ------
        KeyError
            There is no such part.
        FileError
            It is damaged, encrypted, or larger than all parts may be.
        """
        entry = self._entries[name]
        try:
            if entry.compress_type == _ZSTANDARD:
                content = self._zstandard(entry)
            else:
                with self._zip.open(entry) as part:
                    content = self._limited(part)
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error, EOFError):
            message = f"has a part that cannot be read ({name[:60]}); save it again"
            raise FileError(self._path, message) from None
        return content

    def _zstandard(self, entry: zipfile.ZipInfo) -> bytes:
        try:
            import zstandard
        except ImportError:
            message = "is compressed by Zstandard; pip install 'quem[import]'"
            raise FileError(self._path, message) from None
        with self._path.open("rb") as file:
            file.seek(entry.header_offset)
            header = file.read(_LOCAL_HEADER)
            lengths = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
            file.seek(entry.header_offset + _LOCAL_HEADER + sum(lengths))
            packed = file.read(entry.compress_size)
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
        return FileError(self._path, f"unpacks to more than {self._limits}; make it smaller")
