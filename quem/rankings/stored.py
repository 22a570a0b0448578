"""Rankings that judges submitted in a judging session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.columns import column_of
from quem.io.tables import SourceTable
from quem.rankings.entries import FIELDS, Rankings, assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.solutions import Solutions
    from quem.store.audit_log import AuditEvent
    from quem.store.care import Care
    from quem.store.database import Store
    from quem.store.exporting import SubmittedRanking
    from quem.store.location import DatabaseLocation
    from quem.store.models import PersonRow
    from quem.store.reviewing import RecordedBlinding
    from quem.studyfile.declared import Declared
    from quem.studyfile.reading import StudyFile

# Greatest number of names in a warning.
_MOST = 5


@dataclass(frozen=True)
class Session:
    """The location of a study's judging session."""

    place: DatabaseLocation
    reveal: bool = False  # whether to read rankings of an open study; logged


def session_of_study(session: Session, study_id: str) -> Store | None:
    """Open the store that holds a study, if there is one.

    Database libraries are loaded only if there is a database.
    """
    if not session.place.may_hold_something:
        return None
    from quem.store.database import store_of

    return store_of(session.place, study_id)


def judging_minutes(session: Session, study_id: str) -> float | None:
    """The judges' time per solution in minutes; None where unknown."""
    store = session_of_study(session, study_id)
    if store is None:
        return None
    from quem.store.standing import minutes_a_solution

    with store, store.read() as c:
        return minutes_a_solution(c, study_id)


@dataclass(frozen=True)
class Submitted:
    """Submissions of a session."""

    # The last of each ballot, without solvers and problems removed since.
    rankings: list[SubmittedRanking]
    people: list[PersonRow]  # judges
    warnings: list[StudyWarning]  # about the reliability of the rankings
    cares: list[Care]  # conduct of each judge
    blinding: RecordedBlinding


def read_submitted(file: StudyFile, store: Store, *, reveal: bool) -> Submitted:
    """The last submitted ranking of each ballot."""
    from quem.solutions import find_solutions
    from quem.store import studies
    from quem.store.audit_log import noteworthy
    from quem.store.care import care_of, care_warnings
    from quem.store.exporting import shown_digests, submitted_rankings
    from quem.store.people import people_of
    from quem.store.reviewing import answered_changes, recorded_blinding

    study_id = file.spec.id if file.spec else ""
    with store.read() as c:
        status = studies.status_of(c, study_id)
    if not status.is_shown and not reveal:
        now = "on trial: it has not opened" if status.state == "trial" else status.state
        message = (
            f"the judging session is still {now}; close it in the dashboard (quem serve), or give "
            "--reveal, which is logged"
        )
        raise QuemError(Mistake(file.name, message=message))
    if reveal and status.state != "closed":
        with store.write() as c:
            studies.reveal(c, study_id, "shell")
    with store.read() as c:
        people = people_of(c, study_id, "judge")
        rankings, removed = _still_there(submitted_rankings(c, study_id), file.declared)
        shown = shown_digests(c, study_id)
        answered = answered_changes(c, study_id)
        noted = noteworthy(c, study_id)
        blinding = recorded_blinding(c, study_id, len(shown))
    if not any(one.state.ranks() for one in rankings):
        message = f"no ranking is submitted yet in {store.place.name}; judges have to submit first"
        raise QuemError(Mistake(file.name, message=message))
    solutions, _, _ = find_solutions(file, complete=False)
    warnings = [*_changed(solutions, shown, answered), *removed, *_event_warnings(noted)]
    cares = care_of(rankings, solutions.by_problem)
    warnings += care_warnings(cares)
    if status.state != "closed":
        message = "the judging session is not closed; its rankings are not final"
        warnings.append(StudyWarning("session-open", message))
    recorded = replace(blinding, texts=_texts(file, shown))
    return Submitted(rankings, people, warnings, cares, recorded)


def read_stored(
    file: StudyFile, store: Store, *, reveal: bool
) -> tuple[Rankings | None, list[Mistake]]:
    """The last submitted ranking of each ballot, as a table."""
    from quem.store.answers import answers_to_questions

    session = read_submitted(file, store, reveal=reveal)
    rankings, people = session.rankings, session.people
    rows = [(s.judge, s.problem, s.block, s.occasion, cell) for s in rankings for cell in s.cells()]
    cells = {
        "judge": [row[0] for row in rows],
        "problem": [row[1] for row in rows],
        "block": [str(row[2]) for row in rows],
        "occasion": [str(row[3]) for row in rows],
        "solver": [row[4].solver for row in rows],
        "rank": ["" if row[4].rank is None else str(row[4].rank) for row in rows],
        "reason": ["absent" if row[4].rank is None else "" for row in rows],
        "recognized": ["1" if row[4].recognized else "" for row in rows],
    }
    columns = {name: column_of(cells[name]) for name in FIELDS}
    name = store.place.name
    judges = tuple(judge.id for judge in people)
    table = SourceTable(
        name, columns, lambda _, key: Mistake(name, key=key), tuple(session.warnings)
    )
    read, mistakes = assemble([table], replace(file.declared, judges=judges))
    answers = tuple(answers_to_questions(rankings, people))
    is_known = any(care.seconds or care.is_hasty for care in session.cares)
    read = replace(
        read,
        answers=answers,
        cares=tuple(session.cares) if is_known else (),
        blinding=session.blinding,
    )
    return read, mistakes


