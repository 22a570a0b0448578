"""Every mistake of a study and its rankings: where it is, what is wrong, how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from tests.examples import RANKS, long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable

STUDY = """\
kind: experience
id: example
title: Example
problems: [{id: P1}, {id: P2}]
judges:
  - {id: J1, experience: 20}
  - {id: J2, experience: 15}
subjects:
  - {id: S1, experience: 1}
  - {id: S2, experience: 2}
  - {id: S3, experience: 4}
  - {id: S4, experience: 6}
  - {id: S5, experience: 9}
  - {id: S6, experience: 12}
systems: [{id: sys}]
rankings: {from: long, file: rankings.csv}
analysis:
  level: 0.95
"""


def mistakes_of(path: Path) -> list[str]:
    """Give the mistakes of a study, with the folder left out of the paths."""
    with pytest.raises(QuemError) as caught:
        quem.analyze(quem.load_study(path, kind="experience"))
    return [str(mistake).replace(f"{path.parent}/", "") for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "remedy"),
    [
        ("id: S2, exp", "id: S1, exp", "10:10: subjects[2].id", "already used by", "give each its"),
        ("title: Ex", "id: x\ntitle: Ex", "3:1: id", "duplicate, first on line 2", "keep one"),
        ("title: Ex", "titel: Ex", "3:1: titel", "unknown key", "did you mean title?"),
        (
            "title: Ex",
            "organizer: {email: zoë@example.org}\ntitle: Ex",
            "3:20: organizer.email",
            "'zoë@example.org' is not",
            "another address",
        ),
        ("title: Ex", "xyzzy: Ex", "3:1: xyzzy", "unknown key", "known here: kind, id, title"),
        ("{id: S2, exp", "{id: S2, xp", "10:14: subjects[2].xperience", "unknown", "experience?"),
        (
            "level: 0.95",
            "level: high",
            "18:10: analysis.level",
            "'high' is not a number",
            "such as 7",
        ),
        ("level: 0.95", "level: 95", "18:10: analysis.level", "between 0 and 1", "written 0.95"),
        ("level: 0.95", "form: linar", "18:9: analysis.form", "is not one of", "mean linear?"),
        (
            "level: 0.95",
            "bootstrap: 9",
            "18:3: analysis.bootstrap",
            "not a setting",
            "leave it out",
        ),
        ("level: 0.95", "years_error: -1", "18:16: analysis.years_error", "must be 0", "or more"),
        (
            "level: 0.95",
            "reference_population: {years: [5, 5]}",
            "18:25: analysis.reference_population",
            "years need two numbers",
            "larger than the one before",
        ),
        ("[{id: sys}]", "{id: sys}", "15:10: systems", "must be a list", "starts with '- '"),
        ("[{id: sys}]", "[sys]", "15:11: systems[1]", "must be a mapping", "such as {id: S1}"),
        ("{id: sys}", "{name: x}", "15:11: systems[1].id", "is missing", "add it"),
        ("{id: sys}", "{id: ''}", "15:16: systems[1].id", "is empty", ""),
        ("{id: sys}", "{id: sys, date: May}", "15:27: systems[1].date", "not a date", "1996-01-31"),
        (
            "id: J2, ",
            "id: S3, ",
            "7:10: judges[2].id",
            "is also a subject",
            "cannot judge their own",
        ),
        ("id: J2, ", "id: J1, ", "7:10: judges[2].id", "already used by judges[1]", "give each"),
        ("experience: 2}", "experience: -2}", "10:26: subjects[2].experience", "0 or more", "num"),
        ("experience: 2}", "experience: inf}", "10:26: subjects[2].experience", "finite", "number"),
        (
            "experience: 2}",
            "experience: .nan}",
            "10:26: subjects[2].experience",
            "not a number",
            "7.5",
        ),
        (
            "experience: 2}",
            "experience: 1e300}",
            "10:26: subjects[2].experience",
            "at most",
            "unit",
        ),
        (
            "experience: 2}",
            "experience: }",
            "10:26: subjects[2].experience",
            "is empty",
            "add a value",
        ),
        ("kind: experience", "kind: ranking", "1:7: kind", "does not know", "it knows: exp"),
        ("kind: experience", "kind: [a]", "1:7: kind", "does not know", "it knows: experience"),
        (
            "file: rankings",
            "file: ranking",
            "16:30: rankings.file",
            "no file 'ranking.csv'",
            "mean rankings.csv?",
        ),
        ("from: long", "from: store", "16:18: rankings.from", "no judging session", "quem serve"),
        ("from: long", "from: lon", "16:18: rankings.from", "not one of long, wide", "mean long?"),
        (", file: rankings.csv", "", "16:11: rankings", "name the file", "file: rankings.csv}"),
        ("title: Example", "title: !x Example", "3:8: title", "the tag !x", "leave it out"),
    ],
)
def test_a_mistake_in_the_study_file_has_place_and_remedy(
    old: str, new: str, place: str, message: str, remedy: str, make_study: Callable[..., Path]
) -> None:
    """A mistake in the study file is told with line, column, key, what is wrong and a remedy."""
    assert STUDY.count(old) == 1
    mistakes = mistakes_of(make_study(STUDY.replace(old, new)))
    (mistake,) = [mistake for mistake in mistakes if mistake.startswith(f"study.yaml:{place}: ")]
    assert message in mistake
    assert remedy in mistake


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("title: [a\nid: x\n", "study.yaml:2:3: this is not YAML"),
        (
            "title: 'a\n",
            "study.yaml:1:8: this is not YAML: the quote that begins here is never closed",
        ),
        ("a: b: c\n", "study.yaml:1:5: this is not YAML: put text that holds ': ' in quotes"),
        (
            "id: x\ntitle: \x07\n",
            "study.yaml:2:8: the character '\\x07' is not allowed in YAML; remove it",
        ),
        ("- a\n- b\n", "study.yaml:1:1: a study file is a mapping"),
        ("", "study.yaml:1:1: a study file is a mapping"),
        ("title: *bold* text\n", "study.yaml:1:13: this is not YAML: a value cannot begin with *"),
        ("a: 1\n---\nb: 2\n", "study.yaml:2:1: this is not YAML: the file holds a second document"),
        ("a: &x [*x]\n", "study.yaml:1:4: lists or mappings are nested too deeply"),
        ("a: " + "[" * 60 + "]" * 60, "study.yaml:1:53: lists or mappings are nested too deeply"),
        ("a: " + "[" * 5000, "study.yaml"),
        (
            "a: &a [x, x, x, x]\n"
            + "".join(
                f"{n}: &{n} [{', '.join(f'*{o}' for _ in range(9))}]\n"
                for o, n in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            "study.yaml:1:4: the file holds more than 200,000 values",
        ),
    ],
)
def test_text_that_is_no_study_is_refused(
    text: str, place: str, make_study: Callable[..., Path]
) -> None:
    """Broken YAML, and YAML that is no mapping, is refused where it breaks."""
    (mistake,) = mistakes_of(make_study(text))
    assert mistake.startswith(place)


def test_a_missing_study_and_a_folder_are_refused(tmp_path: Path) -> None:
    """No such file, a folder and a name that no file can have are mistakes."""
    (mistake,) = mistakes_of(tmp_path / "study.yaml")
    assert mistake == "study.yaml: file not found; check the name of the study file"
    (tmp_path / "folder").mkdir()
    (mistake,) = mistakes_of(tmp_path / "folder")
    assert mistake == "folder: is a folder; specify the study file inside it"
    (mistake,) = mistakes_of(tmp_path / ("x" * 5000))
    assert "cannot be read" in mistake


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "remedy"),
    [
        (
            "J1,P1,S2,3\n",
            "J9,P1,S2,3\n",
            "3:1: judge",
            "unknown judge 'J9'",
            "add it to the judges",
        ),
        (
            "J1,P1,S2,3\n",
            "J1,Q,S2,3\n",
            "3:2: problem",
            "unknown problem 'Q'",
            "add it to the prob",
        ),
        (
            "J1,P1,S2,3\n",
            "J1,P1,Sys,3\n",
            "3:3: solver",
            "unknown solver 'Sys'",
            "did you mean sys?",
        ),
        ("J1,P1,S2,3\n", ",P1,S2,3\n", "3:1: judge", "is empty", "add the judge"),
        ("J1,P1,S2,3\n", "J1,P1,S1,3\n", "3:3: solver", "J1's rank of S1 on P1", "keep one"),
        (
            "J1,P1,S2,3\n",
            "J1,P1,S2,x\n",
            "3:4: rank",
            "'x' is not a number",
            "leave the cell empty",
        ),
        ("J1,P1,S2,3\n", "J1,P1,S2,1e99\n", "3:4: rank", "is too large", "worst solution has"),
        ("J1,P1,S2,3\n", "J1,P1,S2,3,5\n", "3:5", "has 5 cells, the header 4", "quote a cell"),
        ("J1,P1,S2,3\n", 'J1,P1,"S2,3\n', "3", "never ends", "close it"),
        ("solver,rank", "solver,rnk", "1: rank", "column 'rank' not found", "is it rnk?"),
        ("judge,problem", "judge,judge", "1:2: judge", "duplicate column", "keep one"),
    ],
)
def test_a_mistake_in_the_rankings_has_place_and_remedy(
    old: str, new: str, place: str, message: str, remedy: str, make_study: Callable[..., Path]
) -> None:
    """A mistake in the rankings is told with line, cell, column, what is wrong and a remedy."""
    mistakes = mistakes_of(make_study(STUDY, rankings__csv=long_csv().replace(old, new)))
    (mistake,) = [mistake for mistake in mistakes if mistake.startswith(f"rankings.csv:{place}: ")]
    assert message in mistake
    assert remedy in mistake


def test_every_mistake_is_told_at_once(make_study: Callable[..., Path]) -> None:
    """Mistakes of the schema, of the ids and of every line of the rankings come together."""
    study = STUDY.replace("experience: 2}", "age: 2}").replace("experience: 4}", "experience: -4}")
    study = study.replace("level: 0.95", "levle: 0.95").replace("id: J2", "id: J1")
    table = long_csv().replace("J1,P1,S4,4", "J1,P1,S4,four").replace("J1,P2,S1,2", "J1,P3,S1,2")
    table = table.replace("J1,P1,S2,3", "J1,P1,S9,3")
    mistakes = mistakes_of(make_study(study, rankings__csv=table))
    assert [mistake.split(" ")[0] + mistake.split(" ")[1] for mistake in mistakes] == [
        "study.yaml:7:10:judges[2].id:",
        "study.yaml:10:5:subjects[2].experience:",
        "study.yaml:10:14:subjects[2].age:",
        "study.yaml:11:26:subjects[3].experience:",
        "study.yaml:18:3:analysis.levle:",
        "rankings.csv:9:2:problem:",
        "rankings.csv:3:3:solver:",
        "rankings.csv:5:4:rank:",
    ]


def test_many_mistakes_of_a_kind_are_counted(make_study: Callable[..., Path]) -> None:
    """Beyond twenty wrong cells of a kind the others are counted, not listed."""
    mistakes = mistakes_of(
        make_study(STUDY, rankings__csv=long_csv({c: f"x{i}" for i, c in enumerate(RANKS)}))
    )
    assert len(mistakes) == 21
    assert mistakes[-1] == "rankings.csv: rank: and 8 more cells like these"


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"missing": [{"problem": "P9", "solver": "S1"}]}, "there is no problem 'P9'"),
        ({"missing": [{"problem": "P1", "solver": "sis"}]}, "no solver 'sis'; did you mean sys?"),
        ({"missing": [{"problem": "P1", "solver": "S1", "reason": "ill"}]}, "is not one of absent"),
        ({"missing": [{"problem": "P1", "solver": "W"}] * 2, "withheld": ["W"]}, "named twice"),
        ({"assisted": [{"id": "a", "by": "S1", "person": "S1"}]}, "there is no system 'S1'"),
        ({"assisted": [{"id": "a", "by": "sys", "person": "sys"}]}, "there is no subject 'sys'"),
        ({"withheld": ["S1"]}, "already used by subjects[1].id"),
    ],
)
def test_references_to_nothing_are_mistakes(
    section: dict[str, object], message: str, make_study: Callable[..., Path]
) -> None:
    """What a study refers to has to be declared in it, once."""
    mistakes = mistakes_of(make_study(study_with(**section)))
    assert any(message in mistake for mistake in mistakes), mistakes


def test_a_judge_with_the_name_of_a_subject_is_refused(make_study: Callable[..., Path]) -> None:
    """Nobody judges his own solutions, under whatever id."""
    study = STUDY.replace("J1, exp", "J1, name: Ann Lee, exp").replace("S1,", "S1, name: ann lee,")
    (mistake,) = mistakes_of(make_study(study))
    assert mistake.startswith("study.yaml:6:20: judges[1].name: the judge 'Ann Lee' is also")


def test_fewer_than_three_subjects_with_ranks_are_refused(make_study: Callable[..., Path]) -> None:
    """Two subjects make no skill function, however many are declared."""
    few = {cell: rank for cell, rank in RANKS.items() if cell[2] in ("S1", "S2", "sys")}
    (mistake,) = mistakes_of(make_study(STUDY, rankings__csv=long_csv(few)))
    assert mistake.startswith("study.yaml:9:3: subjects: 2 subjects have ranks")
    assert "add subjects, or their ranks" in mistake


def test_equal_experience_is_refused(make_study: Callable[..., Path]) -> None:
    """No line can be fitted to subjects of one experience."""
    subjects = [{"id": f"S{i}", "experience": 5} for i in range(1, 7)]
    (mistake,) = mistakes_of(make_study(study_with(subjects=subjects)))
    assert "all subjects have the same experience (5), so no line can be fitted" in mistake
    assert "add subjects of other experience" in mistake


def test_equal_average_ranks_are_refused(make_study: Callable[..., Path]) -> None:
    """No line can be fitted to subjects of one average rank."""
    (mistake,) = mistakes_of(make_study(STUDY, rankings__csv=long_csv(dict.fromkeys(RANKS, 1))))
    assert mistake.startswith("study.yaml:16:11: rankings: all subjects have the same average rank")
    assert "add judges and problems" in mistake


def test_paths_are_told_as_the_user_wrote_them(
    make_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path stays relative in messages, also that of the rankings."""
    path = make_study(STUDY, rankings__csv=long_csv().replace("S1,1", "S1,x", 1))
    monkeypatch.chdir(path.parent)
    with pytest.raises(QuemError, match=r"^rankings\.csv:2:4: rank: 'x' is not a number"):
        quem.load_study("study.yaml")
    monkeypatch.chdir(path.parent.parent)
    with pytest.raises(QuemError) as caught:
        quem.load_study(Path(path.parent.name) / "study.yaml", kind="experience")
    assert str(caught.value).startswith(f"{path.parent.name}/rankings.csv:2:4: ")
