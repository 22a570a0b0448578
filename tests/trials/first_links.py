"""From outputs to the first judge's link, as somebody does it who has read only the README.

Two commands in a shell, then a browser: everything that is missing is written on the page
"Set up the study". The clock runs from the first command until a judge sees their first page.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect, sync_playwright

from quem.studyfile.reading import read_study
from tests.browser.conftest import QUIET, find_chromium
from tests.importing.made import sample, write_eval, write_long, write_tree
from tests.patience import SECONDS
from tests.served import Served
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from playwright.sync_api import Page

_MOST_COMMANDS, _MOST_SECONDS = 3, 300


def _tree(folder: Path) -> Path:
    return write_tree(
        folder, ["atlas-2", "maria", "ben"], [f"task-{number}" for number in range(1, 5)]
    )


def _lines(folder: Path) -> Path:
    folder.mkdir()
    return write_long(folder / "answers.jsonl", 500, 6)


def _logs(folder: Path) -> Path:
    folder.mkdir()
    for number in range(2):
        samples = [
            sample(n, epoch, f"Answer {number} to {n}.") for n in range(1, 41) for epoch in (1, 2)
        ]
        write_eval(folder / f"run-{number}.eval", f"org/m{number}", samples)
    return folder


LAYOUTS = {"tree": (_tree, 4, 3), "lines": (_lines, 500, 6), "logs": (_logs, 40, 2)}


@registered("first-links", count=3)
def _trial(_rng: random.Random, folder: Path) -> dict[str, Any]:
    """From a tree, JSON Lines, and logs to the first link: in 5 minutes and 3 commands at most."""
    with sync_playwright() as driver:
        expect.set_options(timeout=SECONDS * 1000)
        path = find_chromium(driver)
        browser = driver.chromium.launch(executable_path=path, args=[*QUIET, "--no-sandbox"])
        try:
            page = browser.new_page()
            return {name: first_link(name, folder, page) for name in LAYOUTS}
        finally:
            browser.close()


def first_link(name: str, folder: Path, page: Page) -> float:
    """Make a study of a layout, and open its first judge's link."""
    write, problems, solvers = LAYOUTS[name]
    source, study = write(folder / f"{name}-outputs"), folder / f"{name}-study"
    began = time.monotonic()
    command = [sys.executable, "-c", "from quem.cli import run; run()", "init", str(study)]
    subprocess.run([*command, "--from", str(source)], check=True, capture_output=True)
    with Served(study / "study.yaml") as served:
        n_commands = 2
        page.goto(served.dashboard)
        _set_up(page, study)
        page.get_by_role("button", name="Open the study and show links").click()
        page.get_by_role("button", name="Send anyway").click()
        link = page.locator("input[value*='/j/']").first.input_value()
        page.goto(link)
        expect(page.get_by_text("Dr. Lena Marsh")).to_be_visible()
        seconds = time.monotonic() - began
        page.context.clear_cookies()
    spec = read_study(study / "study.yaml")
    assert (len(spec.problems), len(spec.subjects) + len(spec.systems)) == (problems, solvers)
    assert (len(spec.subjects), len(spec.judges)) == (1, 3)
    assert n_commands <= _MOST_COMMANDS
    assert seconds <= _MOST_SECONDS, f"{name} took {seconds:.0f} s"
    return seconds


def _set_up(page: Page, study: Path) -> None:
    """Write everything that is missing, the texts in an editor."""
    expect(page.get_by_role("heading", name="Set up the study")).to_be_visible()
    people = page.locator("#solvers tbody tr").last
    people.get_by_label("Experience of").fill("4")
    page.get_by_label("Your name").fill("Dr. Lena Marsh")
    page.get_by_label("Names of judges").fill("Amy Baxter\nBo Chen\nCy Dahl")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".said")).to_contain_text("Saved.")
    for path in study.rglob("*.md"):
        if "TODO" in path.read_text():
            path.write_text("I take part, and do what is asked.")
    page.reload()
    expect(page.get_by_text("Nothing is lacking.")).to_be_visible()
