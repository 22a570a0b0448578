"""Placing by comparison: what is asked, what is stored, and what can be taken back."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    answer,
    choose,
    is_saved,
    rank_by_keys,
    row,
    shown_ranking,
    submit,
    title,
)
from tests.browser.views import EVERY_VIEW, PHONE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

ORDER = "CADBE"


def test_answers_are_stored_beside_the_order(visit: Callable[..., Visit]) -> None:
    """Which was compared with which, what was said, on which side the new one was, and how long."""
    come = visit()
    page = come.enter()
    page.get_by_role("button", name="Read the first solution").click()
    count = 0
    for _ in ORDER:
        page.keyboard.press("c")
        count += answer(page, ORDER)
    assert shown_ranking(page) == [[label] for label in ORDER]
    state = come.equals_store()["state"]
    comparisons: list[dict[str, Any]] = state["comparisons"]
    assert len(comparisons) == count <= 1 + 2 + 2 + 3
    for one in comparisons:
        assert set(one) == {"new", "other", "verdict", "side", "seconds"}
        is_better = ORDER.index(one["new"]) < ORDER.index(one["other"])
        assert one["verdict"] == ("better" if is_better else "worse")
        assert 0 <= one["seconds"] < 60
    sides = {one["new"]: one["side"] for one in comparisons}
    assert all(sides[one["new"]] == one["side"] for one in comparisons), "a side is fixed"
    assert state["placed_by"] == dict.fromkeys(ORDER, "compare")


def test_a_placement_is_one_change_and_its_undo_asks_again(visit: Callable[..., Visit]) -> None:
    """Back, Backspace, and Undo take answers back; stopping changes nothing."""
    come = visit()
    page = come.enter(ranked="ABC")
    before = come.equals_store()
    page.keyboard.press("c")
    expect(title(page)).to_be_focused()
    question = title(page).inner_text()
    for way in ("Backspace", "Control+z", "button"):
        page.locator("[data-verdict=better]").click()
        assert title(page).inner_text() != question
        if way == "button":
            page.get_by_role("button", name="Back", exact=True).click()
        else:
            page.keyboard.press(way)
        expect(title(page)).to_have_text(question)
        expect(title(page)).to_be_focused()
    # While comparing the ladder can be read, and nothing else.
    assert page.locator("#ranked, #tray").evaluate_all("parts => parts.every(one => one.inert)")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Escape")
    expect(title(page)).to_have_text("Solution D")
    assert come.equals_store() == before
    page.keyboard.press("c")
    answers = answer(page, "DABC")
    after = come.equals_store()
    assert after["revision"] == before["revision"] + 1
    assert after["state"]["ranked"] == [["D"], ["A"], ["B"], ["C"]]
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".compare-head .meta")).to_contain_text(f"Question {answers}")
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"]]
    # The answers before the last one stay, so that it is first, or second.
    answer(page, "ABCD")
    assert ["D"] in come.equals_store()["state"]["ranked"][:2]


def test_a_double_click_answers_once(visit: Callable[..., Visit]) -> None:
    """The second press of a double click is no answer to the next question; nor is a held key."""
    page = visit().enter(ranked="ABC")
    page.keyboard.press("c")
    page.locator("[data-verdict=better]").dblclick()
    expect(page.locator(".compare-head .meta")).to_contain_text("Question 2")
    page.keyboard.press("Backspace")
    page.locator("#compare-title").focus()
    page.keyboard.down("=")
    page.keyboard.down("=")
    page.keyboard.up("=")
    expect(title(page)).to_have_text("Solution E")


def test_arrows_scroll_in_a_text_and_answer_outside(visit: Callable[..., Visit]) -> None:
    """With the focus in a pane the arrows are the browser's."""
    page = visit().enter()
    long = page.locator("#tray .chip", has_text="Long")
    label = str(long.get_attribute("data-label"))
    others = [one for one in "ABCDE" if one != label]
    rank_by_keys(page, "".join(others[:2]))
    row(page, label).click()
    page.keyboard.press("c")
    body = page.locator(f".pane[data-pane='{label}'] .body")
    body.focus()
    for key in ("ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    expect(title(page)).to_contain_text("Which is better")
    # From the title the vertical ones scroll the panes; a long text beside a short one, alone.
    page.locator("#compare-title").focus()
    page.keyboard.press("PageDown")
    assert body.evaluate("body => body.scrollTop") > 100
    expect(page.get_by_role("button", name="Scroll together")).to_have_attribute(
        "aria-pressed", "false"
    )
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Scroll together")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_two_ranked_solutions_are_compared(visit: Callable[..., Visit]) -> None:
    """An answer against the order moves the winner directly above, which is one change."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    # In the review: neighbors; the answer agrees.
    page.get_by_role("button", name="Compare A and B").click()
    expect(page.locator(".compare")).to_be_visible()
    answer(page, "ABCDE")
    expect(page.locator("#announcement")).to_have_text("Your answer agrees with the order.")
    expect(title(page)).to_have_text("All ranked. Is this your order?")
    choose(page, "E", "Compare with…")
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^B")).click()
    expect(page.locator(".compare")).to_be_visible()
    answer(page, "AECDB")
    assert shown_ranking(page) == [["A"], ["E"], ["B"], ["C"], ["D"]]
    page.get_by_role("button", name="Compare C and D").click()
    expect(page.locator(".compare")).to_be_visible()
    page.keyboard.press("=")
    state = come.equals_store()["state"]
    assert state["ranked"] == [["A"], ["E"], ["B"], ["C", "D"]]
    verdicts = [(c["new"], c["other"], c["verdict"]) for c in state["comparisons"]]
    assert verdicts == [("B", "A", "worse"), ("E", "B", "better"), ("D", "C", "equal")]
    page.keyboard.press("Control+z")
    assert come.equals_store()["state"]["ranked"] == [["A"], ["E"], ["B"], ["C"], ["D"]]


def test_one_tie_of_all_is_asked_about_once(visit: Callable[..., Visit]) -> None:
    """It may be meant, and it may be a slip."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    for label in "BCDE":
        choose(page, label, "Tie with above")
    submit(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You tied all 5 solutions. Is that right?")
    dialog.get_by_role("button", name="Cancel").click()
    assert not come.equals_store()["submitted"]
    submit(page)
    dialog.get_by_role("button", name="Submit ranking").click()
    come.has_submitted()


def test_the_review_names_what_was_never_opened(visit: Callable[..., Visit]) -> None:
    """Whoever ranks without reading is told which; also after a reload."""
    come = visit()
    page = come.enter()
    page.get_by_role("button", name="Read the first solution").click()
    rank_by_keys(page, "E")
    choose(page, "D", "Add at top")
    # A was in hand all the time; B, C were never.
    for label in "BC":
        choose(page, label, "Add at bottom")
    rank_by_keys(page, "A")
    note = page.locator("#main .note")
    expect(note).to_have_text("You have not opened B, C, D, and E.")
    is_saved(page)
    page.reload()
    expect(note).to_contain_text("You have not opened")


@pytest.mark.parametrize(
    "way", ["keys", "mouse", "touch"] if EVERY_VIEW in os.environ else ["touch"]
)
def test_fourteen_are_ranked_in_one_way_alone(browser: Browser, tmp_path: Path, way: str) -> None:
    """To the same order, by at most 41 answers, and nothing has to be scrolled.

    `nox -s trials -- views` tries all ways.
    """
    study = write_judging_study(tmp_path, problems=1, solvers=14, judges=1)
    for place, path in enumerate(sorted((tmp_path / "solutions" / "P0").glob("*.md"))):
        words = 8000 if place in (4, 9) else 500
        path.write_text(f"Quality {place:02}.\n\n" + "A word or two more. " * (words // 5))
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    press = {"keys": "", "mouse": "click", "touch": "tap"}[way]
    begin = "#place-now" if way == "touch" else ".reader-head [data-do=place]"
    with Served(study) as served:
        come = Visit(browser, served, "J0", **(phone if way == "touch" else {}))
        page = come.enter()
        quality = qualities(page)
        page.locator("#main [data-do=next]").click()
        answers = 0
        for _ in range(14):
            if way == "keys":
                page.keyboard.press("c")
            else:
                getattr(page.locator(begin), press)()
            while page.locator(".compare").count():
                left, right = (str(p.get_attribute("data-pane")) for p in panes(page))
                side = "left" if quality[left] > quality[right] else "right"
                if way == "keys":
                    page.keyboard.press(f"Arrow{side.title()}")
                else:
                    getattr(page.locator(f"[data-side={side}]"), press)()
                answers += 1
            assert page.evaluate("[scrollY, document.querySelector('#reader').scrollTop]") == [0, 0]
        assert answers <= 41
        ranked = come.equals_store()["state"]["ranked"]
        assert [quality[label] for tied in ranked for label in tied] == [*reversed(range(14))]
        come.close()


def qualities(page: Page) -> dict[str, int]:
    """How good each solution says that it is, by label."""
    found: list[list[str]] = page.locator(".chip").evaluate_all(
        "chips => chips.map(c => [c.dataset.label, c.querySelector('.snippet').textContent])"
    )
    return {label: int(text.split()[1].rstrip(".")) for label, text in found}


def panes(page: Page) -> list[Locator]:
    """Both solutions of a question."""
    return page.locator(".pane").all()
