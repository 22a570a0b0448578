"""No work of a judge is lost: not between tabs, on leaving, offline, nor by the server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    accessible,
    is_ready,
    is_saved,
    press,
    rank_by_keys,
    shown_ranking,
    submit,
    to_top,
)
from tests.browser.saving import (
    ABC,
    MINE,
    Held,
    is_taken_back,
    stored,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.judging import Visit


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_a_save_that_arrives_late_is_no_conflict(
    visit: Callable[..., Visit],
    late: bool,  # noqa: FBT001
) -> None:
    """What a page sent arrives before the group is opened anew, or after: the rest follows it."""
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
        while len(stored(come)["state"]["ranked"]) < 2:
            again.wait_for_timeout(20)
        next_save.release()
    else:
        again.goto(url)
    expect(again.locator("#ranked .chip")).to_have_count(3)
    assert come.equals_store()["state"]["ranked"] == ABC
    expect(again.get_by_role("dialog")).to_have_count(0)


def test_the_same_order_in_two_tabs_is_no_conflict(visit: Callable[..., Visit]) -> None:
    """Two tabs that come to the same order agree, and go on from it."""
    come = visit()
    page = come.enter(ranked="AB")
    other = come.new_page()
    other.goto(page.url)
    is_ready(other)
    rank_by_keys(other, "C")
    is_saved(other)
    rank_by_keys(page, "C")
    assert come.equals_store()["state"]["ranked"] == ABC
    rank_by_keys(page, "D")
    assert come.equals_store()["state"]["ranked"] == [*ABC, ["D"]]
    expect(page.get_by_role("dialog")).to_have_count(0)


def in_conflict(visit: Callable[..., Visit]) -> tuple[Visit, Page, Page]:
    """Let a judge have A, B, D in one tab, and A, B, C saved by another."""
    come = visit()
    page = come.enter(ranked="AB")
    other = come.new_page()
    other.goto(page.url)
    is_ready(other)
    rank_by_keys(other, "C")
    is_saved(other)
    rank_by_keys(page, "D")
    # A tab that nobody looks at is drawn once a second: each click would wait for that.
    page.bring_to_front()
    expect(page.get_by_role("dialog")).to_contain_text("changed in another tab")
    return come, page, other


def test_a_conflict_stays_open_until_it_is_decided(visit: Callable[..., Visit]) -> None:
    """Escape and "Decide later" choose nothing: the page says so, keeps the order and asks."""
    come, page, _ = in_conflict(visit)
    accessible(page, "asked for the order")
    mine = [["A"], ["B"], ["D"]]
    # Somebody who ranks by keys may press Enter as the question comes up.
    for keys in (["Enter", "Escape", "Escape"], ["Escape"], []):
        for key in keys:
            page.keyboard.press(key)
        if not keys:
            page.get_by_role("button", name="Decide later").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#save-status")).to_contain_text("Not saved: choose a version")
        assert shown_ranking(page) == mine
        assert stored(come)["state"]["ranked"] == ABC
        page.get_by_role("button", name="Resolve conflict").click()
    page.keyboard.press("Escape")
    accessible(page, "not decided")
    # Ranking goes on, and is kept, but not saved.
    rank_by_keys(page, "E")
    expect(page.locator("#save-status")).to_contain_text("Not saved")
    assert stored(come)["state"]["ranked"] == ABC
    page.get_by_role("button", name="Resolve conflict").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep this version").click()
    assert come.equals_store()["state"]["ranked"] == [*mine, ["E"]]
    expect(page.get_by_role("button", name="Resolve conflict")).to_have_count(0)


def test_showing_the_newer_order_can_be_undone(visit: Callable[..., Visit]) -> None:
    """One's own order is not gone where the other one was shown."""
    come, page, _ = in_conflict(visit)
    page.get_by_role("dialog").get_by_role("button", name="Load the newer version").click()
    assert come.equals_store()["state"]["ranked"] == ABC
    page.get_by_role("button", name="Undo").first.click()
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["D"]]


