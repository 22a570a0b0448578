"""The sentence that states a result: a form for each case."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.experience.presentation.cards import basis, before_quoting, counts
from quem.experience.presentation.scale import Text, legend, scale_of
from quem.experience.presentation.verdict import rounded, verdict
from tests.experience.made import printed_study
from tests.report.cases import CASES, case_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.experience.result import ExperienceFindings


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401  a function
    """Analyze the study of a case once."""

    @cache
    def found(name: str) -> ExperienceFindings:
        folder: Path = tmp_path_factory.mktemp(name)
        study: quem.Study = quem.load_study(case_study(name, folder), kind="experience")
        return quem.analyze(study).findings

    return found


@pytest.mark.parametrize(
    ("name", "title", "lead"),
    [
        (
            "one",
            "Kuling 4 plans like someone with about 7 years of experience.",
            "One person of that quality would have between 6.5 and 7.8 years (95% prediction "
            "interval).",
        ),
        (
            "bound",
            "Kuling 3 plans like someone with at least 10 years of experience.",
            "Its average rank is above every person’s, so only a lower bound holds (one-sided 95% "
            "prediction bound: 11.0).",
        ),
        (
            "jagged",
            "No single level of experience describes KBS: it varies 5.0 times as much from problem "
            "to problem as people do.",
            "On average over these problems 6.4 years (95% prediction interval 0.3 to 12.6). "
            "F(5, 60) = 25.5, p < .0001.",
        ),
        (
            "gate",
            "This study cannot state the systems’ skill in years.",
            "With these people average rank does not clearly rise with experience (p = .56).",
        ),
        (
            "six",
            "Kuling 6 plans like someone with about 10 years of experience; Kuling 1, like someone "
            "with about 1.8.",
            "Kuling 6: 9.6 years (95% prediction interval 8.1 to 11.0); Kuling 1: 1.8 years (95% "
            "prediction interval 0.3 to 3.3).",
        ),
        (
            "wide",
            "Atlas 2 answers like someone with about 10 years of experience, but this study cannot "
            "pin it down; Atlas 1, like someone with about 5, likewise.",
            "Atlas 2: 9.7 years (95% prediction interval −0.4 to 19.8); Atlas 1: 5.2 years (95% "
            "prediction interval −4.4 to 14.8).",
        ),
    ],
)
def test_each_case_has_its_form(found: Any, name: str, title: str, lead: str) -> None:  # noqa: ANN401
    """Whole years in the title, ends with a decimal below it."""
    said = verdict(found(name))
    assert said.title == title
    assert said.lead[0] == lead


def _changed(findings: ExperienceFindings, **changes: Any) -> ExperienceFindings:  # noqa: ANN401  as the fields
    (estimate,) = findings.estimates
    return replace(findings, estimates=(replace(estimate, **changes),), profiles={})


@pytest.mark.parametrize(
    ("changes", "title", "lead"),
    [
        (
            {"prediction": (-1.0, 19.2), "experience": 9.1},
            "Kuling 4 plans like someone with about 9 years of experience, but this study cannot "
            "pin it down.",
            "One person of that quality could have anything from no experience to 19.2 years (95% "
            "prediction interval −1.0 to 19.2).",
        ),
        (
            {"prediction": (1.0, 19.2), "experience": 1.96},
            "Kuling 4 plans like someone with about 2.0 years of experience, but this study cannot "
            "pin it down.",
            "One person of that quality could have anything from 1.0 to 19.2 years (95% prediction "
            "interval).",
        ),
        (
            {"side": "below", "bound": 2.1, "average_rank": 0.5},
            "Kuling 4 plans like someone with at most 3 years of experience.",
            "Its average rank is below every person’s, so only an upper bound holds (one-sided 95% "
            "prediction bound: 2.1).",
        ),
        (
            {"side": "above", "bound": 1.9, "average_rank": 9.0},
            "Kuling 4 plans better than the people, but this study cannot say by how much.",
            "Its average rank is above every person’s, so only a lower bound holds (one-sided 95% "
            "prediction bound: 1.9).",
        ),
        (
            {"side": "above", "bound": 7.7, "average_rank": 5.0},
            "Kuling 4 plans like someone with at least 7 years of experience.",
            "Its estimate is above every person’s experience, so only a lower bound holds "
            "(one-sided 95% prediction bound: 7.7).",
        ),
        (
            {"side": "outside", "experience": 9.0},
            "Kuling 4 plans like someone with about 9 years of experience, but no interval or "
            "bound is valid.",
            "Its average rank and its estimate leave the people’s range on different sides, so the "
            "estimate is extrapolated.",
        ),
    ],
)
def test_rarer_cases(found: Any, changes: dict[str, Any], title: str, lead: str) -> None:  # noqa: ANN401
    """Wide intervals, bounds on both sides, bounds that say nothing."""
    said = verdict(_changed(found("one"), **changes))
    assert said.title == title
    assert said.lead == [lead]


def test_jagged_systems_beside_others_are_named(found: Any) -> None:  # noqa: ANN401
    """Also one that the title does not name."""
    findings = found("six")
    jagged = found("jagged").profiles["k0"]
    profiles = findings.profiles | {"k3": replace(jagged, system="k3")}
    said = verdict(replace(findings, profiles=profiles))
    assert said.lead[0].endswith("No single level of experience describes Kuling 4.")
    profiles = findings.profiles | {"k5": replace(jagged, system="k5")}
    said = verdict(replace(findings, profiles=profiles))
    assert said.title.startswith("No single level of experience describes Kuling 6: it varies 5.0")
    assert said.title.endswith("; Kuling 1 plans like someone with about 1.8 years of experience.")


@pytest.mark.parametrize(
    ("value", "direction", "text"),
    [(7.228, 0, "7"), (7.7, -1, "7"), (2.1, 1, "3"), (1.96, 0, "2.0"), (1.99, -1, "1.9"),
     (-0.44, 0, "−0.4"), (8 - 1e-12, -1, "8"), (12345.6, 0, "12,346")],
)  # fmt: skip
def test_rounding(value: float, direction: int, text: str) -> None:
    """Lower bounds go down and upper ones up; small numbers keep a decimal."""
    assert rounded(value, direction) == text


def test_without_systems_there_is_the_skill_function() -> None:
    """The verdict says so, and there is no scale."""
    study = printed_study({"S1": 1.0, "S2": 2.0, "S3": 3.5, "S4": 3.9}, {"S1": 1, "S2": 3, "S3": 5,
                                                                        "S4": 8})  # fmt: skip
    findings = quem.analyze(study).findings
    assert verdict(findings).title == "No system has ranks; only the skill function is reported."
    assert scale_of(findings) is None
    assert counts(findings) == [("4", "people")]


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_check_has_a_sign_and_a_number(found: Any, name: str) -> None:  # noqa: ANN401
    """Each card has two lines at least, and the scale says the same as the verdict."""
    findings = found(name)
    for card in (basis(findings), before_quoting(findings)):
        assert len(card) >= 2
        assert {check.sign for check in card} <= {"good", "warn", "bad"}
        assert all(check.title and check.text.endswith(".") for check in card)
    scale = scale_of(findings)
    assert scale is not None
    labels = [mark for mark in scale.marks if isinstance(mark, Text) and mark.role == "label"]
    assert len([mark for mark in labels if ":" in mark.text]) == len(findings.estimates)
    assert legend(findings).endswith(".")
    for mark in scale.marks:
        assert 0 <= getattr(mark, "x", 0) <= 100
