"""Judges' answers to the study's own questions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from quem.io.text import no_formula
from quem.store.exporting import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.store.exporting import SubmittedRanking
    from quem.store.models import PersonRow


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
    return written(names, ([row[name] for name in names] for row in rows))
