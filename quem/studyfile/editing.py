"""Edits of a study file that leave everything else unchanged.

Only the characters of a change are replaced: comments, order, quotes, alignment, and line ends
stay. A library that loads and rewrites the file would reformat it, and move comments.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from quem.errors import FileError, Mistake, QuemError
from quem.studyfile.document import Loc, dotted, parse_document
from quem.studyfile.reading import draft_study

if TYPE_CHECKING:
    from collections.abc import Sequence


_PLAIN = re.compile(r"[A-Za-z](?:[\w./+@-]*[\w+])?", re.ASCII)
# Texts that YAML 1.1 reads as another type.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MARK = "\ufeff"


@dataclass(frozen=True)
class ValueChange:
    """A value at a place; missing parent keys are created."""

    loc: Loc  # keys, and indices of lists
    value: Any  # text, number, None, or lists and mappings of them


@dataclass(frozen=True)
class ListChange:
    """Removed items of a list, and appended ones."""

    loc: Loc  # of the list, created if missing
    removed: frozenset[int] = frozenset()  # indices in the list
    added: tuple[Any, ...] = ()  # as `ValueChange.value`


Change = ValueChange | ListChange


def edited(text: str, changes: Sequence[Change], name: str = "study.yaml") -> str:
    """The edited text of a study file."""
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(mark)
    for change in changes:
        if isinstance(change, ListChange) and not (change.removed or change.added):
            continue
        before = parse_document(text, name).content
        wanted = _applied(before, change)
        if wanted == before:
            continue
        try:
            text = _spliced(text, change)
            outcome = parse_document(text, name).content
        except (yaml.YAMLError, _NotEditableError, QuemError):
            outcome = None
        if outcome != wanted:
            message = "cannot be changed from here; edit the file itself"
            raise QuemError(Mistake(name, key=dotted(change.loc), message=message))
    return mark + text


def read_bytes(path: Path) -> tuple[bytes, str]:
    """A study file's bytes, and its text with original line ends."""
    try:
        raw = path.read_bytes()
        return raw, raw.decode("utf-8")
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FileError(path, "is not UTF-8 text; save it as UTF-8 to edit it from here") from None


def replace_study(path: Path, before: bytes, text: str) -> None:
    """Write a changed study file atomically."""
    target = path.resolve()
    try:
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if target.read_bytes() != before:
            raise FileError(
                path, "was changed meanwhile; load the page again and repeat the change"
            )
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.stem}-", suffix=".yaml", delete=False
        ) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        try:
            _require_valid(path, Path(file.name))
            shutil.copymode(target, file.name)
            Path(file.name).replace(target)
        finally:
            with suppress(FileNotFoundError):
                Path(file.name).unlink()
    except OSError as error:
        raise FileError(
            path, f"cannot be written: {error.strerror or error}; allow it, or edit it elsewhere"
        ) from None


def _require_valid(path: Path, new: Path) -> None:
    draft = draft_study(new)
    if draft.mistakes:
        mistakes = [
            Mistake(str(path), mistake.line, mistake.column, mistake.key, mistake.message)
            for mistake in draft.mistakes
        ]
        raise QuemError(mistakes)


def plain_value(value: Any) -> Any:  # noqa: ANN401  whatever YAML holds
    """A value as `parse_document` reads it: texts in lists and mappings."""
    if isinstance(value, dict):
        return {str(key): plain_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(part) for part in value]
    return None if value is None else _scalar_text(value)


def _scalar_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _applied(content: Any, change: Change) -> Any:  # noqa: ANN401  whatever YAML holds
    """The content after a change."""
    content = deepcopy(content)
    parent = content
    for key in change.loc[:-1]:
        if isinstance(parent, dict) and parent.get(key) is None:
            parent[key] = {}
        parent = parent[key]
    last = change.loc[-1]
    if isinstance(change, ValueChange):
        parent[last] = plain_value(change.value)
        return content
    items = (parent.get(last) if isinstance(parent, dict) else parent[last]) or []
    kept = [item for at, item in enumerate(items) if at not in change.removed]
    parent[last] = [*kept, *map(plain_value, change.added)]
    return content


