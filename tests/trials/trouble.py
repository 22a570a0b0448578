"""Disks, files and locks that fail under a server to which judges save all the time.

Afterwards the archive equals what the clients noted: each acknowledged save is in it as it was
sent, and what is in it besides was sent and not acknowledged. Where the database is lost, this
holds for what was acknowledged up to the newest backup.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from quem.cli import main
from tests.patience import until
from tests.trials.kills import JudgeClient, KillTrials
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random

    from tests.trials.kills import Acknowledged

KINDS = ("full disk", "renamed", "replaced", "log deleted", "deleted", "locked", "restored")
_LONGEST_LOCK = 8.0  # seconds; saves are refused after 5
_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
held.execute("BEGIN " + sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@dataclass
class TroubleTrials(KillTrials):
    """A session in which something fails, with clients that try again."""

    people: int = 3
    by_server: bool | None = None  # whether the server makes backups; by chance

    def _new_clients(self) -> list[JudgeClient]:
        clients = super()._new_clients()
        for client in clients:
            client.is_patient = True
        return clients

    def run_kind(self, kind: str) -> dict[str, Any]:
        """Let clients save, make trouble, let them go on, end the server and compare."""
        self.copies = self.folder / "copies"
        if self.by_server is None:
            self.by_server = self.rng.random() < 0.5
        if kind in ("deleted", "restored") and self.by_server:
            self.served.arguments = ("--backup", str(self.copies), "--backup-every", "1s")
        try:
            self._start()
            figures = getattr(self, f"_{kind.replace(' ', '_')}")() or {}
            self._let_save()
            how = self.rng.choice(["SIGKILL", "SIGTERM"])
            self._end(how)
            self.compare(single_file=how == "SIGTERM")
        finally:
            for client in self.clients:
                client.ending.set()
            self.served.kill()
        saved = {key for key, row in self.saved().items() if row["kind"] != "reopen"}
        unknown = saved - {(note.ballot, note.revision) for note in self.notes}
        assert len(unknown) <= self.refused.total(), f"nobody sent some of {unknown}"
        figures |= {"acknowledged": len(self.notes), "unacknowledged": len(unknown)}
        return {"kind": kind, **figures, "refused": dict(self.refused), "end": how}

    @property
    def file(self) -> Path:
        return Path(self.database)

    def _let_be_refused(self) -> None:
        """Wait until each client has been refused some times from now on, and none is served."""
        self._until_each(lambda client: client.refused.total(), "refusals of each client")
        before = len(self._noted())
        self._pause(1)
        assert len(self._noted()) == before, "saves were acknowledged in spite of the trouble"

    def _noted(self) -> list[Acknowledged]:
        return [note for client in self.clients for note in list(client.notes)]

    def _full_disk(self) -> None:
        """No file of the server can grow; later there is room."""
        import resource  # POSIX

        assert self.served.process
        pid = self.served.process.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        limit = self.rng.choice([0, self.rng.randrange(self.file.stat().st_size)])
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
        self._let_be_refused()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))

    def _renamed(self) -> None:
        away = self.file.rename(self.file.with_name("away.sqlite3"))
        self._let_be_refused()
        assert not self.file.exists()
        away.rename(self.file)

    def _replaced(self) -> None:
        other = self.file.with_name("other.sqlite3")
        if self.rng.random() < 0.5:
            shutil.copy(self.file, other)
        else:
            other.touch()
        away = self.file.rename(self.file.with_name("away.sqlite3"))
        other.rename(self.file)
        self._let_be_refused()
        away.replace(self.file)

    def _log_deleted(self) -> None:
        """The log beside the file is deleted; a stop writes everything into the file."""
        self.file.with_name(f"{self.file.name}-wal").unlink()
        if self.rng.random() < 0.5:
            self.file.with_name(f"{self.file.name}-shm").unlink()
        self._let_be_refused()
        self._end("SIGTERM")
        self.compare(single_file=True)
        self._start()

    def _locked(self) -> dict[str, Any]:
        how = self.rng.choice(["IMMEDIATE", "EXCLUSIVE"])
        seconds = self.rng.uniform(0, _LONGEST_LOCK)
        words = [sys.executable, "-c", _HOLD, str(self.file), how]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe) as other:
            assert other.stdout
            assert other.stdout.readline() == "held\n"
            threading.Event().wait(seconds)
            if self.rng.random() < 0.5:
                other.kill()
        return {"lock": how}

    def _deleted(self) -> dict[str, Any]:
        before = self._backed_up()
        self._pause(1)
        self.file.unlink()
        self._let_be_refused()
        self._end(self.rng.choice(["SIGKILL", "SIGTERM"]))
        return self._restore(before)

    def _restored(self) -> dict[str, Any]:
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
            self.back_up()
        return before

    def _whole_copies(self) -> list[Path]:
        names = sorted(self.copies.glob("*")) if self.copies.exists() else []
        return [path for path in names if path.suffix != ".partial"]

    def back_up(self) -> None:
        self._quem("--to", self.copies)

    def bring_back(self) -> None:
        for path in self.folder.glob(f"{self.file.name}*"):
            path.unlink()
        self._quem("--restore", self._whole_copies()[-1])

    def _quem(self, *words: object) -> None:
        command = ["backup", self.study, *words, "--database", self.database]
        ended = CliRunner().invoke(main, [*map(str, command)])
        assert ended.exit_code == 0, ended.exception

    def _restore(self, before: list[Acknowledged]) -> dict[str, Any]:
        """Lose the database, restore the newest backup, and go on with what is in it."""
        self.bring_back()
        saved, noted = self.saved(), len(self.notes)
        lacking = [note for note in before if (note.ballot, note.revision) not in saved]
        assert lacking == [], "acknowledged before the backup began"
        self.notes = [note for note in self.notes if (note.ballot, note.revision) in saved]
        lost = noted - len(self.notes)
        self.compare()
        self._start()
        by = "server" if self.by_server else "command"
        return {"by": by, "up to the copy": len(before), "after it": lost}


@registered("trouble", count=100)
def trouble(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A full disk; a moved, deleted or locked file; a restore."""
    return TroubleTrials(folder, str(folder / "store.sqlite3"), rng).run_kind(rng.choice(KINDS))
