"""The database of a store: engines, tables, sessions, and durability."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, select, text
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlalchemy.orm import Session

from quem.errors import FileError, Mistake, QuemError
from quem.store.location import no_session
from quem.store.models import Base, StudyRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.pool import PoolProxiedConnection

    from quem.store.location import DatabaseLocation

# Seconds that a writer waits for others, in this process and elsewhere.
PATIENCE = 5.0


class UnavailableError(Exception):
    """Writing is impossible now."""


class BusyError(UnavailableError):
    """Another writer holds the lock too long."""

    def __init__(self) -> None:
        super().__init__("the database is busy")


# Concurrent requests of a server; more only wait for each other.
THREADS = 8
_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    # On macOS fsync leaves data in the drive's cache; elsewhere these change nothing.
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA foreign_keys = ON",
)
# Commits wait for the disk, unless configured to wait for more.
_DURABLE = f"""
SELECT set_config('lock_timeout', '{int(PATIENCE * 1000)}', false),
    CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
    THEN set_config('synchronous_commit', 'on', false) END
"""
_POLL_SECONDS = 0.02
# It logs a traceback per broken connection, which its user reports anyway.
logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)


def engine_of(place: DatabaseLocation, threads: int = THREADS) -> Engine:
    """An engine that connects lazily."""
    try:
        # A file's name may hold a question mark, which ends the path in a URL.
        file = place.file and URL.create("sqlite", database=str(place.file.absolute()))
        engine = create_engine(
            file or place.url,
            pool_size=threads,
            max_overflow=threads + 4,  # for background work
            pool_timeout=PATIENCE,
            pool_use_lifo=True,
        )
    except ModuleNotFoundError as error:
        advice = "pip install 'quem[postgres]'" if error.name == "psycopg" else "install it"
        raise refusal(place, f"needs the package {error.name}; {advice}") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise refusal(
            place, "is not a database URL; use a value such as postgresql://user@host/name"
        ) from None
    is_file = engine.dialect.name == "sqlite"
    event.listen(engine, "connect", _prepare if is_file else _prepare_server)
    event.listen(engine, "begin", _begin if is_file else _begin_on_server)
    return engine


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401  a DBAPI connection
    # Otherwise Python's driver decides when a transaction begins.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (busy_timeout(PATIENCE), *_PRAGMAS):
        cursor.execute(pragma)
    _write_ahead(cursor)
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    """Switch to write-ahead logging, and retry after other connections.

    If several connections try on a new file, SQLite rejects all but one at once, whatever the busy
    timeout, since each has started to read.
    """
    until = monotonic() + PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() >= until:
                raise
            sleep(_POLL_SECONDS)
        else:
            return


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("quem_writes", False):
        connection.exec_driver_sql("BEGIN")
        return
    patience = options.get("quem_patience", PATIENCE)
    if patience == PATIENCE:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    connection.exec_driver_sql(busy_timeout(patience))
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        connection.exec_driver_sql(busy_timeout(PATIENCE))


def busy_timeout(seconds: float) -> str:
    """The pragma for SQLite's lock timeout."""
    return f"PRAGMA busy_timeout = {int(seconds * 1000)}"


def _prepare_server(connection: Any, _: object) -> None:  # noqa: ANN401  a DBAPI connection
    """Make PostgreSQL commit synchronously and limit lock waits."""
    with connection.cursor() as cursor:
        cursor.execute(_DURABLE)
    connection.commit()


def _begin_on_server(connection: Connection) -> None:
    patience = connection.get_execution_options().get("quem_patience", PATIENCE)
    if patience < PATIENCE:
        # Zero would mean no limit.
        milliseconds = max(1, int(patience * 1000))
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")


def refusal(place: DatabaseLocation, message: str) -> QuemError:
    """The error on an unusable database."""
    return QuemError(Mistake(place.name, message=message))


# Those of `migrations`; the last is that of the models.
VERSIONS = ("0007",)
OLDER = (
    "was written by an older quem; that version reads it, and its `quem export STUDY --format csv` "
    "carries the rankings over"
)
_OURS = {"study", "revision"}
# An arbitrary number, the same in every process: a PostgreSQL advisory lock for creating tables.
_LOCK = 7_319_044_512


def make_tables(engine: Engine, name: str) -> None:
    """Create or migrate the tables of a database; concurrent processes wait."""
    with engine.connect() as c:
        if version_of(c, name) == VERSIONS[-1]:
            return
    with engine.connect().execution_options(quem_writes=True) as c, c.begin():
        if engine.dialect.name == "postgresql":
            c.execute(text("SET LOCAL lock_timeout = 0"))  # no limit while another process migrates
            c.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        version = version_of(c, name)
        if not version:
            _make(c)
        elif version != VERSIONS[-1]:
            upgrade(c)


