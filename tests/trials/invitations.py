"""``quem links --mail`` that is killed at random moments while it sends: nobody gets two letters.

One or two commands send at once. After each kill others go on. At the end, what became of each
letter is compared with what the mail server was given.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.models import LetterRow, now
from quem.store.outbox import UNKNOWN, letters_of
from quem.store.people import people_of
from quem.studyfile.reading import read_study
from tests.mail.smtp import MailHost
from tests.patience import SECONDS
from tests.served import write_judging_study
from tests.trials.runner import registered
from tests.trials.sessions import a_database

if TYPE_CHECKING:
    from pathlib import Path

_QUEM = (sys.executable, "-c", "from quem.cli import run; run()", "links", "judges")
_MOST_LETTERS = 6  # between two kills


class InvitationTrial:
    """A study whose judges are invited by commands that are killed."""

    def __init__(
        self, folder: Path, database: str, rng: random.Random, *, judges: int = 60, kills: int = 5
    ) -> None:
        self._rng, self._database, self._kills = rng, database, kills
        self._study = write_judging_study(folder, judges=judges)
        self._addresses = {f"J{n}": f"j{n}@example.org" for n in range(judges)}
        rows = [f"{judge},{email}" for judge, email in self._addresses.items()]
        self._study.with_name("people.csv").write_text("\n".join(["id,email", *rows, ""]))
        self._refused: set[str] = set()
        self._of_server = random.Random(rng.random())  # which answers in a thread

    def run(self) -> dict[str, Any]:
        with MailHost(self._answer) as host:
            for _ in range(self._kills):
                self._kill_one(host)
            for count in (2, 1):
                self._wait_a_day()
                assert [one.wait(SECONDS) for one in self._started(host, count)] == [0] * count
            return self._compare(host)

    def _answer(self, address: str) -> str:
        """Do not want a letter at first, now and then; answer as fast as servers do."""
        time.sleep(self._of_server.random() / 100)
        if self._of_server.random() < 0.1 and address not in self._refused:
            self._refused.add(address)
            return "450 4.2.0 later"
        return "250 OK"

    def _started(self, host: MailHost, count: int) -> list[subprocess.Popen[bytes]]:
        command = [*_QUEM, str(self._study), "--mail", "--database", self._database]
        environment, nowhere = {**os.environ, **host.environment}, subprocess.DEVNULL
        return [
            subprocess.Popen(command, env=environment, stdout=nowhere, stderr=nowhere)
            for _ in range(count)
        ]

    def _kill_one(self, host: MailHost) -> None:
        goal = len(host.letters) + self._rng.randint(1, _MOST_LETTERS)
        running = self._started(host, self._rng.choice([1, 1, 2]))
        until = time.monotonic() + SECONDS
        while len(host.letters) < goal and any(one.poll() is None for one in running):
            assert time.monotonic() < until
            time.sleep(0.001)
        time.sleep(self._rng.random() / 50)
        for process in running:
            process.kill()
            process.wait()

    def _wait_a_day(self) -> None:
        store = open_store(locate_database(self._study, self._database))
        with store.write() as c:
            c.execute(update(LetterRow).values(due_at=now()))
        store.close()

    def _compare(self, host: MailHost) -> dict[str, Any]:
        store = open_store(locate_database(self._study, self._database))
        study = read_study(self._study).id
        with store.read() as c:
            letters = letters_of(c, study, "judge")
            ids = {judge.key: judge.id for judge in people_of(c, study, "judge")}
        store.close()
        received = host.receivers
        twice = [address for address, count in received.items() if count > 1]
        assert not twice, f"sent twice: {twice}"
        assert len(letters) == len(self._addresses)
        counts = [received[self._addresses[ids[letter.person_key]]] for letter in letters]
        for letter, count in zip(letters, counts, strict=True):
            assert letter.state in ("sent", "failed"), letter
            assert count == 1 or letter.error == UNKNOWN, letter
        return {
            "kills": self._kills,
            "delivered": len(received),
            "unknown": sum(letter.state == "failed" for letter in letters),
            "never left": counts.count(0),
            "not wanted at first": len(self._refused),
        }


@registered("invitations", count=24)
def invitations(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Commands that send invitations are killed: nobody gets two letters."""
    with a_database(rng.choice(("SQLite", "PostgreSQL")), folder) as database:
        return InvitationTrial(folder, database, rng).run()
