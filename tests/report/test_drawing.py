"""Figures: hostile names, letters that no font has, light files, and nothing dropped in silence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from quem.experience.analysis import analyze_experience
from quem.experience.presentation.figures import estimate, sensitivity, sensitivity_rows
from quem.report.drawing import inline_svg, png_bytes, short, svg_text
from quem.report.files import notebook_html, report_html
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quem.experience.result import ExperienceResult

NAMES = (r"Robo $\foo$", "A $x_$ b", "$100 & more $", "专家系统 <b>", "🤖", "Ελληνικά")


def _analysis(judges: int = 3, subjects: int = 6, systems: int = 1) -> ExperienceResult:
    rng = np.random.default_rng(4)
    ranks, years = random_ranks(rng, judges=judges, subjects=subjects, systems=systems)
    return analyze_experience(study_of(ranks, years, at_least=[5]))


def _hostile() -> ExperienceResult:
    """A study whose every judge, problem and solver has a name of NAMES, and its number."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=4, systems=2)
    known: dict[str, str] = {}

    def name(plain: str) -> str:
        return known.setdefault(plain, f"{NAMES[len(known) % len(NAMES)]} {len(known)}")

    named = {(name(j), name(p), name(s)): rank for (j, p, s), rank in ranks.items()}
    return analyze_experience(study_of(named, {name(s): y for s, y in years.items()}))


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize(
    "stem", ["skill-function", "estimate", "sensitivity", "agreement", "ranks"]
)
def test_any_name_can_be_drawn(stem: str) -> None:
    """Dollars are no formula, and letters that no font here has are no warning."""
    figure = _hostile().figures()[stem]
    svg = svg_text(figure, stem)
    assert png_bytes(figure).startswith(b"\x89PNG")
    assert "$" in svg
    assert "Ελληνικά" in svg


def _estimate_svg() -> str:
    figure = _analysis().plot("estimate")
    assert figure is not None
    return svg_text(figure, "estimate")


def test_figure_alone_is_light_on_white_with_a_title() -> None:
    """An SVG file shows the same in every scheme; only in a page it has no ground or title."""
    svg = _estimate_svg()
    assert "<title>Estimate</title>" in svg
    assert 'style="fill: #ffffff"' in svg
    assert "prefers-color-scheme" not in svg
    assert "<title>" not in inline_svg(svg, "estimate", "label")
    assert svg == _estimate_svg()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P3", "P3"),
        ("Integrated Knowledge-Based Planner 2.0", "Integrated Knowle… 2.0"),
        ("a" * 20 + "bcdefgh", "a" * 16 + "…defgh"),
        ("专" * 30, "专" * 5 + "…" + "专" * 5),
        ("", ""),
    ],
)
def test_long_names_are_shortened_in_the_middle(name: str, expected: str) -> None:
    """A version at the end survives, and wide letters count as two."""
    assert short(name) == expected


def test_sensitivity_says_what_it_leaves_out() -> None:
    """Of many judges those that matter most are shown, and a note says how many there are."""
    findings = _analysis(judges=24, subjects=5).findings
    rows, notes = sensitivity_rows(findings)
    assert notes == ["the 10 of 24 judges that matter most"]
    assert sum(label.startswith("without J") for label, _ in rows) == 10
    figure = sensitivity(findings)
    assert figure is not None
    assert [text.get_text() for text in figure.texts] == [f"Shown: {notes[0]}."]


def test_sensitivity_marks_rows_without_ends() -> None:
    """An unbounded interval, one far off the axis, and no estimate at all are each said."""
    findings = _analysis().findings
    first, second, third, *_ = findings.judges
    nan = float("nan")
    judges = (
        replace(first, low=nan, high=nan),
        replace(second, estimate=1e6, low=1e6 - 1, high=1e6 + 1),
        replace(third, estimate=nan, low=nan, high=nan, change=nan),
    )
    figure = sensitivity(replace(findings, judges=judges, variants=()))
    assert figure is not None
    assert _texts(figure) == ["unbounded", "1000000.0", "no estimate"]


def test_sensitivity_needs_a_system() -> None:
    """Without a system there is no such figure."""
    analysis = _analysis(systems=0)
    assert sensitivity(analysis.findings) is None
    assert "sensitivity" not in analysis.figures()


def test_estimate_lists_many_systems_beside_the_figure() -> None:
    """Up to five systems have their name at their point; more have a number and a list."""
    few, many = (estimate(_analysis(systems=n).findings) for n in (5, 6))
    assert few
    assert many
    assert few.get_figwidth() < many.get_figwidth()
    assert sum(text.isdigit() for text in _texts(many)) == 6
    assert not any(text.isdigit() for text in _texts(few))


def test_estimate_outside_the_range_is_told_by_its_bound() -> None:
    """The figure says of such a system what the headline says."""
    findings = _analysis().findings
    above = replace(findings.estimates[0], side="above", bound=15.23)
    drawn = estimate(replace(findings, estimates=(above,)))
    assert drawn
    assert "K0  at least 15.2" in _texts(drawn)


def test_wide_numbers_leave_the_axis_label_in_the_figure() -> None:
    """However wide the numbers on the axis are, its label is not cut."""
    ranks, years = random_ranks(np.random.default_rng(4))
    study = study_of(ranks, {name: 90_000 * y for name, y in years.items()})
    figure = analyze_experience(study).plot("estimate")
    assert figure is not None
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    assert figure.axes[0].yaxis.label.get_window_extent().x0 >= 0


def test_warnings_show_code_as_code() -> None:
    """What stands between backticks is code in the page and in the notebook, escaped first."""
    analysis = _analysis(systems=6)
    assert any("`reference: humans`" in doubt.message for doubt in analysis.warnings)
    for page in (report_html(analysis), notebook_html(analysis)):
        assert "<code>reference: humans</code>" in page
        assert "`" not in page


def test_table_of_systems_has_their_chances() -> None:
    """With several systems, the first screen still says how likely so many years are."""
    assert "At least 5 years</th>" in report_html(_analysis(systems=2))
