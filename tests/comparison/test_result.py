"""What people do with a comparison: read, draw, show in a notebook."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.figure import Figure

import quem
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from quem.comparison.result import ComparisonResult

STUDIES = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"
DRAWN = {
    "systems": {"estimates", "differences", "progression"},
    "studies": {"estimates", "differences"},
    "time": {"estimates", "progression"},
    "uplift": {"uplift"},
}


@cache
def _compared(mode: str) -> ComparisonResult:
    names = {"systems": ["study"], "uplift": ["assistance"]}.get(mode, ["study", "next-year"])
    studies = [quem.load_study(STUDIES / f"{name}.yaml", kind="experience") for name in names]
    return quem.compare(*studies, same_system=mode == "time")


@pytest.mark.parametrize("mode", DRAWN)
def test_figures_are_those_that_there_is_something_for(mode: str) -> None:
    """Each figure is drawn by name too; there is None where there is nothing."""
    result = _compared(mode)
    assert set(result.figures()) == DRAWN[mode]
    for stem in ("estimates", "differences", "progression", "uplift"):
        assert isinstance(result.plot(stem), Figure) == (stem in DRAWN[mode])
    with pytest.raises(KeyError, match="there is no figure 'years'; use one of: estimates, "):
        result.plot("years")


@pytest.mark.parametrize("mode", DRAWN)
def test_tables_hold_what_the_findings_hold(mode: str) -> None:
    """One row a system, a pair, a version, a person; and p values as found."""
    findings, tables = _compared(mode).findings, _compared(mode).tables()
    rows = {
        "estimates": len(findings.system_estimates),
        "differences": len(findings.pairs) + len(findings.differences),
        "rankings": sum(pair.paired.n_cells for pair in findings.pairs),
        "progression": sum(len(progress.versions) for progress in findings.progressions),
        "uplift": sum(len(uplift.people) + 1 for uplift in findings.uplifts),
    }
    assert {stem: len(table) for stem, table in tables.items()} == {
        stem: count for stem, count in rows.items() if count
    }
    if mode in ("systems", "studies"):
        expected = [pair.p_holm for pair in findings.pairs] + [
            a.p_holm for a in findings.differences
        ]
        assert tables["differences"]["p_holm"].tolist() == expected
    assert tables.get("rankings", {"won": np.array([0.5])})["won"].mean() == pytest.approx(
        np.mean([pair.paired.share_won for pair in findings.pairs] or [0.5])
    )


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("systems", "Fitter 2 − Fitter 1"),
        ("studies", "a year of experience means the same."),
        ("time", "Versions of Fitter"),
        ("uplift", "People assisted by Fitter 2"),
    ],
)
def test_results_show_themselves(mode: str, text: str) -> None:
    """In a terminal, on a page and in a notebook the same is said; the page has a paragraph."""
    result = _compared(mode)
    page, cell = result.to_html(), result._repr_html_()
    assert text in result.summary()
    assert "<svg" in page
    assert "<svg" in cell
    assert "Analyses were done with quem" in page
    assert {"systems": "Holm", "uplift": "equally hard"}.get(mode, "independent") in page
    assert repr(result).startswith("<ComparisonResult of ")


def test_sentence_says_what_the_chosen_test_generalises_to() -> None:
    """Each test comes with its own sentence in the summary."""
    study = quem.load_study(STUDIES / "study.yaml", kind="experience")
    for test, sentence in {
        "problem": "same judges.",
        "twoway": "and other judges.",
        "signflip": "no normality assumption.",
    }.items():
        assert sentence in quem.compare(study, test=test, systems=["Fitter"]).summary()


def test_many_systems_are_offered_another_reference() -> None:
    """With more systems than half the subjects a warning says so, but not of its own remedy."""
    ranks, years = random_ranks(np.random.default_rng(1), systems=4)
    study = study_of(ranks, years)
    messages = {doubt.code: doubt.message for doubt in quem.compare(study).warnings}
    assert "consider `reference: humans`" in messages["many-systems"]
    humans = quem.compare(study, reference="humans")
    assert "many-systems" not in {doubt.code for doubt in humans.warnings}


def test_what_is_no_study_is_told() -> None:
    """A path, nothing at all, and a setting that a comparison has not are told as such."""
    study = quem.load_study(STUDIES / "study.yaml", kind="experience")
    with pytest.raises(TypeError, match=r"quem\.compare\(quem\.load_study\(path\)\)"):
        quem.compare(study, "next-year.yaml")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="compare takes one study at least"):
        quem.compare()
    with pytest.raises(TypeError, match="compare takes no bootstrap; its settings are systems"):
        quem.compare(study, bootstrap=0)
