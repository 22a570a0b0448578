"""The catalogs of judges' pages: complete, read as gettext and browsers read them."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
from gettext import GNUTranslations
from typing import TYPE_CHECKING, get_args

import pytest
from babel.messages.catalog import Catalog
from werkzeug.datastructures import LanguageAccept

from hatch_build import compile_texts
from quem.errors import QuemError
from quem.studyfile.models import LanguageCode
from tests.languages.catalogs import LOCALES, check, faults, plain_words
from webjudge.languages import (
    ENGLISH,
    LANGUAGES,
    accepted,
    day,
    moment,
    ngettext,
    speaking,
    translations,
)

if TYPE_CHECKING:
    from pathlib import Path

TRANSLATED = [code for code in LANGUAGES if code != ENGLISH]


def test_every_language_is_complete() -> None:
    assert check() == []


def test_study_files_and_pages_name_the_same_languages() -> None:
    assert set(get_args(LanguageCode)) == set(LANGUAGES)


@pytest.mark.parametrize("code", TRANSLATED)
def test_compiled_texts_are_those_of_the_catalogs(code: str, tmp_path: Path) -> None:
    """Otherwise install again, or run ``python -m tests.languages.catalogs``."""
    shutil.copy(LOCALES / f"{code}.po", tmp_path)
    compile_texts(tmp_path)
    for name in (f"{code}.mo", f"{code}.json"):
        assert (LOCALES / name).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.skipif(not shutil.which("node"), reason="node is missing; `nox -s tests` provides it")
@pytest.mark.parametrize("code", TRANSLATED)
def test_scripts_choose_the_same_forms(code: str) -> None:
    """The categories of plurals are those of browsers, and their forms those of gettext."""
    script = (
        f"const rules = new Intl.PluralRules({json.dumps(code)});"
        "console.log(JSON.stringify([...Array(1000).keys()].map((n) => rules.select(n))))"
    )
    answer = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    words = json.loads((LOCALES / f"{code}.json").read_text(encoding="utf-8"))["1 word"]
    with speaking(code):
        forms = [ngettext("1 word", "{n} words", n) for n in range(1000)]
    assert [words[category] for category in json.loads(answer.stdout)] == forms


def test_what_is_not_translated_stays_english(tmp_path: Path) -> None:
    """Neither an empty text nor one that is to be looked at again is shown."""
    text = (
        'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
        '#: static/x.js\nmsgid "a"\nmsgstr ""\n\n'
        '#: static/x.js\n#, fuzzy\nmsgid "b"\nmsgstr "B"\n\n'
        '#: static/x.js\nmsgid "1 \\"c\\""\nmsgid_plural "{n} c"\n'
        'msgstr[0] "1 "\n"C"\nmsgstr[1] "{n} C"\n'
    )
    (tmp_path / "de.po").write_text(text, encoding="utf-8")
    compile_texts(tmp_path)
    with (tmp_path / "de.mo").open("rb") as file:
        read = GNUTranslations(file)
    assert [read.gettext(one) for one in "ab"] == ["a", "b"]
    assert read.ngettext('1 "c"', "{n} c", 2) == "{n} C"
    words = json.loads((tmp_path / "de.json").read_text(encoding="utf-8"))
    assert words == {'1 "c"': {"one": "1 C", "other": "{n} C"}}


def test_missing_texts_are_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("webjudge.languages.FOLDER", tmp_path)
    translations.cache_clear()
    with pytest.raises(QuemError, match="in Deutsch are not compiled; install quem again"):
        translations("de")


def test_faults_of_a_catalog_are_named() -> None:
    wanted, mine = Catalog(), Catalog(locale="de")
    for text in ("One {n}", "Two", "<b>Three</b>", "Four"):
        wanted.add(text, locations=[("a.py", 1)])
    translated = {"One {n}": "Eins {m}", "Two": "", "<b>Three</b>": "<i>Drei</i>", "Five": "Fünf"}
    for text, other in translated.items():
        mine.add(text, other, locations=[("a.py", 1)])
    assert list(faults(mine, wanted)) == [
        "other places or tags: Eins {m}",
        "not translated: Two",
        "other places or tags: <i>Drei</i>",
        "missing: Four",
        "no longer used: Five",
    ]


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<kbd>Esc</kbd><code>abc</code>{# A note. #}<p>A</p>", []),
        ('<p>{{ _("Hello") }} · {{ name }}</p>', []),
        ('<p aria-label="Hello">Hi {{ name }}</p>', ["Hello", "Hi"]),
        ("{% trans n=2 %}One{% pluralize %}Two{% endtrans %}", []),
    ],
)
def test_plain_words_in_templates_are_found(template: str, found: list[str]) -> None:
    """What is not marked for translation, in texts and in what is read out."""
    assert list(plain_words(template)) == found


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ("de-CH en", "de"),
        ("it fr-CA en", "fr"),
        ("EN-gb", "en"),
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("zh-Hans-SG", "zh-Hans"),
        ("zh-Hant-TW", None),
        ("zh-TW en", "en"),
        ("de_AT", "de"),
        ("- x-y *", None),
        ("", None),
    ],
)
def test_the_nearest_language_is_of_the_same_script(tags: str, code: str | None) -> None:
    """Who reads Traditional Chinese gets no Simplified Chinese; regions do not matter."""
    assert accepted(LanguageAccept((tag, 1) for tag in tags.split())) == code


def test_dates_are_written_as_people_write_them() -> None:
    first = dt.date(2031, 5, 1)
    at = dt.datetime(2031, 12, 12, 7, 5, tzinfo=dt.UTC)
    written = {}
    for code in LANGUAGES:
        with speaking(code):
            written[code] = (day(first), moment(at))
    east = ("2031年5月1日", "2031年12月12日 07:05 UTC")
    assert written == {
        "en": ("1 May 2031", "12 December 2031, 07:05 UTC"),
        "de": ("1. Mai 2031", "12. Dezember 2031, 07:05 UTC"),
        "es": ("1 de mayo de 2031", "12 de diciembre de 2031, 07:05 UTC"),
        "fr": ("1 mai 2031", "12 décembre 2031, 07:05 UTC"),
        "ja": east,
        "zh-Hans": east,
    }
