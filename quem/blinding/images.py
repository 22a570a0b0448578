"""Images without metadata.

Images are re-encoded from their visible pixels.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from quem.blinding.cache import SizedCache, cache_folder, trim, write_whole
from quem.blinding.drawings import drawing_version, rasterized
from quem.blinding.workers import RefusedError, parser
from quem.errors import FileError, readable
from quem.solutions.files import DRAWING, FORMATS, MOST_PIXELS
from quem.solutions.model import signature

if TYPE_CHECKING:
    import re
    from pathlib import Path

    from PIL import Image

_MOST_KEPT = 24_000_000
_LONGEST_SIDE = 4096
_MOST_FRAMES = 500
_JPEG_QUALITY = 92
_WEBP_QUALITY = 90
_FRAME_MILLISECONDS = 100
_OPAQUE = 255
_BROKEN = "is a broken image, or none that can be shown; save it again as PNG"
_FORMS = tuple(form.lower() for form in FORMATS)
# Smaller files are cleaned fast enough.
_WORTH_KEEPING = 200_000
# Part of the cache's key: a change of the cleaning invalidates cached images.
_RECIPE = 1
_cache: SizedCache[object, tuple[bytes, str]] = SizedCache(_MOST_KEPT)
# One at a time: decoding a large image takes hundreds of megabytes.
_one = Lock()


def clean_file(path: Path, patterns: tuple[re.Pattern[str], ...] = ()) -> tuple[bytes, str]:
    """An image without its metadata, from the cache where possible."""
    with readable(path):
        key = (path, signature(path), patterns)
    if known := _cache.get(key):
        return known
    with _one:
        if known := _cache.get(key):
            return known
        cleaned = _clean(path, patterns)
    _cache.put(key, cleaned, len(cleaned[0]))
    return cleaned


def _clean(path: Path, patterns: tuple[re.Pattern[str], ...]) -> tuple[bytes, str]:
    with readable(path):
        raw = path.read_bytes()
    is_drawing = path.suffix.casefold() == DRAWING
    recipe = f"{_version()}-{drawing_version()}" if is_drawing else _version()
    known = hashlib.sha256(raw)
    if is_drawing and patterns:
        known.update("\n".join(sorted(p.pattern for p in patterns)).encode())
    entry = cache_folder("images") / f"{known.hexdigest()}-{recipe}"
    for form in _FORMS:
        with suppress(OSError):
            content = (entry / form).read_bytes()
            os.utime(entry)
            return content, f"image/{form}"
    try:
        content, mimetype = clean_image(rasterized(path, patterns) if is_drawing else raw)
    except ValueError as error:
        raise FileError(path, str(error)) from None
    if len(raw) >= _WORTH_KEEPING or is_drawing:
        # The image is shown even if the disk is full.
        with suppress(OSError):
            entry.mkdir(mode=0o700, exist_ok=True)
            write_whole(entry / mimetype.rpartition("/")[2], content)
            trim(entry.parent, entry.name)
    return content, mimetype


@cache
def _version() -> str:
    return f"{_RECIPE}-{version('pillow')}"


def clean_image(raw: bytes) -> tuple[bytes, str]:
    """Re-encode an image from its pixels alone, in a confined process."""
    answer, content = parser.parsed("image", raw)
    if answer["form"] not in _FORMS:
        raise RefusedError(_BROKEN)
    return content, f"image/{answer['form']}"


def encode_image(raw: bytes) -> tuple[bytes, str]:
    """Re-encode an image; returns its format, too."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(raw), formats=FORMATS) as image:
                return _encoded(image)
    except _TooLargeError as error:
        raise RefusedError(str(error)) from None
    except Image.DecompressionBombError:
        raise RefusedError("has too many pixels to be shown; make it smaller") from None
    except Exception:  # noqa: BLE001  Pillow raises whatever its decoders stumble over
        raise RefusedError(_BROKEN) from None


class _TooLargeError(Exception):
    """An image whose pixels exceed the memory limit."""


def _encoded(image: Image.Image) -> tuple[bytes, str]:
    form = "JPEG" if image.format == "MPO" else str(image.format)
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise _TooLargeError(
            f"has {width} x {height} pixels, too many to be shown; make it smaller"
        )
    n_frames = getattr(image, "n_frames", 1) if form != "JPEG" else 1
    if n_frames > _MOST_FRAMES or n_frames * width * height > MOST_PIXELS:
        raise _TooLargeError("is too long an animation to be shown; make it shorter or smaller")
    out = io.BytesIO()
    if n_frames > 1:
        _save_animation(image, form, out)
    else:
        _save_still(image, form, out)
    return out.getvalue(), form.lower()


