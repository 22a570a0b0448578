"""What the database counts over all judges is what each judge's ballots say."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from quem.store.models import TaskRow
from quem.store.people import (
    decline,
    erase,
    issue_links,
    people_of,
    person_named,
    record_visit,
    revoke_link,
)
from quem.store.planned import Group, JudgingPlan
from quem.store.progress import progress_of
from quem.store.standing import (
    Span,
    counts_by_status,
    judges_standing,
    share_of_answers,
    task_counts,
)
from quem.store.state import Comparison, State
from quem.store.work import current_state
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store.made import BEST_FIRST, PLAN, SOLVERS, STUDY, dealt, judge, prepare, save

if TYPE_CHECKING:
    from quem.store.engine import Store
    from quem.store.models import Kind

PEOPLE = tuple(f"J{number}" for number in range(1, 10))
STATUS = {
    "J1": "unlinked",
    "J2": "done",
    "J3": "active",
    "J4": "unopened",
    "J5": "revoked",
    "J6": "declined",
    "erased-1": "erased",
    "J8": "done",
    "J9": "active",
}
# The first judge's answers hold what looks like an answer in the database.
WORDS = State(
    ranked=BEST_FIRST.ranked,
    comment='"verdict": "equal"',
    comparisons=(
        Comparison("S1", "sys", "equal", "left", 1.5),
        Comparison("S2", "sys", "better", "right", 2.5),
    ),
)


@pytest.fixture
def crowd(store: Store) -> Store:
    """A study with a judge of each status; each has begun what their number says."""
    prepare(store, [DeclaredJudge(id=one, name=f"Name {one}") for one in PEOPLE])
    for number, one in enumerate(PEOPLE):
        held = dealt(store, one) if number else []
        count = len(held) if STATUS.get(one) == "done" else number // 2
        for place, ballot in enumerate(held[:count]):
            assert ballot.layout is not None
            kind: Kind = "submit" if STATUS.get(one) == "done" or place % 2 else "save"
            solvers = tuple(ballot.layout.solvers.values())
            state = WORDS if len(solvers) == len(SOLVERS) else State(ranked=(solvers,))
            save(store, ballot, state, kind=kind)
            with store.write() as c:
                spent = update(TaskRow).where(TaskRow.key == ballot.key)
                c.execute(spent.values(seconds=60.0 * number + place))
    with store.write() as c:
        known = [one for one in people_of(c, STUDY, "judge") if one.id not in ("J1", "J5", "J6")]
        issue_links(c, known, "shell")
        for person in known:
            if person.id != "J4":
                record_visit(c, person)
        revoke_link(c, person_named(c, STUDY, "judge", "J5"), "shell")
        decline(c, person_named(c, STUDY, "judge", "J6"))
        erase(c, person_named(c, STUDY, "judge", "J7"), "shell")
    return store


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        JudgingPlan(PLAN.groups[1:], repeat=1),
        dataclasses.replace(PLAN, groups=(Group("P1", ("S9",)), *PLAN.groups[1:]), block_size=9),
    ],
)
def test_all_is_counted_as_judge_by_judge(crowd: Store, plan: JudgingPlan) -> None:
    """Judges, rankings, and times; also where the study has lost a group since."""
    with crowd.read() as c:
        everybody = progress_of(c, people_of(c, STUDY, "judge"), plan)
        found = judges_standing(c, STUDY, plan)
        counts = counts_by_status(c, STUDY, plan)
        tasks = task_counts(c, STUDY, plan)
        answers = share_of_answers(c, STUDY)
        ranked = [
            task
            for one in progress_of(c, people_of(c, STUDY, "judge"), PLAN)
            for task in one.tasks
            if not task.practice
        ]
        given = [one.verdict for task in ranked for one in current_state(c, task).comparisons]
    assert [(one.judge.key, one.submitted, one.seconds) for one in found] == [
        (one.judge.key, one.submitted, one.seconds) for one in everybody
    ]
    if plan is PLAN:
        assert {one.judge.id: one.status for one in found} == STATUS
    for status, count in counts.items():
        these = [one for one in everybody if found[everybody.index(one)].status == status]
        assert count.judges == len(these)
        assert count.submitted == sum(one.submitted for one in these)
        begun = [[task.status != "new" for task in one.tasks] for one in these]
        assert (count.started, count.judges_started) == (sum(map(sum, begun)), sum(map(any, begun)))
        assert count.seconds == sum(one.seconds for one in these)
    for (problem, block, practice), task_count in tasks.items():
        same = [
            task
            for one in everybody
            for task in one.tasks
            if (task.problem, task.block, task.practice) == (problem, block, practice)
            and task.occasion == 1
        ]
        times = [t.seconds for t in same if t.status == "submitted" and t.seconds]
        assert task_count.started == sum(task.status != "new" for task in same)
        assert task_count.done == sum(task.status == "submitted" for task in same)
        assert task_count.minutes == (pytest.approx(median(times) / 60) if times else None)
    assert (answers.count, answers.equal) == (len(given), given.count("equal"))
    assert answers.equal > 0


@pytest.mark.parametrize("by", ["first", "least"])
def test_pages_lead_to_everybody_once_and_back(crowd: Store, by: str) -> None:
    """From page to page forward and backward, in either order."""
    with crowd.read() as c:

        def page(**values: object) -> list[tuple[int, int]]:
            span = Span(by, **values)  # type: ignore[arg-type]
            found = judges_standing(c, STUDY, PLAN, 2, span=span)
            return [(one.submitted, one.judge.key) for one in found]

        pages = [page()]
        while following := page(start=pages[-1][-1]):
            pages.append(following)
        everybody = [one for some in pages for one in some]
        assert len(set(everybody)) == len(everybody) == len(PEOPLE)
        assert everybody == sorted(everybody, key=None if by == "least" else lambda one: one[1])
        for before, some in pairwise(pages):
            assert page(start=some[0], is_back=True) == before


def test_judges_are_found_by_a_part_of_id_or_name(crowd: Store) -> None:
    """In small or large letters; signs of patterns mean themselves."""
    with crowd.read() as c:
        for text, ids in (("name j3", ["J3"]), ("j4", ["J4"]), ("%", []), ("_", [])):
            found = judges_standing(c, STUDY, PLAN, span=Span(text=text))
            assert [one.judge.id for one in found] == ids


def test_one_judge_can_be_asked_for(crowd: Store) -> None:
    """By their key."""
    with crowd.read() as c:
        (one,) = judges_standing(c, STUDY, PLAN, key=judge(crowd, "J3").key)
    assert (one.judge.id, one.status, one.total) == ("J3", "active", 6)
