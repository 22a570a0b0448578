"""What tests of saving share: a submission held back, what is stored, and whether all is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.judging import shown_ranking
from tests.patience import until

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Page, Route

    from tests.browser.judging import Visit

SUBMITTING = re.compile(r'"submit":\s*true')
TAKEN_BACK = "Saved as draft"
MINE = [["E"], ["A"], ["B"], ["C"], ["D"]]
ABC = [["A"], ["B"], ["C"]]


def stored(come: Visit) -> dict[str, Any]:
    """Give what the store holds."""
    return come.served.stored(come.judge, "P0")


def is_taken_back(come: Visit, ranked: list[list[str]]) -> None:
    """The page stays and says so, and the newest order is stored as a draft."""
    expect(come.page.locator("#save-status")).to_contain_text(TAKEN_BACK)
    expect(come.page.locator("#left")).to_contain_text("Submit again")
    # The page said so of an earlier order, too.
    until(lambda: stored(come)["state"]["ranked"] == ranked, f"{ranked} to be stored")
    assert shown_ranking(come.page) == ranked
    assert not stored(come)["submitted"]


class Held:
    """Holds back a submission, or the answer to it where it has arrived at the server.

    With another pattern what is held back is the first save that it matches.
    """

    def __init__(self, page: Page, *, arrived: bool, what: re.Pattern[str] = SUBMITTING) -> None:
        self.page, self.arrived, self.what = page, arrived, what
        self.route: Route | None = None
        self.answer: APIResponse | None = None
        page.route("**/state", self.take)

    def take(self, route: Route) -> None:
        """Hold the first submission back; let all else pass."""
        if self.route or not self.what.search(route.request.post_data or ""):
            route.continue_()
            return
        self.route = route
        self.answer = route.fetch() if self.arrived else None

    def waiting(self) -> Route:
        """Give the submission, which is on its way."""
        while self.route is None or (self.arrived and self.answer is None):
            self.page.wait_for_timeout(20)
        return self.route

    def release(self) -> None:
        """Let it come through."""
        if self.answer:
            self.waiting().fulfill(response=self.answer)
        else:
            self.waiting().continue_()

    def lose(self) -> None:
        """Let the connection break before the answer comes."""
        self.waiting().abort()
