"""What a measure is: a definition with parameters, and a measure with their values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from quem.lists.lists import Lists

Value = int | float | str | None
# The scores of the queries, and for each way to be undefined: where, and the reason.
Outcome = tuple["NDArray[np.float64]", tuple[tuple["NDArray[np.bool_]", str], ...]]
_SPELLED = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*(?:@\s*([^\s@]+))?\s*")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure.

    Parameters
    ----------
    default : int, float, str or None
        None where the measure does without it.
    meaning : str
        A phrase.
    kind : type
        int, float or str.
    least, most : float, optional
        The bounds of a number, inclusive.
    choices : tuple of str
        What a word can be.
    """

    name: str
    default: Value
    meaning: str
    kind: type[int | float | str] = int
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()

    def read(self, argument: object) -> Value:
        """Check a value, which may be spelled as text.

        Raises
        ------
        QuemError
            Without the name of the measure.
        """
        if argument is None:
            return self.default
        value = self._converted(argument)
        low, high = self.least, self.most
        wrong = (
            value is None
            or (self.choices and value not in self.choices)
            or (isinstance(value, float) and not abs(value) < float("inf"))
            or (low is not None and isinstance(value, int | float) and value < low)
            or (high is not None and isinstance(value, int | float) and value > high)
        )
        if wrong:
            raise QuemError(f"{self.name}: should be {self.allowed}, and not {argument!r}")
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
        if self.kind is float:
            return number
        return int(number) if number.is_integer() else None

    @property
    def allowed(self) -> str:
        """What the parameter can be, in words."""
        if self.choices:
            return " or ".join(self.choices)
        noun = "a whole number" if self.kind is int else "a number"
        if self.least is not None and self.most is not None:
            return f"{noun} from {self.least:g} to {self.most:g}"
        if self.least is not None:
            return f"{noun} of at least {self.least:g}"
        return noun


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A measure as the literature defines it, or its user, without values for its parameters.

    Parameters
    ----------
    name : str
        Letters, digits, and _.
    family : {"retrieval", "relevance", "options", "dialogue", "own"}
        What is scored, and so which example explains it; see `quem.lists.explanation`.
    summary : str
        What it says about a list, in one sentence.
    formula : str
        The definition, in plain text.
    compute : callable
        Takes `Lists` and the parameters, and scores all lists at once: gives an array with a
        score of each list, and, as a tuple of pairs, where it is undefined (an array of bool)
        and why.
    low, high : float
        The least and the greatest value; infinite where there is no bound.
    better : {"higher", "lower"}
    truth : {"order", "grades", "both"}
        What of the ground truth it uses: the place of each item there, which has none where
        grades are equal; the grades, similarities or relevance themselves; or an order in which
        equal grades are ties.
    ties, short, unknown, undefined : str
        What happens where scores are equal, where a list is short or empty, to items that the
        ground truth does not have, and when there is no score.
    shown_with : tuple of str
        With which parameters the example shows it, as in ``@2``; without any by default.
    """

    name: str
    summary: str
    compute: Callable[..., Outcome] = field(repr=False)
    family: str = "own"
    formula: str = ""
    low: float = -math.inf
    high: float = math.inf
    better: str = "higher"
    truth: Literal["order", "grades", "both"] = "grades"
    ties: str = ""
    short: str = ""
    unknown: str = ""
    undefined: str = ""
    citation: str = ""
    parameters: tuple[Parameter, ...] = ()
    shown_with: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        """Refuse what the first use would stumble over.

        Raises
        ------
        QuemError
            The name cannot be spelled, or a value is none of those allowed.
        """
        mistakes = []
        if not re.fullmatch(r"\w+", self.name):
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
        if mistakes:
            raise QuemError(mistakes)

    @property
    def shown(self) -> tuple[str, ...]:
        """The measures that the example shows, as they are spelled."""
        return tuple(f"{self.name}{spelling}" for spelling in self.shown_with)

    def with_values(self, arguments: Mapping[str, object]) -> Measure:
        """Give values to the parameters; others have their defaults.

        Raises
        ------
        QuemError
            A parameter is unknown, or its value wrong.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        mistakes = [self._no_parameter(name) for name in arguments if name not in known]
        values: dict[str, Value] = {}
        for name, parameter in known.items():
            try:
                values[name] = parameter.read(arguments.get(name))
            except QuemError as error:
                mistakes += [f"{self.name}: {mistake}" for mistake in error.mistakes]
        if mistakes:
            raise QuemError(mistakes)
        return Measure(self, tuple(values.items()))

    def _no_parameter(self, name: str) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        takes = f"it takes {names}" if names else "it takes none"
        return f"{self.name}: there is no parameter {name!r}; {takes}"


