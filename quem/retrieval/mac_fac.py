"""MAC/FAC: many are called by a quick retriever, few are chosen by a thorough one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.retrieval.running import Asked, ask, asked

if TYPE_CHECKING:
    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Guard, Task

__all__ = ["asked_both"]


def asked_both(mac: Runs, fac: Runs, task: Task, size: int, k: int, *, take_time: bool) -> Asked:
    """Let the first fill a filter, and the second look into it.

    Parameters
    ----------
    mac, fac : Runs
    task : Task
    size : int
        As many cases as the filter holds.
    k : int
    take_time : bool
        Whether both run, so that they take time: the first part of it is that of the first phase.
    """

    def call(query: int, guard: Guard) -> tuple[Answer, tuple[float, ...]]:
        return _both(mac, fac, task, query, size, k, guard)

    timed = asked(fac, task, k).timed if take_time else ()
    return Asked(call, range(len(task.queries)), timed, parts=2)


def _both(
    mac: Runs, fac: Runs, task: Task, query: int, size: int, k: int, guard: Guard
) -> tuple[Answer, tuple[float, float]]:
    kept, mac_seconds = ask(mac, task, query, size, guard)
    if isinstance(kept, str):
        return f"the first phase {kept}", (mac_seconds, float("nan"))
    among = np.sort(kept[0])
    # The query itself is not among them, so that none has to be asked for in its place.
    inside = replace(task, leave_one_out=False)
    answer, fac_seconds = ask(fac, inside, query, k, guard, among)
    if isinstance(answer, str):
        answer = f"the second phase {answer}"
    return answer, (mac_seconds, fac_seconds)
