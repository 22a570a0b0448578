"""The report of a comparison as people see it: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import write_report
from tests.browser.reports import extreme_study, opened, passes
from tests.browser.views import WIDE

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


def test_page_is_self_contained_and_accessible(
    browser: Browser, report: Path, request: pytest.FixtureRequest
) -> None:
    """Axe objects to nothing; that of two systems has the differences on the first screen."""
    with opened(browser, report) as (page, noted):
        passes(page, noted, report)
        if "[systems]" not in request.node.name:
            return
        for text in ("Fitter 2 − Fitter 1", "+4.46", ".0099", "same judges"):
            box = page.get_by_text(text).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= WIDE["height"], text
        figure = page.locator("figure.estimates svg").bounding_box()
        assert figure is not None
        assert figure["y"] + figure["height"] <= WIDE["height"]
