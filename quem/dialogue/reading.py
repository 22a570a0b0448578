"""Case bases from CSV files."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.case_base import CaseFiles, CaseTable, EncodedCases, read_cells
from quem.errors import Mistake, StudyWarning
from quem.io.numerals import endless_message, nearly_numeric, numerals, parsed
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.study.document import Loc

__all__ = ["CaseFiles", "ReadCases", "read_cases"]

_FEWEST = 3
_MOST = 1 << 20
_TWO = 2
_TOLD = 5
_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass
class ReadCases:
    """What was read.

    Parameters
    ----------
    cases : EncodedCases or None
        None where something is wrong.
    mistakes : list of Mistake
        In the files.
    misplaced : list of (Loc, str)
        In the keys of `CaseFiles`: the key, and what is wrong.
    warnings : list of StudyWarning
    """

    cases: EncodedCases | None = None
    mistakes: list[Mistake] = field(default_factory=list)
    misplaced: list[tuple[Loc, str]] = field(default_factory=list)
    warnings: list[StudyWarning] = field(default_factory=list)


def read_cases(asked: CaseFiles) -> ReadCases:
    """Read a case base.

    Parameters
    ----------
    asked : CaseFiles

    Returns
    -------
    ReadCases
        Cases without a class are left out, with a doubt.
    """
    found = ReadCases()
    cells, found.mistakes = read_cells(asked)
    if cells is None:
        return found
    _unknown_names(asked, cells.names, found)
    if found.misplaced or found.mistakes:
        return found
    labels = cells.columns[cells.names.index(asked.label)]
    blank = {"", *asked.missing}
    rows = [row for row, label in enumerate(labels) if label not in blank]
    if len(rows) < len(labels):
        lost = len(labels) - len(rows)
        path, line = cells.where(next(r for r, label in enumerate(labels) if label in blank))
        text = f"{lost} case{'s have' if lost > 1 else ' has'} no {asked.label} ({path}:{line}"
        text += " is the first)" if lost > 1 else ")"
        found.warnings.append(StudyWarning("no-class", f"{text}; left out"))
    if len(rows) < _FEWEST:
        message = f"there are {len(rows)} cases with a class, and dialogues need {_FEWEST} at least"
        found.mistakes.append(Mistake(asked.files[0][1], message=message))
        return found
    if len(rows) >= _MOST:
        message = f"there are {len(rows):,} cases; this version takes fewer than {_MOST:,}"
        found.mistakes.append(Mistake(asked.files[0][1], message=message))
        return found
    _make(asked, cells, rows, found)
    return found


def _make(asked: CaseFiles, cells: CaseTable, rows: list[int], found: ReadCases) -> None:
    apart = {asked.label, asked.id, *asked.ignore}
    names = [name for name in cells.names if name and name not in apart]
    values, categories = [], []
    for name in list(names):
        told = _attribute(asked, cells, name, rows, found)
        if told is None:
            names.remove(name)
            continue
        values.append(told[0])
        categories.append(told[1])
    if not names and not found.mistakes:
        message = "no attribute is left; the files hold the class and what is ignored alone"
        found.misplaced.append((("file",), message))
    if found.mistakes or found.misplaced:
        return
    ids = _ids(asked, cells, rows, found)
    texts = [cells.columns[cells.names.index(asked.label)][row] for row in rows]
    labels = sorted(set(texts))
    if len(labels) == 1:
        message = f"all cases have the same {asked.label}, so precision is 1 whatever is selected"
        found.warnings.append(StudyWarning("one-class", message))
    if len(labels) == len(texts):
        message = f"no two cases have the same {asked.label}, so precision is 0"
        found.warnings.append(StudyWarning("class-unique", message))
    place = {label: index for index, label in enumerate(labels)}
    weights = np.array([asked.weights.get(name, 1.0) for name in names])
    if weights.sum() <= 0:
        found.misplaced.append((("weights",), "at least one attribute needs a weight above 0"))
        return
    if not found.mistakes:
        found.cases = EncodedCases(
            tuple(ids),
            tuple(names),
            np.array(values, dtype=float).T,
            tuple(categories),
            np.array([place[text] for text in texts]),
            tuple(labels),
            weights,
        )


def _unknown_names(asked: CaseFiles, names: list[str], found: ReadCases) -> None:
    """Names in the study file that no column has, and those that contradict each other."""
    named: list[tuple[Loc, str]] = [(("class",), asked.label)]
    if asked.id:
        named.append((("id",), asked.id))
    for key in ("ignore", "numeric", "categorical"):
        listed = getattr(asked, key)
        if not isinstance(listed, str):
            named += [((key, index), name) for index, name in enumerate(listed)]
    named += [(("weights", name), name) for name in asked.weights]
    for loc, name in named:
        if name not in names:
            message = f"there is no column {shown(name)}{nearest(name, names)}"
            if asked.header and not set(names) & {name for _, name in named}:
                message += "; if the files have no header, say header: false and name the columns"
            found.misplaced.append((loc, message))
    found.misplaced += _contradictions(asked)


def _contradictions(asked: CaseFiles) -> Iterator[tuple[Loc, str]]:
    both = sorted({*_listed(asked.numeric)} & {*_listed(asked.categorical)})
    if asked.numeric == asked.categorical == "all":
        both = ["all"]
    if both:
        yield ("categorical",), f"{shown(both[0])} is both numeric and categorical; name it once"
    if asked.label in asked.weights:
        yield ("weights", asked.label), "the class has no weight: it is no attribute"


def _attribute(
    asked: CaseFiles, cells: CaseTable, name: str, rows: list[int], found: ReadCases
) -> tuple[list[float], tuple[str, ...] | None] | None:
    """The values of one attribute; None where there are none to be had."""
    column = cells.columns[cells.names.index(name)]
    blank = {"", *asked.missing}
    texts = [column[row] for row in rows]
    known = Counter(text for text in texts if text not in blank)
    if not known:
        message = f"no case has a value of {name}; the attribute is left out"
        found.warnings.append(StudyWarning("empty-attribute", message))
        return None
    numbers = {text: parsed(text, asked.decimal) for text in known}
    if _is_numeric(asked, name, numbers, known, found, cells, rows):
        _refuse(asked, cells, name, rows, numbers, found)
        return [_or_nan(numbers.get(text)) for text in texts], None
    ordered = sorted(known, key=lambda text: (-known[text], text))
    codes = {text: float(code) for code, text in enumerate(ordered)}
    return [codes.get(text, math.nan) for text in texts], tuple(ordered)


def _refuse(
    asked: CaseFiles,
    cells: CaseTable,
    name: str,
    rows: list[int],
    numbers: dict[str, float | None],
    found: ReadCases,
) -> None:
    """Cells of a numeric column that hold no finite number."""
    column = cells.columns[cells.names.index(name)]
    odd = [row for row in rows if not math.isfinite(_or_nan(numbers.get(column[row], 0.0)))]
    for count, row in enumerate(odd[:_TOLD], start=1):
        message = _no_number(column[row], asked.decimal, numbers[column[row]])
        if count == _TOLD < len(odd):
            message += f" (and {len(odd) - _TOLD} more in this column)"
        found.mistakes.append(cells.mistake(row, name, message))


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number


def _is_numeric(
    asked: CaseFiles,
    name: str,
    numbers: dict[str, float | None],
    known: Counter[str],
    found: ReadCases,
    cells: CaseTable,
    rows: list[int],
) -> bool:
    """Whether a column is numeric: as told, else by its looks."""
    if name in _listed(asked.numeric):
        return True
    if name in _listed(asked.categorical) or asked.categorical == "all":
        return False
    if asked.numeric == "all":
        return True
    looks = numerals(numbers, known, _TWO + 1)
    column = cells.columns[cells.names.index(name)]
    if looks.nearly:
        where = [row for row in rows if column[row] in looks.odd]
        remedy = "correct it, or name it under missing, or name the column under categorical"
        at = cells.mistake(where[0], name, "")
        found.warnings.append(nearly_numeric(at, column[where[0]], len(where) - 1, remedy))
        for row in [row for row in rows if column[row] in looks.refused][:_TOLD]:
            message = _no_number(column[row], asked.decimal, math.inf)
            found.mistakes.append(cells.mistake(row, name, message))
    return looks.numeric


def _listed(names: tuple[str, ...] | str) -> tuple[str, ...]:
    return () if isinstance(names, str) else names


def _no_number(text: str, decimal: str, number: float | None) -> str:
    if number is not None:
        return endless_message(
            text, "correct it, or name it under missing or the column under categorical"
        )
    if decimal == "." and _COMMA.fullmatch(text):
        return f"{shown(text)} has a decimal comma; if all numbers have, set decimal: ','"
    return f"{shown(text)} is not a number; if it stands for a missing value, name it under missing"


def _ids(asked: CaseFiles, cells: CaseTable, rows: Sequence[int], found: ReadCases) -> list[str]:
    if not asked.id:
        return [str(number) for number in range(1, len(rows) + 1)]
    column = cells.columns[cells.names.index(asked.id)]
    ids = [column[row] for row in rows]
    seen: dict[str, int] = {}
    for row, name in zip(rows, ids, strict=True):
        if not name:
            message = "this case has no name; give it one, or leave id out"
            found.mistakes.append(cells.mistake(row, asked.id, message))
        seen[name] = seen.get(name, 0) + 1
    repeated = [name for name, count in seen.items() if count > 1 and name]
    if not repeated:
        return ids
    # UCI's Zoo has two frogs.
    message = (
        f"several cases are named {shown(repeated[0])}{_and_more(repeated)}; they are numbered"
    )
    found.warnings.append(StudyWarning("case-named-twice", message))
    return list(_numbered(ids, set(repeated)))


def _and_more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more names)" if len(names) > 1 else ""


def _numbered(ids: Iterable[str], repeated: set[str]) -> Iterable[str]:
    count: Counter[str] = Counter()
    for name in ids:
        count[name] += 1
        yield f"{name} ({count[name]})" if name in repeated else name
