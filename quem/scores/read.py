"""Runs and judgments of every format, read into columns.

TREC files are split by NumPy, block by block, without a Python object per word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.packed import HEAD, PADDING, blocks, empty, head, load
from quem.scores.columns import Columns, Tokens, columns_of, no_number, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.scores.columns import Floats, Integers, Keys

    Find = Callable[[list[str], Integers, Keys, Tokens], NDArray[np.int32]]

# Headings of columns, or keys of records.
QUERY = ("query", "query_id", "qid", "q_id", "topic", "question", "query-id")
CASE = (
    *("case", "doc_id", "docno", "docid", "doc", "document", "option", "corpus-id", "item"),
    *("case_id", "retrieved"),
)
SCORE = ("score", "similarity", "confidence", "sim")
GRADE = ("grade", "relevance", "rel", "label", "score", "similarity")
POSITION = ("position", "rank")
JUDGE = ("judge", "assessor", "annotator", "expert")


def read_run(given: object, source: str = "", find: Find | None = None) -> Columns:
    """Read a run from a file or a Python object; formats are those of judgments.

    Instead of scores a query can have its cases alone, best first. `find` looks up the cases of
    each block of a TREC file, so that its text need not be kept.
    """
    return _read(given, _RUN, source or "the run", find)


def read_judgments(given: object, source: str = "") -> Columns:
    """Read judgments from a file or a Python object.

    TREC, CSV, TSV, or JSON, plain or compressed. A dict of query to dict of case to grade, or to
    the relevant cases; a DataFrame or records with a query and a case each; objects of ranx or
    ir_measures.
    """
    return _read(given, _TRUTH, source or "the judgments")


class _Form(NamedTuple):
    """The form of the input: a run or judgments."""

    noun: str
    values: tuple[str, ...]  # headings of scores or grades
    widths: tuple[int, ...]  # numbers of words per line of a TREC file
    line: str  # meaning of these words

    @property
    def is_run(self) -> bool:
        return self is _RUN


_RUN = _Form("score", SCORE, (5, 6), "query Q0 case rank score tag")
_TRUTH = _Form("grade", GRADE, (4,), "query iteration case grade")


def _read(
    given: Any,  # noqa: ANN401  all that there is
    form: _Form,
    source: str,
    find: Find | None = None,
) -> Columns:
    if isinstance(given, Columns):
        return given
    if isinstance(given, str | os.PathLike):
        return _of_file(os.fspath(given), form, find)
    if type(given).__module__.partition(".")[0] == "ranx" and hasattr(given, "to_dict"):
        given = given.to_dict()
    if hasattr(given, "columns") and hasattr(given, "to_dict"):
        return _of_frame(given, form, source)
    if isinstance(given, Mapping):
        return _of_mapping(given, form, source)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return _of_records(list(given), form, source)
    raise _refusal(source, given)


def _refusal(source: str, given: object) -> QuemError:
    message = (
        f"is an object of {type(given).__name__}; give a file, a DataFrame, a dict of query to "
        "dict of case to score, or records with a query and a case each"
    )
    return QuemError(Mistake(source, message=message))


# Files


def _of_file(path: str, form: _Form, find: Find | None) -> Columns:
    start = head(path)
    text = b"" if start else load(path)
    name = path.lower()
    for packed in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(packed)
    start = (start or text[:HEAD]).lstrip()
    if start.startswith(b"PAR1"):
        return _of_parquet(path, form)
    if start.startswith(b"{") or (
        start.startswith(b"[") and name.endswith((".json", ".jsonl", ".ndjson"))
    ):
        return _of_json(text or load(path), form, path)
    first = start.partition(b"\n")[0].decode("utf-8", "surrogateescape")
    words = len(first.split())
    if (
        _is_header(first)
        or name.endswith(".csv")
        or (name.endswith(".tsv") and words not in form.widths)
        or (words < min(form.widths) and any(mark in first for mark in ",;\t"))
    ):
        return _of_csv(text or load(path), form, path)
    return _of_trec(text, form, path, find)


def _is_header(line: str) -> bool:
    heads = [line.split(mark) for mark in ",;\t"]
    return any(_find(QUERY, names) >= 0 and _find(CASE, names) >= 0 for names in heads)


_BLANK, _LINE_END = 32, 10


def _of_trec(text: bytes, form: _Form, path: str, find: Find | None) -> Columns:
    """Split lines into words at blanks and tabs."""
    queries: dict[bytes, int] = {}
    names: list[str] = []
    parts: list[tuple[NDArray[Any], ...]] = []
    width, lines = 0, 0
    for begin, block in blocks(path, text):
        n_lines = block.count(b"\n")
        start, length, width = _words(block, width, n_lines, form, path, lines)
        if len(start):
            of_query, cases, numbers = (
                Tokens(block, start[:, column], length[:, column])
                for column in (0, 2, 4 if form.is_run else 3)
            )
            query, key = _codes(of_query, queries), cases.hashes()
            new = islice(queries, len(names), None)
            names += [name.decode("utf-8", "surrogateescape") for name in new]
            found = np.empty(0, np.int32) if find is None else find(names, query, key, cases)
            value = _numbers(numbers, form, path, lines)
            parts.append(
                (query, key, value, _small(cases.start + begin), _small(cases.length), found)
            )
        lines += n_lines
    if not parts:
        raise empty(path)
    # One after the other, to avoid two copies of everything.
    columns = [list(column) for column in zip(*parts, strict=True)]
    parts.clear()
    query, key, value, start, length, found = (np.concatenate(columns.pop(0)) for _ in range(6))
    no_tag = StudyWarning(
        "no-tag",
        f"{path}: its lines have 5 words; the last is read as the score, so there is no tag",
    )
    return Columns(
        path,
        names,
        query,
        key,
        value,
        Tokens(text, start, length),
        in_file=True,
        found=None if find is None else found,
        notes=(no_tag,) if width == 5 else (),  # noqa: PLR2004
    )


def _small(numbers: Integers) -> Integers:
    return numbers.astype(np.min_scalar_type(int(numbers.max())))


def _words(
    text: bytes, width: int, n_lines: int, form: _Form, path: str, lines: int
) -> tuple[Integers, Integers, int]:
    """Find the words of all lines of a block, and their number per line, shape (lines, words)."""
    signs = np.frombuffer(text, np.uint8)
    inside = np.zeros(len(text) + 1, bool)
    np.greater(signs, _BLANK, out=inside[1:])
    edge = np.flatnonzero(inside[1:] != inside[:-1])
    start, stop = edge[::2], edge[1::2]
    regular = bool(width) and len(start) == n_lines * width
    if regular and (signs[stop[width - 1 :: width]] == _LINE_END).all():
        shape = (n_lines, width)
        return start.reshape(shape), (stop - start).reshape(shape), width
    line_end = np.flatnonzero(signs == _LINE_END)
    count = np.diff(np.searchsorted(start, line_end), prepend=0)
    full = count > 0
    if full.any() and not width:
        allowed = np.bincount(count[np.isin(count, form.widths)], minlength=1)
        width = int(allowed.argmax())
    wrong = np.flatnonzero(full & (count != width))
    if len(wrong):
        line = lines + int(wrong[0]) + 1
        raise QuemError(Mistake(path, line, message=_of_words(int(count[wrong[0]]), form)))
    shape = (int(full.sum()), max(width, 1))
    return start.reshape(shape), (stop - start).reshape(shape), width


def _of_words(count: int, form: _Form) -> str:
    hint = ""
    if form.is_run and count == 4:  # noqa: PLR2004
        hint = "; this looks like judgments: give them first"
    elif not form.is_run and count in (5, 6):
        hint = "; this looks like a run: give the judgments first"
    return f"has {count} words; a line is `{form.line}`{hint}"


def _codes(names: Tokens, known: dict[bytes, int]) -> NDArray[np.int32]:
    """Number names in order of appearance."""
    new = np.ones(len(names.start), bool)
    new[1:] = names.length[1:] != names.length[:-1]
    for at in names.steps:
        word = names.words(at)
        new[1:] |= word[1:] != word[:-1]
    heads = np.flatnonzero(new)
    codes = [known.setdefault(names.bytes(head), len(known)) for head in heads.tolist()]
    return np.repeat(np.array(codes, np.int32), np.diff(np.append(heads, len(new))))


def _numbers(words: Tokens, form: _Form, path: str, lines: int) -> Floats:
    """Parse numbers as Python does."""
    columns = np.stack([words.words(at) for at in words.steps], axis=1)
    try:
        value: Floats = columns.view(f"S{columns.itemsize * columns.shape[1]}").astype(float)[:, 0]
    except ValueError:
        value = np.array([number(words.bytes(row)) for row in range(len(words.start))])
    wrong = np.flatnonzero(~np.isfinite(value))
    if len(wrong):
        row = int(wrong[0])
        line = lines + words.text.count(b"\n", 0, int(words.start[row])) + 1
        word = words.bytes(row).decode("utf-8", "replace")
        raise QuemError(Mistake(path, line, key=form.noun, message=no_number(word)))
    return value


def _of_csv(text: bytes, form: _Form, path: str) -> Columns:
    import csv
    import io

    plain = text[: -len(PADDING)].decode("utf-8", "surrogateescape")
    first = plain.lstrip().partition("\n")[0]
    reader = csv.reader(io.StringIO(plain, newline=""), delimiter=max(",;\t", key=first.count))
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if any(row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise QuemError(Mistake(path, reader.line_num, message=f"is not CSV: {error}")) from None
    header, rows = rows[0], rows[1:]
    at = _Fields.of(header, form, path, lines[0])
    if not rows:
        raise QuemError(Mistake(path, message="has a header and no rows"))
    for row, line in zip(rows, lines[1:], strict=True):
        if len(row) != len(header):
            message = f"has {len(row)} fields; the header has {len(header)}"
            raise QuemError(Mistake(path, line, message=message))
    return at.columns(path, list(zip(*rows, strict=True)), lines[1:])


def _of_parquet(path: str, form: _Form) -> Columns:
    from quem.io.parquet import read_parquet

    table = read_parquet(Path(path), path, what="run" if form.is_run else "judgments")
    fields = [column.cells() for column in table.columns]
    return _Fields.of(table.header[-1], form, path).columns(path, fields)


def _of_json(text: bytes, form: _Form, path: str) -> Columns:
    import json

    plain = text[: -len(PADDING)].decode("utf-8", "surrogateescape")

    def parsed(part: str) -> Any:  # noqa: ANN401  any JSON
        return json.loads(part, object_pairs_hook=_once)

    try:
        try:
            given = parsed(plain)
        except json.JSONDecodeError as error:
            given = []
            for line, part in enumerate(plain.splitlines(), 1):
                try:
                    given += [parsed(part)] if part.strip() else []
                except json.JSONDecodeError as own:
                    # If the first line is not a value itself, the whole file is damaged.
                    where, why = (line, own.msg) if given else (error.lineno, error.msg)
                    message = f"is not JSON: {why}"
                    raise QuemError(Mistake(path, where, message=message)) from None
    except RecursionError:
        raise QuemError(Mistake(path, message="is not JSON: it is nested too deeply")) from None
    except _TwiceError as error:
        raise QuemError(Mistake(path, message=f"the key {error} is there twice")) from None
    if isinstance(given, list):
        return _of_records(given, form, path)
    if isinstance(given, dict):
        if given and not any(isinstance(value, dict | list) for value in given.values()):
            return _of_records([given], form, path)
        return _of_mapping(given, form, path)
    raise QuemError(Mistake(path, message="is not a dict of query to list, nor records"))


class _TwiceError(Exception):
    """A duplicate key in a JSON object."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(repr(next(name for name in names if names.count(name) > 1)))
    return made


