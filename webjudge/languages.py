"""Texts of judges' pages in the judge's language; the catalogs are in ``locales``."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from gettext import c2py
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from quem.store.models import now

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator

ENGLISH: Final = "en"
FOLDER = Path(__file__).with_name("locales")


@dataclass(frozen=True)
class Language:
    """A language that judges can choose."""

    name: str  # in the language
    # The categories of CLDR that its plural forms belong to, in the order of its catalog.
    plurals: tuple[str, ...] = ("one", "other")
    is_read: bool = False  # whether a native reader has read all texts
    direction: str = "ltr"  # in which it is written


# By what `lang` in HTML and `quem.studyfile.models.LanguageCode` call it.
LANGUAGES = {
    ENGLISH: Language("English", is_read=True),
    "de": Language("Deutsch"),
    "es": Language("Español"),
    "fr": Language("Français"),
    "ja": Language("日本語", ("other",)),
    "zh-Hans": Language("简体中文", ("other",)),
}
# Where a tag without a script means one.
_SCRIPTS = {"zh": "hans", "zh-tw": "hant", "zh-hk": "hant", "zh-mo": "hant"}

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


def speak(code: str) -> None:
    """Set the language of what this request answers."""
    _spoken.set(code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Answer in another language for a while, such as a letter that a page shows."""
    before = spoken()
    speak(code)
    try:
        yield
    finally:
        speak(before)


def spoken() -> str:
    """Give the code of the language of what this request answers."""
    return _spoken.get()


def gettext(text: str, **values: object) -> str:
    """Translate a text, and fill in values."""
    (translated, *_) = catalog(spoken()).messages.get(text, (text,))
    return translated % values if values else translated


def ngettext(one: str, several: str, num: int, **values: object) -> str:
    """Translate a text for one or for several, and fill in values and the number, ``num``.

    Without values, places are left as they are.
    """
    known = catalog(spoken())
    forms = known.messages.get(one, (one, several))
    text = forms[known.form(num)]
    return text % {"num": num, **values} if values else text


def marked(text: str) -> str:
    """Mark a text that is translated where it is used."""
    return text


_MONTHS = (
    marked("January"),
    marked("February"),
    marked("March"),
    marked("April"),
    marked("May"),
    marked("June"),
    marked("July"),
    marked("August"),
    marked("September"),
    marked("October"),
    marked("November"),
    marked("December"),
)


def day(date: dt.date, *, has_year: bool | None = None) -> str:
    """Write a date as people say it; if nothing else is asked for, the year of another year only.

    Languages may have an ordinal for the first of a month.
    """
    month = gettext(_MONTHS[date.month - 1])
    if date.year != now().year if has_year is None else has_year:
        return ngettext(
            "%(num)s %(month)s %(year)s",
            "%(num)s %(month)s %(year)s",
            date.day,
            month=month,
            year=date.year,
        )
    return ngettext("%(num)s %(month)s", "%(num)s %(month)s", date.day, month=month)


def moment(at: dt.datetime) -> str:
    """Write a time in UTC."""
    return gettext("%(day)s, %(time)s UTC", day=day(at, has_year=True), time=f"{at:%H:%M}")


_NOTHING = Markup()


@dataclass(frozen=True)
class Catalog:
    """The texts of a language."""

    # The forms of each text, by the text in English; that for one, if there are several.
    messages: dict[str, tuple[str, ...]]
    form: Callable[[int], int]  # which form goes with a number
    # The texts of scripts as JSON, as ``static/words.js`` reads it; empty in English.
    words: Markup = _NOTHING


@lru_cache
def catalog(code: str) -> Catalog:
    """Read the catalog of a language, once."""
    if code == ENGLISH:
        return Catalog({}, lambda n: int(n != 1))
    text = (FOLDER / f"{code}.po").read_text(encoding="utf-8")
    return read_catalog(text, LANGUAGES[code].plurals)


_LINE = re.compile(r'(?:(msg\w+(?:\[\d\])?) )?"(.*)"')
_PLURAL = re.compile(r"plural=(.*);")


def read_catalog(text: str, plurals: tuple[str, ...]) -> Catalog:
    """Read a catalog in the format of gettext (``.po``).

    What is not translated, or to be looked at again (``fuzzy``), stays English.
    """
    messages: dict[str, tuple[str, ...]] = {}
    words: dict[str, str | dict[str, str]] = {}
    header = ""
    for entry, is_of_scripts in _entries(text):
        name, *forms = (form for key, form in entry.items() if key != "msgid_plural")
        if not name:
            (header,) = forms
        elif all(forms):
            messages[name] = tuple(forms)
            if is_of_scripts:
                several = dict(zip(plurals, forms, strict=False))
                words[name] = several if "msgid_plural" in entry else forms[0]
    match = _PLURAL.search(header)
    return Catalog(messages, c2py(match[1] if match else "0"), htmlsafe_json_dumps(words))


def _entries(text: str) -> Iterator[tuple[dict[str, str], bool]]:
    """Give each entry by keyword, and whether a script uses it."""
    for block in text.split("\n\n"):
        entry: dict[str, str] = {}
        keyword = ""
        for line in block.splitlines():
            if match := _LINE.fullmatch(line):
                keyword = match[1] or keyword
                # Escapes are those of JSON.
                entry[keyword] = entry.get(keyword, "") + json.loads(f'"{match[2]}"')
        if entry and not re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE):
            yield entry, bool(re.search(r"^#:.*\.js\b", block, re.MULTILINE))


def accepted(wanted: Iterable[str]) -> str | None:
    """Find the language that somebody reads best."""
    return next(filter(None, map(_nearest, wanted)), None)


def _nearest(tag: str) -> str | None:
    """Find the language of a tag, or the only one of the same primary tag and script."""
    tag = tag.lower().replace("_", "-")
    codes = {code.lower(): code for code in LANGUAGES}
    if tag in codes:
        return codes[tag]
    primary, script = tag.partition("-")[0], _script(tag)
    alike = [code for code in codes if code.partition("-")[0] == primary]
    fitting = [code for code in alike if _script(code) in (script, "")]
    return codes[alike[0]] if len(alike) == 1 and fitting else None


def _script(tag: str) -> str:
    """The script that a tag names or means; empty where it is the usual one."""
    primary, *others = tag.split("-")
    named = next((part for part in others if re.fullmatch("[a-z]{4}", part)), "")
    meant = (_SCRIPTS.get(f"{primary}-{part}") for part in others)
    return named or next(filter(None, meant), _SCRIPTS.get(primary, ""))
