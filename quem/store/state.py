"""A state of a ranking: ranked tie groups, tray and cannot-judge, each solution exactly once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["InvalidStateError", "State", "labels"]

LONGEST_REASON, LONGEST_COMMENT = 500, 4000
_KEYS = {"ranked", "tray", "cannot", "recognised", "comments", "comment"}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class InvalidStateError(ValueError):
    """What was sent is no state of the ranking; the message says why."""


def labels(count: int) -> list[str]:
    """Name so many solutions: A, B, ..., Z, AA, AB, ...

    Parameters
    ----------
    count : int
    """
    return [_label(number) for number in range(count)]


def _label(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, len(_LETTERS))
        text = _LETTERS[letter] + text
    return text


@dataclass(frozen=True)
class State:
    """One judge's ranking of one block, at one time.

    Parameters
    ----------
    ranked : tuple of tuple of str
        Tie groups, best first.
    tray : tuple of str
        Not ranked yet.
    cannot : dict of str to str
        Solutions that the judge cannot judge, with the reason.
    recognised : tuple of str
        Solutions whose author the judge recognised.
    comments : dict of str to str
        By solution.
    comment : str
        On the group.
    """

    ranked: tuple[tuple[str, ...], ...] = ()
    tray: tuple[str, ...] = ()
    cannot: Mapping[str, str] = field(default_factory=dict)
    recognised: tuple[str, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""

    @classmethod
    def parse(cls, data: object, block: Iterable[str]) -> State:
        """Read a state as it is sent and stored.

        Parameters
        ----------
        data : object
            Whatever came in.
        block : iterable of str
            The solutions, each of which the state has to hold once.

        Raises
        ------
        InvalidStateError
            It is no state of this block.
        """
        if not isinstance(data, dict) or set(data) != _KEYS:
            message = f"a state is an object with the keys {', '.join(sorted(_KEYS))}"
            raise InvalidStateError(message)
        if not isinstance(data["ranked"], list):
            message = "ranked is no list of tie groups"
            raise InvalidStateError(message)
        state = cls(
            ranked=tuple(_names(group, "a tie group") for group in data["ranked"]),
            tray=_names(data["tray"], "tray"),
            cannot=_texts(data["cannot"], "cannot", LONGEST_REASON),
            recognised=_names(data["recognised"], "recognised"),
            comments=_texts(data["comments"], "comments", LONGEST_COMMENT),
            comment=_text(data["comment"], "comment", LONGEST_COMMENT),
        )
        state._check(set(block))
        return state

    @classmethod
    def stored(cls, data: Mapping[str, Any]) -> State:
        """Read a state that was checked when it was saved.

        Parameters
        ----------
        data : mapping
            As from `to_json`.
        """
        return cls(
            ranked=tuple(tuple(group) for group in data["ranked"]),
            tray=tuple(data["tray"]),
            cannot=data["cannot"],
            recognised=tuple(data["recognised"]),
            comments=data["comments"],
            comment=data["comment"],
        )

    def _check(self, block: set[str]) -> None:
        if not all(self.ranked):
            message = "a tie group is empty"
            raise InvalidStateError(message)
        placed = [*chain.from_iterable(self.ranked), *self.tray, *self.cannot]
        if len(placed) != len(block) or set(placed) != block:
            message = "each solution of the group has to stand in it exactly once"
            raise InvalidStateError(message)
        for name in ("recognised", "comments"):
            given = list(getattr(self, name))
            if len(given) != len(set(given)) or not block.issuperset(given):
                message = f"{name} names what is not in the group, or twice"
                raise InvalidStateError(message)

    def to_json(self) -> dict[str, Any]:
        """Give plain data, as `parse` takes it."""
        return {
            "ranked": [list(group) for group in self.ranked],
            "tray": list(self.tray),
            "cannot": dict(self.cannot),
            "recognised": list(self.recognised),
            "comments": dict(self.comments),
            "comment": self.comment,
        }

    def renamed(self, names: Mapping[str, str]) -> State:
        """Call the solutions by other names, such as solvers by labels.

        Parameters
        ----------
        names : mapping of str to str
        """
        return State(
            ranked=tuple(tuple(names[n] for n in group) for group in self.ranked),
            tray=tuple(names[n] for n in self.tray),
            cannot={names[n]: reason for n, reason in self.cannot.items()},
            recognised=tuple(names[n] for n in self.recognised),
            comments={names[n]: text for n, text in self.comments.items()},
            comment=self.comment,
        )

    def fitted(self, names: Mapping[str, str], new: Iterable[str]) -> State:
        """Call the solutions that are still there by other names, and leave out the others.

        Parameters
        ----------
        names : mapping of str to str
            Those that are still there.
        new : iterable of str
            What came since, to be ranked yet.
        """
        groups = [tuple(names[n] for n in group if n in names) for group in self.ranked]
        return State(
            ranked=tuple(group for group in groups if group),
            tray=(*(names[n] for n in self.tray if n in names), *new),
            cannot={names[n]: reason for n, reason in self.cannot.items() if n in names},
            recognised=tuple(names[n] for n in self.recognised if n in names),
            comments={names[n]: text for n, text in self.comments.items() if n in names},
            comment=self.comment,
        )

    def without_words(self) -> State:
        """Leave out everything that the judge wrote; reasons are kept as "not told"."""
        return State(
            ranked=self.ranked,
            tray=self.tray,
            cannot=dict.fromkeys(self.cannot, "not told"),
            recognised=self.recognised,
        )

    def ranks(self) -> dict[str, int | None]:
        """Give each solution's rank, 1 for the worst; None where it could not be judged."""
        count = len(self.ranked)
        placed: dict[str, int | None] = {
            name: count - place for place, group in enumerate(self.ranked) for name in group
        }
        return placed | dict.fromkeys(self.cannot)


def _names(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        message = f"{what} is no list of solutions"
        raise InvalidStateError(message)
    return tuple(value)


def _texts(value: object, what: str, longest: int) -> dict[str, str]:
    if not isinstance(value, dict):
        message = f"{what} is no object of solutions and texts"
        raise InvalidStateError(message)
    texts = {name: _text(text, what, longest) for name, text in value.items()}
    if not all(text.strip() for text in texts.values()):
        message = f"{what} holds an empty text"
        raise InvalidStateError(message)
    return texts


def _text(value: object, what: str, longest: int) -> str:
    # PostgreSQL's text holds no NUL, and no encoding holds half a surrogate pair.
    if not isinstance(value, str) or "\0" in value or not _encodable(value):
        message = f"{what} is no text"
        raise InvalidStateError(message)
    if len(value) > longest:
        message = f"{what} is longer than {longest} characters"
        raise InvalidStateError(message)
    return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
