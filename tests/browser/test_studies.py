"""Two studies of one server in one browser: each keeps what is its own, offline too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from quem.store.judges import issue_link, judge_named
from tests.browser.judging import is_ready, is_saved, rank_by_keys
from tests.browser.test_offline import keep_all, left_over
from tests.served import waitress_serving, write_judging_study
from webjudge.studies import StudiesFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture
def links(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A judge's link in each of two studies that are judged offline."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        judging = "{offline: true}"
        study = write_judging_study(tmp_path / name, solvers=3, judges=1, judging=judging)
        study.write_text(study.read_text().replace("id: made-up", f"id: {name}"))
    studies = StudiesFolder(tmp_path)
    with waitress_serving(studies) as base:
        found = {}
        for key, site in studies.opened():
            with site.store.write() as c:
                token = issue_link(c, judge_named(c, site.id, "J0"), "shell")
            found[site.id] = f"{studies.base(key, base)}/j/{token}"
        yield found
    studies.close()


def test_two_studies_in_one_browser(browser: Browser, links: dict[str, str]) -> None:
    """Both are there offline; signing out of one leaves the other's copies and its login."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    one, two = context.new_page(), context.new_page()
    complaints: list[str] = []
    for page, link in ((one, links["one"]), (two, links["two"])):
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(link)
        keep_all(page)
    assert left_over(one)["workers"] == 2
    assert len(left_over(one)["caches"]) == 2
    one.locator("a.primary").click()
    is_ready(one)
    context.set_offline(offline=True)
    one.locator("body").press("n")
    rank_by_keys(one, "A")
    expect(one.locator("#save-status")).to_contain_text("Offline. Kept on this device")
    context.set_offline(offline=False)
    two.locator("#sign-out button").click()
    expect(two.get_by_role("heading", name="You are signed out")).to_be_visible()
    assert left_over(one)["workers"] == 1
    is_saved(one)
    one.reload()
    is_ready(one)
    expect(one.locator("#ranked .chip")).to_have_count(1)
    two.goto(links["two"])
    expect(two.locator("a.primary")).to_be_visible()
    context.close()
    assert complaints == []
