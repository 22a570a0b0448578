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
    "neighbor_ties": Choice(
        ("all", "order"),
        "which cases are the nearest where distances tie",
        {
            "all": "every case as near as the last of them",
            "order": "those that come first in the case base",
        },
    ),
    "regions": Choice(
        ("neighbors", "clusters", "classes"),
        "what a region of RA is",
        {
            "neighbors": "a case with the cases nearest to it",
            "clusters": "a cluster (average linkage) that holds region_size cases in the mean",
            "classes": "all cases of one class",
        },
    ),
    "region_size": Choice((5, 10, 20), "how many cases a region of RA has"),
    "list_ties": Choice(
        ("random", "order"),
        "how candidates at one distance are listed for the user",
        {
            "random": "in an order drawn for each target",
            "order": "in that of the case base",
        },
    ),
    "first_list": Choice((1, 0), "after how many answers the user may select for the first time"),
    "no_selection": Choice(
        ("top", "zero", "leave_out"),
        "what a dialogue counts in which no case was selected",
        {
            "top": "the top candidate at the end is taken: efficiency 0, precision its",
            "zero": "efficiency and precision 0",
            "leave_out": "nothing: it is left out of the means",
        },
    ),
    "user_distance": Choice(
        ("true", "partial"),
        "which distance users compare with their threshold",
        {
            "true": "that between the whole problem and the case",
            "partial": "that of the strategy, on what is known so far",
        },
    ),
    "efficiency": Choice(
        ("attributes", "questions", "halved"),
        "what efficiency is a share of, with r of m attributes revealed",
        {
            "attributes": "1 - r/m",
            "questions": "1 - (r - 1)/(m - 1): the first question is always asked",
            "halved": "(1 - r/m)/2, a hypothesis about the printed figures",
        },
    ),
    "average_ties": Choice(
        ("any", "top"),
        "what an A user selects where no case is nearer than the average",
        {"any": "any of the cases, at random", "top": "the first of them"},
    ),
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

    The first twelve are the open choices, explained in `OPEN_CHOICES`.
    """

    k: int = 10
    neighbors: int = 10
    neighbor_ties: Literal["all", "order"] = "all"
    regions: Literal["neighbors", "clusters", "classes"] = "neighbors"
    region_size: int = 10
    list_ties: Literal["random", "order"] = "random"
    first_list: int = 1
    no_selection: Literal["top", "zero", "leave_out"] = "top"
    user_distance: Literal["true", "partial"] = "true"
    efficiency: Literal["attributes", "questions", "halved"] = "attributes"
    average_ties: Literal["any", "top"] = "any"
    missing: Literal["zero", "worst", "skip"] = "zero"
    # The weights of rank quality, as in the paper
    lam: int = 2
    lowest: float = 0.0
    highest: float = 1.0
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