def _texts(file: StudyFile, shown: dict[tuple[str, str], set[str]]) -> dict[str, dict[str, str]]:
    """The texts of solutions that have not changed since judges saw them."""
    from quem.blinding.rendering import text_of
    from quem.solutions import find_solutions, is_unchanged

    texts: dict[str, dict[str, str]] = {}
    for solution in find_solutions(file, complete=False)[0]:
        problem, solver = solution.problem, solution.solver
        if any(is_unchanged(solution, digest) for digest in shown.get((problem, solver), ())):
            texts.setdefault(problem, {})[solver] = text_of(solution)
    return texts


def _still_there(
    rankings: list[SubmittedRanking], declared: Declared
) -> tuple[list[SubmittedRanking], list[StudyWarning]]:
    """Leave out problems and solvers that were removed after they were ranked."""
    if {"problem", "solver"} & declared.broken:
        return rankings, []
    known = set(declared.solvers)
    problems = {s.problem for s in rankings} - set(declared.problems)
    rest = [s for s in rankings if s.problem not in problems]
    solvers = {solver for s in rest for solver in s.state.ranks()} - known
    gone = [*sorted(solvers), *sorted(problems)]
    if not gone:
        return rankings, []
    return [s.without(solvers) for s in rest], [removed_warning(gone)]


def removed_warning(gone: Sequence[str]) -> StudyWarning:
    """The warning on removals after judges had ranked."""
    message = (
        f"{', '.join(gone)}: removed from the study after judges had ranked; left out, as if never "
        "ranked; to keep their places, declare solvers under withheld"
    )
    return StudyWarning("removed-after-ranking", message)


def _event_warnings(events: Sequence[AuditEvent]) -> list[StudyWarning]:
    """Warnings on events of the session that affect the reliability of the rankings.

    Of repeated events the first is named: an analysis that reveals rankings adds one.
    """
    first: dict[str, AuditEvent] = {}
    for event in events:
        first.setdefault(event.what, event)
    warnings = []
    if revealed := first.get("revealed"):
        message = (
            f"rankings were revealed {_when(revealed)}, before the study was closed; anyone who "
            "saw them may have influenced judges; report it with the results"
        )
        warnings.append(StudyWarning("rankings-revealed", message))
    if reopened := first.get("open"):
        message = (
            f"the study was opened again {_when(reopened)}, after it was closed and its rankings "
            "could be seen; report it with the results"
        )
        warnings.append(StudyWarning("session-reopened", message))
    replaced = [event for event in events if event.what == "link-replaced"]
    if replaced:
        texts = [f"the link of {event.person} was replaced {_when(event)}" for event in replaced]
        more = f", and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
        message = (
            f"{', '.join(texts[:_MOST])}{more}, while the study was open; anyone with the new link "
            "could rank as that judge"
        )
        warnings.append(StudyWarning("link-replaced", message))
    return warnings


def _when(event: AuditEvent) -> str:
    by = event.by if event.by.startswith("organizer ") else f"the {event.by}"
    return f"on {event.at:%Y-%m-%d at %H:%M} UTC by {by}"


def _changed(
    solutions: Solutions,
    shown: dict[tuple[str, str], set[str]],
    answered: dict[tuple[str, str, str], bool],
) -> list[StudyWarning]:
    """Warnings on solutions that have changed since judges saw them."""
    from quem.solutions import is_unchanged

    def is_same(problem: str, solver: str, digest: str) -> bool:
        return is_unchanged(solutions.by_problem.get(problem, {}).get(solver), digest)

    other = [
        f"{solver} on {problem}"
        for (problem, solver), digests in sorted(shown.items())
        if not all(is_same(problem, solver, digest) for digest in digests)
        and not any(
            is_same(problem, solver, digest)
            for (*cell, digest), is_corrected in answered.items()
            if is_corrected and cell == [problem, solver]
        )
    ]
    if not other:
        return []
    message = (
        f"{', '.join(other[:_MOST])}{' and others' if len(other) > _MOST else ''}: "
        "changed or gone since judges saw it; the rankings are of what they saw"
    )
    return [StudyWarning("solutions-changed", message)]
