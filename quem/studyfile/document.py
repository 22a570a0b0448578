"""A YAML file as plain data, in which every value knows its line and column.

Scalars stay the text that was written: ``no``, ``007``, ``1.10`` and ``12:30`` mean what they
say, and the models decide what is a number. Where the parser cannot read a file, the message says
what its author did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_SPACE = re.compile(r"(\s*(?:- +)?)\w+:(?=[^\s:/])")


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[int, int, str]:
    """Say where a file stops being YAML, and how to mend it."""
    context, problem = error.context or "", error.problem or ""
    start, end = error.context_mark or error.problem_mark, error.problem_mark
    if start is None or end is None:
        return 0, 0, f"{problem}; check the indentation and the quotes"
    lines = text.split("\n")
    character = lines[end.line][end.column : end.column + 1] if end.line < len(lines) else ""
    reasons = ", ".join(filter(None, (context, problem)))
    mark, message = end, f"{reasons}; look at this line and the one above it"
    if "quoted scalar" in context:
        mark, message = start, "the quote that begins here is never closed"
    elif character == "\t":
        message = "there is a tab; indent with spaces"
    elif "directive" in context:
        mark, message = start, "a line cannot begin with %; put it in quotes"
    elif "cannot start any token" in problem:
        message = f"a value cannot begin with {character}; put the text in quotes"
    elif "simple key" in context or "mapping values" in problem:
        # The parser stumbles in the line with the mistake or, still reading text, below it.
        for number in dict.fromkeys((start.line, max(end.line - 1, 0), end.line)):
            if number < len(lines) and (joined := _NO_SPACE.match(lines[number])):
                return number + 1, len(joined[1]) + 1, "a space is missing after the colon"
        if "mapping values" in problem:
            message = "put text that holds ': ' in quotes"
    return mark.line + 1, mark.column + 1, message


Loc = tuple[str | int, ...]

_MOST_VALUES = 200_000
_LONGEST_KEY = 60
_DEEPEST = 50
_NULLS = {"", "~", "null", "Null", "NULL"}
# libyaml's parser is some twenty times as fast; builds of PyYAML without it have the other.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_TAGS = "tag:yaml.org,2002:"


class SourcePosition(NamedTuple):
    """A position in a file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Document:
    """The content of a YAML file, with positions."""

    name: str  # the file as the user named it
    content: Any  # dicts, lists, text and None
    # Where each value and each key is
    values: dict[Loc, SourcePosition] = field(repr=False)
    keys: dict[Loc, SourcePosition] = field(repr=False)

    def mistake(self, loc: Loc, message: str, *, at_key: bool = False) -> Mistake:
        """Describe what is wrong at `loc`, or at the nearest part of the file above it."""
        places = self.keys if at_key else self.values
        known = loc
        while known not in places and known:
            known, places = known[:-1], self.values
        # What was made in memory has no lines.
        place = places.get(known, SourcePosition(0, 0))
        return Mistake(self.name, *place, key=dotted(loc), message=message)


def parse_document(text: str, name: str) -> Document:
    """Parse YAML text."""
    builder = _Builder(name)
    for event in _events(text, name):
        builder.take(event)
    if builder.mistakes:
        raise QuemError(builder.mistakes)
    return Document(name, builder.content, builder.values, builder.keys)


