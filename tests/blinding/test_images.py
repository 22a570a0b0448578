"""Nothing is left in images but what they show."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from quem.blinding.images import clean_file, clean_image
from quem.errors import FileError
from tests.blinding.planted_images import HIDDEN, METADATA, SECRET, hidden, hidden_colors, picture
from tests.blinding.searching import everything_in

if TYPE_CHECKING:
    from pathlib import Path


def holds_secret(raw: bytes) -> bool:
    """Whether the secret is in bytes, in any way in which programs write text."""
    return SECRET.encode().lower() in everything_in(raw).lower()


@pytest.mark.parametrize("name", METADATA)
def test_nothing_names_the_maker(name: str, tmp_path: Path) -> None:
    """A name written into every known place is nowhere in what is sent."""
    path = tmp_path / name
    path.write_bytes(METADATA[name]())
    assert holds_secret(path.read_bytes()), "the test has to write the secret"
    content, mimetype = clean_file(path)
    assert not holds_secret(content)
    ending = {"jpg": "jpeg"}.get(name.rpartition(".")[2], name.rpartition(".")[2])
    assert mimetype == f"image/{ending}"


@pytest.mark.parametrize("name", ["photo.jpg", "plot.png", "web.webp"])
def test_pictures_stay_upright(name: str) -> None:
    """A turn that a camera noted is made, and not noted any more."""
    raw = METADATA[name]()
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
    """The pixels of an image with transparency, where a clear one has no color."""
    raw = image.tobytes()
    if image.mode != "RGBA":
        return [(value,) for value in raw]
    pixels = zip(*[iter(raw)] * 4, strict=True)
    return [pixel if pixel[-1] else None for pixel in pixels]


@pytest.mark.parametrize(("form", "how"), HIDDEN)
def test_colors_that_nobody_sees_are_gone(form: str, how: str) -> None:
    """Palettes keep the entries that pixels use, and clear pixels lose their color."""
    out = io.BytesIO(hidden(form, how))
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
    files = []
    for one in (image, blank):
        out = io.BytesIO()
        one.save(out, "WEBP", lossless=True, exact=True)
        files.append(out.getvalue())
    assert files[0] != files[1]
    assert clean_image(files[0]) == clean_image(files[1])


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
    ("name", "raw", "message"),
    [
        ("bomb.png", _bomb(), "too many"),
        ("film.gif", _long_film(), "too long an animation"),
        ("cut.png", METADATA["plot.png"]()[:60], "broken image"),
        ("cut.jpg", METADATA["photo.jpg"]()[:400], "broken image"),
        ("text.png", b"no image", "broken image"),
        ("vector.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "broken image"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_what_cannot_be_cleaned_is_refused(
    name: str, raw: bytes, message: str, tmp_path: Path
) -> None:
    """Nothing is sent that was not made anew; the error says what is wrong with which file."""
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(FileError, match=message) as error:
        clean_file(path)
    assert error.value.mistakes[0].path == str(path)


def test_a_changed_file_is_cleaned_again(tmp_path: Path) -> None:
    """What was cleaned is kept as long as the file stays as it is."""
    path = tmp_path / "plot.png"
    path.write_bytes(METADATA["plot.png"]())
    first = clean_file(path)
    assert clean_file(path) is first
    picture("L", (30, 30)).save(path)
    second, _ = clean_file(path)
    with Image.open(io.BytesIO(second)) as image:
        assert image.size == (30, 30)
