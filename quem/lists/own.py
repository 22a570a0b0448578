"""Custom measures: a function that scores one list, made into a definition."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, replace
from itertools import groupby, permutations, product
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError, refuse
from quem.lists.measure import TOP, Definition, Outcome, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.lists.lists import Lists

# Greatest number of enumerated orders of tied items; beyond, they are sampled.
_MOST_ORDERS = 120
_NO_VALUE = "the function gives no value"
CALL = "function(items, truth)"


def define(
    function: Callable[..., object],
    *,
    name: str = "",
    better: str = "higher",
    low: float = -math.inf,
    high: float = math.inf,
) -> Definition:
    """Make a measure of a function that scores one list.

    Parameters
    ----------
    function : callable
        ``function(items, truth)`` gives the score of one list: `items` is the list, best first,
        and may be empty; `truth` a dict of item to grade or similarity, without those that it
        does not know. None or NaN where the measure is undefined. A parameter ``scores`` gets
        the scores of the items, or None where the list has only an order; a parameter ``k`` how
        many items are looked at. Others are parameters of the measure, and have a default that
        is a number or a text. The first line of the docstring says what the measure is.
    name : str
        By default that of the function.
    better : {"higher", "lower"}
    low, high : float
        The least and the greatest value.

    Returns
    -------
    Definition
        With a parameter k, also where the function has none: only the first k items are given
        to it.

    Raises
    ------
    QuemError
        The function cannot be called so, or the name cannot be one of a measure.

    Notes
    -----
    Where items of equal score are to be in every order (``ties="expected"``), the score is the
    mean over all orders of them, or, of more than 120, over 120 random ones, the same each time.
    """
    name = name or getattr(function, "__name__", "")
    if not name or name == "<lambda>":
        raise QuemError(
            f"{function!r} has no name; give the measure one, as in "
            'quem.lists.define(function, name="novelty")'
        )
    takes, parameters = _parameters(function, name)
    lines = (inspect.getdoc(function) or "").strip().splitlines()
    return Definition(
        name=name,
        summary=lines[0] if lines else "A measure of the user.",
        compute=_ListByList(function, name, takes),
        low=low,
        high=high,
        better=better,
        ties="With expected ties the function is asked for every order of equal items, and for "
        f"{_MOST_ORDERS} random ones where there are more.",
        notes="The function is given what is there, also an empty list. Undefined where it gives "
        "None or NaN.",
        citation=f"the function {name}",
        parameters=parameters,
    )


def _parameters(
    function: Callable[..., object], name: str
) -> tuple[frozenset[str], tuple[Parameter, ...]]:
    """The function's arguments besides list and ground truth, and the measure's parameters."""
    try:
        signature = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Some functions in C have no signature.
        return frozenset(), (TOP,)
    by_place = [p for p in signature if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(by_place) < 2 and not any(p.kind is p.VAR_POSITIONAL for p in signature):  # noqa: PLR2004
        raise QuemError(f"{name}: the function should take a list and its ground truth: {CALL}")
    takes: set[str] = set()
    parameters = [TOP]
    mistakes = []
    for one in signature:
        if one in by_place[:2] or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        takes.add(one.name)
        default = one.default
        if one.name == "k":
            is_count = isinstance(default, int) and not isinstance(default, bool)
            parameters[0] = replace(TOP, default=default) if is_count else TOP
        elif one.name == "scores":
            continue
        elif isinstance(default, bool) or not isinstance(default, int | float | str):
            mistakes.append(
                f"{name}: the parameter {one.name} should have a default that is a number or a "
                f"text; a function that is a measure is called as {CALL}"
            )
        else:
            kind = next(kind for kind in (str, int, float) if isinstance(default, kind))
            parameters.append(Parameter(one.name, default, "of the function", kind=kind))
    refuse(mistakes)
    return frozenset(takes), tuple(parameters)


@dataclass(frozen=True)
class _ListByList:
    """Scores lists by a function of one list."""

    function: Callable[..., object]
    name: str
    takes: frozenset[str]  # arguments of the function besides list and ground truth

    def __call__(self, lists: Lists, **values: object) -> Outcome:
        """Score all lists; see `Definition`."""
        scores = np.full(len(lists), np.nan)
        for query in range(len(lists)):
            scores[query] = self._score(lists, query, values)
        return scores, ((np.isnan(scores), _NO_VALUE),)

    def _score(self, lists: Lists, query: int, values: dict[str, object]) -> float:
        """The score of one list: with expected ties, the mean over their orders."""
        items, numbers, truth = lists.of_query(query)
        given = {name: value for name, value in values.items() if name != "k" or "k" in self.takes}
        k = values["k"]
        cut = slice(k if isinstance(k, int) else None)
        place = f"{self.name}: query {lists.queries[query]!r}: the function"
        scores = []
        for order in _orders(lists, query, cut.stop or len(items)):
            listed = [items[at] for at in order][cut]
            if "scores" in self.takes:
                given["scores"] = None if numbers is None else numbers[cut]
            try:
                output = self.function(listed, dict(truth), **given)
            except (Exception, SystemExit) as error:
                from quem.io.custom_functions import raised

                raise QuemError(f"{place} {raised(error)}") from error
            scores.append(_number(output, place))
        return sum(scores) / len(scores)


def _number(output: object, place: str) -> float:
    if output is None:
        return math.nan
    if isinstance(output, Real | np.bool_) or (
        isinstance(output, np.ndarray) and output.ndim == 0 and output.dtype.kind in "biuf"
    ):
        return float(output)
    text = repr(output)
    short = text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004  fits a message
    raise QuemError(
        f"{place} gave {short}, where a number should be, or None where it is undefined"
    )


def _orders(lists: Lists, query: int, looked_at: int) -> Iterator[list[int]]:
    """The orders of the items of a list; ties beyond the cutoff keep theirs."""
    start, n = int(lists.run.starts[query]), int(lists.run.sizes[query])
    # Without ties, each item has a position of its own.
    first = lists.places.first[start : start + n].tolist()
    groups = [[at for at, _ in tied] for _, tied in groupby(enumerate(first), key=itemgetter(1))]
    head = [group for group in groups if group[0] < looked_at]
    tail = [at for group in groups[len(head) :] for at in group]
    if math.prod(math.factorial(min(len(group), 6)) for group in head) <= _MOST_ORDERS:
        for parts in product(*map(permutations, head)):
            yield [at for part in parts for at in part] + tail
        return
    # The same for each list, whatever else is scored.
    rng = np.random.default_rng(0)
    for _ in range(_MOST_ORDERS):
        yield [at for group in head for at in rng.permutation(group).tolist()] + tail
