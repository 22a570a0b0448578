"""The table of subjects that a solving session writes: who solved what, and how long it took.

A study names it instead of a list (``subjects: subjects.csv``), so that the study file is never
rewritten. The columns are ``id``, ``name``, ``experience``, and ``state``, one ``answer QUESTION``
for each question, and ``state PROBLEM``, ``seconds PROBLEM``, ``away PROBLEM``, and
``paused PROBLEM`` for each problem. A table that somebody wrote needs only ``id`` and
``experience``. Where ``reuse`` or ``answer reuse`` says yes, they agreed to be in a panel.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, read_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from quem.studyfile.document import Document

_OWN = ("id", "name", "experience", "state")
_ANSWER = "answer "
_STATES = ("submitted", "timeout", "skipped", "none")
_GONE = ("withdrawn", "declined", "absent")
_MOST_NAMED = 20
_CALCULATED = ("=", "+", "-", "@", "\t", "\r")
_LONGEST_ID = 100
# Whether somebody agreed to be in a reference panel: a column of its own, or a question.
_REUSE, _AGREED = ("reuse", f"{_ANSWER}reuse"), ("yes", "true")


def id_trouble(subject_id: str) -> str:
    """Say why an id cannot be a subject's, whose solutions are named after it; else nothing."""
    is_name = subject_id.strip() == subject_id and subject_id.isprintable()
    if not subject_id or not is_name or len(subject_id) > _LONGEST_ID:
        return "a subject's id is one line of 1 to 100 printable characters"
    if set(subject_id) & set('/\\:*?"<>|') or subject_id.startswith(".") or subject_id[-1] in "~.":
        return (
            'solutions are files named by the id; leave out / \\ : * ? " < > | and dots at its ends'
        )
    return ""


@dataclass(frozen=True)
class SolvedProblem:
    """What a subject made of one problem, and how long it took."""

    state: str  # "timeout" where the time was over, and "none" where there is no solution
    # Time at work with the page in view, away from it, and in pauses
    seconds: float = 0.0
    away: float = 0.0
    paused: float = 0.0


@dataclass(frozen=True)
class SubjectRecord:
    """A row of the table."""

    id: str
    name: str
    experience: float | None  # none for those who did not say it, who are no subjects of the study
    # Those who withdrew, declined, or solved nothing are no subjects of the study either.
    state: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)  # by question
    problems: Mapping[str, SolvedProblem] = field(default_factory=dict)


def subjects_text(
    records: Iterable[SubjectRecord], questions: Sequence[str], problems: Sequence[str]
) -> str:
    """Write the table; the same records give the same text."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    of_problems = [
        f"{what} {p}" for p in problems for what in ("state", "seconds", "away", "paused")
    ]
    writer.writerow([*_OWN, *(f"{_ANSWER}{question}" for question in questions), *of_problems])
    for one in records:
        years = "" if one.experience is None else f"{one.experience:g}"
        cells = [one.id, one.name, years, one.state]
        cells += [one.answers.get(question, "") for question in questions]
        for problem in problems:
            solved = one.problems.get(problem, SolvedProblem("none"))
            times = (solved.seconds, solved.away, solved.paused)
            cells += [solved.state, *(f"{seconds:.1f}" for seconds in times)]
        writer.writerow(map(_cell, cells))
    return text.getvalue()


def _cell(text: str) -> str:
    """Keep a spreadsheet from calculating what a person wrote."""
    return f"'{text}" if text.startswith(_CALCULATED) else text


def _plain(cell: str) -> str:
    """Give what `_cell` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_CALCULATED) else cell


def fill_in_subjects(document: Document) -> list[Mistake]:
    """Put the subjects of a table, and their missing solutions, where a study names the table."""
    content = document.content
    named = content.get("subjects")
    if not isinstance(named, str):
        if "solving" in content and content["solving"] is not None:
            message = (
                "the subjects come from the solving session; write subjects: subjects.csv, "
                "which closing the session writes"
            )
            return [document.mistake(("subjects",), message)]
        return []
    content["subjects"] = []
    path = Path(document.name).parent / named
    if not path.exists():
        if content.get("solving") is not None:
            return []
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, names) or "; check its name, or list the subjects here"
        return [document.mistake(("subjects",), f"there is no file {shown(named)}{hint}")]
    try:
        table = _Table(read_text(path, str(path), what="table of subjects"), str(path))
    except QuemError as error:
        return list(error.mistakes)
    table.check_problems(_problems(content))
    if not table.mistakes:
        content["subjects"] = table.subjects
        declared = content.get("missing")
        content["missing"] = [*(declared if isinstance(declared, list) else []), *table.missing]
    return table.mistakes[:_MOST_NAMED]


