"""The study's own questions: what pages ask, what has to be answered, and answers at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.store.ballots import current_state
from quem.store.digests import keyed
from quem.store.state import LONGEST_COMMENT
from quem.studyfile.relevance import GRADE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.orm import Session

    from quem.store.ballots import AssignedBallot
    from quem.store.models import PersonRow
    from quem.store.state import State
    from quem.studyfile.models import Question
    from webjudge.site import Site


MOST_MAKERS = 12


def asked_on_tasks(site: Site) -> list[dict[str, Any]]:
    """Describe the questions that the ranking page asks."""
    return [
        {
            "id": question.id,
            "about": question.about,
            "kind": question.kind or "choice",
            "text": question.text,
            "options": question.values,
            "ends": question.ends,
            "required": question.required,
        }
        # The grade has buttons of its own.
        for question in site.spec.judging.questions
        if question.about != "study"
    ]


def is_by_grades(site: Site, state: State) -> bool:
    """Whether each tie group has one grade, the highest first, where judges grade."""
    if not site.spec.labels:
        return True
    given = state.answers.get(GRADE, {})
    known = {str(grade): grade for grade in range(len(site.spec.labels))}
    placed = [name for group in state.ranked for name in group]
    if given.keys() != set(placed) or not known.keys() >= set(given.values()):
        return False
    grades = [{known[given[name]] for name in group} for group in state.ranked]
    order = [min(group) for group in grades]
    is_one = all(len(group) == 1 for group in grades)
    return is_one and order == sorted(set(order), reverse=True)


def is_answered(site: Site, state: State) -> bool:
    """Whether a ranking answers every question that has to be answered.

    Questions on solutions and on places are about those that have a place.
    """
    placed = [name for group in state.ranked for name in group]
    for question in site.spec.questions:
        if not question.required or question.about == "study":
            continue
        if question.about == "placement":
            given = state.sure
        else:
            shelf = state.written if question.kind == "text" else state.answers
            given = shelf.get(question.id, {})
        if not given.keys() >= set(placed if question.about != "task" else [""]):
            return False
    return True


def asked_at_the_end(site: Site) -> tuple[Question, ...]:
    """Give the questions that the page of thanks asks."""
    return tuple(q for q in site.spec.judging.questions if q.about == "study")


def drawn_makers(
    c: Session, site: Site, judge: PersonRow, ballots: Sequence[AssignedBallot]
) -> list[tuple[AssignedBallot, str]]:
    """Draw the solutions whose makers a judge guesses, of those that they placed.

    By the study's secret, so they are the same each time.
    """
    placed = {
        (ballot.problem, solver): (ballot, solver)
        for ballot in ballots
        if ballot.occasion == 1 and not ballot.practice and ballot.layout
        for group in current_state(c, ballot).ranked
        for solver in group
        if solver in ballot.layout.letters
    }
    drawn = sorted(placed, key=lambda place: keyed(site.secret, "maker", judge.id, *place))
    return [placed[place] for place in drawn[:MOST_MAKERS]]


def read_answers(questions: Sequence[Question], form: Mapping[str, str]) -> dict[str, str]:
    """The answers in a form of the macro ``question_field``; what else is sent is left out."""
    answers = {}
    for number, question in enumerate(questions):
        text = form.get(f"question-{number}", "").replace("\0", "").strip()[:LONGEST_COMMENT]
        if text and (question.kind == "text" or text in question.values):
            answers[question.id] = text
    return answers


def lack(questions: Sequence[Question], answers: Mapping[str, str]) -> bool:
    """Whether a required question has no answer."""
    return any(question.required and question.id not in answers for question in questions)
