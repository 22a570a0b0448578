"""A retriever to be evaluated: looks on the shelf of the right type, and there at the price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Shelves:
    """Bicycles by type.

    Parameters
    ----------
    cases : mapping
        Id to attributes.
    """

    def __init__(self, cases: Mapping[str, Mapping[str, Any]]) -> None:
        self.shelves: dict[str, list[tuple[str, float]]] = {}
        for name, bicycle in cases.items():
            self.shelves.setdefault(bicycle["type"], []).append((name, bicycle["price"]))

    def retrieve(self, query: Mapping[str, Any], k: int) -> list[tuple[str, float]]:
        """The bicycles of a type, nearest price first."""
        price = query["price"]
        found = [
            (name, 0.5 if price is None else 1 / (1 + abs(price - own) / 500))
            for name, own in self.shelves.get(query["type"], [])
        ]
        return sorted(found, key=lambda pair: -pair[1])[:k]
