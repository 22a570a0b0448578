"""Checking an answer for signs of its author before submission."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.solutions.files import inspect
from quem.solutions.identity import NameSearch
from quem.studyfile.models import Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from quem.solutions.model import SolutionFile
    from quem.store.models import PersonRow
    from quem.studyfile.relevance import JudgedSpec

_MOST = 10
_HANDLE = re.compile(r"(?<![\w@.])@[A-Za-z][\w-]{1,38}(?![\w.]*@)")


@dataclass(frozen=True)
class Named:
    """Words in an answer that could identify its author."""

    words: str
    file: int = 0  # number of the upload, from 1; 0 for the text
    line: int = 0  # of the text, from 1; 0 in a file
    page: int = 0  # of a file, from 1; 0 if it has none


def named_in(
    text: str,
    files: Sequence[tuple[Path, str]],
    spec: JudgedSpec,
    people: Iterable[PersonRow],
) -> list[Named]:
    """The names, ids, addresses, and identity words of the study in an answer."""
    known = _spec_with(spec, people)
    search = NameSearch(known)
    found = list(_in_text(text, search))
    for number, (path, name) in enumerate(files, 1):
        found += _in_file(path, name, number, search)
    return found[:_MOST]


def _spec_with(spec: JudgedSpec, people: Iterable[PersonRow]) -> JudgedSpec:
    """The study with these people as subjects, whom closing adds later."""
    subjects = tuple(
        Subject(id=one.id, name=one.name, experience=0.0) for one in people if not one.is_gone
    )
    return spec.model_copy(update={"subjects": subjects})


def _in_text(text: str, search: NameSearch) -> Iterator[Named]:
    found = [
        Named(hit.text, line=hit.line)
        for hit in search.known.find(text)
        if hit.level == "decide" or "@" in hit.text
    ]
    found += [
        Named(match[0], line=text.count("\n", 0, match.start()) + 1)
        for match in _HANDLE.finditer(text)
    ]
    yield from sorted(dict.fromkeys(found), key=lambda one: one.line)


def _in_file(path: Path, name: str, number: int, search: NameSearch) -> Iterator[Named]:
    try:
        file = inspect(path, name, path.name)
        _convert(file)
    except QuemError:
        return
    for place, hit in search.hits(file, (file,)):
        page = re.search(r"page (\d+)", place)
        yield Named(hit.text, file=number, page=int(page[1]) if page else 0)


def _convert(file: SolutionFile) -> None:
    """Convert a document to text; without LibreOffice, `quem check` searches it later."""
    if file.kind in ("office", "workbook"):
        from quem.blinding.office import prepare

        if mistakes := prepare([file], sandboxed=True):
            raise QuemError(mistakes)


def upload_trouble(path: Path, name: str, endings: Iterable[str]) -> str:
    """Why a file cannot be part of an answer, with the remedy; empty where it can."""
    allowed = list(endings)
    if path.suffix.casefold().lstrip(".") not in allowed:
        return f"cannot be uploaded here; use one of: {', '.join(allowed)}"
    try:
        inspect(path, name, path.name)
    except QuemError as error:
        return error.mistakes[0].message
    return ""
