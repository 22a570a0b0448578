"""The workspace in a real Chromium, against a real server: what it shows is what is stored."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    answer,
    cannot_judge,
    center,
    choose,
    drag,
    escape,
    follow,
    goes_on,
    is_ready,
    is_somewhere,
    labels_in,
    open_menu,
    place,
    press,
    rank_by_keys,
    reload,
    row,
    shown,
    submit,
    title,
)
from tests.browser.views import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page, Request

# Where the window and the text in hand are scrolled to.
SCROLLED = "[scrollY, document.querySelector('#reader').scrollTop]"


def test_a_session_by_mouse(visit: Callable[..., Visit]) -> None:
    """Drag all into the ranking, reorder, tie by dropping one onto another, submit."""
    come = visit(reduced_motion="no-preference")
    page = come.enter()
    rungs = page.locator("#ranked .rung")
    drag(page, "A", page.locator("#ranked"))
    for label, after in zip("BCDE", ["Solution C", "Solution D", "Solution E", "All"], strict=True):
        drag(page, label, rungs.last, 0.95)
        expect(title(page)).to_contain_text(after)
        expect(title(page)).to_be_focused()
    assert come.order() == "A B C D E"
    # Onto which row, at which share of its height, in how many moves: one leap or many.
    for label, rung, share, steps, order in (
        ("E", 0, 0.05, 4, "E A B C D"),
        ("D", 1, 0.5, 60, "E AD B C"),
        ("C", 1, 0.1, 4, "E C AD B"),
        ("E", 1, 0.4, 1, "CE AD B"),
    ):
        drag(page, label, rungs.nth(rung), share, steps)
        assert shown(page) == order
    # Outside of the list, and after Escape, it stays where it was; below, it is taken out.
    for to, says, key in (
        ((900, 400), "Let go", ""),
        (center(rungs.first), "Tie with", "Escape"),
        (center(page.locator("#ladder-scroll"), 0.9), "Unrank", ""),
    ):
        assert shown(page) == "CE AD B"
        page.mouse.move(*center(row(page, "B")))
        page.mouse.down()
        page.mouse.move(*to, steps=4)
        expect(page.locator(".ghost")).to_contain_text(f"B{says}")
        if key:
            page.keyboard.press(key)
        page.mouse.up()
    assert labels_in(page, "tray") == ["B"]
    assert come.equals_store()["state"]["placed_by"] == dict.fromkeys("ACDE", "drag")
    choose(page, "B", "best")
    submit(page)
    come.has_submitted()


def test_a_session_by_touch(visit: Callable[..., Visit]) -> None:
    """On a phone: answers by a thumb, the ladder as a sheet, and dragging by the grip."""
    come = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page = come.enter()
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    goes_on(page, page.locator("#main [data-do=next]").tap)
    for label in "ABCD":
        expect(title(page)).to_have_text(f"Solution {label}")
        expect(title(page)).to_be_focused()
        assert page.evaluate(SCROLLED) == [0, 0]
        page.evaluate("document.querySelector('#reader').scrollTop = 400")
        place(page, "ABCD", "tap")
    assert come.order() == "A B C D"
    start = center(row(page, "D").locator("xpath=../*[@class='grip']"))
    finger("touchStart", start)
    finger("touchMove", (start[0] + 2, start[1] - 12))
    expect(page.locator("body")).to_have_class(re.compile("is-dragging"))
    finger("touchMove", center(page.locator("#ranked .rung").first, 0.06))
    expect(page.locator(".ghost")).to_have_text("DBetter than A")
    finger("touchEnd")
    expect(page.locator(".ghost")).to_have_count(0)
    assert shown(page) == "D A B C"
    # A finger on the row itself scrolls.
    start = center(row(page, "B"))
    finger("touchStart", start)
    finger("touchMove", (start[0], start[1] - 60))
    finger("touchEnd")
    choose(page, "E", "best")
    choose(page, "C", "tie")
    assert come.order() == "E D A BC"
    assert come.stored()["state"]["placed_by"] == {
        **dict.fromkeys("AB", "compare"),
        **dict.fromkeys("CE", "menu"),
        "D": "drag",
    }
    submit(page)
    come.has_submitted()


def tab_to(page: Page, name: str) -> None:
    for _ in range(60):
        focused = page.evaluate(
            "document.activeElement.matches('a, button, input')"
            " && (document.activeElement.ariaLabel ?? document.activeElement.textContent)"
        )
        if focused and re.search(name, focused):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no way to {name} with the Tab key")


def test_a_session_by_keyboard_alone(visit: Callable[..., Visit]) -> None:
    """Link, consent, task, answers, moves, and submission without a mouse; all is announced."""
    come = visit()
    page = come.page
    page.goto(come.served.links[come.judge])
    # The token has left the address bar, and no script can read the cookie.
    assert page.evaluate("location.pathname + document.cookie") == "/judge"
    for name in ("^I agree", "Problem 0"):
        tab_to(page, name)
        with page.expect_navigation():
            page.keyboard.press("Enter")
    is_ready(page)
    said = page.locator("#announcement")
    tab_to(page, "Read the first solution")
    goes_on(page, partial(page.keyboard.press, "Enter"))
    for label, after in pairwise("ABCDE"):
        expect(title(page)).to_be_focused()
        place(page, "ABCDE")
        expect(title(page)).to_have_text(f"Solution {after}")
        expect(title(page)).to_be_focused()
        where = {"A": "1st of 1", "B": "2nd of 2", "C": "3rd of 3", "D": "4th of 4"}[label]
        expect(said).to_contain_text(f"{label} is {where}")
    for keys in ("c", "="):
        goes_on(page, partial(page.keyboard.press, keys))
    expect(said).to_contain_text("of 5, tied with")
    goes_on(page, partial(page.keyboard.press, "Control+z"))
    answer(page, "ABCDE")
    expect(title(page)).to_have_text("All ranked. Is this your order?")
    tab_to(page, ", 1st of 5$")
    for keys in (*["ArrowDown"] * 4, "Alt+ArrowUp"):
        page.keyboard.press(keys)
    expect(said).to_have_text("E is 4th of 5, between C and D.")
    expect(row(page, "E")).to_be_focused()
    for keys in (".", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(keys)
    expect(said).to_have_text("E is 3rd of 5, tied with C, between B and D.")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+z")
    assert come.order() == "A B CE D"
    check_comparisons(come.stored()["state"]["comparisons"])
    tab_to(page, "^Submit ranking")
    page.keyboard.press("Enter")
    code = come.has_submitted()
    reload(page)
    expect(page.get_by_role("main")).to_contain_text(code)
    expect(page.locator("#ladder [data-more], .grip, [data-do=send]")).to_have_count(0)
    page.keyboard.press("Alt+ArrowUp")
    page.locator("#reopen").press("Enter")
    # The button is gone; the title of the order has the focus, so that ranking goes on.
    expect(title(page)).to_be_focused()
    press(page, "D", "Alt+ArrowUp")
    assert come.order() == "A B D CE"
    assert not come.stored()["submitted"]


def check_comparisons(comparisons: list[dict[str, Any]]) -> None:
    """Which was compared with which, what was said, on which side the new one was, how long."""
    sides = {one["new"]: one["side"] for one in comparisons}
    for one in comparisons:
        assert set(one) == {"new", "other", "verdict", "side", "seconds"}
        assert one["verdict"] == ("better" if one["new"] < one["other"] else "worse")
        assert 0 <= one["seconds"] < 600
        assert one["side"] == sides[one["new"]], "a side is fixed"


def test_menus_do_what_dragging_does(visit: Callable[..., Visit]) -> None:
    """The button of the menu has the focus again, wherever its row is; undo takes each back."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    orders = ["A B C D E"]
    for label, act, order in (
        ("C", "better", "A C B D E"),
        ("B", "tie", "A CB D E"),
        ("B", "untie", "A C B D E"),
        ("A", "tray", "C B D E"),
    ):
        choose(page, label, act)
        assert shown(page) == order, act
        expect(page.locator(f"#ladder [data-more={label}]"), act).to_be_focused()
        page.keyboard.press("Control+z")
        assert shown(page) == orders[-1]
        page.keyboard.press("Control+Shift+z")
        orders.append(order)
    expect(open_menu(page, "C").locator("[data-act=better]")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(page.locator("#ladder [data-more=C]")).to_be_focused()
    menu = open_menu(page, "E")
    expect(menu.locator("[data-act=worse]")).to_be_disabled()
    menu.get_by_role("menuitemradio", name="Unsure").click()
    state = come.equals_store()["state"]
    assert state["sure"] == {"E": "unsure"}
    page.locator("#ladder [data-do=submit]").click()
    expect(page.locator("#announcement")).to_have_text("1 still to rank. Opening solution A.")
    expect(title(page)).to_have_text("Solution A")
    assert not come.stored()["submitted"]


def test_cannot_judge_recognize_and_comment(visit: Callable[..., Visit]) -> None:
    """Reasons, recognized authors and comments are stored, survive a reload, and can be undone."""
    come = visit()
    page = come.enter(ranked="ABCD")
    choose(page, "E", "cannot")
    escape(page)
    expect(page.locator("#ladder [data-more=E]")).to_be_focused()
    cannot_judge(page, "E", "Half of it is missing")
    is_somewhere(page)
    expect(page.locator("#ranked-count")).to_have_text("4 of 4")
    choose(page, "B", "recognized")
    choose(page, "C", "comment")
    page.get_by_role("textbox", name="Comment on solution C").fill("Neat, but slow")
    page.get_by_role("button", name="Done").click()
    expect(row(page, "C")).to_contain_text("Neat, but slow")
    # A letter in a comment is a letter, not a key.
    whole = page.get_by_label("Comment on this task")
    whole.press_sequentially("cjkn.p?=")
    state = come.equals_store()["state"]
    assert (state["comments"], state["comment"]) == ({"C": "Neat, but slow"}, "cjkn.p?=")
    assert (state["cannot"], state["recognized"]) == ({"E": "Half of it is missing"}, ["B"])
    reload(page)
    expect(whole).to_have_value("cjkn.p?=")
    expect(page.get_by_role("main")).to_contain_text("Cannot judge: E (Half of it is missing)")
    expect(row(page, "B")).to_have_accessible_name(re.compile("author recognized"))
    choose(page, "E", "tray")
    assert labels_in(page, "tray") == ["E"]
    page.locator("[data-do=undo]").first.click()
    assert come.equals_store()["state"]["cannot"] == {"E": "Half of it is missing"}
    whole.fill("Last words")
    follow(page.get_by_role("link", name="All tasks"))
    assert come.stored()["state"]["comment"] == "Last words"


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True).first