def flow_text(value: Any) -> str:  # noqa: ANN401  whatever YAML holds
    """A value on one line."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{flow_text(key)}: {flow_text(part)}" for key, part in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    if value is None:
        return "null"
    text = _scalar_text(value)
    is_word = text.casefold() in _WORDS and not isinstance(value, bool)
    if not is_word and any(form.fullmatch(text) for form in (_PLAIN, _NUMBER, _DATE)):
        return text
    # JSON's escapes are valid in YAML, which adds others for unprintable characters.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in quoted)


class _NotEditableError(Exception):
    """A place that cannot be changed separately."""


@dataclass
class _Splices:
    """Replacements of pieces of a text."""

    text: str
    pieces: list[tuple[int, int, str]] = field(default_factory=list)
    in_braces: bool = False  # whether the changed mapping is in flow style

    def flow(self, value: Any) -> str:  # noqa: ANN401  whatever YAML holds
        """A value on one line, as JSON in a JSON file."""
        is_json = re.match(r'\s*\{\s*"', self.text)
        return json.dumps(value, ensure_ascii=False) if is_json else flow_text(value)

    @property
    def line_end(self) -> str:
        """The line end of the text."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def put(self, start: int, end: int, new: str) -> None:
        """Replace a piece."""
        self.pieces.append((start, end, new))

    def add_line(self, after: int, line: str) -> None:
        """Add a line below that of a position."""
        end = self.end_of_line(after)
        self.put(end, end, self.line_end + line)

    def end_of_line(self, place: int) -> int:
        """The end of a position's line, before its line end."""
        match = re.compile(r"\r?\n|\r|$").search(self.text, place)
        return match.start() if match else len(self.text)

    def start_of_line(self, place: int) -> int:
        """The start of a position's line."""
        return max(self.text.rfind("\n", 0, place), self.text.rfind("\r", 0, place)) + 1

    def result(self) -> str:
        """The text with all pieces replaced."""
        text = self.text
        for start, end, new in sorted(self.pieces, key=lambda piece: piece[:2], reverse=True):
            text = text[:start] + new + text[end:]
        return text


def _spliced(text: str, change: Change) -> str:
    splices = _Splices(text)
    node: Any = yaml.compose(text, Loader=_Loader)
    colon: yaml.Node | None = None
    for depth, key in enumerate(change.loc):
        if isinstance(node, yaml.MappingNode):
            splices.in_braces = bool(node.flow_style)
            pair = next((p for p in node.value if p[0].value == key), None)
            if pair is None:
                _add_key(splices, node, change.loc[depth:], change)
                return splices.result()
            colon, node = pair
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            colon, node = None, node.value[key]
        elif _is_empty(node) and colon is not None:
            _fill(splices, colon, node, change.loc[depth:], change)
            return splices.result()
        else:
            raise _NotEditableError
    if isinstance(change, ValueChange):
        _set(splices, colon, node, change.value)
    else:
        _change_list(splices, colon, node, change)
    return splices.result()


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in ("", "~")


def _made(loc: Loc, change: Change) -> Any:  # noqa: ANN401  whatever YAML holds
    """The nested value to create for missing keys."""
    value = change.value if isinstance(change, ValueChange) else list(change.added)
    for key in reversed(loc):
        value = {key: value}
    return value


def _end(node: yaml.Node, text: str) -> int:
    """The end of a node's last character; a block's own end mark is after the comments below it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        last = node.value[-1]
        return max(_end(part, text) for part in (last if isinstance(last, tuple) else (last,)))
    end: int = node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return len(text[:end].rstrip())
    return end


def _add_key(splices: _Splices, parent: yaml.MappingNode, loc: Loc, change: Change) -> None:
    """Add a key to a mapping, with separators."""
    [(key, value)] = _made(loc, change).items()
    if parent.flow_style:
        if parent.value:
            end = _end(parent.value[-1][1], splices.text)
            splices.put(end, end, f", {splices.flow(key)}: {splices.flow(value)}")
        else:
            content = splices.flow({key: value})
            splices.put(parent.start_mark.index, parent.end_mark.index, content)
        return
    lines = _lines(splices, loc, change, parent.start_mark.column)
    last = parent.value[-1]
    end = max(_end(part, splices.text) for part in last)
    splices.add_line(end, splices.line_end.join(lines))


def _lines(splices: _Splices, loc: Loc, change: Change, column: int) -> list[str]:
    """Keys one below the other, and a list's items below its key."""
    lines = [f"{' ' * (column + 2 * at)}{splices.flow(key)}:" for at, key in enumerate(loc)]
    value = _made((), change)
    if not isinstance(value, list) or not value:
        return [*lines[:-1], f"{lines[-1]} {splices.flow(value)}"]
    indent = " " * (column + 2 * len(loc))
    return [*lines, *(f"{indent}- {splices.flow(item)}" for item in value)]


