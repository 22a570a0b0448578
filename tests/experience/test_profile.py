"""Systems from problem to problem, against independent numbers, loops, and known truth."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import quem
from quem.experience.cells import tabulate
from quem.experience.expected_ranks import fit_worths
from quem.experience.simulation import Scenario, simulate
from tests.experience.made import golden_study

if TYPE_CHECKING:
    from quem.experience.result import ExperienceResult

STUDIES = ("complete_3x4x10", "incomplete_system_by_one_judge_on_3_problems", "jagged_3x6x9")


def analyzed(name: str, **settings: Any) -> tuple[ExperienceResult, dict[str, Any]]:  # noqa: ANN401
    """A study with independent numbers, analyzed, and these numbers."""
    study, golden = golden_study(name)
    return quem.analyze(study, bootstrap=0, permutations=0, **settings), golden["systems"]


@pytest.mark.parametrize("name", STUDIES)
def test_the_numbers_are_those_computed_independently(name: str) -> None:
    """Test, variances, and profile; and the interval, wider where the system is jagged."""
    result, golden = analyzed(name)
    for estimate in result.findings.estimates:
        profile, wanted = result.findings.profiles[estimate.system], golden[estimate.system]
        jagged = wanted["jagged"]
        assert profile.f == pytest.approx(jagged["F"], rel=1e-6)
        assert [profile.df, profile.df_people] == jagged["df"]
        assert profile.p == pytest.approx(jagged["p"], rel=1e-6)
        assert profile.variance == pytest.approx(jagged["V_system"], rel=1e-6)
        assert profile.expected == pytest.approx(jagged["V_expected"], rel=1e-6)
        assert profile.added == pytest.approx(jagged["added"], rel=1e-6, abs=1e-12)
        z = [value for value in jagged["profile_z"] if value is not None]
        assert_allclose([place.z for place in profile.places], z, rtol=1e-6, atol=1e-9)
        ranks = [value for value in jagged["profile_rank"] if value is not None]
        assert_allclose([place.mean_rank for place in profile.places], ranks, rtol=1e-6)
        wider = "jagged" if profile.is_jagged else "widened"
        assert estimate.prediction == pytest.approx(
            wanted[f"predict_{wider}_none"]["interval"], rel=1e-6
        )


def test_a_profile_is_that_of_loops() -> None:
    """With ranks missing, by a loop over the cells in which the system was ranked."""
    simulated = simulate(Scenario(9, 3, 5, (6.5,), missing=0.15), 1, seed=4)
    study = simulated.study(0)
    findings = quem.analyze(study, bootstrap=0, permutations=0).findings
    cells = findings.cells
    assert cells is not None
    table = tabulate(cells)
    information = fit_worths(table.ranks[np.newaxis]).information[0]
    ranks, system = table.ranks, table.solvers.tolist().index(cells.solvers.index("K1"))

    def over_problems(solver: int) -> list[float]:
        means = []
        for p in range(ranks.shape[1]):
            both = [r for r in ranks[:, p] if np.isfinite(r[solver]) and np.isfinite(r[system])]
            if both:
                means.append(float(np.mean([r[solver] for r in both])))
        return means

    total, df = 0.0, 0
    for solver in range(len(table.solvers)):
        means = over_problems(solver)
        if solver != system and len(means) > 1:
            total += (len(means) - 1) * np.var(means, ddof=1) / information[solver] ** 1.5
            df += len(means) - 1
    own = over_problems(system)
    f = np.var(own, ddof=1) / information[system] ** 1.5 / (total / df)
    profile = findings.profiles["K1"]
    assert profile.f == pytest.approx(f)
    assert profile.p == pytest.approx(stats.f.sf(f, len(own) - 1, df))
    for place in profile.places:
        p = study.data.problems.index(place.problem)  # type: ignore[union-attr]
        rows = ranks[np.isfinite(ranks[:, p, system]), p]
        means = [np.nanmean(rows[:, s]) for s in range(9) if np.isfinite(rows[:, s]).any()]
        assert place.below == sum(mean < place.mean_rank for mean in means)
        assert place.subjects == len(means)


def test_a_jagged_system_is_said_to_be_jagged_everywhere() -> None:
    """The headline is that no level describes it; the number comes second."""
    result, _ = analyzed("jagged_3x6x9")
    words = (
        "No single level of experience describes solver 8: it varies 3.1 times as much from "
        "problem to problem as people do (F(5, 40) = 9.7, p < .0001)."
    )
    summary = " ".join(result.summary().split())
    assert f"{words} solver 8 on average over these problems 10.3 years (95%" in summary
    page = result.to_html()
    assert html.escape(words) in page
    assert "On average over these problems 10.3 years (95% prediction interval 5.2 to 15.4)" in page
    assert [warning.code for warning in result.warnings] == ["jagged"]
    (profile,) = result.to_dict()["profiles"]
    assert profile["jagged"]
    assert profile["problems"][-1] | {"z": 0} == {
        "problem": "P5",
        "mean_rank": pytest.approx(5 / 3),
        "below": 0,
        "subjects": 8,
        "z": 0,
    }
    plain, _ = analyzed("complete_3x4x10")
    assert "No single level" not in plain.summary()
