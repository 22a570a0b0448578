"""Where letters to judges and subjects go: the study file, or ``people.csv`` beside it."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quem.studyfile.relevance import JudgedSpec

PEOPLE = "people.csv"
_ROLES = ("judge", "subject")
_COLUMNS = ("id", "email", "name", "role")
_REQUIRED = 2
_ADDRESS = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+", re.ASCII)


class Addressee(NamedTuple):
    """Where a letter goes, and whose name is above it."""

    # The name may be empty
    email: str
    name: str = ""


def addresses_of(spec: JudgedSpec, study: Path) -> dict[tuple[str, str], Addressee]:
    """Give the addresses of a study's people, by role ("judge" or "subject") and id."""
    asked = spec.solving.people if spec.solving else ()
    declared = [("judge", one) for one in spec.judges] + [("subject", one) for one in asked]
    found = {(role, one.id): Addressee(one.email, one.name) for role, one in declared if one.email}
    path = study.with_name(PEOPLE)
    if not path.exists():
        return found
    mistakes: list[Mistake] = []
    listed: dict[tuple[str, str], Addressee] = {}
    for line, row in _rows(path, mistakes):
        key = row.get("role", "") or "judge", row["id"]
        if mistake := _mistake(row, *key, is_known=key in listed):
            mistakes.append(Mistake(str(path), line, key=row["id"], message=mistake))
        elif key in found and found[key].email != row["email"]:
            message = "the study file has another address; leave one of them out"
            mistakes.append(Mistake(str(path), line, key=row["id"], message=message))
        elif row["email"]:
            listed[key] = Addressee(row["email"], row.get("name", ""))
    if mistakes:
        raise QuemError(mistakes)
    return {**listed, **found}


def _mistake(row: dict[str, str], role: str, person: str, *, is_known: bool) -> str:
    """Say what is wrong with a row, or nothing."""
    if not all(cell.isprintable() for cell in row.values()):
        return "must be one line of printable text"
    if not person:
        return "has no id; add it"
    if role not in _ROLES:
        return f"{role[:60]!r} is not a role; use judge or subject{nearest(role, _ROLES)}"
    if is_known:
        return "is named twice; leave one of the rows out"
    email = row["email"]
    if email and not _ADDRESS.fullmatch(email):
        return f"{email[:60]!r} is not an email address; use a value such as amy@example.org"
    return ""


def _rows(path: Path, mistakes: list[Mistake]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the line and the cells by column of each row."""
    name = str(path)
    text = read_text(path, name, what="addresses", legacy=True)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        header = [cell.strip().lower() for cell in next(reader, [])]
        unknown = [cell for cell in header if cell not in _COLUMNS]
        if unknown or {*_COLUMNS[:_REQUIRED]} - {*header} or len({*header}) != len(header):
            message = "the first line has to be id,email or id,email,name,role"
            mistakes.append(Mistake(name, 1, message=message))
            return
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            if len(cells) > len(header):
                message = f"has {len(cells)} cells, but the first line {len(header)}; quote commas"
                mistakes.append(Mistake(name, reader.line_num, message=message))
                continue
            stripped = [*map(str.strip, cells), *[""] * (len(header) - len(cells))]
            yield reader.line_num, dict(zip(header, stripped, strict=True))
    except csv.Error as error:
        mistakes.append(Mistake(name, reader.line_num, message=f"is no CSV file: {error}"))
