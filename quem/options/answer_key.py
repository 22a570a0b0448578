"""The questions of a study and the right option of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.tables import MOST_NAMED, read_table
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quem.study.options import OptionsSpec
    from quem.study.reading import Draft

__all__ = ["AnswerKey", "read_key"]

# Where an answer is, the question, its right option and its title.
_Entry = tuple[Mistake, str, str, str]


@dataclass(frozen=True)
class AnswerKey:
    """The questions, in the order of the file.

    Parameters
    ----------
    ids, correct, titles : tuple of str
        Of each question its id, its right option and its title, which may be empty.
    files : tuple of Path
        The file that holds them, if one does.
    """

    ids: tuple[str, ...]
    correct: tuple[str, ...]
    titles: tuple[str, ...]
    files: tuple[Path, ...] = ()
    warnings: tuple[StudyWarning, ...] = ()


def read_key(draft: Draft[OptionsSpec], spec: OptionsSpec) -> tuple[AnswerKey, list[Mistake]]:
    """Read the questions of a study.

    Returns
    -------
    key : AnswerKey
        Worth using only where there are no mistakes.
    mistakes : list of Mistake
    """
    files: tuple[Path, ...] = ()
    warnings: tuple[StudyWarning, ...] = ()
    if isinstance(spec.questions, str) and (
        missing := draft.not_there(("questions",), spec.questions)
    ):
        return AnswerKey((), (), ()), [missing]
    try:
        if isinstance(spec.questions, str):
            path, name = draft.beside(spec.questions)
            files = (path,)
            entries, warnings = _from_file(path, name)
        else:
            entries = [
                (draft.document.mistake(("questions", i, "id"), ""), q.id, q.correct, q.title)
                for i, q in enumerate(spec.questions)
            ]
    except QuemError as error:
        return AnswerKey((), (), ()), list(error.mistakes)
    mistakes = list(_mistakes(entries))
    if not entries:
        message = "there is no question; add questions, each with its correct option"
        place = draft.document.mistake(("questions",), message)
        mistakes.append(Mistake(str(files[0]), message=message) if files else place)
    key = AnswerKey(
        tuple(question for _, question, _, _ in entries),
        tuple(correct for _, _, correct, _ in entries),
        tuple(title for _, _, _, title in entries),
        files,
        warnings,
    )
    return key, mistakes


def _mistakes(entries: list[_Entry]) -> Iterator[Mistake]:
    """Questions without an id or an answer, and duplicate ones."""
    first: dict[str, _Entry] = {}
    count = 0
    for entry in entries:
        place, question, correct, _ = entry
        message = ""
        if not question:
            message = "the question has no id; add it"
        elif not correct:
            message = f"the question {shown(question)} has no correct option; add it"
        elif question in first:
            other = first[question]
            line = f" on line {other[0].line}" if other[0].line else ""
            if other[2] == correct:
                message = f"duplicate: the question {shown(question)} is already{line}; keep one"
            else:
                message = (
                    f"the question {shown(question)} has another correct option{line}, "
                    f"{shown(other[2])}; a question has one correct option"
                )
        first.setdefault(question, entry)
        if message and count < MOST_NAMED:
            count += 1
            yield replace(place, message=message)


def _from_file(path: Path, name: str) -> tuple[list[_Entry], tuple[StudyWarning, ...]]:
    required = ("question", "correct")
    table = read_table(
        path, name, what="table of questions", fields=(*required, "title"), required=required
    ).without_blank_rows()
    cells = [table.column(field).cells() for field in (*required, "title")]
    entries = [
        (table.place(row, "question"), question, correct, title)
        for row, (question, correct, title) in enumerate(zip(*cells, strict=True))
    ]
    return entries, table.warnings
