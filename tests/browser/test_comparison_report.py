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


@pytest.fixture(scope="module", params=["systems", "studies", "assistance", "extreme"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a comparison."""
    folder = tmp_path_factory.mktemp("comparison")
    both = ["study", "next-year"]
    names = {"systems": ["study"], "assistance": ["assistance"], "studies": both}
    paths = [STUDIES / f"{name}.yaml" for name in names.get(request.param, [])]
    studies = [
        quem.load_study(path, kind="experience") for path in paths or [extreme_study(folder)]
    ]
    write_report(quem.compare(*studies), folder / "out")
    return folder / "out" / "report.html"


def test_page_is_self_contained_and_accessible(
    browser: Browser, report: Path, request: pytest.FixtureRequest
) -> None:
    """Axe objects to nothing; the differences of two systems are on the first screen."""
    with opened(browser, report) as (page, noted):
        passes(page, noted, report)
        if "[systems]" not in request.node.name:
            return
        for text in ("Fitter 2 is ahead of Fitter 1 by 3.1 years", "uniform prior"):
            box = page.get_by_text(text).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= WIDE["height"], text
