"""Studies in memory are those of files, and are written as files whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quem

if TYPE_CHECKING:
    from collections.abc import Callable

STUDIES = Path(__file__).parents[2] / "studies"
P3 = quem.load_study(STUDIES / "p3-1997" / "study.yaml", kind="experience")
RANKS = P3.data.to_frame()
WIDE = RANKS.pivot_table(
    index=["judge", "problem"], columns="solver", values="rank", observed=True
).reset_index()
PEOPLE = {"S1": 2, "S2": 2, "S3": 5, "S4": 5, "S5": 7, "S6": 8, "S7": 10}


def records() -> list[dict[str, Any]]:
    rows = RANKS.astype(object).where(RANKS.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]


class Stream:
    """Nothing but an Arrow stream."""

    def __init__(self) -> None:
        self.__arrow_c_stream__ = pa.Table.from_pylist(records()).__arrow_c_stream__


@pytest.mark.parametrize(
    "table",
    [
        lambda: RANKS,
        records,
        lambda: WIDE.set_index(["judge", "problem"]),
        lambda: RANKS.to_dict("list"),
        lambda: RANKS.rename(columns=str.upper).set_index("JUDGE"),
        lambda: WIDE.astype(object).where(WIDE.notna(), None),
        lambda: pa.Table.from_pandas(RANKS),
        lambda: pa.Table.from_pandas(WIDE),
        Stream,
    ],
)
def test_every_table_gives_the_study_of_the_file(table: Callable[[], object]) -> None:
    """Long and wide tables of any library, columns, and records hold what the file holds."""
    study = quem.study(table(), people=PEOPLE, systems=["p3"], withheld=["W"])
    columns = ["judge", "problem", "solver", "rank"]
    held = [frame[columns].dropna().astype(str) for frame in (study.data.to_frame(), RANKS)]
    assert {*held[0].itertuples(index=False)} == {*held[1].itertuples(index=False)}
    assert study.counts() == P3.counts()


def test_numbers_are_ids_and_keys_of_a_study_file_are_taken() -> None:
    """Ids may be numbers, also such that pandas made floats; other keys are those of the file."""
    study = quem.study(
        [
            {"judge": 7.0, "problem": np.int64(1), "solver": solver, "rank": rank}
            for solver, rank in ((1, 1), (2, 2), (3, 3), ("K", 2), ("L", np.nan))
        ],
        people={1: np.int64(2), 2: 4, 3: 9.5},
        systems=[{"id": "K", "name": "Kay", "version": "2"}, "L"],
        judges={7: 30},
        title="Numbers",
        missing=({"problem": "1", "solver": "L", "reason": "failed"},),
    )
    spec = study.spec
    assert [(judge.id, judge.experience) for judge in spec.judges] == [("7", 30)]
    assert {one.id: one.experience for one in spec.subjects} == {"1": 2, "2": 4, "3": 9.5}
    assert (spec.title, spec.systems[0].name) == ("Numbers", "Kay")
    assert study.declared.failed == {("1", "L")}
    assert study.files == ()


ROW = {"judge": "J1", "problem": "P1", "solver": "S1", "rank": 1}
PAIR = {"judge": "J1", "problem": "P1"}
YEARS = {"S1": 1, "S2": 2, "S3": 3}


def rows(**changed: object) -> list[dict[str, object]]:
    """Ranks of three people, the second of them changed."""
    return [{**ROW, "solver": f"S{n}", "rank": n, **(changed if n == 2 else {})} for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (rows(solver="S9"), "rankings:2:3: solver: unknown solver 'S9'"),
        (rows(rank="best"), "rankings:2:4: rank: 'best' is not a number"),
        (rows(rank=[2]), "rankings:2:4: rank: must be a text or a number"),
        (rows(solver="S1"), "rankings:2:3: solver: duplicate: J1's rank of S1"),
        (rows(judge=None), "rankings:2:1: judge: is empty"),
        ([{**PAIR, "S1": 1, "S9": 2}], "rankings:1:4: solver: unknown solver 'S9'"),
        ([{**PAIR, "S1": 1, "S2": "x"}], "rankings:1:4: rank: 'x' is not a number"),
        ([{**PAIR, "solver": "S1"}], "rankings: rank: column 'rank' not found"),
        ([], "rankings: judge: columns 'judge', 'problem'"),
        ([PAIR], "rankings: solver: columns 'solver', 'rank'"),
        (pa.table({"judge": [["J1"]], "problem": ["P1"]}), "rankings: is not a table of texts"),
        ({"judge": ["J1"], "problem": []}, "rankings: is not a table"),
        ("rankings.csv", "rankings: should be a DataFrame"),
        (7, "rankings: is not a table"),
        (rows(rank=None), "people: 2 people have ranks"),
    ],
)
def test_a_wrong_cell_is_named_with_row_and_column(table: object, told: str) -> None:
    with pytest.raises(quem.QuemError) as raised:
        quem.study(table, people=YEARS)
    assert str(raised.value).startswith(told)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"judges": ["J2"]}, "rankings:1:1: judge: unknown judge 'J1'"),
        ({"people": YEARS | {"S2": "two"}}, "people['S2'].experience: 'two' is not a number"),
        ({"people": YEARS | {"S2": -2}}, "people['S2'].experience: -2 is not a finite number"),
        ({"people": ["S1", "S2", "S3"]}, "people['S1'].experience: is missing"),
        ({"people": dict.fromkeys(YEARS, 1)}, "people: all people have the same experience"),
        ({"systems": ["S1"]}, "systems[1].id: the id 'S1' is already used by people['S1'].id"),
        ({"systems": [{"id": "K", "colour": 1}]}, "systems[1].colour: unknown key"),
        ({"verbs": "x"}, "verbs: unknown key; did you mean verb?"),
        ({"panel": {"file": "p.zip", "digest": "0" * 64}}, "<memory>: panel: needs files"),
    ],
)
def test_a_wrong_argument_is_named(given: dict[str, Any], told: str) -> None:
    with pytest.raises(quem.QuemError) as raised:
        quem.study(rows(), **({"people": YEARS} | given))
    assert str(raised.value).startswith(told)


def test_mistakes_come_together_and_twice_given_is_refused() -> None:
    """Mistakes in people and in ranks are told at once; an argument has one name."""
    with pytest.raises(quem.QuemError) as raised:
        quem.study(rows(rank="best"), people={"S1": -1, "S2": None, "S3": 3})
    assert len(raised.value.mistakes) == 3
    with pytest.raises(TypeError, match="study takes no subjects"):
        quem.study(rows(), people={}, subjects=[])


ODD = ["NA", "-", "007", "1.10", "no", "null", "a, b", 'say "a"', "it's: #1", "="]
ENDS = st.sampled_from("\n\r\x85\u2028\u2029")
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6)
WORDS = (WORDS | st.sampled_from(ODD)).filter(str.isprintable)


@st.composite
def studies(draw: st.DrawFn) -> quem.Study:
    """Any study in memory: odd ids, ties, missing and failed solutions, blocks, occasions."""
    ids = draw(st.lists(WORDS, min_size=8, max_size=12, unique=True))
    judges, people, systems = ids[:2], ids[2:6], ids[6:]
    years = draw(st.lists(st.floats(0, 1e6), min_size=4, max_size=4, unique=True))
    cell = st.sampled_from([1, 2, 2.5, 1e-3, 3.0, None, "failed"])
    columns = ("judge", "problem", "solver", "block", "occasion")
    table = [
        {
            **dict(zip(columns, (judge, problem, solver, block, again), strict=True)),
            "rank": 1 if solver in people[:3] else draw(cell),
            "recognized": draw(st.sampled_from(["", "x"])),
        }
        for judge in judges
        for problem in draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
        for solver in [*people, *systems]
        for block in [draw(st.integers(1, 2))]
        for again in range(1, draw(st.integers(1, 2)) + 1)
    ]
    return quem.study(
        table,
        people=dict(zip(people, [0, 1e6 + 1, *years[2:]], strict=True)),
        systems=[{"id": one, "name": draw(WORDS)} for one in systems[:1]],
        withheld=systems[1:],
        title=draw(WORDS),
        description=draw(st.text(st.characters(codec="utf-8") | ENDS, max_size=20)),
        analysis={"level": draw(st.sampled_from([0.9, 0.95]))},
    )


@given(study=studies())
def test_a_saved_study_reads_as_it_was(
    study: quem.Study, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Writing a study and reading it gives an equal one, whatever its ids and ranks are."""
    folder = tmp_path_factory.mktemp("saved") / "study"
    study.save(folder)
    again = quem.load_study(folder / "study.yaml", kind="experience")
    pd.testing.assert_frame_equal(again.data.to_frame(), study.data.to_frame())
    assert (again.spec, again.declared) == (study.spec, study.declared)


