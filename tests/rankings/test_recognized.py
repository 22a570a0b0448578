"""The column in which a judge marks solutions whose author the judge recognized."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import Mistake, QuemError
from quem.io.columns import column_of
from quem.io.tables import SourceTable
from quem.rankings import Rankings
from quem.rankings.entries import assemble
from quem.study import Declared
from tests.examples import RANKS, long_csv, study_with

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


@pytest.mark.parametrize("mark", ["", "0", "no", "No", "false", "FALSE", "-"])
def test_no_mark_leaves_the_table_as_it_was(mark: str, make_study: Callable[..., Path]) -> None:
    """A column that marks nothing, and no column, give the same table."""
    path = make_study(study_with(), rankings__csv=marked(mark))
    table = quem.load_study(path, kind="experience").rankings
    (path.parent / "rankings.csv").write_text(PLAIN, encoding="utf-8")
    plain = quem.load_study(path, kind="experience").rankings
    assert table is not None
    assert plain is not None
    assert table.equals(plain)
    assert "recognized" not in plain


def test_a_study_without_marks_spends_no_memory_on_them(make_study: Callable[..., Path]) -> None:
    """One False stands for all rows."""
    data = data_of(make_study(study_with()))
    assert data.recognized.tolist() == [False] * len(RANKS)
    assert data.recognized.strides == (0,)
    rankings = Rankings(*(getattr(data, name) for name in list(data.__dataclass_fields__)[:10]))
    assert rankings.recognized.tolist() == [False] * len(RANKS)
    assert rankings.recognized.strides == (0,)


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


def test_many_wrong_marks_are_told_in_short(make_study: Callable[..., Path]) -> None:
    """A mark that is wrong many times is named once, with the number of its lines."""
    table = PLAIN.replace("\n", ",?\n").replace("rank,?\n", "rank,recognized\n")
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(), rankings__csv=table))
    (mistake,) = caught.value.mistakes
    assert mistake.message.endswith("leave the cell empty (and on 27 more lines)")


@pytest.mark.parametrize("rank", ["", "absent", "failed"])
def test_a_mark_beside_an_empty_rank_has_no_effect(
    rank: str, make_study: Callable[..., Path]
) -> None:
    """It is allowed, and the analysis has nothing to say of it."""
    table = marked("1").replace("J1,P1,S2,3,1", f"J1,P1,S2,{rank},1")
    study = quem.load_study(make_study(study_with(), rankings__csv=table), kind="experience")
    analysis = quem.analyze(study, bootstrap=0)
    assert analysis.findings.recognized is None
    assert "recognized-authors" not in {doubt.code for doubt in analysis.warnings}


def test_a_line_with_nothing_but_a_mark_is_incomplete(make_study: Callable[..., Path]) -> None:
    """It is no empty line: the ids are missing."""
    with pytest.raises(QuemError, match="judge: is empty, as is the problem and the solver"):
        quem.load_study(
            make_study(study_with(), rankings__csv=f"{marked('1')},,,,1\n"), kind="experience"
        )


def test_rows_of_a_store_need_no_file() -> None:
    """Columns of text made by `column_of`, whatever their order, become rankings."""
    rows = [
        ("J1", "P1", "1", "1", "S1", "1.5", "", ""),
        ("J1", "P1", "1", "1", "S2", "1.5", "", "1"),
        ("J1", "P1", "1", "1", "S3", "", "absent", "1"),
        ("J1", "P1", "1", "2", "S1", "1.0", "", ""),
        ("J1", "P1", "1", "2", "S2", "2.0", "", ""),
    ]
    names = ("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognized")
    columns = {name: column_of([row[i] for row in rows]) for i, name in enumerate(names)}
    table = SourceTable("store.db", columns, lambda _row, field: Mistake("store.db", key=field))
    declared = Declared((), ("P1",), dict.fromkeys(("S1", "S2", "S3"), "subject"))
    rankings, mistakes = assemble([table], declared, ("J1",))
    assert mistakes == []
    assert rankings.warnings == ()
    assert rankings.recognized.tolist() == [False, True, True, False, False]
    assert rankings.occasion.tolist() == [1, 1, 1, 2, 2]
    frame = rankings.to_frame()
    assert frame["reason"].tolist() == ["", "", "absent", "", ""]
    assert frame["rank"].tolist()[:2] == [1.5, 1.5]
