"""From a folder of an agent's work to the first judge's link, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from quem.cli import main
from quem.studyfile.reading import read_study
from tests.browser.judging import follow
from tests.browser.test_dashboard import at_dashboard
from tests.importing.made import write_tree
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
        years = page.get_by_label("Experience of maria")
        years.fill("many")
        expect(page.get_by_role("row", name="maria").get_by_label("a person")).to_be_checked()
        follow(page.locator("#save"))
        expect(page.get_by_role("alert")).to_contain_text("Check the highlighted fields")
        dashboard.check()
        years.fill("4,5")
        page.get_by_label("Your name").fill("Dr. Lena Marsh")
        page.get_by_label("Names of judges").fill("Amy Baxter\nBo Chen")
        expect(page.get_by_text("Not saved yet.")).to_be_visible()
        follow(page.locator("#save"))
        expect(page.locator(".said")).to_contain_text("maria: a person, 4.5 years")
        expect(page.get_by_text("Not saved yet.")).to_be_hidden()
        dashboard.check()
        for text in ("problems/task-1.md", "problems/task-2.md", "consent.md"):
            expect(page.get_by_text(text)).to_be_visible()
            (site.path.parent / text).write_text("I take part.")
        expect(page.get_by_text("work only on this computer")).to_be_visible()
        # The window is looked at again: what was written is no longer missing.
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.get_by_text("Nothing is missing.")).to_be_visible()
        dashboard.check()
        page.get_by_label("Institution").fill("ETH")
        follow(page.get_by_role("button", name="Open the study and show links"))
        follow(page.get_by_role("button", name="Send anyway"))
        expect(page.get_by_text("The study is open.")).to_be_visible()
        dashboard.check()
        page.goto(page.locator("input[value*='/j/']").first.input_value())
        for text in ("I take part.", "Dr. Lena Marsh"):
            expect(page.get_by_text(text)).to_be_visible()
    spec = read_study(site.path)
    assert [(s.id, s.experience) for s in spec.subjects] == [("maria", 4.5)]
    assert [judge.name for judge in spec.judges] == ["Amy Baxter", "Bo Chen"]
    assert spec.organizer.institution == "ETH"


def test_nothing_typed_is_lost(browser: Browser, site: Site) -> None:
    """A reload, a second tab, and what another tab has saved leave what was typed."""
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        page.get_by_label("Names of judges").fill("Amy")
        page.get_by_label("Experience of maria").fill("7")
        page.reload()
        expect(page.get_by_label("Names of judges")).to_have_value("Amy")
        expect(page.get_by_label("Experience of maria")).to_have_value("7")
        expect(page.get_by_role("row", name="maria").get_by_label("a person")).to_be_checked()
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.get_by_label("Names of judges")).to_have_value("Amy")
        page.get_by_label("Telephone").fill("123")
        other.get_by_label("Institution").fill("ETH")
        follow(other.locator("#save"))
        expect(other.locator(".said")).to_contain_text("Judge: Amy")
        expect(other.get_by_label("Telephone")).to_have_value("123")
        page.get_by_label("Title of the study").fill("Plans")
        follow(page.locator("#save"))
        expect(page.locator(".said")).to_contain_text("Title: Plans")
        expect(page.get_by_text("Not saved yet.")).to_be_hidden()
        # Choosing "a system" after entering years can be reverted.
        atlas = page.get_by_role("row", name="atlas")
        years = page.get_by_label("Experience of atlas")
        years.fill("3")
        for kind, value in (("a system", ""), ("a person", "3")):
            atlas.get_by_label(kind).check()
            expect(years).to_have_value(value)
        page.get_by_role("button", name="Discard").click()
        expect(years).to_have_value("")
        expect(page.get_by_text("Not saved yet.")).to_be_hidden()
    spec = read_study(site.path)
    assert (spec.title, spec.organizer.institution, spec.organizer.phone) == ("Plans", "ETH", "123")
    assert [judge.name for judge in spec.judges] == ["Amy"]
    assert [(s.id, s.experience) for s in spec.subjects] == [("maria", 7)]
