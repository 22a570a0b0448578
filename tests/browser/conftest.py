"""A real Chromium (the one that is named, found, or can be installed), and judges who use it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.judging import Visit
from tests.patience import SECONDS
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium would otherwise call home, which a closed network refuses again and again.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """The driver of the browser."""
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A running Chromium."""
    path = find_chromium(playwright)
    # As root, Chromium starts only without its sandbox; the pages are our own.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    running = playwright.chromium.launch(executable_path=path, args=[*QUIET, *sandbox])
    yield running
    running.close()


def find_chromium(playwright: Playwright) -> str:
    """The path of a Chromium, installed where there is none yet."""
    if named := os.environ.get("QUEM_CHROMIUM"):
        return named
    if path := _on_path():
        return path
    own = playwright.chromium.executable_path
    if not os.path.exists(own):  # noqa: PTH110  a text that playwright gives
        install = [sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"]
        subprocess.run(install, check=False, capture_output=True)
    if os.path.exists(own):  # noqa: PTH110
        return own
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(
                ["apt-get", "-qq", *arguments], check=True, capture_output=True, env=quiet
            )
    if path := _on_path():
        return path
    pytest.fail("no Chromium: install it, or name one with QUEM_CHROMIUM")


def _on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A session of one problem and so many judges that each test has one of its own."""
    folder = tmp_path_factory.mktemp("judging")
    judging = "{briefing: briefing.md, consent: consent.md, practice: P9}"
    study = write_judging_study(folder, problems=1, solvers=5, judges=30, judging=judging)
    (folder / "briefing.md").write_text("# Hello\n\nPlease rank.\n")
    (folder / "consent.md").write_text("You may stop at any time.\n")
    practice = folder / "solutions" / "P9"
    practice.mkdir()
    for name in ("good", "bad"):
        (practice / f"{name}.txt").write_text(f"A {name} one.\n")
    words = "Many words that go on and on. " * 80
    long = folder / "solutions" / "P0" / "S1.md"
    long.write_text("# Long\n\n" + "".join(f"## Part {n}\n\n{words}\n\n" for n in range(5)))
    with Served(study) as server:
        yield server


@pytest.fixture(scope="module")
def judges(served: Served) -> Iterator[str]:
    """The judges, by id, each for one test."""
    return iter(list(served.links))


@pytest.fixture
def visit(
    browser: Browser, served: Served, judges: Iterator[str]
) -> Iterator[Callable[..., Visit]]:
    """Let a new judge come."""
    visits: list[Visit] = []

    def come(**options: Any) -> Visit:  # noqa: ANN401
        visits.append(Visit(browser, served, next(judges), **options))
        return visits[-1]

    yield come
    for one in visits:
        one.close()
