"""From a folder of an agent's work to the first judge's link, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from quem.cli import main
from quem.study.reading import read_study
from tests.browser.test_dashboard import at_dashboard
from tests.importing.made import write_tree
from tests.trials.first_links import first_link
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from webjudge import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study out of a folder of three solvers with two tasks."""
    source = write_tree(tmp_path / "work", ["atlas", "bolt", "maria"], ["task-1", "task-2"])
    made = CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(source)])
    assert made.exit_code == 0
    site = open_site(tmp_path / "study/study.yaml")
    yield site
    site.store.close()


def test_from_a_folder_to_the_first_link(browser: Browser, site: Site) -> None:
    """Everything that is missing is written in the browser, and a judge's link works then."""
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        assert page.url.endswith("/dashboard/setup")
        dashboard.check()
        maria = page.get_by_role("row", name="maria")
        maria.get_by_label("a person").check()
        page.locator("#save").click()
        expect(page.get_by_role("alert")).to_contain_text("Check the highlighted fields")
        dashboard.check()
        page.get_by_label("Experience of maria").fill("4,5")
        page.get_by_label("Your name").fill("Dr. Lena Marsh")
        page.get_by_label("Names of judges").fill("Amy Baxter\nBo Chen")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_have_text("Saved.")
        for text in ("problems/task-1.md", "problems/task-2.md", "consent.md"):
            expect(page.get_by_text(text)).to_be_visible()
            (site.path.parent / text).write_text("I take part.")
        page.reload()
        expect(page.get_by_text("Nothing is lacking.")).to_be_visible()
        page.get_by_role("link", name="Create links").click()
        page.get_by_role("button", name="Create 2 links and their messages").click()
        page.get_by_role("button", name="Send anyway").click()
        link = page.locator("input[value*='/j/']").first.input_value()
        page.goto(link)
        expect(page.get_by_text("I take part.")).to_be_visible()
        expect(page.get_by_text("Dr. Lena Marsh")).to_be_visible()
    spec = read_study(site.path)
    assert [(s.id, s.experience) for s in spec.subjects] == [("maria", 4.5)]
    assert [judge.name for judge in spec.judges] == ["Amy Baxter", "Bo Chen"]


def test_two_logs_in_two_commands(browser: Browser, tmp_path: Path) -> None:
    """The trial that starts at the shell; the statements are in the logs."""
    with browser.new_context() as context:
        assert first_link("logs", tmp_path, context.new_page()) > 0
