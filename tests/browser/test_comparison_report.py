"""The report of a comparison as people see it: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

import quem
from quem.report.files import write_report
from tests.browser.reports import PHONE, WIDE, extreme_study, open_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STUDIES = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"


@pytest.fixture(scope="module", params=["systems", "studies", "time", "uplift", "extreme"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a comparison."""
    folder = tmp_path_factory.mktemp("comparison")
    both = ["study", "next-year"]
    names = {"systems": ["study"], "uplift": ["assistance"], "studies": both, "time": both}
    paths = [STUDIES / f"{name}.yaml" for name in names.get(request.param, [])]
    studies = [quem.load_study(path) for path in paths or [extreme_study(folder)]]
    result = quem.compare(*studies, same_system=request.param == "time")
    write_report(result, folder / "out")
    return folder / "out" / "report.html"


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"]
)
def test_page_is_self_contained_and_accessible(
    browser: Browser, report: Path, viewport: dict[str, int], scheme: str
) -> None:
    """No request but for the page, no complaint, no overflow, and nothing that axe objects to."""
    page, noted = open_report(browser, report, viewport=viewport, color_scheme=scheme)
    try:
        assert noted == [f"request: {report.as_uri()}"]
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) == 0
        violations = Axe().run(page).response["violations"]
        assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in violations] == []
    finally:
        page.context.close()


def test_first_screen_gives_the_differences(browser: Browser, tmp_path: Path) -> None:
    """Each difference with its p value, what it generalises to, and the forest plot are in view."""
    write_report(quem.compare(quem.load_study(STUDIES / "study.yaml")), tmp_path)
    page, _ = open_report(browser, tmp_path / "report.html", viewport=WIDE)
    try:
        for text in ("Fitter 2 − Fitter 1", "+4.46", ".0073", "judged by these judges"):
            box = page.get_by_text(text).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= WIDE["height"], text
        figure = page.locator("figure.estimates svg").bounding_box()
        assert figure is not None
        assert figure["y"] + figure["height"] <= WIDE["height"]
    finally:
        page.context.close()
