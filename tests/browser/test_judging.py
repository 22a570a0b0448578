"""The workspace in a real Chromium, against a real server: what it shows is what is stored."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from string import ascii_uppercase
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.blinding.planted import PLANTS, planted
from tests.browser.judging import (
    Visit,
    accessible,
    answer,
    center,
    choose,
    drag,
    is_ready,
    labels_in,
    press,
    rank_by_keys,
    row,
    shown_ranking,
    submit,
    title,
)
from tests.browser.views import PHONE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page, Request

CODE = "def f(x):\n    return x\n\n\nprint(f(1))"


def at_top(page: Page) -> bool:
    """Whether neither the window nor the reader is scrolled."""
    return bool(page.evaluate("scrollY === 0 && document.querySelector('#reader').scrollTop === 0"))


def test_a_session_by_mouse(visit: Callable[..., Visit]) -> None:
    """Drag all into the ranking, reorder, tie by dropping one onto another, submit."""
    come = visit(reduced_motion="no-preference")
    page = come.enter()
    rungs = page.locator("#ranked .rung")
    drag(page, "A", page.locator("#ranked"))
    for label in "BCDE":
        drag(page, label, rungs.last, 0.95)
    assert come.equals_store()["state"]["ranked"] == [[label] for label in "ABCDE"]
    drag(page, "E", rungs.first, 0.05)
    assert shown_ranking(page)[0] == ["E"]
    # Onto the middle of another: tied with it. Beside a tie: next to both.
    drag(page, "D", rungs.nth(1))
    assert shown_ranking(page) == [["E"], ["A", "D"], ["B"], ["C"]]
    drag(page, "C", rungs.nth(1), 0.1)
    assert shown_ranking(page) == [["E"], ["C"], ["A", "D"], ["B"]]
    # Out of the ranking, to a place that is there while something is dragged.
    page.mouse.move(*center(row(page, "B")))
    page.mouse.down()
    page.mouse.move(*center(page.locator("#ladder-scroll"), 0.9), steps=4)
    expect(page.locator(".ghost")).to_have_text("BUnrank")
    page.mouse.up()
    assert labels_in(page, "tray") == ["B"]
    state = come.equals_store()["state"]
    assert state["placed_by"] == dict.fromkeys("ACDE", "drag")
    choose(page, "B", "Add at top")
    submit(page)
    come.has_submitted()


def test_dragging_onto_a_row_ties_however_it_is_dragged(visit: Callable[..., Visit]) -> None:
    """What is below the pointer at the release counts, after one leap and many small moves."""
    come = visit()
    page = come.enter(ranked="AB")
    drag(page, "C", page.locator("#ranked .rung").nth(1), steps=60)
    assert shown_ranking(page) == [["A"], ["B", "C"]]
    drag(page, "A", page.locator("#ranked .rung").nth(1), 0.4, steps=1)
    assert shown_ranking(page) == [["B", "C", "A"]]
    # Escape lets go of it where it was; so does the world outside of the list.
    for away in (True, False):
        page.mouse.move(*center(row(page, "D")))
        page.mouse.down()
        page.mouse.move(*(900, 400) if away else center(page.locator("#ranked .rung")), steps=5)
        expect(page.locator(".ghost")).to_contain_text("Let go" if away else "Tie with")
        if not away:
            page.keyboard.press("Escape")
        page.mouse.up()
        assert labels_in(page, "tray") == ["D", "E"]
    come.equals_store()


def test_a_session_by_touch(visit: Callable[..., Visit]) -> None:
    """On a phone: answers by a thumb, the ladder as a sheet, and dragging by the grip."""
    come = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page = come.enter()
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    page.get_by_role("button", name="Read the first solution").tap()
    page.locator("#place-now").tap()
    for label in "BCD":
        expect(title(page)).to_have_text(f"Solution {label}")
        assert at_top(page)
        page.locator("#place-now").tap()
        while page.locator(".compare").count():
            page.locator(".pane-switch [aria-pressed=false]").tap()
            expect(page.locator(".pane.is-shown")).to_have_count(1)
            page.locator("[data-verdict=worse]").tap()
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C"], ["D"]]
    start = center(row(page, "D").locator("xpath=../*[@class='grip']"))
    finger("touchStart", start)
    finger("touchMove", (start[0] + 2, start[1] - 12))
    expect(page.locator("body")).to_have_class(re.compile("is-dragging"))
    finger("touchMove", center(page.locator("#ranked .rung").first, 0.06))
    expect(page.locator(".ghost")).to_have_text("DBetter than A")
    finger("touchEnd")
    assert shown_ranking(page) == [["D"], ["A"], ["B"], ["C"]]
    # A finger on the row itself scrolls.
    start = center(row(page, "B"))
    finger("touchStart", start)
    finger("touchMove", (start[0], start[1] - 60))
    finger("touchEnd")
    assert shown_ranking(page) == [["D"], ["A"], ["B"], ["C"]]
    choose(page, "E", "Add at top")
    choose(page, "C", "Tie with above")
    state = come.equals_store()["state"]
    assert state["placed_by"] == {
        "A": "compare", "B": "compare", "C": "menu", "D": "drag", "E": "menu",
    }  # fmt: skip
    submit(page)
    come.has_submitted()


def tab_in(page: Page, name: str) -> None:
    """Go with the Tab key to what has a name."""
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
    tab_to = partial(tab_in, page)
    page.goto(come.served.links[come.judge])
    # The token has left the address bar, and no script can read the cookie.
    assert page.evaluate("location.pathname + document.cookie") == "/judge"
    tab_to("^I agree")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Problem 0")).to_be_visible()
    tab_to("Problem 0")
    page.keyboard.press("Enter")
    is_ready(page)
    said = page.locator("#announcement")
    tab_to("Read the first solution")
    page.keyboard.press("Enter")
    expect(title(page)).to_be_focused()
    page.keyboard.press("c")
    expect(said).to_have_text("A is 1st of 1. Now reading solution B.")
    for label, after in pairwise("BCDE"):
        page.keyboard.press("c")
        expect(title(page)).to_be_focused()
        answer(page, "ABCDE")
        expect(title(page)).to_have_text(f"Solution {after}")
        expect(title(page)).to_be_focused()
        place = {"B": "2nd of 2", "C": "3rd of 3", "D": "4th of 4"}[label]
        expect(said).to_contain_text(f"{label} is {place}, below")
    page.keyboard.press("c")
    page.keyboard.press("=")
    expect(said).to_contain_text("of 5, tied with")
    expect(said).to_contain_text("All solutions are ranked. Review and submit.")
    page.keyboard.press("Control+z")
    expect(title(page)).to_contain_text("Which is better, ")
    answer(page, "ABCDE")
    expect(title(page)).to_have_text("All ranked. Is this your order?")
    tab_to(", 1st of 5$")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Alt+ArrowUp")
    expect(said).to_have_text("E is 4th of 5, between C and D.")
    expect(row(page, "E")).to_be_focused()
    page.keyboard.press(".")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(said).to_have_text("E is 3rd of 5, tied with C, between B and D.")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+z")
    assert come.equals_store()["state"]["ranked"] == [["A"], ["B"], ["C", "E"], ["D"]]
    tab_to("^Submit ranking")
    page.keyboard.press("Enter")
    come.has_submitted()


def test_menus_do_what_dragging_does(visit: Callable[..., Visit]) -> None:
    """Up, down, tie, untie, and out; what cannot be done is marked."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    choose(page, "C", "Move up")
    assert shown_ranking(page) == [["A"], ["C"], ["B"], ["D"], ["E"]]
    choose(page, "B", "Tie with above")
    choose(page, "D", "Tie with above")
    assert shown_ranking(page) == [["A"], ["C", "B", "D"], ["E"]]
    choose(page, "B", "Move down")
    assert shown_ranking(page) == [["A"], ["C", "D"], ["B"], ["E"]]
    choose(page, "D", "Untie")
    choose(page, "A", "Unrank")
    assert shown_ranking(page) == [["C"], ["D"], ["B"], ["E"]]
    page.locator("#ladder [data-more=C]").click()
    expect(page.get_by_role("menuitem", name="Move up")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(page.locator("#ladder [data-more=C]")).to_be_focused()
    page.locator("#ladder [data-more=E]").click()
    expect(page.get_by_role("menuitem", name="Move down")).to_be_disabled()
    page.get_by_role("menuitemradio", name="Unsure").click()
    state = come.equals_store()["state"]
    assert state["sure"] == {"E": "unsure"}
    page.locator("#ladder [data-do=submit]").click()
    expect(page.locator("#announcement")).to_have_text("1 still to rank. Opening solution A.")
    expect(title(page)).to_have_text("Solution A")
    assert not come.served.stored(come.judge, "P0")["submitted"]


def test_cannot_judge_recognize_and_comment(visit: Callable[..., Visit]) -> None:
    """Reasons, recognized authors and comments are stored, survive a reload, and can be undone."""
    come = visit()
    page = come.enter(ranked="ABCD")
    choose(page, "E", "Cannot judge")
    page.get_by_label("Other reason").fill("Half of it is missing")
    page.get_by_role("button", name="Mark as “cannot judge”").click()
    choose(page, "B", "I recognize the author")
    choose(page, "C", "Comment")
    page.get_by_role("textbox", name="Comment on solution C").fill("Neat, but slow")
    page.get_by_role("button", name="Done").click()
    expect(row(page, "C")).to_contain_text("Neat, but slow")
    page.get_by_label("Comment on this task").fill("All much alike")
    state = come.equals_store()["state"]
    assert state["cannot"] == {"E": "Half of it is missing"}
    assert state["recognized"] == ["B"]
    assert (state["comments"], state["comment"]) == ({"C": "Neat, but slow"}, "All much alike")
    page.reload()
    expect(page.get_by_label("Comment on this task")).to_have_value("All much alike")
    expect(page.get_by_role("main")).to_contain_text("Cannot judge: E (Half of it is missing)")
    expect(row(page, "B")).to_have_accessible_name(re.compile("author recognized"))
    choose(page, "E", "Unrank")
    assert labels_in(page, "tray") == ["E"]
    page.get_by_role("button", name="Undo").first.click()
    assert come.equals_store()["state"]["cannot"] == {"E": "Half of it is missing"}


def test_long_solutions_have_contents_and_keep_their_place(visit: Callable[..., Visit]) -> None:
    """The window never scrolls; each solution is found again where it was left."""
    come = visit()
    page = come.enter()
    page.locator("#tray .chip", has_text="Long").locator(".open-it").click()
    expect(page.locator(".contents a")).to_have_count(5)
    page.locator(".contents a").nth(3).click()
    heading = page.locator("#reader h4").nth(3)
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    place = page.evaluate("document.querySelector('#reader').scrollTop")
    assert place > 200
    page.keyboard.press("j" if title(page).inner_text() != "Solution E" else "k")
    assert at_top(page)
    page.locator("#tray .chip", has_text="Long").locator(".open-it").click()
    assert page.evaluate("[scrollY, document.querySelector('#reader').scrollTop]") == [0, place]
    page.keyboard.press("c")
    assert at_top(page)


def test_submitted_rankings_can_be_reopened(visit: Callable[..., Visit]) -> None:
    """A submitted ranking is shown and cannot be changed, until it is reopened; then at once."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    submit(page)
    code = come.has_submitted()
    page.reload()
    expect(page.locator("#left")).to_have_text("This ranking is submitted.")
    expect(page.get_by_role("main")).to_contain_text(code)
    expect(page.locator("#ladder [data-more], .grip, [data-do=send]")).to_have_count(0)
    page.keyboard.press("Alt+ArrowUp")
    page.locator("#reopen").press("Enter")
    expect(page.get_by_role("button", name="Submit ranking")).to_be_visible()
    # The button is gone; the title of the order has the focus, so that ranking goes on.
    expect(title(page)).to_be_focused()
    press(page, "E", "Alt+ArrowUp")
    stored = come.equals_store()
    assert stored["state"]["ranked"][3] == ["E"]
    assert not stored["submitted"]


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
    """Rows, titles, and texts are those of the solutions that they stand for."""
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
    page.clock.run_for(20_000)
    rank_by_keys(page, "C")
    come.equals_store()
    assert 15 <= sum(sent) <= 30
    page.clock.run_for(600_000)
    rank_by_keys(page, "D")
    come.equals_store()
    assert 70 <= sum(sent) <= 95


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A session whose tasks have a picture and a PDF, code, long texts, and many solutions."""
    folder = tmp_path_factory.mktemp("kinds")
    study = write_judging_study(folder, problems=4, solvers=28, judges=1)
    groups = [folder / "solutions" / f"P{problem}" for problem in range(4)]
    missing = []
    for group, count in zip(groups, (3, 3, 4, 28), strict=True):
        for path in sorted(group.iterdir())[count:]:
            path.unlink()
            missing.append({"problem": group.name, "solver": path.stem})
    study.write_text(f"{study.read_text()}missing: {json.dumps(missing)}\n")
    for path in (groups[0] / "S0.md", groups[0] / "S1.md", groups[1] / "S0.md"):
        path.unlink()
    Image.new("RGB", (1600, 900), "teal").save(groups[0] / "S0.png")
    (groups[0] / "S1.pdf").write_bytes(planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]}))
    (groups[1] / "S0.py").write_text(f"{CODE}\n")
    for path in groups[2].iterdir():
        path.write_text(f"Name {path.stem}.\n\n" + "Many words that go on and on. " * 5000)
    with Served(study) as server:
        yield server


