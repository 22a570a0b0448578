"""No work of a judge is lost: between tabs, on leaving, offline, submitting, or by the server."""

from __future__ import annotations

import re
import sqlite3
from functools import partial
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Error, expect

from tests.browser.judging import (
    Visit,
    accessible,
    choose,
    decide,
    escape,
    is_saved,
    is_somewhere,
    labels_in,
    press,
    rank_by_keys,
    reload,
    row,
    shown,
    spelled,
    submit,
    to_top,
)
from tests.browser.views import PHONE, objections
from tests.patience import until
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import APIResponse, Browser, Page, Route

# It also retries automatically, with exponential backoff.
ONLINE = "dispatchEvent(new Event('online'))"
SUBMITTING = re.compile(r'"submit":\s*true')


def is_taken_back(come: Visit, order: str) -> None:
    """The page stays and says so, and the newest order is stored as a draft."""
    expect(come.page.locator("#save-status")).to_contain_text("Saved as draft")
    expect(come.page.locator("#left")).to_contain_text("Submit again")
    # The page said so of an earlier order, too.
    until(lambda: spelled(come.stored()["state"]["ranked"]) == order, f"{order} to be stored")
    assert shown(come.page) == order
    assert not come.stored()["submitted"]


def comes(page: Page, done: Callable[[], object], what: str) -> None:
    """Wait for a condition while the page keeps running."""

    def look() -> object:
        page.wait_for_timeout(20)
        return done()

    until(look, what)


class Held:
    """The first save that a pattern matches is held back, or the server's answer to it."""

    def __init__(self, page: Page, *, arrived: bool, what: re.Pattern[str] = SUBMITTING) -> None:
        self.page, self.arrived, self.what = page, arrived, what
        self.route: Route | None = None
        self.answer: APIResponse | None = None
        page.route("**/state", self.take)

    def take(self, route: Route) -> None:
        if self.route or not self.what.search(route.request.post_data or ""):
            route.continue_()
            return
        self.route = route
        self.answer = route.fetch() if self.arrived else None

    def waiting(self) -> Route:
        """The request, once it is in flight."""
        comes(self.page, lambda: self.route and (self.answer or not self.arrived), "a save")
        assert self.route
        return self.route

    def release(self) -> None:
        if self.arrived:
            self.waiting().fulfill(response=self.answer)
        else:
            self.waiting().continue_()


def stored_order(come: Visit) -> str:
    return spelled(come.stored()["state"]["ranked"])


def says(page: Page, text: str) -> None:
    expect(page.locator("#save-status")).to_contain_text(text)


def test_a_full_storage_is_not_promised(visit: Callable[..., Visit]) -> None:
    come = visit()
    page = come.page
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    come.enter()
    come.context.set_offline(True)
    rank_by_keys(page, "A")
    says(page, "Offline")
    says(page, "Keep this page open")
    expect(page.locator("#save-status")).not_to_contain_text("Kept on this device")
    come.context.set_offline(False)
    come.equals_store()