def test_submitting_asks_for_the_order_first(visit: Callable[..., Visit]) -> None:
    """Nobody submits an order past an undecided conflict."""
    come, page, _ = in_conflict(visit)
    page.keyboard.press("Escape")
    rank_by_keys(page, "CE")
    submit(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("changed in another tab")
    assert not stored(come)["submitted"]
    dialog.get_by_role("button", name="Keep this version").click()
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["D"], ["C"], ["E"]]
    submit(page)
    come.has_submitted()


def test_another_tab_does_not_remove_what_this_one_keeps(visit: Callable[..., Visit]) -> None:
    """An undecided order outlives saving in another tab, and a reload, and is offered again."""
    come, page, other = in_conflict(visit)
    page.keyboard.press("Escape")
    rank_by_keys(page, "E")
    to_top(other, "C")
    is_saved(other)
    for _ in range(2):  # Escape decides nothing after a reload either
        page.reload()
        expect(page.get_by_role("dialog")).to_contain_text("holds an unsaved ranking")
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Resolve conflict").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep this version").click()
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["D"], ["E"]]
    page.reload()
    is_ready(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_submission_that_meets_another_order_is_said_to_be_none(
    visit: Callable[..., Visit],
) -> None:
    """Who submits, and has to choose an order first, is told that it is not submitted yet."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    other = come.new_page()
    other.goto(page.url)
    to_top(other, "C")
    is_saved(other)
    submit(page)
    page.get_by_role("dialog").get_by_role("button", name="Keep this version").click()
    is_taken_back(come, [["A"], ["B"], ["C"], ["D"], ["E"]])
    submit(page)
    come.has_submitted()


def test_keeping_an_order_opens_what_was_submitted_elsewhere(visit: Callable[..., Visit]) -> None:
    """An order that is kept against a submitted one reopens the ranking, and can be changed."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    other = come.new_page()
    other.goto(page.url)
    submit(other)
    expect(other.locator("#receipt")).to_be_visible()
    to_top(page, "E")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("submitted")
    dialog.get_by_role("button", name="Keep this version").click()
    is_taken_back(come, MINE)
    press(page, "E", "Alt+ArrowDown")
    is_taken_back(come, [["A"], ["E"], ["B"], ["C"], ["D"]])


def test_the_newer_comment_is_shown_where_one_is_being_typed(visit: Callable[..., Visit]) -> None:
    """Who chooses the newer order sees its comment too, and typing on does not overwrite it."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    other = come.new_page()
    other.goto(page.url)
    other.get_by_label("Comment on this task").fill("From the other tab")
    is_saved(other)
    comment = page.get_by_label("Comment on this task")
    comment.press_sequentially("Mine")
    page.get_by_role("dialog").get_by_role("button", name="Load the newer version").click()
    expect(comment).to_have_value("From the other tab")


def test_words_typed_just_before_leaving_are_stored(visit: Callable[..., Visit]) -> None:
    """A comment is sent as soon as the judge leaves its field, or the page."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    page.get_by_label("Comment on this task").press_sequentially("Last words")
    page.get_by_role("link", name="All tasks").click()
    expect(page.get_by_role("heading", name="Your tasks")).to_be_visible()
    assert stored(come)["state"]["comment"] == "Last words"


def test_a_full_storage_is_not_promised(visit: Callable[..., Visit]) -> None:
    """Where the browser keeps nothing, the page does not say that it does."""
    come = visit()
    page = come.page
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    come.enter()
    come.context.set_offline(True)
    rank_by_keys(page, "A")
    status = page.locator("#save-status")
    expect(status).to_contain_text("Offline")
    expect(status).to_contain_text("Keep this page open")
    expect(status).not_to_contain_text("Kept on this device")
    come.context.set_offline(False)
    come.equals_store()
