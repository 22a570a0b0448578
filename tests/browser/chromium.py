"""A Chromium with a profile of its own, which can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.browser.conftest import QUIET, find_chromium
from tests.patience import SECONDS, until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import BrowserContext, Page, Playwright

# It starts often: without what no page here needs.
_LIGHT = ["--disable-gpu", "--disable-extensions", "--mute-audio"]
_LIGHT += ["--disable-component-extensions-with-background-pages"]


@dataclass
class KillableChromium:
    """A Chromium whose profile outlives it, as on a judge's computer."""

    playwright: Playwright
    profile: Path  # its folder
    process: subprocess.Popen[bytes] | None = None
    context: BrowserContext | None = None

    def start(self) -> Page:
        """Start it; gives an empty tab."""
        port = self.profile / "DevToolsActivePort"
        port.unlink(missing_ok=True)
        # What a killed one left behind; it would ask who else uses the profile.
        for name in ("SingletonLock", "SingletonSocket", "SingletonCookie"):
            (self.profile / name).unlink(missing_ok=True)
        command = [find_chromium(self.playwright), *QUIET, *_LIGHT, "--headless=new"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        command += ["--remote-debugging-port=0", f"--user-data-dir={self.profile}"]
        command += ["--no-first-run", "--hide-crash-restore-bubble", "about:blank"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        until(lambda: port.exists() and "\n" in port.read_text(), "Chromium")
        number = port.read_text().split("\n")[0]
        browser = self.playwright.chromium.connect_over_cdp(
            f"http://127.0.0.1:{number}", timeout=SECONDS * 1000
        )
        self.context = browser.contexts[0]
        self.context.set_default_timeout(SECONDS * 1000)
        return self.context.new_page()

    def kill(self) -> None:
        """End all of its processes, as a power cut would."""
        process = self.process
        if process is None or process.poll() is not None:
            return
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(SECONDS)
