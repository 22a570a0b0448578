"""Images with names planted wherever cameras, programs and cheats put them.

Each function takes `name`, which gives the name to plant for a kind of plant.
"""

from __future__ import annotations

import io
import itertools
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageCms, PngImagePlugin

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Name: TypeAlias = Callable[[str], str]

SECRET = "Zebulon-Quark"  # noqa: S105  a name that nothing else holds
_ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
_ICC_NAME = "sRGB built-in"
_TAGS = {"description": 0x010E, "make": 0x010F, "model": 0x0110, "software": 0x0131}
_TAGS |= {"artist": 0x013B, "computer": 0x013C, "copyright": 0x8298}


def secret(_kind: str) -> str:
    return SECRET


def picture(mode: str = "RGB", size: tuple[int, int] = (8, 4)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    image.paste((200, 30, 30), (0, 0, size[0] // 2, size[1]))
    return image.convert(mode)


def _exif(name: Name, of: str) -> bytes:
    """EXIF that names somebody wherever a camera or an editor would, and a turn."""
    data = Image.Exif()
    for what, tag in _TAGS.items():
        data[tag] = name(f"{of} EXIF {what}")
    data[0x9C9D] = name(f"{of} EXIF author").encode("utf-16-le")
    data[0x0112] = 6
    comment = name(f"{of} EXIF comment").encode()
    data.get_ifd(0x8769)[0x9286] = b"ASCII\0\0\0" + comment
    data.get_ifd(0x8825)[0x001D] = name(f"{of} EXIF place")
    return data.tobytes()


def _xmp(name: Name, of: str) -> bytes:
    word = name(f"{of} XMP")
    return f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><creator>{word}</creator></x:xmpmeta>'.encode()


def _icc(name: Name, of: str) -> bytes:
    word = name(f"{of} color profile").ljust(len(_ICC_NAME))
    return _ICC.replace(_ICC_NAME.encode("utf-16-be"), word.encode("utf-16-be"))


def _segment(kind: int, content: bytes) -> bytes:
    return bytes([0xFF, kind]) + (len(content) + 2).to_bytes(2, "big") + content


def _saved(image: Image.Image, form: str, end: str = "", **options: Any) -> bytes:  # noqa: ANN401  of Pillow
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue() + end.encode()


def _film(form: str, first: Image.Image, end: str = "", **options: Any) -> bytes:  # noqa: ANN401
    """An animation, of a picture and the same turned, or beside which a picture is."""
    frames = [picture(first.mode), picture(first.mode).transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    others = frames if "default_image" in options else frames[1:]
    more = {"save_all": True, "append_images": others, "duration": 70, **options}
    return _saved(first, form, end, **more)


def _jpeg(name: Name = secret) -> bytes:
    more: dict[str, Any] = {"comment": name("JPEG comment"), "xmp": _xmp(name, "JPEG")}
    more |= {"exif": _exif(name, "JPEG"), "icc_profile": _icc(name, "JPEG")}
    raw = _saved(picture(size=(16, 8)), "JPEG", name("JPEG end"), **more)
    # Photoshop's block, in which IPTC names the writer of a caption.
    word = name("JPEG IPTC").encode()
    text = b"\x1c\x02\x50" + len(word).to_bytes(2, "big") + word
    block = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + len(text).to_bytes(4, "big") + text
    segments = _segment(0xED, block) + _segment(0xEC, name("JPEG segment").encode())
    return raw[:2] + segments + raw[2:]


def _png(name: Name = secret) -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", name("PNG text"))
    info.add_text("Comment", name("PNG compressed text"), zip=True)
    info.add_itxt("Software", name("PNG international text"), zip=True)
    info.add_itxt("XML:com.adobe.xmp", _xmp(name, "PNG").decode())
    info.add(b"prVt", name("PNG private chunk").encode(), after_idat=True)
    more = {"exif": _exif(name, "PNG"), "icc_profile": _icc(name, "PNG")}
    return _saved(picture(), "PNG", name("PNG end"), pnginfo=info, **more)


def _gif(name: Name = secret) -> bytes:
    raw = _film("GIF", picture("P"), comment=name("GIF comment").encode(), loop=0)
    word = name("GIF extension").encode()
    extension = b"\x21\xff\x0bXMP DataXMP" + bytes([len(word)]) + word + b"\0"
    return raw[:-1] + extension + raw[-1:] + name("GIF end").encode()


def _webp(name: Name = secret) -> bytes:
    more: dict[str, Any] = {"exif": _exif(name, "WebP"), "xmp": _xmp(name, "WebP")}
    more |= {"icc_profile": _icc(name, "WebP"), "lossless": True}
    return _saved(picture(), "WEBP", name("WebP end"), **more)


def beside(word: str = SECRET) -> bytes:
    """An animation with a picture beside it, whose pixels spell a name."""
    other = Image.frombytes("RGB", (8, 4), (word.encode() * 96)[:96])
    return _film("PNG", other, default_image=True)


# Images by what they are, with names in what is no pixel.
METADATA: dict[str, Callable[..., bytes]] = {
    "photo.jpg": _jpeg,
    "plot.png": _png,
    "film.gif": _gif,
    "web.webp": _webp,
}
# Where names are in colors that nobody sees.
HIDDEN = [("PNG", how) for how in ("colors", "grey", "palette", "clear palette", "clear color")]
HIDDEN += [("PNG", "frames"), ("GIF", "palette"), ("GIF", "frames")]
HIDDEN += [("WEBP", "colors"), ("WEBP", "frames")]


def hidden_colors(form: str, word: str = SECRET) -> Image.Image:
    """A half-transparent image with a name in its transparent pixels."""
    letters = itertools.cycle(word.encode())
    image = picture("RGBA", (16, 6))
    for y in range(6):
        for x in range(8, 16):
            color = [next(letters)] * 3 if form == "grey" else [next(letters) for _ in range(3)]
            image.putpixel((x, y), (*color, 0))
    if form == "palette":
        image = picture("P", (16, 6))
        image.putpalette(bytes(image.getpalette() or [])[:18] + word.encode() * 20)
    elif form == "clear palette":
        entries = [(200, 30, 30), *zip(*[iter(word.encode() * 3)] * 3, strict=True)]
        image = Image.new("P", (16, 6))
        image.putpalette([part for entry in entries for part in entry])
        image.putdata([(x % len(entries)) for x in range(96)])
        image.info["transparency"] = bytes([255] + [0] * (len(entries) - 1))
    elif form == "clear color":
        image = image.convert("RGB")
        image.putdata([(90, 101, 98)] * 48 + [(1, 2, 3)] * 48)
        image.info["transparency"] = (90, 101, 98)
    elif form == "grey":
        image = Image.merge("LA", (image.getchannel("R"), image.getchannel("A")))
    return image


def hidden(form: str, how: str, word: str = SECRET) -> bytes:
    """A file with such colors; "frames" are those of an animation."""
    image = hidden_colors("colors" if how == "frames" else how, word)
    options: dict[str, Any] = {"exact": True, "lossless": True} if form == "WEBP" else {}
    if form == "GIF":
        options["optimize"] = False  # which would leave out what no pixel uses
    if how == "frames":
        turned = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        options |= {"save_all": True, "append_images": [turned], "duration": 70}
    return _saved(image, form, **options)


def planted_images(name: Name) -> dict[str, bytes]:
    images = {file: make(name) for file, make in METADATA.items()}
    for form, how in HIDDEN:
        # Three bytes are too few for a name, and of frames only PNG keeps colors of clear pixels.
        if how != "clear color" and (form == "PNG" or how != "frames"):
            word = name(f"{form} hidden {how}")
            images[f"{how}-{form}.{form.lower()}"] = hidden(form, how, word)
    return images | {"beside.png": beside(name("picture beside an animation"))}
