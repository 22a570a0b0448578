"""Measures: definitions with parameters, and their values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from quem.errors import QuemError, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from quem.lists.lists import Lists

Value = int | float | str | None
# The scores of the queries, and for each reason of undefined scores: where, and the reason.
Outcome = tuple["NDArray[np.float64]", tuple[tuple["NDArray[np.bool_]", str], ...]]
# Prefix of a custom measure with the name of a built-in one.
OWN = "own."


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure."""

    name: str
    default: Value  # None where optional
    meaning: str  # a phrase
    kind: type[int | float | str] = int
    # Inclusive bounds of a number
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()  # allowed words

    def read(self, argument: object) -> Value:
        """Parse and check a value."""
        if argument is None:
            return self.default
        noun = "the cutoff" if self.name == TOP.name else self.name
        value = self._converted(argument)
        if value is None or (self.choices and value not in self.choices):
            raise QuemError(f"{noun} should be {self.allowed}, and not {argument!r}")
        if isinstance(value, int | float) and not self.least <= value <= self.most:
            allowed = self.allowed.removeprefix("a whole number of ")
            raise QuemError(f"{noun} should be {allowed}")
        return value

    def _converted(self, argument: object) -> Value:
        if self.kind is str:
            return argument if isinstance(argument, str) else None
        if isinstance(argument, bool) or not isinstance(argument, int | float | str):
            return None
        try:
            number = float(argument)
        except (ValueError, OverflowError):
            return None
        if not math.isfinite(number):
            return None
        if self.kind is float:
            return number
        return int(number) if number.is_integer() else None

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.choices:
            return " or ".join(self.choices)
        noun = "a whole number" if self.kind is int else "a number"
        if math.isfinite(self.most):
            return f"{noun} from {self.least:g} to {self.most:g}"
        return f"{noun} of at least {self.least:g}" if math.isfinite(self.least) else noun


