"""Running and timing retrievers on every query, in rounds."""

from __future__ import annotations

import gc
import math
import signal
import sys
import threading
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.io.custom_functions import raised
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.retrievers import Answer, PythonRetriever, Runs, StoredRetriever, checked
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.parallel import Progress
    from quem.retrieval.bases import Task
    from quem.retrieval.loading import RetrievalStudy

# Queries that are timed per retriever, and for the ground truth, which may be slow.
_MOST, _TRUTH_TIMED = 100, 20
_NAMED = 4
NOT_ASKED = "was not asked"  # placeholder of the ground truth until it is needed


@dataclass(frozen=True)
class Times:
    """Settings of timing."""

    warm_up: int = 1  # untimed calls before the first query
    repeats: int = 7  # rounds; the first one yields the lists


class Time(NamedTuple):
    """A time in seconds, or a ratio of two."""

    median: float = math.nan  # over the rounds; NaN without measurements
    # Between order statistics; NaN with too few rounds
    low: float = math.nan
    high: float = math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends; None if there are none."""
        return None if math.isnan(self.low) else (self.low, self.high)

    @property
    def in_ms(self) -> Time:
        """The time in milliseconds."""
        return Time(*(1000 * value for value in self))


def time_of(rounds: NDArray[np.float64], level: float) -> Time:
    """The median over rounds, with an interval between order statistics.

    The narrowest distribution-free interval for the median at the level (David & Nagaraja 2003,
    section 7.1).
    """
    if not len(rounds):
        return Time()
    from scipy.stats import quantile_test

    median = float(np.median(rounds))
    interval: Any = quantile_test(rounds, q=median, p=0.5).confidence_interval(level)
    return Time(median, float(interval.low), float(interval.high))


def fewest_rounds(level: float) -> int:
    """The smallest number of rounds for an interval: 6 at 95%."""
    return max(2, math.ceil(math.log2(2 / (1 - level)) - 1e-9))


@dataclass(frozen=True)
class Run:
    """The lists and times of a retriever."""

    lists: CaseLists
    # Of shape (rounds, queries): seconds of each call; NaN if it was not timed, or failed in some
    # round.
    taken: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    unstable: tuple[int, ...] = ()  # queries with different lists between calls

    @cached_property
    def timed(self) -> NDArray[np.intp]:
        """The indices of the timed queries."""
        if not len(self.taken):
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(~np.isnan(self.taken).any(axis=0))

    @property
    def seconds(self) -> NDArray[np.float64]:
        """The median seconds of each timed query."""
        return np.median(self.taken[:, self.timed], axis=0) if len(self.timed) else np.empty(0)

    def time(self, level: float) -> Time:
        """The seconds per query."""
        return time_of(self._rounds(self.timed), level)

    def share_of(self, other: Run, level: float) -> Time:
        """The time as a multiple of another's, round by round, on the same queries."""
        both = np.intersect1d(self.timed, other.timed)
        return time_of(self._rounds(both) / other._rounds(both), level)

    def _rounds(self, queries: NDArray[np.intp]) -> NDArray[np.float64]:
        """The mean time of some queries in each round."""
        return self.taken[:, queries].mean(axis=1) if len(queries) else np.empty(0)


@dataclass(frozen=True)
class Asked:
    """A retriever in a run."""

    ask: Callable[[int, Guard], tuple[Answer, float]]  # for a query; also returns the seconds
    queries: Sequence[int]  # queries of the first round, for lists
    timed: Sequence[int]  # queries of every round


class Guard:
    """Detection of Ctrl-C, even if a retriever swallows it."""

    def __init__(self) -> None:
        self.pressed = False

    def check(self) -> None:
        """Stop if Ctrl-C was pressed."""
        if self.pressed:
            raise KeyboardInterrupt


