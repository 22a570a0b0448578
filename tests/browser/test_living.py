"""A study that is edited while judges are at its pages: their order of what stays is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    accessible,
    begin,
    labels_in,
    rank_by_keys,
    row,
    shown_ranking,
    submit,
)
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A session of its own: its study is edited."""
    with Served(write_judging_study(tmp_path, problems=1, judges=1)) as server:
        yield server


@pytest.fixture
def come(browser: Browser, own: Served) -> Iterator[Visit]:
    """The judge of that session, at the ranking page."""
    visit = Visit(browser, own, "J0")
    visit.enter()
    yield visit
    visit.close()


def number_of(page: Page, letter: str) -> str:
    """Which of the made-up solutions stands under a letter."""
    row(page, letter).click()
    text = page.locator(f"#reader[data-text^='{letter} '] .prose").text_content() or ""
    return text.partition("number ")[2].split(".")[0]


def letters(page: Page) -> dict[str, str]:
    """The letter of each solution on the page."""
    labels = [label for area in ("ranked", "tray") for label in labels_in(page, area)]
    return {number_of(page, label): label for label in labels}


def replace_s3(own: Served) -> None:
    """Stop the server, let S9 come in the place of S3, and start it again."""
    own.kill()
    folder = own.study.parent / "solutions" / "P0"
    (folder / "S3.md").unlink()
    (folder / "S9.md").write_text("Do thing number nine.\n")
    own.study.write_text(own.study.read_text().replace("id: S3,", "id: S9,"))
    own.start()


@pytest.mark.parametrize("how", ["open", "offline, then reloaded"])
def test_an_order_of_before_is_kept_by_content(own: Served, come: Visit, how: str) -> None:
    """The page says what changed, keeps the order of the others, and submits what it shows."""
    page = come.page
    of = letters(page)
    best_first = [of[number] for number in ("3", "0", "4", "2")]
    rank_by_keys(page, "".join(best_first[:3]))
    come.equals_store()
    if how == "open":
        replace_s3(own)
        rank_by_keys(page, best_first[3])
    else:
        page.route("**/state", lambda route: route.abort())
        rank_by_keys(page, best_first[3])
        expect(page.locator("#save-status")).to_contain_text("Offline")
        replace_s3(own)
        page.unroute("**/state")
        page.reload()
    expect(page.get_by_role("dialog")).to_contain_text(f"Solution {of['3']} is no longer part")
    expect(page.get_by_role("dialog")).to_contain_text("Solution F is new and not ranked yet")
    accessible(page, "told what changed")
    page.get_by_role("button", name="OK").click()
    expect(page.locator(f"#ladder [data-label={of['3']}]")).to_have_count(0)
    expect(page.locator("#tray .chip")).to_have_count(2)
    ranking = [[of[number]] for number in ("0", "4", "2")]
    assert shown_ranking(page) == ranking
    assert letters(page) == {n: x for n, x in of.items() if n != "3"} | {"nine": "F"}
    assert come.equals_store()["state"]["ranked"] == ranking
    rank_by_keys(page, "F" + of["1"])
    submit(page)
    come.has_submitted()
    record = own.stored("J0", "P0")
    assert record["submitted"]
    assert record["state"]["ranked"] == [*ranking, ["F"], [of["1"]]]


def test_a_new_solution_is_placed_into_a_submitted_ranking(own: Served, come: Visit) -> None:
    """It is marked on the first page; only the new one has to be placed."""
    page = come.page
    rank_by_keys(page, "ABCDE")
    submit(page)
    come.has_submitted()
    own.kill()
    (own.study.parent / "solutions" / "P0" / "S9.md").write_text("Do thing number nine.\n")
    text = own.study.read_text().replace("subjects:", "subjects:\n  - {id: S9, experience: 9}")
    own.study.write_text(text)
    own.start()
    page.goto(own.links["J0"])
    expect(page.get_by_role("main")).to_contain_text("1 new solution to place")
    begin(page)
    expect(page.locator(".to-place")).to_contain_text(
        "A new solution has come since you submitted: F"
    )
    assert shown_ranking(page) == [["A"], ["B"], ["C"], ["D"], ["E"]]
    accessible(page, "a new solution to place")
    rank_by_keys(page, "F")
    come.equals_store()
    submit(page)
    come.has_submitted()
    assert own.stored("J0", "P0")["submitted"]
