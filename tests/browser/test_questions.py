"""The study's own questions on the ranking page and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import Visit, accessible, rank_by_keys, row, submit, title
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

QUESTIONS = """{questions: [
  {id: sure, about: placement, required: true},
  {id: clear, about: solution, kind: scale, text: How clear is it?, ends: [unclear, clear],
   required: true},
  {id: wrong, about: solution, kind: flag, text: Contains an error},
  {id: why, about: solution, kind: text, text: What would you change?},
  {id: hard, about: task, kind: choice, text: How hard was it?, options: [easy, hard],
   required: true},
  {id: more, about: study, kind: text, text: Anything else?}]}"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A study that asks."""
    study = write_judging_study(tmp_path, problems=1, solvers=3, judges=1, judging=QUESTIONS)
    with Served(study) as served:
        yield served


def test_a_judge_answers_by_mouse_touch_and_keys(browser: Browser, served: Served) -> None:
    """What is lacking is listed in the review; answers are saved, undone, and last."""
    come = Visit(browser, served, "J0", has_touch=True)
    page = come.enter()
    page.locator("#main [data-do=next]").first.click()
    # In the message after a placement.
    page.keyboard.press("c")
    page.locator(".toast").get_by_role("button", name="Fairly").tap()
    expect(page.locator(".toast")).to_have_count(0)
    # Below the text: a scale, a mark, a text, and back.
    questions = page.get_by_role("region", name="Questions on solution B")
    questions.get_by_label("4").check()
    questions.get_by_label("Contains an error").check()
    questions.get_by_label("What would you change?").fill("Its order.")
    page.locator("[data-do=undo]").first.click()
    expect(questions.get_by_label("What would you change?")).to_have_value("")
    page.locator("[data-do=redo]").first.click()
    expect(questions.get_by_label("What would you change?")).to_have_value("Its order.")
    # A single key works where the focus is on a choice.
    questions.get_by_label("4").focus()
    page.keyboard.press("c")
    expect(title(page)).to_contain_text("better")
    page.keyboard.press("=")
    rank_by_keys(page, "C")
    page.get_by_role("button", name="Submit ranking").click()
    missing = page.get_by_role("region", name="Still to answer before you submit")
    expect(missing.locator("[data-answer]")).to_have_count(2)
    expect(missing.locator("[data-sure]").first).to_be_focused()
    assert served.stored("J0", "P0")["submitted"] is False
    accessible(page, "review")
    page.set_viewport_size({"width": 390, "height": 844})
    accessible(page, "review on a phone")
    for _ in "BC":
        missing.locator("[data-sure=sure]").first.tap()
    for label in "AC":
        page.locator(f"[data-answer={label}]").tap()
        scale = page.get_by_role("region", name=f"Questions on solution {label}")
        expect(scale).to_be_focused()
        scale.get_by_label("1: unclear").check()
        row(page, label)
        page.locator("#ladder [data-do=submit]").tap()
    page.get_by_label("easy").check()
    expect(missing).to_have_count(0)
    submit(page)
    come.has_submitted()
    state = served.stored("J0", "P0")["state"]
    assert state["answers"] == {
        "clear": {"A": "1", "B": "4", "C": "1"}, "wrong": {"B": "yes"}, "hard": {"": "easy"},
    }  # fmt: skip
    assert state["written"] == {"why": {"B": "Its order."}}
    assert state["sure"] == {"A": "fairly", "B": "sure", "C": "sure"}
    page.locator("#receipt .next").click()
    page.get_by_label("Anything else?").fill("Thank you.")
    accessible(page, "last page")
    page.get_by_role("button", name="Send answers").click()
    expect(page.get_by_text("Your answers are saved.")).to_be_visible()
    come.close()
