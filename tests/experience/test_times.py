"""How long people took, against loops, SciPy, and a plan that uses it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

import quem
from quem.experience.times import solving_times
from quem.report.files import json_text
from quem.studyfile.models import Problem, Subject
from tests.docs.schema import mistakes
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBLEMS = tuple(Problem(id=f"P{n}") for n in range(1, 5))


def people(*seconds: Mapping[str, float]) -> list[Subject]:
    """Make subjects of one, two, ... years who took these times."""
    return [
        Subject(id=f"S{n}", experience=n, seconds=dict(one)) for n, one in enumerate(seconds, 1)
    ]


def test_times_agree_with_a_loop_and_scipy() -> None:
    """Geometric means over subjects, Student's t on logarithms, quartiles, and tau-b."""
    rng = np.random.default_rng(5)
    seconds = [
        {p.id: float(rng.lognormal(6, 0.5)) for p in PROBLEMS if rng.random() > 0.2}
        for _ in range(9)
    ]
    found = solving_times(people(*seconds), PROBLEMS, 0.9)
    assert found is not None
    logs = [np.mean([np.log(s / 60) for s in one.values()]) for one in seconds]
    assert found.typical == pytest.approx(np.exp(np.mean(logs)))
    low, high = stats.t.interval(0.9, 8, np.mean(logs), stats.sem(logs))
    assert found.interval == pytest.approx((np.exp(low), np.exp(high)))
    everything = [s / 60 for one in seconds for s in one.values()]
    assert (found.n, found.n_subjects) == (len(everything), 9)
    assert found.median == pytest.approx(np.median(everything))
    assert found.hours == pytest.approx(sum(everything) / 60)
    assert found.tau == pytest.approx(stats.kendalltau(range(9), logs).statistic)
    for row in found.problems:
        mine = [one[row.problem] / 60 for one in seconds if row.problem in one]
        assert row.n == len(mine)
        assert (row.least, row.most) == pytest.approx((min(mine), max(mine)))
        assert (row.quartiles[0], row.median, row.quartiles[1]) == pytest.approx(
            tuple(np.percentile(mine, [25, 50, 75]))
        )


def test_the_report_and_the_plan() -> None:
    """analysis.json follows its schema; a plan takes the pilot's time as the cost of a solution."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=3, subjects=6, systems=1)
    study = study_of(ranks, years)
    plain = quem.analyze(study).to_dict()
    assert "times" not in plain
    problem = study.spec.problems[0].id
    timed = tuple(s.model_copy(update={"seconds": {problem: 900.0}}) for s in study.spec.subjects)
    study = replace(study, spec=study.spec.model_copy(update={"subjects": timed}))
    analysis = quem.analyze(study)
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    assert document["times"]["typical"] == pytest.approx(15)
    assert "6 people took 15.0 minutes of work for a solution" in analysis.to_html()
    plan = quem.plan(study, simulate=0)
    settings = plan.to_dict()["settings"]
    assert settings["cost_solution"] == pytest.approx(15)
    assert settings["cost_solution_measured"]
    assert "(as measured in the pilot)" in plan.to_html()
