"""Every mistake of a study file: where it is, what is wrong, and told once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from tests.examples import RANKS, long_csv, mistakes_of, study_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.examples import Cell

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
missing: [{problem: P1, solver: W}]
withheld: [W]
"""
TITLE, LEVEL, YEARS, SYSTEM = "title: Example", "level: 0.95", "experience: 2}", "{id: sys}"
PROBLEMS, FIRST, MISSING = "[{id: P1}, {id: P2}]", "{id: S1, experience: 1}", "[{problem: P1, s"
SLIPS = [
    ("subjects:\n", "subject:\n", "8:1: subject: unknown key; did you mean subjects?"),
    ("judges:\n", "judgs:\n", "5:1: judgs: unknown key; did you mean judges?"),
    (f"problems: {PROBLEMS}", "problem: []", "4:1: problem: unknown key; did you mean problems?"),
    (TITLE, "titel: Ex", "3:1: titel: unknown key; did you mean title?"),
    (TITLE, "xyzzy: Ex", "3:1: xyzzy: unknown key; known here: kind, id, title"),
    (TITLE, "title: a\nid: x", "4:1: id: duplicate, first on line 2"),
    (TITLE, "title: !x Example", "3:8: title: the tag !x"),
    (TITLE, "organizer: {email: zoë@example.org}", "3:20: organizer.email: 'zoë@example.org' is"),
    (PROBLEMS, "{P1: 1}", "4:11: problems: must be a list"),
    ("[{id: sys}]", "[sys]", "15:11: systems[1]: must be a mapping"),
    (SYSTEM, "{name: x}", "15:11: systems[1].id: is missing"),
    (SYSTEM, "{id: ''}", "15:16: systems[1].id: is empty"),
    (SYSTEM, "{id: S1}", "15:16: systems[1].id: the id 'S1' is already used by subjects[1].id on"),
    (SYSTEM, "{id: sys, date: May}", "15:27: systems[1].date: 'May' is not a date"),
    (FIRST, "S1", "9:5: subjects[1]: must be a mapping"),
    (FIRST, "{experience: 1}", "9:5: subjects[1].id: is missing"),
    (FIRST, "{id: '', experience: 1}", "9:10: subjects[1].id: is empty"),
    ("id: S2, ", "id: S1, ", "10:10: subjects[2].id: the id 'S1' is already used by subjects[1]"),
    ("id: J2, ", "id: S3, ", "7:10: judges[2].id: judge 'S3' is also a subject"),
    ("id: J2, ", "id: J1, ", "7:10: judges[2].id: the id 'J1' is already used by judges[1].id"),
    (YEARS, "experience: -2}", "10:26: subjects[2].experience: -2 is not a finite number"),
    (YEARS, "experience: .nan}", "10:26: subjects[2].experience: '.nan' is not a number"),
    (YEARS, "experience: 1e300}", "10:26: subjects[2].experience: must be at most 1,000,000,000"),
    (YEARS, "experience: }", "10:26: subjects[2].experience: is empty"),
    (YEARS, "experience: 4,5}", "10:28: subjects[2].5: a comma separates entries here; write 4.5"),
    (YEARS, "experience: '4,5'}", "10:26: subjects[2].experience: '4,5' has a decimal comma; use"),
    (YEARS, "experience: 1_2}", "10:26: subjects[2].experience: '1_2' is not a number"),
    (YEARS, "experience:2}", "10:14: subjects[2].experience:2: a space is missing after the colon"),
    (LEVEL, "level: high", "18:10: analysis.level: 'high' is not a number"),
    (LEVEL, "level: 95", "18:10: analysis.level: 95 is not between 0 and 1; 95 percent is written"),
    (LEVEL, "level: 95%", "18:10: analysis.level: '95%' is not a number; use 0.95"),
    (LEVEL, "level: 0,95", "18:10: analysis.level: '0,95' has a decimal comma; use 0.95"),
    (LEVEL, "form: linar", "18:9: analysis.form: 'linar' is not one of linear"),
    (LEVEL, "bootstrap: 9", "18:3: analysis.bootstrap: is not a setting any longer"),
    (LEVEL, "years_error: -1", "18:16: analysis.years_error: must be 0 or more"),
    (LEVEL, "at_least: [-5, 8]", "18:14: analysis.at_least[1]: -5 is not a finite number"),
    (LEVEL, "reference_population: {years: [5, 5]}", "18:25: analysis.reference_population: years"),
    ("kind: experience", "kind: ranking", "1:7: kind: this version of quem does not know"),
    ("kind: experience", "kind: [a]", "1:7: kind: this version of quem does not know"),
    ("file: rankings", "file: ranking", "16:30: rankings.file: there is no file 'ranking.csv'"),
    ("from: long", "from: store", "16:18: rankings.from: there is no judging session"),
    ("from: long", "from: lon", "16:18: rankings.from: 'lon' is not one of long, wide"),
    (", file: rankings.csv", "", "16:11: rankings: name the file that holds the rankings"),
    (MISSING, "[{problem: P9, s", "19:21: missing[1].problem: there is no problem 'P9'"),
    ("solver: W}", "solver: sis}", "19:33: missing[1].solver: there is no solver 'sis'; did you"),
    ("solver: W}", "solver: W, reason: ill}", "19:44: missing[1].reason: 'ill' is not one of"),
    (MISSING, "[{problem: P1, solver: W}, {problem: P1, s", "19:37: missing[2]: W on P1 is named"),
    ("withheld: [W]", "withheld: [W, S1]", "20:15: withheld[2]: the id 'S1' is already used by"),
    (TITLE, "assisted: [{id: a, by: S1, person: S1}]", "3:24: assisted[1].by: there is no system"),
    (TITLE, "assisted: [{id: a, by: sys, person: sys}]", "3:37: assisted[1].person: there is no s"),
    (TITLE, 'title: "Example', "3:8: this is not YAML: the quote that begins here is never"),
    ("  - {id: J2", "\t- {id: J2", "7:1: this is not YAML: there is a tab"),
    (TITLE, "title: @x", "3:8: this is not YAML: a value cannot begin with @"),
    (TITLE, "title: *bold* text", "3:13: this is not YAML: a value cannot begin with *"),
    (TITLE, "%title: x", "3:1: this is not YAML: a line cannot begin with %"),
    (TITLE, "title: My study: a tale", "3:16: this is not YAML: put text that holds ': ' in quo"),
    (TITLE, "title:My study", "3:1: this is not YAML: a space is missing after the colon"),
    (LEVEL, "form: log\n  level:0.95", "19:3: this is not YAML: a space is missing after the"),
    (TITLE, "title: \x07", "3:8: the character '\\x07' is not allowed in YAML"),
    (TITLE, "title: [a", "4:9: this is not YAML: while parsing a flow sequence"),
    (TITLE, "title: a\n---", "4:1: this is not YAML: the file holds a second document"),
    (TITLE, "title: &x [*x]", "3:8: lists or mappings are nested too deeply"),
    (TITLE, f"title: {'[' * 60}{']' * 60}", "3:57: lists or mappings are nested too"),
    (TITLE, f"title: {'[' * 5000}", "3:1007: this is not YAML: lists or mappings are nested too"),
]


