"""Nothing is left in images but what they show."""

from __future__ import annotations

import io
import itertools
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageCms, PngImagePlugin

from quem.blinding import cache, images
from quem.blinding.images import CleaningError, clean_file, clean_image
from quem.blinding.keeping import Kept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "Zebulon-Quark"  # noqa: S105  a name that nothing else holds
XMP = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><creator>{SECRET}</creator></x:xmpmeta>'.encode()
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
# Photoshop's block, in which IPTC names the writer of a caption.
IPTC_TEXT = b"\x1c\x02\x50" + len(SECRET).to_bytes(2, "big") + SECRET.encode()
IPTC = b"Photoshop 3.0\x008BIM\x04\x04\x00\x00" + len(IPTC_TEXT).to_bytes(4, "big") + IPTC_TEXT


def holds_secret(raw: bytes) -> bool:
    """Whether the secret is in bytes, in any way in which programs write text."""
    spellings = [SECRET.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    spellings += [spelling.hex().encode() for spelling in spellings]
    raw = raw + raw.lower()
    spellings += [spelling.lower() for spelling in spellings]
    return any(spelling in raw for spelling in spellings)


def exif() -> bytes:
    """EXIF that names the secret wherever a camera or an editor would, and a turn."""
    data = Image.Exif()
    for tag in (0x010E, 0x010F, 0x0110, 0x0131, 0x013B, 0x013C, 0x8298):
        data[tag] = SECRET
    data[0x9C9D] = SECRET.encode("utf-16-le")
    data[0x0112] = 6
    data.get_ifd(0x8769)[0x9286] = b"ASCII\0\0\0" + SECRET.encode()
    data.get_ifd(0x8825)[0x001D] = SECRET
    return data.tobytes()


def picture(mode: str = "RGB", size: tuple[int, int] = (8, 4)) -> Image.Image:
    """A picture whose left half differs from its right."""
    image = Image.new("RGB", size, "white")
    image.paste((200, 30, 30), (0, 0, size[0] // 2, size[1]))
    return image.convert(mode)


def segment(kind: int, content: bytes) -> bytes:
    """A segment of a JPEG."""
    return bytes([0xFF, kind]) + (len(content) + 2).to_bytes(2, "big") + content


def jpeg() -> bytes:
    """A photograph that names the secret in each segment, and behind its end."""
    out = io.BytesIO()
    picture(size=(16, 8)).save(out, "JPEG", exif=exif(), comment=SECRET, icc_profile=ICC, xmp=XMP)
    raw = out.getvalue()
    more = segment(0xED, IPTC) + segment(0xEC, SECRET.encode())
    return raw[:2] + more + raw[2:] + SECRET.encode()


def png() -> bytes:
    """A plot that names the secret in each kind of chunk, and behind its end."""
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", SECRET)
    info.add_text("Comment", SECRET, zip=True)
    info.add_itxt("Software", SECRET, zip=True)
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    info.add(b"prVt", SECRET.encode(), after_idat=True)
    out = io.BytesIO()
    picture().save(out, "PNG", pnginfo=info, exif=exif(), icc_profile=ICC)
    return out.getvalue() + SECRET.encode()


def gif() -> bytes:
    """An animation that names the secret in a comment, in an extension, and behind its end."""
    out = io.BytesIO()
    frames = [picture("P"), picture("P").transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    options = {"save_all": True, "append_images": frames[1:], "duration": 70, "loop": 0}
    frames[0].save(out, "GIF", comment=SECRET.encode(), **options)
    raw = out.getvalue()
    extension = b"\x21\xff\x0bXMP DataXMP" + bytes([len(SECRET)]) + SECRET.encode() + b"\0"
    return raw[:-1] + extension + raw[-1:] + SECRET.encode()


def webp() -> bytes:
    """A picture that names the secret in EXIF and XMP."""
    out = io.BytesIO()
    picture().save(out, "WEBP", exif=exif(), xmp=XMP, icc_profile=ICC, lossless=True)
    return out.getvalue()


def unpacked(raw: bytes) -> bytes:
    """All that a file holds: as it is, and with what is compressed in it unpacked."""
    parts = [raw]
    if raw.startswith(b"\x89PNG"):
        at = 8
        while at < len(raw):
            size = int.from_bytes(raw[at : at + 4], "big")
            parts += _inflated(raw[at + 8 : at + 8 + size])
            at += size + 12
    return b"\n".join(parts)


def _inflated(content: bytes) -> Iterator[bytes]:
    for start in [i for i in range(min(len(content), 100)) if content[i] == 0x78]:
        try:
            yield zlib.decompressobj().decompress(content[start:])
        except zlib.error:
            continue


MADE = {"photo.jpg": jpeg, "plot.png": png, "film.gif": gif, "web.webp": webp}


@pytest.mark.parametrize("name", MADE)
def test_nothing_names_the_maker(name: str, tmp_path: Path) -> None:
    """A name written into every known place is nowhere in what is sent."""
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    assert holds_secret(unpacked(path.read_bytes())), "the test has to write the secret"
    content, mimetype = clean_file(path)
    assert not holds_secret(unpacked(content))
    ending = {"jpg": "jpeg"}.get(name.rpartition(".")[2], name.rpartition(".")[2])
    assert mimetype == f"image/{ending}"


@pytest.mark.parametrize("name", ["photo.jpg", "plot.png", "web.webp"])
def test_pictures_stay_upright(name: str) -> None:
    """A turn that a camera noted is made, and not noted any more."""
    raw = MADE[name]()
    with Image.open(io.BytesIO(raw)) as before:
        width, height = before.size
        assert before.getexif()[0x0112] == 6
    content, _ = clean_image(raw)
    with Image.open(io.BytesIO(content)) as after:
        assert after.size == (height, width)
        assert not after.getexif()
        assert not {"icc_profile", "xmp", "comment", "exif"} & set(after.info)
        # Left is on top after a turn by a quarter to the right.
        assert _is_red(after, (after.width // 2, 1))
        assert not _is_red(after, (after.width // 2, after.height - 2))


def _is_red(image: Image.Image, place: tuple[int, int]) -> bool:
    pixel = image.convert("RGB").getpixel(place)
    assert isinstance(pixel, tuple)
    return pixel[0] > 150 and pixel[1] < 100


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_animations_stay_animated(form: str) -> None:
    """Frames, their times and their number of rounds are kept."""
    frames = [picture("RGB"), picture("RGB").transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    out = io.BytesIO()
    frames[0].save(out, form, save_all=True, append_images=frames[1:], duration=[70, 130], loop=3)
    content, mimetype = clean_image(out.getvalue())
    assert mimetype == f"image/{form.lower()}"
    with Image.open(io.BytesIO(content)) as image:
        assert getattr(image, "n_frames", 1) == 2
        assert image.info["loop"] == 3
        times = []
        for index in range(2):
            image.seek(index)
            image.load()
            times.append(image.info["duration"])
        assert times == [70, 130]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_png_keeps_its_pixels(mode: str) -> None:
    """What a picture shows is the same after cleaning, transparency included."""
    image = picture("L").convert(mode) if mode in ("1", "LA", "I;16") else picture(mode)
    if mode == "P":
        image.info["transparency"] = image.getpixel((0, 0))
    out = io.BytesIO()
    image.save(out, "PNG")
    content, _ = clean_image(out.getvalue())
    with Image.open(out) as before, Image.open(io.BytesIO(content)) as after:
        assert after.mode == before.mode
        target = "RGBA" if mode != "I;16" else "I;16"
        assert visible(after.convert(target)) == visible(before.convert(target))


def visible(image: Image.Image) -> list[tuple[int, ...] | None]:
    """The pixels of an image with transparency, where a clear one has no colour."""
    raw = image.tobytes()
    if image.mode != "RGBA":
        return [(value,) for value in raw]
    pixels = zip(*[iter(raw)] * 4, strict=True)
    return [pixel if pixel[-1] else None for pixel in pixels]


def hidden_colors(form: str) -> Image.Image:
    """An image half of which is clear, and whose clear pixels have the letters of the secret."""
    letters = itertools.cycle(SECRET.encode())
    image = picture("RGBA", (16, 6))
    for x in range(8, 16):
        for y in range(6):
            image.putpixel((x, y), (next(letters), next(letters), next(letters), 0))
    if form == "palette":
        image = picture("P", (16, 6))
        image.putpalette(bytes(image.getpalette() or [])[:18] + SECRET.encode() * 20)
    elif form == "clear palette":
        entries = [(200, 30, 30), *zip(*[iter(SECRET.encode() * 3)] * 3, strict=True)]
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


HIDDEN = [
    ("PNG", "colors"),
    ("PNG", "grey"),
    ("PNG", "palette"),
    ("PNG", "clear palette"),
    ("PNG", "clear color"),
    ("GIF", "palette"),
    ("WEBP", "colors"),
    ("PNG", "frames"),
    ("WEBP", "frames"),
    ("GIF", "frames"),
]


@pytest.mark.parametrize(("form", "how"), HIDDEN)
def test_colors_that_nobody_sees_are_gone(form: str, how: str) -> None:
    """Palettes keep the entries that pixels use, and clear pixels lose their colour."""
    out = io.BytesIO()
    image = hidden_colors("colors" if how == "frames" else how)
    options: dict[str, Any] = {"exact": True, "lossless": True} if form == "WEBP" else {}
    if how == "frames":
        turned = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        options |= {"save_all": True, "append_images": [turned], "duration": 70}
    image.save(out, form, **options)
    content, _ = clean_image(out.getvalue())
    with Image.open(out) as before, Image.open(io.BytesIO(content)) as after:
        for index in range(getattr(before, "n_frames", 1)):
            before.seek(index)
            after.seek(index)
            assert len(visible(after.convert("RGBA"))) == 96
            if form != "WEBP":  # which is lossy
                assert visible(after.convert("RGBA")) == visible(before.convert("RGBA"))
            raw = after.convert("RGBA").tobytes()
            # WebP fills clear parts with what is around them.
            assert form == "WEBP" or not any(
                sum(raw[at : at + 3]) for at in range(0, len(raw), 4) if not raw[at + 3]
            )
        used = [i for i, count in enumerate(after.histogram()) if count]
        if after.mode == "P":
            palette = bytes(after.getpalette() or [])
            assert SECRET.encode()[:6] not in palette
            # GIF pads its palette with black.
            assert not any(palette[3 * max(used) + 3 :])


def test_webp_is_the_same_whatever_was_hidden() -> None:
    """Two pictures that look alike are the same bytes once they are cleaned."""
    image = hidden_colors("colors")
    blank = Image.new("RGBA", image.size)
    blank.paste(image.crop((0, 0, 8, 6)))
    made = []
    for one in (image, blank):
        out = io.BytesIO()
        one.save(out, "WEBP", lossless=True, exact=True)
        made.append(out.getvalue())
    assert made[0] != made[1]
    assert clean_image(made[0]) == clean_image(made[1])


def test_a_picture_beside_an_animation_is_not_shown() -> None:
    """What only old programs show of an animated PNG is none of its frames."""
    out = io.BytesIO()
    frames = [picture("RGB"), picture("RGB").transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    beside = Image.new("RGB", (8, 4), (1, 2, 3))
    beside.save(out, "PNG", save_all=True, append_images=frames, default_image=True, duration=70)
    content, _ = clean_image(out.getvalue())
    with Image.open(io.BytesIO(content)) as image:
        assert getattr(image, "n_frames", 1) == 2
        for index, frame in enumerate(frames):
            image.seek(index)
            assert image.convert("RGB").tobytes() == frame.tobytes()


def test_cmyk_is_shown_in_rgb() -> None:
    """Browsers show what printers need in odd colours, so it is turned."""
    out = io.BytesIO()
    picture("CMYK").save(out, "JPEG")
    with Image.open(io.BytesIO(clean_image(out.getvalue())[0])) as image:
        assert image.mode == "RGB"


def test_very_large_pictures_are_made_smaller() -> None:
    """No side is longer than 4,096 pixels."""
    out = io.BytesIO()
    Image.new("P", (6000, 30)).save(out, "PNG")
    with Image.open(io.BytesIO(clean_image(out.getvalue())[0])) as image:
        assert image.size == (4096, 20)


def _bomb() -> bytes:
    out = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(out, "PNG")
    return out.getvalue()


def _long_film() -> bytes:
    out = io.BytesIO()
    frames = [Image.new("L", (1, 1), i % 256) for i in range(502)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("bomb.png", _bomb(), "too many"),
        ("film.gif", _long_film(), "too long an animation"),
        ("cut.png", png()[:60], "broken image"),
        ("cut.jpg", jpeg()[:400], "broken image"),
        ("text.png", b"no image", "broken image"),
        ("vector.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "broken image"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_what_cannot_be_cleaned_is_refused(
    name: str, raw: bytes, said: str, tmp_path: Path
) -> None:
    """Nothing is sent that was not made anew; the error says what is wrong with which file."""
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(CleaningError, match=said) as error:
        clean_file(path)
    assert error.value.mistakes[0].path == str(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that went away is a clear error and no traceback of the system."""
    with pytest.raises(CleaningError, match="cannot be read"):
        clean_file(tmp_path / "gone.png")


def test_a_changed_file_is_cleaned_again(tmp_path: Path) -> None:
    """What was cleaned is kept as long as the file stays as it is."""
    path = tmp_path / "plot.png"
    path.write_bytes(png())
    first = clean_file(path)
    assert clean_file(path) is first
    picture("L", (30, 30)).save(path)
    second, _ = clean_file(path)
    with Image.open(io.BytesIO(second)) as image:
        assert image.size == (30, 30)


def test_large_files_are_cleaned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What took long is found again after a restart, without what was removed."""
    path = tmp_path / "photo.png"
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", SECRET)
    Image.effect_noise((600, 600), 90).save(path, pnginfo=info)
    first = clean_file(path)
    monkeypatch.setattr(images, "_kept", Kept(0))
    monkeypatch.setattr(images, "clean_image", pytest.fail)
    assert clean_file(path) == first
    (entry,) = cache.cache_folder("images").iterdir()
    (kept,) = entry.iterdir()
    assert kept.name == "png"
    assert not holds_secret(kept.read_bytes())
