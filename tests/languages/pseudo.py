"""Languages that are made up: what is not translated, too narrow, or not mirrored shows in them.

One is English with other letters, longer by a third and between marks (``qps`` elsewhere); the
other one has Hebrew letters, written from the right (``qps-rtl``). They go under the tags of real
languages, as browsers and axe take no others.
"""

from __future__ import annotations

import re
import shutil
import string
import tempfile
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from hatch_build import compile_texts
from tests.languages.catalogs import extracted, texts_of
from webjudge import languages

LEFT, RIGHT = "el", "he"
# What runs `quem` with both.
PROGRAM = "from tests.languages.pseudo import install; install(); from quem.cli import run; run()"
_OTHER = "áƀçðéƒĝĥíĵķļɱñóþǫŕšţúṽŵẋýžÁƁÇÐÉƑĜĤÍĴĶĻṀÑÓÞǪŔŠŢÚṼŴẊÝŽ"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשתאבגד"
_LETTERS = {
    LEFT: str.maketrans(string.ascii_letters, _OTHER),
    RIGHT: str.maketrans(string.ascii_letters, _HEBREW * 2),
}
_PLACE = re.compile(r"(%\(\w+\)s|\{\w+\})")
_LONGER = 0.35


def pseudo(text: str, code: str) -> str:
    """Write a text in a made-up language; its places stay."""
    pieces = _PLACE.split(text)
    pieces[::2] = (piece.translate(_LETTERS[code]) for piece in pieces[::2])
    filling = "óñé ţŵó ţĥŕéé ƒóúŕ ƒíṽé šíẋ šéṽéñ éíĝĥţ ñíñé " * 10
    more = filling[: round(_LONGER * len(text))].strip() if code == LEFT else ""
    return f"⟦{''.join(pieces)}{' ' if more else ''}{more}⟧"


def install() -> None:
    """Let judges of this process choose these languages, too."""
    folder = Path(tempfile.mkdtemp(prefix="quem-locales-"))
    shutil.copytree(languages.FOLDER, folder, dirs_exist_ok=True)
    for code in (LEFT, RIGHT):
        catalog = Catalog(locale=code)
        for message in extracted():
            if message.id:
                forms = [pseudo(form, code) for form in texts_of(message.id)]
                string = forms[0] if isinstance(message.id, str) else forms
                catalog.add(message.id, string, message.locations)
        with (folder / f"{code}.po").open("wb") as file:
            write_po(file, catalog)
        languages.LANGUAGES[code] = code
    compile_texts(folder)
    languages.FOLDER = folder
