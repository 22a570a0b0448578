"""Nothing is left in images but what they show; workers give the same, as other tests say."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageChops

from quem.blinding.images import clean_file, encode_image
from quem.blinding.workers import RefusedError
from quem.errors import FileError
from tests.blinding.made import opened
from tests.blinding.planted_images import HIDDEN, METADATA, SECRET, hidden, hidden_colors, picture
from tests.blinding.searching import everything_in

if TYPE_CHECKING:
    from pathlib import Path


def saved(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:  # noqa: ANN401  of Pillow
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


@pytest.mark.parametrize("name", METADATA)
def test_nothing_names_the_maker(name: str) -> None:
    """A name in every known place is nowhere in what is sent, and a turn a camera noted is made."""
    raw = METADATA[name]()
    content, form = encode_image(raw)
    held = [SECRET.encode().lower() in everything_in(one).lower() for one in (raw, content)]
    assert held == [True, False]
    assert form == name.rpartition(".")[2].replace("jpg", "jpeg")
    before, after = opened(raw), opened(content)
    assert not after.getexif()
    if name != "film.gif":
        assert before.getexif()[0x0112] == 6
        assert after.size == before.size[::-1]
        assert not {"icc_profile", "xmp", "comment", "exif"} & set(after.info)
        # Left, which is red, is on top after a turn by a quarter to the right.
        top, bottom = after.height // 4, 3 * after.height // 4
        green = after.convert("RGB").getchannel("G")
        assert green.getpixel((after.width // 2, top)) < 100  # type: ignore[operator]
        assert green.getpixel((after.width // 2, bottom)) > 150  # type: ignore[operator]


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_animations_stay_animated(form: str) -> None:
    more = [picture("RGB").transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    film = saved(
        picture("RGB"), form, save_all=True, append_images=more, duration=[70, 130], loop=3
    )
    image = opened(encode_image(film)[0])
    assert (image.format, image.info["loop"], getattr(image, "n_frames", 1)) == (form, 3, 2)
    times = []
    for index in range(2):
        image.seek(index)
        image.load()
        times.append(image.info["duration"])
    assert times == [70, 130]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_png_keeps_its_pixels(mode: str) -> None:
    image = picture("L").convert(mode) if mode in ("1", "LA", "I;16") else picture(mode)
    if mode == "P":
        image.info["transparency"] = image.getpixel((0, 0))
    before, after = opened(raw := saved(image)), opened(encode_image(raw)[0])
    assert after.mode == before.mode
    target = "RGBA" if mode != "I;16" else "I;16"
    assert visible(after.convert(target)) == visible(before.convert(target))


def visible(image: Image.Image) -> list[tuple[int, ...] | None]:
    raw = image.tobytes()
    if image.mode != "RGBA":
        return [(value,) for value in raw]
    pixels = zip(*[iter(raw)] * 4, strict=True)
    return [pixel if pixel[-1] else None for pixel in pixels]


@pytest.mark.parametrize(("form", "how"), HIDDEN)
def test_colors_that_nobody_sees_are_gone(form: str, how: str) -> None:
    """Palettes keep the entries that pixels use, and clear pixels lose their color."""
    raw = hidden(form, how)
    before, after = opened(raw), opened(encode_image(raw)[0])
    for index in range(getattr(before, "n_frames", 1)):
        before.seek(index)
        after.seek(index)
        left = after.convert("RGBA")
        assert len(visible(left)) == 96
        # WebP is lossy, and fills clear parts with what is around them.
        if form != "WEBP":
            assert visible(left) == visible(before.convert("RGBA"))
            *colors, clear = left.split()
            seen = ImageChops.multiply(Image.merge("RGB", colors), Image.merge("RGB", [clear] * 3))
            assert seen.tobytes() == Image.merge("RGB", colors).tobytes()
    if after.mode == "P":
        palette = bytes(after.getpalette() or [])
        assert SECRET.encode()[:6] not in palette
        # GIF pads its palette with black.
        used = [i for i, count in enumerate(after.histogram()) if count]
        assert not any(palette[3 * max(used) + 3 :])


def test_webp_is_the_same_whatever_was_hidden() -> None:
    """Two pictures that look alike are the same bytes once they are cleaned."""
    image = hidden_colors("colors")
    blank = Image.new("RGBA", image.size)
    blank.paste(image.crop((0, 0, 8, 6)))
    one, other = (saved(each, "WEBP", lossless=True, exact=True) for each in (image, blank))
    assert one != other
    assert encode_image(one) == encode_image(other)


LONG = [Image.new("L", (1, 1), i % 256) for i in range(502)]
REFUSED = {
    "bomb.png": (saved(Image.new("1", (20_000, 20_000))), "too many"),
    "film.gif": (saved(LONG[0], "GIF", save_all=True, append_images=LONG[1:]), "too long an anim"),
    "cut.png": (METADATA["plot.png"]()[:60], "broken image"),
    "vector.png": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "broken image"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_cleaned_is_refused(name: str, tmp_path: Path) -> None:
    raw, message = REFUSED[name]
    with pytest.raises(RefusedError, match=message):
        encode_image(raw)
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(FileError, match=message) as error:
        clean_file(tmp_path / name)
    assert error.value.mistakes[0].path == str(tmp_path / name)


def test_a_changed_file_is_cleaned_again(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    path.write_bytes(METADATA["plot.png"]())
    first = clean_file(path)
    assert clean_file(path) is first
    picture("L", (30, 30)).save(path)
    assert opened(clean_file(path)[0]).size == (30, 30)
