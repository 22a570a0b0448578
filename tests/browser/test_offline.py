"""Offline judging: pages that work without a server, and what ends that."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Literal

import pytest
from PIL import Image
from playwright.sync_api import Error, expect
from werkzeug.serving import make_server

from quem.store.engine import store_of
from quem.store.judges import issue_link, judge_named
from quem.store.location import locate_database
from quem.store.studies import set_state
from tests.browser.judging import (
    Visit,
    begin,
    is_ready,
    is_saved,
    rank_by_keys,
    shown_ranking,
    submit,
    to_top,
)
from tests.patience import until
from tests.served import Served, write_judging_study
from tests.trials.offline import OfflineTrial
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Playwright

AVAILABLE = re.compile("^Available offline")
# Playwright's routes see nothing of what a page sends as its last act.
UNSENT = """const send = fetch;
globalThis.fetch = (url, ...more) =>
  String(url).endsWith("/state") && sessionStorage.unsent
    ? Promise.reject(new TypeError("held back")) : send(url, ...more);"""
# What the worker keeps: a judge's pages and static files, and nothing else.
KEPT = re.compile(r"/judge(/g/[\w-]+.*|/kept-since)?|/static/[0-9a-f]{12}/[\w./-]+")


@pytest.fixture
def away(tmp_path: Path) -> Iterator[Served]:
    """A server that can go away, of a study of two tasks that is judged offline."""
    study = write_judging_study(tmp_path, solvers=3, judging="{offline: true}")
    with Served(study) as served:
        yield served


@pytest.fixture
def come(browser: Browser, away: Served) -> Iterator[Callable[..., Visit]]:
    """Let a judge come to the first page; what the browser complains of is an error."""
    visits: list[Visit] = []

    def arrive(judge: str = "J0", **options: Any) -> Visit:  # noqa: ANN401
        visits.append(Visit(browser, away, judge, **options))
        visits[-1].page.goto(away.links[judge])
        return visits[-1]

    yield arrive
    for one in visits:
        one.close()


def keep_all(page: Page) -> None:
    """Wait until all tasks are kept."""
    expect(page.locator("#offline-copies")).to_have_text(AVAILABLE)


def is_kept(page: Page) -> None:
    """Wait until the page says that it is offline, and the order kept."""
    expect(page.locator("#save-status")).to_contain_text("Offline. Kept on this device")


def is_stored(served: Served, problem: str, ranked: list[list[str]], judge: str = "J0") -> None:
    """Wait until an order is stored."""
    until(lambda: served.stored(judge, problem)["state"]["ranked"] == ranked, f"{ranked} stored")


def left_over(page: Page) -> dict[str, Any]:
    """What the study left in the browser."""
    left: dict[str, Any] = page.evaluate(
        """async () => ({
            caches: await caches.keys(),
            databases: await indexedDB.databases(),
            workers: (await navigator.serviceWorker.getRegistrations()).length,
        })"""
    )
    return left


def is_empty(page: Page) -> None:
    """Wait until nothing is left in the browser."""
    nothing = {"caches": [], "databases": [], "workers": 0}
    until(lambda: left_over(page) == nothing, "an empty browser")


def is_not_shown(page: Page, url: str) -> None:
    """Without the server a page is an error of the browser."""
    with pytest.raises(Error, match=r"ERR_CONNECTION_REFUSED|ERR_FAILED"):
        page.goto(url)


def is_back(page: Page, served: Served) -> None:
    """Start the server, and let the page know at once that there is a connection."""
    served.start()
    page.evaluate("dispatchEvent(new Event('online'))")


def test_a_study_without_the_server(come: Callable[..., Visit], away: Served) -> None:
    """All tasks work without the server, reloaded or never opened; all is sent; nothing stays."""
    page = come().page
    page.goto(away.dashboard)
    page.goto(f"{away.base}/judge")
    keep_all(page)
    begin(page)
    rank_by_keys(page, "AB")
    is_saved(page)
    is_stored(away, "P0", [["A"], ["B"]])
    away.kill()
    # The copy is older than what was stored last.
    page.reload()
    is_ready(page)
    assert shown_ranking(page) == [["A"], ["B"]]
    expect(page.locator("#save-status")).to_have_text("Offline")
    rank_by_keys(page, "C")
    submit_and_withdraw(page)
    page.get_by_role("link", name="All tasks").click()
    expect(page.locator("#offline-unsent")).to_contain_text("Problem 0")
    begin(page, "Problem 1")
    rank_by_keys(page, "ABC")
    submit(page)
    is_kept(page)
    page.reload()
    is_ready(page)
    is_not_shown(page.context.new_page(), f"{away.base}/dashboard")
    assert all(KEPT.fullmatch(path) and "dashboard" not in path for path in kept_addresses(page))
    is_back(page, away)
    # This page submits its own task, and sends the other one.
    has_receipt(page)
    is_stored(away, "P0", [["C"], ["A"], ["B"]])
    assert not away.stored("J0", "P0")["submitted"]
    assert away.stored("J0", "P1")["submitted"]
    page.goto(f"{away.base}/judge")
    keep_all(page)
    expect(page.locator("#offline-unsent")).to_be_empty()
    # What another page sent is what a task goes on from.
    begin(page)
    assert shown_ranking(page) == [["C"], ["A"], ["B"]]
    submit(page)
    has_receipt(page)
    is_empty(page)
    page.get_by_role("dialog").get_by_role("button", name="Reopen").click()
    expect(page.get_by_role("button", name="Submit ranking").first).to_be_visible()
    to_top(page, "A")
    expect(page.locator("#save-status[data-word=saved]")).to_contain_text("Saved")
    page.goto(f"{away.base}/judge")
    keep_all(page)


def submit_and_withdraw(page: Page) -> None:
    """The wish to submit outlives a reload; a change takes it back, as always."""
    submit(page)
    is_kept(page)
    note = page.locator(".review .note").first
    for _ in range(2):
        expect(note).to_contain_text("Not submitted yet. It will be submitted when the server")
        expect(note).to_contain_text("you can close this page")
        page.reload()
    is_ready(page)
    to_top(page, "C")
    expect(page.get_by_text("Not submitted yet. It will be")).to_have_count(0)
    expect(page.locator("#left")).to_contain_text("Submit again")
    is_kept(page)


def has_receipt(page: Page) -> None:
    """Wait until a ranking is submitted."""
    expect(page.locator("#receipt dd").last).to_have_text(re.compile("^[0-9a-f]{10}$"))


def kept_addresses(page: Page) -> list[str]:
    """The paths of what the worker keeps."""
    paths: list[str] = page.evaluate(
        """async () => (await Promise.all((await caches.keys()).map(async (name) => (
            (await (await caches.open(name)).keys()).map(({url}) => new URL(url).pathname)
        )))).flat()"""
    )
    return paths


def test_two_devices_of_which_one_is_offline(come: Callable[..., Visit], away: Served) -> None:
    """What another device saved meanwhile is not overwritten unasked, also after a reload."""
    page = come().page
    keep_all(page)
    begin(page)
    rank_by_keys(page, "A")
    is_saved(page)
    url = page.url
    page.context.route("**/state", lambda route: route.abort())
    rank_by_keys(page, "B")
    is_kept(page)
    other = come().page
    other.goto(url)
    is_ready(other)
    rank_by_keys(other, "C")
    is_saved(other)
    away.kill()
    page.reload()
    is_ready(page)
    assert shown_ranking(page) == [["A"], ["B"]]
    page.context.unroute("**/state")
    is_back(page, away)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("changed in another tab or on another device")
    assert away.stored("J0", "P0")["state"]["ranked"] == [["A"], ["C"]]
    # The first page does not decide it either.
    page.goto(f"{away.base}/judge")
    expect(page.locator("#offline-unsent")).to_contain_text("open it and decide: Task")
    page.locator("#offline-unsent a").click()
    expect(dialog).to_contain_text("holds an unsaved ranking")
    dialog.get_by_role("button", name="Keep this version").click()
    is_stored(away, "P0", [["A"], ["B"]])
    page.goto(f"{away.base}/judge")
    keep_all(page)
    expect(page.locator("#offline-unsent")).to_be_empty()


def test_a_second_judge_and_a_link_that_is_revoked(
    come: Callable[..., Visit], away: Served
) -> None:
    """A second judge finds nothing of the first; whose link is revoked keeps nothing at all."""
    page = come().page
    keep_all(page)
    begin(page)
    first = page.url
    (name,) = left_over(page)["caches"]
    page.goto(away.links["J1"])
    keep_all(page)
    left = left_over(page)
    (second,) = left["caches"]
    assert second != name
    assert all(second.startswith(f"{database['name']}-") for database in left["databases"])
    begin(page)
    url = page.url
    away.kill()
    rank_by_keys(page, "A")
    is_kept(page)
    other = page.context.new_page()
    is_not_shown(other, first)
    other.close()
    run = [sys.executable, "-c", "from quem.cli import run; run()", "judges"]
    subprocess.run([*run, str(away.study), "--revoke", "J1"], check=True, capture_output=True)
    is_back(page, away)
    expect(page.get_by_role("dialog")).to_contain_text("private link")
    expect(page.get_by_role("dialog")).to_contain_text("stored nowhere else")
    is_empty(page)
    page.goto(f"{away.base}/judge")
    expect(page.get_by_role("heading", name="Link required")).to_be_visible()
    is_empty(page)
    away.kill()
    is_not_shown(page, url)


def test_signing_out(come: Callable[..., Visit], away: Served) -> None:
    """Nobody signs out of what can be sent; then nothing is left, and the link still works."""
    page = come().page
    keep_all(page)
    page.context.add_init_script(UNSENT)
    begin(page)
    page.evaluate("sessionStorage.unsent = 1")
    rank_by_keys(page, "A")
    is_kept(page)
    page.goto(f"{away.base}/judge")
    unsent = page.locator("#offline-unsent")
    expect(unsent).to_contain_text("sent when the server answers again")
    keep_all(page)
    page.get_by_role("button", name="Sign out").click()
    expect(unsent).to_contain_text("Problem 0")
    # A study that is paused says so.
    set_life(away, "paused")
    page.evaluate("delete sessionStorage.unsent")
    page.reload()
    expect(unsent).to_contain_text("not saved: Task")
    expect(unsent).to_contain_text("The study is paused.")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Sign out").click()
    page.locator("#offline-unsent a").click()
    is_ready(page)
    expect(page.locator("#save-status")).to_contain_text("kept in this browser")
    expect(page.get_by_role("dialog")).to_have_count(0)
    set_life(away, "open")
    page.goto(f"{away.base}/judge")
    expect(unsent).to_be_empty()
    is_stored(away, "P0", [["A"]])
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
    is_empty(page)
    page.goto(f"{away.base}/judge")
    expect(page.get_by_role("heading", name="Link required")).to_be_visible()
    page.goto(away.links["J0"])
    keep_all(page)


def set_life(served: Served, state: Literal["open", "paused"]) -> None:
    """Change the state of the study."""
    store = store_of(locate_database(served.study, None), "made-up")
    assert store is not None
    with store.write() as c:
        set_state(c, "made-up", state, "shell")
    store.close()


def test_a_browser_that_keeps_nothing(
    browser: Browser, come: Callable[..., Visit], away: Served
) -> None:
    """Where the disk is full or workers are blocked, the pages say so, and work."""
    blocked = come(service_workers="block")
    expect(blocked.page.locator("#offline-copies")).to_contain_text("Not available offline")
    begin(blocked.page, "Problem 1")
    rank_by_keys(blocked.page, "A")
    is_saved(blocked.page)
    said = "Service Worker registration blocked by Playwright"
    blocked.complaints[:] = [text for text in blocked.complaints if said not in text]
    visit = Visit(browser, away, "J0")
    full = "() => { throw new DOMException('full', 'QuotaExceededError'); }"
    visit.page.add_init_script(
        f"IDBObjectStore.prototype.put = {full}; Cache.prototype.put = {full}"
    )
    page = visit.page
    page.goto(away.links["J0"])
    expect(page.locator("#offline-copies")).to_contain_text("no room left")
    begin(page)
    rank_by_keys(page, "A")
    is_saved(page)
    away.kill()
    rank_by_keys(page, "B")
    status = page.locator("#save-status")
    expect(status).to_contain_text("Offline. Keep this page open")
    expect(status).not_to_contain_text("Kept on this device")
    is_back(page, away)
    is_stored(away, "P0", [["A"], ["B"]])
    visit.close()


def test_consent_and_what_is_fetched_later(browser: Browser, tmp_path: Path) -> None:
    """Nothing is kept before the judge agrees; then also pictures, and texts that come late."""
    judging = "{offline: true, consent: consent.md}"
    study = write_judging_study(tmp_path, problems=1, solvers=3, judging=judging)
    (tmp_path / "consent.md").write_text("You may stop at any time.\n")
    solutions = tmp_path / "solutions" / "P0"
    for name in ("S0", "S1"):
        (solutions / f"{name}.md").write_text("Many words. " * 20_000)
    (solutions / "sys.md").unlink()
    Image.new("RGB", (30, 20), "teal").save(solutions / "sys.png")
    with Served(study) as served:
        visit = Visit(browser, served, "J0")
        page = visit.page
        page.goto(served.links["J0"])
        is_empty(page)
        page.get_by_role("button", name="I would rather not").click()
        expect(page.get_by_text("You declined")).to_be_visible()
        is_empty(page)
        page.get_by_role("button", name="I agree").click()
        keep_all(page)
        served.kill()
        begin(page)
        for label in "ABC":
            page.locator(f"#ladder [data-open='{label}']").click()
            prose = page.locator("#reader .prose")
            expect(prose.locator("img").or_(prose.get_by_text("Many words").first)).to_be_visible()
            for image in prose.locator("img").all():
                width = "async image => { await image.decode(); return image.naturalWidth; }"
                assert image.evaluate(width) == 30
        visit.close()


def test_a_new_version(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is open gets new static files at the next load; copies of old ones are gone."""
    site = open_site(write_judging_study(tmp_path, solvers=3, judging="{offline: true}"))
    with site.store.write() as c:
        token = issue_link(c, judge_named(c, site.id, "J0"), "shell")
    context = browser.new_context()
    page, port = context.new_page(), 0
    for number, version in enumerate(("0123456789ab", "ba9876543210")):
        monkeypatch.setattr("webjudge.app._digest", lambda _, version=version: version)
        server = make_server("127.0.0.1", port, create_app(site), threaded=True)
        port = server.port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        if number:
            page.reload()
        else:
            page.goto(f"http://127.0.0.1:{port}/j/{token}")
        keep_all(page)
        expect(page.locator("script[src$='offline.js']")).to_have_attribute(
            "src", re.compile(version)
        )
        (kept,) = left_over(page)["caches"]
        assert kept.endswith(version)
        server.shutdown()
        thread.join()
        server.server_close()
    context.close()
    site.store.close()


def test_reloads_and_kills(playwright: Playwright, tmp_path: Path) -> None:
    """Of one trial: no order is lost or stored after a newer one where the browser is killed."""
    trial = OfflineTrial(playwright, random.Random(1), tmp_path, rounds=range(1, 2))
    happened = trial.run()
    assert "kill" in happened["events"][0]
    assert sum(happened["made"].values()) > 2
