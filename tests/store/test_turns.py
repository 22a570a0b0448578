"""Who writes, who waits, and who is turned away."""

from __future__ import annotations

import threading
import time

import pytest

from quem.store.connecting import BusyError, Turns

LONG = 600.0


def in_threads(count: int, work: object) -> list[threading.Thread]:
    """Let some threads do the same."""
    assert callable(work)
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_few_wait_for_one_that_is_stuck() -> None:
    """While one waits for another process, so many wait with it, and the next is turned away."""
    turns, over, done = Turns(2, one_by_one=True), threading.Event(), []

    def stuck() -> None:
        with turns.take(LONG):
            over.wait(LONG)

    def write() -> None:
        with turns.take(LONG):
            done.append(1)

    threads = in_threads(1, stuck) + in_threads(2, write)
    while turns.here < 3:
        time.sleep(0.01)
    with pytest.raises(BusyError), turns.take(LONG):
        pass
    # Who does not want to wait does not.
    with pytest.raises(BusyError), turns.take(0):
        pass
    assert done == []
    over.set()
    for thread in threads:
        thread.join()
    assert len(done) == 2
    with turns.take(0) as left:
        assert left == 0


def test_many_who_write_at_once_all_get_their_turn() -> None:
    """As long as the one who writes gets on, more than may wait for a stuck one are served."""
    turns = Turns(2, one_by_one=True)
    done: list[int] = []

    def write() -> None:
        with turns.take(LONG):
            while not done and turns.here < 8:
                turns.begun()
                time.sleep(0.01)
            turns.begun()
            done.append(1)

    for thread in in_threads(8, write):
        thread.join()
    assert len(done) == 8


def test_where_many_may_write_those_who_are_too_many_wait_less() -> None:
    """A database server has its own locks; too many writers of one process wait there less."""
    turns = Turns(1, one_by_one=False)
    with turns.take(5) as first, turns.take(5) as second, turns.take(5) as third:
        assert min(first, second) > 2 > third
