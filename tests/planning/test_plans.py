"""Plans as a whole: what is recommended, what is warned of, what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sqlalchemy import select, update

import quem
from quem.simulation import NOISES, Scenario, simulate
from quem.store.models import PersonRow, TaskRow
from tests.served import write_judging_study
from tests.store.made import close, hold_session

if TYPE_CHECKING:
    from pathlib import Path

    from quem.planning.result import PlanResult

SMALL: dict[str, Any] = {"judges": (2, 3), "subjects": (6, 9, 12), "problems": (3, 4)}


def plan_of(pilot: quem.Study | None = None, **settings: Any) -> PlanResult:  # noqa: ANN401
    """A plan by the closed form alone, unless it is to be simulated."""
    return quem.plan(pilot, **{"simulate": 0, **settings})


def warned(plan: PlanResult) -> dict[str, str]:
    return {doubt.code: doubt.message for doubt in plan.warnings}


def test_the_design_of_fewest_hours_is_recommended() -> None:
    """The recommended design reaches the width, and no cheaper one does."""
    sizes: dict[str, Any] = {"subjects": (6, 10, 14, 20), "judges": (2, 5), "problems": (3, 7, 12)}
    plan = plan_of(width=2.6, **sizes)
    designs = plan.designs
    assert designs["hours"].is_monotonic_increasing
    assert designs["half_width"].is_monotonic_decreasing
    each = [dict(zip(sizes, of, strict=True)) for of in product(*sizes.values())]
    every = pd.concat(plan_of(width=9, **of).designs for of in each)
    least = every.loc[every["half_width"].round(2) <= 2.6, "hours"].min()
    assert_allclose(designs[designs["reaches"]].iloc[0]["hours"], least)
    assert_allclose(plan.to_dict()["recommended"]["hours"], least)
    assert "width-not-reached" not in warned(plan)


def test_simulation_decides() -> None:
    """A design's results are those of separately simulated and analyzed studies."""
    settings: dict[str, Any] = {"width": 9, "subjects": 8, "judges": 2, "problems": 3, "seed": 5}
    plan = quem.plan(**settings, noise="high", simulate=400)
    (design,) = plan.to_dict()["designs"]
    simulated = simulate(Scenario(8, 2, 3, (None,), NOISES["high"]), 150, seed=9)
    half, covers = [], []
    for index, (truth,) in enumerate(simulated.truth):
        (of,) = quem.analyze(simulated.study(index)).core.estimates
        if of.leads is not None:
            low, high = of.interval if of.leads == "paper" else of.reference.interval
            half.append(((np.inf if high is None else high) - low) / 2)
            covers.append(low <= truth <= low + 2 * half[-1])
    assert_allclose(design["half_width"], np.median(half), rtol=0.12)
    assert_allclose(design["says"], len(half) / len(simulated), atol=0.11)
    assert_allclose(design["covers"], np.mean(covers), atol=0.07)
    assert 0.6 < design["says"] < 0.97
    assert_allclose(design["half_width"], design["by_formula"], rtol=0.15)
    few, again = (quem.plan(**settings, simulate=20).to_dict() for _ in range(2))
    assert few == again


def test_designs_that_the_formula_promises_alone_are_not_recommended() -> None:
    """Where simulation misses the width, designs of more hours are tried, at last the largest."""
    plan = quem.plan(width=3.3, subjects=(6, 7, 8, 9), judges=2, problems=range(3, 9), simulate=300)
    missed = plan.designs[~plan.designs["reaches"].astype(bool)]
    assert (missed["by_formula"] <= 3.3).any()
    assert plan.to_dict()["recommended"]["half_width"] < 3.305
    tight = quem.plan(width=3.38, subjects=6, judges=2, problems=range(5, 9), simulate=200)
    assert "recommended" not in tight.to_dict()
    assert tight.designs["problems"].max() == 8
    assert "no design in the search reaches" in warned(tight)["width-not-reached"]


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        ({"width": 2.0}, ["the nearest is ± 2.24 with 20", "By the closed form it takes 511"]),
        ({"width": 1.5}, ["No number of subjects, judges, and", "1.00 years, alone leaves ± 1.87"]),
        ({"width": 1.9, "judges": 1, "problems": 1, "subjects": 9}, ["try more problems"]),
    ],
)
def test_unreachable_widths_are_named(settings: dict[str, Any], texts: list[str]) -> None:
    """Each reason is stated: numbers tried, persons, subjects."""
    plan = plan_of(**settings)
    assert all(text in warned(plan)["width-not-reached"] for text in texts)
    assert "No design in the search reaches the target" in plan.summary()


