"""Judges' answers to the study's own questions, and their guesses of authors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.io.rows import csv_text
from quem.io.text import no_formula
from quem.store.events import record
from quem.store.models import EventRow, PersonRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.orm import Session

    from quem.store.exporting import SubmittedRanking


GUESSES = ("person", "system", "unsure")
_GUESSED, _SKIPPED = "maker-guessed", "makers-skipped"


@dataclass(frozen=True)
class Answer:
    """One answer."""

    judge: str
    problem: str  # empty for a question at the end, which has neither block nor occasion
    block: int | None
    occasion: int | None
    solver: str  # empty for a question about a task or at the end
    question: str  # id of the question
    answer: str  # as chosen or written; "yes" for a flag
    is_written: bool = False  # whether it is free text


def answers_to_questions(
    rankings: Iterable[SubmittedRanking], judges: Iterable[PersonRow]
) -> Iterator[Answer]:
    """All answers: those in submitted rankings, and those at the end."""
    for ranking in rankings:
        for shelf in ("answers", "written"):
            for question, given in getattr(ranking.state, shelf).items():
                for solver, answer in sorted(given.items()):
                    yield Answer(*ranking.place, solver, question, answer, shelf == "written")
    for judge in judges:
        for shelf, given in judge.closing.items():
            for question, answer in given.items():
                yield Answer(judge.id, "", None, None, "", question, answer, shelf == "written")


def answers_table(answers: Iterable[Answer]) -> str:
    """Answers as CSV, one row per answer; no text is a formula of a spreadsheet."""
    names = [field.name for field in fields(Answer) if field.name != "is_written"]
    rows = (
        vars(one) | {"answer": no_formula(one.answer) if one.is_written else one.answer}
        for one in answers
    )
    return csv_text([names, *([row[name] for name in names] for row in rows)])


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
