"""The report of a comparison as people see it: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.report.files import write_report
from tests.browser.reports import extreme_study, open_report, passes
from tests.browser.views import WIDE, in_views

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
    studies = [
        quem.load_study(path, kind="experience") for path in paths or [extreme_study(folder)]
    ]
    result = quem.compare(*studies, same_system=request.param == "time")
    write_report(result, folder / "out")
    return folder / "out" / "report.html"


@in_views
def test_page_is_self_contained_and_accessible(
    browser: Browser, report: Path, view: dict[str, Any]
) -> None:
    """It asks for nothing, complains of nothing, and axe objects to nothing."""
    passes(browser, report, view)


def test_first_screen_gives_the_differences(browser: Browser, tmp_path: Path) -> None:
    """Each difference with its p value, what it generalises to, and the forest plot are in view."""
    write_report(quem.compare(quem.load_study(STUDIES / "study.yaml", kind="experience")), tmp_path)
    page, _ = open_report(browser, tmp_path / "report.html", viewport=WIDE)
    try:
        for text in ("Fitter 2 − Fitter 1", "+4.46", ".0073", "same judges"):
            box = page.get_by_text(text).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= WIDE["height"], text
        figure = page.locator("figure.estimates svg").bounding_box()
        assert figure is not None
        assert figure["y"] + figure["height"] <= WIDE["height"]
    finally:
        page.context.close()
