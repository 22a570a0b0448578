"""The report of option lists as people see it: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from quem.report.files import write_report
from tests.browser.reports import PHONE, WIDE, open_report
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
        systems = [{"id": f"s{i}", "name": name, "version": str(i)} for i in range(9)]
        title = f"A </title><img src=https://example.org/x> {'word' * 40}"
        more = {"systems": systems, "title": title, "description": "word" * 40}
        path = study_in(folder, lists + "Q0,s0,o9,0.01\n", key, **more)  # type: ignore[arg-type]
    write_report(analysed(path), folder / "out")
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
