"""What judges are given, and in which order."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from quem.store import ballots, dealing, judges
from quem.store.ballots import Group, NotDealtError, Plan
from quem.study.models import Judge as DeclaredJudge
from tests.store.made import JUDGES, PLAN, SOLVERS, ballot, dealt, judge, prepare, save

if TYPE_CHECKING:
    from quem.store.ballots import Dealt
    from quem.store.engine import Store

MANY = tuple(DeclaredJudge(id=f"J{number}") for number in range(1, 25))
Key = tuple[str, int, int]


def _keys(held: list[Dealt]) -> list[Key]:
    return [(b.problem, b.block, b.occasion) for b in held]


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
    layouts = [tuple(b.layout or ()) for mine in held for b in mine[1:]]
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
    assert dealt(store) == before
    save(store, before[1])
    again = dealt(store)
    assert [replace(b, head=0) for b in again] == before


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
    assert after[:7] == before
    assert [(b.problem, b.occasion) for b in after[7:]] == [("P9", 1), (before[3].problem, 2)]


def test_a_ballot_knows_its_group(store: Store) -> None:
    """Practice is told from a group, and a group that the study dropped is none."""
    held = dealt(store)
    assert PLAN.find(held[0]) == PLAN.practice
    assert all(PLAN.find(b) == Group(b.problem, SOLVERS) for b in held[1:])
    shorter = Plan(PLAN.groups[:1])
    assert [b.problem for b in held if shorter.find(b)].count("P1") == len(
        [b for b in held if shorter.find(b)]
    )


def test_labels_are_dealt_anew_until_something_is_saved(store: Store) -> None:
    """Solutions that come or go change the labels, but never under a saved ranking."""
    mine = ballot(store)
    with store.write() as c:
        layout = dealing.lay_out(c, mine, (*SOLVERS, "S9"))
    assert sorted(layout) == sorted((*SOLVERS, "S9"))
    with store.write() as c:
        dealing.lay_out(c, mine, SOLVERS)
    kept = ballot(store).layout
    save(store, mine)
    with store.write() as c:
        assert dealing.lay_out(c, mine, (*SOLVERS, "S9")) == kept


def test_before_the_first_save_all_are_in_the_tray(store: Store) -> None:
    """Revision 0 holds each solution in the order of the labels."""
    mine = ballot(store)
    with store.read() as c:
        assert list(ballots.current_state(c, mine).tray) == mine.layout


def test_another_judges_ballot_is_not_found(store: Store) -> None:
    """A ballot can be found by its judge only, and an invented one by nobody."""
    mine, other = ballot(store), judge(store, "J2")
    with store.read() as c:
        for key, public_id in ((other.key, mine.public_id), (mine.judge_key, "invented")):
            with pytest.raises(NotDealtError):
                ballots.ballot_of(c, key, public_id)


def test_two_first_visits_at_once_deal_once(store: Store) -> None:
    """A judge who opens two pages at the same time gets each group once."""
    key, failed = judge(store).key, []
    together = threading.Barrier(4)

    def visit() -> None:
        together.wait()
        try:
            with store.write() as c:
                dealing.deal(c, key, PLAN)
        except Exception as error:  # noqa: BLE001  told below
            failed.append(error)

    threads = [threading.Thread(target=visit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with store.read() as c:
        held = ballots.ballots_of(c, key)
    assert len(held) == len(set(_keys(held))) == 7


def test_working_time_adds_up(store: Store) -> None:
    """Time is added, but no more than passed since the group was opened."""
    mine = ballot(store)
    for seconds in (0.001, 0.001, -5, float("nan")):
        with store.write() as c:
            held = ballots.ballot_of(c, mine.judge_key, mine.public_id)
            ballots.add_seconds(c, held, seconds)
    assert 0.0019 < ballot(store).seconds < 0.0021
    held = ballot(store)
    with store.write() as c:
        ballots.add_seconds(c, held, 1e12)
    assert ballot(store).seconds < 600


def test_judges_of_the_file_are_taken_over(store: Store) -> None:
    """New judges are added, and names and years follow the file."""
    prepare(store, (DeclaredJudge(id="J1", name="Other", experience=3), DeclaredJudge(id="J3")))
    with store.read() as c:
        known = judges.judges_of(c, "made-up")
    assert [j.id for j in known] == ["J1", "J2", "J3"]
    assert (known[0].name, known[0].experience) == ("Other", 3)
