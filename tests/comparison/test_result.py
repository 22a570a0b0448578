"""What people do with a comparison: read, draw, show in a notebook."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem

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


def test_what_is_no_study_is_told() -> None:
    """A path, nothing at all, and a setting that a comparison has not are told as such."""
    study = quem.load_study(STUDIES / "study.yaml", kind="experience")
    with pytest.raises(TypeError, match=r"quem\.compare\(quem\.load_study\(path\)\)"):
        quem.compare(study, "next-year.yaml")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="compare takes one study at least"):
        quem.compare()
    with pytest.raises(TypeError, match="compare takes no bootstrap; its settings are systems"):
        quem.compare(study, bootstrap=0)
