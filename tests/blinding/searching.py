"""Contents of files and responses in all encodings of text."""

from __future__ import annotations

import base64
import io
import re
import warnings
import zipfile
import zlib
from typing import TYPE_CHECKING

import pikepdf
from PIL import Image, UnidentifiedImageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}){7,}")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}")
# Larger pictures are drawn pages and photographs.
_MOST_PIXELS = 10_000


def everything_in(raw: bytes) -> bytes:
    """All that some bytes hold: as they are, unpacked, as colors, decoded, and without NULs.

    Texts in UTF-16, hexadecimal digits and base64 are found by their letters.
    """
    parts = [raw, *_streams(raw), *_chunks(raw), *_colors(raw), *_members(raw)]
    parts += [content for part in parts for content in _inflated(part)]
    both = b"\n".join(parts)
    decoded = [bytes.fromhex(run.decode()) for run in _HEX.findall(both)]
    for run in _BASE64.findall(raw):
        for start in range(4):
            whole = run[start : start + (len(run) - start) // 4 * 4]
            decoded.append(base64.b64decode(whole, altchars=b"-_"))
    both = b"\n".join([both, *decoded])
    return both + b"\n" + both.replace(b"\0", b"")


def _streams(raw: bytes) -> list[bytes]:
    if b"%PDF-" not in raw[:1024]:
        return []
    plain = io.BytesIO()
    with pikepdf.open(io.BytesIO(raw)) as pdf:
        streams = [thing for thing in pdf.objects if isinstance(thing, pikepdf.Stream)]
        parts = [stream.read_raw_bytes() for stream in streams]
        level = pikepdf.StreamDecodeLevel.generalized
        pdf.save(plain, qdf=True, stream_decode_level=level, fix_metadata_version=False)
    return [*parts, plain.getvalue()]


def _members(raw: bytes) -> Iterator[bytes]:
    if raw.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(raw)) as package:
            for info in package.infolist():
                yield info.filename.encode()
                yield everything_in(package.read(info))


def _chunks(raw: bytes) -> Iterator[bytes]:
    at = 8
    while raw.startswith(b"\x89PNG") and at < len(raw):
        size = int.from_bytes(raw[at : at + 4], "big")
        yield raw[at + 8 : at + 8 + size]
        at += size + 12


def _colors(raw: bytes) -> Iterator[bytes]:
    """Each frame of a small image as bytes, also without transparency; palettes are in the raw."""
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(raw)) as image:
            warnings.simplefilter("ignore")
            if image.width * image.height > _MOST_PIXELS:
                return
            for index in range(getattr(image, "n_frames", 1)):
                image.seek(index)
                yield image.tobytes()
                yield image.convert("RGBA").convert("RGB").tobytes()
                yield image.convert("LA").convert("L").tobytes()
    except (UnidentifiedImageError, OSError):
        return


def _inflated(content: bytes) -> Iterator[bytes]:
    """Inflated streams near the beginning."""
    for start in [i for i in range(min(len(content), 100)) if content[i] == 0x78]:
        try:
            yield zlib.decompressobj().decompress(content[start:])
        except zlib.error:
            continue
