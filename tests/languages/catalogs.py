"""Check that all languages are complete: ``python -m tests.languages.catalogs``.

``--update`` adds new texts to each catalog for translation and removes unused ones.
"""

from __future__ import annotations

import json
import re
import string
import sys
from html.parser import HTMLParser
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment

from hatch_build import compile_texts
from webjudge.languages import ENGLISH, LANGUAGES, READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from babel.messages.catalog import Message

ROOT = Path(__file__).resolve().parents[2]
LOCALES = ROOT / "webjudge" / "locales"
SCRIPTS = sorted((ROOT / "webjudge" / "static").glob("*.js"))
TEMPLATES = [
    ROOT / "templates" / "base.html",
    *(p for part in ("judge", "solve") for p in sorted((ROOT / "templates" / part).iterdir())),
]
MODULES = sorted((ROOT / "webjudge").glob("*.py"))
_SINGLE, _PLURAL = None, (1, 2)
_KEYWORDS = {"_": _SINGLE, "gettext": _SINGLE, "ngettext": _PLURAL, "marked": _SINGLE}
# gettext's headers about people and dates, which git has.
_NO_FACTS = re.compile(
    rb'^"(?:Project|Report|POT|PO|Last|Language-Team|Generated)[^\n]*\n', re.MULTILINE
)
_HEADER = "# Texts of judges' pages: {name}. {read}"
_NOT_READ = "No native reader has read them yet."
# %(name)s, {name}, and tags.
_FIXED = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w[^>]*>|&\w+;|⠿")
# Translated blocks, and blocks that contain classes.
_TRANSLATED = re.compile(
    r"{%-? trans .*?endtrans -?%}|{% block (?:look|main_class) %}.*?{% endblock %}", re.DOTALL
)
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_LITERALS = rf"({_LITERAL.pattern}(?:\s*\+\s*{_LITERAL.pattern})*)"
# Calls of `t` and `tn` in scripts, also those inside the HTML of a template.
_CALL = re.compile(rf"(?<![\w.])(tn?)\(\s*{_LITERALS}(?:,\s*{_LITERALS})?")
_SCRIPT_CALL = re.compile(r"(?<![\w.])(?:t|tn)\((?!\s*[\"'])(?!text, values)(?!one, several)")


def extracted() -> Catalog:
    """All texts of judges' pages, with their files."""
    catalog = Catalog(charset="utf-8")
    for path in chain(MODULES, TEMPLATES, SCRIPTS):
        name = path.relative_to(ROOT).as_posix()
        for _, message, _, _ in _texts(path):
            catalog.add(message, locations=[(name, 0)])
    return catalog


def _texts(path: Path) -> Iterator[tuple[int, str | tuple[str, ...], list[str], str | None]]:
    if path.suffix == ".js":
        for kind, *literals in _CALL.findall(path.read_text(encoding="utf-8")):
            one, several = ("".join(map(json.loads, _LITERAL.findall(text))) for text in literals)
            yield 0, (one, several) if kind == "tn" else one, [], None
    elif path.suffix == ".py":
        yield from extract_from_file("python", path, keywords=_KEYWORDS)
    else:
        options = {"trimmed": "true", "silent": "false"}
        yield from extract_from_file("jinja2", path, keywords=_KEYWORDS, options=options)


def check() -> list[str]:
    """Report texts that are untranslated, wrongly translated, or not marked for translation."""
    wanted = extracted()
    found = [f"{path}: not marked: {text}" for path, text in unmarked()]
    for code in LANGUAGES:
        if code != ENGLISH:
            found += (f"{code}.po: {what}" for what in faults(_read(code), wanted))
    extra = {path.stem for path in LOCALES.glob("*.po")} - LANGUAGES.keys()
    return found + [f"{code}.po: no language of webjudge/languages.py" for code in extra]


def faults(catalog: Catalog, wanted: Catalog) -> Iterator[str]:
    """Report errors of a catalog."""
    for message in filter(_key, wanted):
        mine = catalog.get(message.id)
        if mine is None:
            yield f"missing: {_key(message)}"
        elif mine.fuzzy or not all(texts_of(mine.string)):
            yield f"not translated: {_key(message)}"
        elif is_of_scripts(mine) != is_of_scripts(message):
            yield f"not where it is used: {_key(message)}"
        else:
            # A form for one may leave out the number.
            places = [{*_FIXED.findall(form)} for form in texts_of(message.id)]
            for form in texts_of(mine.string):
                if {*_FIXED.findall(form)} not in places:
                    yield f"other places or tags: {form}"
    yield from (
        f"no longer used: {_key(one)}" for one in catalog if one.id and one.id not in wanted
    )


def _key(message: Message) -> str:
    return texts_of(message.id)[0]


def texts_of(text: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    """A text, or its singular and plural."""
    return (text or "",) if isinstance(text, str | None) else tuple(text)


def is_of_scripts(message: Message) -> bool:
    return any(name.endswith(".js") for name, _ in message.locations)


def _read(code: str) -> Catalog:
    path = LOCALES / f"{code}.po"
    if not path.exists():
        return Catalog(locale=code.replace("-", "_"), charset="utf-8", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=code.replace("-", "_"), charset="utf-8")


def update() -> None:
    wanted = extracted()
    for code, name in LANGUAGES.items():
        if code == ENGLISH:
            continue
        catalog = _read(code)
        catalog.update(wanted, no_fuzzy_matching=True)
        catalog.fuzzy = False
        read = "" if code in READ else _NOT_READ
        catalog.header_comment = _HEADER.format(name=name, read=read).strip()
        file = BytesIO()
        write_po(file, catalog, width=100, include_lineno=False, ignore_obsolete=True)
        (LOCALES / f"{code}.po").write_bytes(_NO_FACTS.sub(b"", file.getvalue()))


class _Words(HTMLParser):
    """Collects a page's static texts."""

    _ATTRIBUTES = ("aria-label", "title", "alt", "placeholder")
    _NO_PROSE = ("kbd", "code", "script", "style", "svg")

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += (value or "" for name, value in attrs if name in self._ATTRIBUTES)
        if tag in self._NO_PROSE:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.texts.append(data)


def unmarked() -> Iterator[tuple[str, str]]:
    """Unmarked words in templates, and script calls that cannot be extracted."""
    for path in TEMPLATES:
        for text in plain_words(path.read_text(encoding="utf-8")):
            yield path.name, text
    for path in SCRIPTS:
        for match in _SCRIPT_CALL.finditer(path.read_text(encoding="utf-8")):
            yield path.name, f"no literal text: {match[0]}"


def plain_words(template: str) -> Iterator[str]:
    """The words of a template outside of its tags and expressions."""
    template = _TRANSLATED.sub("", template)
    plain, depth = [], 0
    for _, kind, value in Environment(autoescape=True).lex(template):
        depth += kind in ("variable_begin", "block_begin", "comment_begin", "raw_begin")
        if kind == "data" and not depth:
            plain.append(value)
        depth -= kind in ("variable_end", "block_end", "comment_end", "raw_end")
    parser = _Words()
    parser.feed("".join(plain))
    parser.close()
    for text in parser.texts:
        if len(re.sub(rf"[^{string.ascii_letters}]", "", text)) > 1:
            yield text.strip()


def main() -> int:
    if "--update" in sys.argv[1:]:
        update()
    compile_texts(LOCALES)
    found = check()
    for line in found:
        print(line)  # noqa: T201  what was found
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
