"""The measures by name: which exist, and how a name is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from quem.errors import Mistake, QuemError
from quem.io.text import nearest
from quem.lists.binary import HITS, PRECISION, RECIPROCAL_RANK
from quem.lists.error import ERROR, RANKS
from quem.lists.graded import GAIN, RANK_BIASED
from quem.lists.length_aware import LENGTH_AWARE
from quem.lists.measure import Definition, Measure, split_spelling
from quem.lists.own import CALL, define
from quem.lists.pairs import PAIRS
from quem.lists.rank_quality import QUALITY, RANK_QUALITY
from quem.lists.relevance import RELEVANCE

if TYPE_CHECKING:
    from collections.abc import Hashable

# A measure: its spelling, itself, its definition, or a function of the user that scores a list.
Chosen: TypeAlias = str | Measure | Definition | Callable[..., object]

_FAMILIES = (
    HITS,
    ERROR,
    QUALITY,
    PAIRS,
    RANKS,
    LENGTH_AWARE,
    PRECISION,
    RECIPROCAL_RANK,
    RELEVANCE,
    GAIN,
    RANK_BIASED,
    RANK_QUALITY,
)

DEFINITIONS: Mapping[str, Definition] = {
    entry.name: entry for family in _FAMILIES for entry in family
}

_FOLDED = {name.casefold(): entry for name, entry in DEFINITIONS.items()}


def definition(name: str, own: Mapping[str, Definition] | None = None) -> Definition:
    """Find a measure by its name, in whatever case.

    Parameters
    ----------
    own : mapping of str to Definition, optional
        Those of the user, by their names.

    Raises
    ------
    QuemError
        There is none.
    """
    known = {**_FOLDED, **{key.casefold(): one for key, one in (own or {}).items()}}
    if name.casefold() not in known:
        names = [entry.name for entry in known.values()]
        raise QuemError(
            f"there is no measure {name!r}{nearest(name, names) or ';'} `quem measures` lists them"
        )
    return known[name.casefold()]


def is_own(one: Definition) -> bool:
    """Whether a measure is the user's, and not one of `DEFINITIONS`."""
    return DEFINITIONS.get(one.name) is not one


def _checked(one: Definition) -> Definition:
    if one.name.casefold() in _FOLDED and is_own(one):
        raise QuemError(f"{one.name} is the name of a measure of quem; give yours another name")
    return one


def own_definition(
    target: object,
    *,
    name: str,
    better: str | None = None,
    low: float | None = None,
    high: float | None = None,
    citation: str = "",
) -> Definition:
    """Make a measure of what a study names: a function, or a definition."""
    if isinstance(target, type) or not (callable(target) or isinstance(target, Definition)):
        raise QuemError(f"is not a measure; name a {CALL} or a quem.lists.Definition")
    found = target if isinstance(target, Definition) else define(target, name=name)
    changed = {"better": better, "low": low, "high": high, "citation": citation or None}
    given: dict[str, Any] = {key: value for key, value in changed.items() if value is not None}
    return _checked(replace(found, name=name, **given))


def describe_own(measures: Iterable[Measure]) -> list[str]:
    """Say of each measure that is the user's what it is, and where it is from."""
    own = dict.fromkeys(one.definition for one in measures if is_own(one.definition))
    return [f"{one.name}: {one.summary.rstrip('.')} ({one.citation})." for one in own]


def measure(
    spelling: Chosen, own: Mapping[str, Definition] | None = None, /, **values: object
) -> Measure:
    """Find a measure, with values for its parameters.

    Parameters
    ----------
    spelling : str, Measure, Definition or callable
        A name with parameters as in ``nDCG``, ``hits@5``, ``RBP(p=0.8)`` and
        ``AP(rel=2)@10``; ``@10`` is short for ``k=10``. Or a measure of the user; see
        `quem.lists.define`.
    own : mapping of str to Definition, optional
        Measures of the user that can be spelled too, by their names.
    **values
        Parameters by name, instead of those in the spelling.

    Raises
    ------
    QuemError
        There is no such measure or parameter, or a value is wrong.
    """
    if isinstance(spelling, Measure):
        return _checked(spelling.definition).with_values({**dict(spelling.values), **values})
    if isinstance(spelling, Definition):
        return _checked(spelling).with_values(values)
    if callable(spelling):
        return _checked(define(spelling)).with_values(values)
    split = split_spelling(spelling) if isinstance(spelling, str) else None
    if split is None:
        raise QuemError(
            f"{spelling!r} is not a measure; write it like AP, AP@10, RBP(p=0.8) or AP(rel=2)@10"
        )
    name, spelled = split
    return definition(name, own).with_values({**spelled, **values})


def named(settings: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Definition]]:
    """Name the measures that are objects in settings, such as functions of the user."""
    own: dict[str, Definition] = {}
    mistakes: list[Mistake | str] = []

    def spelled(one: object) -> object:
        if not (isinstance(one, Measure | Definition) or callable(one)):
            return one
        try:
            found = measure(one)
        except QuemError as error:
            mistakes.extend(error.mistakes)
            return ""
        if is_own(found.definition):
            name = found.definition.name
            if own.setdefault(name, found.definition) != found.definition:
                mistakes.append(f"two measures have the name {name}; give one another name")
        return found.name

    changed = dict(settings)
    for key in ("measures", "headline"):
        value = changed.get(key)
        if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
            changed[key] = [spelled(one) for one in value]
        else:
            changed[key] = spelled(value)
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    return changed, own


Items: TypeAlias = Mapping[Any, float] | Collection[Any]
_PAIR = 2


def read_items(entries: Items, *, best_first: bool) -> tuple[dict[Hashable, float], bool]:
    """Read one list, or one ground truth."""
    if type(entries) is dict:
        return entries, True
    if isinstance(entries, Mapping):
        return dict(entries), True
    if hasattr(entries, "keys") and hasattr(entries, "items"):
        # A Series of pandas is like a mapping, and yields its values, not its keys.
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
    """Make a dict of pairs, in which no name may occur twice."""
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
