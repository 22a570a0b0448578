"""Languages that are made up: what is not translated, too narrow, or not mirrored shows in them.

One is English with other letters, longer by a third and between marks (``qps`` elsewhere); the
other one has Hebrew letters, written from the right (``qps-rtl``). They go under the tags of real
languages, as browsers and axe take no others.
"""

from __future__ import annotations

import json
import re
import shutil
import string
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.languages.catalogs import extracted, is_of_scripts, texts_of
from webjudge import languages

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def _catalog(code: str) -> Iterator[str]:
    yield 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
    for message in extracted():
        if not message.id:
            continue
        forms = texts_of(message.id)
        # An entry of a script names one, whichever.
        lines = ["#: a.js"] if is_of_scripts(message) else []
        lines += [f"msgid {json.dumps(forms[0])}"]
        if len(forms) > 1:
            lines += [f"msgid_plural {json.dumps(forms[1])}"]
        for n, form in enumerate(forms):
            keyword = f"msgstr[{n}]" if len(forms) > 1 else "msgstr"
            lines += [f"{keyword} {json.dumps(pseudo(form, code))}"]
        yield "\n".join(lines) + "\n"


def install() -> None:
    """Let judges of this process choose these languages, too."""
    folder = Path(tempfile.mkdtemp(prefix="quem-locales-"))
    shutil.copytree(languages.FOLDER, folder, dirs_exist_ok=True)
    for code, direction in ((LEFT, "ltr"), (RIGHT, "rtl")):
        (folder / f"{code}.po").write_text("\n".join(_catalog(code)), encoding="utf-8")
        languages.LANGUAGES[code] = languages.Language(code, direction=direction)
    languages.FOLDER = folder
