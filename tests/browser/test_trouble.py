"""What happens to a judge: reloads, tabs, lost networks and servers that start anew."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Error, expect

from tests.browser.judging import (
    Visit,
    center,
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
    page = come.enter(ranked="ABC")
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


def test_offline_and_back(visit: Callable[..., Visit]) -> None:
    """Without a connection ranking goes on, the page says so, and saves when it is back."""
    come = visit()
    page = come.enter(ranked="A")
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
    page = come.enter(ranked="A")
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
        page = come.enter(ranked="A")
        served.kill()
        rank_by_keys(page, "BC")
        expect(page.locator("#save-status")).to_contain_text("Offline")
        served.start()
        assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"]]
        other = sqlite3.connect(tmp_path / "study.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        rank_by_keys(page, "D")
        expect(page.locator("#save-status")).to_contain_text("Server busy")
        other.close()
        until(lambda: served.stored("J0", "P0")["revision"] >= 4, "the fourth revision")
        assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"], ["D"]]
        come.close()


def test_a_reload_while_the_server_is_away_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    """What was ranked and typed without the server is there, and saved, once it is back."""
    study = write_judging_study(tmp_path, problems=1, solvers=3, judges=1)
    with Served(study) as served:
        come = Visit(browser, served, "J0")
        page = come.enter(ranked="A")
        come.equals_store()
        served.kill()
        rank_by_keys(page, "BC")
        page.get_by_label("Comment on this task").press_sequentially("Close calls")
        status = page.locator("#save-status")
        expect(status).to_contain_text("Offline. Kept on this device")
        url = page.url
        with pytest.raises(Error, match=r"ERR_CONNECTION_REFUSED"):
            page.reload()
        served.start()
        page.goto(url)
        expect(page.get_by_label("Comment on this task")).to_have_value("Close calls")
        stored = come.equals_store()
        assert stored["state"]["ranked"] == [["A"], ["B"], ["C"]]
        assert stored["state"]["comment"] == "Close calls"
        come.close()
