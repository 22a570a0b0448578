"""Studies in memory are those of files, and are written as files whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quem

if TYPE_CHECKING:
    from collections.abc import Callable

STUDIES = Path(__file__).parents[2] / "studies"
P3 = quem.load_study(STUDIES / "p3-1997" / "study.yaml", kind="experience")
PEOPLE = {"S1": 2, "S2": 2, "S3": 5, "S4": 5, "S5": 7, "S6": 8, "S7": 10}


def ranks() -> pd.DataFrame:
    """The rankings of P3, as a table."""
    assert P3.rankings is not None
    return P3.rankings


def records() -> list[dict[str, Any]]:
    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in ranks().astype(object).to_dict("records")
    ]


def wide() -> pd.DataFrame:
    return ranks().pivot_table(
        index=["judge", "problem"], columns="solver", values="rank", observed=True
    )


class Stream:
    """Nothing but an Arrow stream."""

    def __init__(self, table: Any) -> None:  # noqa: ANN401  of pyarrow
        self.__arrow_c_stream__ = table.__arrow_c_stream__


def _polars(table: Callable[[Any], Any]) -> object:
    return table(pytest.importorskip("polars"))


def _arrow(table: Callable[[Any], Any]) -> object:
    return table(pytest.importorskip("pyarrow"))


def same(one: quem.Study, other: quem.Study) -> bool:
    """Whether two studies hold the same, wherever they came from."""
    pd.testing.assert_frame_equal(one.data.to_frame(), other.data.to_frame())
    return one.spec == other.spec and one.declared == other.declared


@pytest.mark.parametrize(
    "table",
    [
        ranks,
        records,
        wide,
        lambda: ranks().to_dict("list"),
        lambda: ranks().rename(columns=str.upper).set_index("JUDGE"),
        lambda: wide().reset_index().astype(object).where(wide().reset_index().notna(), None),
        lambda: _arrow(lambda pa: pa.Table.from_pandas(ranks())),
        lambda: _arrow(lambda pa: pa.Table.from_pandas(wide().reset_index())),
        lambda: _arrow(lambda pa: Stream(pa.Table.from_pylist(records()))),
        lambda: _polars(lambda pl: pl.DataFrame(records())),
        lambda: _polars(lambda pl: pl.DataFrame(wide().reset_index().to_dict("list"))),
    ],
)
def test_every_table_gives_the_study_of_the_file(table: Callable[[], object]) -> None:
    """Long and wide tables of any library, columns, and records hold what the file holds."""
    study = quem.study(table(), people=PEOPLE, systems=["p3"], withheld=["W"])
    key = ["judge", "problem", "solver"]
    of = study.rankings, ranks()
    held = [
        {(str(j), str(p), str(s)): r for j, p, s, r in frame[[*key, "rank"]].dropna().to_numpy()}
        for frame in of
        if frame is not None
    ]
    assert held[0] == held[1]
    assert study.counts() == P3.counts()
    made, read = (quem.analyze(one).estimates.select_dtypes("number") for one in (study, P3))
    pd.testing.assert_frame_equal(made, read, rtol=1e-12)


def test_numbers_are_ids_and_keys_of_a_study_file_are_taken() -> None:
    """Ids may be numbers, also such that pandas made floats; other keys are those of the file."""
    rows = [
        {"judge": 7.0, "problem": np.int64(1), "solver": solver, "rank": rank}
        for solver, rank in ((1, 1), (2, 2), (3, 3), ("K", 2), ("L", np.nan))
    ]
    study = quem.study(
        rows,
        people={1: np.int64(2), 2: 4, 3: 9.5},
        systems=[{"id": "K", "name": "Kay", "version": "2"}, "L"],
        judges={7: 30},
        title="Numbers",
        experience_unit="months",
        missing=({"problem": "1", "solver": "L", "reason": "failed"},),
    )
    assert study.spec.title == "Numbers"
    assert study.spec.experience_unit == "months"
    assert [one.experience for one in study.spec.judges] == [30]
    assert [(one.id, one.experience) for one in study.spec.subjects] == [
        ("1", 2),
        ("2", 4),
        ("3", 9.5),
    ]
    assert study.spec.systems[0].name == "Kay"
    assert study.declared.failed == {("1", "L")}
    assert study.files == ()
    assert study.declared.judges == ("7",)


def test_a_table_of_lists_is_refused() -> None:
    """Lists in an Arrow table are no ranks."""
    lists = _arrow(lambda pa: pa.table({"judge": [["J1"]], "problem": ["P1"]}))
    with pytest.raises(quem.QuemError, match="rankings: is not a table of texts"):
        quem.study(lists, people=PEOPLE)


ROW = {"judge": "J1", "problem": "P1", "solver": "S1", "rank": 1}


def rows(**changed: object) -> list[dict[str, object]]:
    """Ranks of three people, the second of them changed."""
    return [{**ROW, "solver": f"S{n}", "rank": n, **(changed if n == 2 else {})} for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("table", "more", "place", "words"),
    [
        (rows(solver="S9"), {}, ("rankings", 2, 3, "solver"), "unknown solver 'S9'"),
        (rows(rank="best"), {}, ("rankings", 2, 4, "rank"), "'best' is not a number"),
        (rows(rank=[2]), {}, ("rankings", 2, 4, "rank"), "must be a text or a number"),
        (rows(solver="S1"), {}, ("rankings", 2, 3, "solver"), "duplicate: J1's rank of S1"),
        (rows(judge=None), {}, ("rankings", 2, 1, "judge"), "is empty; add the judge"),
        (rows(), {"judges": ["J2"]}, ("rankings", 1, 1, "judge"), "unknown judge 'J1'"),
        ([{"judge": "J1", "problem": "P1", "S1": 1, "S9": 2}], {}, ("rankings", 1, 4, "solver"),
         "unknown solver 'S9'"),
        ([{"judge": "J1", "problem": "P1", "S1": 1, "S2": "x"}], {}, ("rankings", 1, 4, "rank"),
         "'x' is not a number"),
        ([{"judge": "J1", "problem": "P1", "solver": "S1"}], {}, ("rankings", 0, 0, "rank"),
         "column 'rank' not found"),
        ([], {}, ("rankings", 0, 0, "judge"), "columns 'judge', 'problem'"),
        ([{"judge": "J1", "problem": "P1"}], {}, ("rankings", 0, 0, "solver"),
         "columns 'solver', 'rank'"),
        ({"judge": ["J1"], "problem": []}, {}, ("rankings", 0, 0, ""), "is not a table"),
        ("rankings.csv", {}, ("rankings", 0, 0, ""), "should be a DataFrame"),
        (7, {}, ("rankings", 0, 0, ""), "is not a table"),
        (rows(), {"people": {"S1": 1, "S2": "two", "S3": 3}},
         ("", 0, 0, "people['S2'].experience"), "'two' is not a number"),
        (rows(), {"people": {"S1": 1, "S2": -2, "S3": 3}}, ("", 0, 0, "people['S2'].experience"),
         "-2 is not a finite number"),
        (rows(), {"people": ["S1", "S2", "S3"]}, ("", 0, 0, "people['S1'].experience"),
         "is missing"),
        (rows(), {"people": {"S1": 1, "S2": 1, "S3": 1}}, ("", 0, 0, "people"),
         "all people have the same experience"),
        (rows(rank=None), {}, ("", 0, 0, "people"), "2 people have ranks"),
        (rows(), {"systems": ["S1"]}, ("", 0, 0, "systems[1].id"),
         "the id 'S1' is already used by people['S1'].id;"),
        (rows(), {"systems": [{"id": "K", "colour": 1}]}, ("", 0, 0, "systems[1].colour"),
         "unknown key"),
        (rows(), {"verbs": "x"}, ("", 0, 0, "verbs"), "unknown key; did you mean verb?"),
        (rows(), {"panel": {"file": "p.zip", "digest": "0" * 64}}, ("<memory>", 0, 0, "panel"),
         "needs files"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(
    table: object, more: dict[str, Any], place: tuple[str, int, int, str], words: str
) -> None:
    """A mistake names the table with row and column, or the argument with the person."""
    with pytest.raises(quem.QuemError) as raised:
        quem.study(table, **({"people": {"S1": 1, "S2": 2, "S3": 3}} | more))
    first = raised.value.mistakes[0]
    assert (first.path, first.line, first.column, first.key) == place
    assert first.message.startswith(words)


def test_mistakes_come_together_and_twice_given_is_refused() -> None:
    """Mistakes in people and in ranks are told at once; an argument has one name."""
    with pytest.raises(quem.QuemError) as raised:
        quem.study(rows(rank="best"), people={"S1": -1, "S2": None, "S3": 3})
    assert len(raised.value.mistakes) == 3
    with pytest.raises(TypeError, match="study takes no subjects"):
        quem.study(rows(), people={}, subjects=[])


WORDS = (
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6)
    | st.sampled_from(["NA", "-", "007", "1.10", "no", "null", "a, b", 'say "a"', "it's: #1", "="])
).filter(str.isprintable)  # fmt: skip


@st.composite
def studies(draw: st.DrawFn) -> quem.Study:
    """Any study in memory: odd ids, ties, missing and failed solutions, blocks, occasions."""
    ids = draw(st.lists(WORDS, min_size=8, max_size=12, unique=True))
    judges, people, systems = ids[:2], ids[2:6], ids[6:]
    years = draw(st.lists(st.floats(0, 1e6), min_size=4, max_size=4, unique=True))
    cell = st.sampled_from([1, 2, 2.5, 1e-3, 3.0, None, "failed"])
    table = [
        {"judge": judge, "problem": problem, "solver": solver, "block": block, "occasion": again,
         "rank": 1 if solver in people[:3] else draw(cell),
         "recognized": draw(st.sampled_from(["", "x"]))}
        for judge in judges
        for problem in draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
        for solver in [*people, *systems]
        for block in [draw(st.integers(1, 2))]
        for again in range(1, draw(st.integers(1, 2)) + 1)
    ]  # fmt: skip
    return quem.study(
        table,
        people=dict(zip(people, [0, 1e6 + 1, *years[2:]], strict=True)),
        systems=[{"id": one, "name": draw(WORDS)} for one in systems[:1]],
        withheld=systems[1:],
        title=draw(WORDS),
        description=draw(st.text(max_size=20)),
        analysis={"level": draw(st.sampled_from([0.9, 0.95]))},
    )


@given(study=studies())
def test_a_saved_study_reads_as_it_was(
    study: quem.Study, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Writing a study and reading it gives an equal one, whatever its ids and ranks are."""
    folder = tmp_path_factory.mktemp("saved") / "study"
    study.save(folder)
    assert same(quem.load_study(folder / "study.yaml", kind="experience"), study)


