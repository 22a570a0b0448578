"""One mistake, one message: what follows from a mistake is not told as another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from tests.examples import long_csv
from tests.study.test_mistakes import STUDY, mistakes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("subjects:\n", "subject:\n", "did you mean subjects?"),
        ("judges:\n", "judgs:\n", "did you mean judges?"),
        ("problems: [{id: P1}, {id: P2}]", "problems: {P1: 1}", "must be a list"),
        ("problems: [{id: P1}, {id: P2}]", "problem: [{id: P1}, {id: P2}]", "mean problems?"),
        ("{id: S1, experience: 1}", "S1", "must be a mapping"),
        ("{id: S1, experience: 1}", "{experience: 1}", "is missing"),
        ("{id: S1, experience: 1}", "{id: '', experience: 1}", "is empty"),
        ("{id: S2, e", "{id: S1, e", "already used by"),
        ("{id: J2, e", "{id: S2, e", "is also a subject"),
        ("{id: sys}", "{id: S1}", "already used by"),
        ("{id: sys}", "{idd: sys}", "did you mean id?"),
    ],
)
def test_ids_of_a_broken_list_are_not_missed(
    old: str, new: str, message: str, make_study: Callable[..., Path]
) -> None:
    """Ranks and references to what a broken list may have held are no mistakes."""
    assert old in STUDY
    references = "missing: [{problem: P1, solver: W}]\nwithheld: [W]\n"
    mistakes = mistakes_of(make_study(STUDY.replace(old, new) + references))
    assert any(message in mistake for mistake in mistakes)
    assert not [
        mistake for mistake in mistakes if "rankings.csv" in mistake or "there is" in mistake
    ]
    assert len(mistakes) == (2 if "idd" in new else 1)


WIDE = "solver,J1:P1,J1:P2,J2:P1\nS1,1,1,1\nS2,2,2,2\nS3,3,3,3\n"


@pytest.mark.parametrize(
    ("layout", "table", "place", "message"),
    [
        ("wide", long_csv(), "2", "write from: long"),
        ("wide", "my title\n" + long_csv(), "1", "is it a title?"),
        ("long", WIDE, "1", "write from: wide"),
        ("long", "My study\n" + long_csv(), "1", "is it a title?"),
        ("long", "My study,,,\n\n" + long_csv(), "1", "is it a title?"),
        ("long", "My study, 2024\n" + long_csv(), "1", "is it a title?"),
        ("wide", "Figure 1\nsolver,J1,J2\n,P1,P1\nS1,1,1\n", "1", "is it a title?"),
        ("wide", "solver,J1,J2\nS1,1,1\nS2,2,2\nS3,3,3\n", "2", "must name the problems"),
        ("long", long_csv() + "# a comment,,,\n", "30:2: problem", "as is the solver; complete"),
        ("long", long_csv() + "# a comment\n", "30:2: problem", "as is the solver; complete"),
        ("long", long_csv() + "Total,,,28\n", "30:2: problem", "as is the solver; complete"),
        ("long", long_csv() + "J1;P1;S3;2\n", "30:2: problem", "as is the solver; complete"),
        ("wide", WIDE + "S3,3,3,3\n", "5:1: solver", "S3 is already on line 4"),
        ("wide", WIDE.replace("J2:P1", "J1:P1"), "1:4: problem", "J1:P1 is already in column 2"),
        ("wide", WIDE.replace("S3", ""), "4:1: solver", "is empty; add the solver"),
        ("wide", WIDE.replace("S3", "S9"), "4:1: solver", "unknown solver 'S9'"),
        ("averages", "solver,average_rank\nS1,1,5\nS2,2,5\nS3,3,5\n", "1", "decimal comma"),
        ("averages", "solver,average_rank\nS2,\nS2,3\nS1,1\nS3,4\n", "3:1: solver", "on line 2"),
        (
            "averages",
            "solver,average_rank\nS1,-1\nS2,2\nS3,3\n",
            "2:2: average_rank",
            "is negative",
        ),
        ("averages", "solver,average_rank\n", "", "holds no ranks below the header"),
        ("long", "judge,problem,solver,rank\n", "", "holds no ranks below the header"),
        ("long", long_csv().replace("P1,S2,3", "P1,S2,-99"), "3:4: rank", "ranks start at 1"),
        ("long", long_csv().replace("S2,3", "S2,\x00"), "3", "binary data"),
    ],
)
def test_a_wrong_table_is_told_once(
    layout: str, table: str, place: str, message: str, make_study: Callable[..., Path]
) -> None:
    """A wrong layout, a title, a comment or a row that stands twice is one mistake."""
    path = make_study(STUDY.replace("from: long", f"from: {layout}"), rankings__csv=table)
    (mistake,) = mistakes_of(path)
    assert mistake.startswith(f"rankings.csv{place and ':'}{place}: ")
    assert message in mistake


@pytest.mark.parametrize("start", [b"PK\x03\x04\x14\x00", b"\xd0\xcf\x11\xe0\xa1\xb1"])
def test_a_workbook_is_named(start: bytes, make_study: Callable[..., Path]) -> None:
    """A spreadsheet that was not saved as CSV says so."""
    (mistake,) = mistakes_of(make_study(STUDY, rankings__csv=start + b"\x00\x81\x8d"))
    message = "is an Excel or OpenDocument workbook; save the rankings as CSV"
    assert mistake == f"rankings.csv: {message}"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("title: Example", 'title: "Example', "3:8", "the quote that begins here is never closed"),
        ("  - {id: J2", "\t- {id: J2", "7:1", "a tab; indent with spaces"),
        ("title: Example", "title: @x", "3:8", "cannot begin with @; put the text in quotes"),
        ("title: Example", "title: %x", "3:8", "cannot begin with %; put the text in quotes"),
        ("title: Example", "title: `x", "3:8", "cannot begin with `; put the text in quotes"),
        ("title: Example", "%title: x", "3:1", "put "),
        ("title: Example", "title: My study: a tale", "3:16", "put text that holds ': ' in quotes"),
        ("title: Example", "title:My study", "3:1", "a space is missing after the colon"),
        ("  level: 0.95", "  form: log\n  level:0.95", "19:3", "a space is missing after the"),
        ("{id: S2, experience: 2}", "{id: S2, experience:2}", "10:14", "write experience: 2"),
    ],
)
def test_broken_yaml_says_what_to_do(
    old: str, new: str, place: str, message: str, make_study: Callable[..., Path]
) -> None:
    """The common slips are told where they are, and how to mend them."""
    (mistake,) = mistakes_of(make_study(STUDY.replace(old, new)))
    assert mistake.startswith(f"study.yaml:{place}: ")
    assert message in mistake


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("experience: 4}", "experience: 4,5}", "11:28: subjects[3].5", "write 4.5"),
        ("experience: 4}", 'experience: "4,5"}', "11:26: subjects[3].experience", "use 4.5"),
        ("experience: 4}", "experience: 1_2}", "11:26: subjects[3].experience", "is not a number"),
        ("level: 0.95", "level: 0,95", "18:10: analysis.level", "use 0.95"),
        ("level: 0.95", "level: 95%", "18:10: analysis.level", "use 0.95"),
        ("level: 0.95", "level: 2", "18:10: analysis.level", "between 0 and 1"),
        ("level: 0.95", "years_error: 1_0", "18:16: analysis.years_error", "is not a number"),
        ("level: 0.95", "at_least: [-5, 8]", "18:14: analysis.at_least[1]", "0 or more"),
    ],
)
def test_numbers_as_people_write_them(
    old: str, new: str, place: str, message: str, make_study: Callable[..., Path]
) -> None:
    """A decimal comma, a percent sign or an underscore is told with the right number."""
    (mistake,) = mistakes_of(make_study(STUDY.replace(old, new)))
    assert mistake.startswith(f"study.yaml:{place}: ")
    assert message in mistake
    assert "2 percent" not in mistake


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lvl": 0.9}, "lvl: unknown setting; did you mean level?"),
        ({"years_error": -1}, "years_error: must be 0 or more"),
        ({"level": "x"}, "level: 'x' is not a number; use a value such as 7 or 7.5"),
        ({"form": "linar"}, "form: 'linar' is not one of"),
        ({"form": "cubic"}, "form: 'cubic' is not one of linear, log, quadratic"),
        ({"at_least": [5, -1]}, "at_least[2]: -1 is not a finite number, 0 or more"),
    ],
)
def test_a_wrong_setting_is_named_in_our_words(
    settings: dict[str, object], message: str, make_study: Callable[..., Path]
) -> None:
    """What the caller sets is told by its name, without the study file."""
    study = quem.load_study(make_study(STUDY), kind="experience")
    with pytest.raises(QuemError) as caught:
        quem.analyze(study, **settings)
    assert str(caught.value).startswith(message)
