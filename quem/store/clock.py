"""The clock of a subject's task, kept by the server for use on several devices.

A visible page sends a heartbeat every `BEAT_SECONDS`, and a save is one too. After
`SILENT_SECONDS` without one, the subject counts as away since the last: the lid was closed, or the
connection lost. A limit covers all time except pauses, whatever the page sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from quem.store.models import Kind, TaskRow, now

if TYPE_CHECKING:
    import datetime as dt


Running = Literal["work", "pause", "away"]
BEAT_SECONDS, SILENT_SECONDS = 15, 45


@dataclass(frozen=True)
class Spent:
    """A subject's time on a task so far, in seconds."""

    work: float = 0.0
    away: float = 0.0
    pause: float = 0.0

    @property
    def limited(self) -> float:
        """The time that counts toward a limit."""
        return self.work + self.away


def spent_on(task: TaskRow) -> Spent:
    """The time spent on a task until now."""
    return Spent(**_with(task, _running(task, now())))


def is_over(task: TaskRow) -> bool:
    """Whether the time of a task is over; it also runs during a submission."""
    if task.limit_seconds is None:
        return False
    since_end = (now() - task.last.made_at).total_seconds() if task.ended and task.last else 0.0
    return spent_on(task).limited + since_end >= task.limit_seconds


def hear(task: TaskRow, running: Running, holder: str | None) -> None:
    """Process a heartbeat: continue the current stretch, or begin a new one."""
    at = now()
    is_beat = task.running == running == "work" and task.holder == holder
    if is_beat and len(_running(task, at)) == 1:
        task.beat_at = at
    else:
        _turn(task, running, holder, at)


def stop_clock(task: TaskRow) -> None:
    """End the current stretch of work, pause, or absence, as when the session closes."""
    if task.running is not None:
        _turn(task, None, None, now())


def tick(task: TaskRow, kind: Kind) -> None:
    """Advance the clock for a revision that is about to be saved."""
    if kind == "reopen":
        at = now()
        if task.limit_seconds is not None and task.last:
            # Work takes a positive time.
            task.times = _with(task, {"away": (at - task.last.made_at).total_seconds()})
        _turn(task, "work", None, at)
    elif kind != "timeout":
        hear(task, "work", task.holder)
    if kind in ("submit", "skip", "timeout"):
        stop_clock(task)


def _turn(task: TaskRow, running: Running | None, holder: str | None, at: dt.datetime) -> None:
    """End a stretch, and begin the next one."""
    task.times = _with(task, _running(task, at))
    task.running, task.holder = running, holder
    task.since = task.beat_at = at if running else None


def _with(task: TaskRow, more: dict[str, float]) -> dict[str, float]:
    return task.times | {kind: task.times.get(kind, 0.0) + more[kind] for kind in more}


def _running(task: TaskRow, at: dt.datetime) -> dict[str, float]:
    """Seconds since the clock last changed; work counts only until the last heartbeat."""
    if task.running is None or task.since is None or task.beat_at is None:
        return {}
    if task.running != "work" or (at - task.beat_at).total_seconds() <= SILENT_SECONDS:
        return {task.running: max(0.0, (at - task.since).total_seconds())}
    work, away = task.beat_at - task.since, at - task.beat_at
    return {"work": work.total_seconds(), "away": away.total_seconds()}
