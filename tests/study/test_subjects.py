"""The table of subjects: written by a solving session or by hand, and read with all mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from quem.cli import main
from quem.studyfile.reading import draft_study, read_study
from quem.studyfile.subjects import SolvedProblem, SubjectRecord, subjects_text

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """id: made
problems: [{id: P1}, {id: P2}]
systems: [{id: sys}]
judges: [{id: J1}]
subjects: subjects.csv
"""
NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters='/\\:*?"<>|.~'),
    min_size=1,
    max_size=8,
)


def study(folder: Path, table: str | None, more: str = "") -> Path:
    """Write a study and its table."""
    path = folder / "study.yaml"
    path.write_text(STUDY + more)
    if table is not None:
        (folder / "subjects.csv").write_text(table)
    return path


@given(
    st.dictionaries(
        NAMES, st.tuples(st.floats(0, 80).map(lambda x: round(x, 2)), st.floats(1, 9e4)), max_size=5
    )
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, people: dict[str, tuple[float, float]]
) -> None:
    """Ids, experience, and times come back; who withdrew and what is missing, too."""
    folder = tmp_path_factory.mktemp("table")
    problems = {"P1": 1.0, "P2": 0.0}
    records = [
        SubjectRecord(
            one,
            "=SUM(A1)",
            years,
            answers={"field": "-1"},
            problems={
                "P1": SolvedProblem("submitted", seconds, 3, 4),
                "P2": SolvedProblem("skipped", 5),
            },
        )
        for one, (years, seconds) in people.items()
    ]
    gone = SubjectRecord("withdrawn one", "", None, "withdrawn")
    text = subjects_text([*records, gone], ["field"], list(problems))
    spec = read_study(study(folder, text))
    assert [(s.id, s.name) for s in spec.subjects] == [(one, "=SUM(A1)") for one in people]
    assert [s.experience for s in spec.subjects] == pytest.approx(
        [float(f"{years:g}") for years, _ in people.values()]
    )
    assert [s.seconds["P1"] for s in spec.subjects] == pytest.approx(
        [seconds for _, seconds in people.values()], abs=0.051
    )
    assert [(m.problem, m.solver) for m in spec.missing] == [("P2", one) for one in people]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("name\nA\n", "subjects.csv:1: has no column id"),
        ("id,experience,id\n", "subjects.csv:1:3: id: is there twice"),
        ("id,experience\nS1,x\n", "subjects.csv:2:2: experience: 'x' is not a number"),
        ("id,experience\nS1,\n", "subjects.csv:2:2: experience: is empty"),
        ("id,experience\nS1,-1\n", "subjects.csv:2:2: experience: '-1' is not a number"),
        ("id,experience\nS1,nan\n", "subjects.csv:2:2: experience: 'nan' is not a number"),
        ("id,experience\n,1\n", "subjects.csv:2:1: id: is empty"),
        ("id,experience\nS1,1\nS1,2\n", "subjects.csv:3:1: id: 'S1' is on line 2 already"),
        ("id,experience\nS1,7,5\n", "subjects.csv:2: has 3 cells, but the first line 2"),
        ("id;experience\nS1;7,5\n", "subjects.csv:2:2: experience: '7,5' is not a number"),
        ("id,experience,state P9\nS1,1,none\n", "subjects.csv:1:3: state P9: there is no problem"),
        ("id,experience,state P1\nS1,1,lost\n", "subjects.csv:2:3: state P1: 'lost' is none of"),
        ("id,experience,seconds P1\nS1,1,x\n", "subjects.csv:2:3: seconds P1: 'x' is not a num"),
        ('id,experience\n"S1,1\n', "subjects.csv:2: is not CSV"),
        ("id,experience\nsys,1\n", "study.yaml:3:16: systems[1].id: the id 'sys' is already used"),
        ("id,experience\nJ1,1\n", "study.yaml:4:15: judges[1].id: judge 'J1' is also a subject"),
        (None, "study.yaml:5:11: subjects: there is no file 'subjects.csv'"),
    ],
)
def test_mistakes_name_the_place(tmp_path: Path, table: str | None, told: str) -> None:
    mistake = draft_study(study(tmp_path, table)).mistakes[0]
    assert str(mistake).removeprefix(f"{tmp_path}/").startswith(told)


def test_before_the_session_is_closed(tmp_path: Path) -> None:
    """There are no subjects yet, which quem check says."""
    path = study(tmp_path, None, "solving: {people: [{id: S1}]}\nrankings: {from: store}\n")
    assert read_study(path).awaits_subjects
    checked = CliRunner().invoke(main, ["check", str(path)])
    assert checked.exit_code == 0, checked.output
    assert "subjects to come from the solving session" in checked.output


QUESTION = "{id: a, about: solution, kind: text, text: b}"


@pytest.mark.parametrize(
    ("solving", "told"),
    [
        ("uploads: [../x]", ".uploads: '/x' is not an ending"),
        ("people: [{id: S1}, {id: S1}]", ".people[2].id: the id 'S1' is there twice"),
        ("people: [{id: J1}]", ".people[1].id: 'J1' is also a judge"),
        ("people: [{id: sys}]", ".people[1].id: 'sys' is also a system"),
        ("people: [{id: a/b}]", ".people[1].id: solutions are files named by the id"),
        (f"questions: [{QUESTION}]", ".questions: question 'a' needs about: study"),
        ("time_limit: 0", ".time_limit: must be 1 or more"),
        ("briefing: none.md", ".briefing: there is no file 'none.md'"),
    ],
)
def test_settings_of_a_session(tmp_path: Path, solving: str, told: str) -> None:
    path = study(tmp_path, None, f"solving: {{{solving}}}\n")
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 1
    assert f": solving{told}" in str(result.exception)


def test_a_session_needs_a_table(tmp_path: Path) -> None:
    """Subjects in the study file would be rewritten by closing."""
    path = study(tmp_path, None, "solving: {}\n")
    path.write_text(path.read_text().replace("subjects.csv", "[{id: S1, experience: 2}]"))
    assert "write subjects: subjects.csv" in str(draft_study(path).mistakes[0])


@pytest.mark.parametrize("one", ["sys", "J1"])
def test_nobody_is_added_under_the_id_of_a_system(tmp_path: Path, one: str) -> None:
    """Closing would write their solution over the system's."""
    path = study(tmp_path, None, "solving: {}\nrankings: {from: store}\n")
    result = CliRunner().invoke(main, ["links", "people", str(path), "--add", one])
    assert result.exit_code == 1
    assert "is a judge or another solver" in str(result.exception)
