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
from contextlib import contextmanager
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
from tests.postgres import running_postgres
from tests.served import write_judging_study
from tests.trials.runner import registered

if TYPE_CHECKING:
    from pathlib import Path

_JUDGES, _KILLS = 60, 5
_MOST_LETTERS = 6  # between two kills
_QUEM = (sys.executable, "-c", "from quem.cli import run; run()")


class InvitationTrial:
    """A study whose judges are invited by commands that are killed."""

    def __init__(
        self,
        folder: Path,
        database: str,
        rng: random.Random,
        *,
        judges: int = _JUDGES,
        kills: int = _KILLS,
    ) -> None:
        self._rng, self._database, self._judges, self._kills = rng, database, judges, kills
        self._study = write_judging_study(folder, judges=judges)
        self._id = read_study(self._study).id
        self._addresses = {f"J{n}": f"j{n}@example.org" for n in range(judges)}
        rows = [f"{judge},{email}" for judge, email in self._addresses.items()]
        self._study.with_name("people.csv").write_text("\n".join(["id,email", *rows, ""]))
        self._refused: set[str] = set()
        self._of_server = random.Random(rng.random())  # which answers in a thread

    def run(self) -> dict[str, Any]:
        """Kill, and let a last command finish; gives what became of the letters."""
        with MailHost(self._answer) as host:
            for _ in range(self._kills):
                self._kill_one(host)
            self._wait_a_day()
            for process in self._started(host, 2):
                assert process.wait(SECONDS) == 0
            return self._compare(host)

    def _answer(self, address: str) -> str:
        """Do not want a letter at first, now and then; answer as fast as servers do."""
        time.sleep(self._of_server.random() / 100)
        if self._of_server.random() < 0.1 and address not in self._refused:
            self._refused.add(address)
            return "450 4.2.0 later"
        return "250 OK"

    def _started(self, host: MailHost, count: int) -> list[subprocess.Popen[bytes]]:
        command = [
            *_QUEM,
            "links",
            "judges",
            str(self._study),
            "--mail",
            "--database",
            self._database,
        ]
        return [
            subprocess.Popen(
                command,
                env={**os.environ, **host.environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
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
        """Let what was not wanted be tried again."""
        store = open_store(locate_database(self._study, self._database))
        with store.write() as c:
            c.execute(update(LetterRow).values(due_at=now()))
        store.close()

    def _compare(self, host: MailHost) -> dict[str, Any]:
        self._wait_a_day()
        for process in self._started(host, 1):
            assert process.wait(SECONDS) == 0
        store = open_store(locate_database(self._study, self._database))
        with store.read() as c:
            letters = letters_of(c, self._id, "judge")
            ids = {judge.key: judge.id for judge in people_of(c, self._id, "judge")}
        store.close()
        received = host.receivers
        twice = [address for address, count in received.items() if count > 1]
        assert not twice, f"sent twice: {twice}"
        assert len(letters) == self._judges
        for letter in letters:
            count = received[self._addresses[ids[letter.person_key]]]
            assert letter.state in ("sent", "failed"), letter
            assert count == 1 or letter.error == UNKNOWN, letter
        failed = [letter for letter in letters if letter.state == "failed"]
        never = [one for one in failed if not received[self._addresses[ids[one.person_key]]]]
        return {"kills": self._kills, "delivered": len(received), "unknown": len(failed)} | {
            "never left": len(never),
            "not wanted at first": len(self._refused),
        }


@registered("invitations", count=24)
def invitations(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Five kills of commands that send invitations, on either database: nobody gets two letters."""
    if rng.random() < 0.5:
        return InvitationTrial(folder, str(folder / "store.sqlite3"), rng).run()
    with contextmanager(running_postgres)() as server:
        return InvitationTrial(folder, server.new(), rng).run()
