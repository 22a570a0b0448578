"""The report of option lists as people see it: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quem.report.files import write_report
from tests.browser.reports import opened, passes
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHIPPED = Path(__file__).resolve().parents[2] / "studies" / "option-lists" / "study.yaml"


@pytest.fixture(scope="module", params=["shipped", "many"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the shipped study, and one of nine systems with hostile names."""
    folder = tmp_path_factory.mktemp("options")
    path = SHIPPED
    if request.param == "many":
        key, lists = drawn(25, systems=9)
        name = "<script>alert(1)</script> & a name that goes on and on"
        systems = [{"id": f"s{i}", "name": name} for i in range(9)]
        title = f"A </title><img src=https://example.org/x> {'word' * 40}"
        more = {"systems": systems, "title": title, "description": "word" * 40}
        path = study_in(folder, lists + "Q0,s0,o9,0.01\n", key, **more)  # type: ignore[arg-type]
        write_report(analysed(path), folder / "out")
    else:
        write_report(analysed(path), folder / "out")
    return folder / "out" / "report.html"


def test_page_is_self_contained_and_accessible(browser: Browser, report: Path) -> None:
    """It asks for nothing, complains of nothing, and axe objects to nothing."""
    with opened(browser, report) as (page, noted):
        passes(page, noted, report)
