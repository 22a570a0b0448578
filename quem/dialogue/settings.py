"""The choices of an evaluation: what the paper fixes, and what it leaves open."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Choice:
    """A choice that the paper leaves open."""

    # The plausible values; the default is one of them.
    values: tuple[Any, ...]
    meaning: str  # what is chosen
    explained: dict[str, str] = field(default_factory=dict)  # what the values mean


OPEN_CHOICES = {
    "k": Choice((5, 10, 20), "how many candidates rank quality compares"),
    "neighbors": Choice((5, 10, 20), "how many nearest cases ND and NF take the aggregate of"),
    "region_size": Choice((5, 10, 20), "how many cases a region of RA has"),
    "missing": Choice(
        ("zero", "worst", "skip"),
        "what a value counts in a distance that a case or, once asked for, the target lacks",
        {
            "zero": "no difference",
            "worst": "the greatest difference",
            "skip": "the attribute is left out of that distance",
        },
    ),
}


@dataclass(frozen=True)
class SimulationSettings:
    """How dialogues are simulated and counted.

    The first four are the open choices, explained in `OPEN_CHOICES`.
    """

    k: int = 10
    neighbors: int = 10
    region_size: int = 10
    missing: Literal["zero", "worst", "skip"] = "zero"
    orders: int = 10  # question orders of each target, if they are random
    seed: int = 0  # of question orders, ties and the choice of A users

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def open_choices(settings: SimulationSettings) -> Iterator[tuple[str, Any, Choice]]:
    """Give each open choice with its present value."""
    for entry in fields(settings):
        if choice := OPEN_CHOICES.get(entry.name):
            yield entry.name, getattr(settings, entry.name), choice
