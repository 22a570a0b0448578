"""What judges are given, and in which order."""

from __future__ import annotations

import datetime as dt
import re
import threading
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from quem.store import assignment as dealing
from quem.store import studies, work
from quem.store.models import TaskRow, now
from quem.store.people import (
    people_of,
)
from quem.store.planned import Group, JudgingPlan
from quem.store.work import NotAssignedError
from quem.studyfile.blocks import PairCounts
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store.made import (
    JUDGES,
    PLAN,
    SOLVERS,
    STUDY,
    at_once,
    ballot,
    dealt,
    judge,
    prepare,
    save,
)

if TYPE_CHECKING:
    from quem.store.engine import Store

MANY = tuple(DeclaredJudge(id=f"J{number}") for number in range(1, 25))
Key = tuple[str, int, int]


def _keys(held: list[TaskRow]) -> list[Key]:
    return [(b.problem, b.block, b.occasion) for b in held]


def _dealt(held: list[TaskRow]) -> list[tuple[object, ...]]:
    return [
        (b.public_id, b.position, b.layout_id, *key)
        for b, key in zip(held, _keys(held), strict=True)
    ]


def test_each_judge_gets_each_group_once(store: Store) -> None:
    """Practice comes first, then each group, then so many of them again."""
    held = dealt(store)
    assert [b.position for b in held] == list(range(7))
    assert (held[0].problem, held[0].practice) == ("P0", True)
    first, again = held[1:5], held[5:]
    assert sorted(_keys(first)) == [(f"P{n}", 1, 1) for n in range(1, 5)]
    assert [b.occasion for b in again] == [2, 2]
    assert not any(b.practice for b in held[1:])
    assert all((b.head, b.submitted, b.seconds) == (0, None, 0) for b in held)


def test_repeated_groups_are_those_seen_first(store: Store) -> None:
    """Between the two occasions of a group lies as much as can."""
    prepare(store, MANY)
    for declared in MANY:
        held = dealt(store, declared.id)
        assert [b.problem for b in held[5:]] == [b.problem for b in held[1:3]]


def test_orders_are_random_per_judge_and_group(store: Store) -> None:
    """Judges differ in the order of groups, and groups in the labels of solutions."""
    prepare(store, MANY)
    held = [dealt(store, declared.id) for declared in MANY]
    assert len({tuple(b.problem for b in mine[1:5]) for mine in held}) > 8
    layouts = [order(b) for mine in held for b in mine[1:]]
    assert all(sorted(layout) == sorted(SOLVERS) for layout in layouts)
    # Of 24 orders and 144 draws, each is to be expected.
    assert len(set(layouts)) > 20
    assert {layout[0] for layout in layouts} == set(SOLVERS)
    assert any(
        mine[1].layout != again.layout
        for mine in held
        for again in mine[5:]
        if again.problem == mine[1].problem
    )


def test_what_was_dealt_stays(store: Store) -> None:
    """A judge who comes back finds his groups and labels as they were."""
    before = dealt(store)
    save(store, before[1])
    assert _dealt(dealt(store)) == _dealt(before)


def test_ids_tell_nothing(store: Store) -> None:
    """The ids of ballots are random, of 72 bits, and each its own."""
    ids = [b.public_id for declared in JUDGES for b in dealt(store, declared.id)]
    assert len(set(ids)) == 14
    assert all(re.fullmatch(r"[\w-]{12}", public_id) for public_id in ids)


def test_new_problems_come_last(store: Store) -> None:
    """A problem that the study gets later is appended; nothing moves."""
    before = dealt(store)
    more = replace(PLAN, groups=(*PLAN.groups, Group("P9", SOLVERS)), repeat=3)
    after = dealt(store, plan=more)
    assert _dealt(after[:7]) == _dealt(before)
    assert [(b.problem, b.occasion) for b in after[7:]] == [("P9", 1), (before[3].problem, 2)]