@pytest.fixture
def come(browser: Browser, kinds: Served) -> Iterator[Visit]:
    """The judge of that session."""
    visit = Visit(browser, kinds, "J0")
    yield visit
    visit.close()


def test_images_and_pages_of_pdfs_are_enlarged(come: Visit) -> None:
    """An image is enlarged in a dialog, and so is a page of a PDF, whose text is below it."""
    page = come.enter("Problem 0")
    page.locator("#tray .chip", has_text="1 picture").locator(".open-it").click()
    page.get_by_role("button", name="Enlarge").click()
    image = page.locator("#enlarged img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.naturalWidth") == 1600
    assert image.evaluate("image => image.clientWidth") < 1300
    page.get_by_role("button", name="Actual size").click()
    assert image.evaluate("image => image.clientWidth") == 1600
    page.keyboard.press("Escape")
    page.locator("#tray .chip", has_text="2 pages").locator(".open-it").click()
    second = page.locator(".page").nth(1)
    expect(second.locator("figcaption")).to_have_text("Page 2 of 2")
    drawn = second.locator("img")
    drawn.scroll_into_view_if_needed()
    expect(drawn).to_have_js_property("naturalWidth", 600)
    assert drawn.evaluate("image => image.naturalHeight") == 400
    second.get_by_text("Text of page 2").click()
    expect(second.locator(".page-text")).to_have_text("An ordinary plan")
    second.get_by_role("button").click()
    expect(image).to_be_visible()


