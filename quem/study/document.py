"""A YAML file as plain data, in which every value knows its line and column.

Scalars stay the text that was written: ``no``, ``007``, ``1.10`` and ``12:30`` mean what they
say, and the models decide what is a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ruamel.yaml.nodes import Node

__all__ = ["Document", "Loc", "Place", "parse_document"]

Loc = tuple[str | int, ...]

_MOST_VALUES = 200_000
_NULL = "tag:yaml.org,2002:null"
_PLAIN_TAGS = "tag:yaml.org,2002:"


class Place(NamedTuple):
    """A position in a file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Document:
    """The content of a YAML file, with positions.

    Parameters
    ----------
    name : str
        The file as the user named it.
    content : Any
        Dicts, lists, text and None.
    values, keys : dict of Loc to Place
        Where each value and each key stands.
    """

    name: str
    content: Any
    values: dict[Loc, Place] = field(repr=False)
    keys: dict[Loc, Place] = field(repr=False)

    def mistake(self, loc: Loc, message: str, *, at_key: bool = False) -> Mistake:
        """Describe what is wrong at `loc`, or at the nearest part of the file above it.

        Parameters
        ----------
        loc : Loc
            The keys and list indices that lead to the value.
        message : str
        at_key : bool
            Whether the key is wrong and not its value.
        """
        places = self.keys if at_key else self.values
        known = loc
        while known not in places and known:
            known, places = known[:-1], self.values
        place = places.get(known, Place(1, 1))
        return Mistake(self.name, *place, key=_dotted(loc), message=message)


def parse_document(text: str, name: str) -> Document:
    """Parse YAML text.

    Parameters
    ----------
    text : str
    name : str
        The file as the user named it, for messages.

    Raises
    ------
    QuemError
        The text is no YAML, or a key stands twice.
    """
    reader = _Reader(name)
    node = _compose(text, name)
    content = reader.read(node, ()) if node is not None else None
    if reader.mistakes:
        raise QuemError(reader.mistakes)
    return Document(name, content, reader.values, reader.keys)


def _compose(text: str, name: str) -> Node | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)  # type: ignore[no-any-return]
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        problem = ", ".join(filter(None, (error.context, error.problem)))
        message = f"this is not YAML: {problem}; look at this line and the one above it"
        raise QuemError([Mistake(name, *place, message=message)]) from None
    except RecursionError:
        message = "lists or mappings are nested too deeply"
        raise QuemError([Mistake(name, message=message)]) from None
    except (YAMLError, ValueError, AssertionError, AttributeError, IndexError) as error:
        # The parser's own checks of odd input end in any of these.
        reason = str(error).strip().splitlines()
        message = f"this is not YAML: {reason[0] if reason else type(error).__name__}"
        raise QuemError([Mistake(name, message=message)]) from None


class _Reader:
    """Turns YAML nodes into plain data and notes where each stood."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[Loc, Place] = {}
        self.keys: dict[Loc, Place] = {}
        self.mistakes: list[Mistake] = []
        self._open: list[int] = []

    def read(self, node: Node, loc: Loc) -> Any:  # noqa: ANN401  YAML holds anything
        from ruamel.yaml.nodes import MappingNode, ScalarNode

        self.values[loc] = _place(node)
        if len(self.values) > _MOST_VALUES or id(node) in self._open:
            if not self._open or not self.mistakes:
                self._complain(node, loc, "refers to itself, or holds too much")
            return None
        if isinstance(node, ScalarNode):
            return self._scalar(node, loc)
        self._open.append(id(node))
        content: Any
        if isinstance(node, MappingNode):
            content = dict(self._items(node, loc))
        else:
            content = [self.read(item, (*loc, i)) for i, item in enumerate(node.value)]
        self._open.pop()
        return content

    def _items(self, node: Node, loc: Loc) -> Iterator[tuple[str, Any]]:
        from ruamel.yaml.nodes import ScalarNode

        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._complain(key_node, loc, "a key has to be one word")
                continue
            key = str(key_node.value)
            here = (*loc, key)
            if here in self.keys:
                first = self.keys[here].line
                message = f"stands twice, first on line {first}; keep one of them"
                self._complain(key_node, here, message)
                continue
            self.keys[here] = _place(key_node)
            yield key, self.read(value_node, here)

    def _scalar(self, node: Node, loc: Loc) -> str | None:
        tag = str(node.tag or "")
        if tag and not tag.startswith(_PLAIN_TAGS):
            self._complain(node, loc, f"the tag {tag} means nothing here; leave it out")
        return None if tag == _NULL else str(node.value)

    def _complain(self, node: Node, loc: Loc, message: str) -> None:
        self.mistakes.append(Mistake(self.name, *_place(node), _dotted(loc), message))


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _dotted(loc: Loc) -> str:
    """``("subjects", 2, "id")`` as ``subjects[3].id``: people count from 1."""
    path = ""
    for part in loc:
        path += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if path else part
    return path
