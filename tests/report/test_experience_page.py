"""What the page of an experience study says, and the scripts that check it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.report.files import write_report
from tests.parts.made import random_ranks, study_of
from tests.report.cases import CASES, case_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.parts.result import ExperienceResult

STUDIES = Path(__file__).resolve().parents[2] / "studies"


@pytest.fixture(scope="module")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ExperienceResult]:
    """Analyze the study of a case once."""

    @cache
    def analyzed(name: str) -> ExperienceResult:
        folder: Path = tmp_path_factory.mktemp("case")
        study: quem.Study = quem.load_study(case_study(name, folder), kind="experience")
        return quem.analyze(study)

    return analyzed


def _without_appendix(result: ExperienceResult) -> str:
    """The text of the page, but for what the paper prints."""
    page = re.sub(r"(?s)<details>.*?</details>|<style>.*?</style>", "", result.to_html())
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<body") :]).split())


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("one", "Kuling 4 ranked like a person with 6.8 years of experience."),
        ("one judge", "KBS plans like a person with 7.3 years of experience."),
        ("open", "Kuling 3 ranked like a person with at least 8.4 years of experience."),
        ("above", "Both systems were ranked above all four people."),
        ("gate", "Relay 2 was ranked above all seven people, Relay 1 above none."),
        ("six", "Kuling 6 plans like a person with 9.6 years of experience; Kuling 1, like one"),
        ("declared", "KBS 2 ranked like a person with 6.5 years of experience; KBS 1, like one"),
    ],
)
def test_each_case_has_its_headline(
    analyzed: Callable[[str], ExperienceResult], name: str, title: str
) -> None:
    """The page begins with what is known."""
    shown = analyzed(name).context()["headline"]
    assert isinstance(shown, str)
    assert shown.startswith(title)


@pytest.mark.parametrize("name", sorted(CASES))
def test_page_terminal_and_notebook_say_the_same(
    analyzed: Callable[[str], ExperienceResult], name: str
) -> None:
    """Each result that the terminal states is on the page word by word, as is each warning."""
    result = analyzed(name)
    page = _without_appendix(result)
    for statement in result.statements:
        assert statement.sentence in page
    context = result.context()
    told = [check.text for check in (*context["basis"], *context["before"])]
    for warning in result.warnings:
        sentence = f"{warning.message[:1].upper()}{warning.message[1:]}."
        shown = any(sentence in text for text in told) or warning in context["others"]
        by_line = warning.code in {"not-significant", "decreasing-skill-function"}
        assert shown or by_line or any("more are in analysis.json" in text for text in told)
    assert context["headline"] in result._repr_html_()


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_line_of_a_card_has_a_sign_and_a_text(
    analyzed: Callable[[str], ExperienceResult], name: str
) -> None:
    """Both cards have two lines at least."""
    context = analyzed(name).context()
    for card in (context["basis"], context["before"]):
        assert len(card) >= 2
        assert {check.sign for check in card} <= {"good", "warn", "bad"}
        assert all(check.title and check.text.endswith((".", "?")) for check in card)


@pytest.mark.parametrize("name", ["gate", "above"])
def test_without_years_the_page_has_no_number_of_a_formula(
    analyzed: Callable[[str], ExperienceResult], name: str
) -> None:
    """Neither estimates, ends of intervals, nor coefficients; analysis.json and appendix do."""
    result = analyzed(name)
    page, whole = _without_appendix(result), result.to_html()
    skill = result.to_dict()["skill"]
    numbers = [skill["intercept"], skill["slope"]]
    for estimate in result.to_dict()["estimates"]:
        assert estimate["leads"] is None
        paper = estimate["paper"]
        ends = [paper["experience"], *paper["interval"], *paper["mean_interval"]]
        written = [f"{end:.1f}".replace("-", "−") for end in ends]
        assert all(text in whole for text in written)
        numbers += [end for end in ends if abs(end) > 12]  # a smaller one may be an average rank
    assert numbers
    for number in numbers:
        texts = {f"{number:.{digits}f}".replace("-", "−") for digits in (1, 2)}
        assert not texts & set(re.findall(r"−?\d+\.\d+", page)), number


def test_without_years_dots_have_their_years(analyzed: Callable[[str], ExperienceResult]) -> None:
    """On the scale each person's dot has a text."""
    scale = analyzed("above").context()["scales"][0]
    texts = re.findall(r'<text class="text"[^>]*>([^<]*)</text>', scale)
    assert sorted(text for text in texts if text.isdigit()) == ["3", "5", "6", "9"]
    assert scale.count('class="person"') == 4


def test_judges_problems_and_subjects_are_rows_of_what_it_rests_on(
    analyzed: Callable[[str], ExperienceResult],
) -> None:
    """With the estimates without them, and who they are."""
    result = analyzed("six")
    (rests,) = [one for one in result.context()["columns"] if one.id == "rests"]
    (table,) = rests.tables
    assert [row[0] for row in table.rows] == ["nobody", "one judge", "one problem", "one subject"]
    best = max(result.to_dict()["estimates"], key=lambda one: one["paper"]["experience"])
    without = best["rests_on"]["problem"]
    assert table.rows[2][1] == f"{without['experience']:.1f} ({without['id']})"


def test_without_systems_there_is_the_line() -> None:
    """The page says so, and has no scale and no check."""
    import numpy as np

    ranks, years = random_ranks(np.random.default_rng(3), systems=0)
    result = quem.analyze(study_of(ranks, years))
    page = result.to_html()
    assert "No system has ranks" in page
    assert 'class="scale"' not in page
    assert result.attachments() == {}


# All but one whose rankings come from a session, which is not shipped.
SHIPPED = (
    "assembly-planners/assistance.yaml",
    "assembly-planners/next-year.yaml",
    "assembly-planners/study.yaml",
    "cooling-panel/placed/study.yaml",
    "cooling-panel/study.yaml",
    "p3-1997/averages.yaml",
    "p3-1997/study.yaml",
)


def _checked(folder: Path, *command: str) -> Any:  # noqa: ANN401  of subprocess
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Reports of the shipped studies that have systems, and of each form of the line."""
    made = []
    results = [quem.analyze(quem.load_study(STUDIES / name, kind="experience")) for name in SHIPPED]
    study = quem.load_study(STUDIES / "p3-1997" / "study.yaml", kind="experience")
    forms = [quem.analyze(study, form=form, level=0.9) for form in ("log", "quadratic")]
    for result in (*results, *forms):
        folder = tmp_path_factory.mktemp("report")
        write_report(result, folder, figures=())
        if result.core.estimates:
            made.append(folder)
    assert len(made) >= 7
    return made


def test_python_finds_the_same_estimates(reports: list[Path]) -> None:
    """check.py of each shipped study, and of logarithm and quadratic; a changed number fails."""
    for folder in reports:
        done = _checked(folder, sys.executable, "-W", "error", "check.py")
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("equal to estimates.csv\n")
        for name in ("check.py", "check.R"):
            assert len((folder / name).read_text(encoding="utf-8").splitlines()) <= 25
    stated = reports[0] / "estimates.csv"
    rows = stated.read_text(encoding="utf-8")
    number = re.findall(r"\d\.\d{6,}", rows)[1]
    stated.write_text(rows.replace(number, f"1{number}"), encoding="utf-8")
    assert _checked(reports[0], sys.executable, "check.py").returncode != 0
    stated.write_text(rows, encoding="utf-8")


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed here")
def test_r_finds_the_same_estimates(reports: list[Path]) -> None:
    """check.R of the same studies."""
    for folder in reports:
        done = _checked(folder, "Rscript", "check.R")
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("equal to estimates.csv\n")
