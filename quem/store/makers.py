"""Judges' guesses of authors, in the activity log and so in archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store.events import record
from quem.store.models import EventRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from quem.store.models import PersonRow

GUESSES = ("person", "system", "unsure")
_GUESSED, _SKIPPED = "maker-guessed", "makers-skipped"


def guessed_makers(c: Session, judge: PersonRow) -> set[tuple[str, str]] | None:
    """Problem and solver of each solution with a judge's guess; None if they skipped it."""
    mine = EventRow.person_key == judge.key, EventRow.what.in_((_GUESSED, _SKIPPED))
    rows = c.execute(select(EventRow.what, EventRow.detail).where(*mine)).all()
    if any(what == _SKIPPED for what, _ in rows):
        return None
    return {(detail["problem"], detail["solver"]) for _, detail in rows}


def note_guess(c: Session, judge: PersonRow, problem: str, solver: str, guess: str) -> None:
    """Keep a judge's first guess of an author.

    The guess is one of `GUESSES`.
    """
    guessed = guessed_makers(c, judge)
    if guessed is not None and (problem, solver) not in guessed:
        detail = {"solver": solver, "problem": problem, "guess": guess}
        record(c, judge.study_id, "judge", _GUESSED, judge.key, **detail)


def skip_makers(c: Session, judge: PersonRow) -> None:
    """Note that a judge does not want to guess."""
    if guessed_makers(c, judge) is not None:
        record(c, judge.study_id, "judge", _SKIPPED, judge.key)
