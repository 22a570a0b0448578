"""The report of an experience study, and its check scripts."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import quem
from quem.report.files import write_report
from tests.made import random_ranks, study_of
from tests.report.cases import CASES, case_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.parts.result import ExperienceResult

    Analyzed = Callable[[str], ExperienceResult]

STUDIES = Path(__file__).resolve().parents[2] / "studies"


@pytest.fixture(scope="module")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    """Analyze the study of a case once."""

    @cache
    def analyzed(name: str) -> ExperienceResult:
        path = case_study(name, tmp_path_factory.mktemp("case"))
        return quem.analyze(quem.load_study(path, kind="experience"))

    return analyzed


def _without_appendix(result: ExperienceResult) -> str:
    """The text of the page, but for what the paper prints."""
    page = re.sub(r"(?s)<details>.*?</details>|<style>.*?</style>", "", result.to_html())
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<body") :]).split())


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("one", "Kuling 4 ranked like a person with 6.8 years"),
        ("one judge", "KBS plans like a person with 7.3 years"),
        ("open", "Kuling 3 ranked like a person with at least 8.4 years"),
        ("above", "Both systems were ranked above all four people."),
        ("gate", "Relay 2 was ranked above all seven people, Relay 1 above none."),
        (
            "six",
            "Kuling 6 plans like a person with 9.6 years of experience; Kuling 1, like one with 1",
        ),
        ("declared", "KBS 2 ranked like a person with 6.5 years of experience; KBS 1, like one"),
    ],
)
def test_each_case_has_its_headline(analyzed: Analyzed, name: str, title: str) -> None:
    assert str(analyzed(name).context()["headline"]).startswith(title)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"twelve", "bound"}))
def test_page_terminal_and_notebook_say_the_same(analyzed: Analyzed, name: str) -> None:
    """Each result that the terminal states is on the page word by word, as is each warning."""
    result = analyzed(name)
    page, context = _without_appendix(result), result.context()
    assert all(statement.sentence in page for statement in result.statements)
    assert context["headline"] in result._repr_html_()
    cards = (context["basis"], context["before"])
    told = [check.text for card in cards for check in card]
    for warning in result.warnings:
        sentence = f"{warning.message[:1].upper()}{warning.message[1:]}."
        shown = any(sentence in text for text in told) or warning in context["others"]
        by_line = warning.code in {"not-significant", "decreasing-skill-function"}
        assert shown or by_line or any("more are in analysis.json" in text for text in told)
    for card in cards:
        assert len(card) >= 2
        assert {check.sign for check in card} <= {"good", "warn", "bad"}
        assert all(check.title and check.text.endswith((".", "?")) for check in card)


@pytest.mark.parametrize("name", ["gate", "above"])
def test_without_years_the_page_has_no_number_of_a_formula(analyzed: Analyzed, name: str) -> None:
    """Neither estimates, ends of intervals, nor coefficients; analysis.json and appendix do."""
    result = analyzed(name)
    page, whole, document = _without_appendix(result), result.to_html(), result.to_dict()
    numbers = [document["skill"]["intercept"], document["skill"]["slope"]]
    for estimate in document["estimates"]:
        assert estimate["leads"] is None
        paper = estimate["paper"]
        ends = [paper["experience"], *paper["interval"], *paper["mean_interval"]]
        assert all(f"{end:.1f}".replace("-", "−") in whole for end in ends)
        numbers += [end for end in ends if abs(end) > 12]  # a smaller one may be an average rank
    shown = {*re.findall(r"−?\d+\.\d+", page)}
    for number in numbers:
        texts = {f"{number:.{digits}f}".replace("-", "−") for digits in (1, 2)}
        assert not texts & shown, number


def test_without_years_dots_have_their_years(analyzed: Analyzed) -> None:
    scale = analyzed("above").context()["scales"][0]
    texts = re.findall(r'<text class="text"[^>]*>([^<]*)</text>', scale)
    assert sorted(text for text in texts if text.isdigit()) == ["3", "5", "6", "9"]
    assert scale.count('class="person"') == 4


def test_what_it_rests_on(analyzed: Analyzed) -> None:
    """Judges, problems and subjects are rows with the estimates without them."""
    result = analyzed("six")
    (rests,) = [one for one in result.context()["columns"] if one.id == "rests"]
    (table,) = rests.tables
    assert [row[0] for row in table.rows] == ["nobody", "one judge", "one problem", "one subject"]
    best = max(result.to_dict()["estimates"], key=lambda one: one["paper"]["experience"])
    without = best["rests_on"]["problem"]
    assert table.rows[2][1] == f"{without['experience']:.1f} ({without['id']})"


@pytest.mark.parametrize(
    ("form", "on"),
    [
        ("linear", "average rank"),
        ("log", "the logarithm of average rank"),
        ("quadratic", "average rank and its square"),
    ],
)
def test_the_methods_name_the_form_of_the_line(form: str, on: str) -> None:
    study = quem.load_study(STUDIES / "p3-1997" / "study.yaml", kind="experience")
    methods = quem.analyze(study, form=form).context()["methods"]
    assert f"Experience was regressed on {on} by least squares: years = " in methods


@pytest.mark.parametrize(("judges", "problems"), [(1, 6), (6, 1)])
def test_what_was_not_left_out_is_not_said_to_decide_nothing(judges: int, problems: int) -> None:
    years = (1.0, 3.0, 4.0, 7.0, 9.0, 12.0, 14.0)
    rng = np.random.default_rng(3)
    ranks = random_ranks(rng, years, (6.0,), judges=judges, problems=problems, noise=1.0)
    titles = [check.title for check in quem.analyze(study_of(ranks, years)).context()["basis"]]
    alone, other = ("judge", "problem") if judges == 1 else ("problem", "judge")
    assert f"Everything depends on one {alone}" in titles
    assert f"No {other} or person decides the result" in titles


def test_ranks_of_failed_solutions_count_everywhere() -> None:
    years = (1.0, 3.0, 4.0, 7.0, 9.0, 12.0)
    ranks = random_ranks(np.random.default_rng(3), years, (6.0,))
    ranks[:, 0, 0] = np.nan
    failed = [{"problem": "P1", "solver": "S1", "reason": "failed"}]
    result = quem.analyze(study_of(ranks, years, missing=failed))
    counted = sum(one["n_ranks"] for one in result.to_dict()["averages"])
    assert (f"{counted}", "ranks") in result.context()["counts"]


def test_without_systems_there_is_the_line() -> None:
    """The page says so, and has no scale and no check."""
    years = (1.0, 3.0, 4.0, 7.0, 9.0, 12.0)
    ranks = random_ranks(np.random.default_rng(3), years, ())
    result = quem.analyze(study_of(ranks, years, systems=0))
    page = result.to_html()
    assert "No system has ranks" in page
    assert 'class="scale"' not in page
    assert result.attachments() == {}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Reports of printed averages, of a panel, and of ranks with each form of the line."""
    names = ("p3-1997/averages.yaml", "cooling-panel/placed/study.yaml", "p3-1997/study.yaml")
    studies = [quem.load_study(STUDIES / name, kind="experience") for name in names]
    results = [*map(quem.analyze, studies)]
    results += [quem.analyze(studies[-1], form=form, level=0.9) for form in ("log", "quadratic")]
    folders = [tmp_path_factory.mktemp("report") for _ in results]
    for result, folder in zip(results, folders, strict=True):
        write_report(result, folder, figures=())
    return folders


def test_python_finds_the_same_estimates(
    reports: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """check.py of each report; where a number was changed it fails."""
    for folder in reports:
        monkeypatch.chdir(folder)
        runpy.run_path("check.py")
        assert capsys.readouterr().out.endswith("equal to estimates.csv\n")
        for name in ("check.py", "check.R"):
            assert len((folder / name).read_text(encoding="utf-8").splitlines()) <= 25
    stated = reports[-1] / "estimates.csv"
    rows = stated.read_text(encoding="utf-8")
    number = re.findall(r"\d\.\d{6,}", rows)[1]
    stated.write_text(rows.replace(number, f"1{number}"), encoding="utf-8")
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        runpy.run_path("check.py")
    stated.write_text(rows, encoding="utf-8")


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed here")
def test_r_finds_the_same_estimates(reports: list[Path]) -> None:
    for folder in reports:
        done = subprocess.run(
            ["Rscript", "check.R"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("equal to estimates.csv\n")
