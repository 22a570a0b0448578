"""Which content has which letter: a letter that a judge has seen never changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from quem.store.digests import keyed
from quem.store.state import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random


class MissingSolutionError(Exception):
    """The files of a solution cannot be read, and no judge has seen it yet."""

    def __init__(self, solver: str) -> None:
        self.solver = solver
        super().__init__(solver)


@dataclass(frozen=True)
class Content:
    """What a solution holds now."""

    digest: str
    # Whether an organizer said that it is the same solution as before, corrected.
    is_correction: bool = False

    def is_in(self, item: Item) -> bool:
        """Whether this is the content of a letter."""
        return item.digest == self.digest


class Item(NamedTuple):
    """The content of one letter; see `quem.store.models.Layout`."""

    letter: str
    solver: str
    digest: str
    origin: str


@dataclass(frozen=True)
class Layout:
    """The content of each letter of a ballot, at one time."""

    id: str  # a keyed hash of the items
    items: tuple[Item, ...]  # in the order of letters

    @classmethod
    def stored(cls, identity: str, items: Sequence[Sequence[str]]) -> Layout:
        """Read a layout as the store has it."""
        return cls(identity, tuple(map(Item._make, items)))

    @cached_property
    def solvers(self) -> dict[str, str]:
        """Letter to solver."""
        return {item.letter: item.solver for item in self.items}

    @cached_property
    def letters(self) -> dict[str, str]:
        """Solver to letter."""
        return {item.solver: item.letter for item in self.items}

    def shares(self, other: Layout) -> dict[str, str]:
        """Letter to solver of what both have, be it corrected."""
        return {letter: s for letter, s in self.solvers.items() if letter in other.solvers}


def layout_id(secret: str, ballot: str, items: Sequence[Item]) -> str:
    """Give the id of a layout: a keyed hash of the content of each letter."""
    return keyed(secret, "layout", ballot, as_stored(items))


def as_stored(items: Sequence[Item]) -> list[list[str]]:
    """Give items as the store has them."""
    return [[item.letter, item.solver, item.digest, item.origin] for item in items]


def arrange(
    earlier: Sequence[Layout],
    current: Layout | None,
    contents: Mapping[str, Content | None],
    rng: Random,
) -> tuple[Item, ...]:
    """Give each solution its letter: the one that it had, or the next one."""
    now = {item.solver: item for item in current.items} if current else {}
    seen = [item for layout in reversed(earlier) for item in layout.items]
    items, fresh = [], []
    for solver, content in contents.items():
        current_item = now.get(solver)
        if content is None:
            if current_item is None:
                raise MissingSolutionError(solver)
            items.append(current_item)
            continue
        mine = [
            *([current_item] if current_item else []),
            *(item for item in seen if item.solver == solver),
        ]
        same = next((item for item in mine if content.is_in(item)), None)
        if same is None and mine and content.is_correction:
            before = mine[0]
            same = Item(before.letter, solver, content.digest, before.origin)
        items += [same] if same else []
        fresh += [] if same else [(solver, content)]
    rng.shuffle(fresh)
    taken = {item.letter for item in seen}
    names = [name for name in labels(len(taken) + len(fresh)) if name not in taken]
    items += [
        Item(name, solver, content.digest, content.digest)
        for name, (solver, content) in zip(names, fresh, strict=False)
    ]
    return tuple(sorted(items, key=lambda item: (len(item.letter), item.letter)))
