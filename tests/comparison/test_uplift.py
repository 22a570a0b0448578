"""What people gain from help: against whom, over which problems, and what forbids it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.comparison.assistance import gain_test, uplifts_of
from quem.errors import QuemError
from quem.rankings import Rankings
from quem.studyfile.models import Assisted, System
from tests.experience.made import study_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from quem.comparison.assistance import AssistanceGain
    from quem.comparison.result import ComparisonFindings
    from quem.rankings.loading import Study

SEEDS = st.integers(0, 2**32 - 1)
NAN = float("nan")
Ways = dict[str, tuple[str, ...]]  # assisted solver to the problems solved with help


def _study(
    quality: Mapping[str, NDArray[np.float64]], ways: Ways, years: Mapping[str, float]
) -> Study:
    """A study in which judges order by quality, (judges, problems), and some had help.

    An assisted solver is named by the person and one letter more.
    """
    ranks = {
        (f"J{j}", f"P{p}", solver): float(value)
        for solver, values in quality.items()
        for (j, p), value in np.ndenumerate(values)
        if np.isfinite(value)
    }
    study = study_of(ranks, years)
    kinds = {s: "assisted" if s in ways else kind for s, kind in study.declared.solvers.items()}
    assisted = tuple(Assisted(id=name, by="bot", person=name[:-1]) for name in ways)
    changes = {"systems": (System(id="bot", version="2"),), "assisted": assisted}
    return replace(
        study,
        declared=replace(study.declared, solvers=kinds),
        spec=study.spec.model_copy(update=changes),
    )


def _simulated(
    seed: int, gain: float, *, helped: tuple[int, ...] = (2, 4, 6, 8), crossed: bool = True
) -> Study:
    """Twelve people and six problems; the helped have help on one half of them."""
    rng = np.random.default_rng(seed)
    years = {f"S{i}": float(np.round(1 + i + rng.uniform(0, 0.9), 2)) for i in range(12)}
    quality = {}
    ways: Ways = {}
    for i, (person, y) in enumerate(years.items()):
        values = y + rng.normal(0, 1) + rng.normal(0, 1, 6) + rng.normal(0, 1, (3, 6))
        quality[person] = values
        if i in helped:
            with_help = np.arange(6) < 3
            with_help = ~with_help if crossed and helped.index(i) % 2 else with_help
            quality[f"{person}+"] = np.where(with_help, values + gain, np.nan)
            quality[person] = np.where(with_help, np.nan, values)
            ways[f"{person}+"] = tuple(f"P{p}" for p in np.flatnonzero(with_help))
    return _study(quality, ways, years)


def _only(study: Study, what: str, ids: set[str]) -> Study:
    """The study with the ranks of some problems or solvers only."""
    data = study.data
    assert isinstance(data, Rankings)
    names = getattr(data, f"{what}s")
    rows = np.array([names[code] in ids for code in getattr(data, what)])
    columns = ("judge", "problem", "solver", "block", "occasion", "rank", "failed", "recognized")
    return replace(
        study, data=replace(data, **{name: getattr(data, name)[rows] for name in columns})
    )


def _findings(study: Study) -> ComparisonFindings:
    return quem.compare(study).findings


def _uplift(study: Study) -> AssistanceGain:
    (uplift,) = _findings(study).uplifts
    return uplift


def _years(study: Study) -> float:
    """What `quem.compare` reads, without the rest of the comparison."""
    (uplift,) = uplifts_of(study, study.spec.analysis)
    return uplift.years


def test_helped_are_located_among_those_who_never_had_help() -> None:
    """X = 1 + b (S − 1)/S with b of the S below, ties one half, is as counted by hand."""
    years = {"A": 1.0, "B": 3.0, "C": 5.0, "D": 7.0, "H": 4.0}
    quality = {s: np.full((1, 3), y) for s, y in years.items()}
    quality["H"] = np.array([[4.0, 4.0, NAN]])
    quality["H+"] = np.array([[NAN, NAN, 7.0]])
    (person,) = _uplift(_study(quality, {"H+": ("P2",)}, years)).people
    assert person.unassisted_rank == 1 + 2 * 3 / 4
    assert person.assisted_rank == 1 + 3.5 * 3 / 4
    assert person.unassisted_problems == ("P0", "P1")
    assert person.assisted_problems == ("P2",)
    slope = 2.0  # the years of A to D over the ranks 1 to 4, and H at 2.5 has 4
    assert person.years == pytest.approx(slope * (person.assisted_rank - person.unassisted_rank))


@given(SEEDS, st.integers(2, 5), st.integers(2, 5))
def test_one_persons_test_is_that_of_two_samples(seed: int, alone: int, helped: int) -> None:
    """t, df, p and interval are those of Student's test of two samples of problems."""
    values = np.random.default_rng(seed).normal(size=alone + helped)
    is_assisted = np.arange(len(values)) >= alone
    unassisted, assisted = np.where(is_assisted, NAN, values), np.where(is_assisted, values, NAN)
    test, n_problems, n_sets = gain_test(unassisted[None], assisted[None], 0.9)
    oracle = stats.ttest_ind(values[alone:], values[:alone])
    assert (n_problems, n_sets, test.df) == (alone + helped, 2, alone + helped - 2)
    assert test.statistic == pytest.approx(oracle.statistic)
    assert test.p == pytest.approx(oracle.pvalue)
    assert test.interval == pytest.approx(tuple(oracle.confidence_interval(0.9)))


