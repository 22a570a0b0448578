"""What a judge's browser fetches until the first task can be ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser.judging import begin

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.judging import Visit


def test_the_first_visit_is_light(visit: Callable[..., Visit]) -> None:
    """From the link to the first task: few requests, and few bytes of them on the wire."""
    come = visit()
    page = come.page
    events = come.context.new_cdp_session(page)
    urls: dict[str, str] = {}
    sizes: list[int] = []

    def requested(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["request"]["url"]

    def cached(event: dict[str, Any]) -> None:
        urls.pop(event["requestId"], None)

    def answered(event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            cached(event)

    def received(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    events.on("Network.requestWillBeSent", requested)
    events.on("Network.requestServedFromCache", cached)
    events.on("Network.responseReceived", answered)
    events.on("Network.loadingFinished", received)
    events.send("Network.enable")
    page.goto(come.served.links[come.judge])
    page.get_by_role("button", name="I agree to take part").click()
    begin(page)
    page.wait_for_load_state("networkidle")
    # Three pages, one style sheet, one script, three fonts, and the icon.
    assert len(urls) <= 10, urls
    assert sum(sizes) <= 170_000, sizes
