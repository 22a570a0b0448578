"""A judge at the ranking page, and what judges do there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.views import WIDE
from tests.patience import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page

    from tests.served import Served

# What a browser says by itself when a request is refused or cannot be sent.
EXPECTED = re.compile(r"Failed to load resource")


class Visit:
    """A judge at a page, and what the browser complained of."""

    def __init__(self, browser: Browser, served: Served, judge: str, **options: Any) -> None:  # noqa: ANN401
        self.served, self.judge = served, judge
        self.context = browser.new_context(**{"viewport": WIDE, **options})
        self.context.set_default_timeout(SECONDS * 1000)
        self.complaints: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Page:
        """Open a tab."""
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

    def enter(self, *, consent: bool = True) -> Page:
        """Open the link, and go to the group that counts."""
        page = self.page
        page.goto(self.served.links[self.judge])
        if consent:
            page.get_by_role("button", name="I agree to take part").click()
            page.locator(".groups a", has_text="Problem 0").click()
            expect(page.locator("#ranking-page[data-tray]")).to_be_visible()
        return page

    def equals_store(self, problem: str = "P0") -> dict[str, Any]:
        """Wait until all is saved; what the store holds is what the page shows."""
        expect(self.page.locator("#save-status")).to_have_text("Saved")
        stored = self.served.stored(self.judge, problem)
        state = stored["state"]
        assert state["ranked"] == shown_ranking(self.page)
        assert sorted(state["tray"]) == sorted(labels_in(self.page, "tray"))
        assert sorted(state["cannot"]) == sorted(labels_in(self.page, "cannot"))
        return stored

    def has_submitted(self) -> None:
        """Wait until the next page is there: then the ranking is stored as submitted."""
        expect(self.page.locator("h1")).not_to_have_text("Problem 0")
        assert self.served.stored(self.judge, "P0")["submitted"]

    def close(self) -> None:
        """Leave; nothing may have been complained of."""
        self.context.close()
        assert self.complaints == []


def labels_in(page: Page, area: str) -> list[str]:
    """The labels in an area, from top to bottom."""
    labels: list[str] = page.locator(f"#{area} .card").evaluate_all(
        "cards => cards.map(card => card.dataset.label)"
    )
    return labels


def shown_ranking(page: Page) -> list[list[str]]:
    """The ranking as the page words it: tie groups, best first."""
    groups: list[list[str]] = []
    for label in labels_in(page, "ranked"):
        place = page.locator(f"#card-{label} .place").inner_text()
        number = int(place[: re.search(r"\D", place).start()])  # type: ignore[union-attr]
        if groups and number == sum(map(len, groups[:-1])) + 1:
            groups[-1].append(label)
        else:
            assert number == sum(map(len, groups)) + 1, place
            groups.append([label])
    return groups


def handle(page: Page, label: str) -> Locator:
    """The handle of a card."""
    return page.locator(f"#card-{label} .handle")


def center(locator: Locator, share: float = 0.5) -> tuple[float, float]:
    """A point of an element: its middle across, and a share of it down."""
    box = locator.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * share


def drag(
    page: Page, label: str, onto: Callable[[], tuple[float, float]], until: Callable[[], bool]
) -> None:
    """Drag a card by its handle with the mouse, as people do: until it shows the right place."""
    handle(page, label).scroll_into_view_if_needed()
    page.mouse.move(*center(handle(page, label)))
    page.mouse.down()
    x, y = center(handle(page, label))
    page.mouse.move(x + 3, y + 9, steps=3)
    expect(page.locator("#ranking-page")).to_have_class(re.compile("is-dragging"))
    page.wait_for_timeout(80)
    for attempt in range(100):  # the others give way while one is dragged, and no hand is still
        x, y = onto()
        page.mouse.move(x + attempt % 3, y, steps=6)
        page.wait_for_timeout(200)
        if until():
            break
    page.mouse.up()
    expect(page.locator("#ranking-page")).not_to_have_class(re.compile("is-dragging"))


def rank_by_keys(page: Page, labels: str) -> None:
    """Rank solutions with the keyboard, best first."""
    for label in labels:
        handle(page, label).press("Enter")


def accessible(page: Page, what: str) -> None:
    """Check with axe, and that nothing sticks out to the side."""
    results = Axe().run(page)
    assert results.violations_count == 0, f"{what}: {results.generate_report()}"
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], what  # type: ignore[index]
