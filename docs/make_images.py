"""Make the pictures of the README, and those of first screens: ``python docs/make_images.py``.

First screens of the report, of each case at three widths, go to build/screens, to be looked at.

Needs the dependency group ``tests`` and a Chromium (``QUEM_CHROMIUM`` names one).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright
from waitress.server import create_server

import quem
from quem.report.drawing import svg_text
from quem.report.files import write_report
from quem.store.people import DEFAULT, issue_link, people_of, person_named
from quem.store.studies import set_state
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SCREENS = ROOT / "build" / "screens"


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        path = os.environ.get("QUEM_CHROMIUM") or shutil.which("chromium")
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=sandbox)
        report(browser, Path(folder))
        first_screens(browser, Path(folder))
        plan()
        judging(browser, Path(folder))
        browser.close()


def report(browser: Browser, folder: Path) -> None:
    """Analyze the paper's study, keep a figure, and take a picture of the report."""
    study = quem.load_study(ROOT / "studies" / "p3-1997" / "study.yaml")
    write_report(quem.analyze(study), folder / "report")
    shutil.copy(folder / "report" / "line.svg", IMAGES / "p3-estimate.svg")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((folder / "report" / "report.html").as_uri())
    page.screenshot(path=IMAGES / "report.png")


def first_screens(browser: Browser, folder: Path) -> None:
    """Take pictures of what readers see first of each case, on a laptop, a tablet, and a phone."""
    sys.path.insert(0, str(ROOT))
    from tests.report.cases import CASES, case_study

    SCREENS.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        study = quem.load_study(case_study(name, folder / name))
        write_report(quem.analyze(study), folder / name / "report")
        for width, height in ((1280, 800), (820, 1100), (390, 844)):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto((folder / name / "report" / "report.html").as_uri())
            page.screenshot(path=SCREENS / f"{name}-{width}.png")
            page.close()


def plan() -> None:
    """Draw what more of something gives to the first example of docs/how-to/planning.md."""
    figure = quem.plan(width=2.4, subjects=range(6, 31), simulate=0).plot("growth")
    if figure is not None:
        (IMAGES / "plan-growth.svg").write_text(svg_text(figure, "growth"), encoding="utf-8")


def judging(browser: Browser, folder: Path) -> None:
    """Rank some solutions of the study to try webjudge on; take pictures of page and dashboard."""
    shutil.copytree(ROOT / "studies" / "cooling-plans", folder / "plans")
    with served(folder / "plans" / "study.yaml") as (base, judge, dashboard):
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(f"{base}/j/{judge}")
        page.get_by_role("button", name="I agree").click()
        page.get_by_role("link", name="The chilled water stops", exact=False).first.click()
        page.locator("body[data-ready]").wait_for()
        for label in "ABCD":
            page.locator(f"#ladder [data-open={label}]").press("Alt+ArrowUp")
        page.locator("#ladder [data-more=C]").click()
        page.get_by_role("menuitem", name="Tie with above").click()
        page.keyboard.press("c")
        page.locator("#save-status[data-word=saved]").wait_for()
        page.screenshot(path=IMAGES / "ranking.png")
        page.goto(f"{base}/d/{dashboard}")
        page.screenshot(path=IMAGES / "dashboard.png")


@contextmanager
def served(study: Path) -> Iterator[tuple[str, str, str]]:
    """Serve a study that is open; gives its address, a judge's token and the dashboard's."""
    site = open_site(study)
    with site.store.write() as c:
        set_state(c, site.id, "open", "shell")
        dashboard = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
        judge = next(issue_link(c, judge, "shell") for judge in people_of(c, site.id, "judge"))
    server = create_server(create_app(site), host="127.0.0.1", port=0)
    threading.Thread(target=server.run, daemon=True).start()
    yield f"http://127.0.0.1:{server.effective_port}", judge, dashboard  # type: ignore[union-attr]
    server.close()
    site.store.close()


if __name__ == "__main__":
    main()