@dataclass(frozen=True)
class Measure:
    """A measure with values for all its parameters.

    Parameters
    ----------
    values : tuple of (str, value)
        Of each parameter.
    """

    definition: Definition
    values: tuple[tuple[str, Value], ...] = ()

    @property
    def name(self) -> str:
        """As it is spelled: the name, parameters other than their defaults, and k: ``AP@10``."""
        changed = {
            parameter.name: value
            for parameter, (_, value) in zip(self.definition.parameters, self.values, strict=True)
            if value != parameter.default
        }
        k = changed.pop("k", None)
        words = [
            f"{n}={v:.15g}" if isinstance(v, float) else f"{n}={v}" for n, v in changed.items()
        ]
        return (
            self.definition.name
            + (f"({', '.join(words)})" if words else "")
            + ("" if k is None else f"@{k}")
        )

    def __str__(self) -> str:
        """The name."""
        return self.name

    @property
    def needs_order(self) -> bool:
        """Whether the ground truth has to say which of any two items is the better one.

        Also those that go without while they look at all items need it to find the k best.
        """
        cut = dict(self.values).get("k") is not None
        return self.definition.truth == "order" or (self.definition.truth == "both" and cut)

    @property
    def depth(self) -> int | None:
        """How many of the best items of a list it looks at; None for all of them."""
        values = dict(self.values)
        k = values.get("k")
        return k if isinstance(k, int) and values.get(UNJUDGED_ITEMS.name) != _SKIP else None

    def compute(self, lists: Lists) -> Outcome:
        """Score all lists; see `Definition`."""
        values = dict(self.values)
        if values.pop(UNJUDGED_ITEMS.name, None) == _SKIP:
            lists = lists.judged()
        return self.definition.compute(lists, **values)


def split_spelling(text: str) -> tuple[str, dict[str, str]] | None:
    """Split ``name(parameter=value, ...)@k`` into the name and the parameters."""
    match = _SPELLED.fullmatch(text)
    if match is None:
        return None
    values: dict[str, str] = {}
    for part in filter(None, map(str.strip, (match[2] or "").split(","))):
        name, equals, value = map(str.strip, part.partition("="))
        if not (equals and name and value) or name in values:
            return None
        values[name] = value
    if match[3]:
        if "k" in values:
            return None
        values["k"] = match[3]
    return match[1], values


PROCAKE = "ProCAKE, Retriever Evaluation (documentation of the ProCAKE framework)"

ATANASOVA = (
    "Atanasova, Karadzhov, Kiprov, Nakov & Sebastiani (2019), Evaluating Variable-Length "
    "Multiple-Option Lists in Chatbots and Mobile Search, SIGIR"
)

LIU = "Liu, Moffat, Baldwin & Zhang (2016), Quit While Ahead: Evaluating Truncated Rankings, SIGIR"

TIES_BY_ORDER = (
    "With items of equal score, the score is the mean over all their orders, in closed form; "
    "with given ties they keep their order, and with those of trec_eval the last id is first."
)

TRUTH_TIES_BY_ORDER = (
    f"{TIES_BY_ORDER} The same holds for the ground truth, whose order it needs: grades that are "
    "equal have none."
)

UNJUDGED = "An item that the ground truth does not have is not relevant, and holds its position."
EMPTY_LIST = "the list is empty"
NOTHING_RELEVANT = "no item is relevant for this query"
FEW_COMMON = "list and ground truth have fewer than two items in common"
LIST_TIED = "all common items are tied in the list"
NO_SIMILARITIES = "the list has no similarities, only an order"
TRUTH_TIED = "all common items are tied in the ground truth"
TOP = Parameter("k", None, "how many of the best items are looked at; all by default", least=1)
_SKIP = "skip"
UNJUDGED_ITEMS = Parameter(
    "unjudged",
    "count",
    "whether items that nobody judged hold their positions, or are taken out of the list first",
    kind=str,
    choices=("count", _SKIP),
)
GRADE = Parameter("rel", 1.0, "from which grade on an item is relevant", kind=float)
