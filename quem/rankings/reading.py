"""From where a study says its rankings are, to the rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, shown
from quem.rankings.averages import PrintedAverages, read_averages
from quem.rankings.entries import assemble
from quem.rankings.layouts import read_long, read_wide
from quem.rankings.preflib import read_preflib
from quem.rankings.stored import read_stored, session_of_study

if TYPE_CHECKING:
    from quem.io.tables import Table
    from quem.rankings.stored import Session
    from quem.rankings.table import Rankings
    from quem.study.models import RankingsSource
    from quem.study.reading import StudyFile

__all__ = ["read_rankings"]


def read_rankings(
    file: StudyFile, source: RankingsSource, session: Session
) -> tuple[Rankings | PrintedAverages | None, list[Mistake]]:
    """Read the rankings of a study.

    Parameters
    ----------
    file : StudyFile
        Its ids are what the rankings are checked against.
    session : Session
        Where the study's judging session is, if it has one.

    Returns
    -------
    rankings : Rankings, PrintedAverages or None
        Worth using only where there are no mistakes.
    mistakes : list of Mistake
        Everything that is wrong in the files that could be read.
    """
    try:
        if source.source == "store" or "from" not in _part(file):
            return _read_undecided(file, source, session)
        return _read_file(file, source)
    except QuemError as error:
        return None, list(error.mistakes)


def _read_undecided(
    file: StudyFile, source: RankingsSource, session: Session
) -> tuple[Rankings | PrintedAverages | None, list[Mistake]]:
    """Read the store, or the file where the study has no store; both are one too many."""
    if file.spec is None or file.mistakes:
        # Its id, by which a store knows it, may be wrong.
        return _read_file(file, source) if source.file else (None, [])
    store = session_of_study(session, file.spec.id)
    if store is None:
        if source.source == "store":
            message = (
                f"there is no judging session of this study in {session.place.name}; "
                "`quem serve` starts one, and --database names another place"
            )
            return None, [file.document.mistake(("rankings", "from"), message)]
        return _read_file(file, source)
    try:
        if source.file:
            message = (
                f"the study also has a judging session in {store.place.name}; say which counts: "
                f"{{from: store}} or {{from: {source.source}, file: ...}}"
            )
            return None, [file.document.mistake(("rankings",), message)]
        from quem.store.engine import clear_refusals

        with clear_refusals(session.place):
            return read_stored(file, store, reveal=session.reveal)
    finally:
        store.close()


def _read_file(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | PrintedAverages | None, list[Mistake]]:
    if source.source == "preflib":
        return _read_preflib_files(file, source)
    return _read_table(file, source)


def _read_table(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | PrintedAverages | None, list[Mistake]]:
    if not isinstance(source.file, str) or not source.file:
        message = (
            "name the file that holds the rankings: {from: long, file: rankings.csv}, or let "
            "judges make them: `quem serve`"
        )
        return None, [file.document.mistake(("rankings",), message)]
    loc = ("rankings", "file") if "file" in _part(file) else ("rankings",)
    if mistake := file.not_there(loc, source.file):
        return None, [mistake]
    path, name = file.beside(source.file)
    if source.source == "averages":
        return read_averages(path, name, file.declared)
    if source.source == "wide":
        table = read_wide(path, name, file.declared)
    else:
        table = read_long(path, name)
    return assemble([table], file.declared)


def _read_preflib_files(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | None, list[Mistake]]:
    if isinstance(source.file, str):
        message = "list the PrefLib files, one per problem: [{file: p1.toc, problem: P1}]"
        return None, [file.document.mistake(("rankings",), message)]
    declared = file.declared
    known = () if "judge" in declared.broken else declared.judges
    mistakes: list[Mistake] = []
    tables: list[Table[str]] = []
    most = 0
    for index, part in enumerate(source.file):
        loc = (*(("rankings", "file") if _part(file) else ("rankings",)), index)
        if part.problem not in declared.problems and "problem" not in declared.broken:
            hint = nearest(part.problem, declared.problems)
            message = f"the study has no problem {shown(part.problem)}{hint}"
            mistakes.append(file.document.mistake((*loc, "problem"), message))
            continue
        if mistake := file.not_there((*loc, "file"), part.file):
            mistakes.append(mistake)
            continue
        try:
            table, count = read_preflib(*file.beside(part.file), part.problem, known, declared)
        except QuemError as error:
            mistakes += error.mistakes
            continue
        tables.append(table)
        most = max(most, count)
    if not tables:
        return None, mistakes or [file.document.mistake(("rankings",), "names no file")]
    judges = known or tuple(f"J{number + 1}" for number in range(most))
    rankings, more = assemble(tables, declared, judges)
    return rankings, mistakes + more


def _part(file: StudyFile) -> dict[str, object]:
    """What the study says of its rankings, where it says it as a mapping."""
    content = file.document.content.get("rankings")
    return content if isinstance(content, dict) else {}
