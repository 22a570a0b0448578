"""A comparison states no years of a study that does not allow them."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

import quem
from quem.comparison.presentation.sections import report_context
from quem.experience.simulation import HIGH, Scenario, simulate
from tests.comparison.test_result import STUDIES
from tests.experience.years import STYLE

if TYPE_CHECKING:
    from pathlib import Path

    from quem.comparison.result import ComparisonResult
    from quem.rankings.loading import Study

# What is said of years only; positions name the experience of the nearest subjects.
_YEARS = re.compile(
    r"prediction interval|(ahead of|behind) [\w ]+ by|[+−]?\d years[ ,(]"
    r"|by (calibration|regression)|one-sided|(Years|Estimate)</th>"
)
_NEAREST = re.compile(r"\(nearest: [^)]*\)")
_SECTION = re.compile(
    r'<section[^>]*>\s*<h2 id="would-give">What the line would give.*?</section>', re.DOTALL
)


def _texts(result: ComparisonResult) -> list[str]:
    """What is said outside the details: summary, methods, warnings, and page."""
    texts = [
        result.summary(),
        report_context(result.findings)["methods"],
        *map(str, result.warnings),
        STYLE.sub("", _SECTION.sub("", result.to_html())),
        STYLE.sub("", result._repr_html_()),
    ]
    return [_NEAREST.sub("", re.sub(r"\s+", " ", text)) for text in texts]


def _unrelated(seed: int, studies: int) -> list[Study]:
    """Studies in which experience says nothing of quality."""
    simulated = simulate(Scenario(8, 3, 4, (6.0, None), noise=HIGH), studies, seed=seed)
    rng = np.random.default_rng(5)
    simulated.experience[:] = rng.permuted(simulated.experience, axis=1)
    return [simulated.study(index) for index in range(studies)]


def test_without_a_relation_no_line_states_years() -> None:
    """Of five studies: two systems of each, and systems of two studies."""
    studies, shut = _unrelated(2, 5), 0
    compared = [quem.compare(study) for study in studies]
    compared += [quem.compare(*studies[at : at + 2]) for at in (0, 2)]
    compared += [quem.compare(*studies[:2], same_system=True, systems=["K1"])]
    for result in compared:
        allowed = [study.gate.passed for study in result.findings.studies]
        said = result.to_dict()
        assert [one["gate"]["passed"] for one in said["studies"]] == allowed
        assert {one["headline"] for one in said["studies"]} <= {"years", "position"}
        if any(allowed):
            continue
        shut += 1
        for text in _texts(result):
            found = _YEARS.search(text)
            assert not found, text[max(found.start() - 80, 0) :][:160]
        assert ": no years." in result.summary()
        assert "What the line would give" in result.to_html()
        # The numbers stay where they are marked.
        assert np.isfinite(said["estimates"][0]["experience"])
        assert {"estimates", "progression"}.isdisjoint(result.figures())
    assert shut >= 6


def test_one_of_two_studies_states_years() -> None:
    """The other's system gets a position, and their difference no number."""
    (shut,) = _unrelated(2, 1)
    good = simulate(Scenario(12, 3, 6, (8.0,)), 1, seed=3).study(0)
    result = quem.compare(good, shut)
    assert [study.gate.passed for study in result.findings.studies] == [True, False]
    summary = " ".join(result.summary().split())
    assert "prediction interval" in summary
    assert summary.count(": no years.") == 2
    assert "no years: simulated-0 cannot give them (see above)" in summary
    context = report_context(result.findings)
    assert context["answers"] is None
    assert len(context["positions"]) == len(shut.spec.systems)
    assert context["first_figure"] == "estimates"


@pytest.mark.parametrize("is_known", [True, False])
def test_years_are_one_sentence(is_known: bool) -> None:  # noqa: FBT001
    """Who is ahead by how many, with the interval; where that is not defined, why."""
    simulated = simulate(Scenario(12, 3 if is_known else 1, 6, (4.0, 9.0)), 1, seed=3)
    result = quem.compare(simulated.study(0))
    (pair,) = result.findings.pairs
    (said,) = result.to_dict()["pairs"]
    assert said["years_by_regression"] == pair.years.regressed
    if not is_known:
        reason = "with one judge, judge × solver variance cannot be separated from quality"
        assert f"No difference in years: {reason}." in result.summary()
        assert " ahead of " not in result.summary()
        assert (said["years_interval"], said["years_reason"]) == (None, reason)
        assert np.isnan(said["years"])
        return
    assert pair.years.interval is not None
    low, high = pair.years.interval
    assert (
        f"K2 is ahead of K1 by {pair.years.years:.1f} years (95% interval {low:.1f} to {high:.1f})"
        in result.summary()
    )
    assert said["years"] == pair.years.years
    back = quem.compare(simulated.study(0), systems=["K2", "K1"]).summary()
    assert "K2 is ahead of K1" in back or "K1 is behind K2" in back


def test_help_without_years(tmp_path: Path) -> None:
    """What people gain from help is in ranks, where the study does not allow years."""
    shutil.copytree(STUDIES, tmp_path / "studies", ignore=shutil.ignore_patterns("*-compare"))
    file = tmp_path / "studies" / "assistance.yaml"
    found = iter(re.findall(r"experience: ([\d.]+)", file.read_text("utf-8"))[::-1])
    turned = re.sub(r"(experience: )[\d.]+", lambda m: m[1] + next(found), file.read_text("utf-8"))
    file.write_text(turned, encoding="utf-8")
    result = quem.compare(quem.load_study(file, kind="experience"))
    assert result.findings.uplifts
    assert not result.findings.states_years
    for text in _texts(result):
        assert "in average rank" in text or "Analyses were done" not in text
        assert not _YEARS.search(text.replace("with 95% prediction intervals: no system was", ""))
    assert "By calibration" in result.to_html()
