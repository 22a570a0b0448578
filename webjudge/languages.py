"""Languages of judges' pages: negotiation, translations, and dates."""

from __future__ import annotations

import json
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flask import request, session
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from werkzeug.datastructures import LanguageAccept

from quem.errors import QuemError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from quem.store.models import PersonRow
    from webjudge.site import Site

ENGLISH: Final = "en"
FOLDER = Path(__file__).with_name("locales")
# Keys are values of `lang` in HTML and of `quem.studyfile.models.LanguageCode`.
LANGUAGES = {
    ENGLISH: "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "ja": "日本語",
    "zh-Hans": "简体中文",
}
# Reviewed by a native reader.
READ = (ENGLISH,)
_FROM_THE_RIGHT = ("ar", "fa", "he", "ur")
# Browsers' codes of Simplified Chinese.
_SIMPLIFIED = ("zh-CN", "zh-SG", "zh-Hans-CN", "zh-Hans-SG")
_PREVIEW = "/dashboard/preview"
# Their pages are in English.
_OF_ORGANIZERS = ("/dashboard", "/d/")

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)
spoken = _spoken.get


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Switch the language temporarily, for example for a letter that a page shows."""
    before = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(before)


def choose_language(site: Site, person: PersonRow | None = None) -> None:
    """Set the language: the reader's choice, else the person's, the browser's, or the study's."""
    _spoken.set(_chosen(site, person))


def _chosen(site: Site, person: PersonRow | None) -> str:
    study = site.usual_language
    if request.path.startswith(_PREVIEW):
        named = request.args.get("language", "")
        return named if named in LANGUAGES else study
    if request.path.startswith(_OF_ORGANIZERS):
        return ENGLISH
    kept = session.get("language")
    return kept or (person and site.language(person)) or accepted(request.accept_languages) or study


def keep_language(code: str) -> None:
    """Store the chosen language in a cookie."""
    session.permanent = True
    session["language"] = code


def accepted(wanted: LanguageAccept) -> str | None:
    """Best match for an Accept-Language header; ignores regions, respects scripts."""
    for tag, quality in wanted:
        best = LanguageAccept([(tag, quality)]).best_match([*LANGUAGES, *_SIMPLIFIED])
        if best and tag != "*":
            return "zh-Hans" if best in _SIMPLIFIED else best
    return None


def language_values() -> dict[str, Any]:
    """Template values: the page's language, the other languages, and the scripts' texts."""
    current = spoken()
    return {
        "language": current,
        "direction": "rtl" if current in _FROM_THE_RIGHT else "ltr",
        "languages": LANGUAGES,
        "unread": LANGUAGES.keys() - READ,
        "words": _words(current),
    }


@cache
def translations(code: str) -> NullTranslations:
    """The texts of a language; English has none."""
    if code == ENGLISH:
        return NullTranslations()
    try:
        with (FOLDER / f"{code}.mo").open("rb") as file:
            return GNUTranslations(file)
    except FileNotFoundError:
        raise QuemError(
            f"the texts of judges' pages in {LANGUAGES[code]} are not compiled; install quem "
            "again, in a checkout by: pip install -e ."
        ) from None


@cache
def _words(code: str) -> Markup:
    """Translations of the scripts as JSON for ``static/words.js``; empty for English."""
    if code == ENGLISH:
        return Markup()
    return htmlsafe_json_dumps(json.loads((FOLDER / f"{code}.json").read_text(encoding="utf-8")))


def gettext(text: str, **values: object) -> str:
    """Translate a text and interpolate values."""
    translated = translations(spoken()).gettext(text)
    return translated % values if values else translated


def ngettext(one: str, several: str, num: int, **values: object) -> str:
    """Translate a singular or plural text and interpolate values and ``num``.

    Without values, placeholders stay unchanged.
    """
    text = translations(spoken()).ngettext(one, several, num)
    return text % {"num": num, **values} if values else text


def marked(text: str) -> str:
    """Mark a text for extraction; it is translated on use."""
    return text


def day(date: dt.date) -> str:
    """Format a date with the month's name."""
    return _dates()[spoken()][date.month - 1].format(day=date.day, year=date.year)


@cache
def _dates() -> dict[str, list[str]]:
    """Date formats per month and language, from CLDR at build time."""
    dates: dict[str, list[str]] = json.loads((FOLDER / "dates.json").read_text(encoding="utf-8"))
    return dates


def moment(at: dt.datetime) -> str:
    """Format a time in UTC."""
    return gettext("%(day)s, %(time)s UTC", day=day(at), time=f"{at:%H:%M}")
