"""The registry of measures, and reading of single lists and ground truths."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from quem.errors import QuemError
from quem.lists.graded import GRADED
from quem.lists.length_aware import LENGTH_AWARE
from quem.lists.pairs import PAIRS
from quem.lists.rank_quality import RANK_QUALITY
from quem.lists.relevance import RELEVANCE
from quem.lists.retrieval import RETRIEVAL

if TYPE_CHECKING:
    from quem.lists.measure import Definition

DEFINITIONS: Mapping[str, Definition] = {
    entry.name: entry
    for entry in (*RELEVANCE, *GRADED, *LENGTH_AWARE, *RETRIEVAL, *PAIRS, *RANK_QUALITY)
}


def is_own(one: Definition) -> bool:
    """Whether a measure is custom, not one of `DEFINITIONS`."""
    return DEFINITIONS.get(one.name) is not one


Items: TypeAlias = Mapping[Any, float] | Collection[Any]
_PAIR = 2


def read_items(entries: Items, *, best_first: bool) -> tuple[dict[Hashable, float], bool]:
    """Read one list or ground truth."""
    if type(entries) is dict:
        return entries, True
    if isinstance(entries, Mapping):
        return dict(entries), True
    if hasattr(entries, "keys") and hasattr(entries, "items"):
        # A pandas Series is a mapping, but yields its values, not its keys.
        return _unique(list(entries.keys()), list(entries.items())), True
    if isinstance(entries, str | bytes) or not isinstance(entries, Iterable):
        raise QuemError(f"should be a dict or a list of items, and not {entries!r}")
    items = list(entries)
    pairs = bool(items) and all(isinstance(i, tuple | list) and len(i) == _PAIR for i in items)
    names = [item[0] for item in items] if pairs else items
    numbers = range(len(items), 0, -1) if best_first else repeat(1.0)
    read = _unique(names, items if pairs else zip(names, numbers, strict=False))
    return read, pairs or not items


def _unique(names: list[Any], pairs: Iterable[Any]) -> dict[Hashable, Any]:
    """A dict of pairs with unique names."""
    try:
        read: dict[Hashable, Any] = dict(pairs)
    except TypeError:
        raise QuemError(
            "an item should be a name such as a text, or a pair of name and score"
        ) from None
    if len(read) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise QuemError(f"{', '.join(twice)}: is more than once in the list")
    return read