def test_a_ballot_knows_its_group(store: Store) -> None:
    """Practice is told from a group, and a group that the study dropped is none."""
    held = dealt(store)
    assert PLAN.find(held[0]) == PLAN.practice
    assert all(PLAN.find(b) == Group(b.problem, SOLVERS) for b in held[1:])
    shorter = JudgingPlan(PLAN.groups[:1])
    assert [b.problem for b in held if shorter.find(b)].count("P1") == len(
        [b for b in held if shorter.find(b)]
    )


def order(ballot: TaskRow) -> tuple[str, ...]:
    """The solvers of a ballot, in the order of their letters."""
    assert ballot.layout is not None
    return tuple(ballot.layout.letters)


def test_before_the_first_save_all_are_in_the_tray(store: Store) -> None:
    """Revision 0 holds each solution in the order of the labels."""
    mine = ballot(store)
    with store.read() as c:
        assert work.current_state(c, mine).tray == order(mine)


def test_another_judges_ballot_is_not_found(store: Store) -> None:
    """A ballot can be found by its judge only, and an invented one by nobody."""
    mine, other = ballot(store), judge(store, "J2")
    with store.read() as c:
        for key, public_id in ((other.key, mine.public_id), (mine.person_key, "invented")):
            with pytest.raises(NotAssignedError):
                work.task_of(c, key, public_id)


