"""Email addresses of judges and subjects: in the study file, or ``people.csv`` beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quem.errors import Mistake, QuemError, refuse
from quem.io.rows import read_rows
from quem.io.text import nearest
from quem.studyfile.fields import address_trouble, header_trouble

if TYPE_CHECKING:
    from pathlib import Path

    from quem.studyfile.relevance import JudgedSpec

PEOPLE = "people.csv"
_ROLES = ("judge", "subject")
_COLUMNS = ("id", "email", "name", "role")
_REQUIRED = _COLUMNS[:2]


class Addressee(NamedTuple):
    """The address and name of a letter's recipient."""

    # The name may be empty
    email: str
    name: str = ""


def addresses_of(spec: JudgedSpec, study: Path) -> dict[tuple[str, str], Addressee]:
    """The addresses of a study's people, by role ("judge" or "subject") and id."""
    asked = spec.solving.people if spec.solving else ()
    declared = [("judge", one) for one in spec.judges] + [("subject", one) for one in asked]
    found = {(role, one.id): Addressee(one.email, one.name) for role, one in declared if one.email}
    path = study.with_name(PEOPLE)
    if not path.exists():
        return found
    table = read_rows(path, what="addresses", known=_COLUMNS)
    mistakes = list(table.mistakes)
    if {*table.header} - {*_COLUMNS} or {*_REQUIRED} - {*table.header}:
        message = "the first line has to be id,email or id,email,name,role"
        raise QuemError(Mistake(table.name, 1, message=message))
    listed: dict[tuple[str, str], Addressee] = {}
    for line, row in table.rows:
        key = row.get("role") or "judge", row["id"]
        message = _mistake(row, *key, is_known=key in listed)
        if not message and key in found and found[key].email != row["email"]:
            message = "the study file has another address; leave one of them out"
        if message:
            mistakes.append(Mistake(table.name, line, key=row["id"], message=message))
        elif row["email"]:
            listed[key] = Addressee(row["email"], row.get("name", ""))
    refuse(mistakes)
    return {**listed, **found}


def _mistake(row: dict[str, str], role: str, person: str, *, is_known: bool) -> str:
    """The error in a row; empty if there is none."""
    if trouble := next(filter(None, map(header_trouble, row.values())), ""):
        return trouble
    if not person:
        return "has no id; add it"
    if role not in _ROLES:
        return f"{role[:60]!r} is not a role; use judge or subject{nearest(role, _ROLES)}"
    if is_known:
        return "is named twice; leave one of the rows out"
    return address_trouble(row["email"]) if row["email"] else ""
