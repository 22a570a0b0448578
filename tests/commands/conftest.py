"""A judging session, and commands that are run on it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from quem.cli import run
from tests.served import write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Outcome = tuple[int, str, str]


@pytest.fixture
def quem_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run a command; gives the exit code, stdout and stderr."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)

    def command(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["quem", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            run()
        assert isinstance(end.value.code, int)
        return end.value.code, *capsys.readouterr()

    return command


@pytest.fixture
def judging_study(tmp_path: Path) -> Path:
    """A study of three judges, with a repeated group, whose solutions are texts."""
    return write_judging_study(tmp_path, judges=3, problems=2, judging="{repeat: 1}")
