"""A made-up solving session in a store, with a clock that tests move."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING

from quem.store import clock, studies, work
from quem.store.assignment import assign_tasks
from quem.store.people import consent, people_of, person_named, sync_people
from quem.store.state import AnswerState
from quem.studyfile.models import Person
from tests.store import made
from tests.store.made import STUDY, read, write

if TYPE_CHECKING:
    import pytest

    from quem.store.clock import Running
    from quem.store.database import Store
    from quem.store.models import Kind, PersonRow, SolvingState, TaskRow
    from quem.store.work import Saved

PROBLEMS = ("P1", "P2", "P3", "P4")


class FakeTime:
    """The time as the store reads it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = dt.datetime(2026, 5, 4, 9, 0, tzinfo=dt.UTC)
        for module in (clock, work):
            monkeypatch.setattr(module, "now", lambda: self.at)

    def passes(self, seconds: float) -> None:
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
    return read(store, person_named, STUDY, "subject", name)


def assigned(store: Store, name: str = "S1", order: str = "fixed") -> list[TaskRow]:
    with store.write() as c:
        one = person_named(c, STUDY, "subject", name)
        assign_tasks(c, one, PROBLEMS, practice="P0", order=order, rng=random.Random(3))
        return work.tasks_of(c, one.key)


def task(store: Store, limit: float | None = None) -> TaskRow:
    gid = next(one.public_id for one in assigned(store) if one.problem == "P1")
    write(store, work.start_task, subject(store), gid, "start", limit)
    return found(store, gid)


def found(store: Store, gid: str) -> TaskRow:
    return read(store, work.task_of, subject(store).key, gid)


def save(
    store: Store,
    to: TaskRow,
    base: int,
    text: str = "An answer",
    *,
    files: tuple[str, ...] = (),
    kind: Kind = "save",
    client: str = "tab-1",
    by: PersonRow | None = None,
) -> Saved:
    return made.save(store, to, AnswerState(text, files), base, client=client, kind=kind, by=by)


def run(
    store: Store, to: TaskRow, running: Running = "work", client: str = "tab-1", *, take: bool
) -> TaskRow:
    who = subject(store)
    return write(store, work.run_clock, who, to.public_id, client, running, take=take)