@given(SEEDS)
def test_crossed_halves_have_as_many_degrees_of_freedom(seed: int) -> None:
    """With half of the people helped on either half, each problem is a contrast of people."""
    rng = np.random.default_rng(seed)
    scores, second = rng.normal(size=(4, 8)), np.arange(8) >= 4
    is_assisted = np.array([second, ~second, second, ~second])
    test, _, n_sets = gain_test(
        np.where(is_assisted, NAN, scores), np.where(is_assisted, scores, NAN), 0.95
    )
    assert (n_sets, test.df) == (2, 6)
    # On each problem two people have help and two have none.
    contrast = (np.where(is_assisted, scores, 0) - np.where(is_assisted, 0, scores)).sum(axis=0) / 4
    gain = contrast[~second].mean() + contrast[second].mean()
    spread = sum(
        ((half - half.mean()) ** 2).sum() for half in (contrast[second], contrast[~second])
    )
    assert test.statistic == pytest.approx(gain / np.sqrt(spread / 6 * (1 / 4 + 1 / 4)))


def test_too_few_problems_have_no_test() -> None:
    """Help on one problem of two leaves a gain, no p value, and a warning."""
    study = _simulated(1, 3.0)
    findings = _findings(_only(study, "problem", {"P0", "P5"}))
    assert np.isfinite(findings.uplifts[0].gain)
    assert np.isnan(findings.uplifts[0].test.p)
    messages = [doubt.message for doubt in findings.warnings if doubt.code == "no-test"]
    assert messages[0] == (
        "no test of the gain by bot: too few problems: a test needs more problems than "
        "there are sets of them"
    )


@pytest.mark.parametrize(
    ("gain", "low", "high", "crossed"), [(0.0, -0.15, 0.15, True), (3.0, 2.3, 2.8, False)]
)
def test_gain_is_read_with_little_bias(
    gain: float, low: float, high: float, *, crossed: bool
) -> None:
    """Help worth 3 years reads about 2.5, and help worth nothing reads 0, in either design."""
    read = [_years(_simulated(seed, gain, crossed=crossed)) for seed in range(150)]
    assert low < np.mean(read) < high


