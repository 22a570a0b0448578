"""What the database counts over all judges is what each judge's ballots say."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from quem.store import standing
from quem.store.models import TaskRow
from quem.store.people import decline, erase, issue_link, people_of, record_visit, revoke_link
from quem.store.planned import Group, JudgingPlan
from quem.store.state import Comparison, State
from quem.store.work import current_state
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store.made import BEST_FIRST, PLAN, SOLVERS, STUDY, dealt, judge, on, prepare, read, save

if TYPE_CHECKING:
    from quem.store.database import Store

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
# The comment holds what looks like an answer in the database.
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
    names = [f"J{number}" for number in range(1, 10)]
    prepare(store, [DeclaredJudge(id=one, name=f"Name {one}") for one in names])
    for number, one in enumerate(names):
        held = dealt(store, one) if number else []
        is_done = STATUS.get(one) == "done"
        for place, ballot in enumerate(held if is_done else held[: number // 2]):
            assert ballot.layout is not None
            solvers = tuple(ballot.layout.solvers.values())
            state = WORDS if len(solvers) == len(SOLVERS) else State(ranked=(solvers,))
            save(store, ballot, state, kind="submit" if is_done or place % 2 else "save")
            with store.write() as c:
                spent = update(TaskRow).where(TaskRow.key == ballot.key)
                c.execute(spent.values(seconds=60.0 * number + place))
        if one not in ("J1", "J6"):
            on(store, one, issue_link, "shell")
        if one not in ("J1", "J4", "J5", "J6"):
            on(store, one, record_visit)
    on(store, "J5", revoke_link, "shell")
    on(store, "J6", decline)
    on(store, "J7", erase, "shell")
    return store


PLANS = (
    PLAN,
    JudgingPlan(PLAN.groups[1:], repeat=1),
    dataclasses.replace(PLAN, groups=(Group("P1", ("S9",)), *PLAN.groups[1:]), block_size=9),
)


def test_all_is_counted_as_judge_by_judge(crowd: Store) -> None:
    for plan in PLANS:
        counts_are_right(crowd, plan)


def counts_are_right(crowd: Store, plan: JudgingPlan) -> None:
    with crowd.read() as c:
        people = people_of(c, STUDY, "judge")
        everybody, found = (
            standing.progress_of(c, people, plan),
            standing.judges_standing(c, STUDY, plan),
        )
        counts, tasks = (
            standing.counts_by_status(c, STUDY, plan),
            standing.task_counts(c, STUDY, plan),
        )
        answers = standing.share_of_answers(c, STUDY)
        ranked = [
            one
            for of in standing.progress_of(c, people, PLAN)
            for one in of.tasks
            if not one.practice
        ]
        given = [one.verdict for task in ranked for one in current_state(c, task).comparisons]
    assert [(one.judge.key, one.submitted, one.seconds) for one in found] == [
        (one.judge.key, one.submitted, one.seconds) for one in everybody
    ]
    if plan is PLAN:
        assert {one.judge.id: one.status for one in found} == STATUS
    for status, count in counts.items():
        these = [one for one, of in zip(everybody, found, strict=True) if of.status == status]
        assert count.judges == len(these)
        assert count.submitted == sum(one.submitted for one in these)
        begun = [[task.status != "new" for task in one.tasks] for one in these]
        assert (count.started, count.judges_started) == (sum(map(sum, begun)), sum(map(any, begun)))
        assert count.seconds == sum(one.seconds for one in these)
    for place, task_count in tasks.items():
        same = [
            task
            for one in everybody
            for task in one.tasks
            if (task.problem, task.block, task.practice) == place and task.occasion == 1
        ]
        times = [t.seconds for t in same if t.status == "submitted" and t.seconds]
        assert task_count.started == sum(task.status != "new" for task in same)
        assert task_count.done == sum(task.status == "submitted" for task in same)
        assert task_count.minutes == (pytest.approx(median(times) / 60) if times else None)
    assert (answers.count, answers.equal) == (len(given), given.count("equal"))
    assert answers.equal > 0


def test_pages_lead_to_everybody_once_and_back(crowd: Store) -> None:
    def page(by: str, **values: object) -> list[tuple[int, int]]:
        span = standing.Span(by, **values)  # type: ignore[arg-type]
        found = read(crowd, standing.judges_standing, STUDY, PLAN, 2, span=span)
        return [(one.submitted, one.judge.key) for one in found]

    for by in ("first", "least"):
        pages = [page(by)]
        while following := page(by, start=pages[-1][-1]):
            pages.append(following)
        everybody = [one for some in pages for one in some]
        assert len(set(everybody)) == len(everybody) == len(STATUS)
        assert everybody == sorted(everybody, key=None if by == "least" else lambda one: one[1])
        for before, some in pairwise(pages):
            assert page(by, start=some[0], is_back=True) == before
    # In small or large letters; signs of patterns mean themselves.
    for text, ids in (("name j3", ["J3"]), ("j4", ["J4"]), ("%", []), ("_", [])):
        found = read(crowd, standing.judges_standing, STUDY, PLAN, span=standing.Span(text=text))
        assert [one.judge.id for one in found] == ids
    (one,) = read(crowd, standing.judges_standing, STUDY, PLAN, key=judge(crowd, "J3").key)
    assert (one.judge.id, one.status, one.total) == ("J3", "active", 6)
