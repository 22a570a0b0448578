"""Virtual placement: the method's golden numbers, and another computation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from quem import load_study
from quem.experience.estimate import estimate_system
from quem.experience.skill import FORMS, fit
from quem.experience.virtual_placement import drift_of, place_on_panel
from quem.panels.placing import score_of
from quem.rankings import Rankings
from tests.panels.made import made_panel, placed_study
from tests.trials.panels import CELLS, simulate

if TYPE_CHECKING:
    from quem.experience.virtual_placement import PanelPlacement
    from quem.panels.package import ReferencePanel

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden_panel.json").read_text(encoding="utf-8")
)
PANEL = GOLDEN["panel"]


def golden_panel(folder: Path) -> ReferencePanel:
    """Give the method's panel."""
    years = {f"S{n}": value for n, value in enumerate(PANEL["years"], 1)}
    ranks = {
        (judge["judge"], f"P{p + 1}"): {one: of[p] for one, of in judge["ranks"].items()}
        for judge in PANEL["old_ranks"]
        for p in range(3)
    }
    return made_panel(folder / "panel.zip", years, ranks)


def golden_placement(folder: Path) -> PanelPlacement:
    """Place the method's system."""
    panel = golden_panel(folder)
    rows = [
        ("new", task["problem"], solver, rank)
        for task in PANEL["new_session"]
        for rank, solver in enumerate(reversed(task["new_judge_best_first"]), 1)
    ]
    study = load_study(placed_study(panel, rows, anchors=3), kind="experience")
    assert isinstance(study.data, Rankings)
    given = {(problem, one): anchors for one, problem, anchors in PANEL["anchors_of_people"]}
    return place_on_panel(
        panel, study.data, study.declared, 3, lambda problem, one: given[problem, one]
    )


@pytest.mark.parametrize("row", GOLDEN["panel_place"])
def test_golden_scores(row: dict[str, Any]) -> None:
    """A place among anchors gives the method's score."""
    score = score_of(row["anchors_below"], row["levels"], row["people"])
    assert score == pytest.approx(row["score"], abs=1e-6)


def test_golden_panel(tmp_path: Path) -> None:
    """The whole panel by hand: virtual places, the judges' term, drift, and the estimate."""
    placed = golden_placement(tmp_path)
    averages = placed.averages
    for one, ranks in PANEL["consensus"].items():
        assert [placed.panel.consensus(p)[one] for p in ("P1", "P2", "P3")] == pytest.approx(ranks)
    for one, x in PANEL["virtual_x"].items():
        assert averages.average[averages.solvers.index(one)] == pytest.approx(x, abs=1e-6)
    assert averages.average[-1] == pytest.approx(PANEL["system_x"], abs=1e-6)
    assert list(placed.scores.values()) == pytest.approx(PANEL["system_scores"], abs=1e-6)
    assert placed.judge_variance == pytest.approx(PANEL["sigma_J2"], abs=1e-6)
    assert placed.widening["system"] == pytest.approx(PANEL["w"], abs=1e-6)
    assert placed.people == PANEL["people_who_were_anchors"]
    drift = placed.drift
    assert drift.between == pytest.approx(4.083333, abs=1e-6)
    assert drift.within == pytest.approx(0, abs=1e-12)
    assert drift.values == pytest.approx(1.222222, abs=1e-6)
    assert drift.variance == pytest.approx(3.340909, abs=1e-6)
    wanted = PANEL["result_with_w_without_tau2"]
    function = fit(FORMS["linear"], *averages.fitted())
    assert function.coefficients["slope"] == pytest.approx(wanted["slope"], abs=1e-6)
    assert function.residual_sd == pytest.approx(wanted["residual_sd"], abs=1e-6)
    still = replace(placed, drift=replace(drift, variance=np.nan))
    estimate = estimate_system(
        "system", function, averages, level=0.95, at_least=(), added=still.added("system")
    )
    assert estimate.experience == pytest.approx(wanted["estimate"], abs=1e-6)
    assert estimate.prediction == pytest.approx((wanted["low"], wanted["high"]), abs=1e-6)
    assert estimate.df == pytest.approx(wanted["df"], abs=1e-6)


def test_agreement_is_kendalls(tmp_path: Path) -> None:
    """Mean τ-b of new and of old judges over the anchors, as SciPy computes it, ties too."""
    panel, draw = golden_panel(tmp_path), np.random.default_rng(3)
    new = {
        (judge, problem): {one: float(draw.integers(1, 4)) for one in of}
        for judge in ("N1", "N2")
        for problem, of in (("P1", ("S1", "S3", "S5", "S8")), ("P2", ("S2", "S4", "S6", "S7")))
    }
    of_new, of_old = [], []
    for (_, problem), ranks in new.items():
        first, second = ([panel.ranks[old, problem][one] for one in ranks] for old in ("J1", "J2"))
        of_new.append(kendalltau([*ranks.values()], np.add(first, second)).statistic)
        of_old.append(kendalltau(first, second).statistic)
    _, drift = drift_of(panel, new)
    assert drift.agreement_new == pytest.approx(np.mean(of_new))
    assert drift.agreement_old == pytest.approx(np.mean(of_old))


def test_the_trial_covers() -> None:
    """Fifty studies of the trial: most intervals cover in each way, and none is endless."""
    rng = np.random.default_rng(1)
    ways = [simulate(CELLS["little noise, 2 anchors"], rng) for _ in range(50)]
    for way in ways[0]:
        assert sum(one[way][0] <= one[way][1] for one in ways) >= 44
        assert 2 < np.mean([one[way][1] for one in ways]) < 4
