"""Records of JSON and JSON Lines files with their lines."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from quem.errors import Mistake, QuemError
from quem.io.columns import CodedColumn, column_of, distinct_key
from quem.io.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


Record = dict[str, object]
_PIECE = 1 << 20
_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Records:
    """The records of a file in order."""

    name: str  # as the user named it
    entries: list[Record]
    _text: str
    _lines: list[int] | None

    @cached_property
    def lines(self) -> list[int]:
        """The first line of each record, computed lazily for messages."""
        return list(_starts(self._text)) if self._lines is None else self._lines

    def place(self, row: int, key: str) -> Mistake:
        """The place of a value, without a message."""
        return Mistake(self.name, self.lines[row], key=key)

    def columns(self) -> dict[str, CodedColumn[object]]:
        """The values of each key; None where a record lacks it."""
        keys = dict.fromkeys(key for entry in self.entries for key in entry)
        return {
            key: column_of((entry.get(key) for entry in self.entries), distinct_key) for key in keys
        }


def is_json_lines(path: Path) -> bool:
    """Whether a file is JSON Lines, by its extension."""
    return path.suffix.casefold() in (".jsonl", ".ndjson")


def is_json(path: Path) -> bool:
    """Whether a file is JSON or JSON Lines, by its extension."""
    return path.suffix.casefold() == ".json" or is_json_lines(path)


def read_records(path: Path, name: str, *, what: str, example: str, key: str = "id") -> Records:
    """Read a file of records: JSON Lines by its extension, else JSON.

    JSON holds a list of records, or an object of them by id.
    """
    text = read_text(path, name, what=what).removeprefix("\ufeff")
    if not text.strip():
        raise QuemError(Mistake(name, message=f"is empty; it must hold the {what}"))
    if is_json_lines(path):
        numbered = [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
        entries = [_parsed(line, name, at) for at, line in numbered]
        lines = [at for at, _ in numbered]
    else:
        entries, lines = _entries(_parsed(text, name, 0), key), None
    records = Records(name, [e for e in entries if isinstance(e, dict)], text, lines)
    if len(records.entries) < len(entries):
        at = next(at for at, entry in enumerate(entries) if not isinstance(entry, dict))
        message = f"must be a record such as {example}"
        raise QuemError(Mistake(name, records.lines[at], message=message))
    if not entries:
        message = f"must hold the {what} as a list of records such as {example}"
        raise QuemError(Mistake(name, message=message))
    return records


def text_of(value: object) -> str | None:
    """A name in JSON as text; None if it is neither a text nor a whole number."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


class PiecesOfJson:
    """An incremental parser of JSON for large files."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0

    def ahead(self) -> str:
        """The next character without consuming it; ValueError at the end."""
        while True:
            if blank := _BLANK.match(self._text, self._at):
                self._at = blank.end()
            if self._at < len(self._text):
                return self._text[self._at]
            self._read()

    def skip(self, sign: str) -> None:
        """Consume the next character, which must be this one."""
        if self.ahead() != sign:
            raise ValueError(f"{sign} is expected, not {self.ahead()}")
        self._at += 1

    def members(self, end: str) -> Iterator[None]:
        """Iterate over the members of an object or list, and consume its end."""
        while self.ahead() != end:
            yield
            if self.ahead() != end:
                self.skip(",")
        self.skip(end)

    def value(self) -> Any:  # noqa: ANN401  any value of JSON
        """Parse the next value."""
        self.ahead()
        while True:
            with suppress(json.JSONDecodeError):
                value, end = _DECODER.raw_decode(self._text, self._at)
                # A number may continue in the next piece.
                if end < len(self._text):
                    self._at = end
                    return value
            self._read()

    def _read(self) -> None:
        """Read another piece, at least as long as the buffer."""
        ahead = self._text[self._at :]
        piece = self._file.read(max(_PIECE, len(ahead)))
        if not piece:
            raise ValueError("it ends too early, or is damaged")
        self._text, self._at = ahead + piece, 0


def _parsed(text: str, name: str, line: int) -> object:
    """Parse a JSON text; `line` is its line in JSON Lines."""
    remedy = "; write one record per line" if line else ""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"is not valid JSON: {error.msg.lower()}{remedy}"
        at = Mistake(name, line or error.lineno, error.colno, message=message)
        raise QuemError(at) from None
    except (ValueError, RecursionError) as error:
        message = f"is not valid JSON: {error}{remedy}"
        raise QuemError(Mistake(name, line, message=message)) from None


def _entries(content: object, key: str) -> list[object]:
    """The records of a list, or of an object of them by id."""
    if isinstance(content, dict):
        return [
            {key: name, **value} if isinstance(value, dict) else None
            for name, value in content.items()
        ]
    return content if isinstance(content, list) else []


def _starts(text: str) -> Iterator[int]:
    """The line of each entry of a list or object in valid JSON."""
    decoder = json.JSONDecoder()
    by_id = text.lstrip().startswith("{")
    at, line, counted = text.index("{" if by_id else "[") + 1, 1, 0
    while True:
        while at < len(text) and text[at] in " \t\n\r,:":
            at += 1
        if at == len(text) or text[at] in "]}":
            return
        line += text.count("\n", counted, at)
        counted = at
        yield line
        for _ in range(2 if by_id else 1):
            while text[at] in " \t\n\r:":
                at += 1
            at = decoder.raw_decode(text, at)[1]
