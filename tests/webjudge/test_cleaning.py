"""Nothing is left in images and PDFs but what they show."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

import pikepdf
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from webjudge.cleaning import CleaningError, clean_file, clean_image
from webjudge.cleaning_pdf import clean_pdf, strip_jpeg

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


def pdf() -> bytes:
    """A PDF that names the secret wherever programs do."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(100, 100))
    document.docinfo["/Author"] = SECRET
    document.docinfo["/Custom"] = SECRET
    document.Root.Metadata = document.make_stream(XMP, Type=pikepdf.Name.Metadata)
    document.attachments[f"{SECRET}.txt"] = SECRET.encode()
    script = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=f"app.alert('{SECRET}')")
    document.Root.OpenAction = script
    document.Root.Names.JavaScript = pikepdf.Dictionary(Names=["go", script])
    document.Root.OutputIntents = [pikepdf.Dictionary(Info=SECRET)]
    document.Root.PieceInfo = pikepdf.Dictionary(Tool=pikepdf.Dictionary(Private=SECRET))
    thread = pikepdf.Dictionary(I={"/Author": SECRET})
    document.Root.Threads = [document.make_indirect(thread)]
    layer = pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name="Layer")
    layer.Usage = pikepdf.Dictionary(CreatorInfo=pikepdf.Dictionary(Creator=SECRET))
    document.Root.OCProperties = pikepdf.Dictionary(OCGs=[document.make_indirect(layer)], D={})
    page.obj.PieceInfo = pikepdf.Dictionary(Tool=pikepdf.Dictionary(Private=SECRET))
    page.obj.Metadata = document.make_stream(XMP)
    page.obj.AA = pikepdf.Dictionary(O=script)
    page.obj.Thumb = document.make_stream(SECRET.encode())
    where = [1, 1, 9, 9]
    popup = {"/Type": pikepdf.Name.Annot, "/Subtype": pikepdf.Name.Popup, "/T": SECRET}
    note = {"/Subtype": pikepdf.Name.Text, "/Rect": where, "/T": SECRET, "/Contents": "a remark"}
    note |= {"/NM": SECRET, "/RC": SECRET, "/Popup": pikepdf.Dictionary(popup)}
    signed = {"/Subtype": pikepdf.Name.Widget, "/Rect": where, "/FT": pikepdf.Name.Sig}
    signed |= {"/V": {"/Type": pikepdf.Name.Sig, "/Name": SECRET}, "/T": SECRET, "/A": script}
    attached = {"/Subtype": pikepdf.Name.FileAttachment, "/Rect": where, "/Contents": SECRET}
    link = {"/Subtype": pikepdf.Name.Link, "/Rect": where}
    link |= {"/A": {"/S": pikepdf.Name.URI, "/URI": "https://example.org/", "/Next": script}}
    dicts = [pikepdf.Dictionary(a) for a in (note, popup, signed, attached, link)]
    notes = [document.make_indirect(a) for a in dicts]
    page.obj.Annots = notes
    document.Root.AcroForm = pikepdf.Dictionary(Fields=[notes[2]], DA=SECRET)
    photo = document.make_stream(jpeg(), Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Image)
    photo.Filter, photo.Width, photo.Height = pikepdf.Name.DCTDecode, 16, 8
    photo.ColorSpace, photo.BitsPerComponent = pikepdf.Name.DeviceRGB, 8
    photo.Metadata = document.make_stream(XMP)
    packed = document.make_stream(zlib.compress(jpeg()), Subtype=pikepdf.Name.Image)
    packed.Filter = pikepdf.Array([pikepdf.Name.FlateDecode, pikepdf.Name.DCTDecode])
    packed.DecodeParms = pikepdf.Array([None, pikepdf.Dictionary(ColorTransform=1)])
    page.obj.Resources = pikepdf.Dictionary(XObject={"/Photo": photo, "/AA": packed})
    page.obj.Contents = document.make_stream(b"q 90 0 0 90 5 5 cm /Photo Do Q")
    document.trailer.ID = pikepdf.Array([SECRET.encode(), SECRET.encode()])
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def unpacked(raw: bytes) -> bytes:
    """All that a file holds: as it is, and with what is compressed in it unpacked."""
    parts = [raw]
    if raw.startswith(b"%PDF-"):
        plain = io.BytesIO()
        with pikepdf.open(io.BytesIO(raw)) as document:
            streams = [thing for thing in document.objects if isinstance(thing, pikepdf.Stream)]
            for stream in streams:
                parts += [stream.read_raw_bytes(), *_inflated(stream.read_raw_bytes())]
            level = pikepdf.StreamDecodeLevel.generalized
            document.save(plain, qdf=True, stream_decode_level=level, fix_metadata_version=False)
        parts.append(plain.getvalue())
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


MADE = {"photo.jpg": jpeg, "plot.png": png, "film.gif": gif, "web.webp": webp, "paper.pdf": pdf}


@pytest.mark.parametrize("name", MADE)
def test_nothing_names_the_maker(name: str, tmp_path: Path) -> None:
    """A name written into every known place is nowhere in what is sent."""
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    assert holds_secret(unpacked(path.read_bytes())), "the test has to write the secret"
    content, mimetype = clean_file(path)
    assert not holds_secret(unpacked(content))
    ending = {"jpg": "jpeg"}.get(name.rpartition(".")[2], name.rpartition(".")[2])
    assert mimetype == ("application/pdf" if ending == "pdf" else f"image/{ending}")


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
        assert after.convert(target).tobytes() == before.convert(target).tobytes()


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
        ("cut.pdf", b"%PDF-1.7\n1 0 obj\n", "broken PDF"),
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


def test_a_pdf_with_a_password_is_refused() -> None:
    """What cannot be opened cannot be cleaned."""
    document = pikepdf.new()
    document.add_blank_page()
    out = io.BytesIO()
    document.save(out, encryption=pikepdf.Encryption(owner="o", user="u"))
    with pytest.raises(ValueError, match="without one"):
        clean_pdf(out.getvalue())


def test_a_pdf_shows_the_same() -> None:
    """Pages, notes, links and pictures are kept."""
    with pikepdf.open(io.BytesIO(clean_pdf(pdf()))) as document:
        (page,) = document.pages
        assert page.obj.Contents.read_bytes() == b"q 90 0 0 90 5 5 cm /Photo Do Q"
        kinds = [str(note.Subtype) for note in page.obj.Annots]
        assert kinds == ["/Text", "/Stamp", "/Link"]
        assert str(page.obj.Annots[0].Contents) == "a remark"
        assert str(page.obj.Annots[2].A.URI) == "https://example.org/"
        stream = page.obj.Resources.XObject.Photo
        assert isinstance(stream, pikepdf.Stream)
        photo = pikepdf.PdfImage(stream).as_pil_image()
        packed = page.obj.Resources.XObject.AA
        assert packed.DecodeParms.ColorTransform == 1
        with Image.open(io.BytesIO(packed.read_raw_bytes())) as same:
            assert same.tobytes() == photo.tobytes()
        with Image.open(io.BytesIO(jpeg())) as before:
            assert photo.convert("RGB").tobytes() == before.convert("RGB").tobytes()


def test_a_pdf_cleaned_twice_is_the_same() -> None:
    """Cleaning notes neither the time nor anything at random."""
    raw = pdf()
    assert clean_pdf(raw) == clean_pdf(raw)


def test_stripping_leaves_what_is_no_jpeg() -> None:
    """Bytes of another kind are not touched."""
    assert strip_jpeg(b"nothing") == b"nothing"
    assert strip_jpeg(b"\xff\xd8nothing") == b"\xff\xd8nothing"


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
