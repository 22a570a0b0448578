"""Reports in a browser: how they are opened, and the study that tries them hardest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

from tests.patience import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

__all__ = ["extreme_study", "open_report", "passes"]


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


def open_report(browser: Browser, report: Path, **options: Any) -> tuple[Page, list[str]]:  # noqa: ANN401
    """Open the report, and note what it asks for and complains of."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(SECONDS * 1000)
    noted: list[str] = []
    page.on("console", lambda message: noted.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noted.append(f"error: {error}"))
    page.on("dialog", lambda dialog: noted.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: noted.append(f"request: {request.url[:200]}"))
    page.goto(report.as_uri(), wait_until="load")
    return page, noted


def passes(browser: Browser, report: Path, view: dict[str, Any]) -> None:
    """No request but for the page, no complaint, no overflow, and nothing that axe objects to."""
    page, noted = open_report(browser, report, **view)
    try:
        assert noted == [f"request: {report.as_uri()}"]
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) == 0
        violations = Axe().run(page).response["violations"]
        assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in violations] == []
    finally:
        page.context.close()