def test_two_first_visits_at_once_deal_once(store: Store) -> None:
    """A judge who opens two pages at the same time gets each group once."""
    key, failed = judge(store).key, []
    together = threading.Barrier(4)

    def visit() -> None:
        together.wait()
        try:
            with store.write() as c:
                dealing.assign_ballots(c, key, PLAN)
        except Exception as error:  # noqa: BLE001  told below
            failed.append(error)

    threads = [threading.Thread(target=visit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with store.read() as c:
        held = work.tasks_of(c, key)
    assert len(held) == len(set(_keys(held))) == 7


def test_working_time_adds_up(store: Store) -> None:
    """Time is added, but no more than passed since the group was opened."""
    mine = ballot(store)
    for seconds in (0.001, 0.001, -5, float("nan")):
        with store.write() as c:
            held = work.task_of(c, mine.person_key, mine.public_id)
            work.add_seconds(c, held, seconds)
    assert 0.0019 < ballot(store).seconds < 0.0021
    held = ballot(store)
    with store.write() as c:
        work.add_seconds(c, held, 1e12)
    assert ballot(store).seconds < 600


def _opened_an_hour_ago(store: Store) -> TaskRow:
    held = ballot(store)
    with store.write() as c:
        earlier = {"opened_at": now() - dt.timedelta(hours=1)}
        c.execute(update(TaskRow).where(TaskRow.key == held.key).values(earlier))
    return ballot(store)


def test_time_in_view_adds_up_by_solution(store: Store) -> None:
    """Each solution has its own, also without working time, and none more than time passed."""
    mine = _opened_an_hour_ago(store)
    for views in ({"S1": 1.0}, {"S1": 0.5, "sys": 2.0}, {}, {"S2": -1.0}, {"S3": 0.0}):
        with store.write() as c:
            work.add_seconds(c, mine, 0, views)
    assert ballot(store).views == {"S1": 1.5, "sys": 2.0}
    with store.write() as c:
        work.add_seconds(c, mine, 0, {"S1": 1e12})
    held = ballot(store)
    assert 3600 <= held.views["S1"] < 7200
    assert (held.views["sys"], held.seconds) == (2.0, 0.0)


def test_times_that_come_at_once_are_all_added(store: Store) -> None:
    """Though each page read the ballot before any of them wrote, nothing of it is lost."""
    held = _opened_an_hour_ago(store)

    def add(number: int) -> None:
        with store.write() as c:
            work.add_seconds(c, held, 1, {"S1": 2.0, SOLVERS[1 + number % 3]: 4.0})

    assert at_once(6, add) == [None] * 6
    mine = ballot(store)
    assert mine.seconds == 6
    assert mine.views == {"S1": 12.0, **dict.fromkeys(SOLVERS[1:], 8.0)}


def test_time_of_a_ballot_that_was_discarded_is_let_go(store: Store) -> None:
    """A page that was opened on trial may report after the trial is over."""
    mine = ballot(store)
    with store.write() as c:
        studies.discard_trial(c, STUDY, "shell")
        work.add_seconds(c, mine, 1, {"S1": 1.0})
        assert work.tasks_of(c, mine.person_key) == []


def test_judges_of_the_file_are_taken_over(store: Store) -> None:
    """New judges are added, and names and years follow the file."""
    prepare(store, (DeclaredJudge(id="J1", name="Other", experience=3), DeclaredJudge(id="J3")))
    with store.read() as c:
        known = people_of(c, "made-up", "judge")
    assert [j.id for j in known] == ["J1", "J2", "J3"]
    assert (known[0].name, known[0].experience) == ("Other", 3)


MORE_SOLVERS = (*(f"S{number}" for number in range(1, 16)), "sys")
BLOCKED = JudgingPlan(
    tuple(Group(problem, MORE_SOLVERS) for problem in ("P1", "P2", "P3")),
    practice=Group("P0", SOLVERS[:2]),
    repeat=1,
    block_size=8,
)


def test_large_groups_are_dealt_in_blocks(store: Store) -> None:
    """Three blocks of at most 8 for 16 solvers, which follow on each other, and one again."""
    assert len(BLOCKED.parts) == 9
    held = dealt(store, plan=BLOCKED)
    assert len(held) == 1 + 9 + 1
    first = held[1:10]
    for start in (0, 3, 6):
        blocks = first[start : start + 3]
        assert len({b.problem for b in blocks}) == 1
        assert sorted(b.block for b in blocks) == [1, 2, 3]
        assert [len(b.solvers or ()) for b in blocks] == [6, 6, 6]
        assert {solver for b in blocks for solver in b.solvers or ()} == set(MORE_SOLVERS)
    for b in held:
        assert sorted(order(b)) == sorted(b.solvers or SOLVERS[:2])
    again = held[-1]
    (same,) = [b for b in first if (b.problem, b.block) == (again.problem, again.block)]
    assert sorted(again.solvers or ()) == sorted(same.solvers or ())


def test_blocks_stay_and_differ_between_judges(store: Store) -> None:
    """A judge who comes back finds his blocks; pairs meet about equally often over judges."""
    prepare(store, MANY)
    before = {declared.id: dealt(store, declared.id, BLOCKED) for declared in MANY[:8]}
    assert all(_dealt(dealt(store, name, BLOCKED)) == _dealt(held) for name, held in before.items())
    met = PairCounts()
    for held in before.values():
        for b in held[1:10]:
            met.add(b.solvers or ())
    times = [met.times.get(frozenset(pair), 0) for pair in combinations(MORE_SOLVERS, 2)]
    # 24 problems and judges, with 45 of 120 pairs each: 9 times in the mean.
    assert sum(times) == 24 * 45
    assert 4 <= min(times) <= max(times) <= 14


def test_groups_that_were_dealt_whole_stay_whole(store: Store) -> None:
    """A design that comes midway changes nothing for judges who began; nor does one that goes."""
    whole = dealt(store, "J1", replace(BLOCKED, block_size=None))
    with store.write() as c:
        dealing.assign_ballots(c, judge(store, "J1").key, BLOCKED)
        assert _dealt(work.tasks_of(c, judge(store, "J1").key)) == _dealt(whole)
    blocked = dealt(store, "J2", BLOCKED)
    with store.write() as c:
        dealing.assign_ballots(c, judge(store, "J2").key, replace(BLOCKED, block_size=None))
        assert _dealt(work.tasks_of(c, judge(store, "J2").key)) == _dealt(blocked)


def test_a_solver_who_left_leaves_the_blocks(store: Store) -> None:
    """A block holds those of its solvers who still have a solution."""
    held = dealt(store, plan=BLOCKED)
    fewer = replace(
        BLOCKED, groups=tuple(Group(g.problem, MORE_SOLVERS[1:]) for g in BLOCKED.groups)
    )
    for b in held[1:]:
        group = fewer.find(b)
        assert group is not None
        assert set(group.solvers) == set(b.solvers or ()) - {"S1"}
    assert JudgingPlan(()).find(held[1]) is None
