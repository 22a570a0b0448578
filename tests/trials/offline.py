"""A judge ranks without the server, in a browser that is killed: nothing is lost or mixed up.

After the first visit the server ends. The judge ranks by keys; at random moments the page is
reloaded, or all processes of the browser are killed. In some rounds the server comes back and is
killed again meanwhile. At the end it stays; then the stored revisions of each task are a part of
what the judge made, in that order, and the last one is what the judge made last.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from playwright.sync_api import Error, expect, sync_playwright
from sqlalchemy import select

from quem.store.ballots import ballots_of
from quem.store.engine import store_of
from quem.store.judges import judges_of
from quem.store.location import locate_database
from quem.store.models import RevisionRow
from quem.store.state import State
from quem.study.reading import read_study
from tests.browser.chromium import KillableChromium
from tests.browser.judging import begin, is_ready, press, shown_ranking
from tests.patience import SECONDS, until
from tests.served import Served, label_of, write_judging_study
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from playwright.sync_api import Playwright

Order = tuple[tuple[str, ...], ...]

_PROBLEMS = ("P0", "P1")
_LETTERS = "ABCD"
_MOVES = {"Alt+ArrowUp": -1, "Alt+ArrowDown": 1}
_MOST_KEYS = 25
# The word that the page says, what it says, and the order, at one moment.
_LOOK = """() => ({
    word: document.querySelector("#save-status").dataset.word,
    text: document.querySelector("#save-status").textContent,
    order: [...document.querySelectorAll("#ranked .rung")].map((rung) => (
        [...rung.querySelectorAll(".chip")].map((chip) => chip.dataset.label))),
})"""


# What the browser keeps and has not sent.
_UNSENT = """async () => {
    const of = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = reject;
    });
    const [{ name }] = await indexedDB.databases();
    const db = await of(indexedDB.open(name));
    const rows = await of(db.transaction("unsent").objectStore("unsent").getAll());
    db.close();
    return rows;
}"""


class Revision(NamedTuple):
    """A stored state of a task: which change of which page it is, and the order in letters."""

    client: str
    change: int
    number: int
    order: Order


@dataclass
class Task:
    """What the judge made of a task."""

    # Each order that the page showed, or was about to show when it was killed.
    made: list[Order] = field(default_factory=lambda: [()])
    kept: int = 1  # how many of them the page said to be kept or saved

    def note(self, seen: dict[str, Any]) -> None:
        """Note what the page shows, and whether it says that this is kept."""
        order = tuple(map(tuple, seen["order"]))
        if order != self.made[-1]:
            self.made.append(order)
        if seen["word"] == "saved" or (seen["word"] == "offline" and "Kept on" in seen["text"]):
            self.kept = len(self.made)

    def is_restored(self, order: Order) -> None:
        """What is shown after an end is what was kept last, or something newer."""
        assert order in self.made[self.kept - 1 :], f"{order} of {self.made}, {self.kept} kept"
        if order != self.made[-1]:
            self.made.append(order)
        self.kept = len(self.made)

    def holds(self, stored: list[Order]) -> None:
        """The stored orders are made in their order, and the last one last."""
        place = 0
        for order in stored:
            assert order in self.made[place:], f"{order} is out of order: {stored} of {self.made}"
            place = self.made.index(order, place)
        assert (stored or [()])[-1] == self.made[-1], f"{stored} of {self.made}"


@dataclass
class OfflineTrial:
    """One judge, one browser, and a server that goes away."""

    playwright: Playwright
    rng: random.Random
    folder: Path
    rounds: range = range(3, 6)  # how many there may be
    tasks: dict[str, Task] = field(default_factory=lambda: {p: Task() for p in _PROBLEMS})
    events: list[str] = field(default_factory=list)
    asked: int = 0

    def run(self) -> dict[str, Any]:
        """Run it; gives what happened."""
        study = write_judging_study(
            self.folder, problems=2, solvers=4, judges=1, judging="{offline: true}"
        )
        self.chromium = KillableChromium(self.playwright, self.folder / "profile")
        with Served(study) as self.served:
            try:
                self._first_visit()
                for _ in range(self.rng.choice(self.rounds)):
                    self._round()
                self._come_back()
            finally:
                self.chromium.kill()
        made = {problem: len(task.made) for problem, task in self.tasks.items()}
        return {"events": self.events, "made": made, "asked": self.asked}

    def _first_visit(self) -> None:
        page = self.chromium.start()
        page.goto(self.served.links["J0"])
        expect(page.locator("#offline-copies")).to_contain_text("Available offline")
        # A cookie is written to the disk half a minute later, or when the browser is closed.
        self.chromium.close()
        self.page = self.chromium.start()
        self.served.kill()

    def _round(self) -> None:
        """Rank at one task, until the page is reloaded or the browser killed."""
        problem = self.rng.choice(_PROBLEMS)
        how = self.rng.choice(("kill", "kill", "reload"))
        is_back = self.rng.random() < 0.3
        self.events.append(f"{problem} {how}{' with the server' if is_back else ''}")
        self._open(problem)
        if is_back:
            self.served.start()
        delay = self.rng.uniform(0.1, 3)
        killer = threading.Timer(delay, self.chromium.kill)
        if how == "kill":
            killer.start()
        try:
            self._rank(self.tasks[problem])
            if how == "reload":
                self.page.reload()
                self._is_restored(problem)
        except Error:
            if how != "kill":
                raise
        if how == "kill":
            killer.join()
        if is_back:
            self.served.kill()
        if how == "kill":
            self.chromium.kill()
            self.page = self.chromium.start()

    def _open(self, problem: str) -> None:
        self.page.goto(f"{self.served.base}/judge")
        begin(self.page, f"Problem {problem[1:]}")
        self._is_restored(problem)

    def _is_restored(self, problem: str) -> None:
        is_ready(self.page)
        self._decide()
        order = tuple(map(tuple, shown_ranking(self.page)))
        try:
            self.tasks[problem].is_restored(order)
        except AssertionError as error:
            error.add_note(f"{self.events}")
            raise

    def _undecided(self) -> list[str]:
        """The tasks of which the server has a state that the browser knows nothing of.

        Its last save arrived, and it was killed before it kept that there was one.
        """
        if self.page.url == "about:blank":
            self.page.goto(f"{self.served.base}/judge")
        undecided = []
        for row in self.page.evaluate(_UNSENT):
            problem = f"P{row['page']['title'][-1]}"
            known = [(of["client"], of["change"]) for of in (row["as"], row["sending"]) if of]
            undecided += [
                problem
                for newest in self._revisions(problem)[-1:]
                if newest.number > row["base"] and (newest.client, newest.change) not in known
            ]
        return undecided

    def _decide(self) -> None:
        """Where the server was killed between storing and answering, the page may have to ask."""
        mine = self.page.get_by_role("button", name="Keep this version")
        if mine.is_visible():
            self.asked += 1
            mine.click()

    def _rank(self, task: Task) -> None:
        for _ in range(self.rng.randrange(1, _MOST_KEYS)):
            label, key = self.rng.choice(_LETTERS), self.rng.choice(list(_MOVES))
            coming = _moved(task.made[-1], label, _MOVES[key])
            try:
                press(self.page, label, key)
                task.note(self.page.evaluate(_LOOK))
            except Error:
                # Killed: the page may have come to that order before.
                if coming != task.made[-1]:
                    task.made.append(coming)
                raise

    def _come_back(self) -> None:
        """The server is back: any page sends all but what the judge has to decide."""
        undecided = self._undecided()
        self.served.start()
        last = self.rng.choice(("home", *_PROBLEMS))
        self.events.append(f"back at {last}")
        for problem in _PROBLEMS:
            # Of what was not kept it is known only now whether it was made.
            task = self.tasks[problem]
            if task.kept < len(task.made) or problem in undecided:
                self._open(problem)
        self.page.goto(f"{self.served.base}/judge")
        if last != "home":
            begin(self.page, f"Problem {last[1:]}")
            self._is_restored(last)
        for problem, task in self.tasks.items():
            until(
                lambda problem=problem, task=task: self._last(problem) == task.made[-1],  # type: ignore[misc]
                f"{task.made[-1]} stored for {problem}; {self.events}",
            )
            task.holds(self._stored(problem))

    def _last(self, problem: str) -> Order:
        return (self._stored(problem) or [()])[-1]

    def _stored(self, problem: str) -> list[Order]:
        """The orders of all revisions of a task, in letters."""
        return [revision.order for revision in self._revisions(problem)]

    def _revisions(self, problem: str) -> list[Revision]:
        """All revisions of a task."""
        study = read_study(self.served.study)
        store = store_of(locate_database(self.served.study, None), study.id)
        assert store is not None
        with store.read() as c:
            (person,) = judges_of(c, study.id)
            ballot = next(b for b in ballots_of(c, person.key) if b.problem == problem)
            columns = (RevisionRow.client, RevisionRow.change, RevisionRow.number)
            rows = select(*columns, RevisionRow.state).where(RevisionRow.ballot_key == ballot.key)
            revisions = c.execute(rows.order_by(RevisionRow.number)).all()
        store.close()
        letters = label_of(ballot)
        return [
            Revision(client, change, number, State.stored(state).renamed(letters).ranked)
            for client, change, number, state in revisions
        ]


def _moved(order: Order, label: str, by: int) -> Order:
    """What a key makes of an order without ties."""
    if (label,) not in order:
        return (*order, (label,)) if by < 0 else order
    at = order.index((label,))
    rest = [group for group in order if group != (label,)]
    rest.insert(max(0, at + by), (label,))
    return tuple(rest)


@registered("offline", count=100)
def offline(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A judge ranks without the server, reloads and is killed: no order is lost or out of order."""
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        return OfflineTrial(playwright, rng, folder).run()