@pytest.mark.parametrize(
    "name",
    ["p3-1997/study.yaml", "p3-1997/averages.yaml", "assembly-planners/study.yaml"],
)
def test_a_study_of_files_is_saved_with_its_ranks(name: str, tmp_path: Path) -> None:
    """What a file holds in another layout is written as one table, and gives the same result."""
    study = quem.load_study(STUDIES / name, kind="experience")
    study.save(tmp_path / "copy")
    again = quem.load_study(tmp_path / "copy" / "study.yaml", kind="experience")
    assert again.declared == study.declared
    pd.testing.assert_frame_equal(quem.analyze(study).estimates, quem.analyze(again).estimates)


def test_an_existing_study_is_left_alone(tmp_path: Path) -> None:
    """A folder with a study is refused, and nothing in it or beside it changes."""
    study = quem.study(rows(), people={"S1": 1, "S2": 2, "S3": 3})
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "notes.txt").write_text("mine", encoding="utf-8")
    study.save(tmp_path / "here")
    (tmp_path / "here" / "rankings.csv").write_text("changed", encoding="utf-8")
    with pytest.raises(quem.QuemError, match="already holds rankings"):
        study.save(tmp_path / "here")
    assert (tmp_path / "here" / "rankings.csv").read_text(encoding="utf-8") == "changed"
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert names == {"notes.txt", "rankings.csv", "study.yaml"}
    with pytest.raises(quem.QuemError, match="is a file"):
        study.save(tmp_path / "here" / "notes.txt")
    with pytest.raises(quem.QuemError, match="cannot be written"):
        study.save(tmp_path / "here" / "notes.txt" / "study")
    assert {path.name for path in (tmp_path / "here").iterdir()} == names


def test_a_placed_study_stays_in_its_folder(tmp_path: Path) -> None:
    """What needs a panel is not written without it."""
    placed = quem.load_study(STUDIES / "cooling-panel" / "placed" / "study.yaml", kind="experience")
    with pytest.raises(quem.QuemError, match="panel: needs files"):
        placed.save(tmp_path / "copy")
    assert not [*tmp_path.iterdir()]


def test_the_report_of_a_study_in_memory(tmp_path: Path) -> None:
    """A study without files has a report of its own, in a folder that Python names."""
    study = quem.study(ranks(), people=PEOPLE, systems=["p3"], withheld=["W"], title="P3 again")
    result = quem.analyze(study)
    result.report(tmp_path / "report")
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"report.html", "analysis.json", "estimates.csv", "averages.csv"} <= names
    written = pd.read_csv(tmp_path / "report" / "estimates.csv")
    assert written["paper_experience"].item() == pytest.approx(7.2284157585917885, abs=1e-9)
    assert "P3 again" in str(result)
    assert result.inputs == ()
