"""Assignment of tasks to judges, and their order."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from quem.store import assignment, studies, work
from quem.store.models import TaskRow, now
from quem.store.planned import Group, JudgingPlan
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store import made

if TYPE_CHECKING:
    from quem.store.database import Store

MANY = tuple(DeclaredJudge(id=f"J{number}") for number in range(1, 13))
MORE_SOLVERS = (*(f"S{number}" for number in range(1, 16)), "sys")
BLOCKED = JudgingPlan(
    tuple(Group(problem, MORE_SOLVERS) for problem in ("P1", "P2", "P3")),
    practice=Group("P0", made.SOLVERS[:2]),
    repeat=1,
    block_size=8,
)


def _all_of(held: list[TaskRow]) -> list[tuple[object, ...]]:
    return [
        (b.public_id, b.position, b.layout_id, b.problem, b.block, b.occasion, b.solvers)
        for b in held
    ]


def _order(ballot: TaskRow) -> tuple[str, ...]:
    assert ballot.layout is not None
    return tuple(ballot.layout.letters)


def test_what_judges_are_dealt(store: Store) -> None:
    """Practice, each problem once, and what came first again; orders and ids are random."""
    made.prepare(store, MANY)
    held = [made.dealt(store, declared.id) for declared in MANY]
    places = [(n, n == 0, 1 if n < 5 else 2) for n in range(7)]
    for mine in held:
        assert [(b.position, b.practice, b.occasion) for b in mine] == places
        assert sorted(b.problem for b in mine[1:5]) == ["P1", "P2", "P3", "P4"]
        assert [b.problem for b in mine[5:]] == [b.problem for b in mine[1:3]]
        assert made.PLAN.find(mine[0]) == made.PLAN.practice
        assert all(made.PLAN.find(b) == Group(b.problem, made.SOLVERS) for b in mine[1:])
        assert all((b.head, b.submitted, b.seconds) == (0, None, 0) for b in mine)
        assert made.read(store, work.current_state, mine[1]).tray == _order(mine[1])
    assert len({tuple(b.problem for b in mine[1:5]) for mine in held}) > 4
    layouts = [_order(b) for mine in held for b in mine[1:]]
    assert all(sorted(layout) == sorted(made.SOLVERS) for layout in layouts)
    # Of 24 orders nearly all are to be expected in 72 draws.
    assert len(set(layouts)) > 15
    assert any(_order(mine[1]) != _order(mine[5]) for mine in held)
    ids = {b.public_id for mine in held for b in mine}
    assert len(ids) == 7 * len(MANY)
    assert all(re.fullmatch(r"[\w-]{12}", public_id) for public_id in ids)


def test_what_was_dealt_stays(store: Store) -> None:
    """Assigned tasks stay; later ones are appended."""
    before = made.dealt(store)
    made.save(store, before[1])
    assert _all_of(made.dealt(store)) == _all_of(before)
    more = replace(made.PLAN, groups=(*made.PLAN.groups, Group("P9", made.SOLVERS)), repeat=3)
    after = made.dealt(store, plan=more)
    assert _all_of(after[:7]) == _all_of(before)
    assert [(b.problem, b.occasion) for b in after[7:]] == [("P9", 1), (before[3].problem, 2)]
    shorter = JudgingPlan(made.PLAN.groups[:1])
    assert {b.problem for b in after if shorter.find(b)} == {"P1"}


def test_first_visits_at_once_deal_once(store: Store) -> None:
    key = made.judge(store).key
    assert (
        made.at_once(4, lambda _: made.write(store, assignment.assign_ballots, key, made.PLAN))
        == [None] * 4
    )
    held = made.read(store, work.tasks_of, key)
    assert len(held) == len({(b.problem, b.occasion) for b in held}) == 7


def _opened_an_hour_ago(store: Store) -> TaskRow:
    mine, earlier = made.ballot(store).key, {"opened_at": now() - dt.timedelta(hours=1)}
    with store.write() as c:
        c.execute(update(TaskRow).where(TaskRow.key == mine).values(earlier))
    return made.ballot(store)


def test_times_that_come_at_once_are_all_added(store: Store) -> None:
    """Though each page read the ballot before any wrote; after a discarded trial none is."""
    held = _opened_an_hour_ago(store)

    def add(number: int) -> None:
        made.write(store, work.add_seconds, held, 1, {"S1": 2.0, made.SOLVERS[1 + number % 3]: 4.0})

    assert made.at_once(6, add) == [None] * 6
    assert made.ballot(store).seconds == 6
    assert made.ballot(store).views == {"S1": 12.0, **dict.fromkeys(made.SOLVERS[1:], 8.0)}
    made.write(store, studies.discard_trial, made.STUDY, "shell")
    add(0)
    assert made.read(store, work.tasks_of, held.person_key) == []


def test_large_groups_are_dealt_in_blocks(store: Store) -> None:
    assert len(BLOCKED.parts) == 9
    held = made.dealt(store, plan=BLOCKED)
    assert _all_of(made.dealt(store, plan=BLOCKED)) == _all_of(held)
    first, again = held[1:10], held[10]
    for start in (0, 3, 6):
        blocks = first[start : start + 3]
        assert len({b.problem for b in blocks}) == 1
        assert sorted(b.block for b in blocks) == [1, 2, 3]
        assert [len(b.solvers or ()) for b in blocks] == [6, 6, 6]
        assert {solver for b in blocks for solver in b.solvers or ()} == set(MORE_SOLVERS)
    assert all(sorted(_order(b)) == sorted(b.solvers or made.SOLVERS[:2]) for b in held)
    (same,) = [b for b in first if (b.problem, b.block) == (again.problem, again.block)]
    assert sorted(again.solvers or ()) == sorted(same.solvers or ())
    # A solver who left leaves the blocks.
    fewer = replace(
        BLOCKED, groups=tuple(Group(g.problem, MORE_SOLVERS[1:]) for g in BLOCKED.groups)
    )
    for b in first:
        group = fewer.find(b)
        assert group
        assert set(group.solvers) == set(b.solvers or ()) - {"S1"}


@pytest.mark.parametrize("sizes", [(None, 8), (8, None)])
def test_a_design_that_comes_or_goes_midway(
    store: Store, sizes: tuple[int | None, int | None]
) -> None:
    began, later = (replace(BLOCKED, block_size=size) for size in sizes)
    before = _all_of(made.dealt(store, plan=began))
    made.write(store, assignment.assign_ballots, made.judge(store).key, later)
    assert _all_of(made.read(store, work.tasks_of, made.judge(store).key)) == before
