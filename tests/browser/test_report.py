"""The report as people see it: in Chromium, wide and narrow, light and dark, and printed."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import write_report
from tests.browser.reports import extreme_study, opened, passes
from tests.browser.views import PHONE, WIDE
from tests.report.cases import CASES, case_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

STUDIES = Path(__file__).resolve().parents[2] / "studies" / "p3-1997"


def _no_system(folder: Path) -> Path:
    """The shipped study without its system."""
    for name in ("study.yaml", "rankings.csv"):
        text = (STUDIES / name).read_text()
        lines = [line for line in text.splitlines() if not line.startswith(("p3,", "systems:"))]
        (folder / name).write_text("\n".join(line for line in lines if "id: p3, name" not in line))
    return folder / "study.yaml"


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write the report of a study once; gives its page."""

    @cache
    def make(name: str) -> Path:
        folder = tmp_path_factory.mktemp("report")
        studies = {
            "study": lambda: STUDIES / "study.yaml",
            "averages": lambda: STUDIES / "averages.yaml",
            "no system": lambda: _no_system(folder),
            "extreme": lambda: extreme_study(folder),
        }
        study = studies[name]()
        write_report(quem.analyze(quem.load_study(study)), folder / "out")
        return folder / "out" / "report.html"

    return make


@pytest.mark.parametrize("name", ["study", "averages", "no system", "extreme"])
def test_page_is_self_contained_accessible_and_printable(
    browser: Browser, make: Callable[[str], Path], name: str
) -> None:
    """Axe objects to nothing; printed, it is a PDF of A4 pages, light even for dark readers."""
    with opened(browser, make(name)) as (page, noted):
        passes(page, noted, make(name))
        page.emulate_media(media="print", color_scheme="dark")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        pdf = page.pdf(prefer_css_page_size=True)
        assert pdf.startswith(b"%PDF-")
        assert b"/MediaBox [0 0 594.95996 841.91998]" in pdf or b"/MediaBox [0 0 595" in pdf


def test_first_screen_gives_the_answer_and_what_it_depends_on(
    browser: Browser, make: Callable[[str], Path]
) -> None:
    """Verdict, interval, and scale are in view; on a wide screen the heads of both cards, too."""
    said = ["7.2 years of experience", "between 3.6 and 10.9 years", "years of experience"]
    cards = ["What this is based on", "Before you quote this"]
    with opened(browser, make("study")) as (page, _):
        for viewport, texts in ((WIDE, said + cards), (PHONE, said)):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            for text in texts:
                box = page.get_by_text(text).filter(visible=True).first.bounding_box()
                assert box is not None
                assert box["y"] + box["height"] <= viewport["height"], text


def test_page_is_short(browser: Browser, make: Callable[[str], Path]) -> None:
    """At most 900 words and 4,500 pixels at a width of 1,280; the appendix opens by its link."""
    with opened(browser, make("study")) as (page, _):
        page.set_viewport_size({"width": 1280, "height": 900})
        assert len(page.inner_text("body").split()) <= 900
        assert page.evaluate("document.documentElement.scrollHeight") <= 4500
        rank = page.get_by_role("row", name="S5").first
        assert not rank.is_visible()
        page.get_by_role("link", name="Appendix").click()
        assert rank.is_visible()


def test_page_brings_its_fonts(browser: Browser, make: Callable[[str], Path]) -> None:
    """Those of the pages of judges, whatever this computer has."""
    loaded = "[...document.fonts].map(font => `${font.family.replaceAll('\"', '')} ${font.status}`)"
    with opened(browser, make("study")) as (page, _):
        page.evaluate("document.fonts.ready")
        assert page.evaluate(loaded) == ["Inter loaded", "Source Serif 4 loaded"]


# Of each figure that is shown: its place, and the place and size of its texts, as rendered.
_TEXTS = """
() => [...document.querySelectorAll('.drawn svg')].filter(svg => svg.getClientRects().length)
  .map(svg => {
    const place = element => {
      const {left, top, right, bottom} = element.getBoundingClientRect();
      return [left, top, right, bottom];
    };
    const scale = svg.viewBox.baseVal?.width ? svg.clientWidth / svg.viewBox.baseVal.width : 1;
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    return [place(svg), texts.map(text =>
      [text.textContent, place(text), scale * parseFloat(getComputedStyle(text).fontSize)])];
  })
"""


@pytest.mark.parametrize("name", sorted(CASES))
def test_texts_of_figures_are_legible(browser: Browser, tmp_path: Path, name: str) -> None:
    """No text leaves its figure, none meets another by more than a hair, all have 12 pixels."""
    result = quem.analyze(quem.load_study(case_study(name, tmp_path)))
    write_report(result, tmp_path / "out")
    with opened(browser, tmp_path / "out" / "report.html") as (page, _):
        for width in (360, 390, 820, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            drawn = page.evaluate(_TEXTS)
            assert len(drawn) == 2
            for (left, top, right, bottom), texts in drawn:
                assert len(texts) > 5
                for text, box, size in texts:
                    where = f"{text!r} at {width}: {box} {size}"
                    assert left - 1 <= box[0] <= box[2] <= right + 1, where
                    assert top - 1 <= box[1] <= box[3] <= bottom + 1, where
                    assert size >= 12 - 1e-3, where
                for (one, a, _), (other, b, _) in combinations(texts, 2):
                    across = min(a[2], b[2]) - max(a[0], b[0])
                    down = min(a[3], b[3]) - max(a[1], b[1])
                    assert across <= 1 or down <= 3, (one, other, width, across, down)


def test_figures_follow_the_colour_scheme(browser: Browser, make: Callable[[str], Path]) -> None:
    """In the report, an axis label is light on a dark page; a figure alone is always light."""
    probe = "getComputedStyle(document.querySelector('svg [id*=xtick] text')).fill"
    dark_ink, light_ink = "rgb(25, 28, 34)", "rgb(233, 234, 237)"
    for name, in_dark in (("report.html", light_ink), ("line.svg", dark_ink)):
        with opened(browser, make("study").with_name(name)) as (page, _):
            assert page.evaluate(probe) == dark_ink, name
            page.emulate_media(color_scheme="dark")
            assert page.evaluate(probe) == in_dark, name
