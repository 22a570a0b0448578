"""Make the pictures of the README anew: ``python docs/make_images.py``.

Needs the dependency group ``tests`` and a Chromium (``QUEM_CHROMIUM`` names one).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import quem
from quem.report.files import write_report

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"


def main() -> None:
    """Analyse the paper's study, keep a figure, and take a picture of the report."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = quem.load_study(ROOT / "studies" / "p3-1997" / "study.yaml")
        write_report(quem.analyze(study), folder)
        shutil.copy(folder / "estimate.svg", IMAGES / "p3-estimate.svg")
        with sync_playwright() as driver:
            path = os.environ.get("QUEM_CHROMIUM") or shutil.which("chromium")
            sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = driver.chromium.launch(executable_path=path, args=sandbox)
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto((folder / "report.html").as_uri())
            page.screenshot(path=IMAGES / "report.png")
            browser.close()


if __name__ == "__main__":
    main()
