"""MAC/FAC: many are called by a quick retriever, few are chosen by a thorough one."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from quem.retrieval.lists import lists_of
from quem.retrieval.running import Run, ask, guarded, without_collection

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Guard, Task, Times

__all__ = ["run_mac_fac"]


def run_mac_fac(
    mac: Runs,
    fac: Runs,
    task: Task,
    size: int,
    k: int,
    times: Times,
    done: Callable[[int], object],
    *,
    take_time: bool,
) -> tuple[Run, NDArray[np.float64]]:
    """Let the first fill a filter, and the second look into it, for every query.

    Parameters
    ----------
    mac, fac : Runs
    task : Task
    size : int
        As many cases as the filter holds.
    k : int
    times : Times
    done : callable
        Called with 1 after each query.
    take_time : bool
        Whether both run, so that they take time.

    Returns
    -------
    run : Run
    mac_seconds : array of float, shape (queries,)
        What the first phase takes of the time.
    """
    answers: list[Answer] = []
    total = np.full(len(task.queries), np.nan)
    first = np.full(len(task.queries), np.nan)
    with guarded() as guard, without_collection():
        for _ in range(times.warm_up if take_time and len(task.queries) else 0):
            _both(mac, fac, task, 0, size, k, guard)
        for query in range(len(task.queries)):
            taken = []
            answer: Answer = ""
            for repeat in range(times.repeats if take_time else 1):
                again, seconds = _both(mac, fac, task, query, size, k, guard)
                answer = again if repeat == 0 or isinstance(again, str) else answer
                taken.append(seconds)
                if isinstance(answer, str):
                    break
            answers.append(answer)
            if take_time and not isinstance(answer, str):
                total[query] = median(a + b for a, b in taken)
                first[query] = median(a for a, _ in taken)
            done(1)
    return Run(lists_of(task.queries.ids, task.cases.ids, answers), total), first


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
