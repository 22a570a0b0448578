"""Figures: hostile names, letters that no font has, light files, and nothing dropped in silence."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import quem
from quem.method.figures import line
from quem.report.drawing import inline_svg, png_bytes, svg_text
from quem.report.files import notebook_html, report_html
from tests.made import random_ranks, study_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quem.parts.result import ExperienceResult

NAMES = (r"Robo $\foo$", "A $x_$ b", "$100 & more $", "专家系统 <b>", "🤖", "Ελληνικά")


def analyzed(subjects: int = 6, systems: int = 1) -> ExperienceResult:
    rng = np.random.default_rng(4)
    years = np.linspace(1, 12, subjects).round(1).tolist()
    ranks = random_ranks(rng, years, rng.uniform(2, 11, systems).tolist())
    return quem.analyze(study_of(ranks, years, systems, analysis={"at_least": [5]}))


def test_any_name_can_be_drawn() -> None:
    """Dollars are no formula, and letters that no font here has are no warning."""
    years = (1.0, 3.0, 4.0, 7.0, 9.0, 12.0)
    ranks = random_ranks(np.random.default_rng(4), years, (5.0, 8.0), judges=4)

    def name(role: str, at: int) -> str:
        return f"{NAMES[at % len(NAMES)]} {role}{at}"

    rows = [
        {"judge": name("J", j), "problem": name("P", p), "solver": name("S", s), "rank": rank}
        for (j, p, s), rank in np.ndenumerate(ranks)
    ]
    people = {name("S", at): of for at, of in enumerate(years)}
    study = quem.study(rows, people=people, systems=[name("S", 6), name("S", 7)])
    result = quem.analyze(study)
    for stem in ("line", "profile"):
        figure = result.plot(stem)
        assert figure is not None
        svg = svg_text(figure, stem)
        assert png_bytes(figure).startswith(b"\x89PNG")
        assert "$" in svg
        assert "Ελληνικά" in svg


def test_figure_alone_is_light_on_white_with_a_title() -> None:
    """An SVG file shows the same in every scheme; only in a page it has no ground or title."""
    svgs = []
    for _ in range(2):
        figure = analyzed().plot("line")
        assert figure is not None
        svgs.append(svg_text(figure, "line"))
    assert svgs[0] == svgs[1]
    assert "<title>Line</title>" in svgs[0]
    assert 'style="fill: #ffffff"' in svgs[0]
    assert "prefers-color-scheme" not in svgs[0]
    assert "<title>" not in inline_svg(svgs[0], "line", "label")


def _boxes(figure: Figure) -> dict[str, Bbox]:
    """The places of all texts of a figure that are shown, in its pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    (axes,) = figure.axes
    texts = list(axes.texts)
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        ticks = axis.get_major_ticks()
        texts += [tick.label1 for tick in ticks if limits[0] <= tick.get_loc() <= limits[1]]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    return {
        f"{text.get_text()} {at}": Text.get_window_extent(text, renderer)
        for at, text in enumerate(texts)
        if text.get_text()
    }


@pytest.mark.parametrize(("subjects", "systems"), [(6, 1), (7, 5), (12, 12)])
def test_names_meet_nothing_and_stay_inside(subjects: int, systems: int) -> None:
    """However many there are: no two texts meet, and none leaves the figure."""
    findings = analyzed(subjects, systems).findings
    for figure in (line(findings), line(findings, narrow=True)):
        assert figure
        boxes = _boxes(figure)
        assert sum(name.startswith("K") for name in boxes) == systems
        for name, box in boxes.items():
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width, name
            assert 0 <= box.y0 < box.y1 <= figure.bbox.height, name
        for (one, first), (other, second) in combinations(boxes.items(), 2):
            common = Bbox.intersection(first, second)
            assert common is None or common.width <= 1 or common.height <= 3, (one, other)


def test_warnings_show_code_as_code() -> None:
    """Text in backticks is escaped, and code in the page and the notebook."""
    result = analyzed()
    assert any("`reference_population`" in doubt.message for doubt in result.warnings)
    for page in (report_html(result), notebook_html(result)):
        assert "<code>reference_population</code>" in page
        assert "`" not in page
