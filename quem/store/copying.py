"""What a database or a copy of it holds, counted: two that agree here hold the same."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, NullPool, create_engine, func, inspect, select, text
from sqlalchemy.exc import DatabaseError

from quem.errors import FileError, Mistake, QuemError
from quem.store.archive import archive_text, read_archive, restore_archive
from quem.store.connecting import UnavailableError
from quem.store.engine import open_store
from quem.store.location import locate_database
from quem.store.models import Base, RevisionRow, StudyRow, now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import Connection, Engine

    from quem.store.engine import Store


@dataclass(frozen=True)
class Holdings:
    """What is in a database."""

    studies: tuple[str, ...] = ()  # their ids, sorted
    version: str = ""  # of the tables
    rows: dict[str, int] = field(default_factory=dict)  # number of rows by table
    last_key: int = 0  # of the newest revision; 0 where there is none
    last_at: dt.datetime | None = None  # when that was saved

    @property
    def row_count(self) -> int:
        """The number of rows of all tables."""
        return sum(self.rows.values())


def holdings_of(c: Connection) -> Holdings:
    """Count what a database holds; those of an older quem may lack tables."""
    there = set(inspect(c).get_table_names())
    tables = [table for table in Base.metadata.sorted_tables if table.name in there]
    if StudyRow.__table__ not in tables or "alembic_version" not in there:
        return Holdings()
    newest = select(RevisionRow.key, RevisionRow.made_at).order_by(RevisionRow.key.desc()).limit(1)
    last = c.execute(newest).first()
    return Holdings(
        studies=tuple(sorted(c.execute(select(StudyRow.id)).scalars())),
        version=str(c.execute(text("SELECT version_num FROM alembic_version")).scalar()),
        rows={t.name: c.execute(select(func.count()).select_from(t)).scalar_one() for t in tables},
        last_key=last[0] if last else 0,
        last_at=last[1] if last else None,
    )


def holdings_of_file(file: Path, name: str, *, thorough: bool = False) -> Holdings:
    """Check the pages of an SQLite file, and count what it holds."""
    engine = create_engine(URL.create("sqlite", database=str(file)), poolclass=NullPool)
    check = "integrity_check" if thorough else "quick_check"
    try:
        with engine.connect() as c:
            verdict = str(c.exec_driver_sql(f"PRAGMA {check}(1)").scalar())
            if verdict == "ok":
                return holdings_of(c)
    except DatabaseError as error:
        verdict = str(error.orig)
    raise QuemError([Mistake(name, message=f"is damaged ({verdict}); take another copy")])


_LOCK_MILLISECONDS = 10_000
_COPY = re.compile(r'COPY (?:\S+\.)?"?(\w+)"? \((.*)\) FROM stdin;')
_ESCAPE = re.compile(r"\\(.)")
_QUOTED, _BACKSLASHED = re.compile(r"(['\\])"), r"\\\1"


def dump_program(c: Connection) -> str | None:
    """Find a ``pg_dump`` of the server's own version.

    An older one refuses, and the dump of a newer one holds settings that this server does not
    know, so that it could not be restored here.
    """
    program = shutil.which("pg_dump")
    if program is None:
        return None
    output = subprocess.run(  # noqa: S603  PostgreSQL's own program
        [program, "--version"], capture_output=True, text=True, check=False
    ).stdout
    major = re.search(r"\) (\d+)", output)
    server = c.dialect.server_version_info or (0,)
    return program if major and int(major[1]) == server[0] else None


def dump(c: Connection, program: str, target: Path) -> Holdings:
    """Write what a connection sees; gives what that is."""
    holdings = holdings_of(c)
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
    return holdings


def holdings_of_dump(file: Path, name: str) -> Holdings:
    """Read a dump to its end, and count the rows that it would restore."""
    command = [_restore_program(), "--file=-", str(file)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(  # noqa: S603  PostgreSQL's own program
            command, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", errors="replace"
        ) as program,
    ):
        holdings = _counted(program.stdout or ())
        if program.wait():
            errors.seek(0)
            raise QuemError(
                [
                    Mistake(
                        name,
                        message=f"is damaged ({_last_words(errors.read())}); take another copy",
                    )
                ]
            )
    return holdings


def restore_dump(engine: Engine, file: Path) -> None:
    """Put a dump in the place of the tables that a database has, or leave them as they are."""
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
    raise QuemError(
        ["pg_restore was not found; install PostgreSQL's client programs, or extend PATH"]
    )


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


def _last_words(output: str) -> str:
    """What a program said of its failure: the line that begins it, as the others are context."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
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
            if match := _COPY.fullmatch(line):
                table, columns = match[1], [name.strip('"') for name in match[2].split(", ")]
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


