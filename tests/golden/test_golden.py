"""What quem says of the shipped studies stays as it is, but for deliberate changes."""

from __future__ import annotations

import pytest

from tests.golden.outcomes import DATA_RUNS, KEPT, RUNS, departures, kept, outcome


@pytest.mark.parametrize("name", RUNS)
def test_nothing_departs(name: str) -> None:
    """Summary, analysis.json and tables are those kept; ``python -m tests.golden`` keeps others."""
    found = departures(name, kept(name), outcome(RUNS[name]))
    assert not found, f"`python -m tests.golden {name}` keeps what it is now:\n{found}"


def test_each_file_has_its_run() -> None:
    """No outcome is kept of a study that is no more."""
    assert {path.stem for path in KEPT.iterdir()} == {*RUNS, *DATA_RUNS}


def test_departures_are_named() -> None:
    """Keys and columns that left, came, or changed, each once, and no more of them than wanted."""
    was = {"a[0].x": 1.0, "a[1].x": 1.0, "b": [1, 2], "c": ["y", "z"], "d": 1, "e": True}
    now = {"a[0].x": 1.0 + 1e-10, "b": [1, 2.001], "c": ["z"], "d": "1", "e": 1, "f": None}
    wanted = [
        'it: a[1].x: was 1.0, is "nothing"',
        "it: b[1]: was 2, is 2.001",
        'it: c (2 values, now 1): was ["y"], is []',
        'it: d: was 1, is "1"',
        "it: e: was true, is 1",
        'it: f: was "nothing", is null',
    ]
    assert departures("it", was, now).splitlines() == wanted
    assert departures("it", was, now, most=5).splitlines() == [
        *wanted[:5],
        "it: and 1 more keys or columns",
    ]
    assert departures("it", was, {**was, "a[0].x": 2, "a[1].x": 3}) == (
        "it: a[0].x: was 1.0, is 2 (and 1 more)"
    )
