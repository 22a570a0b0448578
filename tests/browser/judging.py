"""A judge at the ranking page, and what judges do there."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.views import WIDE, objections
from tests.patience import SECONDS
from tests.served import all_ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from playwright.sync_api import Browser, Locator, Page

    from tests.served import Served

# The browser's own messages about refused or unsent requests.
EXPECTED = re.compile(r"Failed to load resource")
_TASK = re.compile(r'<a href="(/judge/g/[^"]+)">(.*?)</a>', re.DOTALL)
_DATA = re.compile(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', re.DOTALL)


class Visit:
    """A judge at a page, and what the browser complained of."""

    def __init__(self, browser: Browser, served: Served, judge: str, **options: Any) -> None:  # noqa: ANN401
        self.served, self.judge = served, judge
        # Animations take time, and change colors while axe runs.
        calm = {"viewport": WIDE, "reduced_motion": "reduce"}
        self.context = browser.new_context(**{**calm, **options})
        self.context.set_default_timeout(SECONDS * 1000)
        self.complaints: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                None
                if message.type not in ("error", "warning") or EXPECTED.search(message.text)
                else self.complaints.append(message.text)
            ),
        )
        return page

    def enter(self, title: str = "Problem 0", *, ranked: Sequence[str] = ()) -> Page:
        send, base = self.context.request, self.served.base
        page = send.get(self.served.links[self.judge]).text()
        if 'name="consent"' in page:
            page = send.post(f"{base}/judge/consent").text()
        task = next(found for found in _TASK.finditer(page) if title in found[2])
        if ranked:
            data = json.loads(_DATA.search(send.get(base + task[1]).text())[1])  # type: ignore[index]
            change = {"base": 0, "client": "tab-of-before", "change": 1, "seconds": 0}
            tray = [label for label in data["labels"] if label not in ranked]
            state = all_ranked(list(ranked), tray=tray)
            body = {**change, "layout": data["layout"], "state": state, "submit": False}
            assert send.put(f"{base}{task[1]}/state", data=body).ok
        self.page.goto(base + task[1])
        is_ready(self.page)
        return self.page

    def tab(self) -> Page:
        other = self.new_page()
        other.goto(self.page.url)
        is_ready(other)
        return other

    def stored(self, problem: str = "P0") -> dict[str, Any]:
        return self.served.stored(self.judge, problem)

    def equals_store(self, problem: str = "P0") -> dict[str, Any]:
        """Wait until all is saved; what the store holds is what the page shows."""
        is_saved(self.page)
        stored = self.stored(problem)
        state = stored["state"]
        assert spelled(state["ranked"]) == shown(self.page)
        assert sorted(state["tray"]) == sorted(labels_in(self.page, "tray"))
        assert sorted(state["cannot"]) == sorted(labels_in(self.page, "cannot"))
        return stored

    def order(self, problem: str = "P0") -> str:
        """The ranking, once it is saved and as the page shows it: "A BC" is A, then B = C."""
        return spelled(self.equals_store(problem)["state"]["ranked"])

    def has_submitted(self) -> str:
        """Wait for the receipt: then the ranking is stored as submitted; gives its code."""
        code = self.page.locator("#receipt dd").last
        expect(code).to_have_text(re.compile("^[0-9a-f]{10}$"))
        assert self.stored()["submitted"]
        return code.inner_text()

    def close(self) -> None:
        """Leave; nothing may have been complained of."""
        self.context.close()
        assert self.complaints == []


def follow(link: Locator) -> None:
    with link.page.expect_navigation():
        link.click()


def begin(page: Page, title: str = "Problem 0") -> None:
    follow(page.locator("a[href*='/g/']", has_text=title).first)
    is_ready(page)


def reload(page: Page) -> None:
    page.reload()
    is_ready(page)


def is_ready(page: Page) -> None:
    expect(page.locator("body[data-ready]")).to_be_visible()


def is_saved(page: Page) -> None:
    line = page.locator("#save-status[data-word=saved]")
    expect(line).to_have_text(re.compile(r"^Saved( \d\d:\d\d)?$"))


def labels_in(page: Page, area: str) -> list[str]:
    labels: list[str] = page.locator(f"#{area} .chip").evaluate_all(
        "chips => chips.map(chip => chip.dataset.label)"
    )
    return labels


def spelled(ranked: Sequence[Sequence[str]]) -> str:
    """A ranking as a text: the labels of each place, best first."""
    return " ".join(map("".join, ranked))


def shown(page: Page) -> str:
    """The ranking as the page shows it, under the right numbers."""
    rows: list[tuple[str, list[str]]] = page.locator("#ranked .rung").evaluate_all(
        """rungs => rungs.map(rung => [rung.querySelector(".position").textContent,
            [...rung.querySelectorAll(".chip")].map(chip => chip.dataset.label)])"""
    )
    above = 0
    for position, labels in rows:
        assert position == f"{above + 1}{'=' if len(labels) > 1 else ''}"
        above += len(labels)
    return spelled([labels for _, labels in rows])


def row(page: Page, label: str) -> Locator:
    """The row of a solution in the ladder, which on a phone is opened for it."""
    toggle = page.locator("#sheet-toggle[aria-expanded=false]")
    if toggle.is_visible():
        toggle.click()
    return page.locator(f"#ladder [data-open='{label}']")


def title(page: Page) -> Locator:
    return page.locator("#main h2").first


def is_somewhere(page: Page) -> None:
    """Something that is shown has the focus, and it is not the page as a whole."""
    # Browsers take the focus from what is hidden a moment later: in the next frame.
    page.evaluate("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
    assert page.evaluate("document.activeElement !== document.body")
    assert page.locator(":focus").is_visible()


def press(page: Page, label: str, *keys: str) -> None:
    for key in keys:
        row(page, label).press(key)


def to_top(page: Page, label: str) -> None:
    """Move a ranked solution to the top, in one change."""
    drag(page, label, page.locator("#ranked .rung").first, 0.05)


def open_menu(page: Page, label: str) -> Locator:
    row(page, label)
    page.locator(f"#ladder [data-more='{label}']").click()
    return page.get_by_role("menu")


def choose(page: Page, label: str, act: str) -> None:
    open_menu(page, label).locator(f"[data-act={act}]").click()


def decide(page: Page, choice: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.locator(f"button[value='{choice}']").click()
    expect(dialog).to_have_count(0)
    if choice:
        expect(page.locator("#decide")).to_be_hidden()


def escape(page: Page) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def cannot_judge(page: Page, label: str, reason: str = "") -> None:
    """Mark a solution as "cannot judge", and wait until it leaves the ranking."""
    choose(page, label, "cannot")
    if reason:
        page.get_by_label("Other reason").fill(reason)
    page.locator("#cannot-reason [value=own]").click()
    expect(page.locator(f"#cannot .chip[data-label={label}]")).to_be_visible()


def center(locator: Locator, share: float = 0.5) -> tuple[float, float]:
    """A point of an element: its middle across, and a share of it down."""
    box = locator.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * share


def drag(page: Page, label: str, onto: Locator, share: float = 0.5, steps: int = 4) -> None:
    """Drag a solution with the mouse to a height in something: as people do, or in one leap."""
    row(page, label).scroll_into_view_if_needed()
    page.mouse.move(*center(row(page, label)))
    page.mouse.down()
    page.mouse.move(*center(onto, share), steps=steps)
    page.mouse.up()


def rank_by_keys(page: Page, labels: str) -> None:
    """Rank solutions with the keyboard, best first."""
    for label in labels:
        press(page, label, "Alt+ArrowUp")


def goes_on(page: Page, act: Callable[[], object]) -> None:
    """Do what brings something else into hand, and wait for that."""
    before = title(page).text_content() or ""
    act()
    expect(title(page)).not_to_have_text(before)


def answer(page: Page, order: Sequence[str], how: str = "press") -> int:
    """Answer all questions from an order, best first: press keys, click or tap; gives how many."""
    count = 0
    while page.locator(".compare").count():
        left, right = (pane.get_attribute("data-pane") for pane in page.locator(".pane").all())
        assert left
        assert right
        side = "left" if order.index(left) < order.index(right) else "right"
        if how == "press":
            goes_on(page, partial(page.keyboard.press, f"Arrow{side.title()}"))
        else:
            goes_on(page, getattr(page.locator(f"[data-side={side}]"), how))
        count += 1
    return count


def place(page: Page, order: Sequence[str], how: str = "press") -> int:
    """Place the solution in hand by answers from an order; gives how many."""
    # A phone has a button of its own; the one above the text is out of its window.
    button = "#place-now" if how == "tap" else ".reader-head [data-do=place]"
    begin = partial(page.keyboard.press, "c")
    goes_on(page, begin if how == "press" else getattr(page.locator(button), how))
    return answer(page, order, how)


def submit(page: Page) -> None:
    """Turn to a tab, and submit what is there."""
    page.bring_to_front()
    if page.locator("body").get_attribute("data-view") != "review":
        row(page, "A")
        page.locator("#ladder [data-do=submit]").click()
    if page.locator("#sheet-toggle[aria-expanded=true]").is_visible():
        page.locator("#sheet-toggle").click()
    page.locator("#main [data-do=send]").click()


# What is too small to press, below 24 px (44 px of a finger's main buttons): links inside texts
# may be, and what is covered by something larger.
_SMALL = """least => [...document.querySelectorAll("button, a[href], input, summary, select")]
    .filter(e => e.checkVisibility() && !e.closest("p, td, .unseen, .skip, [inert]"))
    .map(e => [e, (e.matches("input") && e.closest("label") || e).getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.width < least || box.height < least))
    .map(([e, box]) => `${e.outerHTML.slice(0, 90)} ${box.width} x ${box.height}`)"""


def accessible(page: Page, what: str, *, colors: bool = True) -> None:
    """Check with axe, that nothing sticks out to the side, and nothing is too small to press."""
    small = page.evaluate(_SMALL, 24)
    assert small == [], f"{what}: {small}"
    assert objections(page, colors=colors) == [], what
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], what  # type: ignore[index]
