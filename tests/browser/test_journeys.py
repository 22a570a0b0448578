"""Four journeys of a newcomer on a fresh clone, with the counts of ``docs/journeys.md``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from uv import find_uv_bin

from tests.browser.judging import is_ready, is_saved
from tests.docs.pages import ROOT, blocks, table_rows
from tests.importing.test_joining import PROBLEMS, write_log, write_people, write_table
from tests.served import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator

MOST_SECONDS = 300
NOTEBOOK = "docs/tutorials/dataframe.ipynb"
SCORES = ROOT / "tests/scores/data"
_NO_GIT = not (ROOT / ".git").exists() or not shutil.which("git")
pytestmark = pytest.mark.skipif(_NO_GIT, reason="no git, or no clone")


@dataclass
class Journey:
    """A newcomer in a clone; what they run, fill in, and click is counted."""

    clone: Path
    commands: int = 0
    actions: int = 0  # fields and clicks
    began: float = field(default_factory=time.monotonic)

    def run(self, command: str) -> str:
        self.commands += 1
        done = subprocess.run(
            ["sh", "-c", f"exec 2>&1; {command}"],
            cwd=self.clone,
            check=False,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def fill(self, box: Locator, text: str) -> None:
        self.actions += 1
        box.fill(text)

    def click(self, button: Locator) -> None:
        self.actions += 1
        button.click()

    def follow(self, button: Locator) -> None:
        with button.page.expect_navigation():
            self.click(button)

    def ends(self, name: str) -> None:
        """Compare the counts with those of the page; `pytest --durations=9` has the seconds."""
        assert time.monotonic() - self.began < MOST_SECONDS
        rows = table_rows((ROOT / "docs/journeys.md").read_text(encoding="utf-8"))
        assert [row[1:3] for row in rows if row[0] == name] == [
            [str(self.commands), str(self.actions)]
        ]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh clone, and an empty home; what uv has downloaded before is there."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "home").mkdir()
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder / "quem")], check=True)
    cached = subprocess.run(
        [find_uv_bin(), "cache", "dir"], check=True, capture_output=True, text=True
    )
    # The environments of the tests, and of what starts them, are not the newcomer's.
    path = [
        part
        for part in os.environ["PATH"].split(os.pathsep)
        if not Path(part).with_name("pyvenv.cfg").exists()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_CACHE_DIR", cached.stdout.strip())
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("PATH", os.pathsep.join(path))
        for name in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON"):
            patch.delenv(name, raising=False)
        yield folder / "quem"


@pytest.fixture(scope="module")
def report(clone: Path) -> tuple[Journey, str]:
    if subprocess.run(["python3", "-m", "pip", "-V"], check=False, capture_output=True).returncode:
        pytest.skip("no python3 with pip")
    first = next(
        block
        for block in blocks((ROOT / "README.md").read_text(encoding="utf-8"))
        if block.language == "sh"
    )
    journey = Journey(clone)
    return journey, journey.run(first.text)


def test_from_the_readme_to_a_report(report: tuple[Journey, str]) -> None:
    journey, printed = report
    assert "P3 plans like a person with 7.2 years of experience" in printed
    path = re.search(r"^Report: (.+)$", printed, re.MULTILINE)
    assert path
    assert (journey.clone / path[1]).is_file()
    journey.ends("README to report")


@pytest.mark.usefixtures("report")
def test_from_mixed_files_to_the_first_placement(clone: Path, browser: Browser) -> None:
    """People's folders, a log, and a table; one page asks for the rest; a judge begins."""
    write_people(clone / "people")
    write_log(clone / "agent.eval", "org/x")
    write_table(clone / "results.jsonl", *PROBLEMS)
    journey = Journey(clone)
    sources = "--from people --from agent.eval --from results.jsonl"
    journey.run(f".uv/bin/uv run quem init mine {sources}")
    journey.commands += 1
    quem = str(clone / ".venv/bin/quem")
    program = f"import os, sys; os.execv({quem!r}, ['quem', *sys.argv[1:]])"
    with (
        Served(clone / "mine/study.yaml", program=program) as served,
        browser.new_context() as context,
    ):
        page = context.new_page()
        journey.actions += 1  # the printed link
        page.goto(served.dashboard)
        for person, years in {"ann": "4", "bo": "11"}.items():
            journey.fill(page.get_by_label(f"Experience of {person}"), years)
        journey.fill(page.get_by_label("Your name"), "Dr. Lena Marsh")
        journey.fill(page.get_by_label("Names of judges"), "Amy Baxter\nBo Chen")
        expect(page.locator("#next")).to_contain_text("consent.md")
        journey.run("sed -i.bak '/^TODO/d' mine/consent.md")
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.locator("#next")).not_to_contain_text("consent.md")
        journey.follow(page.get_by_role("button", name="Open the study and show links"))
        journey.follow(page.get_by_role("button", name="Send anyway"))
        journey.actions += 1  # the judge's link
        page.goto(page.locator("input[value*='/j/']").first.input_value())
        journey.follow(page.get_by_role("button", name="I agree to take part"))
        journey.follow(page.get_by_role("link", name="Start with task 1"))
        is_ready(page)
        journey.click(page.get_by_role("button", name="Read the first solution"))
        journey.click(page.get_by_role("button", name="Place as first").first)
        expect(page.locator("#ranked .chip")).to_have_count(1)
        is_saved(page)
    journey.ends("Files to first placement")


@pytest.mark.usefixtures("report")
def test_from_runs_to_a_latex_table(clone: Path) -> None:
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        shutil.copy(SCORES / name, clone)
    journey = Journey(clone)
    table = journey.run(
        ".uv/bin/uv run quem score qrels.txt bm25.run dense.run -m nDCG@5 --format latex"
    )
    assert "\\begin{tabular}" in table
    assert "a & bm25 & 0.532" in table
    journey.ends("Runs to LaTeX")


@pytest.mark.usefixtures("report")
def test_from_a_dataframe_to_a_figure(clone: Path) -> None:
    journey = Journey(clone)
    journey.run(
        ".uv/bin/uv run --with ipykernel --with nbclient"
        f" jupyter execute --output=executed.ipynb {NOTEBOOK}"
    )
    kept = _shown(clone / NOTEBOOK)
    assert _shown((clone / NOTEBOOK).with_name("executed.ipynb")) == kept
    assert any("image/png" in kinds for kinds, _ in kept)
    journey.ends("DataFrame to figure")


def _shown(notebook: Path) -> list[tuple[set[str], str]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [
        ({*output.get("data", ())}, "".join(output.get("text") or output["data"]["text/plain"]))
        for output in outputs
    ]