@pytest.mark.parametrize(("old", "new", "told"), SLIPS)
def test_a_slip_is_told_once_at_its_place(
    old: str, new: str, told: str, make_study: Callable[..., Path]
) -> None:
    """What follows from a mistake, as ranks of a solver that a broken list had, is not told."""
    assert STUDY.count(old) == 1
    (mistake,) = mistakes_of(make_study(STUDY.replace(old, new)))
    assert mistake.startswith(f"study.yaml:{told}")


@pytest.mark.parametrize("text", ["- a\n- b\n", ""])
def test_a_study_is_a_mapping(text: str, make_study: Callable[..., Path]) -> None:
    (mistake,) = mistakes_of(make_study(text))
    assert mistake.startswith("study.yaml:1:1: a study file is a mapping")


def test_aliases_do_not_multiply(make_study: Callable[..., Path]) -> None:
    """A file of ten lines cannot stand for billions of values."""
    lists = [f"{n}: &{n} [{', '.join([f'*{o}'] * 9)}]" for o, n in pairwise("abcdefghi")]
    (mistake,) = mistakes_of(make_study("\n".join(["a: &a [x, x, x, x]", *lists])))
    assert mistake.startswith("study.yaml:1:4: the file holds more than 200,000 values")


def test_a_missing_study_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, told in (
        ("study.yaml", "study.yaml: file not found"),
        ("folder", "folder: is a folder"),
        ("x" * 5000, f"{'x' * 5000}: cannot be read"),
    ):
        (mistake,) = mistakes_of(tmp_path / name)
        assert mistake.startswith(told)


