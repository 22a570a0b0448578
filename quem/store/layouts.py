"""Letters of contents: a letter that a judge has seen never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.store.digests import keyed
from quem.store.models import Item, TaskRow
from quem.store.state import labels

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random


class MissingSolutionError(Exception):
    """A solution is unreadable and no judge has seen it yet."""

    def __init__(self, solver: str) -> None:
        self.solver = solver
        super().__init__(solver)


@dataclass(frozen=True)
class Content:
    """The current contents of a solution."""

    digest: str
    # Whether an organizer declared it a correction of the same solution.
    is_correction: bool = False

    def is_in(self, item: Item) -> bool:
        """Whether this is the content of a letter."""
        return item.digest == self.digest


def layout_id(secret: str, task: str, items: tuple[Item, ...]) -> str:
    """The id of a layout: a keyed hash of the content of each letter."""
    return keyed(secret, "layout", task, items)


def arrange(task: TaskRow, contents: Mapping[str, Content | None], rng: Random) -> tuple[Item, ...]:
    """Each solution with its letter: the existing one, or the next one."""
    held = {item.solver: item for item in task.layout.items} if task.layout else {}
    items, fresh = [], []
    for solver, content in contents.items():
        if content is None:
            if solver not in held:
                raise MissingSolutionError(solver)
            items.append(held[solver])
        elif known := known_item(task, solver, content):
            items.append(known)
        else:
            fresh.append((solver, content.digest))
    rng.shuffle(fresh)
    taken = set(task.letters)
    names = (name for name in labels(len(taken) + len(fresh)) if name not in taken)
    items += [Item(name, *one, one[1]) for name, one in zip(names, fresh, strict=False)]
    return tuple(sorted(items, key=lambda item: (len(item.letter), item.letter)))


def known_item(task: TaskRow, solver: str, content: Content) -> Item | None:
    """The letter that a judge knows a content by; None for a new one.

    A correction has the letter from before the change, also for a judge who opened the task before
    the organizer's answer and met a new letter, but not for one who has saved a ranking with it.
    """
    layouts = filter(None, (task.layout, *reversed(task.layouts)))
    mine = [item for layout in layouts for item in layout.items if item.solver == solver]
    if content.is_correction and len(task.layouts) > 1:
        saved = task.placed.letters.get(solver) if task.placed else None
        mine = [i for i in mine if i.letter == saved or i.origin != content.digest] or mine
    same = next((item for item in mine if content.is_in(item)), None)
    if same is None and mine and content.is_correction:
        return mine[0]._replace(digest=content.digest)
    return same