# Columns and records


def _find(names: Sequence[str], header: Sequence[object]) -> int:
    """The index of the heading with one of the names; -1 if there is none."""
    folded = [str(one).strip().strip('"').casefold() for one in header]
    return next((folded.index(name) for name in names if name in folded), -1)


@dataclass(frozen=True)
class _Fields:
    """The indices of the needed columns; -1 where missing."""

    form: _Form
    query: int
    case: int
    value: int
    position: int
    judge: int
    value_name: str

    @classmethod
    def of(cls, header: Sequence[object], form: _Form, source: str, line: int = 0) -> _Fields:
        query, case = _find(QUERY, header), _find(CASE, header)
        must = f"{'the header' if line else 'it'} must name"
        has = f"it has {', '.join(map(str, header))[:80]}"
        if query < 0 or case < 0:
            both = f"a query ({', '.join(QUERY[:3])}) and a case ({', '.join(CASE[:3])})"
            raise QuemError(Mistake(source, line, message=f"{must} {both}; {has}"))
        value = _find(form.values, header)
        position = _find(POSITION, header) if form.is_run and value < 0 else -1
        judge = -1 if form.is_run else _find(JUDGE, header)
        others = sum(bool(str(one).strip()) for one in header) - (3 if judge >= 0 else 2)
        if value < 0 and position < 0 and others:
            one = f"a {form.noun} ({', '.join(form.values[:3])})"
            one += " or a position" if form.is_run else ""
            message = f"{must} {one}, or nothing but query and case; {has}"
            raise QuemError(Mistake(source, line, message=message))
        name = str(header[value]).strip().casefold() if value >= 0 else ""
        return cls(form, query, case, value, position, judge, name)

    def columns(
        self, source: str, fields: Sequence[Sequence[Any]], lines: list[int] | None = None
    ) -> Columns:
        """Columns from the fields of a table; `fields` has a sequence per column."""
        n = len(fields[self.query])
        noun, values = self.form.noun, fields[self.value] if self.value >= 0 else [1.0] * n
        if self.position >= 0:
            noun, values = "position", fields[self.position]
        elif self.form.is_run and self.value < 0:
            values = range(n, 0, -1)
        made = columns_of(
            source,
            fields[self.query],
            fields[self.case],
            values,
            noun=noun,
            lines=lines,
            judges=fields[self.judge] if self.judge >= 0 else None,
            scored=not self.form.is_run or self.value >= 0,
        )
        if self.position >= 0:
            made.value = -made.value
        if not self.form.is_run and self.value_name not in {"similarity", ""}:
            odd = made.value != np.floor(made.value)
            if odd.mean() > 0.5:  # noqa: PLR2004  most
                message = f"{source}: most grades are not whole numbers; is this a run?"
                made.notes = (StudyWarning("not-grades", message),)
        return made