def _make(c: Connection) -> None:
    """Create the newest tables directly, equivalent to all migrations.

    Alembic would take a tenth of a server's memory for its whole life, to do this once.
    """
    Base.metadata.create_all(c)
    c.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    c.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": VERSIONS[-1]})


def upgrade(c: Connection) -> None:
    """Run the missing migrations of a database."""
    from alembic.command import upgrade
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "quem.store:migrations")
    config.attributes["connection"] = c
    upgrade(config, "head")


def _stamp(c: Connection) -> str:
    """The schema version in a database; empty without one."""
    try:
        with c.begin_nested():
            return str(c.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")
    except DatabaseError:
        return ""


def version_of(c: Connection, name: str) -> str:
    """The schema version of a database; empty without tables."""
    version = _stamp(c)
    if version in VERSIONS:
        return version
    tables = set(inspect(c).get_table_names())
    if not tables:
        return ""
    # Another process may have created them just now.
    version = _stamp(c)
    if version in VERSIONS:
        return version
    message = "holds tables of another program; use a separate database for quem"
    if tables >= _OURS and tables & {"alembic_version", "quem_version"}:
        is_newer = version > VERSIONS[-1]
        newer = f"was written by a newer quem (version {version} of its tables); update quem"
        message = newer if is_newer else OLDER
    raise QuemError(Mistake(name, message=message))


_log = logging.getLogger(__name__)
# Set in the `info` of a session that deleted data whose bytes must be scrubbed.
SCRUB = "quem_scrub"


class Store:
    """A database of judging sessions."""

    def __init__(self, engine: Engine, place: DatabaseLocation) -> None:
        self.engine = engine
        self.place = place
        self.writes = 0
        self._is_file = engine.dialect.name == "sqlite"
        self._lock = threading.Lock()
        self._anchor: PoolProxiedConnection | None = None
        self._watch: Watch | None = None
        if self._is_file and place.file:
            # One connection stays open: the last to close would delete the log, which is watched.
            self._anchor = engine.raw_connection()
            self._anchor.detach()
            self._anchor.cursor().execute("SELECT 1 FROM sqlite_master").fetchall()
            self._watch = Watch(place.file)
            event.listen(engine, "do_connect", self._refuse_lost)

    @property
    def lost(self) -> str:
        """Why nothing can be saved, if the file was moved or replaced; else empty."""
        return self._watch.lost if self._watch else ""

    def _refuse_lost(self, *_: object) -> None:
        if self._watch:
            self._watch.refuse()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session on a snapshot of the database."""
        with self.engine.connect() as connection:
            if not self._is_file:
                connection.execution_options(isolation_level="REPEATABLE READ")
            # A rollback would drop the driver's prepared statements.
            with connection.begin(), _session(connection) as session:
                yield session

    @contextmanager
    def write(self, patience: float = PATIENCE) -> Iterator[Session]:
        """A session whose changes are committed atomically and durably."""
        with self._turn(patience) as left:
            self._refuse_lost()
            with self.engine.connect() as connection:
                writer = connection.execution_options(quem_writes=True, quem_patience=left)
                with writer.begin(), _session(writer) as session:
                    yield session
                    session.flush()
                    self._refuse_lost()
                self._refuse_lost()
                self.writes += 1
                if session.info.get(SCRUB) and self._is_file:
                    self._scrub()

    @contextmanager
    def _turn(self, patience: float) -> Iterator[float]:
        """Wait for other writers of this process; yields the remaining seconds.

        SQLite has a single writer, and further ones would poll. PostgreSQL locks rows.
        """
        if not self._is_file:
            yield patience
            return
        left = patience
        if not self._lock.acquire(blocking=False):
            until = monotonic() + patience
            if not self._lock.acquire(timeout=patience):
                raise BusyError
            left = max(0.0, until - monotonic())
        try:
            yield left
        finally:
            self._lock.release()

    def _scrub(self) -> None:
        """Vacuum an SQLite file, which removes deleted data, and empty its write-ahead log."""
        with closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                cursor.execute(statement)

    def checkpoint(self, patience: float = 0.1) -> bool:
        """Merge the write-ahead log into an SQLite file, and empty it."""
        if not self._is_file:
            return True
        with closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            # The first works concurrently with readers and writers; the second has little left to
            # do.
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
            try:
                with self._turn(patience) as left:
                    cursor.execute(busy_timeout(left))
                    busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                    cursor.execute(busy_timeout(PATIENCE))
            except BusyError:
                return False
        return not busy

    def __enter__(self) -> Self:
        """Keep it open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Empty the write-ahead log, and close all connections."""
        if self._anchor and self.writes:
            try:
                self.checkpoint(1.0)
            except (DatabaseError, sqlite3.Error, LostError):
                _log.exception("the write-ahead log could not be emptied")
        self.engine.dispose()
        if self._anchor:
            self._anchor.close()
            self._anchor = None


def _session(connection: Connection) -> Session:
    """A session in the transaction of a connection; rows stay usable afterwards."""
    return Session(connection, autoflush=False, expire_on_commit=False)


def open_store(place: DatabaseLocation, threads: int = THREADS) -> Store:
    """Open a store, created if missing."""
    if place.file and not place.file.parent.is_dir():
        raise refusal(place, "its folder does not exist; make it, or name another place")
    if place.file:
        _make_private(place.file.resolve())
    engine = engine_of(place, threads)
    with ExitStack() as unless_opened, clear_refusals(place):
        unless_opened.callback(engine.dispose)
        make_tables(engine, place.name)
        unless_opened.pop_all()
    return Store(engine, place)


def _make_private(file: Path) -> None:
    """Create an empty file that only its owner can read; SQLite gives its log the same mode."""
    # An existing file keeps its mode; SQLite reports other errors.
    with suppress(OSError):
        file.touch(0o600, exist_ok=False)
        file.chmod(0o600)


def store_of(place: DatabaseLocation, study_id: str) -> Store | None:
    """Open a store if it exists and holds this study, without changing it otherwise."""
    if not place.may_hold_something:
        return None
    engine = engine_of(place)
    with ExitStack() as unless_opened, clear_refusals(place):
        unless_opened.callback(engine.dispose)
        mine = select(StudyRow.id).where(StudyRow.id == study_id)
        with engine.connect() as c:
            version = version_of(c, place.name)
        if version:
            make_tables(engine, place.name)
            with engine.connect() as c:
                known = c.execute(mine).first()
        if version and known:
            unless_opened.pop_all()
            return Store(engine, place)
    return None


def studies_in(place: DatabaseLocation) -> list[str]:
    """The ids of the studies that a database holds."""
    engine = engine_of(place)
    try:
        with clear_refusals(place), engine.connect() as c:
            return [*c.scalars(select(StudyRow.id))] if version_of(c, place.name) else []
    finally:
        engine.dispose()


@contextmanager
def held_store(place: DatabaseLocation, study: Path, study_id: str) -> Iterator[Store]:
    """Open the store of a study's judging session, and close it in the end."""
    store = store_of(place, study_id)
    if store is None:
        raise FileError(study, no_session(place))
    with store, clear_refusals(place):
        yield store


@contextmanager
def clear_refusals(place: DatabaseLocation) -> Iterator[None]:
    """Explain database errors, such as a lock or a full disk."""
    try:
        yield
    except LostError as error:
        raise QuemError(error.reason) from None
    except BusyError:
        raise refusal(place, _reason(sqlite3.OperationalError("database is locked"))) from None
    except DatabaseError as error:
        raise refusal(place, _reason(error.orig)) from None
    except sqlite3.Error as error:
        raise refusal(place, _reason(error)) from None


def _reason(error: BaseException | None) -> str:
    reason = " ".join(str(error).split())
    if "not a database" in reason:
        return "is not an SQLite database; name another file"
    if "locked" in reason:
        return f"cannot be used: {reason}; another program holds it, so try again when it is done"
    return f"cannot be used: {reason}; check that it is there and may be written to"


class LostError(UnavailableError):
    """The database file was moved or replaced."""

    def __init__(self, reason: str) -> None:
        self.reason = reason  # for the server's operator: names the file
        super().__init__(reason)


class Watch:
    """The identity (device and inode) of an open database and its log."""

    def __init__(self, file: Path) -> None:
        file = file.absolute()
        # The log is beside the target of a symbolic link.
        files = (file, Path(f"{file.resolve()}-wal"))
        self._held = {path: inode for path in files if (inode := _inode(path))}

    @property
    def lost(self) -> str:
        """What is wrong now; empty if both files are in place."""
        for path, original_inode in self._held.items():
            inode = _inode(path)
            if inode == original_inode:
                continue
            if path.name.endswith("-wal"):
                return f"{path} was renamed or deleted while in use; stop the server, and start it"
            what = "another file is in its place" if inode else "it was renamed or deleted"
            return f"{path}: {what}; put the file back that was there when the server started"
        return ""

    def refuse(self) -> None:
        """Refuse to continue if files were moved or replaced."""
        if reason := self.lost:
            raise LostError(reason)


def _inode(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file, or None if missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
