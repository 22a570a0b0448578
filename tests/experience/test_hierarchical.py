"""The model of persons, problems, and judges, against independent numbers and known truth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from statsmodels.formula.api import ols
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats.anova import anova_lm

import quem
from quem.errors import QuemError
from quem.experience.expected_ranks import fit_worths
from quem.experience.hierarchical import FALLBACKS, hierarchical
from quem.experience.presentation.verdict import verdict
from quem.experience.simulation import Noise, Scenario, simulate
from tests.experience.made import golden_study, printed_study
from tests.experience.test_golden import FOLDER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.expected_ranks import Worths
    from quem.experience.hierarchical import Hierarchical
    from quem.experience.simulation import Simulated

STUDIES = ("complete_3x4x10", "incomplete_system_by_one_judge_on_3_problems", "jagged_3x6x9")


def modeled(simulated: Simulated, level: float = 0.95) -> Hierarchical:
    """Simulated studies by the model."""
    n, m = simulated.experience.shape[1], simulated.truth.shape[1]
    y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    ranks = simulated.ranks
    return hierarchical(ranks, fit_worths(ranks), y, np.arange(n, n + m), level=level)


@pytest.mark.parametrize("name", STUDIES)
def test_the_numbers_are_those_computed_independently(name: str) -> None:
    """Estimate, both intervals, and all that they are made of."""
    _, golden = golden_study(name)
    ranks = np.array(golden["ranks"], dtype=float)[np.newaxis]
    n, solvers = len(golden["experience"]), ranks.shape[-1]
    y = np.array([[*golden["experience"], *[np.nan] * (solvers - n)]])
    of = hierarchical(ranks, fit_worths(ranks), y, np.arange(n, solvers), level=0.95)
    for at, system in enumerate(range(n, solvers)):
        wanted = golden["systems"][f"solver {system}"]["hierarchical"]
        for key, value in {
            "worth": of.worth[0, system],
            "worths": of.worth[0],
            "information": of.information[0, system],
            "own_variance": of.variance[0, at],
            "own_df": of.df[0, at],
            "years": of.years[0, at],
            "slope": of.slope[0],
            "residual_variance": of.residual_variance[0],
            "added_for_fewer_cells": of.added[0, at],
            "typical": of.typical[0, at],
            "peer": of.peer[0, at],
            "df": of.df_typical[0, at],
        }.items():
            assert_allclose(value, wanted[key], rtol=1e-6, atol=1e-12, err_msg=key)
        assert FALLBACKS[of.fallback[0, at]] == (wanted["fallback"] or "")


def test_a_whole_analysis_gives_the_same() -> None:
    """In the result, in every output, and as the headline where it is asked for."""
    study, golden = golden_study("complete_3x4x10")
    result = quem.analyze(study, bootstrap=0, permutations=0)
    wanted = golden["systems"]["solver 8"]["hierarchical"]
    model = result.findings.estimates[0].model
    assert model is not None
    assert model.experience == pytest.approx(wanted["years"], rel=1e-6)
    assert_allclose(model.typical, wanted["typical"], rtol=1e-6)
    assert_allclose(model.peer, wanted["peer"], rtol=1e-6)
    text = (
        "In a model of persons, problems, and judges: 3.9 years; 95% interval of a typical person "
        "1.9 to 5.7, of one further person 0.9 to 6.8."
    )
    assert text in " ".join(result.summary().split())
    assert "<td>1.9 to 5.7</td><td>0.9 to 6.8</td>" in _without_space(result.to_html())
    entry = result.to_dict()["estimates"][0]["hierarchical"]
    assert_allclose(entry["typical_interval"], wanted["typical"], rtol=1e-6)
    assert entry["fallback"] == ""
    headline = quem.analyze(study, interval="hierarchical", bootstrap=0, permutations=0)
    assert "solver 8  3.9 years (95% interval of a typical person 1.9 to 5.7)" in headline.summary()
    lead = "solver 8: 3.9 years (95% interval of a typical person 1.9 to 5.7)"
    assert lead in verdict(headline.findings).lead[0]


def test_the_study_of_the_paper() -> None:
    """Two judges and seven subjects do not show the person, so that there is one interval."""
    study = quem.load_study(FOLDER / "study.yaml", kind="experience")
    result = quem.analyze(study, bootstrap=0, permutations=0)
    model = result.findings.estimates[0].model
    assert model is not None
    assert model.experience == pytest.approx(7.251154, rel=1e-6)
    assert model.peer == pytest.approx((3.151669, 12.470016), rel=1e-6)
    assert model.typical == model.peer
    assert model.fallback == "person-not-seen"
    text = "7.3 years; 95% interval of one further person 3.2 to 12.5"
    assert text in " ".join(result.summary().split())
    assert text in result.to_html()
    assert result.to_dict()["estimates"][0]["hierarchical"]["fallback"] == "person-not-seen"


def errors_of(ranks: NDArray[np.float64], worths: Worths) -> NDArray[np.float64]:
    """The errors of the cells of a study, shape (judges, problems, solvers), in a loop."""
    theta, information = worths.worth[0], worths.information[0]
    errors = np.full(ranks.shape, np.nan)
    for j, p in np.ndindex(ranks.shape[:2]):
        who = np.flatnonzero(np.isfinite(ranks[j, p]))
        apart = theta[who][:, np.newaxis] - theta[who]
        slope = expit(apart) * expit(-apart)
        np.fill_diagonal(slope, 0)
        own = 0.4 * expit(theta[who]) * expit(-theta[who])
        expected = expit(apart).sum(axis=1) - 0.5 + 0.4 * (expit(theta[who]) - 0.5)
        matrix = np.diag(slope.sum(axis=1) + own) - slope
        surplus = ranks[j, p, who] - 1 - expected
        errors[j, p, who] = np.linalg.inv(matrix) @ surplus * information[who] ** 0.25
    return errors


def test_error_variance_and_freedom_are_those_of_the_analysis_of_variance() -> None:
    """In complete tables: of statsmodels' mean squares, with Satterthwaite's approximation."""
    terms = {"solution": "C(s):C(p)", "taste": "C(s):C(j)", "rest": "Residual"}
    held = set()
    for seed in range(12):
        simulated = simulate(Scenario(6, 3, 4, (6.5,), noise=Noise(taste=0.3)), 1, seed)
        ranks = simulated.ranks[0]
        worths = fit_worths(simulated.ranks)
        codes = np.indices(ranks.shape).reshape(3, -1)
        frame = pd.DataFrame(dict(zip("jps", codes, strict=True)))
        frame["u"] = errors_of(ranks, worths).ravel()
        table = anova_lm(ols("u ~ C(s) + C(j) * C(p) + C(s):C(p) + C(s):C(j)", frame).fit())
        square = {name: table.loc[row, "mean_sq"] / 12 for name, row in terms.items()}
        freedom = {name: table.loc[row, "df"] for name, row in terms.items()}
        above = [name for name in ("solution", "taste") if square[name] > square["rest"]]
        held.add(tuple(above))
        # Two effects share the rest, which is counted once; without any the rest is all.
        signs = dict.fromkeys(above, 1.0)
        if len(above) != 1:
            signs["rest"] = -1.0 if above else 1.0
        own = sum(sign * square[name] for name, sign in signs.items())
        df = own**2 / sum(square[name] ** 2 / freedom[name] for name in signs)
        information = worths.information[0, 6]
        variance = own / np.sqrt(information)
        rounded = variance + 1 / (24 * information**2)
        of = modeled(simulated)
        assert_allclose(of.variance[0, 0], rounded, rtol=1e-8)
        assert_allclose(of.df[0, 0], (rounded / variance) ** 2 * df, rtol=1e-8)
    assert len(held) > 1


@pytest.mark.parametrize("seed", range(6))
def test_the_line_is_that_of_a_mixed_model(seed: int) -> None:
    """Slope and its error are statsmodels', of means and of a mixed model that is the same.

    In a balanced table the worth of each cell, with a random person, has the slope of the
    means. An interval exists just where the slope is significantly positive.
    """
    scenario = Scenario(8, 2, 3, (6.5,), noise=Noise(6, 3, 3, 1) if seed % 2 else Noise())
    simulated = simulate(scenario, 1, seed)
    of, y = modeled(simulated), simulated.experience[0]
    theta = of.worth[0, :8]
    error = np.sqrt(of.residual_variance[0] / ((y - y.mean()) ** 2).sum())
    line = ols("theta ~ y", pd.DataFrame({"theta": theta, "y": y})).fit()
    assert_allclose([of.slope[0], error], [line.params.y, line.bse.y])
    significant = line.params.y > 0 and line.pvalues.y < 0.05
    assert np.isnan(of.peer[0, 0]).any() != significant
    cells = np.random.default_rng(seed).normal(0, 0.2, (6, 8))
    cells += theta - cells.mean(axis=0)
    frame = pd.DataFrame({"cell": cells.ravel(), "y": np.tile(y, 6)})
    mixed = MixedLM.from_formula("cell ~ y", frame, groups=np.tile(np.arange(8), 6)).fit()
    assert_allclose([mixed.params.y, mixed.bse.y], [of.slope[0], error], rtol=1e-3)


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (Scenario(12, 1, 6), "one-judge"),
        (Scenario(12, 3, 1), "one-problem"),
        (Scenario(20, 3, 6, noise=Noise(0.05, 0.05, 0.05, 0.05)), "nearly-certain-order"),
    ],
)
def test_where_no_typical_person_can_be_told(scenario: Scenario, reason: str) -> None:
    """The interval is that of one further person, and the reason is given."""
    of = modeled(simulate(scenario, 20, seed=1))
    assert {FALLBACKS[code] for code in of.fallback[:, 0]} == {reason}
    assert_allclose(of.typical, of.peer)


def _without_space(page: str) -> str:
    return re.sub(r">\s+<", "><", page)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"form": "log"}, "needs the form linear, and it is log"),
        ({"score": "blom"}, "needs the score rank, and it is blom"),
    ],
)
def test_settings_that_it_does_not_suit(settings: dict[str, Any], message: str) -> None:
    """As the headline it is refused with the reason; as the second line it is left out."""
    study, _ = golden_study("complete_3x4x10")
    with pytest.raises(QuemError, match=message):
        quem.analyze(study, interval="hierarchical", **settings)
    result = quem.analyze(study, bootstrap=0, permutations=0, **settings)
    assert result.findings.estimates[0].model is None
    assert result.to_dict()["estimates"][0]["hierarchical"] is None


def test_studies_that_it_does_not_suit() -> None:
    """Averages, blocks, and four subjects."""
    averages = printed_study(
        {"S1": 1.0, "S2": 2.5, "S3": 2.0, "K": 2.2}, {"S1": 1, "S2": 5, "S3": 3}
    )
    blocks = simulate(Scenario(12, 2, 3, block_size=6), 1).study(0)
    four = simulate(Scenario(4, 2, 3), 1).study(0)
    for study, message in (
        (averages, "needs the ranks, and this study has only their averages"),
        (blocks, "needs ranks of whole groups, and some were judged in blocks"),
        (four, "needs 5 subjects with ranks, and there are 4"),
    ):
        with pytest.raises(QuemError, match=message):
            quem.analyze(study, interval="hierarchical")


def test_it_covers_what_it_says() -> None:
    """Of 600 studies, a typical person in about 95%, in narrower intervals than the line's."""
    simulated = simulate(Scenario(12, 3, 6, (6.5, None)), 600, seed=11)
    of = modeled(simulated)
    for ends, truth in (
        (of.typical[:, 0], simulated.truth[:, 0]),
        (of.peer[:, 1], simulated.truth[:, 1]),
    ):
        covered = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        assert 0.92 < covered.mean() < 0.98
    widths = np.diff(of.typical[:, 0])[:, 0]
    assert np.median(widths) == pytest.approx(2.9, abs=0.3)
