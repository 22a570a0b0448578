"""Placing by comparison, and the study's own questions beside it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    accessible,
    answer,
    follow,
    goes_on,
    place,
    rank_by_keys,
    row,
    submit,
    title,
)
from tests.browser.views import PHONE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser


def test_a_placement_is_one_change_and_its_undo_asks_again(visit: Callable[..., Visit]) -> None:
    """Back, Backspace, and Undo take answers back; stopping changes nothing."""
    come = visit()
    page = come.enter(ranked="ABC")
    before = come.equals_store()
    goes_on(page, partial(page.keyboard.press, "c"))
    question = title(page).inner_text()
    back = page.get_by_role("button", name="Back", exact=True)
    for way in (
        partial(page.keyboard.press, "Backspace"),
        partial(page.keyboard.press, "Control+z"),
        back.click,
    ):
        goes_on(page, page.locator("[data-verdict=better]").click)
        way()
        expect(title(page)).to_have_text(question)
        expect(title(page)).to_be_focused()
    # While comparing the ladder can be read, and nothing else.
    assert page.locator("#ranked, #tray").evaluate_all("parts => parts.every(one => one.inert)")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Escape")
    expect(title(page)).to_have_text("Solution D")
    assert come.equals_store() == before
    answers = place(page, "DABC")
    assert come.order() == "D A B C"
    assert come.stored()["revision"] == before["revision"] + 1
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".compare-head .meta")).to_contain_text(f"Question {answers}")
    assert come.order() == "A B C"
    # The answers before the last one stay, so that it is first, or second.
    answer(page, "ABCD")
    assert "D" in come.order().split()[:2]


QUESTIONS = """{questions: [
  {id: sure, about: placement, required: true},
  {id: clear, about: solution, kind: scale, text: How clear is it?, ends: [unclear, clear],
   required: true},
  {id: wrong, about: solution, kind: flag, text: Contains an error},
  {id: why, about: solution, kind: text, text: What would you change?},
  {id: hard, about: task, kind: choice, text: How hard was it?, options: [easy, hard],
   required: true},
  {id: more, about: study, kind: text, text: Anything else?}]}"""


def test_a_judge_answers_by_mouse_touch_and_keys(browser: Browser, tmp_path: Path) -> None:
    """What is lacking is listed in the review; answers are saved, undone, and last."""
    study = write_judging_study(tmp_path, problems=1, solvers=3, judges=1, judging=QUESTIONS)
    with Served(study) as served:
        come = Visit(browser, served, "J0", has_touch=True)
        answer_all(come)
        come.close()


def answer_all(come: Visit) -> None:
    page = come.enter()
    goes_on(page, page.locator("#main [data-do=next]").first.click)
    # In the message after a placement.
    place(page, "A")
    # It hides no button of the ladder.
    assert page.locator(".toast").evaluate("one => one.offsetLeft") >= 336
    page.locator(".toast").get_by_role("button", name="Fairly").tap()
    expect(page.locator(".toast")).to_have_count(0)
    # Below the text: a scale, a mark, a text, and back.
    questions = page.get_by_role("region", name="Questions on solution B")
    written = questions.get_by_label("What would you change?")
    questions.get_by_label("4").check()
    questions.get_by_label("Contains an error").check()
    written.fill("Its order.")
    for do, text in (("undo", ""), ("redo", "Its order.")):
        page.locator(f"[data-do={do}]").first.click()
        expect(written).to_have_value(text)
    # A single key works where the focus is on a choice.
    questions.get_by_label("4").focus()
    for key in "c=":
        goes_on(page, partial(page.keyboard.press, key))
    rank_by_keys(page, "C")
    page.get_by_role("button", name="Submit ranking").click()
    missing = page.get_by_role("region", name="Still to answer before you submit")
    expect(missing.locator("[data-answer]")).to_have_count(2)
    expect(missing.locator("[data-sure]").first).to_be_focused()
    assert not come.stored()["submitted"]
    accessible(page, "review")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    accessible(page, "review on a phone")
    for label in "BC":
        one = missing.locator(f"[data-sure=sure][data-label={label}]")
        one.tap()
        expect(one).to_have_count(0)
    for label in "AC":
        page.locator(f"[data-answer={label}]").tap()
        scale = page.get_by_role("region", name=f"Questions on solution {label}")
        expect(scale).to_be_focused()
        scale.get_by_label("1: unclear").check()
        row(page, label)
        page.locator("#ladder [data-do=submit]").tap()
        expect(title(page)).to_contain_text("All ranked")
    page.get_by_label("easy").check()
    expect(missing).to_have_count(0)
    submit(page)
    come.has_submitted()
    state = come.stored()["state"]
    scales = {"A": "1", "B": "4", "C": "1"}
    assert state["answers"] == {"clear": scales, "wrong": {"B": "yes"}, "hard": {"": "easy"}}
    assert state["written"] == {"why": {"B": "Its order."}}
    assert state["sure"] == {"A": "fairly", "B": "sure", "C": "sure"}
    follow(page.locator("#receipt .next"))
    page.get_by_label("Anything else?").fill("Thank you.")
    accessible(page, "last page")
    follow(page.get_by_role("button", name="Send answers"))
    expect(page.get_by_text("Your answers are saved.")).to_be_visible()
