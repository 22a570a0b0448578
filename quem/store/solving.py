"""Solving: starting, continuing, and ending a subject's task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.store import clock
from quem.store.models import PersonRow, TaskRow, now
from quem.store.work import (
    Change,
    ClosedError,
    ElsewhereError,
    append,
    last_answer,
    lock_session,
    task_of,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from quem.store.clock import Running


def open_task(c: Session, person: PersonRow, public_id: str) -> TaskRow:
    """Lock a task of a session that is not closed."""
    if lock_session(c, person) == "closed":
        raise ClosedError
    return task_of(c, person.key, public_id, lock=True)


def start_task(
    c: Session, person: PersonRow, public_id: str, client: str, limit: float | None
) -> TaskRow:
    """Start the clock of a task and show its statement."""
    task = open_task(c, person, public_id)
    if task.opened_at is None:
        task.opened_at, task.limit_seconds = now(), limit
        clock.hear(task, "work", client)
    return task


def run_clock(
    c: Session,
    person: PersonRow,
    public_id: str,
    client: str,
    running: Running,
    *,
    take: bool = False,
) -> TaskRow:
    """Continue the clock of a task: at work, in a pause, or away."""
    task = open_task(c, person, public_id)
    if task.ended or task.opened_at is None:
        return task
    if task.holder not in (client, None) and not take:
        raise ElsewhereError
    clock.hear(task, running, client)
    return settle(c, task)


def settle(c: Session, task: TaskRow) -> TaskRow:
    """End a task whose time is over, with its last draft."""
    if task.ended or not clock.is_over(task):
        return task
    task = task_of(c, task.person_key, task.public_id, lock=True)
    if not task.ended:
        clock.tick(task, "timeout")
        # The server's own revision has no client.
        change = Change(task.revision, "server", task.head, "", last_answer(c, task), "timeout")
        append(c, task, change)
    return task
