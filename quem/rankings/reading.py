"""From where a study says its rankings are, to the rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.rankings.averages import PrintedAverages, read_averages
from quem.rankings.layouts import read_long, read_wide
from quem.rankings.preflib import read_preflib
from quem.rankings.table import Rankings, assemble
from quem.text import nearest

if TYPE_CHECKING:
    from quem.rankings.entries import Entries
    from quem.study.models import PreflibFile, RankingsSource
    from quem.study.reading import StudyFile

__all__ = ["read_rankings"]


def read_rankings(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | PrintedAverages | None, list[Mistake]]:
    """Read the rankings of a study.

    Parameters
    ----------
    file : StudyFile
        Its ids are what the rankings are checked against.
    source : RankingsSource

    Returns
    -------
    rankings : Rankings, PrintedAverages or None
        Worth using only where there are no mistakes.
    mistakes : list of Mistake
        Everything that is wrong in the files that could be read.
    """
    try:
        if source.source == "preflib":
            return _read_preflib_files(file, source)
        if source.source == "store":
            message = "this version of quem has no store of judging sessions; name a file instead"
            return None, [file.document.mistake(("rankings", "from"), message)]
        if not isinstance(source.file, str) or not source.file:
            message = "name the file that holds the rankings: {from: long, file: rankings.csv}"
            return None, [file.document.mistake(("rankings",), message)]
        path, name = file.beside(source.file)
        if source.source == "averages":
            return read_averages(path, name, file.declared)
        if source.source == "wide":
            entries = read_wide(path, name, file.declared)
        else:
            entries = read_long(path, name)
        return assemble([entries], file.declared)
    except QuemError as error:
        return None, list(error.mistakes)


def _read_preflib_files(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | None, list[Mistake]]:
    if isinstance(source.file, str):
        message = "list the PrefLib files, one a problem: [{file: p1.toc, problem: P1}]"
        return None, [file.document.mistake(("rankings",), message)]
    declared = file.declared
    mistakes: list[Mistake] = []
    entries: list[Entries] = []
    most = 0
    for index, part in enumerate(source.file):
        if part.problem not in declared.problems:
            mistakes.append(_unknown_problem(file, index, part))
            continue
        try:
            found, count = read_preflib(
                *file.beside(part.file), part.problem, declared.judges, tuple(declared.solvers)
            )
        except QuemError as error:
            mistakes += error.mistakes
            continue
        entries.append(found)
        most = max(most, count)
    if not entries:
        return None, mistakes or [file.document.mistake(("rankings",), "names no file")]
    judges = declared.judges or tuple(f"J{number + 1}" for number in range(most))
    rankings, more = assemble(entries, declared, judges)
    return rankings, mistakes + more


def _unknown_problem(file: StudyFile, index: int, part: PreflibFile) -> Mistake:
    hint = nearest(part.problem, file.declared.problems)
    message = f"the study has no problem {part.problem!r}{hint}"
    content = file.document.content["rankings"]
    loc = ("rankings", "file", index) if isinstance(content, dict) else ("rankings", index)
    return file.document.mistake((*loc, "problem"), message)
