"""Rows say whether their demand is met; the page gets them; processes are measured."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import PAGE, written
from benchmarks.measuring import PYTHON, Row, cost, in_turn
from tests.docs.pages import table_rows

ROWS = {
    "at most 35 ms": (Row("page", 31.0, "ms", "Potato", 190.0, most=35), True),
    "at most 20 ms": (Row("page", 31.0, "ms", most=20), False),
    "at most 0.167 of Potato": (Row("page", 31.0, "ms", "Potato", 190.0, share=1 / 6), True),
    "at most 0.1 of Potato": (Row("page", 31.0, "ms", "Potato", 190.0, share=0.1), False),
    # Runs in turn: the median of ratios counts, not the ratio of medians.
    "at most 0.5 of SciPy": (Row("tau", 1.0, "s", "SciPy", 4.0, of_ratios=0.6, share=0.5), False),
    "none": (Row("storage", 640.0, "bytes"), True),
}


def test_page_gets_the_rows() -> None:
    """A line for each, those that are missed are marked, and what is around stays."""
    for demand, (row, met) in ROWS.items():
        assert (row.demand, row.met) == (demand, met)
    text = PAGE.read_text(encoding="utf-8")
    results = "2 cores, load 0.5.", [row for row, _ in ROWS.values()]
    page = written(written(text, *results), *results)
    lines = table_rows(page)[1:]
    assert [(line[4], line[5]) for line in lines] == [
        (demand, "" if demand == "none" else "yes" if met else "**missed**")
        for demand, (_, met) in ROWS.items()
    ]
    assert "2 of 5 demands are met" in page
    assert page.startswith(text.partition("<!-- benchmarks begin")[0])
    assert page.endswith(text.partition("<!-- benchmarks end")[2])


def test_memory_is_that_of_the_process_alone() -> None:
    """Not that of the process which measures it; and a command that fails is an error."""
    held = bytearray(300_000_000)
    found = cost(*PYTHON, "-c", "print(len(bytearray(60_000_000)))")
    assert (found.result, len(held)) == (60_000_000, 300_000_000)
    assert 57 < found.mib < 150
    assert found.cpu > 0
    with pytest.raises(RuntimeError, match="no such thing"):
        cost(*PYTHON, "-c", "raise SystemExit('no such thing')")


def test_runs_are_compared_in_turn() -> None:
    """The first of each warms up; the median of ratios is not the ratio of medians."""
    ours, theirs = iter([9.0, 1.0, 2.0, 6.0]), iter([9.0, 1.0, 4.0, 2.0])
    assert in_turn(ours.__next__, theirs.__next__, 3) == (2.0, 2.0, 1.0)
