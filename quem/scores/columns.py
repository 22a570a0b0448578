"""Runs and judgments as columns: one row per query and case, with a score or grade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.packed import PADDING, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.integer]


_SHIFTS = (np.uint64(29), np.uint64(32))
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))
_WORD = 8
# The first 0 to 8 bytes of a word.
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], dtype=np.uint64)


@dataclass
class Tokens:
    """Words of a text, by offset."""

    text: bytes  # ends with `PADDING`
    start: Integers
    length: Integers

    def words(self, at: int) -> Keys:
        """Bytes `at` to `at` + 8 of each token as a number; 0 beyond its end."""
        view: Keys = np.ndarray((len(self.text) - 7,), "<u8", buffer=self.text, strides=(1,))
        if self._lengths[0] >= at + _WORD:
            whole: Keys = view[self.start + at]
            return whole
        if not at and self._lengths[1] <= _WORD:
            only: Keys = view[self.start] & _MASKS[self.length]
            return only
        left = np.clip(self.length.astype(np.intp) - at, 0, _WORD)
        place = np.where(left > 0, self.start + at, 0) if at else self.start
        masked: Keys = view[place] & _MASKS[left]
        return masked

    @cached_property
    def _lengths(self) -> tuple[int, int]:
        """The smallest and the greatest length."""
        return (int(self.length.min()), int(self.length.max())) if len(self.length) else (0, 0)

    @property
    def steps(self) -> range:
        """The offsets of the words in the longest token."""
        return range(0, max(self._lengths[1], 1), _WORD)

    def hashes(self) -> Keys:
        """A hash of the bytes of each token, injective up to 8 bytes."""
        hashed = np.zeros(len(self.start), np.uint64)
        for at in self.steps:
            new = mixed(hashed ^ self.words(at))
            # A token is mixed once per word, whatever else is in the text.
            hashed = new if at == 0 else np.where(self.length > at, new, hashed)
        return hashed

    def only(self, which: NDArray[Any] | slice) -> Tokens:
        """Some of the tokens."""
        return Tokens(self.text, self.start[which], self.length[which])

    def same(self, other: Tokens) -> NDArray[np.bool_]:
        """Whether each token equals the other's."""
        same = np.asarray(self.length == other.length)
        for at in self.steps if same.any() else ():
            same[same] = self.only(same).words(at) == other.only(same).words(at)
        return same

    def bytes(self, which: int) -> bytes:
        """The bytes of one token."""
        start = int(self.start[which])
        return bytes(self.text[start : start + int(self.length[which])])


def mixed(words: Keys) -> Keys:
    """A bijective mix of words."""
    with np.errstate(over="ignore"):
        words = words * _FACTORS[0]
        words ^= words >> _SHIFTS[0]
        words *= _FACTORS[1]
        words ^= words >> _SHIFTS[1]
    return words


def paired(keys: Keys, numbers: Integers) -> Keys:
    """The keys of cases with those of their queries."""
    return mixed(keys + mixed(numbers.astype(np.uint64) + np.uint64(1)))


