"""The organizer's text of an invitation: its fields and errors."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from quem.errors import Mistake, QuemError, collecting
from quem.io.text import nearest, read_text
from quem.studyfile.fields import header_trouble
from quem.studyfile.models import LanguageCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from quem.studyfile.reading import StudyFile

FIELDS = ("name", "title", "link", "due", "minutes")
_FIELD = re.compile(r"\{([^{}\n]*)\}")
_SUBJECT = re.compile(r"Subject:[ \t]*([^\n]*)\n+", re.IGNORECASE)


@dataclass(frozen=True)
class LetterText:
    """A text with fields such as ``{name}``."""

    subject: str  # of its first line, ``Subject: ...``; may be empty
    body: str

    def filled(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Subject and body with the fields filled in."""
        subject, body = (
            _FIELD.sub(lambda field: values[field[1]], text) for text in (self.subject, self.body)
        )
        return subject, body


def read_letter(path: Path, name: str, *, has_deadline: bool) -> LetterText:
    """Read the text of an invitation."""
    text = read_text(path, name, what="invitation")
    if mistakes := list(_mistakes(text, name, has_deadline=has_deadline)):
        raise QuemError(mistakes)
    first = _SUBJECT.match(text)
    return LetterText(first[1].strip() if first else "", text[first.end() if first else 0 :])


def find_letter(file: StudyFile) -> list[Mistake]:
    """The errors in a study's invitation."""
    content: Any = file.document.content
    has_deadline = content.get("deadline") is not None
    part = content.get("invitation")
    named = part.get("text") if isinstance(part, dict) else None
    if not isinstance(named, str) or not named:
        return []
    if missing := file.not_there(("invitation", "text"), named):
        return [missing]
    mistakes: list[Mistake] = []
    for language in ("", *get_args(LanguageCode)):
        path, name = file.beside(_of_language(named, language))
        if language and not path.exists():
            continue
        with collecting(mistakes):
            read_letter(path, name, has_deadline=has_deadline)
    return mistakes


def letter_in(study: Path, named: str, language: str) -> Path:
    """The path of an invitation in a language, or of the default one."""
    translated = study.parent / _of_language(named, language)
    return translated if translated.exists() else study.parent / named


def _of_language(named: str, language: str) -> str:
    stem, ending = posixpath.splitext(named)
    return f"{stem}.{language}{ending}" if language else named


def _mistakes(text: str, name: str, *, has_deadline: bool) -> Iterator[Mistake]:
    for field in _FIELD.finditer(text):
        line = text.count("\n", 0, field.start()) + 1
        column = field.start() - text.rfind("\n", 0, field.start())
        if field[1] not in FIELDS:
            known = ", ".join(f"{{{one}}}" for one in FIELDS)
            message = f"unknown field; there are {known}{nearest(field[1], FIELDS)}"
            yield Mistake(name, line, column, field[0][:60], message)
        elif field[1] == "due" and not has_deadline:
            message = "the study has no deadline; add it, or leave the field out"
            yield Mistake(name, line, column, field[0], message)
    first = _SUBJECT.match(text)
    if first and (trouble := header_trouble(first[1])):
        yield Mistake(name, 1, key="Subject", message=trouble)
    if "{link}" not in text:
        yield Mistake(name, message="has no {link}; add it on a separate line")
