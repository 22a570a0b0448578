"""Plans as a whole: what is recommended, what is warned of, what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import quem
from quem.report.files import report_files
from quem.simulation import NOISES, Scenario, simulate
from tests.commands.sessions import close, hold_session
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


def test_the_design_of_fewest_hours_is_recommended() -> None:
    """What is recommended reaches the width, and nothing that takes fewer hours does."""
    plan = _plan(width=2.6)
    designs = plan.designs
    assert designs["hours"].is_monotonic_increasing
    assert designs["half_width"].is_monotonic_decreasing
    sizes = [range(6, 21), range(2, 6), range(3, 13)]
    every = pd.concat(
        _plan(width=9, subjects=n, judges=j, problems=p).designs for n, j, p in product(*sizes)
    )
    reaching = every[every["half_width"].round(2) <= 2.6]
    assert_allclose(designs[designs["reaches"]].iloc[0]["hours"], reaching["hours"].min())
    recommended = plan.to_dict()["recommended"]
    assert_allclose(recommended["hours"], reaching["hours"].min())
    assert "width-not-reached" not in _codes(plan)


def test_simulation_decides() -> None:
    """What a design gives is that of simulated studies on their own, analyzed by the method."""
    plan = quem.plan(width=9, subjects=8, judges=2, problems=3, noise="high", simulate=400, seed=5)
    design = plan.to_dict()["designs"][0]
    scenario = Scenario(8, 2, 3, (None,), NOISES["high"])
    simulated = simulate(scenario, 150, seed=9)
    half, says, covers = [], [], []
    for index in range(len(simulated)):
        (of,) = quem.analyze(simulated.study(index)).core.estimates
        says.append(of.leads is not None)
        if of.leads is None:
            continue
        low, high = of.interval if of.leads == "paper" else of.reference.interval
        high = np.inf if high is None else high
        half.append((high - low) / 2)
        covers.append(low <= simulated.truth[index, 0] <= high)
    assert_allclose(design["half_width"], np.median(half), rtol=0.12)
    assert_allclose(design["says"], np.mean(says), atol=0.11)
    assert_allclose(design["covers"], np.mean(covers), atol=0.07)
    assert 0.6 < design["says"] < 0.97
    assert_allclose(design["half_width"], design["by_formula"], rtol=0.15)
    again = quem.plan(width=9, subjects=8, judges=2, problems=3, noise="high", simulate=400, seed=5)
    assert again.to_dict() == plan.to_dict()


def test_designs_that_the_formula_promises_alone_are_not_recommended() -> None:
    """Where simulation misses the width, designs of more hours are tried, at last the largest."""
    plan = quem.plan(width=3.3, subjects=(6, 7, 8, 9), judges=2, problems=range(3, 9), simulate=300)
    missed = plan.designs[~plan.designs["reaches"].astype(bool)]
    assert (missed["by_formula"] <= 3.3).any()
    assert plan.to_dict()["recommended"]["half_width"] < 3.305
    tight = quem.plan(width=3.38, subjects=6, judges=2, problems=range(5, 9), simulate=200)
    assert "recommended" not in tight.to_dict()
    assert tight.designs["problems"].max() == 8
    assert "no design in the search reaches" in _message(tight, "width-not-reached")


def test_unreachable_widths_are_named() -> None:
    """Each reason why a width is not reached is told: numbers tried, persons, subjects."""
    wide = _message(_plan(width=2.0), "width-not-reached")
    assert "the nearest is ± 2.24 with 20 subjects, 5 judges, 12 problems" in wide
    assert "By the closed form it takes 511 subjects" in wide
    never = _message(_plan(width=1.5), "width-not-reached")
    assert "No number of subjects, judges, and problems can" in never
    assert "1.00 years, alone leaves ± 1.87" in never
    few = _plan(width=1.9, judges=1, problems=1, subjects=9)
    assert "try more problems" in _message(few, "width-not-reached")
    assert "No design in the search reaches the target" in _plan(width=1.5).summary()


def test_assumptions_are_told() -> None:
    """Noise that nobody gave is called assumed; what is given is not."""
    assert "noise-assumed" in _codes(_plan(**SMALL))
    assert "noise-assumed" in _codes(_plan(**SMALL, person=2.0))
    assert "noise-assumed" not in _codes(_plan(**SMALL, noise="low"))
    components: dict[str, Any] = {"person": 1.0, "solution": 2.0, "judge": 0.0, "taste": 0.3}
    plan = _plan(**SMALL, **components)
    assert "noise-assumed" not in _codes(plan)
    assert components.items() <= plan.to_dict()["settings"].items()
    assert "person as given" in _plan(**SMALL, noise="high", person=0.5).summary()


def test_long_lists_are_warned_of() -> None:
    """A list above 12 solutions is warned of."""
    assert _codes(_plan(width=9, subjects=10, noise="low", systems=2)) == []
    longer = _plan(width=9, subjects=11, noise="low", systems=2)
    assert _codes(longer) == ["long-lists"]
    assert "with 11 subjects a judge ranks 13 solutions" in _message(longer, "long-lists")


def test_a_declared_population_is_planned_for() -> None:
    """Systems are drawn from it; far beyond the subjects its intervals do not cover."""
    small: dict[str, Any] = {"subjects": 12, "judges": 3, "problems": 6, "simulate": 300}
    near = quem.plan(**small, noise="low", reference_population="0-15")
    far = quem.plan(**small, noise="low", reference_population={"years": (0, 25)})
    assert near.to_dict()["designs"][0]["covers"] > 0.93
    assert far.to_dict()["designs"][0]["covers"] < 0.9
    assert "population-beyond-subjects" in _codes(far)
    assert "population-beyond-subjects" not in _codes(near)
    shares = quem.plan(**small, noise="low", reference_population="0-5-15:60-40").to_dict()
    assert shares["settings"]["reference_population"] == {"years": [0, 5, 15], "share": [60, 40]}
    assert "declared population, 0 to 15 years" in near.summary()


@pytest.fixture
def pilot() -> quem.Study:
    """A simulated pilot of enough people."""
    return quem.simulate_study(subjects=14, judges=3, problems=5, systems=(4, 8), seed=3)


def test_a_pilot_gives_noise_range_and_systems(pilot: quem.Study) -> None:
    """A pilot sets what was not given, and what is given replaces it."""
    plan = _plan(pilot, width=3.0)
    document = plan.to_dict()
    assert document["pilot"]["subjects"] == 14
    settings = document["settings"]
    assert settings["systems"] == 2
    assert settings["experience"] == document["pilot"]["experience"]
    assert settings["judge"] == document["pilot"]["judge"]
    assert document["study"] == {"id": "simulated-0", "title": "Simulated study 0"}
    assert {"noise-assumed", "pilot-small", "pilot-outside"}.isdisjoint(_codes(plan))
    assert "estimated from the pilot" in plan.summary()
    other = _plan(pilot, person=3.0, experience=(2, 9), systems=1, level=0.9).to_dict()["settings"]
    assert (other["person"], other["judge"]) == (3, settings["judge"])
    assert other["experience"] == [2, 9]
    assert (other["level"], other["systems"]) == (0.9, 1)


@pytest.mark.parametrize(
    ("settings", "code", "text"),
    [
        ({"subjects": 8, "seed": 1}, "pilot-small", "with 6 degrees of freedom"),
        ({"subjects": 14, "judges": 1}, "pilot-incomplete", "no two judges"),
        ({"subjects": 14, "problems": 1}, "pilot-incomplete", "no judge ranked two"),
        ({"systems": (25.0,)}, "pilot-outside", "K1 ranked above all subjects of the pilot (1."),
        ({"systems": (-9.0, 6.0)}, "pilot-outside", "K1 ranked below all subjects"),
    ],
)
def test_doubts_about_pilots(settings: dict[str, Any], code: str, text: str) -> None:
    """What a pilot cannot tell is said, with what is assumed instead, and whom to recruit."""
    plan = _plan(quem.simulate_study(**settings), **SMALL)
    assert text in _message(plan, code)
    assert code not in _codes(_plan(**SMALL))


def test_components_that_are_not_seen_are_named() -> None:
    """A component without variance is warned of by its name, unless it is given."""
    study = quem.load_study("studies/p3-1997/study.yaml", kind="experience")
    plan = _plan(study, **SMALL)
    assert "no variance of person, taken as 0" in _message(plan, "pilot-negative-variance")
    assert "pilot-negative-variance" not in _codes(_plan(study, **SMALL, person=1))


def _in_memory(cells: dict[tuple[str, str, str], float], block: int = 0) -> quem.Study:
    """A study of six subjects; those after the third are in another block where there is one."""
    rows = [
        {"judge": j, "problem": p, "solver": s, "block": 1 + block * (s > "S3"), "rank": rank}
        for (j, p, s), rank in cells.items()
    ]
    return quem.study(rows, people={f"S{i}": float(i) for i in range(1, 7)})


def test_pilots_that_cannot_tell_are_refused() -> None:
    """Averages, blocks, one judge with one problem, and falling ranks are refused."""
    every = product(("J1", "J2"), ("P1", "P2"), range(1, 7))
    rising = {(judge, problem, f"S{i}"): float(i) for judge, problem, i in every}
    falling = {cell: 7 - rank for cell, rank in rising.items()}
    lone = {cell: rank for cell, rank in rising.items() if cell[:2] == ("J1", "P1")}
    for study, message in (
        (
            quem.load_study("studies/p3-1997/averages.yaml", kind="experience"),
            "the pilot has only average ranks",
        ),
        (_in_memory(lone), "with one judge and one problem the variances"),
        (_in_memory(falling), "do not rise"),
        (_in_memory(rising, block=1), "the pilot was judged in blocks"),
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
        ({"judges": ()}, "judges: must be 1 to 100 numbers"),
        ({"problems": 2.5}, "problems: must be a whole number, or several"),
        ({"experience": (5, 5)}, "experience: must increase from least to most experience"),
        ({"experience": (-1, 5)}, r"experience: -1 is not a finite number, 0 or more"),
        ({"reference_population": "5"}, "reference_population: years need two numbers"),
        ({"noise": "some"}, "noise: 'some' is not one of low, high"),
        ({"person": -1}, "person: -1 is not a finite number, 0 or more"),
        ({"level": 95}, "level: 95 is not between 0 and 1; 95 percent is written 0.95"),
        ({"systems": 0}, "systems: must be 1 or more"),
        ({"simulate": -1}, "simulate: must be 0 or more"),
        ({"with": 2}, "with: unknown setting; did you mean width"),
        ({"subjects": range(3, 1000)}, "subjects: must be 1 to 100 numbers"),
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


def test_times_come_from_the_pilots_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The minutes of a solution are the judges' working time over what they placed."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    path = write_judging_study(tmp_path, judges=3, problems=2, judging="{repeat: 1}")
    store = hold_session(path)
    seconds = {"J0": 60.0, "J1": 30.0, "J2": 0.0}
    from sqlalchemy import select, update

    from quem.store.models import PersonRow, TaskRow

    with store.write() as c:
        for judge, time in seconds.items():
            own = select(PersonRow.key).where(PersonRow.id == judge).scalar_subquery()
            c.execute(update(TaskRow).where(TaskRow.person_key == own).values(seconds=time))
    store.close()
    close(path)
    study = quem.load_study(path, kind="experience")
    # J0 placed 5 solutions a group, J1 2; J2's time was not measured.
    minutes = (60 + 30) / (5 + 2) / 60
    document = _plan(study, **SMALL).to_dict()
    assert_allclose(document["settings"]["minutes"], minutes)
    assert document["settings"]["solving_minutes"] == 60
    first = document["designs"][0]
    assert_allclose(
        first["hours_per_judge"], minutes * first["problems"] * (first["subjects"] + 1) / 60
    )
    assert _plan(study, **SMALL, minutes=3.0).to_dict()["settings"]["minutes"] == 3


def test_subjects_times_count(pilot: quem.Study) -> None:
    """The minutes of a problem are the geometric mean over subjects of their geometric means."""
    timed = [
        subject.model_copy(update={"seconds": times})
        for subject, times in zip(
            pilot.spec.subjects, [{"P1": 600.0, "P2": 2400.0}, {"P1": 4800.0}], strict=False
        )
    ]
    subjects = (*timed, *pilot.spec.subjects[2:])
    study = replace(pilot, spec=pilot.spec.model_copy(update={"subjects": subjects}))
    assert_allclose(_plan(study, **SMALL).to_dict()["settings"]["solving_minutes"], 40)


def test_figure_has_a_panel_for_each_number() -> None:
    """What more subjects, problems, or judges give."""
    figure = _plan(subjects=8).plot("growth")
    assert figure is not None
    assert len(figure.axes) == 3


def test_reports_are_whole_and_the_same(pilot: quem.Study) -> None:
    """A report has the files it promises, the same bytes each time, and says the answer."""
    plan, again = (quem.plan(pilot, **SMALL, width=4.0, simulate=40, seed=2) for _ in range(2))
    files = report_files(plan)
    others = {name for name in plan.file_names if name.endswith((".md", ".tex", ".pdf"))}
    assert set(files) <= plan.file_names - others
    assert {"report.html", "analysis.json", "designs.csv", "growth.svg"} <= set(files)
    assert files == report_files(again)
    page = files["report.html"].decode()
    design = plan.designs[plan.designs["reaches"].astype(bool)].iloc[0]["design"]
    assert design in page
    assert "From the pilot: Simulated study 0" in page
    for doubt in plan.warnings:
        assert f"<code>{doubt.code}</code>" in page
    assert design in plan._repr_html_()