def _save_still(image: Image.Image, form: str, out: io.BytesIO) -> None:
    pixels = _upright(image, form)
    if form == "JPEG":
        pixels.save(out, form, quality=_JPEG_QUALITY)
    elif form == "WEBP":
        pixels.save(out, form, quality=_WEBP_QUALITY)
    else:
        pixels.save(out, form)


def _save_animation(image: Image.Image, form: str, out: io.BytesIO) -> None:
    from PIL import ImageSequence

    loop = image.info.get("loop")
    # The fallback picture of an animation is none of its frames.
    beside = bool(image.info.get("default_image"))
    frames, durations = [], []
    for frame in islice(ImageSequence.Iterator(image), int(beside), None):
        frames.append(_bare(_without_hidden_colors(frame.convert("RGBA"))))
        # Some formats report it only after the frame is decoded.
        durations.append(frame.info.get("duration") or _FRAME_MILLISECONDS)
    options: dict[str, object] = {"save_all": True, "append_images": frames[1:]}
    options["duration"] = [round(float(duration)) for duration in durations]
    # A GIF without the entry runs once, the other formats forever.
    if loop is not None or form != "GIF":
        options["loop"] = int(loop or 0)
    if form == "GIF":
        options["disposal"] = 2
    frames[0].save(out, form, **options)


def _upright(image: Image.Image, form: str) -> Image.Image:
    """The pixels, rotated as the camera noted, in sRGB, within the size limit."""
    from PIL import ImageOps

    image.load()
    profile = image.info.get("icc_profile")
    pixels = ImageOps.exif_transpose(image)
    if profile:
        pixels = _in_srgb(pixels, profile)
    if pixels.mode in ("CMYK", "YCCK", "LAB", "YCbCr", "HSV"):
        pixels = pixels.convert("RGB")
    if form == "JPEG" and pixels.mode not in ("L", "RGB"):
        pixels = pixels.convert("RGB")
    if max(pixels.size) > _LONGEST_SIDE:
        if pixels.mode in ("P", "PA", "1"):
            pixels = pixels.convert("RGBA" if "transparency" in pixels.info else "RGB")
        pixels.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    return _bare(_without_hidden_colors(pixels))


def _without_hidden_colors(image: Image.Image) -> Image.Image:
    """The image without invisible colors: unused ones, and those of transparent pixels."""
    from PIL import Image

    if image.mode == "PA":
        image = image.convert("RGBA")
    if image.mode == "P":
        return _with_used_palette(image)
    if "transparency" in image.info and image.mode in ("1", "L", "RGB"):
        # Any single transparent color.
        image = image.convert("RGBA" if image.mode == "RGB" else "LA")
    if image.mode not in ("LA", "RGBA"):
        return image
    seen = image.getchannel("A").point(lambda alpha: 255 if alpha else 0)
    return Image.composite(image, Image.new(image.mode, image.size), seen)


def _with_used_palette(image: Image.Image) -> Image.Image:
    """The image with a palette of its used colors, in an order without information."""
    from PIL import Image

    palette = image.getpalette("RGB") or []
    clear = image.info.get("transparency")
    alphas = dict(enumerate(clear)) if isinstance(clear, bytes) else {clear: 0}
    colors = {}
    for index, count in enumerate(image.histogram()):
        if count:
            alpha = alphas.get(index, 255)
            color = tuple(palette[3 * index : 3 * index + 3]) if alpha else ()
            colors[index] = (alpha, *(color or (0, 0, 0)))
    order = sorted(set(colors.values()))
    table = [order.index(colors[index]) if index in colors else 0 for index in range(256)]
    indices = Image.frombytes("L", image.size, image.tobytes()).point(table)
    remade = Image.frombytes("P", image.size, indices.tobytes())
    remade.putpalette([part for _, *color in order for part in color])
    if order and order[0][0] < _OPAQUE:
        remade.info["transparency"] = bytes(alpha for alpha, *_ in order)
    return remade


def _in_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """The image converted to sRGB; unchanged if its profile is broken."""
    from PIL import ImageCms

    if image.mode not in ("RGB", "RGBA", "CMYK"):
        return image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        mode = "RGB" if image.mode == "CMYK" else image.mode
        turned = ImageCms.profileToProfile(image, source, target, outputMode=mode)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    return turned or image


def _bare(image: Image.Image) -> Image.Image:
    """A copy of pixels, palette, and transparency alone."""
    pixels = image.copy()
    pixels.info = {name: pixels.info[name] for name in ("transparency",) if name in pixels.info}
    return pixels
