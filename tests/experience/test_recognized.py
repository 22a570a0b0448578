"""The estimates without solutions whose author the judge recognized."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import rankdata

import quem
from quem.experience.presentation.methods import methods_paragraph
from quem.report.files import json_text
from tests.docs.schema import mistakes
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from quem.experience.influence import Recognized
    from tests.experience.made import Cell

YEARS = {"A": 1.0, "B": 4.0, "C": 9.0, "D": 11.0}


def one_group(**solvers: float | None) -> dict[Cell, float | None]:
    """Ranks of one judge on one problem."""
    return {("J", "P", solver): rank for solver, rank in solvers.items()}


def some_of(ranks: dict[Cell, float | None], seed: int, share: float = 0.15) -> set[Cell]:
    """Draw some of the cells."""
    rng = np.random.default_rng(seed)
    return {cell for cell in ranks if rng.random() < share}


def recognized_in(*args: Any, **settings: Any) -> Recognized:  # noqa: ANN401
    """Analyse a study and give what the analysis says of recognized authors."""
    recognized = quem.analyze(study_of(*args, **settings)).findings.recognized
    assert recognized is not None
    return recognized


def by_hand(
    ranks: dict[Cell, float | None], years: dict[str, float], recognized: set[Cell]
) -> dict[str, float]:
    """Each system's estimate on a line through the averages of what is left, in loops."""
    scores: dict[str, list[float]] = {}
    for group in dict.fromkeys(cell[:2] for cell in ranks):
        left = [c for c in ranks if c[:2] == group and c not in recognized]
        adjusted = rankdata([ranks[cell] for cell in left])
        for cell, rank in zip(left, adjusted, strict=True):
            scores.setdefault(cell[2], []).append(float(rank))
    average = {solver: np.mean(values) for solver, values in scores.items()}
    subjects = [s for s in years if s in average]
    slope, intercept = np.polyfit([average[s] for s in subjects], [years[s] for s in subjects], 1)
    return {s: float(intercept + slope * x) for s, x in average.items() if s not in years}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_agree_with_loops(seed: int, ties: bool) -> None:  # noqa: FBT001
    """Estimate and change are those of a line fitted by hand to the ranks that are left."""
    ranks, years = random_ranks(np.random.default_rng(seed), systems=2, missing=0.1, ties=ties)
    marked = some_of(ranks, seed)
    headline = by_hand(ranks, years, set())
    recognized = recognized_in(ranks, years, recognized=marked)
    wanted = by_hand(ranks, years, marked)
    assert (recognized.n_ranks, recognized.of_ranks) == (len(marked), len(ranks))
    assert recognized.n_judges == len({judge for judge, _, _ in marked})
    assert {left.system: left.estimate for left in recognized.estimates} == pytest.approx(wanted)
    for left in recognized.estimates:
        assert left.change == pytest.approx(wanted[left.system] - headline[left.system])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"form": "sqrt"},
        {"form": "quadratic", "normalize": "percentile"},
        {"normalize": "expected", "level": 0.8},
        {"score": "blom"},
        {"reference": "humans"},
        {"reference": "humans", "normalize": "expected"},
    ],
    ids=str,
)
def test_a_recognized_solution_is_as_good_as_absent(settings: dict[str, Any]) -> None:
    """Under every setting, estimate and interval are those of a study without these ranks."""
    ranks, years = random_ranks(np.random.default_rng(9), systems=2, subjects=8, missing=0.1)
    marked = some_of(ranks, 9)
    left = {cell: rank for cell, rank in ranks.items() if cell not in marked}
    absent = quem.analyze(study_of(left, years, **settings)).findings.estimates
    recognized = recognized_in(ranks, years, recognized=marked, **settings)
    wanted = {e.system: (e.experience, *e.prediction) for e in absent}
    assert len(wanted) == 2
    for without in recognized.estimates:
        got = (without.estimate, without.low, without.high)
        assert got == pytest.approx(wanted[without.system])


def test_nothing_left_to_fit_is_said() -> None:
    """With too few subjects left the estimates are null, and every text says why."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=1, problems=1, subjects=7)
    marked = {cell for cell in ranks if cell[2] in ("S0", "S1", "S2", "S3", "S4")}
    analysis = quem.analyze(study_of(ranks, years, recognized=marked))
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    assert document["influence"]["recognized"] == {
        "n_ranks": 5,
        "n_judges": 1,
        "estimates": [
            {
                "system": "K0",
                "estimate": None,
                "reason": "not-fitted",
                "interval": [None, None],
                "change": None,
            }
        ],
    }
    (message,) = (d.message for d in analysis.warnings if d.code == "recognized-authors")
    assert message.startswith("5 of 8 ranks are of solutions whose author the judge recognized")
    assert message.endswith("excluding them, no skill function can be fitted")
    assert "Without them no skill function can be fitted" in analysis.to_html()
    assert "excluding them, no skill function could be fitted" in methods_paragraph(
        analysis.findings
    )


def test_every_text_tells_the_change() -> None:
    """Warning, summary, report, methods and figure give the estimate without."""
    ranks, years = random_ranks(np.random.default_rng(6))
    marked = some_of(ranks, 6, 0.1)
    analysis = quem.analyze(study_of(ranks, years, recognized=marked))
    (left,) = recognized_in(ranks, years, recognized=marked).estimates
    without, plain = f"{left.estimate:.1f}", f"{left.estimate - left.change:.1f}"
    assert without != plain
    message = (
        f"{len(marked)} of {len(ranks)} ranks are of solutions whose author the judge recognized; "
        f"excluding them, the estimate for K0 is {without} instead of {plain} years"
    )
    assert [d.message for d in analysis.warnings if d.code == "recognized-authors"] == [message]
    assert f"excluding {len(marked)} ranks with a recognized author {without}" in analysis.summary()
    assert "Excluding ranks with a recognized author" in analysis.to_html()
    assert f"excluding them gave {without} years for K0" in methods_paragraph(analysis.findings)
    assert analysis.ranks is not None
    assert int(analysis.ranks["recognized"].sum()) == len(marked)
