"""``quem check --store``: what is chained in a judging session, recomputed."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from quem.store.exporting import Sight
    from quem.store.verification import Verified
    from quem.study.reading import StudyFile

__all__ = ["check_store"]

_DIGITS = re.compile(r"[0-9a-f]{10,64}")


def check_store(path: Path, database: str | None, *, head: str | None, receipt: str | None) -> None:
    """Verify the store of a study, and print what it holds and the head of its chain.

    Parameters
    ----------
    path : Path
        The study file.
    head, receipt : str or None
        What was printed or given to a judge earlier.

    Raises
    ------
    QuemError
        There is no session, a chain is broken, or head or receipt are not in it.
    """
    from quem.errors import Mistake, QuemError
    from quem.store.engine import held_store
    from quem.store.location import locate_database
    from quem.study.reading import draft_study

    head, receipt = _digits(head, "--head"), _digits(receipt, "--receipt")
    draft = draft_study(path)
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    place = locate_database(path, database)
    with held_store(place, path, draft.spec.id) as store, store.read() as c:
        found = _verified(c, draft.spec.id, place.name)
        lines, wrong = _compared(c, draft.spec.id, found, head, receipt)
        changed = list(_changed(c, draft))
    for line in [*_counts(found), *lines, *changed]:
        click.echo(line)
    messages = [*(b.message for b in found.breaks), *wrong]
    if messages:
        remedy = "compare the store with a backup or an archive made before, and restore one"
        mistakes = [Mistake(place.name, message=message) for message in messages]
        raise QuemError([*mistakes, Mistake(place.name, message=f"cannot be trusted; {remedy}")])


def _digits(given: str | None, option: str) -> str | None:
    if given is None:
        return None
    found = given.strip().lower()
    if not _DIGITS.fullmatch(found):
        message = f"{option} {given}: is not 10 to 64 hexadecimal digits; copy it as it was printed"
        raise click.UsageError(message)
    return found


def _verified(c: Connection, study_id: str, name: str) -> Verified:
    from quem.errors import Mistake, QuemError
    from quem.store.verification import held_in, verify

    try:
        return verify(held_in(c, study_id))
    except (ValueError, RecursionError) as error:
        message = f"holds a time or a state that cannot be read ({error}); restore a backup"
        raise QuemError([Mistake(name, message=message)]) from None


def _counts(found: Verified) -> Iterator[str]:
    counts = {
        "task": found.tasks,
        "revision": found.revisions,
        "event": len(found.heads),
        "seal": found.seals,
    }
    told = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items())
    yield f"{told}; {found.unsealed:,} of the revisions are not sealed yet"
    yield f"head: {found.heads[-1]}" if found.heads else "head: none yet, since nothing happened"


def _compared(
    c: Connection, study_id: str, found: Verified, head: str | None, receipt: str | None
) -> tuple[list[str], list[str]]:
    """Look for an earlier head and a receipt; gives what to say and what is wrong."""
    from quem.store.verification import find_receipt

    told, wrong = [], []
    if head:
        place = next((n for n, h in enumerate(reversed(found.heads)) if h.startswith(head)), None)
        if place is None:
            wrong.append(f"no event has the head {head}: events were removed or rewritten")
        else:
            ago = "the newest" if place == 0 else f"{place:,} event{'s' * (place > 1)} ago"
            told.append(f"head {head}: is in the chain, {ago}")
    if receipt:
        sentences = find_receipt(c, study_id, receipt)
        told += [f"receipt {receipt}: {sentence}" for sentence in sentences]
        if not sentences:
            wrong.append(f"no revision has the receipt {receipt}")
    return told, wrong


def _changed(c: Connection, draft: StudyFile) -> Iterator[str]:
    """Say which solutions are no longer what judges were shown."""
    from quem.solutions import find_solutions, is_unchanged
    from quem.store.exporting import sights
    from quem.store.studies import status_of

    solutions, _, _ = find_solutions(draft, complete=False)
    corrections = draft.spec.corrections if draft.spec else ()
    declared = {(one.problem, one.solver, one.sha256) for one in corrections}
    study_id = draft.spec.id if draft.spec else ""
    is_shown = status_of(c, study_id).is_shown
    for (problem, solver, digest), seen in groupby(sights(c, study_id), key=lambda s: s[:3]):
        solution = solutions.by_problem.get(problem, {}).get(solver)
        if is_unchanged(solution, digest):
            continue
        try:
            now = solution.digest if solution else "gone"
        except OSError:
            now = "cannot be read"
        what = "corrected" if (problem, solver, now) in declared else "changed"
        letters = f"; {_letters(list(seen))}" if is_shown else ""
        yield f"{what}: problem {problem}, solver {solver}: shown {digest}, now {now}{letters}"


def _letters(seen: Sequence[Sight]) -> str:
    return ", ".join(f"{sight.letter} for {sight.judge}" for sight in seen)
