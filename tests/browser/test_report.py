"""The report as people see it: in Chromium, wide and narrow, light and dark, and printed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import write_report
from tests.browser.reports import extreme_study, opened, passes
from tests.browser.views import PHONE, WIDE

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
        write_report(quem.analyze(quem.load_study(study), bootstrap=200), folder / "out")
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
    """The estimate, its interval, and its ranges over judges, subjects and settings are in view."""
    with opened(browser, make("study")) as (page, _):
        for viewport in (WIDE, PHONE):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            for text in (
                "7.2",
                "3.6 to 10.9",
                "Leave out one judge",
                "Leave out one subject",
                "One other setting",
            ):
                box = page.get_by_text(text).first.bounding_box()
                assert box is not None
                assert box["y"] + box["height"] <= viewport["height"], text


def test_figures_follow_the_colour_scheme(browser: Browser, make: Callable[[str], Path]) -> None:
    """In the report, an axis label is light on a dark page; a figure alone is always light."""
    probe = "getComputedStyle(document.querySelector('svg text')).fill"
    dark_ink, light_ink = "rgb(27, 31, 36)", "rgb(232, 234, 237)"
    for name, in_dark in (("report.html", light_ink), ("estimate.svg", dark_ink)):
        with opened(browser, make("study").with_name(name)) as (page, _):
            assert page.evaluate(probe) == dark_ink, name
            page.emulate_media(color_scheme="dark")
            assert page.evaluate(probe) == in_dark, name
