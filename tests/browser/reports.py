"""Reports in a browser: how they are opened, and the study that tries them hardest."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.browser.axe import objections
from tests.browser.views import WIDE, each_view
from tests.patience import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


def extreme_study(folder: Path) -> Path:
    """Write a study of nine systems with hostile names, one outside the range, and few subjects."""
    systems = [f"<script>alert({i})</script> & a name that goes on and on" for i in range(9)]
    names = [f"S{i}" for i in range(4)] + [f"x{i}" for i in range(9)]
    long_word = "word" * 40
    lines = [
        f"title: 'A </title><img src=https://example.org/x> {long_word}'",
        f"description: {long_word}",
        "problems:",
    ]
    lines += [f"  - {{id: P{i}}}" for i in range(3)]
    lines += ["judges:", *(f"  - {{id: J{i}, experience: 3}}" for i in range(8)), "subjects:"]
    lines += [f"  - {{id: S{i}, experience: {i + 1}}}" for i in range(4)]
    lines += ["systems:"]
    lines += [f'  - {{id: x{i}, name: "{name}", version: "{i}"}}' for i, name in enumerate(systems)]
    lines += ["rankings: ranks.csv"]
    (folder / "study.yaml").write_text("\n".join(lines))
    rows = ["judge,problem,solver,rank"]
    for judge in range(8):
        for problem in range(3):
            rows += [
                f"J{judge},P{problem},{name},{place + (judge * problem * place) % 3}"
                for place, name in enumerate(names)
            ]
    (folder / "ranks.csv").write_text("\n".join(rows))
    return folder / "study.yaml"


def passes(page: Page, noted: list[str], report: Path) -> None:
    """No request but for the page, no complaint, no overflow, and nothing that axe objects to."""
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for view, colors in each_view(page):
        assert page.evaluate(overflow) == 0, view
        assert objections(page, colors=colors) == [], view
    assert noted == [f"request: {report.as_uri()}"]


@contextmanager
def opened(browser: Browser, report: Path) -> Iterator[tuple[Page, list[str]]]:
    """Open the report, and note what it asks for and complains of."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    noted: list[str] = []
    page.on("console", lambda message: noted.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noted.append(f"error: {error}"))
    page.on("dialog", lambda dialog: noted.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: noted.append(f"request: {request.url[:200]}"))
    page.goto(report.as_uri(), wait_until="load")
    yield page, noted
    context.close()
