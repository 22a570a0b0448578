"""A made-up solving session in a store, with a clock that tests move."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store import clock, solving, studies, work
from quem.store.assignment import assign_tasks
from quem.store.models import TaskRow
from quem.store.people import (
    consent,
    people_of,
    person_named,
    sync_people,
)
from quem.store.state import AnswerState
from quem.store.work import Change
from quem.studyfile.models import Person
from tests.store.made import STUDY, revision_id

if TYPE_CHECKING:
    import pytest

    from quem.store.clock import Running
    from quem.store.engine import Store
    from quem.store.models import Kind, PersonRow, SolvingState
    from quem.store.work import Saved

PROBLEMS = ("P1", "P2", "P3", "P4")


class FakeTime:
    """The time as the store reads it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = dt.datetime(2026, 5, 4, 9, 0, tzinfo=dt.UTC)
        for module in (clock, solving, work):
            monkeypatch.setattr(module, "now", lambda: self.at)

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.at += dt.timedelta(seconds=seconds)


def with_session(store: Store, count: int = 2, state: SolvingState = "open") -> None:
    """Make subjects S1, S2, ... who agreed to take part."""
    with store.write() as c:
        people = [Person(id=f"S{n}", name=f"Zelda Nr{n}") for n in range(1, count + 1)]
        sync_people(c, STUDY, "subject", people)
        for one in people_of(c, STUDY, "subject"):
            consent(c, one)
        studies.set_solving(c, STUDY, state, "shell")


def subject(store: Store, name: str = "S1") -> PersonRow:
    """Find a subject."""
    with store.read() as c:
        return person_named(c, STUDY, "subject", name)


def assigned(store: Store, name: str = "S1", order: str = "fixed") -> list[TaskRow]:
    """Assign the problems to a subject."""
    with store.write() as c:
        one = person_named(c, STUDY, "subject", name)
        rng = random.Random(3)
        assign_tasks(c, one, PROBLEMS, practice="P0", order=order, rng=rng)
        return work.tasks_of(c, one.key)


def task(store: Store, problem: str = "P1", name: str = "S1", limit: float | None = None) -> str:
    """Start a problem; gives its public id."""
    gid = next(one.public_id for one in assigned(store, name) if one.problem == problem)
    with store.write() as c:
        solving.start_task(c, person_named(c, STUDY, "subject", name), gid, "start", limit)
    return gid


def save(
    store: Store,
    gid: str,
    base: int,
    text: str = "An answer",
    *,
    kind: Kind = "save",
    name: str = "S1",
    client: str = "tab-1",
    number: int | None = None,
    files: tuple[str, ...] = (),
) -> Saved:
    """Save a draft."""
    change = base if number is None else number
    with store.write() as c:
        mine = c.scalars(select(TaskRow).where(TaskRow.public_id == gid)).one()
        of = revision_id(c, mine, base)
        made = Change(of, client, change, "", AnswerState(text, files), kind)
        return work.save(c, person_named(c, STUDY, "subject", name), gid, made)


def run(
    store: Store,
    gid: str,
    running: Running = "work",
    *,
    client: str = "tab-1",
    take: bool = False,
) -> TaskRow:
    """Go on with the clock."""
    with store.write() as c:
        one = person_named(c, STUDY, "subject", "S1")
        return solving.run_clock(c, one, gid, client, running, take=take)
