"""PostgreSQL's own programs: ``pg_dump`` makes a copy, ``pg_restore`` reads it and puts it back."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

from sqlalchemy import text

from quem.errors import Mistake, QuemError
from quem.store.holdings import Holdings, holdings_of
from quem.store.models import Base

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sqlalchemy import Connection, Engine

__all__ = ["dump", "dump_program", "holdings_of_dump", "restore_dump"]

_LOCK_MILLISECONDS = 10_000
_COPY = re.compile(r'COPY (?:\S+\.)?"?(\w+)"? \((.*)\) FROM stdin;')
_ESCAPE = re.compile(r"\\(.)")
_QUOTED, _BACKSLASHED = re.compile(r"(['\\])"), r"\\\1"


def dump_program(c: Connection) -> str | None:
    """Find a ``pg_dump`` of the server's own version.

    An older one refuses, and the dump of a newer one holds settings that this server does not
    know, so that it could not be restored here.

    Returns
    -------
    str or None
        Its path; None where there is none that fits.
    """
    program = shutil.which("pg_dump")
    if program is None:
        return None
    said = subprocess.run(  # noqa: S603  PostgreSQL's own program
        [program, "--version"], capture_output=True, text=True, check=False
    ).stdout
    major = re.search(r"\) (\d+)", said)
    server = c.dialect.server_version_info or (0,)
    return program if major and int(major[1]) == server[0] else None


def dump(c: Connection, program: str, target: Path) -> Holdings:
    """Write what a connection sees; gives what that is.

    Parameters
    ----------
    c : Connection
        That sees one state of the database, which the dump then holds too.
    program : str
        From `dump_program`.
    target : Path
        A file that is there, so that its mode stays.

    Raises
    ------
    OSError
        The program failed, with its words.
    """
    held = holdings_of(c)
    snapshot = c.execute(text("SELECT pg_export_snapshot()")).scalar_one()
    address, environment = _reached(c.engine)
    tables = [*Base.metadata.tables, "alembic_version"]
    _run(
        program,
        *("--format=custom", "--encoding=UTF8", "--no-owner", "--no-privileges", "--no-password"),
        *(f"--snapshot={snapshot}", f"--lock-wait-timeout={_LOCK_MILLISECONDS}"),
        *(f"--table={table}" for table in tables),
        *(f"--file={target}", f"--dbname={address}"),
        environment=environment,
    )
    return held


def holdings_of_dump(file: Path, name: str) -> Holdings:
    """Read a dump to its end, and count the rows that it would restore.

    Parameters
    ----------
    name : str
        The file as the user named it, for messages.

    Raises
    ------
    QuemError
        It is damaged, or there is no program to read it.
    """
    command = [_restore_program(), "--file=-", str(file)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(  # noqa: S603  PostgreSQL's own program
            command, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", errors="replace"
        ) as program,
    ):
        found = _counted(program.stdout or ())
        if program.wait():
            errors.seek(0)
            message = f"is damaged ({_last_words(errors.read())}); take another copy"
            raise QuemError([Mistake(name, message=message)])
    return found


def restore_dump(engine: Engine, file: Path) -> None:
    """Put a dump in the place of the tables that a database has, or leave them as they are.

    Raises
    ------
    OSError
        The program failed, with its words.
    QuemError
        There is no such program.
    """
    address, environment = _reached(engine)
    _run(
        _restore_program(),
        *("--clean", "--if-exists", "--no-owner", "--no-privileges", "--no-password"),
        *("--single-transaction", f"--dbname={address}", str(file)),
        environment=environment,
    )


def _restore_program() -> str:
    if program := shutil.which("pg_restore"):
        return program
    message = "pg_restore was not found; install PostgreSQL's client programs, or extend PATH"
    raise QuemError([message])


def _reached(engine: Engine) -> tuple[str, dict[str, str]]:
    """The address of a database for its programs, and their environment, with the password.

    What is on a command line can be read by everybody on the machine.
    """
    options = engine.url.translate_connect_args(username="user", database="dbname")
    options |= engine.url.query
    password = options.pop("password", None)
    words = [f"{key}='{_QUOTED.sub(_BACKSLASHED, str(value))}'" for key, value in options.items()]
    environment = {**os.environ, "LC_ALL": "C", "PGTZ": "UTC"}
    return " ".join(words), environment | ({"PGPASSWORD": str(password)} if password else {})


def _run(*command: str, environment: dict[str, str]) -> None:
    ended = subprocess.run(  # noqa: S603  PostgreSQL's own programs
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if ended.returncode:
        raise OSError(_last_words(ended.stderr))


def _last_words(said: str) -> str:
    """What a program said of its failure: the line that begins it, as the others are context."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "no reason")


def _counted(lines: Iterable[str]) -> Holdings:
    """Count the rows of a dump written as SQL, in which each row of a table is one line."""
    rows: dict[str, int] = {}
    studies, version, last_key, last_at = [], "", 0, ""
    table = ""
    columns: list[str] = []
    for ended in lines:
        line = ended.removesuffix("\n")
        if not table:
            if found := _COPY.fullmatch(line):
                table, columns = found[1], [name.strip('"') for name in found[2].split(", ")]
                rows[table] = 0
            continue
        if line == r"\.":
            table = ""
            continue
        rows[table] += 1
        if table in ("study", "alembic_version", "revision"):
            row = dict(zip(columns, line.split("\t"), strict=True))
            if table == "study":
                studies.append(_ESCAPE.sub(r"\1", row["id"]))
            elif table == "alembic_version":
                version = row["version_num"]
            elif int(row["key"]) > last_key:
                last_key, last_at = int(row["key"]), row["made_at"]
    rows.pop("alembic_version", None)
    at = dt.datetime.fromisoformat(last_at).astimezone(dt.UTC) if last_at else None
    return Holdings(tuple(sorted(studies)), version, rows, last_key, at)
