"""Clients that want more time than there is: none gets it."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.error import HTTPError

import pytest

from quem.store.people import issue_link, person_named
from quem.store.work import last_answer, task_of
from tests.served import Browserless, waitress_serving
from tests.store.solving import FakeTime
from tests.webjudge.solving_sites import task_data, write_solving_study
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT, HOUR = 60, 3600


class Cheat:
    """A client with the link of a subject, whose first problem is started."""

    def __init__(self, base: str, link: str, time: FakeTime) -> None:
        self.browser, self.link, self.time = Browserless(base), link, time
        self.browser.get(link)
        self.browser.submit("/solve/about", experience="7")
        self.gid = self.browser.get("/solve").partition("/solve/t/")[2].partition('"')[0]
        self.browser.submit(f"/solve/t/{self.gid}/start")
        self.first = ""  # the id of the first draft
        self.save("in time")

    def save(
        self, text: str = "gained", *, submit: bool = False, base: int | str | None = None
    ) -> None:
        """Save an answer, made from the newest draft unless another is named."""
        if base is None:
            page = self.browser.get(f"/solve/t/{self.gid}")
            base = task_data(page)["revision"] if "task-data" in page else 1
        if base == 1:
            base = self.first
        self.browser.changes += 1
        body = {"base": base, "client": self.browser.client, "change": self.browser.changes}
        body |= {"layout": "", "state": {"text": text, "files": []}, "submit": submit}
        status, answer = self.browser.send("PUT", f"/solve/t/{self.gid}/state", body)
        if status == HTTPStatus.OK:
            self.first = self.first or answer["revision"]

    def say(self, running: str, client: str = "") -> int:
        """Tell the clock something; gives the status of the answer."""
        body = {"client": client or self.browser.client, "running": running, "take": True}
        return self.browser.send("POST", f"/solve/t/{self.gid}/clock", body)[0]

    def do(self, what: str, **fields: str) -> None:
        """Submit a form of the page."""
        with suppress(HTTPError):
            self.browser.submit(f"/solve/t/{self.gid}/{what}", **fields)

    def says(self, *words: str, every: int) -> None:
        """Tell the clock one word after the other, with some seconds before each."""
        for word in words:
            self.time.passes(every)
            self.say(word)

    def waits(self, seconds: int = HOUR) -> None:
        """Let time pass, and keep working."""
        self.time.passes(seconds)

    def on_another_device(self) -> Cheat:
        """Sign in again."""
        return Cheat(self.browser.base, self.link, self.time)


def many_saves(one: Cheat) -> None:
    """Save every 30 seconds, beyond the limit."""
    for number in range(4):
        one.waits(30)
        one.save("gained" if number > 1 else "in time")


# What each does in turn; all try to save "gained" when no time is left for it.
CHEATS: dict[str, tuple[Callable[[Cheat], object], ...]] = {
    "no clock": (Cheat.waits, Cheat.save),
    "no clock, submits": (Cheat.waits, lambda one: one.save(submit=True)),
    "never sees the page again": (Cheat.waits, lambda one: one.save(base=1)),
    "away": (lambda one: one.say("away"), Cheat.waits, Cheat.save),
    "away and back": (lambda one: one.says("away", "work", every=50), Cheat.save),
    "away, submits": (
        lambda one: one.say("away"),
        Cheat.waits,
        lambda one: one.save(base=1, submit=True),
    ),
    "always away": (lambda one: one.says(*["away"] * 5, every=15), Cheat.save),
    "now and then away": (lambda one: one.says(*["away", "work"] * 3, every=20), Cheat.save),
    "saves in a pause": (lambda one: one.say("pause"), Cheat.waits, lambda o: o.save(base=1)),
    "submits in a pause": (
        lambda one: one.say("pause"),
        Cheat.waits,
        lambda one: one.save(base=1, submit=True),
    ),
    "reads in a pause": (
        lambda one: one.say("pause"),
        lambda one: one.browser.get(f"/solve/t/{one.gid}"),
        Cheat.waits,
        Cheat.save,
    ),
    "pauses in another tab": (
        lambda one: one.say("pause", "another-tab"),
        Cheat.waits,
        lambda one: one.save(base=1),
    ),
    "pauses at the end": (
        lambda one: one.says("pause", "work", every=59),
        lambda one: one.waits(2),
        lambda one: one.save(base=1),
    ),
    "away in another tab": (lambda one: one.say("away", "another-tab"), Cheat.waits, Cheat.save),
    "was on its way": (
        lambda one: one.says(*["work"] * 2, every=30),
        lambda one: one.waits(1),
        lambda one: one.save(base=1),
    ),
    "submits and reopens": (
        lambda one: one.save("in time", submit=True),
        Cheat.waits,
        lambda one: one.do("reopen"),
        Cheat.save,
    ),
    "skips and reopens": (
        lambda one: one.do("skip", minutes="9"),
        Cheat.waits,
        lambda one: one.do("reopen"),
        Cheat.save,
    ),
    "reopens after the end": (
        lambda one: one.says(*["work"] * 3, every=30),
        lambda one: one.do("reopen"),
        Cheat.save,
    ),
    "starts again": (Cheat.waits, lambda one: one.do("start"), Cheat.save),
    "many saves": (many_saves,),
    "another device": (
        lambda one: one.say("away"),
        Cheat.waits,
        lambda one: one.on_another_device().save(),
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_client_gains_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What is saved when no time is left does not count, however the client gets there."""
    site = open_site(write_solving_study(tmp_path, solving="time_limit: 1\norder: fixed"))
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "subject", "S1"), "shell")
    time = FakeTime(monkeypatch)
    with waitress_serving(create_app(site)) as base:
        one = Cheat(base, f"{base}/p/{token}", time)
        for step in CHEATS[name]:
            step(one)
    with site.store.read() as c:
        key = person_named(c, site.id, "subject", "S1").key
        assert last_answer(c, task_of(c, key, one.gid)).text == "in time"
    site.store.close()
