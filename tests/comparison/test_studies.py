"""Systems of independent studies, and one system over time."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from quem.comparison.independent import SystemEstimate, compare_apart
from scipy import stats

import quem
from quem.errors import QuemError
from quem.experience.estimate import Estimate
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from quem.comparison.result import ComparisonFindings
    from quem.rankings.loading import Study

NAN = float("nan")
DAYS = (dt.date(2024, 4, 1), dt.date(2025, 3, 1), dt.date(2026, 2, 1))


def _standing(
    years: float,
    error: float,
    df: int,
    *,
    study: int = 0,
    side: Any = "inside",  # noqa: ANN401  a literal
) -> SystemEstimate:
    none = (NAN, NAN)
    ends = (none, none, none)
    estimate = Estimate("k", 5.0, 3, 6, 0.0, 0.0, error, df, years, *ends, None, side, NAN, ())
    return SystemEstimate(study, f"k{years:g}", "", "k", None, estimate)


def _study(seed: int, name: str, *systems: dict[str, object], **more: float) -> Study:
    """A study whose systems are declared as given; without, it has one."""
    study = study_of(
        *random_ranks(np.random.default_rng(seed), systems=len(systems) or 1, **more)  # type: ignore[arg-type]
    )
    known = tuple(
        system.model_copy(update=changed)
        for system, changed in zip(study.spec.systems, systems or ({},), strict=True)
    )
    spec = study.spec.model_copy(update={"id": name, "systems": known})
    return replace(study, spec=spec, name=f"{name}.yaml")


def _findings(*studies: Study, **more: Any) -> ComparisonFindings:  # noqa: ANN401  settings
    findings: ComparisonFindings = quem.compare(*studies, **more).findings
    return findings


def test_difference_is_that_of_welch() -> None:
    """Two estimates are compared as Welch compares two means; scipy agrees."""
    a, b = _standing(4.0, 1.2, 6), _standing(7.5, 0.8, 11, study=1)
    difference = compare_apart(a, b, 0.9)
    # Welch's test of two means: standard errors 1.2 and 0.8 of samples of 7 and of 12.
    oracle = stats.ttest_ind_from_stats(
        7.5, 0.8 * np.sqrt(12), 12, 4.0, 1.2 * np.sqrt(7), 7, equal_var=False
    )
    assert difference.years == 3.5
    assert difference.t == pytest.approx(oracle.statistic)
    assert difference.p == pytest.approx(oracle.pvalue)
    half = stats.t.ppf(0.95, difference.df) * np.hypot(1.2, 0.8)
    assert difference.interval == pytest.approx((3.5 - half, 3.5 + half))


@pytest.mark.parametrize(
    ("sides", "bound"),
    [
        (("inside", "above"), "lower"),
        (("below", "inside"), "lower"),
        (("below", "above"), "lower"),
        (("inside", "below"), "upper"),
        (("above", "inside"), "upper"),
        (("above", "above"), ""),
        (("outside", "inside"), ""),
    ],
)
def test_outside_the_range_only_a_bound_is_left(sides: tuple[str, str], bound: str) -> None:
    """No interval and no p; a one-sided bound where both estimates err on the same side."""
    a = _standing(4.0, 1.0, 8, side=sides[0])
    b = _standing(9.0, 1.0, 8, side=sides[1], study=1)
    difference = compare_apart(a, b, 0.95)
    assert np.isnan([difference.p, *difference.interval]).all()
    assert "outside the" in difference.reason
    half = stats.t.ppf(0.95, 16) * np.sqrt(2)
    expected = {"lower": (5 - half, NAN), "upper": (NAN, 5 + half), "": (NAN, NAN)}[bound]
    np.testing.assert_allclose((difference.lower, difference.upper), expected)


def test_versions_are_put_in_order_of_their_dates() -> None:
    """The file may name them in any order; steps lead from each to the next."""
    versions = [
        {"of": "Bot", "version": "3", "date": DAYS[2]},
        {},
        {"of": "Bot", "version": "1", "date": DAYS[0]},
        {"of": "Bot", "version": "2", "date": DAYS[1]},
    ]
    findings = _findings(_study(5, "one", *versions))
    (progression,) = findings.progressions
    assert [v.version for v in progression.versions] == ["1", "2", "3"]
    by_ends = {(p.a, p.b): p for p in findings.pairs}
    for step in progression.steps:
        pair = by_ends[step.before.system, step.after.system]
        np.testing.assert_equal(step.years, pair.years.years)
        assert (step.p, step.p_holm) == (pair.test.p, pair.p_holm)
    assert [s.system for s in findings.system_estimates] == ["K2", "K3", "K0", "K1"]


def test_versions_without_all_dates_keep_their_order() -> None:
    """One date of three cannot order them."""
    versions: list[dict[str, object]] = [{"of": "Bot", "version": v} for v in "213"]
    findings = _findings(_study(5, "one", *versions))
    assert [v.version for v in findings.progressions[0].versions] == ["2", "1", "3"]
    versions[0]["date"] = DAYS[0]
    findings = _findings(_study(5, "one", *versions))
    assert [v.version for v in findings.progressions[0].versions] == ["2", "1", "3"]


def test_a_system_over_time_joins_steps_of_both_kinds() -> None:
    """Versions of one study are compared in it, those of two as independent estimates."""
    old = _study(
        6,
        "old",
        {"of": "Bot", "version": "1", "date": DAYS[0]},
        {"of": "Bot", "version": "2", "date": DAYS[1]},
        {"of": "rival"},
    )
    new = _study(7, "new", {"of": "Bot", "version": "3", "date": DAYS[2]})
    findings = _findings(new, old, same_system=True)
    (progression,) = findings.progressions
    first, second = progression.steps
    (pair,) = _findings(old, systems=["Bot"]).pairs
    assert first.pair is not None
    np.testing.assert_equal((first.years, first.p), (pair.years.years, pair.test.p))
    v2, v3 = progression.versions[1:]
    assert second.pair is None
    assert second.p == compare_apart(v2, v3, 0.95).p
    assert max(first.p_holm, second.p_holm) == max(2 * min(first.p, second.p), first.p, second.p)
    assert progression.dated
    assert {s.of for s in findings.system_estimates} == {"Bot"}


def test_doubts_about_several_studies_name_theirs() -> None:
    """A doubt of one study says of which it is; a common id is one more doubt."""
    findings = _findings(_study(1, "same", subjects=4), _study(2, "same"))
    messages = [doubt.message for doubt in findings.warnings if doubt.code == "few-subjects"]
    assert messages == [
        "same: only 4 subjects have ranks, so intervals are wide (2 degrees of freedom); add "
        "subjects"
    ]
    assert "same-study" in {doubt.code for doubt in findings.warnings}
    assert "same-study" not in {d.code for d in _findings(_study(1, "a"), _study(2, "b")).warnings}


def _months(study: Study) -> Study:
    return replace(study, spec=study.spec.model_copy(update={"experience_unit": "months"}))


def _ninety(study: Study) -> Study:
    analysis = study.spec.analysis.model_copy(update={"level": 0.9})
    return replace(study, spec=study.spec.model_copy(update={"analysis": analysis}))


OLD, NEW = _study(1, "old"), _study(2, "new")
TWO, OTHERS = _study(2, "new", {}, {}), _study(2, "new", {"of": "x"}, {"of": "y"})
REFUSED: list[tuple[tuple[Study, ...], dict[str, object], str]] = [
    (
        (OLD, _months(NEW)),
        {},
        "new.yaml:1:1: experience_unit: experience is counted in 'months' here and in 'years' in "
        "old.yaml; state it in the same unit in both, numbers included",
    ),
    (
        (OLD, _ninety(NEW)),
        {},
        "level: the studies ask for different levels: 0.95 (old.yaml) and 0.9 (new.yaml); give "
        "one by --level",
    ),
    (
        (OLD, NEW),
        {"systems": ["bot"]},
        "systems: there is no system 'bot' in old.yaml or new.yaml; there are: K0",
    ),
    (
        (OLD, NEW),
        {"test": "twoways"},
        "test: 'twoways' is not one of auto, problem, twoway, signflip; did you mean twoway?",
    ),
    (
        (OLD, TWO),
        {"same_system": True, "systems": ["K1"]},
        "systems: old.yaml has none of these systems; name one that each study has",
    ),
    (
        (OLD, OTHERS),
        {"same_system": True},
        "systems: these studies share none, so that it is not clear whose versions to draw; name "
        "them by --systems, or give all versions of one system the same `of`",
    ),
    (
        (TWO, replace(_study(4, "third", {}, {}), name="third.yaml")),
        {"same_system": True},
        "systems: these studies share 2 systems (K0, K1), so that it is not clear whose versions "
        "to draw; name them by --systems, or give all versions of one system the same `of`",
    ),
    (
        (OLD, TWO),
        {"systems": ["K1"]},
        "old.yaml:1:1: systems: none of the named systems has ranks in this study, so that there "
        "is nothing to compare; leave it out",
    ),
]


@pytest.mark.parametrize(("studies", "more", "message"), REFUSED)
def test_refusals_name_file_and_remedy(
    studies: tuple[Study, ...], more: dict[str, object], message: str
) -> None:
    """What forbids a comparison of studies is said with the files and the remedy."""
    with pytest.raises(QuemError) as refused:
        _findings(*studies, **more)
    assert str(refused.value) == message
