"""The study's own questions: what pages ask, what has to be answered, and answers at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.store.digests import keyed
from quem.store.state import LONGEST_COMMENT
from quem.store.work import current_state
from quem.studyfile.relevance import GRADE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy.orm import Session

    from quem.store.models import PersonRow, TaskRow
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
            given: Mapping[str, str] = state.sure
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
    c: Session, site: Site, judge: PersonRow, ballots: Sequence[TaskRow]
) -> list[tuple[TaskRow, str]]:
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


def read_answers(
    questions: Sequence[Question], form: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str], tuple[Question, ...]]:
    """Read the form with some questions, as the macro ``question_field`` makes it."""
    given = dict(_given(questions, form))
    kinds = {question.id: question.kind for question in questions}
    written = {id_: text for id_, text in given.items() if kinds[id_] == "text"}
    answers = {id_: text for id_, text in given.items() if kinds[id_] != "text"}
    missing = (q for q in questions if q.required and q.id not in given)
    return answers, written, tuple(missing)


def _given(questions: Sequence[Question], form: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give what is an answer; anything else was not made with our form."""
    for number, question in enumerate(questions):
        text = form.get(f"question-{number}", "").replace("\0", "").strip()[:LONGEST_COMMENT]
        if text and (question.kind == "text" or text in question.values):
            yield question.id, text
