"""A real Chromium (the one that is named, found, or can be installed), and judges who use it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
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
_NO_QUESTIONS = {"DEBIAN_FRONTEND": "noninteractive"}


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    path = find_chromium(playwright)
    # As root, Chromium starts only without its sandbox; the pages are our own.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    running = playwright.chromium.launch(executable_path=path, args=[*QUIET, *sandbox])
    yield running
    running.close()


def find_chromium(playwright: Playwright) -> str:
    """The path of a Chromium, installed where there is none yet."""
    apt = ["apt-get", "-qq"] if os.geteuid() == 0 and shutil.which("apt-get") else ["true"]
    for command in (
        [sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"],
        [*apt, "update"],
        [*apt, "install", "-y", "--no-install-recommends", "chromium"],
        ["true"],
    ):
        found = [os.environ.get("QUEM_CHROMIUM"), *map(shutil.which, NAMES)]
        for path in (*found, playwright.chromium.executable_path):
            if path and Path(path).exists():
                return path
        subprocess.run(
            command, check=False, capture_output=True, env={**os.environ, **_NO_QUESTIONS}
        )
    pytest.fail("no Chromium: install it, or name one with QUEM_CHROMIUM")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A session of one problem and so many judges that each test has one of its own."""
    folder = tmp_path_factory.mktemp("judging")
    judging = "{briefing: briefing.md, consent: briefing.md}"
    study = write_judging_study(folder, problems=1, solvers=5, judges=60, judging=judging)
    (folder / "briefing.md").write_text("# Hello\n\nPlease rank.\n")
    words = "Many words that go on and on. " * 80
    long = folder / "solutions" / "P0" / "S1.md"
    long.write_text("# Long\n\n" + "".join(f"## Part {n}\n\n{words}\n\n" for n in range(5)))
    with Served(study) as server:
        yield server


# Judges who did not come yet, by the study file of their server.
_FREE: dict[Path, Iterator[str]] = {}


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[Callable[..., Visit]]:
    """Let a new judge come; a module may have a server of its own."""
    judges = _FREE.setdefault(served.study, iter([*served.links]))
    visits: list[Visit] = []

    def come(**options: Any) -> Visit:  # noqa: ANN401
        visits.append(Visit(browser, served, next(judges), **options))
        return visits[-1]

    yield come
    for one in visits:
        one.close()
