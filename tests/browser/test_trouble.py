"""What happens to a judge: reloads, tabs, lost networks and servers that start anew."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    begin,
    center,
    is_ready,
    is_saved,
    rank_by_keys,
    row,
    shown_ranking,
)
from tests.patience import until
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser


def test_reload_in_the_middle_of_a_drag(visit: Callable[..., Visit]) -> None:
    """A page that is reloaded while a solution is in the air comes back as it was saved."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "ABC")
    before = come.equals_store()["state"]["ranked"]
    page.mouse.move(*center(row(page, "C")))
    page.mouse.down()
    page.mouse.move(*center(page.locator("#tray")), steps=8)
    page.reload()
    expect(page.locator("#ranked .chip")).to_have_count(3)
    assert shown_ranking(page) == before
    page.mouse.up()
    come.page = page
    rank_by_keys(page, "D")
    come.equals_store()


@pytest.mark.parametrize("keep", [True, False], ids=["keep mine", "show newer"])
def test_two_tabs_cannot_overwrite_each_other_unseen(
    visit: Callable[..., Visit],
    keep: bool,  # noqa: FBT001
) -> None:
    """The second tab is told and offered the newer order, or keeps its own knowingly."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "AB")
    come.equals_store()
    other = come.new_page()
    other.goto(page.url)
    is_ready(other)
    rank_by_keys(other, "C")
    is_saved(other)
    rank_by_keys(page, "D")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("changed in another tab")
    assert come.served.stored(come.judge, "P0")["state"]["ranked"] == [["A"], ["B"], ["C"]]
    name = "Keep this version" if keep else "Load the newer version"
    dialog.get_by_role("button", name=name).click()
    expected = [["A"], ["B"], ["D"]] if keep else [["A"], ["B"], ["C"]]
    assert come.equals_store()["state"]["ranked"] == expected
    assert shown_ranking(page) == expected


def test_offline_and_back(visit: Callable[..., Visit]) -> None:
    """Without a connection ranking goes on, the page says so, and saves when it is back."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "A")
    come.equals_store()
    come.context.set_offline(True)
    rank_by_keys(page, "BC")
    expect(page.locator("#save-status")).to_contain_text("Offline")
    assert come.served.stored(come.judge, "P0")["state"]["ranked"] == [["A"]]
    come.context.set_offline(False)
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"]]


def test_what_could_not_be_saved_is_there_after_closing_the_page(
    visit: Callable[..., Visit],
) -> None:
    """An order that was made offline is restored and saved when the page is opened again."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "A")
    come.equals_store()
    come.context.set_offline(True)
    rank_by_keys(page, "BC")
    expect(page.locator("#save-status")).to_contain_text("Offline")
    url = page.url
    page.close()
    come.context.set_offline(False)
    come.page = come.new_page()
    come.page.goto(url)
    expect(come.page.locator("#ranked .chip")).to_have_count(3)
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"]]


def test_a_restart_of_the_server_is_survived(browser: Browser, tmp_path: Path) -> None:
    """What is ranked while the server is away, or its database locked, is saved afterwards."""
    study = write_judging_study(tmp_path, problems=1, judges=1)
    with Served(study) as served:
        come = Visit(browser, served, "J0")
        page = come.page
        page.goto(served.links["J0"])
        begin(page)
        is_ready(page)
        rank_by_keys(page, "A")
        come.equals_store()
        served.kill()
        rank_by_keys(page, "BC")
        expect(page.locator("#save-status")).to_contain_text("Offline")
        served.start()
        page.wait_for_timeout(200)
        assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"]]
        other = sqlite3.connect(tmp_path / "study.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        rank_by_keys(page, "D")
        expect(page.locator("#save-status")).to_contain_text("Server busy")
        other.close()
        until(lambda: served.stored("J0", "P0")["revision"] >= 4, "the fourth revision")
        assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"], ["D"]]
        come.close()
