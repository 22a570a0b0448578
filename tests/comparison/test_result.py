"""What people do with a comparison: read, draw, show in a notebook."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import write_report

if TYPE_CHECKING:
    from quem.comparison.result import ComparisonResult

STUDIES = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"
NAMES = {
    "systems": ("study",),
    "studies": ("study", "next-year"),
    "assistance": ("assistance",),
}


@cache
def _compared(mode: str) -> ComparisonResult:
    studies = [quem.load_study(STUDIES / f"{name}.yaml", kind="experience") for name in NAMES[mode]]
    return quem.compare(*studies)


@pytest.mark.parametrize(
    ("mode", "texts"),
    [
        ("systems", ("Fitter 2 is ahead of Fitter 1 by", "Fitter 2’s lead disappears without the")),
        ("studies", ("Fitter 3 is ahead of Fitter 1 by", "Assumes independent studies")),
        ("assistance", ("4 people with the help of Fitter 2", "S2 alone")),
    ],
)
def test_the_same_is_said_everywhere(mode: str, texts: tuple[str, ...]) -> None:
    """In a terminal, on a page, and in a notebook; the page has a paragraph for a paper."""
    result = _compared(mode)
    page = result.to_html()
    for text in texts:
        assert text in " ".join(str(result).split())
        assert text in page
    assert texts[0] in result._repr_html_()
    assert ("<figure" in page) == (mode != "assistance")
    assert "Analyses were done with quem" in page
    assert repr(result).startswith("<ComparisonResult of ")


def test_tables_have_every_pair(tmp_path: Path) -> None:
    """The CSV files have what analysis.json has, and counts of rankings and judges."""
    result = _compared("systems")
    frame = result.differences
    pairs = result.to_dict()["pairs"]
    assert list(frame["years"]) == [pair["years"] for pair in pairs]
    assert [[low, high] for low, high in zip(frame["low"], frame["high"], strict=True)] == [
        pair["interval"] for pair in pairs
    ]
    assert set(frame["n_rankings"]) == {24}
    assert list(result.estimates["name"]) == ["Fitter 1", "Fitter 2", "Stacker"]
    write_report(result, tmp_path, figures=("svg",))
    assert {file.name for file in tmp_path.iterdir()} == {
        "report.html",
        "analysis.json",
        "versions.svg",
        "differences.csv",
        "estimates.csv",
    }


def test_named_systems_are_compared_alone() -> None:
    """By id, or by what their versions share; the gain of people is left out then."""
    study = quem.load_study(STUDIES / "study.yaml", kind="experience")
    for names in (["Fitter"], ["fitter-1", "fitter-2"]):
        (pair,) = quem.compare(study, systems=names).to_dict()["pairs"]
        assert (pair["a"], pair["b"]) == ("fitter-1", "fitter-2")


def test_a_declared_population_changes_what_is_said() -> None:
    """A caller's population is that of both systems, and is named."""
    study = quem.load_study(STUDIES / "study.yaml", kind="experience")
    result = quem.compare(study, reference_population={"years": [0, 30], "share": [1]})
    assert "This uses the declared population: uniform from 0 to 30 years." in str(result)
    assert "no-reference" not in {one.code for one in result.warnings}


def test_what_is_no_study_is_told() -> None:
    """A path, nothing at all, and a setting that a comparison has not are told as such."""
    study = quem.load_study(STUDIES / "study.yaml", kind="experience")
    with pytest.raises(TypeError, match=r"quem\.compare\(quem\.load_study\(path\)\)"):
        quem.compare(study, "next-year.yaml")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="compare takes one study at least"):
        quem.compare()
    with pytest.raises(TypeError, match="compare takes no seed; its settings are systems, level"):
        quem.compare(study, seed=0)
