"""The column in which a judge marks solutions whose author the judge recognized."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from quem.rankings import Rankings
from tests.examples import long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAIN = long_csv()


def marked(mark: str, cell: str = "J1,P1,S2,3") -> str:
    """Write the example's table with a mark beside one rank."""
    table = PLAIN.replace("\n", ",\n").replace("rank,\n", "rank,recognized\n")
    assert f"{cell},\n" in table
    return table.replace(f"{cell},\n", f"{cell},{mark}\n")


def data_of(path: Path) -> Rankings:
    """Read a study's rankings."""
    data = quem.load_study(path, kind="experience").data
    assert isinstance(data, Rankings)
    return data


@pytest.mark.parametrize("mark", ["1", "true", "TRUE", "yes", "Yes", "x", "X", " x "])
def test_a_mark_is_written_in_many_ways(mark: str, make_study: Callable[..., Path]) -> None:
    """What stands for yes marks this cell and no other."""
    path = make_study(study_with(), rankings__csv=marked(mark))
    table = quem.load_study(path, kind="experience").rankings
    assert table is not None
    assert table.columns[-1] == "recognized"
    rows = table[table["recognized"]]
    assert rows[["judge", "problem", "solver"]].to_numpy().tolist() == [["J1", "P1", "S2"]]
    assert rows["rank"].tolist() == [3]


@pytest.mark.parametrize("mark", ["2", "maybe", "ja", "recognized", "1.0"])
def test_anything_else_is_a_mistake(mark: str, make_study: Callable[..., Path]) -> None:
    """A mark that says neither yes nor no is named with its place and the remedy."""
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(), rankings__csv=marked(mark)), kind="experience")
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.column, mistake.key) == (3, 5, "recognized")
    assert mistake.message == (
        f"{mark!r} is not a mark; write 1 where the judge recognized the author, else leave the "
        "cell empty"
    )
