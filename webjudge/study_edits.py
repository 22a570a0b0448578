"""Decisions of the dashboard, written to the study file and followed at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import yaml
from flask import current_app

from quem.solutions.checking import find_warnings
from quem.solutions.decisions import with_redactions
from quem.solutions.identity import is_exact, terms
from quem.store.reviewing import note_decisions
from webjudge.access import acting, site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.study.models import Reviewed

__all__ = ["save_decisions"]


def save_decisions(decided: Sequence[Reviewed]) -> None:
    """Write what is decided about words to the study file, log it, and let judges see it.

    Raises
    ------
    QuemError
        The study file cannot be written, with the lines to add by hand.
    """
    path = site().path
    content = yaml.safe_load(path.read_text())
    judging = content.setdefault("judging", {})
    judging["reviewed"] = [{k: v for k, v in one.model_dump().items() if v} for one in decided]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    known = terms(site().spec)
    judging = site().spec.judging.model_copy(update={"reviewed": tuple(decided)})
    spec = site().spec.model_copy(update={"judging": judging})
    solutions = with_redactions(site().solutions, spec, lambda words: is_exact(words, known))
    with site().store.write() as c:
        note_decisions(c, site().id, acting(), decided)
    warnings = tuple(find_warnings(solutions, spec))
    current_app.extensions["quem"] = replace(
        site(), spec=spec, solutions=solutions, warnings=warnings
    )
