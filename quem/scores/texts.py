"""The text of a file: unpacked, and in UTF-8 or bytes of its own."""

from __future__ import annotations

import os
from pathlib import Path

from quem.errors import Mistake, QuemError

# Bytes behind a text, so that 8 can be read from any place in it.
PADDING = b"\n" + b" " * 15
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


def load(path: str) -> bytearray | bytes:
    """Read a file, and end its text with `PADDING`.

    Raises
    ------
    QuemError
        It cannot be read, is empty, or is no text.
    """
    text = _read(path)
    for magic, module in _PACKED.items():
        if text.startswith(magic):
            text = bytearray(_unpacked(path, bytes(text[: -len(PADDING)]), module)) + PADDING
            break
    if text.startswith(_UTF_16):
        plain = bytes(text[: -len(PADDING)]).decode("utf-16", "replace")
        text = bytearray(plain.encode("utf-8", "replace")) + PADDING
    if text.startswith(_BOM):
        del text[: len(_BOM)]
    if not text[:4096].strip() and not text.strip():
        raise QuemError(Mistake(path, message="is empty"))
    if b"\x00" in text:
        raise QuemError(Mistake(path, message="holds binary data; it must be a text file"))
    return text


def _read(path: str) -> bytearray:
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            text = bytearray(size + len(PADDING))
            read = file.readinto(memoryview(text)[:size])
            # Of a pipe the size is not known.
            text[read:] = file.read() + PADDING
    except FileNotFoundError:
        raise QuemError(Mistake(path, message="file not found")) from None
    except OSError as error:
        raise QuemError(Mistake(path, message=str(error.strerror or error))) from None
    return text


def _unpacked(path: str, packed: bytes, module: str) -> bytes:
    import zlib
    from importlib import import_module
    from lzma import LZMAError

    try:
        unpacked: bytes = import_module(module).decompress(packed)
    except (OSError, EOFError, ValueError, zlib.error, LZMAError) as error:
        message = f"is compressed, and damaged: {error}"
        raise QuemError(Mistake(path, message=message)) from None
    return unpacked
