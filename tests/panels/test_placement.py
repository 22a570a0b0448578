"""Virtual placement: the method's golden numbers, and another computation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from quem import analyze, load_study
from quem.panels.placing import score_of
from quem.parts.panel import place_systems
from tests.method.brute import System, ends, people_of, posterior
from tests.panels.made import made_panel, placed_study
from tests.trials.panels import CELLS, simulate

if TYPE_CHECKING:
    from quem.panels.package import ReferencePanel

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden_panel.json").read_text(encoding="utf-8")
)
PANEL = GOLDEN["panel"]


def golden_panel(folder: Path) -> ReferencePanel:
    years = {f"S{n}": value for n, value in enumerate(PANEL["years"], 1)}
    ranks = {
        (judge["judge"], f"P{p + 1}"): {one: of[p] for one, of in judge["ranks"].items()}
        for judge in PANEL["old_ranks"]
        for p in range(3)
    }
    return made_panel(folder / "panel.zip", years, ranks)


def new_rows() -> list[tuple[str, str, str, float]]:
    return [
        ("new", task["problem"], solver, rank)
        for task in PANEL["new_session"]
        for rank, solver in enumerate(reversed(task["new_judge_best_first"]), 1)
    ]


def ranks_of(panel: ReferencePanel, rows: list[tuple[str, str, str, float]]) -> Any:  # noqa: ANN401
    """Lay new rankings out as a table of judges, problems, and people with the system."""
    judges, solvers = sorted({judge for judge, *_ in rows}), [*panel.people, "system"]
    new = np.full((len(judges), len(panel.problems), len(solvers)), np.nan)
    for judge, problem, solver, rank in rows:
        new[judges.index(judge), panel.problems.index(problem), solvers.index(solver)] = rank
    return new


@pytest.mark.parametrize("row", GOLDEN["panel_place"])
def test_golden_scores(row: dict[str, Any]) -> None:
    score = score_of(np.array(row["anchors_below"]), np.array(row["levels"]), row["people"])
    assert score == pytest.approx(row["score"], abs=1e-6)


def test_golden_panel(tmp_path: Path) -> None:
    """The whole panel by hand: virtual places, the judges' term, and drift."""
    panel = golden_panel(tmp_path)
    anchors = {(problem, one): of for one, problem, of in PANEL["anchors_of_people"]}
    ranks = ranks_of(panel, new_rows())
    placed = place_systems(panel, ranks, ["system"], 3, lambda p, one: anchors[p, one])
    assert placed
    for one, ranks in PANEL["consensus"].items():
        assert [placed.panel.consensus(p)[one] for p in ("P1", "P2", "P3")] == pytest.approx(ranks)
    virtual = dict(zip(placed.panel.people, placed.rank.tolist(), strict=False))
    assert virtual == pytest.approx(PANEL["virtual_x"], abs=1e-6)
    assert placed.rank[-1] == pytest.approx(PANEL["system_x"], abs=1e-6)
    assert placed.scores.ravel() == pytest.approx(PANEL["system_scores"], abs=1e-6)
    assert placed.judge_variance == pytest.approx(PANEL["sigma_J2"], abs=1e-6)
    (w,) = placed.widening
    assert w == pytest.approx(PANEL["w"], abs=1e-6)
    assert placed.drift == pytest.approx(3.340909, abs=1e-6)
    (added,) = placed.added().values()
    assert added == pytest.approx((3.340909, PANEL["people_who_were_anchors"] - 1), abs=1e-6)


def test_what_other_judges_add_is_in_the_estimate_for_the_population(tmp_path: Path) -> None:
    """tau² over N² w², as a variance of z, with its degrees of freedom; by quadrature."""
    panel = golden_panel(tmp_path)
    result = analyze(load_study(placed_study(panel, new_rows(), anchors=3), kind="experience"))
    (estimate,), said = result.core.estimates, result.to_dict()["panel"]
    place = (result.averages["average_rank"].to_numpy() - 0.5) / 8
    z, w = np.log(place / (1 - place)), place[-1] * (1 - place[-1])
    added, df = said["tau2"] / 64 / w**2, said["people_as_anchors"] - 1
    assert estimate.added == pytest.approx((added, df))
    grid = np.linspace(0, 1.5 * max(PANEL["years"]), 20_001)
    system = System(z[-1], added=added, added_df=df)
    low, _, high = ends(grid, posterior(people_of(z, PANEL["years"]), system, grid)[0])
    assert estimate.reference.interval == pytest.approx((low, high), abs=2e-3)
    assert estimate.leads == "reference"
    assert not [one for one in result.warnings if one.code == "averages-only"]


def test_agreement_is_kendalls(tmp_path: Path) -> None:
    """Mean τ-b of new and of old judges over the anchors, as SciPy computes it, ties too."""
    panel, draw = golden_panel(tmp_path), np.random.default_rng(3)
    rows, of_new, of_old = [], [], []
    for judge in ("N1", "N2"):
        for problem, of in (("P1", ("S1", "S3", "S5", "S8")), ("P2", ("S2", "S4", "S6", "S7"))):
            ranks = draw.integers(1, 4, len(of)).astype(float)
            rows += [(judge, problem, one, rank) for one, rank in zip(of, ranks, strict=True)]
            rows.append((judge, problem, "system", 2.0))
            old = panel.ranks[[*of]].xs(problem, level=1).to_numpy()
            of_new.append(stats.kendalltau(ranks, old.sum(axis=0)).statistic)
            of_old.append(stats.kendalltau(*old).statistic)
    placed = place_systems(panel, ranks_of(panel, rows), ["system"], 4)
    assert placed
    assert placed.problems == ("P1", "P2")
    assert placed.agreement == pytest.approx((np.mean(of_new), np.mean(of_old)))


def test_the_trial_covers() -> None:
    """Fifty studies of the trial: most intervals cover in each way, and none is endless."""
    rng = np.random.default_rng(1)
    studies = [simulate(CELLS["little noise, 2 anchors"], rng) for _ in range(50)]
    for way in studies[0]:
        there = [one[way] for one in studies if one[way].says]
        assert np.mean([one.covers for one in there]) >= 0.88
        assert 2 < np.mean([one.half for one in there]) < 5
