"""The questions of a study and the right option of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.tables import read_delimited
from quem.io.text import shown
from quem.options.rows import JSON_LINES, MOST_OF_A_KIND, json_lines, text_of
from quem.rankings.layouts import named_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quem.study.options import OptionsSpec
    from quem.study.reading import Draft

__all__ = ["AnswerKey", "read_key"]

_FIELDS = ("question", "correct", "title")
# Where an answer stands, the question, its right option and its title.
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
    warnings : tuple of StudyWarning
    """

    ids: tuple[str, ...]
    correct: tuple[str, ...]
    titles: tuple[str, ...]
    files: tuple[Path, ...] = ()
    warnings: tuple[StudyWarning, ...] = ()


def read_key(draft: Draft[OptionsSpec], spec: OptionsSpec) -> tuple[AnswerKey, list[Mistake]]:
    """Read the questions of a study.

    Parameters
    ----------
    draft : Draft
    spec : OptionsSpec

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
            if path.suffix.casefold() in JSON_LINES:
                entries = list(_from_json(path, name))
            else:
                entries, warnings = _from_table(path, name)
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
    """Questions without an id or an answer, and those that stand twice."""
    first: dict[str, _Entry] = {}
    found = 0
    for entry in entries:
        place, question, correct, _ = entry
        message = ""
        if not question:
            message = "the question has no id; name it"
        elif not correct:
            message = f"the question {shown(question)} has no correct option; name it"
        elif question in first:
            other = first[question]
            line = f" on line {other[0].line}" if other[0].line else ""
            if other[2] == correct:
                message = f"the question {shown(question)} stands already{line}; keep one of them"
            else:
                message = (
                    f"the question {shown(question)} has another correct option{line}, "
                    f"{shown(other[2])}; a question has one correct option"
                )
        first.setdefault(question, entry)
        if message and found < MOST_OF_A_KIND:
            found += 1
            yield Mistake(place.path, place.line, place.column, place.key, message)


def _from_table(path: Path, name: str) -> tuple[list[_Entry], tuple[StudyWarning, ...]]:
    table = read_delimited(path, name, what="table of questions")
    at, warnings = named_columns(table, _FIELDS, required=("question", "correct"))
    n_rows = len(table.columns[at["question"]].codes)
    lines = table.lines()[:n_rows]

    def cells(field: str) -> list[str]:
        if field not in at:
            return [""] * n_rows
        column = table.columns[at[field]]
        return [column.values[code] for code in column.codes.tolist()]

    rows = zip(lines, cells("question"), cells("correct"), cells("title"), strict=True)
    return [
        (Mistake(name, line, at["question"] + 1, "question"), question, correct, title)
        for line, question, correct, title in rows
        if question or correct or title
    ], warnings


def _from_json(path: Path, name: str) -> Iterator[_Entry]:
    for line, record in json_lines(path, name, "questions"):
        if unknown := sorted(record.keys() - set(_FIELDS)):
            message = f"unknown key; known here: {', '.join(_FIELDS)}"
            raise QuemError([Mistake(name, line, key=unknown[0], message=message)])
        words = [text_of(record.get(field)) or "" for field in _FIELDS]
        yield Mistake(name, line, key="question"), words[0], words[1], words[2]