def test_code_has_numbers_that_are_not_copied(come: Visit) -> None:
    """Lines are numbered and wrap; what is copied is the code alone."""
    page = come.enter("Problem 1")
    page.locator("#tray .chip", has_text="5 lines").locator(".open-it").click()
    expect(page.get_by_role("region", name="Code, 5 lines")).to_be_visible()
    copied = page.evaluate("""() => {
        getSelection().selectAllChildren(document.querySelector("#reader pre"));
        return getSelection().toString();
    }""")
    assert copied.rstrip("\n") == CODE


def test_long_texts_come_one_by_one(come: Visit) -> None:
    """What makes the page too large comes when it is read; a failure can be tried again."""
    page = come.enter("Problem 2")
    assert page.locator("template[data-solution]").count() == 1
    page.route("**/solution/**", lambda route: route.abort())
    row(page, "C").click()
    expect(title(page)).to_have_text("Solution C")
    expect(page.locator(".loading")).to_contain_text("Solution C could not be loaded.")
    accessible(page, "not loaded")
    page.unroute("**/solution/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#reader .prose")).to_contain_text("Many words")
    rank_by_keys(page, "A")
    page.keyboard.press("c")
    expect(page.locator(".pane .prose")).to_have_count(2)


def test_many_solutions(come: Visit) -> None:
    """A group of many can be ranked, dragged and submitted, with labels beyond Z."""
    labels = [*ascii_uppercase, "AA"]
    page = come.enter("Problem 3", ranked=labels)
    assert labels_in(page, "tray") == ["AB"]
    press(page, "AB", "Alt+ArrowUp")
    come.equals_store("P3")
    page.locator("#ranked .rung").first.scroll_into_view_if_needed()
    drag(page, "C", page.locator("#ranked .rung").first, 0.04)
    assert labels_in(page, "ranked")[:3] == ["C", "A", "B"]
    come.equals_store("P3")
    submit(page)
    expect(page.locator("#receipt")).to_be_visible()
    assert come.served.stored("J0", "P3")["submitted"]
