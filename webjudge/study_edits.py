"""Decisions about words: written to the study file, and followed while it is served."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from flask import current_app, request

from quem.errors import QuemError
from quem.solutions.checking import find_warnings
from quem.solutions.decisions import with_redactions
from quem.solutions.identity import is_exact, terms
from quem.solutions.model import signature
from quem.store.reviewing import note_decisions
from quem.study.reading import read_study
from quem.study.rewriting import save_reviewed
from webjudge.access import acting, site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Flask

    from quem.solutions.model import Signature
    from quem.study.models import Reviewed
    from webjudge.site import Site

__all__ = ["follow_decisions", "save_decisions"]

_KEY = "quem-followed"


@dataclass
class _Followed:
    """Which state of the study file the app has followed."""

    seen: Signature | None
    lock: Lock = field(default_factory=Lock)


def follow_decisions(app: Flask, served: Site) -> None:
    """Let an app take over what is decided in the study file while it runs.

    All else that changes there waits for the next start.
    """
    app.extensions[_KEY] = _Followed(_signature(served))
    app.before_request(_follow)


def _signature(served: Site) -> Signature | None:
    try:
        return signature(served.path)
    except OSError:
        return None


def _follow() -> None:
    if request.endpoint == "static":
        return
    followed: _Followed = current_app.extensions[_KEY]
    now = _signature(site())
    if now is None or now == followed.seen:
        return
    with followed.lock:
        if now == followed.seen:
            return
        try:
            decided = read_study(site().path).judging.reviewed
        except QuemError:
            # Somebody is writing it; what was decided before holds.
            decided = site().spec.judging.reviewed
        if decided != site().spec.judging.reviewed:
            with site().store.write() as c:
                note_decisions(c, site().id, "server", decided)
            current_app.extensions["quem"] = _decided(site(), decided)
        followed.seen = now


def save_decisions(decided: Sequence[Reviewed]) -> None:
    """Write what is decided about words to the study file, log it, and let judges see it.

    Raises
    ------
    QuemError
        The study file cannot be written, with the lines to add by hand.
    """
    followed: _Followed = current_app.extensions[_KEY]
    with followed.lock:
        save_reviewed(site().path, site().path.name, decided)
        with site().store.write() as c:
            note_decisions(c, site().id, acting(), decided)
        current_app.extensions["quem"] = _decided(site(), tuple(decided))
        followed.seen = _signature(site())


def _decided(before: Site, decided: tuple[Reviewed, ...] | Sequence[Reviewed]) -> Site:
    """Give a site whose judges see what was decided."""
    judging = before.spec.judging.model_copy(update={"reviewed": tuple(decided)})
    spec = before.spec.model_copy(update={"judging": judging})
    known = terms(spec)
    solutions = with_redactions(before.solutions, spec, lambda words: is_exact(words, known))
    warnings = tuple(find_warnings(solutions, spec))
    after = replace(before, spec=spec, solutions=solutions, warnings=warnings, _known={})
    # Attempts that are counted but not logged yet are not to be lost.
    after.__dict__["attempts"] = before.attempts
    return after