GIVEN = {"person": 1.0, "solution": 2.0, "judge": 0.0, "taste": 0.3}


@pytest.mark.parametrize(
    ("settings", "assumed"),
    [({}, True), ({"person": 2.0}, True), ({"noise": "low"}, False), (GIVEN, False)],
)
def test_noise_that_nobody_gave_is_called_assumed(
    settings: dict[str, Any], *, assumed: bool
) -> None:
    plan = plan_of(**SMALL, **settings)
    assert ("noise-assumed" in warned(plan)) == assumed
    assert settings.items() <= plan.to_dict()["settings"].items()
    assert ("person as given" in plan.summary()) == (settings.keys() == {"person"})


@pytest.mark.parametrize(("subjects", "codes"), [(10, []), (11, ["long-lists"])])
def test_lists_above_12_solutions_are_warned_of(subjects: int, codes: list[str]) -> None:
    plan = plan_of(width=9, subjects=subjects, noise="low", systems=2)
    assert list(warned(plan)) == codes


def test_a_declared_population_is_planned_for() -> None:
    """Systems are drawn from it; far beyond the subjects its intervals do not cover."""
    small: dict[str, Any] = {"subjects": 12, "judges": 3, "problems": 6, "noise": "low"}
    near = quem.plan(**small, simulate=300, reference_population="0-15")
    far = quem.plan(**small, simulate=300, reference_population={"years": (0, 25)})
    assert near.to_dict()["designs"][0]["covers"] > 0.93
    assert far.to_dict()["designs"][0]["covers"] < 0.9
    assert "population-beyond-subjects" in warned(far).keys() - warned(near).keys()
    assert "declared population, 0 to 15 years" in near.summary()
    shares = plan_of(**small, reference_population="0-5-15:60-40").to_dict()["settings"]
    assert shares["reference_population"] == {"years": [0, 5, 15], "share": [60, 40]}


@pytest.fixture(scope="module")
def pilot() -> quem.Study:
    return quem.simulate_study(subjects=14, judges=3, problems=5, systems=(4, 8), seed=3)


def test_a_pilot_gives_noise_range_and_systems(pilot: quem.Study) -> None:
    """A pilot sets what was not given, and what is given replaces it."""
    plan = plan_of(pilot, width=3.0)
    settings, found = plan.to_dict()["settings"], plan.to_dict()["pilot"]
    assert (found["subjects"], settings["systems"]) == (14, 2)
    assert (settings["experience"], settings["judge"]) == (found["experience"], found["judge"])
    assert {"noise-assumed", "pilot-small", "pilot-outside"}.isdisjoint(warned(plan))
    assert "estimated from the pilot" in plan.summary()
    given = {"person": 3, "experience": [2, 9], "level": 0.9, "systems": 1}
    other = plan_of(pilot, **given).to_dict()["settings"]
    assert {**given, "judge": settings["judge"]}.items() <= other.items()


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
    """Warnings state what a pilot cannot estimate, the assumption, and whom to recruit."""
    assert text in warned(plan_of(quem.simulate_study(**settings), **SMALL))[code]


@pytest.mark.parametrize("given", [{}, {"person": 1}])
def test_components_without_variance_are_named_unless_given(given: dict[str, Any]) -> None:
    study = quem.load_study("studies/p3-1997/study.yaml", kind="experience")
    message = warned(plan_of(study, **SMALL, **given)).get("pilot-negative-variance", "")
    assert ("no variance of person, taken as 0" in message) != bool(given)


