"""The report as people see it: in Chromium, wide and narrow, light and dark, and printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.report.files import write_report
from tests.browser.reports import extreme_study, open_report, passes
from tests.browser.views import PHONE, WIDE, in_views

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STUDIES = Path(__file__).resolve().parents[2] / "studies" / "p3-1997"


def _no_system(folder: Path) -> Path:
    """The shipped study without its system."""
    for name in ("study.yaml", "rankings.csv"):
        text = (STUDIES / name).read_text()
        lines = [line for line in text.splitlines() if not line.startswith(("p3,", "systems:"))]
        (folder / name).write_text("\n".join(line for line in lines if "id: p3, name" not in line))
    return folder / "study.yaml"


@pytest.fixture(scope="module", params=["study", "averages", "no system", "extreme"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study."""
    folder = tmp_path_factory.mktemp("report")
    studies = {
        "study": lambda: STUDIES / "study.yaml",
        "averages": lambda: STUDIES / "averages.yaml",
        "no system": lambda: _no_system(folder),
        "extreme": lambda: extreme_study(folder),
    }
    study = studies[request.param]()
    write_report(quem.analyze(quem.load_study(study), bootstrap=200), folder / "out")
    return folder / "out" / "report.html"


@in_views
def test_page_is_self_contained_and_accessible(
    browser: Browser, report: Path, view: dict[str, Any]
) -> None:
    """It asks for nothing, complains of nothing, and axe objects to nothing."""
    passes(browser, report, view)


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_first_screen_gives_the_answer_and_what_it_depends_on(
    browser: Browser, tmp_path: Path, viewport: dict[str, int]
) -> None:
    """The estimate, its interval, and its ranges over judges, subjects and settings are in view."""
    write_report(quem.analyze(quem.load_study(STUDIES / "study.yaml")), tmp_path)
    page, _ = open_report(browser, tmp_path / "report.html", viewport=viewport)
    try:
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
    finally:
        page.context.close()


def test_report_prints_on_a4(browser: Browser, report: Path) -> None:
    """Printed, the report is a PDF of A4 pages, light even for a reader of dark pages."""
    page, _ = open_report(browser, report, color_scheme="dark")
    try:
        page.emulate_media(media="print")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        pdf = page.pdf(prefer_css_page_size=True)
        assert pdf.startswith(b"%PDF-")
        assert b"/MediaBox [0 0 594.95996 841.91998]" in pdf or b"/MediaBox [0 0 595" in pdf
    finally:
        page.context.close()


def test_figures_follow_the_colour_scheme(browser: Browser, tmp_path: Path) -> None:
    """In the report, an axis label is light on a dark page; a figure alone is always light."""
    write_report(quem.analyze(quem.load_study(STUDIES / "study.yaml")), tmp_path)
    probe = "getComputedStyle(document.querySelector('svg text')).fill"
    dark_ink, light_ink = "rgb(27, 31, 36)", "rgb(232, 234, 237)"
    for name, scheme, expected in (
        ("report.html", "light", dark_ink),
        ("report.html", "dark", light_ink),
        ("estimate.svg", "light", dark_ink),
        ("estimate.svg", "dark", dark_ink),
    ):
        page, _ = open_report(browser, tmp_path / name, color_scheme=scheme)
        assert page.evaluate(probe) == expected, (name, scheme)
        page.context.close()