@pytest.mark.parametrize("name", ["p3-1997/averages.yaml", "assembly-planners/study.yaml"])
def test_a_study_of_files_is_saved_with_its_ranks(name: str, tmp_path: Path) -> None:
    """What a file holds in another layout is written as one table, and gives the same result."""
    study = quem.load_study(STUDIES / name, kind="experience")
    study.save(tmp_path / "copy")
    again = quem.load_study(tmp_path / "copy" / "study.yaml", kind="experience")
    assert again.declared == study.declared
    pd.testing.assert_frame_equal(quem.analyze(study).estimates, quem.analyze(again).estimates)


def test_an_existing_study_is_left_alone(tmp_path: Path) -> None:
    """A folder with a study is refused, and nothing in it or beside it changes."""
    study = quem.study(rows(), people=YEARS)
    notes = tmp_path / "here" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    study.save(notes.parent)
    (tmp_path / "here" / "rankings.csv").write_text("changed")
    for folder, told in (
        (notes.parent, "already holds rankings"),
        (notes, "is a file"),
        (notes / "study", "cannot be written"),
    ):
        with pytest.raises(quem.QuemError, match=told):
            study.save(folder)
    assert (tmp_path / "here" / "rankings.csv").read_text() == "changed"
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert names == ["here", "here/notes.txt", "here/rankings.csv", "here/study.yaml"]
