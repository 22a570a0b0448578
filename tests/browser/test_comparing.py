"""Placing by comparison: what is asked, what is stored, and what can be taken back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    answer,
    choose,
    is_saved,
    rank_by_keys,
    shown_ranking,
    title,
)
from tests.browser.views import EVERY_VIEW, PHONE, WIDE
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


def test_a_phone_shows_one_row_above_what_is_compared(visit: Callable[..., Visit]) -> None:
    """The new solution is on the side where a laptop has it, and nothing else takes height."""
    come = visit()
    page = come.enter(ranked="A")
    sides = {}
    for name, size in (("wide", WIDE), ("phone", PHONE)):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        sides[name] = [new_side(page, label) for label in "BCDE"]
    assert sides["wide"] == sides["phone"]
    head, body = (page.locator(part).bounding_box() for part in (".compare-head", ".pane.is-shown"))
    assert head is not None
    assert body is not None
    assert head["height"] <= 56
    assert head["y"] + head["height"] == body["y"]
    controls = page.locator(".compare-head button:visible")
    assert len({round(middle(one)) for one in controls.all()}) == 1, "one row"
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_visible()


def middle(control: Locator) -> float:
    """The height of the middle of a control on the page."""
    box = control.bounding_box()
    assert box is not None
    return box["y"] + box["height"] / 2


def new_side(page: Page, label: str) -> str:
    """The side of a new solution while it is compared, as the buttons below have it."""
    page.evaluate("label => document.querySelector(`[data-open=${label}]`).click()", label)
    page.keyboard.press("c")
    button = page.locator("[data-verdict=better]")
    side = button.get_attribute("data-side")
    box = button.bounding_box()
    assert box is not None
    width = (page.viewport_size or WIDE)["width"]
    assert side == ("left" if box["x"] < width / 2 - box["width"] / 2 else "right")
    if page.locator(".pane-switch").is_visible():
        first = page.locator(".pane-switch button").first
        assert (first.get_attribute("data-show") == label) == (side == "left")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    return side


def test_the_message_of_a_phone_hides_no_button(visit: Callable[..., Visit]) -> None:
    """After a solution is placed, the next one can be placed at the end of its text."""
    come = visit(viewport=PHONE)
    page = come.enter(ranked="A")
    page.locator("#place-now").click()
    while page.locator("[data-verdict]").count():
        page.locator("[data-verdict=worse]").click()
    expect(page.locator(".toast")).to_be_visible()
    place = page.locator(".end-of-text [data-do=place]")
    place.scroll_into_view_if_needed()
    page.locator("#reader").evaluate("reader => { reader.scrollTop = reader.scrollHeight; }")
    toast = page.locator(".toast").bounding_box()
    assert toast is not None
    for one in (page.locator("#reader"), place, page.locator("#place-now")):
        box = one.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= toast["y"] or toast["y"] + toast["height"] <= box["y"]
    place.click()
    expect(title(page)).to_be_focused()


def qualities(page: Page) -> dict[str, int]:
    """How good each solution says that it is, by label."""
    found: list[list[str]] = page.locator(".chip").evaluate_all(
        "chips => chips.map(c => [c.dataset.label, c.querySelector('.snippet').textContent])"
    )
    return {label: int(text.split()[1].rstrip(".")) for label, text in found}


def panes(page: Page) -> list[Locator]:
    """Both solutions of a question."""
    return page.locator(".pane").all()