def test_a_problem_met_twice_is_refused() -> None:
    """Who solved a problem in both ways has learned, which the message explains."""
    years = {"A": 1.0, "B": 3.0, "C": 5.0, "H": 4.0}
    quality = {s: np.full((1, 3), y) for s, y in years.items()}
    quality["H+"] = np.array([[NAN, 6.0, 6.0]])
    quality["H*"] = np.array([[NAN, NAN, 6.5]])
    study = _study(quality, {"H+": ("P1", "P2"), "H*": ("P2",)}, years)
    with pytest.raises(QuemError) as refused:
        _findings(study)
    end = (
        ". A person who solves a problem again has learned from the first time, which cannot be "
        "separated from the help; use other problems with and without help"
    )
    assert str(refused.value).splitlines() == [
        f"study.yaml:1:1: assisted[1]: H solved P1 and P2 twice, as H+ and alone{end}",
        f"study.yaml:1:1: assisted[2]: H solved P2 twice, as H* and alone{end}",
        f"study.yaml:1:1: assisted[2]: H solved P2 twice, as H* and as H+{end}",
    ]


def test_problems_without_references_are_refused() -> None:
    """Where fewer than two worked alone there is nothing to measure against."""
    years = {"A": 1.0, "B": 3.0, "C": 5.0, "H": 4.0}
    quality = {s: np.array([[y, y, NAN]]) for s, y in years.items()}
    quality["A"] = np.full((1, 3), 1.0)
    quality["H+"] = np.array([[NAN, NAN, 6.0]])
    with pytest.raises(QuemError) as refused:
        _findings(_study(quality, {"H+": ("P2",)}, years))
    assert str(refused.value) == (
        "study.yaml:1:1: assisted[1]: H solved P2 assisted, where fewer than 2 people without "
        "help were ranked, so that there is nobody to measure it against; let some people solve "
        "every problem without help"
    )


def test_without_work_alone_there_is_no_gain() -> None:
    """Somebody who always had help is left out, and a warning says so; systems compare on."""
    study = _simulated(2, 3.0)
    solvers = set(study.data.solvers) - {"S2", "S4"}
    findings = _findings(_only(study, "solver", solvers))
    assert [person.person for person in findings.uplifts[0].people] == ["S6", "S8"]
    assert sum(doubt.code == "gain-not-measurable" for doubt in findings.warnings) == 2


def test_no_gain_at_all_is_refused() -> None:
    """Where nobody worked in both ways, the message says of each which half is missing."""
    study = _simulated(2, 3.0)
    solvers = set(study.data.solvers) - {"S2", "S4+", "S6", "S8+"}
    with pytest.raises(QuemError) as refused:
        _findings(_only(study, "solver", solvers))
    lines = str(refused.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == [f"assisted[{at}]" for at in range(1, 5)]
    assert (
        "unassisted solutions, and S2 (unassisted) has no ranks; have each assisted person"
        in lines[0]
    )
    assert "and S4+ (assisted) has no ranks" in lines[1]


def test_variance_of_the_gain_is_that_of_its_weights() -> None:
    """With two people of unequal designs the standard error is that of a sum by hand."""
    unassisted = np.array([[np.nan, 2.0, 3.5, 1.0, np.nan, np.nan], [np.nan] * 4 + [4.0, 1.5]])
    assisted = np.array([[5.0] + [np.nan] * 5, [6.5] + [np.nan] * 5])
    test, n_problems, n_sets = gain_test(unassisted, assisted, 0.95)
    assert (n_problems, n_sets) == (6, 3)
    gain = ((5.0 - 6.5 / 3) + (6.5 - 2.75)) / 2
    # Sums of squares of the scores alone; each weighs 1/3 and 1/2 of half the people.
    variance = (np.var([2.0, 3.5, 1.0]) * 3 + np.var([4.0, 1.5]) * 2) / 3
    weights = 2 * (1 / 2) ** 2 + 3 * (1 / 6) ** 2 + 2 * (1 / 4) ** 2
    assert test.statistic == pytest.approx(gain / np.sqrt(variance * weights))
    assert test.df == 3


def test_without_people_who_never_had_help_all_unaided_are_the_reference() -> None:
    """With everybody helped on one half, the references differ, and a warning says so."""
    findings = _findings(_simulated(3, 3.0, helped=tuple(range(12))))
    assert not findings.uplifts[0].common
    assert "changing-references" in {doubt.code for doubt in findings.warnings}
    findings = _findings(_simulated(3, 3.0))
    assert findings.uplifts[0].common
    assert not {doubt.code for doubt in findings.warnings} & {"changing-references", "assisted"}
