"""The ground truth of this study: compares as a seller would, one bicycle after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ALIKE = {
    frozenset(("city", "touring")): 0.6,
    frozenset(("touring", "road")): 0.4,
    frozenset(("touring", "mountain")): 0.4,
    frozenset(("city", "cargo")): 0.3,
    frozenset(("steel", "aluminium")): 0.7,
    frozenset(("aluminium", "carbon")): 0.5,
    frozenset(("rim", "coaster")): 0.3,
    frozenset(("rim", "disc")): 0.5,
}


def _words(wanted: str, offered: str) -> float:
    return 1.0 if wanted == offered else _ALIKE.get(frozenset((wanted, offered)), 0.0)


def _near(width: float) -> Callable[[float, float], float]:
    return lambda wanted, offered: max(0.0, 1 - abs(wanted - offered) / width)


def _at_most(width: float) -> Callable[[float, float], float]:
    """Less than what was wanted is as good; more is not."""
    return lambda wanted, offered: max(0.0, 1 - max(0.0, offered - wanted) / width)


_COMPARED: tuple[tuple[str, float, Callable[[Any, Any], float]], ...] = (
    ("type", 4, _words),
    ("frame", 1, _words),
    ("brakes", 1, _words),
    ("gears", 1, _near(20)),
    ("drive", 1, _words),
    ("height", 2, _near(25)),
    ("weight", 1, _at_most(10)),
    ("age", 1, _at_most(15)),
    ("price", 3, _at_most(1000)),
)


def retrieve(
    query: Mapping[str, Any], k: int, cases: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, float]]:
    """The k bicycles most similar to the wish; missing values do not count."""
    said = [part for part in _COMPARED if query[part[0]] is not None]
    whole = sum(weight for _, weight, _ in said)
    found = [
        (name, sum(w * alike(query[key], bicycle[key]) for key, w, alike in said) / whole)
        for name, bicycle in cases.items()
    ]
    return sorted(found, key=lambda pair: -pair[1])[:k]
