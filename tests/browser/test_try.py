"""The judge's task on the documentation site: files alone, in a real Chromium."""

from __future__ import annotations

import runpy
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    choose,
    drag,
    follow,
    is_ready,
    place,
    rank_by_keys,
    row,
    shown,
    submit,
)
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Response


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of files that knows nothing else, with the page in a folder."""
    for name, content in runpy.run_path(str(ROOT / "docs/make_try.py"))["try_files"]().items():
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

    def look(answer: Response) -> None:
        is_ours = answer.request.method == "GET" and answer.url.startswith(address)
        if not is_ours or answer.status >= 400:
            troubles.append(answer.url)

    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.on("response", look)
    status = page.locator("#save-status")
    for name, said in (("de.html", "Vorschau: Nichts wird"), ("", "Preview: nothing is saved")):
        page.goto(f"{address}/try/{name}")
        is_ready(page)
        expect(status).to_contain_text(said)
    assert page.locator("#main img").evaluate("picture => picture.naturalWidth") > 0
    rank_by_keys(page, "AB")
    drag(page, "C", page.locator("#ranked .rung").first)
    assert shown(page) == "AC B"
    row(page, "D").click()
    assert place(page, "DACB", "click") > 0
    assert shown(page) == "D AC B"
    for label in "EFGH":
        choose(page, label, "worst")
    submit(page)
    # Its link leads to a folder.
    follow(page.locator("#receipt .next"))
    expect(page.locator("h1")).to_have_text("The docs")
    page.close()
    assert troubles == []
