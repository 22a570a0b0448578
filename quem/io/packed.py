"""The text of a file, decompressed, in UTF-8 or its own encoding."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Bytes behind a text, so that 8 can be read at any offset.
PADDING = b"\n" + b" " * 15
HEAD = 4096
_BLOCK = 1 << 20
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


def load(path: str) -> bytes:
    """The text of a file, and `PADDING`."""
    with _opened(path) as file:
        text = file.read()
    if text.startswith(_UTF_16):
        text = text.decode("utf-16", "replace").encode("utf-8", "replace")
    text = text.removeprefix(_BOM)
    if not text[:HEAD].strip() and not text.strip():
        raise empty(path)
    _check_text(path, text)
    return text + PADDING


def head(path: str) -> bytes:
    """The first bytes of a file that can be reread; empty for others and for UTF-16."""
    if not Path(path).is_file():
        return b""
    with _opened(path) as file:
        start = file.read(HEAD)
    return b"" if start.startswith(_UTF_16) else start.removeprefix(_BOM)


def blocks(path: str, text: bytes = b"") -> Iterator[tuple[int, bytes]]:
    """Whole lines of a file in blocks of about a megabyte: offset, and bytes with `PADDING`."""
    if text:
        yield from _lines(path, io.BytesIO(text[: -len(PADDING)]))
        return
    with _opened(path) as file:
        yield from _lines(path, file)


def _lines(path: str, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    begin, rest = 0, b""
    while read := file.read(_BLOCK):
        _check_text(path, read)
        if not begin and not rest:
            read = read.removeprefix(_BOM)
        end = read.rfind(b"\n") + 1
        if end:
            block = b"".join((rest, memoryview(read)[:end], PADDING[1:]))
            yield begin, block
            begin, rest = begin + len(rest) + end, read[end:]
        else:
            rest += read
    if rest:
        yield begin, rest + PADDING


def _check_text(path: str, text: bytes) -> None:
    if b"\x00" in text:
        raise QuemError(Mistake(path, message="holds binary data; it must be a text file"))


def empty(path: str) -> QuemError:
    """The error on an empty source."""
    return QuemError(Mistake(path, message="is empty"))


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """Open a file and decompress it by its first bytes."""
    packed = False
    try:
        with Path(path).open("rb") as file:
            # A pipe cannot be read twice.
            magic = file.peek(8)
            unpack = next((how for mark, how in _PACKED.items() if magic.startswith(mark)), None)
            packed = unpack is not None
            yield unpack(file) if unpack else file
    except FileNotFoundError:
        raise QuemError(Mistake(path, message="file not found")) from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        why = f"is compressed, and damaged: {error}" if packed else getattr(error, "strerror", "")
        raise QuemError(Mistake(path, message=why or str(error))) from None
