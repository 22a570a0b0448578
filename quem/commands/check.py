"""``quem check``: all errors and warnings of a study, without a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import (
    code_option,
    conversion_progress,
    data_option,
    database_option,
    print_warnings,
    refuse_foreign,
    study_argument,
    unsandboxed_option,
)
from quem.errors import Mistake, QuemError, StudyWarning, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from quem.kinds import AnyStudy
    from quem.solutions import Solutions
    from quem.solutions.checking import Unasked
    from quem.studyfile.reading import StudyFile


@click.command()
@study_argument()
@data_option
@database_option
@code_option
@unsandboxed_option
@click.option("--details", is_flag=True, help="List what is removed quietly, and weak hits.")
@click.option("--strict", is_flag=True, help="Exit with 1 if there is something to decide.")
def check(
    study: Path,
    data: Path | None,
    database: str | None,
    *,
    code: bool,
    unsandboxed: bool,
    details: bool,
    strict: bool,
) -> None:
    """Check STUDY and its data without writing anything.

    Lists every error with its location and fix (exit code 1), what could give the author of a
    solution away and needs a decision, and all warnings. An experience study whose solutions are
    not yet judged needs no rankings.
    """
    from quem.studyfile.reading import JUDGED, kind_of

    kind = kind_of(study)
    from quem import kinds

    sources: dict[str, Any] = {"database": database, "data": data}
    if kind not in JUDGED:
        given = {"office_unsandboxed": unsandboxed, "details": details, "strict": strict}
        refuse_foreign(kind, given, ())
    refuse_foreign(kind, sources, kinds.KINDS[kind].sources)
    if kind in JUDGED:
        decide = _check_judged(study, database, sandboxed=not unsandboxed, details=details)
        if strict and decide:
            raise SystemExit(1)
        return
    loaded = kinds.load_study(study, code=code, **sources)
    _print(study, list(kinds.check(loaded)), _counted(loaded.counts()))


def _check_judged(study: Path, database: str | None, *, sandboxed: bool, details: bool) -> int:
    """Check judgments and solutions; either may still be missing.

    Returns the number of open decisions.
    """
    from quem.solutions import check_solutions
    from quem.solutions.checking import GIVES_AWAY, unasked
    from quem.solutions.model import PARSED
    from quem.studyfile.reading import draft_study

    loaded, warnings, mistakes = _analyzed(study, database)
    draft = draft_study(study)
    waits = "" if loaded else _waits_for_judges(draft, database)
    is_early = draft.spec is not None and draft.spec.awaits_subjects
    solutions, more_mistakes, more_warnings = check_solutions(
        draft, complete=bool(waits) and not is_early, sandboxed=sandboxed, tell=conversion_progress
    )
    mistakes = [*([] if waits else mistakes), *more_mistakes]
    warnings += more_warnings
    refuse(mistakes)
    warnings += _effects(draft, solutions, database)
    contents = _contents(draft, loaded, solutions) + _decided(draft)
    contents += ["subjects to come from the solving session"] if is_early else []
    contents += _drawn(draft, solutions, database)
    decide = [one for one in warnings if one.code in GIVES_AWAY]
    others = [one for one in warnings if one.code not in GIVES_AWAY]
    _print(study, others, [*contents, waits] if waits else contents, len(decide))
    if decide:
        click.echo(f'\nDecide ({len(decide)}): "Review" in the dashboard of quem serve', err=True)
        for one in decide:
            click.echo(f"  {one.message}", err=True)
    if draft.spec:
        _print_unasked(unasked(solutions, draft.spec), details=details)
    if any(file.kind in PARSED for one in solutions for file in one.files):
        from quem.blinding.workers import unconfined

        if reason := unconfined():
            click.echo(reason)
    return len(decide)


def _print_unasked(found: Unasked, *, details: bool) -> None:
    more = "" if details else "; --details lists them"
    for name, lines in (
        ("Removed quietly: metadata of", found.removed),
        ("Not asked, cited authors and words that are also names:", found.weak),
    ):
        if lines:
            count = f"{len(lines)} file{'' if len(lines) == 1 else 's'}"
            counted = count if lines is found.removed else f"{len(lines)}"
            click.echo(f"\n{name} {counted}{more}", err=True)
            for line in lines if details else ():
                click.echo(f"  {line}", err=True)


def _print(study: Path, warnings: list[StudyWarning], contents: list[str], decide: int = 0) -> None:
    count = len(warnings)
    counted = f"{count} warning{'' if count == 1 else 's'}" if count else "no warnings"
    counted += f", {decide} to decide" if decide else ""
    click.echo(f"{study}: no errors, {counted}")
    click.echo(f"found: {', '.join(contents)}")
    print_warnings(warnings)


def _analyzed(
    path: Path, database: str | None
) -> tuple[AnyStudy | None, list[StudyWarning], list[Mistake]]:
    """Read the study with its rankings, and collect warnings and errors of the analysis."""
    from quem import kinds

    try:
        loaded = kinds.load_study(path, database=database)
        return loaded, list(kinds.check(loaded)), []
    except QuemError as error:
        return None, [], list(error.mistakes)


def _waits_for_judges(draft: StudyFile, database: str | None) -> str:
    """The note that a judging session is still open; else empty."""
    from quem.solutions.checking import awaits_rankings

    if draft.mistakes or draft.spec is None or not awaits_rankings(draft):
        return ""
    if draft.spec.rankings.source != "store" and not draft.beside(draft.spec.solutions)[0].is_dir():
        return ""
    from quem.rankings.stored import Session, session_of_study
    from quem.store.location import locate_database

    store = session_of_study(Session(locate_database(draft.path, database)), draft.spec.id)
    if store is None:
        return "no rankings yet"
    from quem.store.studies import status_of

    with store:
        with store.read() as c:
            is_over = status_of(c, draft.spec.id).is_shown
        return "" if is_over else "rankings hidden until the judging session is closed"


def _effects(draft: StudyFile, solutions: Solutions, database: str | None) -> list[StudyWarning]:
    """Warnings about changes to the study since judges saw it."""
    from quem.rankings.stored import Session, session_of_study
    from quem.store.location import locate_database

    spec = draft.spec
    store = spec and session_of_study(Session(locate_database(draft.path, database)), spec.id)
    if not spec or not store:
        return []
    from quem.store.living import contents_of, effect_warning, effects, plan_of
    from quem.store.planned import recorded_draw
    from quem.store.reviewing import answered_changes

    with store, store.read() as c:
        plan = plan_of(spec, solutions, recorded_draw(c, spec.id))
        answered = answered_changes(c, spec.id)
        changes = effects(c, spec.id, plan, lambda group: contents_of(solutions, group, answered))
    return [effect_warning(effect) for effect in changes]


def _drawn(draft: StudyFile, solutions: Solutions, database: str | None) -> list[str]:
    """The problems that experts rank, where machine judges rank others too."""
    if draft.spec is None or draft.spec.machine is None or not len(solutions):
        return []
    from quem.rankings.stored import Session, session_of_study
    from quem.store.location import locate_database
    from quem.store.planned import draw_of, recorded_draw

    draw = draw_of(draft.spec, solutions)
    store = session_of_study(Session(locate_database(draft.path, database)), draft.spec.id)
    if draw and store:
        with store, store.read() as c:
            draw = recorded_draw(c, draft.spec.id) or draw
    return [f"drawn for experts: {', '.join(draw.problems)}"] if draw else []


def _contents(draft: StudyFile, study: AnyStudy | None, solutions: Solutions) -> list[str]:
    """Counts of the contents."""
    declared = draft.declared
    if declared.candidates:
        counts = {
            "judge": len(declared.judges),
            "query": len(declared.problems),
            "candidate": sum(len(declared.solvers_of(one)) for one in declared.problems),
        }
        return _counted({**counts, **(study.counts() if study else {}), "text": len(solutions)})
    kinds = list(declared.solvers.values())
    counts = {
        "subject": kinds.count("subject"),
        "system": kinds.count("system"),
        "judge": len(declared.judges),
        "problem": len(declared.problems),
    }
    if study is not None:
        counts |= _ranked(study)
    counts["solution"] = len(solutions)
    return _counted(counts)


def _decided(draft: StudyFile) -> list[str]:
    """Counts of redacted and of accepted words in solutions."""
    decided = [one.decision for one in draft.spec.judging.reviewed] if draft.spec else []
    return _counted(
        {
            "redaction": decided.count("redact"),
            "accepted identity word": decided.count("accept"),
        }
    )


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"{n:,} {noun if n == 1 else _plural(noun)}" for noun, n in counts.items() if n]


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def _ranked(study: AnyStudy) -> dict[str, int]:
    from quem.rankings import Decisions, Rankings
    from quem.rankings.loading import Study

    if not isinstance(study, Study):
        return {}
    if isinstance(study.data, Decisions):
        return {"judge": len(study.data.judges), "decision": len(study.data)}
    if isinstance(study.data, Rankings):
        return {"judge": len(study.data.judges), "rank": int((study.data.rank >= 0).sum())}
    return {"average rank": int((study.data.average >= 0).sum())}