def in_memory(judges: int, problems: int, slope: int = 1, *, blocks: bool = False) -> quem.Study:
    """A study of six subjects, all ranked alike; the last three in a block of their own."""
    rows = [
        {"judge": j, "problem": p, "solver": f"S{i}", "block": 1 + blocks * (i > 3), "rank": rank}
        for j, p, i in product("JK"[:judges], "PQ"[:problems], range(1, 7))
        for rank in [9 + slope * i]
    ]
    return quem.study(rows, people={f"S{i}": float(i) for i in range(1, 7)})


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ("studies/p3-1997/averages.yaml", "the pilot has only average ranks"),
        (in_memory(1, 1), "with one judge and one problem the variances"),
        (in_memory(2, 2, -1), "do not rise"),
        (in_memory(2, 2, blocks=True), "the pilot was judged in blocks"),
    ],
)
def test_pilots_that_cannot_tell_are_refused(study: quem.Study | str, message: str) -> None:
    if isinstance(study, str):
        study = quem.load_study(study, kind="experience")
    with pytest.raises(quem.QuemError, match=message) as error:
        plan_of(study)
    assert "--person, --solution, --judge and --taste" in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width: 0 is not a finite"),
        ({"width": float("inf")}, "width: inf is not"),
        ({"subjects": 2}, "subjects: must be 3 or more"),
        ({"subjects": (4, 1001)}, r"subjects: must be 1000 or less"),
        ({"judges": 0}, "judges: must be 1 or more"),
        ({"judges": ()}, "judges: must be 1 to 100 numbers"),
        ({"problems": 2.5}, "problems: must be a whole"),
        ({"experience": (5, 5)}, "experience: must increase"),
        ({"experience": (-1, 5)}, "experience: -1 is not"),
        ({"reference_population": "5"}, "reference_population: years need"),
        ({"noise": "some"}, "noise: 'some' is not one of"),
        ({"person": -1}, "person: -1 is not a finite"),
        ({"level": 95}, "level: 95 is not between 0 and 1"),
        ({"systems": 0}, "systems: must be 1 or more"),
        ({"simulate": -1}, "simulate: must be 0 or more"),
        ({"with": 2}, "with: unknown setting"),
        ({"subjects": range(3, 1000)}, "subjects: must be 1 to 100 numbers"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(quem.QuemError, match=message):
        quem.plan(**settings)


def test_contradictions_are_refused(pilot: quem.Study) -> None:
    with pytest.raises(quem.QuemError, match="noise: a pilot gives the SDs"):
        plan_of(pilot, noise="low")
    with pytest.raises(TypeError, match=r"not str; load it first: quem.plan\(quem.load_study"):
        quem.plan("study.yaml")  # type: ignore[arg-type]


def test_times_come_from_the_pilots_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The minutes of a solution are the judges' working time over what they placed."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    path = write_judging_study(tmp_path, judges=3, problems=2, judging="{repeat: 1}")
    store = hold_session(path)
    with store.write() as c:
        for judge, time in {"J0": 60.0, "J1": 30.0, "J2": 0.0}.items():
            own = select(PersonRow.key).where(PersonRow.id == judge).scalar_subquery()
            c.execute(update(TaskRow).where(TaskRow.person_key == own).values(seconds=time))
    store.close()
    close(path)
    study = quem.load_study(path, kind="experience")
    # J0 placed 5 solutions a group, J1 2; J2's time was not measured.
    minutes = (60 + 30) / (5 + 2) / 60
    document = plan_of(study, **SMALL).to_dict()
    assert_allclose(document["settings"]["minutes"], minutes)
    assert document["settings"]["solving_minutes"] == 60
    first = document["designs"][0]
    assert_allclose(
        first["hours_per_judge"], minutes * first["problems"] * (first["subjects"] + 1) / 60
    )
    assert plan_of(study, **SMALL, minutes=3.0).to_dict()["settings"]["minutes"] == 3


def test_subjects_times_count(pilot: quem.Study) -> None:
    """The minutes of a problem are the geometric mean over subjects of their geometric means."""
    times: list[dict[str, float]] = [{"P1": 600, "P2": 2400}, {"P1": 4800}]
    timed = [
        subject.model_copy(update={"seconds": of})
        for subject, of in zip(pilot.spec.subjects, times, strict=False)
    ]
    subjects = (*timed, *pilot.spec.subjects[2:])
    study = replace(pilot, spec=pilot.spec.model_copy(update={"subjects": subjects}))
    assert_allclose(plan_of(study, **SMALL).to_dict()["settings"]["solving_minutes"], 40)
