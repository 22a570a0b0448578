"""A real Chromium: the one that is named, found, or can be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium would otherwise call home, which a closed network refuses again and again.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """The driver of the browser."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A running Chromium."""
    path = _chromium(playwright)
    # As root, Chromium starts only without its sandbox; the pages are our own.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    running = playwright.chromium.launch(executable_path=path, args=[*QUIET, *sandbox])
    yield running
    running.close()


def _chromium(playwright: Playwright) -> str:
    """The path of a Chromium, installed where there is none yet."""
    if named := os.environ.get("QUEM_CHROMIUM"):
        return named
    if found := _on_path():
        return found
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
    if found := _on_path():
        return found
    pytest.fail("no Chromium: install it, or name one with QUEM_CHROMIUM")


def _on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)
