"""A YAML file as plain data, with the line and column of every value.

Scalars stay text: ``no``, ``007``, ``1.10``, and ``12:30`` are kept as written, and the models
decide what is a number. Syntax errors are explained in terms of their cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from quem.errors import Mistake, QuemError, refuse
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_SPACE = re.compile(r"(\s*(?:- +)?)\w+:(?=[^\s:/])")


_DEEP = "lists or mappings are nested too deeply"
# By words of the parser's messages.
_REMEDIES = {
    "nesting depth": _DEEP,
    "alias": "a value cannot begin with *, which names another; put the text in quotes",
    "another document": "the file holds a second document after '---'; remove it",
    "mapping values": "put text that holds ': ' in quotes",
}


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[int, int, str]:
    """The location of a syntax error, and how to correct it."""
    context, problem = error.context or "", error.problem or ""
    start, end = error.context_mark or error.problem_mark, error.problem_mark
    if start is None or end is None:
        return 0, 0, f"{problem}; check the indentation and the quotes"
    lines = text.split("\n")
    character = lines[end.line][end.column : end.column + 1] if end.line < len(lines) else ""
    reasons = ", ".join(filter(None, (context, problem)))
    if "quoted scalar" in context:
        return *_place(start), "the quote that begins here is never closed"
    if "directive" in context:
        return *_place(start), "a line cannot begin with %; put it in quotes"
    if "simple key" in context or "mapping values" in problem:
        # The parser fails in the line of the error or, still reading text, below it.
        for number in dict.fromkeys((start.line, max(end.line - 1, 0), end.line)):
            if number < len(lines) and (joined := _NO_SPACE.match(lines[number])):
                return number + 1, len(joined[1]) + 1, "a space is missing after the colon"
    if character == "\t":
        message = "there is a tab; indent with spaces"
    elif "cannot start any token" in problem:
        message = f"a value cannot begin with {character}; put the text in quotes"
    else:
        known = (remedy for words, remedy in _REMEDIES.items() if words in reasons)
        message = next(known, f"{reasons}; look at this line and the one above it")
    return *_place(end), message


Loc = tuple[str | int, ...]

_MOST_VALUES = 200_000
_LONGEST_KEY = 60
_DEEPEST = 50
_NULL = "tag:yaml.org,2002:null"
_NULLS = {"", "~", "null", "Null", "NULL"}
# libyaml's parser is some twenty times as fast; builds of PyYAML without it have the other.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_TAGS = "tag:yaml.org,2002:"
# YAML reads these line ends as others, unless they are escaped.
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


class _Dumper(yaml.SafeDumper):
    """Escapes line ends that would not survive."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = '"' if _LINE_ENDS.search(text) else None
        return self.represent_scalar(f"{_PLAIN_TAGS}str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def yaml_of(content: object, *, short: bool = False) -> str:
    """Plain data as YAML, in its order; with `short`, short lists and mappings on one line."""
    style: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": inf}
    flow = None if short else False
    return str(yaml.dump(content, Dumper=_Dumper, default_flow_style=flow, **style))


class SourcePosition(NamedTuple):
    """A position in a file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Document:
    """The contents of a YAML file, with positions."""

    name: str  # as the user named it
    content: Any  # dicts, lists, text, and None
    # Positions of values and keys
    values: dict[Loc, SourcePosition] = field(repr=False)
    keys: dict[Loc, SourcePosition] = field(repr=False)

    def mistake(self, loc: Loc, message: str, *, at_key: bool = False) -> Mistake:
        """The error at `loc`, or at the nearest existing parent."""
        places = self.keys if at_key else self.values
        known = loc
        while known not in places and known:
            known, places = known[:-1], self.values
        # Data in memory have no lines.
        place = places.get(known, SourcePosition(0, 0))
        return Mistake(self.name, *place, key=dotted(loc), message=message)

    def beside(self, name: str) -> Path:
        """The path of a file that the study names."""
        return Path(self.name).parent / name

    def not_there(self, loc: Loc, name: str) -> Mistake | None:
        """The error at `loc` on a missing file that the study names, if it is missing."""
        path = self.beside(name)
        try:
            if path.is_dir():
                return self.mistake(loc, f"{shown(name)} is a folder; name a file inside it")
            if path.exists():
                return None
            names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        except (OSError, ValueError):
            # Reading it will report the system's error.
            return None
        hint = nearest(path.name, names) or "; check its name"
        return self.mistake(loc, f"there is no file {shown(name)}{hint}")


def parse_document(text: str, name: str) -> Document:
    """Parse YAML text."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line, column, message = explain(error, text)
        message = f"this is not YAML: {message}"
        raise QuemError(Mistake(name, line, column, message=message)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        message = f"the character {chr(error.character)!r} is not allowed in YAML; remove it"
        raise QuemError(Mistake(name, line, column, message=message)) from None
    except RecursionError:
        raise QuemError(Mistake(name, message=_DEEP)) from None
    reader = _Reader(name)
    content = reader.value(root, ()) if root else None
    refuse(reader.mistakes)
    return Document(name, content, reader.values, reader.keys)


class _Reader:
    """Converts YAML nodes to plain data, with positions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[Loc, SourcePosition] = {}
        self.keys: dict[Loc, SourcePosition] = {}
        self.mistakes: list[Mistake] = []
        self._size = 0

    def value(self, node: yaml.Node, loc: Loc) -> Any:  # noqa: ANN401  YAML holds anything
        """The value of a node; repetitions by aliases count each time."""
        self._size += 1
        if self._size > _MOST_VALUES or len(loc) >= _DEEPEST:
            many = f"the file holds more than {_MOST_VALUES:,} values"
            self._complain(node, (), many if len(loc) < _DEEPEST else _DEEP)
            raise QuemError(self.mistakes)
        self.values[loc] = _place(node.start_mark)
        if not node.tag.startswith(_PLAIN_TAGS):
            self._complain(node, loc, f"the tag {node.tag} has no meaning here; leave it out")
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, loc))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(part, (*loc, at)) for at, part in enumerate(node.value)]
        return None if node.tag == _NULL and node.value in _NULLS else node.value

    def _pairs(self, node: yaml.MappingNode, loc: Loc) -> Iterator[tuple[str, Any]]:
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._complain(key, loc, "a key has to be one word")
                continue
            here = (*loc, key.value)
            if here in self.keys:
                first = self.keys[here].line
                self._complain(key, here, f"duplicate, first on line {first}; keep one")
                continue
            self.keys[here] = _place(key.start_mark)
            word, colon, rest = (part[:_LONGEST_KEY] for part in key.value.partition(":"))
            if colon and not key.style:
                message = f"a space is missing after the colon; write {word}: {rest}"
                self._complain(key, here, message)
            yield key.value, self.value(value, here)

    def _complain(self, node: yaml.Node, loc: Loc, message: str) -> None:
        self.mistakes.append(Mistake(self.name, *_place(node.start_mark), dotted(loc), message))


def _place(mark: yaml.Mark) -> SourcePosition:
    return SourcePosition(mark.line + 1, mark.column + 1)


def dotted(loc: Loc) -> str:
    """Write ``("subjects", 2, "id")`` as ``subjects[3].id``, counted from 1."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part + 1}]"
        else:
            word = part[:_LONGEST_KEY] if part.isprintable() else repr(part[:_LONGEST_KEY])
            path += f".{word}" if path else word
    return path
