"""Asks retrievers for every query, and takes the time."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.entry import raised
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.retrievers import PythonRetriever, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.retrieval.cases import CaseBase
    from quem.retrieval.retrievers import Answer, Runs

__all__ = ["Run", "Task", "Times", "ask", "guarded", "run_queries", "timed", "without_collection"]


@dataclass(frozen=True)
class Times:
    """How time is taken.

    Parameters
    ----------
    warm_up : int
        Calls before the first query, whose time does not count.
    repeats : int
        Calls a query, of which the median counts.
    """

    warm_up: int = 1
    repeats: int = 3


@dataclass(frozen=True)
class Task:
    """The queries and cases that retrievers work on.

    Parameters
    ----------
    queries, cases : CaseBase
    leave_one_out : bool
    """

    queries: CaseBase
    cases: CaseBase
    leave_one_out: bool = False

    def own(self, query: int) -> int:
        """The place of the case that is the query and left out; -1 for none."""
        return query if self.leave_one_out else -1

    @property
    def n_candidates(self) -> int:
        """How many cases each query has to be compared with."""
        return len(self.cases) - self.leave_one_out


@dataclass(frozen=True)
class Run:
    """What a retriever gave, and how long it took.

    Parameters
    ----------
    lists : CaseLists
    seconds : array of float, shape (queries,)
        The median of each query's calls; NaN where it was not timed.
    unstable : tuple of int
        Queries for which calls gave different lists.
    """

    lists: CaseLists
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    unstable: tuple[int, ...] = ()


class Guard:
    """Notices Ctrl-C, also where a retriever swallows it."""

    def __init__(self) -> None:
        self.pressed = False

    def check(self) -> None:
        """Stop if Ctrl-C was pressed."""
        if self.pressed:
            raise KeyboardInterrupt


@contextmanager
def guarded() -> Iterator[Guard]:
    """Run foreign code: what it prints goes to stderr, and Ctrl-C ends it.

    The first Ctrl-C raises KeyboardInterrupt, even if the code swallows it and goes on: then when
    it returns. A second one ends the process, in case the code never does.
    """
    guard = Guard()
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if main else None

    def pressed(_: int, __: object) -> None:
        guard.pressed = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        raise KeyboardInterrupt

    takes_over = main and before is signal.default_int_handler
    if takes_over:
        signal.signal(signal.SIGINT, pressed)
    try:
        with redirect_stdout(sys.stderr):
            yield guard
    finally:
        if takes_over:
            signal.signal(signal.SIGINT, before)


def ask(
    retriever: Runs,
    task: Task,
    query: int,
    k: int,
    guard: Guard,
    among: NDArray[np.int32] | None = None,
) -> tuple[Answer, float]:
    """Ask for one query; give the checked list and the seconds that it took."""
    try:
        call = _call(retriever, task, query, k, among)
        start = perf_counter()
        given = call()
        seconds = perf_counter() - start
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the user's code raises
        guard.check()
        return raised(error), float("nan")
    guard.check()
    held = None if among is None else set(among.tolist())
    return checked(given, k, task.cases.index, task.own(query), held), seconds


def _call(
    retriever: Runs, task: Task, query: int, k: int, among: NDArray[np.int32] | None
) -> Callable[[], Any]:
    if isinstance(retriever, PythonRetriever):
        return retriever.prepared(query, k, among)
    # One more, for the case that is the query.
    wanted = k + task.leave_one_out
    return lambda: retriever.retrieve(query, wanted, among)


def timed(
    retriever: Runs,
    task: Task,
    query: int,
    k: int,
    guard: Guard,
    repeats: int,
    among: NDArray[np.int32] | None = None,
) -> tuple[Answer, float, bool]:
    """Ask several times; give the first list, the median time, and whether lists differed."""
    answer, seconds = ask(retriever, task, query, k, guard, among)
    if isinstance(answer, str):
        return answer, float("nan"), False
    taken, unstable = [seconds], False
    for _ in range(repeats - 1):
        again, seconds = ask(retriever, task, query, k, guard, among)
        if isinstance(again, str):
            return f"{again}, when it was asked once more", float("nan"), False
        taken.append(seconds)
        unstable = unstable or not np.array_equal(again[0], answer[0])
    return answer, median(taken), unstable


def run_queries(
    retriever: Runs,
    task: Task,
    k: int,
    times: Times,
    done: Callable[[int], object],
    queries: Sequence[int] | None = None,
) -> Run:
    """Ask a retriever for every query, or for some.

    Parameters
    ----------
    retriever : Runs
    task : Task
    k : int
    times : Times
    done : callable
        Called with 1 after each query.
    queries : sequence of int, optional
        Their places; all by default.
    """
    chosen = range(len(task.queries)) if queries is None else queries
    seconds = np.full(len(task.queries), np.nan)
    answers: list[Answer] = ["was not asked"] * len(task.queries)
    unstable = []
    with guarded() as guard, without_collection():
        for _ in range(times.warm_up if len(chosen) else 0):
            ask(retriever, task, chosen[0], k, guard)
        for query in chosen:
            answers[query], seconds[query], differs = timed(
                retriever, task, query, k, guard, times.repeats
            )
            if differs:
                unstable.append(query)
            done(1)
    return Run(lists_of(task.queries.ids, task.cases.ids, answers), seconds, tuple(unstable))


@contextmanager
def without_collection() -> Iterator[None]:
    """Take times without the garbage collector, as timeit does."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
