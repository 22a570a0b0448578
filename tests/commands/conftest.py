"""A judging session, and commands that are run on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

from quem.cli import run as run_quem
from quem.store.database import open_store
from quem.store.location import locate_database
from tests.served import write_judging_study

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.orm import Session


class Outcome(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    def refuses(self, *parts: object, code: int = 1) -> bool:
        """Whether it ended with an error that says these things, and no result."""
        said = " ".join(self.err.split())
        told = all(str(part) in said for part in parts)
        return (self.code, self.out) == (code, "") and told and "Traceback" not in self.err


Command = Callable[..., Outcome]


@contextmanager
def stored(study: Path, database: str | None = None) -> Iterator[Session]:
    """The store of a study, for reading and writing."""
    store = open_store(locate_database(study, database))
    with store.write() as c:
        yield c
    store.close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)

    def command(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["quem", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            run_quem()
        assert isinstance(end.value.code, int)
        return Outcome(end.value.code, *capsys.readouterr())

    return command


@pytest.fixture
def judging_study(tmp_path: Path) -> Path:
    """A study of three judges, with a repeated group, whose solutions are texts."""
    return write_judging_study(tmp_path, judges=3, problems=2, judging="{repeat: 1}")
