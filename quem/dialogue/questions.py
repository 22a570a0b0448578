"""In which order the questions of a dialogue are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Questions:
    """How questions are ordered."""

    rule: Literal["random", "fixed"] = "random"
    order: tuple[int, ...] = ()  # the attributes, for "fixed"

    def dialogues(self, orders: int) -> int:
        """How many dialogues each target has: one, if its question order is always the same."""
        return orders if self.rule == "random" else 1

    def orders(self, m: int, orders: int, random: np.random.Generator) -> NDArray[np.intp]:
        """Order the m questions of a target's dialogues."""
        if self.rule == "random":
            return random.permuted(np.tile(np.arange(m), (orders, 1)), axis=1)
        return np.array([self.order], dtype=np.intp)