@dataclass
class Columns:
    """A run, or judgments."""

    source: str
    queries: list[str]  # in the order of the source
    query: NDArray[np.int32]  # of shape (n,): indices into `queries`
    key: Keys  # of shape (n,): hash of the case
    value: Floats  # of shape (n,): score or grade
    cases: Tokens  # of shape (n,)
    scored: bool = True  # whether scores are given, and not only the order
    judges: tuple[str, ...] = ()
    judge: NDArray[np.int32] | None = None  # of shape (n,): indices into `judges`
    lines: Integers | None = None  # of shape (n,): of cases that are not in the file itself
    in_file: bool = False  # whether cases are offsets into the file `source`
    found: NDArray[np.int32] | None = None  # of shape (n,): judged case of each row, or -1
    notes: tuple[StudyWarning, ...] = ()

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.query)

    @property
    def tokens(self) -> Tokens:
        """The cases with their text, which is reread if it is not kept."""
        if self.in_file and not self.cases.text:
            self.cases.text = load(self.source)
        return self.cases

    def names(self, rows: NDArray[np.integer[Any]]) -> list[str]:
        """The cases of rows."""
        read = self.tokens.bytes
        return [read(row).decode("utf-8", "surrogateescape") for row in rows.tolist()]

    def name_reader(self) -> Callable[[NDArray[np.integer[Any]]], list[str]]:
        """A reader of the cases of rows that keeps nothing else in memory."""
        of_file = self.in_file and Path(self.source).is_file()
        text = b"" if of_file else self.cases.text
        return replace(
            self,
            query=np.empty(0, np.int32),
            key=np.empty(0, np.uint64),
            value=np.empty(0),
            cases=Tokens(text, self.cases.start, self.cases.length),
            found=None,
        ).names

    def line(self, row: int) -> int:
        """The line of a row, from 1; 0 if the source has none."""
        if self.lines is not None:
            return int(self.lines[row])
        if not self.in_file:
            return 0
        return self.tokens.text.count(b"\n", 0, int(self.cases.start[row])) + 1

    def check_once(self) -> None:
        """Refuse duplicate cases in a query's list, or in a judge's grades."""
        number = self.query.astype(np.int64)
        if self.judge is not None:
            number = number * len(self.judges) + self.judge
        pairs = paired(self.key, number)
        ordered = np.sort(pairs)
        doubled = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(doubled):
            return
        first: dict[tuple[int, bytes], int] = {}
        for row in np.flatnonzero(np.isin(pairs, doubled)).tolist():
            known = first.setdefault((int(number[row]), self.tokens.bytes(row)), row)
            if known != row:
                raise QuemError(self._twice(row, known))

    def _twice(self, row: int, first: int) -> Mistake:
        (name,) = self.names(np.array([row]))
        query = self.queries[self.query[row]]
        by = "" if self.judge is None else f" by the judge {self.judges[self.judge[row]]!r}"
        line = self.line(first)
        where = f", on line {line}" if line else ""
        message = f"the case {name!r} is already listed for the query {query!r}{by}{where}"
        return Mistake(self.source, self.line(row), message=message)


def columns_of(
    source: str,
    queries: Sequence[object],
    cases: Sequence[object],
    values: Sequence[object],
    *,
    noun: str,
    lines: Sequence[int] | None = None,
    judges: Sequence[object] | None = None,
    scored: bool = True,
) -> Columns:
    """Columns from Python values."""
    names, query = _coded(queries)
    judge_names, judge = ([], None) if judges is None else _coded(judges)
    ids = [case if type(case) is str else str(case) for case in cases]
    parts = [name.encode("utf-8", "surrogateescape") for name in ids]
    length = np.fromiter(map(len, parts), np.int32, len(parts))
    tokens = Tokens(b"".join(parts) + PADDING, np.cumsum(length, dtype=np.int64) - length, length)
    line = None if lines is None else np.asarray(lines)
    made = Columns(
        source,
        names,
        query,
        tokens.hashes(),
        np.zeros(len(parts)),
        tokens,
        scored,
        tuple(judge_names),
        judge,
        line,
    )
    made.value = _numbers(made, values, noun)
    return made


def _coded(names: Sequence[object]) -> tuple[list[str], NDArray[np.int32]]:
    codes: dict[str, int] = {}
    each = (codes.setdefault(str(name), len(codes)) for name in names)
    coded = np.fromiter(each, np.int32, len(names))
    return list(codes), coded


def _numbers(made: Columns, values: Sequence[object], noun: str) -> Floats:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        numbers = np.array([number(value) for value in values])
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        row = int(wrong[0])
        place, line = made.source, made.line(row)
        if not line:
            (case,) = made.names(np.array([row]))
            place = f"{place}: query {made.queries[made.query[row]]!r}, case {case!r}"
        raise QuemError(Mistake(place, line, key=noun, message=no_number(values[row])))
    return numbers


_TRUTH_VALUES = {"true": 1.0, "false": 0.0}


def number(value: object) -> float:
    """A value as a number; NaN otherwise."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        return _TRUTH_VALUES.get(str(value).strip().casefold(), np.nan)


def no_number(value: object) -> str:
    """The error on a value that is not a number."""
    remedy = "; write a decimal point, not a comma" if "," in str(value) else ""
    return f"{value!r} is not a finite number{remedy}"