def _fill(splices: _Splices, colon: yaml.Node, node: yaml.Node, loc: Loc, change: Change) -> None:
    """Write keys or items below an empty key, or after it inside a line."""
    place = colon.start_mark.index
    if splices.in_braces or splices.text[splices.start_of_line(place) : place].strip():
        _replace_empty(splices, colon, node, f" {splices.flow(_made(loc, change))}")
        return
    if node.end_mark.index > node.start_mark.index:
        _replace_empty(splices, colon, node, "")
    lines = _lines(splices, loc, change, colon.start_mark.column + 2)
    splices.add_line(max(node.end_mark.index, colon.end_mark.index), splices.line_end.join(lines))


def _replace_empty(splices: _Splices, colon: yaml.Node, node: yaml.Node, new: str) -> None:
    """Replace an empty value, ``~``, or ``[]`` after a key's colon."""
    start = splices.text.index(":", colon.end_mark.index) + 1
    is_there = node.end_mark.index > node.start_mark.index
    splices.put(start, max(node.end_mark.index, start) if is_there else start, new)


def _set(splices: _Splices, colon: yaml.Node | None, node: yaml.Node, value: object) -> None:
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        raise _NotEditableError
    if _is_empty(node) and not node.value and colon is not None:
        _replace_empty(splices, colon, node, f" {splices.flow(value)}")
        return
    splices.put(node.start_mark.index, _end(node, splices.text), splices.flow(value))


def _change_list(
    splices: _Splices, colon: yaml.Node | None, node: yaml.Node, change: ListChange
) -> None:
    if isinstance(node, yaml.SequenceNode) and node.value:
        kept = [at for at in range(len(node.value)) if at not in change.removed]
        if node.flow_style:
            _change_flow(splices, node, kept, change)
        else:
            _change_block(splices, colon, node, kept, change)
    elif colon is not None and (isinstance(node, yaml.SequenceNode) or _is_empty(node)):
        _fill(splices, colon, node, (), change)
    else:
        raise _NotEditableError


def _change_flow(
    splices: _Splices, node: yaml.SequenceNode, kept: list[int], change: ListChange
) -> None:
    text, items = splices.text, node.value
    if not kept:
        inside = ", ".join(map(splices.flow, change.added))
        splices.put(items[0].start_mark.index, _end(items[-1], text), inside)
        return
    for at in sorted(change.removed):
        if at > kept[-1]:
            continue
        splices.put(items[at].start_mark.index, items[at + 1].start_mark.index, "")
    end = _end(items[kept[-1]], text)
    added = "".join(f", {splices.flow(item)}" for item in change.added)
    splices.put(end, _end(items[-1], text), added)


def _change_block(
    splices: _Splices,
    colon: yaml.Node | None,
    node: yaml.SequenceNode,
    kept: list[int],
    change: ListChange,
) -> None:
    text, items = splices.text, node.value
    indent = " " * node.start_mark.column
    last = splices.end_of_line(_end(items[-1], text))
    added = "".join(f"{splices.line_end}{indent}- {splices.flow(item)}" for item in change.added)
    for at in sorted(change.removed):
        start = splices.start_of_line(items[at].start_mark.index)
        if text[start : items[at].start_mark.index].strip() != "-":
            raise _NotEditableError
        end = _end(items[at], text)
        line_end = splices.end_of_line(end)
        comment = text[end:line_end].strip()
        if comment:
            # The item's comment stays as a separate line.
            splices.put(start, line_end, f"{indent}{comment}")
        elif at == len(items) - 1:
            # With the line end before it, so that additions follow it.
            splices.put(max(start - len(splices.line_end), 0), line_end, "")
        else:
            splices.put(start, line_end + len(splices.line_end), "")
    splices.put(last, last, added)
    if not kept and not change.added:
        if colon is None:
            raise _NotEditableError
        place = text.index(":", colon.end_mark.index) + 1
        splices.put(place, place, " []")