PARTIAL = ".partial"
# Files beside one of SQLite that belong to it.
SIDES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Copy:
    """A copy that was made and checked."""

    path: Path
    size: int  # bytes
    holdings: Holdings
    note: str = ""  # what its maker should know, such as that there is no ``pg_dump``; may be empty


def save_copy(store: Store, study_id: str, folder: Path, stem: str, suffix: str = "") -> Copy:
    """Make a copy and check it; it has its name only once it is whole and on the disk."""
    with clear_failures(folder):
        own_suffix, write, note = _way(store)
        target = folder / f"{stem}{suffix or own_suffix}"
        with _whole(target) as partial:
            holdings = write(store, study_id, partial)
        return Copy(target, target.stat().st_size, holdings, note)


def stamp() -> str:
    """The time in UTC as part of a file's name, such as "20261121T100000.000Z"."""
    return f"{now():%Y%m%dT%H%M%S.%f}"[:-3] + "Z"


def _way(store: Store) -> tuple[str, Callable[[Store, str, Path], Holdings], str]:
    """How a store is copied: the ending of the file, the function, and a note."""
    if store.engine.dialect.name == "sqlite":
        return ".sqlite3", _copy_file, ""
    with store.read() as c:
        program = dump_program(c)
    if program is None:
        note = "no pg_dump of the server's version was found, so the copy is an archive"
        return ".jsonl", _write_archive, note
    return ".dump", lambda store, _, partial: _write_dump(store, program, partial), ""


def _copy_file(store: Store, _: str, partial: Path) -> Holdings:
    """Copy an SQLite database in one go.

    In steps it would restart at each write of another connection, and never end.
    """
    with store.read() as c:
        holdings = holdings_of(c)
        source: Any = c.connection.driver_connection
        with closing(sqlite3.connect(partial)) as target:
            target.execute("PRAGMA fullfsync = ON")
            # The transaction that counted goes on, so the copy is of the very same state.
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
    _compare(holdings, holdings_of_file(partial, f"copy of {store.place.name}"))
    return holdings


def _write_dump(store: Store, program: str, partial: Path) -> Holdings:
    with store.read() as c:
        holdings = dump(c, program, partial)
    _compare(holdings, holdings_of_dump(partial, f"copy of {store.place.name}"))
    return holdings


def _write_archive(store: Store, study_id: str, partial: Path) -> Holdings:
    """Write an archive, and restore it into a scratch store, whose archive has to be the same."""
    with store.read() as c:
        partial.write_text(archive_text(c, study_id), encoding="utf-8", newline="\n")
    written = partial.read_text(encoding="utf-8")
    rows = read_archive(written, partial.name, study_id)
    with tempfile.TemporaryDirectory(prefix="quem-") as folder:
        scratch = open_store(locate_database(Path(folder), str(Path(folder) / "scratch.sqlite3")))
        try:
            with scratch.write() as c:
                restore_archive(c, study_id, rows, partial.name)
            with scratch.read() as c:
                again, holdings = archive_text(c, study_id), holdings_of(c)
        finally:
            scratch.close()
    if again.partition("\n")[2] != written.partition("\n")[2]:
        _refuse_copy()
    return holdings


def _compare(holdings: Holdings, copied: Holdings) -> None:
    if holdings != copied:
        _refuse_copy()


def _refuse_copy() -> None:
    raise OSError("the copy does not hold what the database held")


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """Give a file to write to, which gets its name once it is on the disk, or is removed."""
    partial = target.with_name(target.name + PARTIAL)
    try:
        # Exclusive: two processes must not write one copy. Only the owner may read it.
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield partial
        with partial.open("r+b") as file:
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        for side in ("", *SIDES):
            partial.with_name(partial.name + side).unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def clear_failures(folder: Path) -> Iterator[None]:
    """Say in clear words why there is no copy."""
    try:
        yield
    except (OSError, sqlite3.Error, DatabaseError, UnavailableError) as error:
        raise FileError(
            folder,
            (
                f"no backup was made: {reason_of(error)}; check that the folder can be written to "
                "and "
                "has room, and that the database can be read"
            ),
        ) from None


def reason_of(error: BaseException) -> str:
    """Give what an error of the system or of a database says, on one line."""
    known = (getattr(error, name, None) for name in ("strerror", "orig", "reason"))
    reason = next(filter(None, known), error)
    return " ".join(str(reason).split())
