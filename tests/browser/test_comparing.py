"""Placing by comparison: what is asked, what is stored, and what can be taken back."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    answer,
    choose,
    goes_on,
    is_saved,
    place,
    rank_by_keys,
    reload,
    title,
)
from tests.browser.views import EVERY_VIEW, PHONE, WIDE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, FloatRect, Locator, Page

ORDER = "CADBE"


def test_answers_are_stored_beside_the_order(visit: Callable[..., Visit]) -> None:
    """Which was compared with which, what was said, on which side the new one was, and how long."""
    come = visit()
    page = come.enter()
    goes_on(page, page.locator("#main [data-do=next]").click)
    count = sum(place(page, ORDER) for _ in ORDER)
    assert come.order() == " ".join(ORDER)
    state = come.stored()["state"]
    comparisons: list[dict[str, Any]] = state["comparisons"]
    assert len(comparisons) == count <= 1 + 2 + 2 + 3
    for one in comparisons:
        assert set(one) == {"new", "other", "verdict", "side", "seconds"}
        is_better = ORDER.index(one["new"]) < ORDER.index(one["other"])
        assert one["verdict"] == ("better" if is_better else "worse")
        assert 0 <= one["seconds"] < 600
    sides = {one["new"]: one["side"] for one in comparisons}
    assert all(sides[one["new"]] == one["side"] for one in comparisons), "a side is fixed"
    assert state["placed_by"] == dict.fromkeys(ORDER, "compare")


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


def test_the_review_names_what_was_never_opened(visit: Callable[..., Visit]) -> None:
    """The review lists unopened solutions, also after a reload."""
    page = visit().enter()
    goes_on(page, page.locator("#main [data-do=next]").click)
    rank_by_keys(page, "E")
    for label, act in zip("DBC", ("best", "worst", "worst"), strict=True):
        choose(page, label, act)
    # A was in hand all the time; the others never.
    rank_by_keys(page, "A")
    note = page.locator("#main .note")
    expect(note).to_have_text("You have not opened B, C, D, and E.")
    is_saved(page)
    reload(page)
    expect(note).to_contain_text("You have not opened")


@pytest.mark.parametrize("how", ["press", "click", "tap"] if EVERY_VIEW in os.environ else ["tap"])
def test_fourteen_are_ranked_in_one_way_alone(browser: Browser, tmp_path: Path, how: str) -> None:
    """To the same order, by at most 41 answers, and nothing has to be scrolled.

    `nox -s trials -- views` tries all ways.
    """
    study = write_judging_study(tmp_path, problems=1, solvers=14, judges=1)
    for number, path in enumerate(sorted((tmp_path / "solutions" / "P0").glob("*.md"))):
        words = 8000 if number in (4, 9) else 500
        path.write_text(f"Quality {number:02}.\n\n" + "A word or two more. " * (words // 5))
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    with Served(study) as served:
        come = Visit(browser, served, "J0", **(phone if how == "tap" else {}))
        page = come.enter()
        texts: dict[str, str] = page.locator(".chip").evaluate_all(
            "all => Object.fromEntries(all.map(c => [c.dataset.label, c.textContent]))"
        )
        quality = {label: int(text.split("Quality ")[1][:2]) for label, text in texts.items()}
        best_first = sorted(quality, key=lambda label: -quality[label])
        goes_on(page, page.locator("#main [data-do=next]").click)
        answers = 0
        for _ in quality:
            answers += place(page, best_first, how)
            assert page.evaluate("[scrollY, document.querySelector('#reader').scrollTop]") == [0, 0]
        assert answers <= 41
        assert come.order() == " ".join(best_first)
        come.close()


def box_of(part: Locator) -> FloatRect:
    """Where a part of a page is."""
    box = part.bounding_box()
    assert box is not None
    return box


def test_a_phone_shows_one_row_above_what_is_compared(visit: Callable[..., Visit]) -> None:
    """The new solution is on the side where a laptop has it; a message hides no button."""
    page = visit().enter(ranked="A")
    sides = {}
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        sides[size["width"]] = [new_side(page, label) for label in "BCDE"]
    assert sides[WIDE["width"]] == sides[PHONE["width"]]
    head, body = (box_of(page.locator(part)) for part in (".compare-head", ".pane.is-shown"))
    assert head["height"] <= 56
    assert head["y"] + head["height"] == body["y"]
    controls = [box_of(one) for one in page.locator(".compare-head button:visible").all()]
    assert len({round(box["y"] + box["height"] / 2) for box in controls}) == 1, "one row"
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_visible()
    # After a solution is placed, the next one can be placed at the end of its text.
    answer(page, "ABCDE", "click")
    end = page.locator(".end-of-text [data-do=place]")
    end.scroll_into_view_if_needed()
    page.locator("#reader").evaluate("reader => { reader.scrollTop = reader.scrollHeight; }")
    toast = box_of(page.locator(".toast"))
    for box in (box_of(one) for one in (page.locator("#reader"), end, page.locator("#place-now"))):
        assert box["y"] + box["height"] <= toast["y"] or toast["y"] + toast["height"] <= box["y"]
    goes_on(page, end.click)
    expect(title(page)).to_be_focused()


def new_side(page: Page, label: str) -> str:
    """The side of a new solution while it is compared, as the buttons below have it."""
    page.evaluate("label => document.querySelector(`[data-open=${label}]`).click()", label)
    page.keyboard.press("c")
    expect(title(page)).to_contain_text(label)
    button = page.locator("[data-verdict=better]")
    side, box = button.get_attribute("data-side"), box_of(button)
    width = (page.viewport_size or WIDE)["width"]
    assert side == ("left" if box["x"] < width / 2 - box["width"] / 2 else "right")
    if page.locator(".pane-switch").is_visible():
        first = page.locator(".pane-switch button").first
        assert (first.get_attribute("data-show") == label) == (side == "left")
    if label != "E":
        page.keyboard.press("Escape")
        expect(title(page)).to_have_text(f"Solution {label}")
    return side