def _of_frame(frame: Any, form: _Form, source: str) -> Columns:  # noqa: ANN401  without pandas
    at = _Fields.of(list(frame.columns), form, source)
    fields = [frame.iloc[:, column].tolist() for column in range(len(frame.columns))]
    if not len(frame):
        raise empty(source)
    for column, what in ((at.query, "query"), (at.case, "case")):
        for row, value in enumerate(fields[column]):
            if value is None or value != value:  # noqa: PLR0124  NaN
                raise QuemError(Mistake(source, message=f"row {row}: has no {what}"))
    return at.columns(source, fields)


def _of_records(records: list[Any], form: _Form, source: str) -> Columns:
    """Read records with names, or objects of ir_measures."""
    if not records:
        raise empty(source)
    if all(hasattr(one, "query_id") and hasattr(one, "doc_id") for one in records):
        values = "score" if form.is_run else "relevance"
        header = ["query_id", "doc_id", values]
        try:
            fields = [[getattr(one, name) for one in records] for name in header]
        except AttributeError:
            message = f"its objects have no {values}; are judgments and runs exchanged?"
            raise QuemError(Mistake(source, message=message)) from None
        return _Fields.of(header, form, source).columns(source, fields)
    if not all(isinstance(one, Mapping) for one in records):
        raise _refusal(source, records)
    names = list(records[0])
    at = _Fields.of(names, form, source)
    for at_record, one in enumerate(records, 1):
        for name in (names[at.query], names[at.case]):
            if one.get(name) is None:
                raise QuemError(Mistake(source, message=f"record {at_record}: has no {name}"))
    return at.columns(source, [[one.get(name) for one in records] for name in names])


