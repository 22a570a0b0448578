"""One server for a folder of studies, each under an address that does not describe it.

A study is opened when somebody comes, and closed when it was not used for long and others need the
room: its work is in its store. So memory grows with the studies in use, not with all of them.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.wrappers import Response

from quem.errors import Mistake, QuemError
from quem.store.connecting import THREADS, UnavailableError
from quem.store.engine import open_store
from quem.store.location import locate_database
from quem.study.reading import read_study
from webjudge.app import create_app
from webjudge.housekeeping import Housekeeping
from webjudge.mailing import POST
from webjudge.site import open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.templating import Environment

    from quem.store.engine import Store
    from webjudge.site import Site

_log = logging.getLogger("webjudge")

PREFIX = "/s/"
# Studies that are open at once, if more are not in the middle of a request.
MOST_OPEN = 40
# A study has mistakes, or its database does not answer.
_UNUSABLE = (QuemError, SQLAlchemyError, UnavailableError)
_TEXT = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
_BROKEN = "This study cannot be shown right now. Please tell the organizer."
_UNWELL = "The database does not answer."
_UNKNOWN = "Not found. Use the private link that you were sent."


def study_files(folder: Path) -> list[Path]:
    """Find the study files in the folders of a folder, by name."""
    return sorted(path for path in folder.glob("*/study.yaml") if path.is_file())


@dataclass
class _Open:
    """A study that is served now."""

    site: Site
    app: Flask
    housekeeping: Housekeeping
    shares_store: bool  # whether other studies use its store, too
    busy: int = 0  # requests that are being answered

    def close(self) -> None:
        """Let go of it; everything is kept in its store."""
        self.app.extensions[POST].stop()
        self.housekeeping.stop()
        if not self.shares_store:
            self.site.store.close()


@dataclass
class StudiesFolder:
    """A WSGI app for all studies of a folder."""

    folder: Path  # each of its folders with a ``study.yaml`` is a study
    database: str | None = None  # a URL that all studies share; otherwise each has a file beside it
    behind_proxy: bool = False
    url: str | None = None
    listens: str = ""
    sandboxed: bool = True
    threads: int = THREADS
    most_open: int = MOST_OPEN  # how many studies are open at once, at least
    # Takes a site and its housekeeping before it starts, to add jobs such as backups.
    prepare: Callable[[Site, Housekeeping], object] = lambda _site, _housekeeping: None
    paths: dict[str, Path] = field(default_factory=dict)  # the study files by key
    # Those that have mistakes now, with the first of them.
    broken: dict[Path, str] = field(default_factory=dict)
    _templates: Environment | None = field(default=None, repr=False)
    _shared: Store | None = field(default=None, repr=False)
    _open: OrderedDict[str, _Open] = field(default_factory=OrderedDict, repr=False)
    _changed: Condition = field(default_factory=Condition, repr=False)
    _opening: dict[str, Lock] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Find the studies."""
        files = study_files(self.folder)
        if not files:
            raise QuemError(
                [
                    Mistake(
                        str(self.folder),
                        message="holds no folder with a study.yaml; `quem init` writes one",
                    )
                ]
            )
        mistakes = []
        for path in files:
            try:
                key = _key(read_study(path).id)
            except QuemError as error:
                self.broken[path] = str(error.mistakes[0])
                continue
            if key in self.paths:
                message = f"has the same id as {self.paths[key]}; give each its own"
                mistakes.append(Mistake(str(path), key="id", message=message))
            self.paths.setdefault(key, path)
        if mistakes:
            raise QuemError(mistakes)
        path = files[0]
        place = locate_database(path, self.database)
        if place.file and place != locate_database(path, str(path.with_suffix(".sqlite3"))):
            message = "one SQLite file cannot hold several studies that are served together"
            remedy = "leave it out, so that each has its file, or name a PostgreSQL database"
            raise QuemError([f"{place.name}: {message}; {remedy}"])

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request, which says by its path which study it is of."""
        path = environ.get("PATH_INFO", "")
        if path == "/healthz":
            well = self._is_well()
            answer = Response("ok" if well else _UNWELL, 200 if well else 503, headers=_TEXT)
            return answer(environ, start_response)
        key, slash, rest = path.removeprefix(PREFIX).partition("/")
        if not path.startswith(PREFIX) or not self._is_known(key):
            return Response(_UNKNOWN, 404, headers=_TEXT)(environ, start_response)
        try:
            study = self._enter(key)
        except _UNUSABLE as error:
            if not isinstance(error, QuemError):
                _log.error("%s: %s", self.paths[key], " ".join(str(error).split()))
            headers = {**_TEXT, "Retry-After": "60"}
            return Response(_BROKEN, 503, headers=headers)(environ, start_response)
        environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}{PREFIX}{key}"
        environ["PATH_INFO"] = f"{slash}{rest}"
        return _Answer(study.app(environ, start_response), partial(self._leave, study))

    def base(self, key: str, server: str) -> str:
        """Give what links of a study begin with."""
        return f"{server}{PREFIX}{key}"

    def opened(self) -> Iterator[tuple[str, Site]]:
        """Open each study in turn, for the start of a server; broken ones are left out."""
        for key in list(self.paths):
            try:
                study = self._enter(key)
            except QuemError:
                continue
            try:
                yield key, study.site
            finally:
                self._leave(study)

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
        if self._shared:
            self._shared.close()

    def _is_well(self) -> bool:
        """Whether the database that all studies share works; files of studies are not looked at."""
        try:
            store = self._store(next(iter(self.paths.values()), self.folder / "study.yaml"))
            if store:
                with store.read() as c:
                    c.execute(text("SELECT 1"))
        except _UNUSABLE:
            return False
        return True

    def _is_known(self, key: str) -> bool:
        if key in self.paths:
            return True
        # A study may have been mended, or come, since the start.
        for path in study_files(self.folder):
            if path in self.broken or path not in self.paths.values():
                try:
                    found = _key(read_study(path).id)
                except QuemError as error:
                    self.broken[path] = str(error.mistakes[0])
                    continue
                self.broken.pop(path, None)
                self.paths.setdefault(found, path)
        return key in self.paths

    def _enter(self, key: str) -> _Open:
        """Give a study with one more request to answer, opened if it was not."""
        with self._changed:
            lock = self._opening.setdefault(key, Lock())
        with lock:
            with self._changed:
                if study := self._open.get(key):
                    study.busy += 1
                    self._open.move_to_end(key)
                    return study
            study = self._begin(key)
            with self._changed:
                study.busy += 1
                self._open[key] = study
                idle = self._idle()
        for one in idle:
            one.close()
        return study

    def _begin(self, key: str) -> _Open:
        path = self.paths[key]
        try:
            site = open_site(
                path,
                self.database,
                sandboxed=self.sandboxed,
                threads=self.threads,
                shared=self._store(path),
            )
        except QuemError as error:
            if str(error.mistakes[0]) != self.broken.get(path):
                _log.error("%s: %s", path, error.mistakes[0])
            self.broken[path] = str(error.mistakes[0])
            raise
        self.broken.pop(path, None)
        app = create_app(
            site,
            behind_proxy=self.behind_proxy,
            url=self.url,
            listens=self.listens,
            prefix=f"{PREFIX}{key}",
            templates=self._templates,
        )
        self._templates = app.jinja_env
        housekeeping = Housekeeping(site)
        app.extensions[POST].keep(housekeeping)
        self.prepare(site, housekeeping)
        return _Open(site, app, housekeeping.start(), self._shared is not None)

    def _store(self, path: Path) -> Store | None:
        """Give the store that all studies share; None where each has its file."""
        place = locate_database(path, self.database)
        if place.file:
            return None
        with self._changed:
            if self._shared is None:
                self._shared = open_store(place, self.threads)
            return self._shared

    def _idle(self) -> list[_Open]:
        """Take out the studies that were not used for longest, as many as are too many."""
        gone = []
        for key in list(self._open):
            if len(self._open) <= self.most_open:
                break
            if not self._open[key].busy:
                gone.append(self._open.pop(key))
        return gone

    def _leave(self, study: _Open) -> None:
        with self._changed:
            study.busy -= 1


class _Answer:
    """An answer whose end is noted."""

    def __init__(self, answer: Iterable[bytes], end: Callable[[], object]) -> None:
        self._answer, self._end = answer, end

    def __iter__(self) -> Iterator[bytes]:
        """Give its parts."""
        return iter(self._answer)

    def close(self) -> None:
        """End it, as a server does once, whatever happened."""
        try:
            if close := getattr(self._answer, "close", None):
                close()
        finally:
            self._end()


def _key(study_id: str) -> str:
    """Give a short name of a study that does not describe it, as that of its cookies."""
    return hashlib.sha256(study_id.encode()).hexdigest()[:10]
