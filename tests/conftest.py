"""Fixtures that several packages of tests share."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from flask import Flask
from hypothesis import settings
from jinja2 import BytecodeCache

from tests.examples import write_study
from tests.mail.smtp import MailHost
from tests.postgres import Postgres, running_postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jinja2.bccache import Bucket

# Programs that are started inherit it if Ctrl-C is ignored, as in the background of a shell.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same cases at every run of one commit: what CI refuses can be seen again by anybody.
# `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("steady")


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of the tests' own, also for the programs that they start."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        # What is printed to be run next is named as on a machine where quem is on the path.
        patch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield folder


class Templates(BytecodeCache):
    """Templates as compiled for the first of many apps: half a second for each dashboard."""

    def __init__(self) -> None:
        self.compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template, if its source is what it was."""
        if raw := self.compiled.get(bucket.key):
            bucket.bytecode_from_string(raw)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template."""
        self.compiled[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(autouse=True, scope="session")
def templates() -> Iterator[None]:
    """Templates of pages are compiled once in a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": Templates()})
        yield


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., Path]:
    """Write a study and its files into a new folder; gives the path of the study file."""

    def make(study: object, **files: str | bytes) -> Path:
        return write_study(tmp_path, study, **files)

    return make


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailHost]:
    """A mail server of the tests' own, which the environment names."""
    with MailHost() as host:
        for name, value in host.environment.items():
            monkeypatch.setenv(name, value)
        yield host


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running PostgreSQL server."""
    yield from running_postgres()


@pytest.fixture
def new_postgres(postgres: Postgres) -> Iterator[Callable[[], str]]:
    """Make empty PostgreSQL databases, which last as long as the test; each call gives a URL."""
    yield postgres.new
    postgres.drop_all()
