"""The questions of a study of option lists, with their right options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.records import is_json, read_records, text_of
from quem.io.tables import MOST_NAMED, read_table
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.studyfile.options import OptionsSpec
    from quem.studyfile.reading import Draft

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

# Where an answer is, the question, a right option and the title.
_Entry = tuple[Mistake, str, str, str]


@dataclass(frozen=True)
class AnswerKey:
    """The questions, in the order of the file."""

    # `ids`, `titles`: Of each question its id and its title, which may be empty
    ids: tuple[str, ...]
    correct: tuple[tuple[str, ...], ...]  # of each question its right options
    titles: tuple[str, ...]
    files: tuple[Path, ...] = ()  # the file that holds them, if one does
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def n_correct(self) -> Integers:
        """How many right options each question has, shape (q,)."""
        return np.fromiter(map(len, self.correct), dtype=np.int64, count=len(self.correct))

    def among(self, code_of: Mapping[str, int], question: Integers, code: Integers) -> Flags:
        """Say which options are right ones of their questions.

        Shapes: `question`, `code` (n,).
        """
        n = len(code_of)
        right = [
            at * n + code_of[text]
            for at, texts in enumerate(self.correct)
            for text in texts
            if text in code_of
        ]
        if not right:
            return np.zeros(len(code), dtype=bool)
        known = np.array(sorted(right), dtype=np.int64)
        wanted = question * n + code
        return np.asarray(known[np.searchsorted(known[:-1], wanted)] == wanted)


def read_key(draft: Draft[OptionsSpec], spec: OptionsSpec) -> tuple[AnswerKey, list[Mistake]]:
    """Read the questions of a study."""
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
                (draft.document.mistake(("questions", i, "id"), ""), q.id, correct, q.title)
                for i, q in enumerate(spec.questions)
                for correct in q.correct
            ]
    except QuemError as error:
        return AnswerKey((), (), ()), list(error.mistakes)
    mistakes = list(_mistakes(entries))
    if not entries:
        message = "there is no question; add questions, each with its correct option"
        place = draft.document.mistake(("questions",), message)
        mistakes.append(Mistake(str(files[0]), message=message) if files else place)
    correct: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for _, question, option, title in entries:
        correct.setdefault(question, []).append(option)
        titles[question] = titles.get(question) or title
    key = AnswerKey(
        tuple(correct), tuple(map(tuple, correct.values())), tuple(titles.values()), files, warnings
    )
    return key, mistakes


def _mistakes(entries: list[_Entry]) -> Iterator[Mistake]:
    """Questions without an id or an answer, and answers and titles that are there twice."""
    first: dict[tuple[str, str], _Entry] = {}
    titled: dict[str, _Entry] = {}
    count = 0
    for entry in entries:
        place, question, correct, title = entry
        message = ""
        if not question:
            message = "the question has no id; add it"
        elif not correct:
            message = f"the question {shown(question)} has no correct option; add it"
        elif (question, correct) in first:
            message = (
                f"duplicate: the question {shown(question)} with the correct option "
                f"{shown(correct)} is already{_line(first[question, correct])}; keep one"
            )
        elif title and titled.setdefault(question, entry)[3] != title:
            message = (
                f"the question {shown(question)} has another title{_line(titled[question])}; "
                "give it one"
            )
        first.setdefault((question, correct), entry)
        if message and count < MOST_NAMED:
            count += 1
            yield replace(place, message=message)


def _line(entry: _Entry) -> str:
    return f" on line {entry[0].line}" if entry[0].line else ""


def _from_file(path: Path, name: str) -> tuple[list[_Entry], tuple[StudyWarning, ...]]:
    if is_json(path):
        return list(_from_json(path, name)), ()
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


_KEY_KEYS = ("question", "correct", "title")


def _from_json(path: Path, name: str) -> Iterator[_Entry]:
    """The questions of JSON or JSON Lines; a question with several answers lists them."""
    example = '{"question": "Q1", "correct": "a"}'
    records = read_records(path, name, what="questions", example=example, key="question")
    mistakes: list[Mistake] = []
    for line, record in zip(records.lines(), records.entries, strict=True):
        wrong = unknown_keys(record, _KEY_KEYS)
        given = record.get("correct")
        texts = {
            key: ["" if value in (None, "") else text_of(value) for value in values]
            for key, values in (
                ("question", [record.get("question")]),
                ("correct", (given or [None]) if isinstance(given, list) else [given]),
                ("title", [record.get("title")]),
            )
        }
        for key, found in texts.items():
            if None in found:
                listed = ", or a list of such" if key == "correct" else ""
                wrong.append((key, f"must be a text or a whole number{listed}"))
        mistakes += [Mistake(name, line, key=key, message=message) for key, message in wrong]
        for correct in texts["correct"]:
            place = Mistake(name, line, key="question")
            yield place, texts["question"][0] or "", correct or "", texts["title"][0] or ""
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])


def unknown_keys(record: Mapping[str, object], known: Sequence[str]) -> list[tuple[str, str]]:
    """Name the unknown keys of a record, and say what is wrong with each."""
    return [
        (key, f"unknown key{nearest(key, known)}; known here: {', '.join(known)}")
        for key in record
        if key not in known
    ]