def test_a_server_that_is_killed_or_busy(browser: Browser, tmp_path: Path) -> None:
    """Rankings and texts entered meanwhile are saved afterwards, also from a page that was left."""
    study = write_judging_study(tmp_path, problems=1, judges=1)
    with Served(study) as served:
        come = Visit(browser, served, "J0")
        page = come.enter(ranked="A")
        served.kill()
        rank_by_keys(page, "B")
        says(page, "Offline")
        served.start()
        page.evaluate(ONLINE)
        assert come.order() == "A B"
        other = sqlite3.connect(tmp_path / "study.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        rank_by_keys(page, "C")
        says(page, "Server busy")
        other.close()
        page.evaluate(ONLINE)
        until(lambda: stored_order(come) == "A B C", "the third to be stored")
        come.equals_store()
        served.kill()
        rank_by_keys(page, "DE")
        comment = page.get_by_label("Comment on this task")
        comment.press_sequentially("Close calls")
        says(page, "Offline. Kept on this device")
        url = page.url
        with pytest.raises(Error, match="ERR_CONNECTION_REFUSED"):
            page.reload()
        served.start()
        page.goto(url)
        expect(comment).to_have_value("Close calls")
        assert come.order() == "A B C D E"
        assert come.stored()["state"]["comment"] == "Close calls"
        come.close()


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_a_save_that_arrives_late_is_no_conflict(
    visit: Callable[..., Visit],
    late: bool,  # noqa: FBT001
) -> None:
    """A late save arrives before or after the task is reopened; further changes follow it."""
    come = visit()
    page = come.enter(ranked="A")
    sent = Held(page, arrived=not late, what=re.compile("."))
    rank_by_keys(page, "B")
    sent.waiting()
    rank_by_keys(page, "C")
    url = page.url
    # The page is left as it is: one that is closed ends what is held back.
    come.page = again = come.new_page()
    if late:
        next_save = Held(again, arrived=False, what=re.compile("."))
        again.goto(url)
        next_save.waiting()
        # Only the first of both changes: the page that sent it is gone.
        page.route("**/state", lambda route: route.abort())
        sent.release()
        comes(again, lambda: stored_order(come) == "A B", "the first change")
        next_save.release()
    else:
        again.goto(url)
    expect(again.locator("#ranked .chip")).to_have_count(3)
    assert come.order() == "A B C"
    expect(again.get_by_role("dialog")).to_have_count(0)


def test_the_same_order_in_two_tabs_is_no_conflict(visit: Callable[..., Visit]) -> None:
    come = visit()
    page = come.enter(ranked="AB")
    other = come.tab()
    rank_by_keys(other, "C")
    is_saved(other)
    for label, order in (("C", "A B C"), ("D", "A B C D")):
        rank_by_keys(page, label)
        assert come.order() == order
    expect(page.get_by_role("dialog")).to_have_count(0)


def in_conflict(visit: Callable[..., Visit]) -> tuple[Visit, Page, Page]:
    """Let a judge have A, B, D in one tab, and A, B, C saved by another."""
    come = visit()
    page = come.enter(ranked="AB")
    other = come.tab()
    rank_by_keys(other, "C")
    is_saved(other)
    rank_by_keys(page, "D")
    # A tab that nobody looks at is drawn once a second: each click would wait for that.
    page.bring_to_front()
    expect(page.get_by_role("dialog")).to_contain_text("changed in another tab")
    return come, page, other


def test_a_conflict_stays_open_until_it_is_decided(visit: Callable[..., Visit]) -> None:
    """It outlives Escape, saving in the other tab, reloads, and an attempt to submit."""
    come, page, other = in_conflict(visit)
    accessible(page, "asked for the order")
    resolve = page.get_by_role("button", name="Resolve conflict")
    # Somebody who ranks by keys may press Enter as the question comes up.
    page.keyboard.press("Enter")
    for leave in (escape, partial(decide, choice="")):
        leave(page)
        is_somewhere(page)
        says(page, "Not saved: choose a version")
        assert (shown(page), stored_order(come)) == ("A B D", "A B C")
        resolve.click()
    escape(page)
    accessible(page, "not decided")
    # Ranking continues and is stored locally, but not saved.
    rank_by_keys(page, "E")
    says(page, "Not saved")
    to_top(other, "C")
    is_saved(other)
    page.bring_to_front()
    for _ in range(2):
        page.reload()
        expect(page.get_by_role("dialog")).to_contain_text("holds an unsaved ranking")
        escape(page)
        is_somewhere(page)
    assert (shown(page), stored_order(come)) == ("A B D E", "C A B")
    rank_by_keys(page, "C")
    submit(page)
    decide(page, "mine")
    assert come.order() == "A B D E C"
    assert not come.stored()["submitted"]
    submit(page)
    come.has_submitted()
    reload(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_loading_the_newer_order_can_be_undone(visit: Callable[..., Visit]) -> None:
    """One's own order is not gone where the other one was shown; a comment is that of the other."""
    come, page, other = in_conflict(visit)
    decide(page, "newer")
    is_somewhere(page)
    assert come.order() == "A B C"
    page.locator("[data-do=undo]").first.click()
    assert come.order() == "A B D"
    for label in "CE":
        rank_by_keys(page, label)
    come.equals_store()
    other.reload()
    comment = other.get_by_label("Comment on this task")
    comment.fill("From the other tab")
    is_saved(other)
    page.bring_to_front()
    mine = page.get_by_label("Comment on this task")
    mine.press_sequentially("Mine")
    decide(page, "newer")
    expect(mine).to_have_value("From the other tab")


def test_a_submission_meets_a_change(visit: Callable[..., Visit]) -> None:
    """Keeping the own version of a submitted or changed order creates a draft."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    other = come.tab()
    to_top(other, "C")
    is_saved(other)
    submit(page)
    decide(page, "mine")
    is_taken_back(come, "A B C D E")
    reload(other)
    submit(other)
    expect(other.locator("#receipt")).to_be_visible()
    page.bring_to_front()
    to_top(page, "E")
    expect(page.get_by_role("dialog")).to_contain_text("submitted")
    decide(page, "mine")
    is_taken_back(come, "E A B C D")
    press(page, "E", "Alt+ArrowDown")
    is_taken_back(come, "A E B C D")


@pytest.mark.parametrize("how", ["offline", "arrived", "on its way", "lost"])
def test_a_change_takes_a_submission_back(visit: Callable[..., Visit], how: str) -> None:
    """Before the connection is back, or the answer is there, and where the answer was lost."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    if how == "offline":
        come.context.set_offline(True)
        submit(page)
        says(page, "Offline")
    else:
        held = Held(page, arrived=how != "on its way")
        submit(page)
        route = held.waiting()
    if how == "lost":
        route.abort()
        says(page, "Offline")
        assert come.stored()["submitted"]
    to_top(page, "E")
    if how == "offline":
        expect(page.locator("#left")).to_contain_text("Submit again")
        come.context.set_offline(False)
    elif how != "lost":
        held.release()
    is_taken_back(come, "E A B C D")
    submit(page)
    come.has_submitted()
    assert stored_order(come) == "E A B C D"


def test_only_an_answer_submits_and_only_once(visit: Callable[..., Visit]) -> None:
    """A double press of "Review and submit" asks; a second press on the way changes nothing."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    before = come.equals_store()
    page.locator("#ladder [data-do=submit]").dblclick()
    asked = page.get_by_role("dialog", name="All ranked. Is this your order?")
    expect(asked).to_contain_text("A > B > C > D > E")
    assert objections(page) == []
    decide(page, "")
    assert come.equals_store() == before
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    held = Held(page, arrived=False)
    page.locator("#place-now").click()
    decide(page, "yes")
    held.waiting()
    submit(page)
    held.release()
    come.has_submitted()
    assert come.stored()["revision"] == before["revision"] + 1


def test_a_submission_waits_for_what_is_written(visit: Callable[..., Visit]) -> None:
    """A comment, and the reason in an open dialog, are stored; the page does not go away."""
    come = visit()
    come.page.clock.install()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=True)
    submit(page)
    held.waiting()
    page.get_by_label("Comment on this task").press_sequentially("Wait")
    held.release()
    is_taken_back(come, "A B C D E")
    assert come.stored()["state"]["comment"] == "Wait"
    page.unroute("**/state")
    held = Held(page, arrived=True)
    submit(page)
    held.waiting()
    choose(page, "E", "cannot")
    page.get_by_label("Other reason").fill("Half of it is missing")
    held.release()
    says(page, "Submitted")
    page.clock.run_for(1000)
    page.locator("#cannot-reason [value=own]").click()
    is_taken_back(come, "A B C D")
    assert come.stored()["state"]["cannot"] == {"E": "Half of it is missing"}


def test_an_order_newer_than_the_submission_is_offered_later(
    visit: Callable[..., Visit],
) -> None:
    """A submitted ranking does not hide a later order that only this browser has."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=True)
    submit(page)
    held.waiting()
    to_top(page, "E")
    page.route("**/reopen", lambda route: route.abort())
    held.release()
    says(page, "Offline")
    assert come.stored()["submitted"]
    url = page.url
    # The page is left as it is, as after a crash: one that is closed would try once more.
    come.page = page = come.new_page()
    page.goto(url)
    expect(page.get_by_role("dialog")).to_contain_text("holds an unsaved ranking")
    decide(page, "mine")
    # Nothing had the focus when this was asked.
    is_somewhere(page)
    is_taken_back(come, "E A B C D")


def number_of(page: Page, letter: str) -> str:
    row(page, letter).click()
    text = page.locator(f"#reader[data-text^='{letter} '] .prose").text_content() or ""
    return text.partition("number ")[2].split(".")[0]


def letters(page: Page) -> dict[str, str]:
    labels = [label for area in ("ranked", "tray") for label in labels_in(page, area)]
    return {number_of(page, label): label for label in labels}


@pytest.mark.parametrize("how", ["open", "offline, then reloaded"])
def test_an_order_outlives_an_edit_of_the_study(browser: Browser, tmp_path: Path, how: str) -> None:
    """The page says what changed, keeps the order of the others, and submits what it shows."""
    study = write_judging_study(tmp_path, problems=1, judges=1)
    with Served(study) as served:
        come = Visit(browser, served, "J0")
        page = come.enter()
        of = letters(page)
        best_first = [of[number] for number in ("3", "0", "4", "2")]
        rank_by_keys(page, "".join(best_first[:3]))
        come.equals_store()
        if how != "open":
            page.route("**/state", lambda route: route.abort())
            rank_by_keys(page, best_first[3])
            says(page, "Offline")
        served.kill()
        old = tmp_path / "solutions" / "P0" / "S3.md"
        old.rename(old.with_name("S9.md")).write_text("Do thing number nine.\n")
        study.write_text(study.read_text().replace("id: S3,", "id: S9,"))
        served.start()
        if how == "open":
            rank_by_keys(page, best_first[3])
        else:
            page.unroute("**/state")
            page.reload()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(f"Solution {of['3']} is no longer part")
        expect(dialog).to_contain_text("Solution F is new and not ranked yet")
        accessible(page, "told what changed")
        dialog.get_by_role("button", name="OK").click()
        expect(page.locator("#tray .chip")).to_have_count(2)
        order = " ".join(best_first[1:])
        assert letters(page) == {n: x for n, x in of.items() if n != "3"} | {"nine": "F"}
        rank_by_keys(page, "F" + of["1"])
        assert come.order() == f"{order} F {of['1']}"
        submit(page)
        come.has_submitted()
        come.close()
