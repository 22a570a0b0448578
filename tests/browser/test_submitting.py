"""A submission can be taken back wherever it is, and nothing of it is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import objections
from tests.browser.judging import choose, submit, to_top
from tests.browser.saving import (
    MINE,
    Held,
    is_taken_back,
    stored,
)
from tests.browser.views import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.judging import Visit


def test_a_change_takes_back_a_submission_that_waits_offline(visit: Callable[..., Visit]) -> None:
    """What is changed after submitting offline is saved as a draft, which is submitted anew."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    come.context.set_offline(True)
    submit(page)
    expect(page.locator("#save-status")).to_contain_text("Offline")
    to_top(page, "E")
    expect(page.locator("#left")).to_contain_text("Submit again")
    come.context.set_offline(False)
    is_taken_back(come, MINE)
    submit(page)
    come.has_submitted()
    assert stored(come)["state"]["ranked"] == MINE


@pytest.mark.parametrize("arrived", [True, False], ids=["arrived", "on its way"])
def test_a_change_takes_back_a_submission_in_flight(
    visit: Callable[..., Visit],
    arrived: bool,  # noqa: FBT001
) -> None:
    """A change between a submission and its answer is saved, whoever is first."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=arrived)
    submit(page)
    held.waiting()
    to_top(page, "E")
    held.release()
    is_taken_back(come, MINE)
    submit(page)
    come.has_submitted()
    assert stored(come)["state"]["ranked"] == MINE


def test_a_submission_whose_answer_is_lost_can_be_taken_back(visit: Callable[..., Visit]) -> None:
    """Where the server has a submission that the page believes waiting, a change still counts."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=True)
    submit(page)
    held.waiting()
    held.lose()
    expect(page.locator("#save-status")).to_contain_text("Offline")
    assert stored(come)["submitted"]
    to_top(page, "E")
    is_taken_back(come, MINE)


def test_the_button_that_leads_to_the_review_asks_once_more(visit: Callable[..., Visit]) -> None:
    """A double press of "Review and submit" submits nothing; only an answer does."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    before = come.equals_store()
    review = page.locator("#ladder [data-do=submit]")
    review.dblclick()
    asked = page.get_by_role("dialog", name="All ranked. Is this your order?")
    expect(asked).to_contain_text("A > B > C > D > E")
    assert objections(page) == []
    asked.get_by_role("button", name="Cancel").click()
    assert come.equals_store() == before
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.locator("#place-now").click()
    asked.get_by_role("button", name="Submit ranking").click()
    come.has_submitted()


def test_submitting_twice_is_submitting_once(visit: Callable[..., Visit]) -> None:
    """A second press while the first is on its way changes nothing."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    before = come.equals_store()["revision"]
    held = Held(page, arrived=False)
    submit(page)
    submit(page)
    held.release()
    come.has_submitted()
    assert stored(come)["revision"] == before + 1


def test_a_comment_that_is_being_typed_takes_a_submission_back(visit: Callable[..., Visit]) -> None:
    """Words that are typed while a submission is on its way stay, and are stored."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=True)
    submit(page)
    page.get_by_label("Comment on this task").press_sequentially("Wait")
    held.release()
    is_taken_back(come, [["A"], ["B"], ["C"], ["D"], ["E"]])
    assert stored(come)["state"]["comment"] == "Wait"


def test_a_submission_waits_for_an_open_dialog(visit: Callable[..., Visit]) -> None:
    """The page does not go away under a judge who is giving a reason; the reason is stored."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=True)
    submit(page)
    choose(page, "E", "Cannot judge")
    page.get_by_label("Other reason").fill("Half of it is missing")
    held.release()
    expect(page.locator("#save-status")).to_contain_text("Submitted")
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Mark as “cannot judge”").click()
    is_taken_back(come, [["A"], ["B"], ["C"], ["D"]])
    assert stored(come)["state"]["cannot"] == {"E": "Half of it is missing"}


def test_a_reason_counts_where_the_dialog_was_closed_just_before(
    visit: Callable[..., Visit],
) -> None:
    """Browsers tell late that a dialog was closed; that is no answer to the next question."""
    come = visit()
    page = come.enter()
    choose(page, "A", "Cannot judge")
    page.evaluate("""() => {
        document.getElementById("cannot-reason").close("");
        document.querySelector("#ladder [data-more=E]").click();
        document.querySelector(".menu [data-act=cannot]").click();
    }""")
    page.get_by_label("Other reason").fill("Half of it is missing")
    page.get_by_role("button", name="Mark as “cannot judge”").click()
    # The dialog's answer comes a moment after the click; until then all is still saved.
    expect(page.locator("#cannot .chip[data-label=E]")).to_be_visible()
    assert come.equals_store()["state"]["cannot"] == {"E": "Half of it is missing"}


def test_an_order_newer_than_the_submission_is_offered_later(
    visit: Callable[..., Visit],
) -> None:
    """A submitted ranking does not hide a later order that only this browser has."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    held = Held(page, arrived=True)
    submit(page)
    to_top(page, "E")
    page.route("**/reopen", lambda route: route.abort())
    held.release()
    expect(page.locator("#save-status")).to_contain_text("Offline")
    assert stored(come)["submitted"]
    url = page.url
    # The page is left as it is, as after a crash: one that is closed would try once more.
    come.page = page = come.new_page()
    page.goto(url)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("holds an unsaved ranking")
    dialog.get_by_role("button", name="Keep this version").click()
    is_taken_back(come, MINE)
    submit(page)
    come.has_submitted()
