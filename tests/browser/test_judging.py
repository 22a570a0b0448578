"""The ranking page in a real Chromium, against a real server: what it shows is what is stored."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.blinding.planted import PLANTS, planted
from tests.browser.judging import (
    Visit,
    accessible,
    center,
    drag,
    handle,
    labels_in,
    rank_by_keys,
    shown_ranking,
)
from tests.browser.views import PHONE, in_views
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Request


def test_a_session_by_mouse(visit: Callable[..., Visit]) -> None:
    """Drag all into the ranking, reorder, tie by dropping one onto another, submit."""
    come = visit()
    page = come.enter()
    ranked = page.locator("#ranked")
    drag(page, "A", lambda: center(ranked), lambda: labels_in(page, "ranked") == ["A"])
    for label in "BCDE":
        drag(
            page,
            label,
            lambda: center(page.locator("#ranked .card").last, 0.95),
            lambda: labels_in(page, "ranked")[-1] == label,  # noqa: B023  called at once
        )
    first = come.equals_store()["state"]["ranked"]
    assert sorted(label for group in first for label in group) == list("ABCDE")
    # Onto the top: before all others.
    last = labels_in(page, "ranked")[-1]
    top = labels_in(page, "ranked")[0]
    drag(
        page,
        last,
        lambda: center(page.locator(f"#card-{top}"), 0.05),
        lambda: labels_in(page, "ranked")[0] == last,
    )
    assert labels_in(page, "ranked")[0] == last
    # Onto the middle of another: tied with it.
    held, other = labels_in(page, "ranked")[3], labels_in(page, "ranked")[1]
    drag(
        page,
        held,
        lambda: center(page.locator(f"#card-{other}")),
        page.locator(f"#card-{other}.tie-target").is_visible,
    )
    assert sorted([held, other]) in [sorted(group) for group in shown_ranking(page)]
    # And back to the tray.
    tray = page.locator("#tray")
    drag(page, held, lambda: center(tray), lambda: labels_in(page, "tray") == [held])
    assert labels_in(page, "tray") == [held]
    come.equals_store()
    page.locator(f"#card-{held}").get_by_role("button", name=f"Solution {held}: add at top").click()
    page.get_by_role("button", name="Submit ranking").click()
    come.has_submitted()


def test_a_session_by_touch(visit: Callable[..., Visit]) -> None:
    """The same with a finger: drag by the handle, on a phone."""
    come = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page = come.enter()
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    for label in "AB":
        page.locator(f"#card-{label}").get_by_role("button", name="add at bottom").tap()
    come.equals_store()
    page.locator("#ranked").scroll_into_view_if_needed()
    first, second = labels_in(page, "ranked")
    page.locator(f"#card-{first}").scroll_into_view_if_needed()
    start = center(handle(page, second))
    finger("touchStart", start)
    page.wait_for_timeout(60)
    finger("touchMove", (start[0] + 2, start[1] + 8))
    expect(page.locator("#ranking-page")).to_have_class(re.compile("is-dragging"))
    for _ in range(100):  # the others give way while one is dragged
        finger("touchMove", center(page.locator(f"#card-{first}"), 0.06))
        page.wait_for_timeout(120)
        if labels_in(page, "ranked")[0] == second:
            break
    finger("touchEnd")
    expect(page.locator("#ranked .card").first).to_have_attribute("data-label", second)
    come.equals_store()
    for label in "CDE":
        page.locator(f"#card-{label}").get_by_role("button", name="add at top").tap()
    page.locator("#card-C").get_by_role("button", name="tie with above").tap()
    come.equals_store()
    page.get_by_role("button", name="Submit ranking").tap()
    come.has_submitted()


def test_a_session_by_keyboard_alone(visit: Callable[..., Visit]) -> None:
    """Link, consent, group, ranking, ties and submission without a mouse; all is announced."""
    come = visit()
    page = come.enter(consent=False)

    def tab_to(name: str) -> None:
        for _ in range(60):
            focused = page.evaluate(
                "document.activeElement.matches('a, button, input')"
                " && (document.activeElement.ariaLabel ?? document.activeElement.textContent)"
            )
            if focused and re.search(name, focused):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"no way to {name} with the Tab key")

    tab_to("I agree")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your tasks")).to_be_visible()
    tab_to("Problem 0")
    page.keyboard.press("Enter")
    expect(page.locator("#ranking-page[data-tray]")).to_be_visible()
    announcement = page.locator("#announcement")
    tab_to("Move solution A")
    page.keyboard.press("Enter")
    expect(announcement).to_have_text("Solution A is now 1st of 1.")
    for label in "BCDE":
        handle(page, label).focus()
        page.keyboard.press("End")
    expect(announcement).to_have_text("Solution E is now 5th of 5.")
    page.keyboard.press("ArrowUp")
    expect(announcement).to_have_text("Solution E is now 4th of 5.")
    expect(handle(page, "E")).to_be_focused()
    page.keyboard.press("t")
    expect(announcement).to_have_text("Solution E is now 3rd of 5, tied with C.")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("t")
    expect(announcement).to_have_text("Solution E is now 1st of 5, tied with A.")
    page.keyboard.press("u")
    page.keyboard.press("Delete")
    expect(announcement).to_have_text("Solution E is now not ranked yet.")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert shown_ranking(page) == [["A", "E"], ["B"], ["C"], ["D"]]
    come.equals_store()
    page.keyboard.press("Control+Shift+z")
    assert shown_ranking(page) == [["A"], ["E"], ["B"], ["C"], ["D"]]
    come.equals_store()
    tab_to("Submit ranking")
    page.keyboard.press("Enter")
    come.has_submitted()


def test_buttons_do_what_dragging_does(visit: Callable[..., Visit]) -> None:
    """Better, worse, tie, untie and tray; what cannot be done is disabled."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "ABCDE")

    def press(label: str, name: str) -> None:
        page.get_by_role("button", name=f"Solution {label}: {name}", exact=True).click()

    press("C", "move up")
    assert shown_ranking(page) == [["A"], ["C"], ["B"], ["D"], ["E"]]
    press("B", "tie with above")
    press("D", "tie with above")
    assert shown_ranking(page) == [["A"], ["C", "B", "D"], ["E"]]
    press("B", "move down")
    assert shown_ranking(page) == [["A"], ["C", "D"], ["B"], ["E"]]
    press("D", "untie")
    press("A", "unrank")
    assert shown_ranking(page) == [["C"], ["D"], ["B"], ["E"]]
    expect(page.get_by_role("button", name="Solution C: move up", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Solution E: move down", exact=True)).to_be_disabled()
    come.equals_store()
    page.get_by_role("button", name="Submit ranking").click()
    expect(page.get_by_role("dialog")).to_contain_text("A is not ranked yet")
    assert not come.served.stored(come.judge, "P0")["submitted"]


def test_cannot_judge_recognize_and_comment(visit: Callable[..., Visit]) -> None:
    """Reasons, recognized authors and comments are stored, survive a reload, and can be undone."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "ABCD")
    page.get_by_role("button", name="Solution E: cannot judge").click()
    page.get_by_label("Other reason").fill("Half of it is missing")
    page.get_by_role("button", name="Mark as “cannot judge”").click()
    page.get_by_label("I recognize the author of solution B").check()
    page.locator("#card-C .comment summary").click()
    page.get_by_label("Comment on solution C").fill("Neat, but slow")
    page.get_by_label("Comment on this task").fill("All much alike")
    state = come.equals_store()["state"]
    assert state["cannot"] == {"E": "Half of it is missing"}
    assert state["recognized"] == ["B"]
    assert (state["comments"], state["comment"]) == ({"C": "Neat, but slow"}, "All much alike")
    page.reload()
    expect(page.get_by_label("I recognize the author of solution B")).to_be_checked()
    expect(page.get_by_label("Comment on this task")).to_have_value("All much alike")
    expect(page.locator("#card-E .reason")).to_have_text("Half of it is missing")
    page.get_by_role("button", name="Solution E: unrank").click()
    page.get_by_role("button", name="Undo").click()
    assert come.equals_store()["state"]["cannot"] == {"E": "Half of it is missing"}


@in_views
def test_everything_is_accessible(visit: Callable[..., Visit], view: dict[str, Any]) -> None:
    """No page and no state of the ranking page has a violation that axe knows of."""
    come = visit(**view)
    page = come.page
    page.goto(come.served.links[come.judge])
    accessible(page, "welcome with consent")
    come.enter()
    accessible(page, "all in the tray")
    rank_by_keys(page, "ABCD")
    handle(page, "C").press("t")
    page.get_by_role("button", name="Solution E: cannot judge").click()
    accessible(page, "asked for a reason")
    page.get_by_role("button", name="Mark as “cannot judge”").click()
    accessible(page, "all placed")
    for name in ("How to rank", "Problem", "Compare"):
        page.locator(".tools").get_by_role("button", name=name).click()
        accessible(page, name)
        page.keyboard.press("Escape")
    expect(page.locator("#save-status")).to_have_text("Saved")
    page.goto(come.served.base + "/judge")
    accessible(page, "welcome")
    page.goto(come.served.base + "/judge/g/nothing")
    accessible(page, "message")


def test_long_solutions_open_and_stand_side_by_side(visit: Callable[..., Visit]) -> None:
    """A long text is collapsed, opens, and any two can be read beside each other."""
    come = visit()
    page = come.enter()
    long = page.locator(".card", has_text="Many words").first
    body = long.locator(".card-body")
    closed = body.bounding_box()
    long.locator(".content summary").click()
    opened = body.bounding_box()
    assert closed
    assert opened
    assert closed["height"] < 200 < opened["height"]
    label = long.get_attribute("data-label")
    long.get_by_role("button", name="compare with another solution").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("#left-pane")).to_contain_text("Many words")
    other = next(letter for letter in "ABCDE" if letter != label)
    dialog.get_by_label("Right", exact=True).select_option(other)
    expect(dialog.locator("#right-pane")).to_contain_text("Do thing")


def test_submitted_rankings_can_be_reopened(visit: Callable[..., Visit]) -> None:
    """A submitted ranking is shown and cannot be changed, until it is reopened."""
    come = visit()
    page = come.enter()
    url = page.url
    rank_by_keys(page, "ABCDE")
    page.get_by_role("button", name="Submit ranking").click()
    page.wait_for_url(lambda now: now != url)
    page.goto(url)
    expect(page.locator("#left")).to_have_text("This ranking is submitted.")
    expect(page.get_by_role("button", name="Solution A: move up")).to_have_count(0)
    page.get_by_role("button", name="Reopen ranking").click()
    expect(page.get_by_role("button", name="Submit ranking")).to_be_visible()
    handle(page, "E").press("Home")
    stored = come.equals_store()
    assert stored["state"]["ranked"][0] == ["E"]
    assert not stored["submitted"]


def test_working_time_pauses_when_nobody_works(visit: Callable[..., Visit]) -> None:
    """Ten minutes without a touch of the page count as one: the minute before the pause."""
    come = visit()
    sent: list[float] = []

    def note(request: Request) -> None:
        text = request.post_data or ""
        if request.method != "GET" and text.startswith("{"):
            sent.append(json.loads(text).get("seconds", 0))

    come.page.on("request", note)
    come.page.clock.install()
    page = come.enter()
    handle(page, "A").press("Enter")
    page.clock.run_for(20_000)
    handle(page, "B").press("Enter")
    come.equals_store()
    assert 15 <= sum(sent) <= 30
    page.clock.run_for(600_000)
    handle(page, "C").press("Enter")
    come.equals_store()
    assert 70 <= sum(sent) <= 95


def test_images_and_pages_of_pdfs_are_enlarged(browser: Browser, tmp_path: Path) -> None:
    """An image is enlarged in a dialog, and so is a page of a PDF, whose text is below it."""
    study = write_judging_study(tmp_path, problems=1, solvers=3, judges=1)
    group = tmp_path / "solutions" / "P0"
    for name in ("S0", "sys"):
        (group / f"{name}.md").unlink()
    Image.new("RGB", (1600, 900), "teal").save(group / "S0.png")
    (group / "sys.pdf").write_bytes(planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]}))
    with Served(study) as served:
        come = Visit(browser, served, "J0")
        page = come.page
        page.goto(served.links["J0"])
        page.locator(".groups a").click()
        expect(page.locator("#ranking-page[data-tray]")).to_be_visible()
        page.get_by_role("button", name="Enlarge").and_(page.locator(":not(.pdf-page *)")).click()
        image = page.locator("#zoom img")
        expect(image).to_be_visible()
        assert image.evaluate("image => image.naturalWidth") == 1600
        image.click()
        assert image.evaluate("image => image.clientWidth") == 1600
        page.keyboard.press("Escape")
        second = page.locator(".pdf-page").nth(1)
        card = page.locator(".card", has=second)
        card.get_by_text("Show solution").click()
        expect(second.locator("figcaption")).to_have_text("Page 2 of 2")
        drawn = second.locator("img")
        drawn.scroll_into_view_if_needed()
        page.wait_for_function(
            "image => image.complete && image.naturalWidth", arg=drawn.element_handle()
        )
        assert drawn.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [600, 400]
        second.get_by_text("Text of page 2").click()
        expect(second.locator(".page-text")).to_have_text("An ordinary plan")
        second.get_by_role("button").click()
        expect(image).to_be_visible()
        assert image.evaluate("image => image.clientWidth") == 600
        page.keyboard.press("Escape")
        accessible(page, "an image and a PDF")
        come.close()


def test_the_token_leaves_the_address_bar(visit: Callable[..., Visit]) -> None:
    """After the link is opened the address shows no secret."""
    come = visit()
    page = come.enter(consent=False)
    assert page.url == come.served.base + "/judge"
    assert page.evaluate("document.cookie") == ""


def test_thirty_solutions(browser: Browser, tmp_path: Path) -> None:
    """A group of thirty can be ranked, dragged and submitted, with labels beyond Z."""
    study = write_judging_study(tmp_path, problems=1, solvers=30, judges=1)
    with Served(study) as served:
        come = Visit(browser, served, "J0")
        page = come.page
        page.goto(served.links["J0"])
        page.locator(".groups a").click()
        expect(page.locator("#card-AD")).to_be_visible()
        expect(page.locator("#ranking-page[data-tray]")).to_be_visible()
        labels = labels_in(page, "tray")
        assert len(labels) == 30
        for label in labels:
            handle(page, label).press("Enter")
        come.equals_store()
        drag(
            page,
            "C",
            lambda: center(page.locator("#card-A"), 0.04),
            lambda: labels_in(page, "ranked")[0] == "C",
        )
        assert labels_in(page, "ranked")[:3] == ["C", "A", "B"]
        come.equals_store()
        page.get_by_role("button", name="Submit ranking").click()
        page.wait_for_url(re.compile("/judge/done"))
        come.close()