def test_every_mistake_is_told_at_once(make_study: Callable[..., Path]) -> None:
    """Mistakes of the schema, of the ids and of every line of the rankings come together."""
    study = STUDY.replace("experience: 2}", "age: 2}").replace("experience: 4}", "experience: -4}")
    study = study.replace(LEVEL, "levle: 0.95").replace("id: J2", "id: J1")
    table = long_csv().replace("J1,P1,S4,4", "J1,P1,S4,four").replace("J1,P2,S1,2", "J1,P3,S1,2")
    table = table.replace("J1,P1,S2,3", "J1,P1,S9,3")
    mistakes = mistakes_of(make_study(study, rankings__csv=table))
    assert [" ".join(mistake.split(" ")[:2]) for mistake in mistakes] == [
        "study.yaml:7:10: judges[2].id:",
        "study.yaml:10:5: subjects[2].experience:",
        "study.yaml:10:14: subjects[2].age:",
        "study.yaml:11:26: subjects[3].experience:",
        "study.yaml:18:3: analysis.levle:",
        "rankings.csv:9:2: problem:",
        "rankings.csv:3:3: solver:",
        "rankings.csv:5:4: rank:",
    ]


def test_a_judge_with_the_name_of_a_subject_is_refused(make_study: Callable[..., Path]) -> None:
    """Nobody judges their own solutions, under whatever id."""
    study = STUDY.replace("J1, exp", "J1, name: Ann Lee, exp").replace("S1,", "S1, name: ann lee,")
    (mistake,) = mistakes_of(make_study(study))
    assert mistake.startswith("study.yaml:6:20: judges[1].name: the judge 'Ann Lee' is also")


@pytest.mark.parametrize(
    ("years", "ranks", "told"),
    [
        (None, {c: r for c, r in RANKS.items() if c[2] in ("S1", "S2", "sys")}, "2 subjects have"),
        (5, RANKS, "all subjects have the same experience (5)"),
        (None, dict.fromkeys(RANKS, 1), "all subjects have the same average rank"),
    ],
)
def test_no_line_can_be_fitted(
    years: int | None, ranks: dict[Cell, object], told: str, make_study: Callable[..., Path]
) -> None:
    """Three subjects, two of their ranks and of their years differ at least."""
    subjects = [{"id": f"S{i}", "experience": years or i} for i in range(1, 7)]
    path = make_study(study_with(subjects=subjects), rankings__csv=long_csv(ranks))
    (mistake,) = mistakes_of(path)
    assert mistake.split(": ", 2)[2].startswith(told)


def test_paths_are_told_as_the_user_wrote_them(
    make_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path stays relative in messages, also that of the rankings."""
    folder = make_study(STUDY, rankings__csv=long_csv().replace("S1,1", "S1,x", 1)).parent
    for at, name in ((folder, ""), (folder.parent, f"{folder.name}/")):
        monkeypatch.chdir(at)
        with pytest.raises(QuemError) as caught:
            quem.load_study(Path(f"{name}study.yaml"))
        assert str(caught.value).startswith(f"{name}rankings.csv:2:4: rank: 'x' is not a number")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"lvl": 0.9}, "lvl: unknown setting; did you mean level?"),
        ({"years_error": -1}, "years_error: must be 0 or more"),
        ({"level": "x"}, "level: 'x' is not a number"),
        ({"form": "cubic"}, "form: 'cubic' is not one of linear, log, quadratic"),
        ({"at_least": [5, -1]}, "at_least[2]: -1 is not a finite number"),
    ],
)
def test_a_wrong_setting_is_named_without_the_file(
    settings: dict[str, object], told: str, make_study: Callable[..., Path]
) -> None:
    (mistake,) = mistakes_of(make_study(STUDY), **settings)
    assert mistake.startswith(told)
