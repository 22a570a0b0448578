"""Judges by name, against golden numbers, loops, and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

import quem
from tests.experience.made import golden_study, random_ranks, study_of


def test_golden_reversed_judge() -> None:
    """Agreement with the others and with experience, misfit, and who is reversed."""
    study, golden = golden_study("reversed_first_judge")
    result = quem.analyze(study)
    for fit, expected in zip(result.findings.judge_fits, golden["judges"], strict=True):
        assert fit.others == pytest.approx(expected["r_rest"], rel=1e-6)
        assert fit.interval == pytest.approx(expected["interval"], rel=1e-6)
        assert fit.experience == pytest.approx(expected["r_experience"], rel=1e-6)
        assert fit.misfit == pytest.approx(expected["misfit"], rel=1e-6)
        assert fit.is_reversed == expected["reversed"]
        assert fit.n_solvers == 9
    messages = {warning.code: warning.message for warning in result.warnings}
    (turned,) = result.findings.judge_fits[0].turned
    assert messages["judge-reversed"] == (
        "J0's order runs against the other judges' (r = −0.98, −1.00 to −0.92) and against "
        "experience (r = −0.90). Did J0 give 1 to the best? Turned around, the estimate for "
        f"solver 8 would be {turned.estimate:.1f} years"
    )
    assert "J0 ranks unlike the other judges" in messages["judge-misfit"]
    table = result.table("judges")
    assert table["judge"].tolist() == ["J0", "J1", "J2"]
    assert table["reversed"].tolist() == [True, False, False]
    assert "r with the other judges" in result.to_html()


@pytest.mark.parametrize("score", ["rank", "blom", "pl"])
def test_turning_around_is_what_it_says(score: str) -> None:
    """The estimate is that of a study in which the judge's ranks are turned."""
    ranks, years = random_ranks(np.random.default_rng(3), problems=4, subjects=8)
    upside = {cell: -r if cell[0] == "J1" else r for cell, r in ranks.items() if r is not None}
    as_meant = quem.analyze(study_of(ranks, years), score=score)
    (estimate,) = as_meant.findings.estimates
    result = quem.analyze(study_of(upside, years), score=score)
    (fit,) = (fit for fit in result.findings.judge_fits if fit.is_reversed)
    (turned,) = fit.turned
    assert fit.judge == "J1"
    assert turned.estimate == pytest.approx(estimate.experience)
    assert result.findings.estimates[0].experience != pytest.approx(estimate.experience)
    entries = result.to_dict()["agreement"]["judges"]
    assert [len(entry["turned_around"]) for entry in entries] == [0, 1, 0]
    assert not any(fit.is_reversed for fit in as_meant.findings.judge_fits)


def test_incomplete_studies_by_loops() -> None:
    """Over the solvers whom all judges ranked, renumbered problem by problem."""
    ranks, years = random_ranks(
        np.random.default_rng(6), judges=4, problems=3, subjects=9, missing=0.08, ties=True
    )
    for problem in ("P0", "P1", "P2"):
        ranks.pop(("J0", problem, "K0"), None)
    ranks = {cell: r for cell, r in ranks.items() if cell[:2] != ("J3", "P2")}
    fits = quem.analyze(study_of(ranks, years), bootstrap=0).findings.judge_fits
    cells: dict[tuple[str, str, str], float] = {}
    for problem in ("P0", "P1", "P2"):
        judges = sorted({j for j, p, _ in ranks if p == problem})
        common = [s for s in (*years, "K0") if all((j, problem, s) in ranks for j in judges)]
        for judge in judges:
            values = [ranks[judge, problem, s] or 0.0 for s in common]
            for solver, value in zip(common, values, strict=True):
                below = sum(other < value for other in values)
                same = sum(other == value for other in values)
                cells[judge, problem, solver] = below + (same + 1) / 2
    names = ["J0", "J1", "J2", "J3"]
    solvers = [
        s for s in years if all(any((j, p, s) in cells for p in ("P0", "P1", "P2")) for j in names)
    ]
    means = {
        (j, s): np.mean([r for (jj, _, ss), r in cells.items() if (jj, ss) == (j, s)])
        for j in names
        for s in solvers
    }
    off = {}
    for judge in names:
        squares = []
        for (j, problem, solver), rank in cells.items():
            if j == judge:
                rest = [
                    cells[o, problem, solver]
                    for o in names
                    if o != j and (o, problem, solver) in cells
                ]
                squares.append((rank - np.mean(rest)) ** 2)
        off[judge] = np.mean(squares)
    for fit in fits:
        own = [means[fit.judge, s] for s in solvers]
        rest = [np.mean([means[j, s] for j in names if j != fit.judge]) for s in solvers]
        expected = pearsonr(own, rest)
        assert fit.n_solvers == len(solvers)
        assert fit.others == pytest.approx(expected.statistic)
        assert fit.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
        assert fit.experience == pytest.approx(pearsonr(own, [years[s] for s in solvers]).statistic)
        others = np.mean([off[j] for j in names if j != fit.judge])
        assert fit.misfit == pytest.approx(off[fit.judge] / others)
