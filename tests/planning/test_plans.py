"""Plans as a whole: what is recommended, what is warned of, what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import quem
from quem.report.files import report_files
from tests.commands.sessions import close, hold_session
from tests.experience.made import printed_study, study_of
from tests.served import write_judging_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.planning.result import PlanResult

SMALL: dict[str, Any] = {"judges": (2, 3), "subjects": (6, 9, 12), "problems": (3, 4)}


def _plan(pilot: quem.Study | None = None, **settings: Any) -> PlanResult:  # noqa: ANN401
    return quem.plan(pilot, **{"simulate": 0, **settings})


def _codes(plan: PlanResult) -> list[str]:
    return [doubt.code for doubt in plan.warnings]


def _message(plan: PlanResult, code: str) -> str:
    return next(doubt.message for doubt in plan.warnings if doubt.code == code)


def test_the_cheapest_design_is_recommended() -> None:
    """What is recommended reaches the width, and nothing cheaper does."""
    plan = _plan(width=2.6)
    every = plan.all_designs
    assert len(every) == 4 * 15 * 10
    reaching = every[every["half_width"] <= 2.6]
    first = plan.designs.iloc[0]
    assert first["cost"] == reaching["cost"].min()
    assert plan.designs["reaches"].all()
    assert plan.findings.recommended is not None
    assert "width-not-reached" not in _codes(plan)
    assert plan.designs["cost"].is_monotonic_increasing


def test_simulation_decides() -> None:
    """A design that reaches the width by formula only is shown and not recommended."""
    plan = quem.plan(width=3.0, subjects=(6, 7, 8, 9), problems=range(3, 9), simulate=300)
    table = plan.designs
    assert_allclose(table["simulated_half_width"].isna().sum(), 0)
    assert not table["reaches"].all()
    recommended = plan.to_dict()["recommended"]
    assert recommended["simulated"]["half_width"] < 3.005
    assert recommended["cost"] == table[table["reaches"]]["cost"].min()
    assert "formula-optimistic" in _codes(plan)


def test_the_largest_is_tried_at_last() -> None:
    """Where nothing else reaches the width in simulation, the largest design is simulated too."""
    plan = quem.plan(width=4.12, subjects=5, judges=2, problems=range(5, 9), simulate=200)
    assert plan.findings.recommended is None
    assert plan.findings.designs.largest in plan.findings.trials
    assert "no design in the search reaches" in _message(plan, "width-not-reached")


def test_unreachable_widths_are_named() -> None:
    """Each reason why a width is not reached is told: numbers tried, persons, subjects."""
    wide = _message(_plan(width=2.0), "width-not-reached")
    assert (
        "no design in the search reaches ± 2 years; the nearest is ± 2.24 with 20 subjects" in wide
    )
    assert "With 20 subjects no number of judges and problems can (± 2.10 at best)" in wide
    assert "With 5 judges and 12 problems you need 511 subjects" in wide
    never = _message(_plan(width=1.5), "width-not-reached")
    assert "No number of subjects, judges, and problems can" in never
    assert "the SD between people of equal experience, 1.00 years, alone leaves ± 1.87" in never
    assert "with an SD below 0.79" in never
    few = _plan(width=1.9, judges=1, problems=1, subjects=9)
    assert "no number of subjects can; try more problems" in _message(few, "width-not-reached")
    enough = _plan(width=0.4, noise="low", person=0.2, subjects=(6, 7), problems=40, judges=9)
    assert "No number" not in _message(enough, "width-not-reached")
    assert _plan(width=1.5).to_dict()["recommended"] is None
    assert "No design in the search reaches the target" in _plan(width=1.5).summary()


def test_assumptions_are_told() -> None:
    """Noise that nobody gave is called assumed; what is given is not."""
    assert "noise-assumed" in _codes(_plan(**SMALL))
    assert "noise-assumed" in _codes(_plan(**SMALL, person=2.0))
    assert "noise-assumed" not in _codes(_plan(**SMALL, noise="low"))
    components: dict[str, Any] = {"person": 1.0, "solution": 2.0, "judge": 0.0, "taste": 0.3}
    plan = _plan(**SMALL, **components)
    assert "noise-assumed" not in _codes(plan)
    assert plan.to_dict()["noise"] == {"source": "low", "replaced": list(components), **components}
    assert "(as given)" in plan.summary()
    assert "person as given" in _plan(**SMALL, noise="high", person=0.5).summary()


def test_long_lists_are_warned_of() -> None:
    """A list above 12 solutions is warned of."""
    short = _plan(width=9, subjects=10, noise="low", power_for=2.0, systems=2)
    assert _codes(short) == []
    longer = _plan(width=9, subjects=11, noise="low", systems=2)
    assert _codes(longer) == ["long-lists"]
    assert "with 11 subjects a judge ranks 13 solutions" in _message(longer, "long-lists")


def test_power_is_told() -> None:
    """With a difference asked for, its power stands in table and summary; on one problem none."""
    plan = quem.plan(**SMALL, width=4.0, power_for=2.0, simulate=50)
    assert plan.designs["simulated_power"].between(0, 1).all()
    assert plan.to_dict()["settings"]["systems"] == 2
    assert "power for 2" in plan.summary()
    assert "Power to detect a difference of 2 years" in plan.summary()
    one = _plan(width=9, judges=2, subjects=8, problems=1, power_for=2.0)
    assert "This design cannot test two systems" in one.summary()
    assert np.isnan(one.to_dict()["recommended"]["power"])


@pytest.fixture
def pilot() -> quem.Study:
    """A simulated pilot of enough people."""
    return quem.simulate_study(subjects=14, judges=3, problems=5, systems=(4, 8), seed=3)


def test_a_pilot_gives_noise_range_and_systems(pilot: quem.Study) -> None:
    """A pilot sets what was not given, and what is given replaces it."""
    plan = _plan(pilot, width=3.0)
    document = plan.to_dict()
    assert document["noise"]["source"] == "pilot"
    assert document["pilot"]["subjects"] == 14
    assert document["settings"]["systems"] == 2
    assert document["settings"]["experience"] == document["pilot"]["experience"]
    assert document["study"] == {"id": "simulated-0", "title": "Simulated study 0"}
    assert "noise-assumed" not in _codes(plan)
    assert "pilot-small" not in _codes(plan)
    assert "estimated from the pilot" in plan.summary()
    other = _plan(pilot, person=3.0, experience=(2, 9), systems=1, level=0.9).to_dict()
    assert other["noise"]["person"] == 3
    assert other["noise"]["replaced"] == ["person"]
    assert other["noise"]["judge"] == document["noise"]["judge"]
    assert other["settings"]["experience"] == [2, 9]
    assert (other["settings"]["level"], other["settings"]["systems"]) == (0.9, 1)


@pytest.mark.parametrize(
    ("settings", "code", "text"),
    [
        ({"subjects": 8, "seed": 1}, "pilot-small", "with 6 degrees of freedom"),
        ({"subjects": 14, "judges": 1}, "pilot-incomplete", "it has one judge"),
        ({"subjects": 14, "problems": 1}, "pilot-incomplete", "it has one problem"),
    ],
)
def test_doubts_about_pilots(settings: dict[str, Any], code: str, text: str) -> None:
    """What a pilot cannot tell is said, with what is assumed instead."""
    plan = _plan(quem.simulate_study(**settings), **SMALL)
    assert text in _message(plan, code)
    assert code not in _codes(_plan(**SMALL))


def test_components_that_are_not_seen_are_named() -> None:
    """A component estimated below 0 is warned of by its name."""
    plan = _plan(quem.load_study("studies/p3-1997/study.yaml", kind="experience"), **SMALL)
    assert "variance estimate for person is negative" in _message(plan, "pilot-negative-variance")
    assert "is set to 0" in plan.summary()


def test_pilots_that_cannot_tell_are_refused() -> None:
    """Averages, blocks, one judge with one problem, and falling ranks are refused."""
    years = {f"S{i}": float(i) for i in range(1, 7)}
    ranks = {("J1", "P1", solver): y for solver, y in years.items()}
    ranks |= {("J2", "P2", solver): y for solver, y in years.items()}
    falling = {cell: 7 - rank for cell, rank in ranks.items()}
    lone = {cell: rank for cell, rank in ranks.items() if cell[0] == "J1"}
    both = {(j, p, s): r for (_, p, s), r in ranks.items() for j in ("J1", "J2")}
    for study, message in (
        (printed_study(years, years), "the pilot has only average ranks"),
        (study_of(lone, years), "with one judge and one problem the variances"),
        (study_of({**falling, **{c: 7 - r for c, r in both.items()}}, years), "do not rise"),
        (
            study_of(both, years, blocks={cell: 1 + (cell[2] > "S3") for cell in both}),
            "the pilot was judged in blocks",
        ),
    ):
        with pytest.raises(quem.QuemError, match=message) as error:
            _plan(study)
        assert "--person, --solution, --judge and --taste" in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width: 0 is not a finite number above 0"),
        ({"width": float("inf")}, "width: inf is not a finite number above 0"),
        ({"subjects": 2}, "subjects: must be 3 or more"),
        ({"subjects": (4, 1001)}, r"subjects: must be 1000 or less"),
        ({"judges": 0}, "judges: must be 1 or more"),
        ({"judges": ()}, "judges: is empty; give a number, or several"),
        ({"problems": 2.5}, "problems: must be a whole number, or several"),
        ({"experience": (5, 5)}, "experience: must increase from least to most experience"),
        ({"experience": (-1, 5)}, r"experience: -1 is not a finite number, 0 or more"),
        ({"noise": "some"}, "noise: 'some' is not one of low, high"),
        ({"person": -1}, "person: -1 is not a finite number, 0 or more"),
        ({"level": 95}, "level: 95 is not between 0 and 1; 95 percent is written 0.95"),
        ({"systems": 0}, "systems: must be 1 or more"),
        ({"simulate": -1}, "simulate: must be 0 or more"),
        ({"with": 2}, "with: unknown setting; did you mean width"),
        (
            {"subjects": range(3, 1000), "problems": range(1, 200)},
            r"793,612 designs are too many \(100,000 at most\)",
        ),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    """A wrong setting is named, with its remedy."""
    with pytest.raises(quem.QuemError, match=message):
        quem.plan(**settings)


def test_contradictions_are_refused(pilot: quem.Study) -> None:
    """Noise is given or estimated; a path is no study."""
    with pytest.raises(quem.QuemError, match="noise: a pilot gives the SDs"):
        _plan(pilot, noise="low")
    with pytest.raises(TypeError, match=r"not str; load it first: quem.plan\(quem.load_study"):
        quem.plan("study.yaml")  # type: ignore[arg-type]


def test_judging_time_comes_from_the_pilots_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The minutes of a solution are the judges' working time over what they placed."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    path = write_judging_study(tmp_path, judges=3, problems=2, judging="{repeat: 1}")
    store = hold_session(path)
    seconds = {"J0": 60.0, "J1": 30.0, "J2": 0.0}
    from sqlalchemy import select, update

    from quem.store.models import BallotRow, JudgeRow

    with store.write() as c:
        for judge, time in seconds.items():
            own = select(JudgeRow.key).where(JudgeRow.id == judge).scalar_subquery()
            c.execute(update(BallotRow).where(BallotRow.judge_key == own).values(seconds=time))
    store.close()
    close(path)
    plan = _plan(quem.load_study(path, kind="experience"), **SMALL)
    # J0 placed 5 solutions a group, J1 2; J2's time was not measured.
    minutes = (60 + 30) / (5 + 2) / 60
    assert_allclose(plan.findings.costs.minutes, minutes)
    assert plan.to_dict()["settings"]["minutes_measured"]
    assert "as measured in the pilot's judging session" in plan.summary()
    first = plan.to_dict()["designs"][0]
    names = ("subjects", "judges", "problems", "cost", "hours_per_judge")
    subjects, judges, problems, cost, hours = (first[name] for name in names)
    assert_allclose(hours, minutes * problems * (subjects + 1) / 60)
    assert_allclose(cost, 60 * subjects * problems + minutes * judges * problems * (subjects + 1))
    replaced = _plan(quem.load_study(path, kind="experience"), **SMALL, minutes=3.0)
    assert not replaced.to_dict()["settings"]["minutes_measured"]
    assert replaced.findings.costs.minutes == 3


def test_figure_has_a_panel_for_each_number() -> None:
    """What more subjects, problems, or judges give."""
    figure = _plan(subjects=8).plot("growth")
    assert figure is not None
    assert len(figure.axes) == 3


def test_reports_are_whole_and_the_same(pilot: quem.Study) -> None:
    """A report has the files it promises, the same bytes each time, and says the answer."""
    plan = quem.plan(pilot, **SMALL, width=4.0, power_for=2.0, simulate=40, seed=2)
    again = quem.plan(pilot, **SMALL, width=4.0, power_for=2.0, simulate=40, seed=2)
    files = report_files(plan)
    others = {name for name in plan.file_names if name.endswith((".md", ".tex", ".pdf"))}
    assert set(files) == plan.file_names - others
    assert files == report_files(again)
    page = files["report.html"].decode()
    design = plan.findings.design(plan.findings.suggested_index).words
    assert design in page
    assert "Expected half-width of the 95% prediction interval, in simulation" in page
    assert "From the pilot: Simulated study 0" in page
    for doubt in plan.warnings:
        assert f"<code>{doubt.code}</code>" in page
    assert design in plan._repr_html_()
