"""Sessions behind a real server: each sign-in has its own, and what ends it."""

from __future__ import annotations

import datetime as dt
import sqlite3
import urllib.request
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.error import HTTPError

import pytest

from quem.store.location import locate_database
from tests.served import Browserless, Served
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A study that is served."""
    with Served(write_solving_study(tmp_path)) as served:
        yield served


def entered(served: Served, link: str) -> Browserless:
    """Sign in by a link."""
    browser = Browserless(served.base)
    browser.get(link)
    return browser


def status(served: Served, browser: Browserless, path: str) -> int:
    """Give the status of a page to whoever has a copy of a browser's cookies now."""
    cookies = "; ".join(f"{one.name}={one.value}" for one in browser.cookies)
    request = urllib.request.Request(served.base + path, headers={"Cookie": cookies})  # noqa: S310
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize(
    ("page", "leave"),
    [
        ("/judge", "/judge/sign-out"),
        ("/dashboard", "/dashboard/leave"),
        ("/solve", "/solve/sign-out"),
    ],
)
def test_a_copied_cookie_ends_with_its_session(served: Served, page: str, leave: str) -> None:
    """Signing out ends one session for all who have its cookie; another sign-in lasts."""
    who = {"/judge": "J1", "/solve": "S1"}.get(page)
    link = served.links[who] if who else served.dashboard
    one, other, copied = (entered(served, link) for _ in range(3))
    copied.cookies.clear()
    for cookie in one.cookies:
        copied.cookies.set_cookie(cookie)
    assert {cookie.value for cookie in one.cookies} != {cookie.value for cookie in other.cookies}
    if who:
        assert f'action="{leave}"' in one.get(page)
    assert "out" in one.submit(leave)
    assert status(served, copied, page) == 401
    assert status(served, other, page) == 200
    assert status(served, entered(served, link), page) == 200


def test_an_organizer_who_is_idle_signs_in_again(served: Served) -> None:
    """After 12 hours without a request; a judge's session lasts."""
    organizer = entered(served, served.dashboard)
    judge = entered(served, served.links["J1"])
    file = locate_database(served.study, None).file
    assert file is not None
    for hours, expected in ((11, 200), (13, 401)):
        before = dt.datetime.now(dt.UTC) - dt.timedelta(hours=hours)
        with closing(sqlite3.connect(file)) as c, c:
            c.execute("UPDATE session SET seen_at = ?", (before.strftime("%Y-%m-%d %H:%M:%S.%f"),))
        assert status(served, organizer, "/dashboard") == expected
        assert status(served, judge, "/judge") == 200