def _problems(content: dict[str, Any]) -> list[str]:
    entries = content.get("problems")
    ids = [e.get("id") for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
    return [one for one in ids if isinstance(one, str)]


class _Table:
    """What a table of subjects says."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.mistakes: list[Mistake] = []
        self.subjects: list[dict[str, Any]] = []
        self.missing: list[dict[str, Any]] = []
        # Spreadsheets write semicolons where the comma is the decimal sign.
        first = text.partition("\n")[0]
        reader = csv.reader(StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
        try:
            rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
        except csv.Error as error:
            raise QuemError(Mistake(name, reader.line_num, message=f"is no CSV: {error}")) from None
        self.header = [cell.strip() for cell in rows[0][1]] if rows else []
        for column in ("id", "experience"):
            if column not in self.header:
                self.mistakes.append(Mistake(name, 1, message=f"has no column {column}; add it"))
        for at, column in enumerate(self.header, 1):
            if column and self.header.index(column) + 1 < at:
                message = "is there twice; leave one out"
                self.mistakes.append(Mistake(name, 1, at, key=column, message=message))
        if not self.mistakes:
            self._read(rows[1:])

    def check_problems(self, problems: Sequence[str]) -> None:
        """Refuse columns of problems that the study does not have."""
        for at, column in enumerate(self.header, 1):
            what, _, problem = column.partition(" ")
            is_of_problem = what in ("state", "seconds", "away", "paused") and problem
            if is_of_problem and problem not in problems:
                message = f"there is no problem {shown(problem)}{nearest(problem, problems)}"
                self.mistakes.append(Mistake(self.name, 1, at, key=column, message=message))

    def _read(self, rows: Iterable[tuple[int, list[str]]]) -> None:
        seen: dict[str, int] = {}
        for line, row in rows:
            width = len(self.header)
            if any(map(str.strip, row[width:])):
                message = f"has {len(row)} cells, but the first line {width}; quote commas"
                self.mistakes.append(Mistake(self.name, line, message=message))
                continue
            padded = [*map(str.strip, row), *[""] * width]
            cells = dict(zip(self.header, padded, strict=False))
            one = _plain(cells["id"])
            if cells.get("state", "") in _GONE:
                continue
            if not one:
                self._refuse(line, "id", "is empty; add the id")
            elif one in seen:
                self._refuse(line, "id", f"{shown(one)} is on line {seen[one]} already; keep one")
            seen.setdefault(one, line)
            entry: dict[str, Any] = {
                "id": one,
                "experience": self._number(line, cells, "experience"),
            }
            if name := cells.get("name", ""):
                entry["name"] = _plain(name)
            if any(cells.get(column, "").casefold() in _AGREED for column in _REUSE):
                entry["reuse"] = "true"
            seconds = dict(self._seconds(line, cells))
            if seconds:
                entry["seconds"] = seconds
            self.subjects.append(entry)
            self.missing += self._missing(line, one, cells)

    def _seconds(self, line: int, cells: dict[str, str]) -> Iterator[tuple[str, float | None]]:
        for column, cell in cells.items():
            what, _, problem = column.partition(" ")
            state = cells.get(f"state {problem}", "submitted")
            if what == "seconds" and problem and cell and state in ("submitted", "timeout"):
                yield problem, self._number(line, cells, column)

    def _missing(self, line: int, one: str, cells: dict[str, str]) -> Iterator[dict[str, str]]:
        for column, cell in cells.items():
            what, _, problem = column.partition(" ")
            if what != "state" or not problem or not cell:
                continue
            if cell not in _STATES:
                self._refuse(line, column, f"{shown(cell)} is none of {', '.join(_STATES)}")
            elif cell in ("skipped", "none"):
                yield {"problem": problem, "solver": one, "reason": "absent"}

    def _number(self, line: int, cells: dict[str, str], column: str) -> float | None:
        cell = cells.get(column, "")
        try:
            number = float(cell)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            what = f"{shown(cell)} is not a number, 0 or more" if cell else "is empty"
            self._refuse(line, column, f"{what}; use a value such as 7 or 7.5")
            return None
        return number

    def _refuse(self, line: int, column: str, message: str) -> None:
        at = self.header.index(column) + 1
        self.mistakes.append(Mistake(self.name, line, at, key=column, message=message))