TOP = Parameter("k", None, "number of best items that count; all by default", least=1)
GRADE = Parameter("rel", 1.0, "lowest relevant grade", kind=float)
_SKIP = "skip"
UNJUDGED_ITEMS = Parameter(
    "unjudged",
    "count",
    "whether unjudged items keep their positions, or are removed first",
    kind=str,
    choices=("count", _SKIP),
)


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A measure without values for its parameters."""

    name: str  # letters, digits, and _
    summary: str  # one sentence
    # Takes `Lists` and the parameters, and scores all lists at once: returns a score of each list,
    # and where and why scores are undefined.
    compute: Callable[..., Outcome] = field(repr=False)
    family: str = "own"  # retrieval, relevance, options, dialogue, own
    formula: str = ""  # in plain text
    low: float = -math.inf
    high: float = math.inf
    better: str = "higher"  # or lower
    # The part of the ground truth that it uses: positions, undefined for equal grades; grades; or
    # an order in which equal grades are ties.
    truth: Literal["order", "grades", "both"] = "grades"
    ties: str = ""  # treatment of equal scores
    notes: str = ""  # short lists, unknown items, and undefined scores
    citation: str = ""
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()  # in lower case

    def __post_init__(self) -> None:
        """Refuse definitions that would fail at first use."""
        mistakes = []
        if not re.fullmatch(r"\w+", self.name.removeprefix(OWN)):
            mistakes.append(
                f"{self.name!r} cannot be the name of a measure; use letters, digits, and _"
            )
        if self.better not in {"higher", "lower"}:
            mistakes.append(f"{self.name}: better: should be higher or lower, not {self.better!r}")
        if self.truth not in {"order", "grades", "both"}:
            mistakes.append(
                f"{self.name}: truth: should be order, grades, or both, not {self.truth!r}"
            )
        if not self.low <= self.high:
            mistakes.append(f"{self.name}: low ({self.low:g}) is above high ({self.high:g})")
        refuse(mistakes)

    def takes(self, name: str) -> bool:
        """Whether it has a parameter."""
        return any(parameter.name == name for parameter in self.parameters)

    def with_values(self, arguments: Mapping[str, object], spelled: str = "") -> Measure:
        """Set parameters; others have their defaults."""
        mistakes = [self._no_parameter(name) for name in arguments if not self.takes(name)]
        values: dict[str, Value] = {}
        for parameter in self.parameters:
            try:
                values[parameter.name] = parameter.read(arguments.get(parameter.name))
            except QuemError as error:
                mistakes += map(str, error.mistakes)
        if mistakes:
            raise QuemError([f"{spelled or self.name}: {mistake}" for mistake in mistakes])
        return Measure(self, tuple(values.items()))

    def _no_parameter(self, name: str) -> str:
        if name == TOP.name:
            return f"{self.name} has no cutoff"
        # Parameters of all relevance measures are not listed.
        names = sorted({parameter.name for parameter in self.parameters} - {UNJUDGED_ITEMS.name})
        has = ", ".join(names) or "none"
        return f"{name!r} is not a parameter of {self.name}; it has {has}"


@dataclass(frozen=True)
class Measure:
    """A measure with values for all its parameters."""

    definition: Definition
    values: tuple[tuple[str, Value], ...] = ()  # of each parameter

    @property
    def name(self) -> str:
        """The canonical spelling: name, parameters that are not defaults, and k: ``AP@10``."""
        return self._spelled(always="")

    @property
    def heading(self) -> str:
        """The name, with p even if default, since defaults differ between tools."""
        return self._spelled(always="p" if self.definition.name == "RBP" else "")

    def _spelled(self, always: str) -> str:
        shown = {
            parameter.name: value
            for parameter, (_, value) in zip(self.definition.parameters, self.values, strict=True)
            if value != parameter.default or parameter.name == always
        }
        k = shown.pop("k", None)
        words = [f"{n}={v:.15g}" if isinstance(v, float) else f"{n}={v}" for n, v in shown.items()]
        inner = f"({', '.join(words)})" if words else ""
        return f"{self.definition.name}{inner}{'' if k is None else f'@{k}'}"

    def __str__(self) -> str:
        """The name."""
        return self.name

    @property
    def better(self) -> str:
        """The better direction of scores: higher or lower."""
        return self.definition.better

    @property
    def needs_order(self) -> bool:
        """Whether the ground truth has to order all pairs of items."""
        return self.definition.truth == "order"

    @property
    def depth(self) -> int | None:
        """The number of best items that it reads; None for all."""
        values = dict(self.values)
        k = values.get("k")
        return k if isinstance(k, int) and values.get(UNJUDGED_ITEMS.name) != _SKIP else None

    def compute(self, lists: Lists) -> Outcome:
        """Score all lists; see `Definition`."""
        values = dict(self.values)
        if values.pop(UNJUDGED_ITEMS.name, None) == _SKIP:
            lists = lists.judged()
        return self.definition.compute(lists, **values)


PROCAKE = "ProCAKE, Retriever Evaluation (documentation of the ProCAKE framework)"
ATANASOVA = (
    "Atanasova, Karadzhov, Kiprov, Nakov & Sebastiani (2019), Evaluating Variable-Length "
    "Multiple-Option Lists in Chatbots and Mobile Search, SIGIR"
)
UNORDERED = "The order does not matter."
# Reasons of undefined scores.
EMPTY_LIST = "the list is empty"
EMPTY_TRUTH = "the ground truth is empty"
FEW_COMMON = "list and ground truth have fewer than two items in common"
LIST_TIED = "all common items are tied in the list"
NOTHING_IN_COMMON = "list and ground truth have no item in common"
NOTHING_RELEVANT = "no item is relevant for this query"
NO_SIMILARITIES = "the list has no similarities, only an order"
TRUTH_TIED = "all common items are tied in the ground truth"