def _events(text: str, name: str) -> Iterator[yaml.Event]:
    """The parser's events, which come one after the other however deep the file nests."""
    taken = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            taken += 1
            yield event
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in (error.problem or "") and error.problem_mark:
            # libyaml from 0.2.6 on looks ahead, and gives up a thousand levels down. What is
            # wrong stands above that place: our own limit, or what is no YAML.
            above = text[: error.problem_mark.index]
            yield from islice(_events(above, name), taken, None)
            return
        line, column, message = explain(error, text)
        raise QuemError(
            Mistake(name, line, column, message=f"this is not YAML: {message}")
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise QuemError(
            Mistake(
                name,
                line,
                column,
                message=(
                    f"the character {chr(error.character)!r} is not allowed in YAML; remove it"
                ),
            )
        ) from None


@dataclass
class _Open:
    """A mapping or list that is being read."""

    loc: Loc
    content: dict[str, Any] | list[Any]
    anchor: str | None
    first_value: int
    key: str | None = None
    skip: bool = False


class _Builder:
    """Builds plain data of YAML events, and notes where each value stood."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.content: Any = None
        self.values: dict[Loc, SourcePosition] = {}
        self.keys: dict[Loc, SourcePosition] = {}
        self.mistakes: list[Mistake] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._size = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event of the parser."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._refuse(event, "the file holds a second document after '---'; remove it")
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            self._leaf(event)

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        content: dict[str, Any] | list[Any] = {} if is_mapping else []
        if len(self._open) >= _DEEPEST:
            self._refuse(event, "lists or mappings are nested too deeply")
        if self._awaits_key():
            self._complain(event, self._open[-1].loc, "a key has to be one word")
            # Read it to its end, and its value too, for the sake of what comes after.
            self._open[-1].key, self._open[-1].skip = "", True
            self._open.append(_Open((*self._open[-1].loc, "?"), content, None, self._size))
            return
        loc = self._place(event)
        self._check_tag(event, loc)
        self._put(content)
        self._open.append(_Open(loc, content, event.anchor, self._size))

    def _end(self) -> None:
        closed = self._open.pop()
        if closed.anchor:
            self._anchors[closed.anchor] = (closed.content, self._size - closed.first_value)
        if self._open and closed.loc[-1:] == ("?",):
            return
        self._next()

    def _leaf(self, event: yaml.ScalarEvent | yaml.AliasEvent) -> None:
        if isinstance(event, yaml.ScalarEvent) and self._awaits_key():
            self._key(event)
            return
        if self._awaits_key():
            self._complain(event, self._open[-1].loc, "a key has to be one word")
            self._open[-1].key, self._open[-1].skip = "", True
            return
        loc = self._place(event)
        if isinstance(event, yaml.AliasEvent):
            content, size = self._anchors.get(event.anchor or "", (None, 0))
            if event.anchor not in self._anchors:
                message = (
                    f"there is no finished value &{event.anchor} that *{event.anchor} could name"
                )
                self._complain(event, loc, message)
            self._size += size
        else:
            self._check_tag(event, loc)
            content = None if event.implicit[0] and event.value in _NULLS else event.value
            if event.anchor:
                self._anchors[event.anchor] = (content, 1)
        self._put(content)
        self._next()

    def _key(self, event: yaml.ScalarEvent) -> None:
        top = self._open[-1]
        top.key, here = event.value, (*top.loc, event.value)
        top.skip = here in self.keys
        if top.skip:
            message = f"duplicate, first on line {self.keys[here].line}; keep one"
            self._complain(event, here, message)
            top.key = f"{event.value} (again)"  # so that its keys do not count as repeated
        else:
            self.keys[here] = _place(event)
        word, colon, value = event.value.partition(":")
        if colon and not event.style:
            message = f"a space is missing after the colon; write {word[:_LONGEST_KEY]}: "
            self._complain(event, here, message + value[:_LONGEST_KEY])

    def _awaits_key(self) -> bool:
        return (
            bool(self._open)
            and isinstance(self._open[-1].content, dict)
            and (self._open[-1].key is None)
        )

    def _place(self, event: yaml.Event) -> Loc:
        """Where the next value goes; notes its position."""
        self._size += 1
        if self._size > _MOST_VALUES:
            self._refuse(event, f"the file holds more than {_MOST_VALUES:,} values")
        if not self._open:
            loc: Loc = ()
        else:
            top = self._open[-1]
            part = top.key if isinstance(top.content, dict) else len(top.content)
            loc = (*top.loc, part if part is not None else "")
        self.values.setdefault(loc, _place(event))
        return loc

    def _put(self, content: Any) -> None:  # noqa: ANN401  YAML holds anything
        if not self._open:
            self.content = content
            return
        top = self._open[-1]
        if isinstance(top.content, list):
            top.content.append(content)
        elif not top.skip and top.key is not None:
            top.content[top.key] = content

    def _next(self) -> None:
        """A value is complete: a mapping awaits its next key."""
        if self._open:
            self._open[-1].key, self._open[-1].skip = None, False

    def _check_tag(self, event: yaml.NodeEvent, loc: Loc) -> None:
        tag = getattr(event, "tag", None)
        if tag and tag != "!" and not tag.startswith(_PLAIN_TAGS):
            self._complain(event, loc, f"the tag {tag} has no meaning here; leave it out")

    def _complain(self, event: yaml.Event, loc: Loc, message: str) -> None:
        self.mistakes.append(Mistake(self.name, *_place(event), dotted(loc), message))

    def _refuse(self, event: yaml.Event, message: str) -> None:
        raise QuemError([*self.mistakes, Mistake(self.name, *_place(event), message=message)])


def _place(event: yaml.Event) -> SourcePosition:
    mark = event.start_mark
    return SourcePosition(mark.line + 1, mark.column + 1) if mark else SourcePosition(1, 1)


def dotted(loc: Loc) -> str:
    """Write ``("subjects", 2, "id")`` as ``subjects[3].id``: people count from 1."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part + 1}]"
        else:
            word = part[:_LONGEST_KEY] if part.isprintable() else repr(part[:_LONGEST_KEY])
            path += f".{word}" if path else word
    return path
