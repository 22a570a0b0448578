"""Disks, files and locks that fail under a server to which judges save all the time.

Afterwards the archive equals what the clients noted: each acknowledged save is in it as it was
sent, and what is in it besides was sent and not acknowledged. Where the database is lost, this
holds for what was acknowledged up to the newest backup.
"""

from __future__ import annotations

import random
import resource  # POSIX
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.patience import SECONDS, until
from tests.trials.kills import CUT_OFF, Client, KillTrials
from tests.trials.runner import registered

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.served import Served
    from tests.trials.kills import Acknowledged

_SAVES = 3  # of each client, or refusals, before it goes on
_LONGEST_LOCK = 8.0  # seconds; saves are refused after 5
_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
held.execute("BEGIN " + sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


class PatientClient(Client):
    """A browser whose page tries again until it is told to end."""

    def __init__(self, served: Served, judge: str, group: int, rng: random.Random) -> None:
        super().__init__(served, judge, group, rng)
        self.ending = threading.Event()

    def run(self) -> None:
        """Save; after a refusal or an interruption read the page, and go on."""
        gid = ""
        while not self.ending.is_set():
            try:
                if not gid:
                    self.browser.get(self.link)
                    gid = self.browser.groups()[self.group]
                self._visit(gid)
            except CUT_OFF:
                self.refused["cut off"] += 1
            self.ending.wait(0.05)


@dataclass
class TroubleTrials(KillTrials):
    """A session in which something fails."""

    judges: int = 3
    clients: list[PatientClient] = field(default_factory=list)

    def run_kind(self, kind: str) -> dict[str, Any]:
        """Let clients save, make trouble, let them go on, end the server and compare."""
        self.copies = self.folder / "copies"
        self.by_server = self.rng.random() < 0.5
        if kind in ("deleted", "restore") and self.by_server:
            options = ("--backup", str(self.copies), "--backup-every", "1s")
            self.served.arguments = options
        try:
            self._start()
            figures = KINDS[kind](self) or {}
            self._let_go_on()
            how = self.rng.choice(["SIGKILL", "SIGTERM"])
            self._end(how)
            self._compare(single_file=how == "SIGTERM")
        finally:
            for client in self.clients:
                client.ending.set()
            self.served.kill()
        saved = {key for key, row in self._saved().items() if row["kind"] != "reopen"}
        unknown = saved - {(note.ballot, note.revision) for note in self.notes}
        assert len(unknown) <= self.refused.total(), f"nobody sent some of {unknown}"
        figures |= {"acknowledged": len(self.notes), "unacknowledged": len(unknown)}
        return {"kind": kind, **figures, "refused": dict(self.refused), "end": how}

    @property
    def file(self) -> Path:
        """The database."""
        return Path(self.database)

    def _start(self) -> None:
        """Start the server, and clients that save."""
        self.served.start()
        self.clients = [
            PatientClient(self.served, f"J{judge}", group, random.Random(self.rng.random()))
            for judge in range(self.judges)
            for group in (0, 1)
        ]
        for client in self.clients:
            client.start()
        self._let_go_on()

    def _end(self, how: str) -> None:
        """End the server, and the clients with it; keep what they noted."""
        for client in self.clients:
            client.ending.set()
        if how == "SIGKILL":
            self.served.kill()
        else:
            self.served.terminate()
        for client in self.clients:
            client.join(SECONDS)
            assert not client.is_alive(), "a client does not end"
            assert client.wrong == [], client.wrong
            self.notes += client.notes
            self.refused += client.refused
        self.clients = []

    def _let_go_on(self) -> None:
        """Wait until each client has had some saves acknowledged from now on."""
        self._until_each(lambda client: len(client.notes), "saves of each client")

    def _let_be_refused(self) -> None:
        """Wait until each client has been refused some times from now on, and none is served."""
        self._until_each(lambda client: client.refused.total(), "refusals of each client")
        before = len(self._noted())
        self._pause(1)
        assert len(self._noted()) == before, "saves were acknowledged in spite of the trouble"

    def _until_each(self, count: Callable[[PatientClient], int], what: str) -> None:
        goals = [(client, count(client) + _SAVES) for client in self.clients]
        until(lambda: all(count(client) >= goal for client, goal in goals), what)
        assert all(client.is_alive() for client in self.clients), [c.wrong for c in self.clients]

    def _pause(self, longest: float) -> None:
        threading.Event().wait(self.rng.uniform(0, longest))

    def _noted(self) -> list[Acknowledged]:
        return [note for client in self.clients for note in list(client.notes)]

    def fill_disk(self) -> None:
        """No file of the server can grow; later there is room."""
        assert self.served.process
        pid = self.served.process.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        limit = self.rng.choice([0, self.rng.randrange(self.file.stat().st_size)])
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
        self._let_be_refused()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))

    def rename_file(self) -> None:
        """The file gets another name, and its own again."""
        away = self.file.with_name("away.sqlite3")
        self.file.rename(away)
        self._let_be_refused()
        assert not self.file.exists()
        away.rename(self.file)

    def replace_file(self) -> None:
        """Another file stands in the file's place, a copy or an empty one."""
        away, other = self.file.with_name("away.sqlite3"), self.file.with_name("other.sqlite3")
        if self.rng.random() < 0.5:
            shutil.copy(self.file, other)
        else:
            other.touch()
        self.file.rename(away)
        other.rename(self.file)
        self._let_be_refused()
        away.replace(self.file)

    def delete_log(self) -> None:
        """The log beside the file is deleted; a stop writes everything into the file."""
        self.file.with_name(f"{self.file.name}-wal").unlink()
        if self.rng.random() < 0.5:
            self.file.with_name(f"{self.file.name}-shm").unlink()
        self._let_be_refused()
        self._end("SIGTERM")
        self._compare(single_file=True)
        self._start()

    def delete_file(self) -> dict[str, Any]:
        """The file is deleted: no save counts any more, and a backup brings the session back."""
        before = self._backed_up()
        self._pause(1)
        self.file.unlink()
        self._let_be_refused()
        self._end(self.rng.choice(["SIGKILL", "SIGTERM"]))
        return self._restore(before)

    def lock_file(self) -> dict[str, Any]:
        """Another process locks the database for a while."""
        how = self.rng.choice(["IMMEDIATE", "EXCLUSIVE"])
        seconds = self.rng.uniform(0, _LONGEST_LOCK)
        words = [sys.executable, "-c", _HOLD, str(self.file), how]
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout
            assert other.stdout.readline() == "held\n"
            threading.Event().wait(seconds)
            if self.rng.random() < 0.5:
                other.kill()
        return {"lock": how, "seconds": round(seconds, 1)}

    def restore(self) -> dict[str, Any]:
        """The server is killed and the database lost; the newest backup brings it back."""
        before = self._backed_up()
        self._pause(2)
        self._end("SIGKILL")
        return self._restore(before)

    def _backed_up(self) -> list[Acknowledged]:
        """Wait for a whole backup that began after now; gives what was acknowledged before."""
        before = self._noted()
        if self.by_server:
            # The first of them may have begun already.
            known = len(self._whole_copies())
            until(lambda: len(self._whole_copies()) >= known + 2, "two backups")
        else:
            _quem("backup", self.study, "--to", self.copies, "--database", self.database)
        return before

    def _whole_copies(self) -> list[Path]:
        names = sorted(self.copies.glob("*")) if self.copies.exists() else []
        return [path for path in names if path.suffix != ".partial"]

    def _restore(self, before: list[Acknowledged]) -> dict[str, Any]:
        """Lose the database, restore the newest backup, and go on with what is in it."""
        for path in self.folder.glob(f"{self.file.name}*"):
            path.unlink()
        copy = self._whole_copies()[-1]
        _quem("backup", self.study, "--restore", copy, "--database", self.database)
        saved = self._saved()
        lacking = [note for note in before if (note.ballot, note.revision) not in saved]
        assert lacking == [], "acknowledged before the backup began"
        lost = len(self.notes)
        self.notes = [note for note in self.notes if (note.ballot, note.revision) in saved]
        lost -= len(self.notes)
        self._compare(single_file=False)
        self._start()
        by = "server" if self.by_server else "command"
        return {"by": by, "up to the copy": len(before), "after it": lost}


def _quem(*words: object) -> None:
    """Run a command, which has to end well."""
    command = [sys.executable, "-m", "quem", *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


KINDS: dict[str, Callable[[TroubleTrials], dict[str, Any] | None]] = {
    "full disk": TroubleTrials.fill_disk,
    "renamed": TroubleTrials.rename_file,
    "replaced": TroubleTrials.replace_file,
    "log deleted": TroubleTrials.delete_log,
    "deleted": TroubleTrials.delete_file,
    "locked": TroubleTrials.lock_file,
    "restore": TroubleTrials.restore,
}


@registered("trouble", count=100)
def trouble(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A full disk, a moved, deleted or locked file, or a restore: what was saved is there."""
    return TroubleTrials(folder, str(folder / "store.sqlite3"), rng).run_kind(rng.choice([*KINDS]))
