"""The judge's task on the documentation site: files alone, in a real Chromium."""

from __future__ import annotations

import runpy
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    answer,
    choose,
    drag,
    is_ready,
    rank_by_keys,
    row,
    shown_ranking,
    submit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

WRITER = Path(__file__).parents[2] / "docs" / "make_try.py"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of files that knows nothing else, with the page in a folder."""
    for name, content in runpy.run_path(str(WRITER))["try_files"]().items():
        (tmp_path / "try" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "try" / name).write_bytes(content)
    (tmp_path / "index.html").write_text("<link rel=icon href=data:,><h1>The docs</h1>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_task_without_a_server(browser: Browser, address: str) -> None:
    """Place by keys, compare, tie, submit; every request is answered, and none is another's."""
    page = browser.new_page(reduced_motion="reduce")
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.on(
        "response",
        lambda answered: (
            None
            if answered.status < 400
            and answered.request.method == "GET"
            and answered.url.startswith(address)
            else troubles.append(f"{answered.request.method} {answered.url}")
        ),
    )
    page.goto(f"{address}/try/")
    is_ready(page)
    expect(page.locator("#save-status")).to_have_text("Preview: nothing is saved")
    assert page.locator("#main img").evaluate("picture => picture.naturalWidth") > 0
    page.goto(f"{address}/try/de.html")
    expect(page.locator("#save-status")).to_have_text("Vorschau: Nichts wird gespeichert")
    page.goto(f"{address}/try/index.html")
    is_ready(page)
    rank_by_keys(page, "AB")
    drag(page, "C", page.locator("#ranked .rung").first)
    assert shown_ranking(page) == [["A", "C"], ["B"]]
    row(page, "D").click()
    page.locator(".reader-head [data-do=place]").click()
    assert answer(page, "DACB") > 0
    assert shown_ranking(page)[0] == ["D"]
    for label in "EFGH":
        choose(page, label, "Add at bottom")
    submit(page)
    page.locator("#receipt .next").click()
    expect(page.locator("h1")).to_have_text("The docs")
    page.close()
    assert troubles == []
