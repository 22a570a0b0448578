"""Veterans, outlying and decisive subjects, and who saw a system alone."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.regression.linear_model import OLS

import quem
from quem.experience.checks import outlying, veteran
from quem.experience.presentation.cards import basis
from quem.report.files import json_text
from tests.docs.schema import mistakes
from tests.experience.made import printed_study, random_ranks, study_of

YEARS = {f"S{i}": float(y) for i, y in enumerate((1, 3, 4, 6, 8, 9, 12))}
AVERAGES = {"S0": 1.2, "S1": 2.9, "S2": 3.8, "S3": 5.1, "S4": 5.9, "S5": 7.2, "S6": 8.1, "K": 4.4}


def messages(result: quem.ExperienceResult, code: str) -> list[str]:
    """Give the messages of the warnings of a code."""
    return [warning.message for warning in result.warnings if warning.code == code]


@given(st.lists(st.floats(0, 50), min_size=6, max_size=20), st.floats(-3, 3).filter(bool))
def test_a_veteran_is_one_in_any_unit(years: list[float], scale: float) -> None:
    """By the definition; whatever the unit, and whoever is at the other end."""
    y = np.array(years)
    order = np.argsort(y, kind="stable")
    low, high = y[order[0]], y[order[-1]]
    gaps = {order[-1]: high - y[order[-2]], order[0]: y[order[1]] - low}
    far = [at for at, gap in gaps.items() if gap > (high - low) / 2]
    assert int(veteran(y)) == (far[0] if far else -1)
    powers = 2.0 ** np.round(scale) * np.sign(scale)  # exact in floating point
    assert int(veteran(y * powers)) == int(veteran(y))


def test_a_veteran_is_named_with_the_estimate_without() -> None:
    """Among the most and the least experienced; from six subjects on."""
    result = quem.analyze(printed_study({**AVERAGES, "S6": 15.0}, {**YEARS, "S6": 40.0}))
    (without,) = (left for left in result.findings.subjects if left.id == "S6")
    assert messages(result, "veteran") == [
        "S6 has 40 years of experience, and the next subject 9, which is more than half of the "
        "whole range; the skill function depends on one person. Without S6 the estimate for K is "
        f"{without.estimate:.1f} years"
    ]
    low = {**{s: y + 30 for s, y in YEARS.items()}, "S0": 2.0}
    assert messages(quem.analyze(printed_study(AVERAGES, low)), "veteran")[0].startswith(
        "S0 has 2 years of experience, and the next subject 33,"
    )
    few = {s: y for s, y in {**YEARS, "S6": 40.0}.items() if s not in ("S1", "S2")}
    five = {s: x for s, x in AVERAGES.items() if s in few or s == "K"}
    assert not messages(quem.analyze(printed_study(five, few)), "veteran")
    assert not messages(quem.analyze(printed_study(AVERAGES, YEARS)), "veteran")


def test_an_outlying_subject_by_statsmodels() -> None:
    """Who is beyond Bonferroni's limit of the externally studentized residual, and nobody else."""
    rng = np.random.default_rng(3)
    x = np.arange(1.0, 11)
    y = x + rng.normal(0, 0.4, 10)
    y[4] += 4
    names = [f"S{i}" for i in range(10)]
    averages = {**dict(zip(names, x.tolist(), strict=True)), "K": 6.2}
    result = quem.analyze(printed_study(averages, dict(zip(names, y.tolist(), strict=True))))
    fitted = OLS(y, np.column_stack([np.ones(10), x])).fit()
    expected = np.abs(fitted.get_influence().resid_studentized_external) > student.ppf(
        1 - 0.05 / 20, 7
    )
    studentized = np.array([d.studentized for d in result.findings.diagnostics])
    assert outlying(studentized, 8).tolist() == expected.tolist()
    assert expected.sum() == 1
    (message,) = messages(result, "outlying-subject")
    (without,) = (left for left in result.findings.subjects if left.id == "S4")
    assert message == (
        f"S4 lies far from the skill function of the others: {y[4]:g} years of experience, where "
        f"it gives {fitted.fittedvalues[4]:.1f} (studentized residual {studentized[4]:.1f}). "
        f"Without S4 the estimate for K is {without.estimate:.1f} years; check that person's "
        "experience and ranks"
    )


def test_a_decisive_subject_moves_the_estimate_by_a_third_of_the_half_width() -> None:
    """Exactly those of the leave-one-out estimates are named."""
    seen = 0
    for seed, n in ((5, 6), (5, 7), (6, 7)):
        rng = np.random.default_rng(seed)
        ranks, years = random_ranks(rng, judges=2, problems=2, subjects=n)
        result = quem.analyze(study_of(ranks, years), permutations=0)
        assert result.findings.gate.passed
        (estimate,) = result.findings.estimates
        half = (estimate.prediction[1] - estimate.prediction[0]) / 2
        named = {left.id for left in result.findings.subjects if abs(left.change) > half / 3}
        said = messages(result, "decisive-subject")
        assert {re.findall(r"without subject (\w+)", text)[0] for text in said} == named
        assert all("larger than a third of the interval's half-width" in text for text in said)
        seen += len(named)
    assert seen > 1


@pytest.mark.parametrize(("judges", "others"), [(2, ["J1"]), (3, ["J1", "J2"])])
@pytest.mark.parametrize("score", ["rank", "pl"])
def test_who_saw_a_system_alone_is_said_in_words(
    judges: int, others: list[str], score: str
) -> None:
    """Everything said of it depends on that judge; there is no estimate, and no empty range."""
    ranks, years = random_ranks(np.random.default_rng(5), judges=judges, subjects=9, systems=2)
    ranks = {cell: r for cell, r in ranks.items() if cell[2] != "K1" or cell[0] == "J0"}
    result = quem.analyze(study_of(ranks, years), score=score)
    alone = {left.id: left.reason for left in result.findings.judges if left.system == "K1"}
    assert alone == {"J0": "no-other-ranks", **dict.fromkeys(others, "")}
    assert {left.reason for left in result.findings.judges if left.system == "K0"} == {""}
    document = json.loads(json_text(result.to_dict()))
    assert mistakes(document) == []
    said = {(e["id"], e["system"]): e for e in document["influence"]["judges"]}
    assert said["J0", "K1"]["estimate"] is None
    assert said["J0", "K1"]["reason"] == "no-other-ranks"
    assert said["J1", "K1"]["reason"] is None
    (message,) = messages(result, "fewer-judges")
    (fit,) = (fit for fit in result.findings.judge_fits if fit.judge == "J0")
    assert message.endswith(
        f"Everything said of K1 depends on J0 alone, who agrees with the other judges at r = "
        f"{fit.others:.2f} ({fit.interval[0]:.2f} to {fit.interval[1]:.2f}) on the other solvers"
    )
    assert "everything depends on J0 alone" in " ".join(result.summary().split())
    page = result.to_html()
    assert ">depends on J0 alone</td>" in page
    (check,) = [check for check in basis(result.findings) if "saw a system alone" in check.title]
    assert (check.sign, check.text) == ("bad", "Everything said of K1 depends on J0 alone.")
    assert "Everything said of K1 depends on J0 alone." in page
    assert "nan" not in re.sub(r"<(script|style)>.*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
    assert not re.search(r"<td>([−\d.]+) to \1</td>", page)