def enter_on(page: Page, name: str) -> None:
    button(page, name).focus()
    page.keyboard.press("Enter")


def test_the_focus_after_each_key_on_a_row(visit: Callable[..., Visit]) -> None:
    """The row goes with its solution, and is in sight; after the last undo redo has the focus."""
    page = visit().enter(ranked="ABCDE")
    row(page, "E").focus()
    for key in ("Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowDown", "Control+z", "Control+Shift+z"):
        page.keyboard.press(key)
        expect(row(page, "E"), key).to_be_focused()
        expect(row(page, "E"), key).to_be_in_viewport()
    page.keyboard.press("ArrowUp")
    expect(row(page, "C")).to_be_focused()
    page.keyboard.press("Control+z")
    # Where there is no more to undo, redo has the focus, and the other way round.
    enter_on(page, "Undo")
    expect(button(page, "Undo")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(3):
        expect(button(page, "Redo")).to_be_focused()
        page.keyboard.press("Enter")
    expect(button(page, "Undo")).to_be_focused()


def test_single_keys_can_be_switched_off(visit: Callable[..., Visit]) -> None:
    """Those who dictate may say one by chance (WCAG 2.1.4); it is remembered in this browser."""
    page = visit().enter(ranked="AB")
    page.keyboard.press("?")
    page.get_by_label("Use single-key shortcuts").uncheck()
    escape(page)
    for _ in range(2):
        for key in ("c", "?", "p", "j", "."):
            page.keyboard.press(key)
        expect(title(page)).to_have_text("Solution C")
        expect(page.get_by_role("dialog")).to_have_count(0)
        reload(page)
    goes_on(page, button(page, "Compare and place").click)
    for key in ("ArrowLeft", "=", "ArrowRight"):
        page.keyboard.press(key)
    expect(title(page)).to_contain_text("Which is better")
    page.keyboard.press("Escape")
    expect(title(page)).to_have_text("Solution C")


# As browsers do that translate a page: each text is put into elements of their own.
TRANSLATED = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.push(walker.currentNode);
    for (const text of texts.filter((one) => !one.parentNode.closest("script, font"))) {
        const font = document.createElement("font");
        text.replaceWith(font);
        font.append(text.data);
    }
}"""


def test_a_page_that_a_browser_translates_stays_right(visit: Callable[..., Visit]) -> None:
    """Rows, titles, and texts belong to the right solutions."""
    come = visit()
    page = come.enter(ranked="ABC")
    page.evaluate(TRANSLATED)
    press(page, "C", "Alt+ArrowUp")
    expect(row(page, "C")).to_be_focused()
    page.evaluate(TRANSLATED)
    row(page, "E").click()
    expect(title(page)).to_have_text("Solution E")
    page.evaluate(TRANSLATED)
    page.keyboard.press("c")
    page.keyboard.press("=")
    for chip in page.locator("#ladder .chip").all():
        expect(chip.locator(".letter")).to_have_text(chip.get_attribute("data-label") or "")
    expect(title(page)).to_have_text("Solution D")
    come.equals_store()


def test_working_time_pauses_when_nobody_works(visit: Callable[..., Visit]) -> None:
    """Ten minutes without a touch of the page count as one: the minute before the pause."""
    come = visit()
    sent: list[float] = []

    def note(request: Request) -> None:
        if request.url.endswith(("/state", "/time")) and request.post_data:
            sent.append(json.loads(request.post_data).get("seconds", 0))

    come.page.on("request", note)
    come.page.clock.install()
    page = come.enter()
    rank_by_keys(page, "A")
    for label, passes, least, most in (("C", 20_000, 15, 30), ("D", 600_000, 70, 95)):
        page.clock.run_for(passes)
        rank_by_keys(page, label)
        come.equals_store()
        assert least <= sum(sent) <= most