@contextmanager
def guarded() -> Iterator[Guard]:
    """Run custom code without the garbage collector, with its output on stderr.

    The first Ctrl-C raises KeyboardInterrupt, at the latest when the code returns. A second one
    ends the process, in case the code never returns.
    """
    guard = Guard()
    main = threading.current_thread() is threading.main_thread()
    takes_over = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    collects = gc.isenabled()

    def pressed(_: int, __: object) -> None:
        guard.pressed = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        raise KeyboardInterrupt

    if takes_over:
        signal.signal(signal.SIGINT, pressed)
    gc.disable()
    try:
        with redirect_stdout(sys.stderr):
            yield guard
    finally:
        if collects:
            gc.enable()
        if takes_over:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def ask(
    retriever: Runs,
    task: Task,
    query: int,
    k: int,
    guard: Guard,
    among: NDArray[np.int32] | None = None,
) -> tuple[Answer, float]:
    """Run one query; returns the checked list and the seconds."""
    try:
        call = retriever.prepared(query, k, among)
        start = perf_counter()
        output: Any = call()
        seconds = perf_counter() - start
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the user's code raises
        guard.check()
        return raised(error), float("nan")
    guard.check()
    if isinstance(retriever, PythonRetriever):
        allowed = None if among is None else set(among.tolist())
        output = checked(output, k, task.cases.index, task.own(query), allowed)
    return output, seconds


def ask_all(
    retriever: Runs, task: Task, k: int, queries: Sequence[int] | None = None, *, timed: int = _MOST
) -> Asked:
    """The queries of a retriever: all for lists, and an even sample for times."""
    n = len(task.queries)
    places = np.linspace(0, n - 1, min(n, timed)).round().astype(int)
    return Asked(
        lambda query, guard: ask(retriever, task, query, k, guard),
        range(n) if queries is None else queries,
        sorted(set(places.tolist())),
    )


def run_retrievers(
    study: RetrievalStudy, retrievers: dict[str, Runs], depth: int, times: Times, progress: Progress
) -> dict[str, Run]:
    """Run all retrievers in turn; stored ones have their lists."""
    task, truth = study.data.task, study.spec.ground_truth.retriever
    runs = {
        name: Run(one.lists) for name, one in retrievers.items() if isinstance(one, StoredRetriever)
    }
    # The ground truth is run when its required part is known.
    those = {
        name: ask_all(one, task, depth, (), timed=_TRUTH_TIMED)
        if name == truth
        else ask_all(one, task, depth)
        for name, one in retrievers.items()
        if name not in runs
    }
    if those:
        names = (one.name or one.id for one in study.spec.retrievers if one.id in those)
        label = f"Retrieving: {join_words(names, _NAMED)}"
        runs |= zip(those, run_rounds(label, [*those.values()], task, times, progress), strict=True)
    return {name: runs[name] for name in retrievers}


def run_rounds(
    label: str, those: Sequence[Asked], task: Task, times: Times, progress: Progress
) -> list[Run]:
    """Run all retrievers query by query in turn, so that load on the machine affects all alike.

    The order changes between queries and rounds.
    """
    n = len(task.queries)
    answers: list[list[Answer]] = [[NOT_ASKED] * n for _ in those]
    taken = [np.full((times.repeats, n), np.nan) for _ in those]
    unstable: list[set[int]] = [set() for _ in those]
    every = [{*one.timed} for one in those]
    first = [{*one.queries, *one.timed} for one in those]
    n_calls = sum(map(len, first)) + (times.repeats - 1) * sum(map(len, every))
    done = progress(label, n_calls)
    with guarded() as guard:
        for one in those:
            for _ in range(times.warm_up if one.timed else 0):
                one.ask(one.timed[0], guard)
        for number in range(times.repeats if any(every) else 1):
            round_queries = every if number else first
            for query in sorted(set().union(*round_queries)):
                for place in range(len(those)):
                    at = (place + query + number) % len(those)
                    if query not in round_queries[at]:
                        continue
                    answer, seconds = those[at].ask(query, guard)
                    done(1)
                    if query in every[at]:
                        taken[at][number, query] = seconds
                    if not number:
                        answers[at][query] = answer
                    elif _differs(answers[at], query, answer):
                        unstable[at].add(query)
    queries, cases = task.queries.ids, task.cases.ids
    return [
        Run(lists_of(queries, cases, replies), seconds, tuple(sorted(differ)))
        for replies, seconds, differ in zip(answers, taken, unstable, strict=True)
    ]


def _differs(answers: list[Answer], query: int, again: Answer) -> bool:
    """Whether a list differs from the one before; a failure counts for all rounds."""
    before = answers[query]
    if isinstance(before, str):
        return False
    if isinstance(again, str):
        answers[query] = f"{again}, when it was asked once more"
        return False
    return not np.array_equal(again[0], before[0])
