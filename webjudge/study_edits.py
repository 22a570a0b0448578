"""Edits of the study file by the dashboard and other processes while it is served."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from time import time
from typing import TYPE_CHECKING

from flask import Flask, current_app, g, request

from quem.errors import Mistake, QuemError
from quem.solutions.checking import find_warnings
from quem.solutions.decisions import with_redactions
from quem.solutions.identity import is_exact, terms
from quem.solving.closing import session_table
from quem.store.audit_log import last_key
from quem.store.events import record
from quem.store.reviewing import answer_change, note_decisions
from quem.studyfile.document import parse_document
from quem.studyfile.editing import (
    ListChange,
    edited,
    flow_text,
    plain_value,
    read_bytes,
    replace_study,
)
from quem.studyfile.reading import read_study
from webjudge.access import acting, site
from webjudge.site import Site, reopened, signature_of, with_study

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from quem.solutions.model import Signature
    from quem.studyfile.editing import Change
    from quem.studyfile.models import Reviewed

_EVENT = "study-edited"
_KEY = "quem-followed"
_MOST_LINES = 20
# Reloading a large study takes longer than writing its file, and is logged afterwards.
_FRESH_SECONDS = 60


@dataclass
class _Followed:
    """Version of the study's files that an app serves."""

    table: Path | None  # the table of subjects written on closing the solving session
    # Signatures of the study file and the table; None without a file.
    seen: tuple[Signature | None, Signature | None]
    event: int  # id of the dashboard's last edit
    lock: Lock = field(default_factory=Lock)


def follow_edits(app: Flask, served: Site) -> None:
    """Make an app follow other processes: dashboard edits, and closing the solving session.

    Of edits by hand, only decisions about words are followed; everything else
    waits for the next start, since the edit may be incomplete.
    """
    table = session_table(served.path) if served.spec.solving else None
    seen = signature_of(served.path), signature_of(table)
    app.extensions[_KEY] = _Followed(table, seen, _last_edit(served))
    app.before_request(_follow)


def _is_fresh(path: Path) -> bool:
    """Whether a file changed so recently that its writer may not have logged the edit yet."""
    with suppress(OSError):
        return time() - path.stat().st_mtime < _FRESH_SECONDS
    return True


def _last_edit(served: Site) -> int:
    with served.store.read() as c:
        return last_key(c, served.id, _EVENT)


def _follow() -> None:
    if request.endpoint == "static":
        return
    followed: _Followed = current_app.extensions[_KEY]
    now = signature_of(site().path), signature_of(followed.table)
    if now[0] is None or now == followed.seen:
        return
    with followed.lock:
        if now == followed.seen:
            return
        newest = _last_edit(site())
        # The file may be incomplete: keep serving the last version.
        with suppress(QuemError):
            if newest != followed.event or now[1] != followed.seen[1]:
                _serve(reopened(site()))
            else:
                decided = read_study(site().path).judging.reviewed
                if decided != site().spec.judging.reviewed:
                    _take_over("server", decided)
                else:
                    _serve_answers()
                if _is_fresh(site().path):
                    return
        followed.seen, followed.event = now, newest


def edit_study(changes: Sequence[Change], part: str) -> None:
    """Edit the study file and serve the result."""
    path = site().path
    with _editing():
        before, text = read_bytes(path)
        new = edited(text, changes, str(path))
        if new == text:
            return
        replace_study(path, before, new)
        try:
            _serve(reopened(site()))
        except QuemError:
            # Errors that appear only on loading, such as a solution without a solver.
            replace_study(path, new.encode(), text)
            _serve(reopened(site()))
            raise
        note_edit(part, hashlib.sha256(new.encode()).hexdigest())


def take_up_subjects() -> None:
    """Serve the solutions and subjects written on closing the solving session."""
    with _editing():
        _serve(reopened(site()))
        note_edit("solutions and subjects of the solving session")
        # Notify other processes even if the table did not change.
        with suppress(OSError):
            site().path.touch()


def note_edit(part: str, sha256: str = "") -> None:
    """Log an edit of the study in the dashboard."""
    with site().store.write() as c:
        record(c, site().id, acting(), _EVENT, part=part, sha256=sha256)


def save_decisions(decided: Sequence[Reviewed]) -> None:
    """Write decisions about words to the study file, log them, and serve the result."""
    path = site().path
    entries = [{key: value for key, value in one.model_dump().items() if value} for one in decided]
    with _editing():
        before, text = read_bytes(path)
        section = parse_document(text, path.name).content.get("judging")
        held = (section.get("reviewed") if isinstance(section, dict) else None) or []
        wanted = [plain_value(entry) for entry in entries]
        gone = frozenset(at for at, entry in enumerate(held) if entry not in wanted)
        new = tuple(
            entry for entry, plain in zip(entries, wanted, strict=True) if plain not in held
        )
        change = ListChange(("judging", "reviewed"), gone, new)
        try:
            replace_study(path, before, edited(text, [change], path.name))
        except QuemError as error:
            raise _by_hand(path.name, error, entries) from None
        _take_over(acting(), decided)


def save_answer(problem: str, solver: str, digest: str, *, is_same: bool) -> None:
    """Log whether a changed solution counts as the same, and serve it accordingly."""
    with _editing():
        with site().store.write() as c:
            answer_change(c, site().id, acting(), (problem, solver, digest), is_same=is_same)
        _serve_answers()
        # Notify other processes.
        with suppress(OSError):
            site().path.touch()


def _serve_answers() -> None:
    """Serve the organizers' answers about changed solutions."""
    _serve(with_study(site(), site().spec, site().solutions, site().warnings))


def _by_hand(name: str, why: QuemError, entries: Sequence[dict[str, str]]) -> QuemError:
    lines = [f"- {flow_text(entry)}" for entry in entries]
    mistakes: list[Mistake | str] = [
        *why.mistakes,
        Mistake(name, message="make judging.reviewed this list by hand:"),
    ]
    if (more := len(lines) - _MOST_LINES) > 0:
        mistakes.append(f"(after the first {more} entries, which stay)")
    return QuemError([*mistakes, *(lines[-_MOST_LINES:] or ["[]"])])


def _take_over(actor: str, decided: Sequence[Reviewed]) -> None:
    """Log decisions, and serve them without rereading every solution."""
    before = site()
    judging = before.spec.judging.model_copy(update={"reviewed": tuple(decided)})
    spec = before.spec.model_copy(update={"judging": judging})
    known = terms(spec)
    solutions = with_redactions(before.solutions, spec, lambda words: is_exact(words, known))
    with before.store.write() as c:
        note_decisions(c, before.id, actor, decided)
    _serve(with_study(before, spec, solutions, tuple(find_warnings(solutions, spec))))


@contextmanager
def _editing() -> Iterator[None]:
    """Edit the file under the lock, and mark the edit as seen."""
    followed: _Followed = current_app.extensions[_KEY]
    with followed.lock:
        yield
        followed.seen = signature_of(site().path), signature_of(followed.table)
        followed.event = _last_edit(site())


def _serve(new: Site) -> None:
    current_app.extensions["quem"] = g.site = new
    # The cached report belongs to the previous version.
    current_app.extensions.pop("quem-report", None)
