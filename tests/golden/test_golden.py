"""Outputs of the shipped studies change only deliberately."""

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
    was = {"a": 1.0, "b": [1, 2, {"x": 3}], "c": ["y", "z"], "d": 1, "e": True}
    now = {"b": [1, 2, {"x": 3.001}], "c": ["z"], "d": 1 + 1e-10, "e": 1, "f": None}
    wanted = [
        'it: a: was 1.0, is "nothing"',
        "it: b[2][x]: was 3, is 3.001",
        'it: c: was ["y", "z"], is ["z"]',
        "it: e: was true, is 1",
        'it: f: was "nothing", is null',
    ]
    assert departures("it", was, now).splitlines() == wanted
    more = "it: and 1 more keys or columns"
    assert departures("it", was, now, most=4).splitlines() == [*wanted[:4], more]
