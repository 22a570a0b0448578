"""The study file with other decisions about words, and all else as its author wrote it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from quem.errors import Mistake, QuemError
from quem.io.text import read_text
from quem.study.document import parse_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quem.study.models import Reviewed

__all__ = ["save_reviewed", "with_reviewed"]

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_STEP = "  "
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_SECTION, _KEY = "judging", "reviewed"
_MOST_LINES = 20

Entry = dict[str, str]
# What is replaced from one place of a text to another, and by what.
Edit = tuple[int, int, str]


class _UnclearError(Exception):
    """A file that is written in a way in which nothing can be replaced safely."""


def save_reviewed(path: Path, name: str, reviewed: Sequence[Reviewed]) -> None:
    """Write decisions about words to a study file; everybody else sees all of it or nothing.

    Parameters
    ----------
    name : str
        The file as the user named it, for messages.
    reviewed : sequence of Reviewed
        All that hold from now on.

    Raises
    ------
    QuemError
        The file cannot be read or written, or replaced safely; with the lines to add by hand.
    """
    entries = [{key: value for key, value in one.model_dump().items() if value} for one in reviewed]
    target = path.resolve()
    text = read_text(target, name, what="study file")
    try:
        raw = target.read_bytes()
        changed = with_reviewed(text, entries)
        changed = changed.replace("\n", "\r\n") if b"\r\n" in raw else changed
        _replace(target, changed.encode(_encoding(raw)))
    except _UnclearError:
        raise _by_hand(name, "could not be changed safely", entries) from None
    except OSError as error:
        raise _by_hand(name, f"cannot be written: {error.strerror or error}", entries) from None


def with_reviewed(text: str, entries: Sequence[Entry]) -> str:
    """Give the text of a study file whose decisions are these.

    Parameters
    ----------
    entries : sequence of dict
        Those of ``judging.reviewed``. Those that are there stay as they are written.

    Raises
    ------
    _UnclearError
        The text is written in a way in which they cannot be replaced.
    """
    content = parse_document(text, "study.yaml").content
    root = yaml.compose(text, Loader=_Loader)
    if not isinstance(root, yaml.MappingNode) or not isinstance(content, dict):
        raise _UnclearError
    for start, end, new in sorted(_edits(text, root, list(entries)), reverse=True):
        text = text[:start] + new + text[end:]
    section = content.get(_SECTION)
    wanted = {**content, _SECTION: {**(section or {}), _KEY: list(entries)}}
    try:
        written = parse_document(text, "study.yaml").content
    except QuemError:
        raise _UnclearError from None
    if _sorted(written) != _sorted(wanted):
        raise _UnclearError
    return text


def _sorted(content: dict[str, Any]) -> dict[str, Any]:
    """The same content with its decisions in one order."""
    section = content.get(_SECTION)
    if not isinstance(section, dict):
        return content
    entries = section.get(_KEY) or []
    ordered = sorted(entries, key=lambda entry: json.dumps(entry, sort_keys=True))
    return {**content, _SECTION: {**section, _KEY: ordered}}


def _edits(text: str, root: yaml.MappingNode, entries: list[Entry]) -> list[Edit]:
    section_key, section = _pair(root, _SECTION)
    if isinstance(section, yaml.MappingNode):
        return _in_section(text, section, entries)
    if section_key is not None and section is not None:
        indent = " " * section_key.start_mark.column + _STEP
        new = f":\n{indent}{_KEY}:{_block(entries, indent + _STEP)}"
        return [(section_key.end_mark.index, _end(section, text), new)]
    if root.flow_style:
        new = json.dumps({_SECTION: {_KEY: entries}}, ensure_ascii=False)[1:-1]
        return [_into_flow(root, new)]
    lines = f"{_SECTION}:\n{_STEP}{_KEY}:{_block(entries, _STEP * 2)}\n"
    return [(len(text), len(text), lines if text.endswith("\n") else f"\n{lines}")]


def _in_section(text: str, section: yaml.MappingNode, entries: list[Entry]) -> list[Edit]:
    key, value = _pair(section, _KEY)
    if section.flow_style:
        new = json.dumps(entries, ensure_ascii=False)
        if value is not None:
            return [(value.start_mark.index, _end(value, text), new)]
        return [_into_flow(section, f'"{_KEY}": {new}')]
    lines = _block(entries, " " * section.start_mark.column + _STEP)
    if key is None or value is None:
        place = _line_end(_end(section, text), text)
        return [(place, place, f"\n{' ' * section.start_mark.column}{_KEY}:{lines}")]
    if isinstance(value, yaml.SequenceNode) and not value.flow_style and entries:
        return _changed_list(text, value, entries)
    return [(key.end_mark.index, _end(value, text), f":{lines}")]


def _changed_list(text: str, value: yaml.SequenceNode, entries: list[Entry]) -> list[Edit]:
    """Take out lines of entries that are gone, and add those of new ones at the end."""
    old = [_content(item) for item in value.value]
    edits: list[Edit] = []
    for item, entry in zip(value.value, old, strict=True):
        if entry not in entries:
            start = text.rfind("\n", 0, item.start_mark.index) + 1
            edits.append((start, _line_end(_end(item, text), text) + 1, ""))
    fresh = [entry for entry in entries if entry not in old]
    if fresh:
        place = _line_end(_end(value, text), text)
        lines = _block(fresh, " " * value.start_mark.column)
        if edits and edits[-1][1] == place + 1:
            # The last line goes, and its end with it.
            edits[-1] = (edits[-1][0], place, lines.removeprefix("\n"))
        else:
            edits.append((place, place, lines))
    return edits


def _pair(node: yaml.MappingNode, name: str) -> tuple[yaml.ScalarNode | None, yaml.Node | None]:
    pairs = ((key, value) for key, value in node.value if key.value == name)
    return next(pairs, (None, None))


def _content(node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return {key.value: _content(value) for key, value in node.value}
    return node.value


def _end(node: yaml.Node, text: str) -> int:
    """Where what is written of a node ends; what only follows a list does not belong to it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, text)
    end: int = node.end_mark.index
    return end - 1 if end > node.start_mark.index and text[end - 1] == "\n" else end


def _line_end(place: int, text: str) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _into_flow(node: yaml.MappingNode, new: str) -> Edit:
    """Put a key at the end of a mapping in braces."""
    if not node.value:
        place = node.start_mark.index + 1
        return place, place, new
    place = node.value[-1][1].end_mark.index
    return place, place, f", {new}"


def _block(entries: Iterable[Entry], indent: str) -> str:
    lines = [f"\n{indent}- {{{_flow(entry)}}}" for entry in entries]
    return "".join(lines) or " []"


def _flow(entry: Entry) -> str:
    return ", ".join(f"{key}: {_scalar(value)}" for key, value in entry.items())


def _scalar(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _encoding(raw: bytes) -> str:
    return next((code for bom, code in _BOMS.items() if raw.startswith(bom)), "utf-8")


def _replace(path: Path, content: bytes) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(13, os.strerror(13))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(path.stat().st_mode & 0o7777)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _by_hand(name: str, why: str, entries: Sequence[Entry]) -> QuemError:
    lines = [f"- {{{_flow(entry)}}}" for entry in entries]
    more = len(lines) - _MOST_LINES
    mistakes: list[Mistake | str] = [
        Mistake(name, message=f"{why}; make judging.reviewed this list by hand:")
    ]
    mistakes += lines[-_MOST_LINES:] or ["[]"]
    if more > 0:
        mistakes.insert(1, f"(after the first {more} entries, which stay)")
    return QuemError(mistakes)