def _of_mapping(given: Mapping[Any, Any], form: _Form, source: str) -> Columns:
    """Read a dict of query to its list, or to its grades."""
    if not given:
        raise empty(source)
    queries: list[object] = []
    cases: list[object] = []
    values: list[object] = []
    orders = 0
    for query, listed in given.items():
        own, numbers, is_order = _of_query(query, listed, form, source)
        orders += is_order
        queries += [query] * len(own)
        cases += own
        values += numbers
    scored = orders < len(given)
    made = columns_of(source, queries, cases, values, noun=form.noun, scored=scored)
    # Queries with an empty list count.
    known = set(made.queries)
    made.queries += [str(query) for query in given if str(query) not in known]
    return made


def _of_query(
    query: object,
    listed: Any,  # noqa: ANN401  anything that there is
    form: _Form,
    source: str,
) -> tuple[list[object], list[object], bool]:
    if hasattr(listed, "items") and hasattr(listed, "keys"):
        pairs = list(listed.items())
        return [case for case, _ in pairs], [value for _, value in pairs], False
    if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
        message = f"query {query!r}: should be a dict or a list of cases, and not {listed!r}"
        raise QuemError(Mistake(source, message=message))
    entries = list(listed)
    if entries and all(isinstance(one, tuple | list) and len(one) == 2 for one in entries):  # noqa: PLR2004
        return [one[0] for one in entries], [one[1] for one in entries], False
    numbers = range(len(entries), 0, -1) if form.is_run else [1.0] * len(entries)
    return entries, list(numbers), form.is_run
