"""Scores of lists of options.

With one correct option, a measure of a list depends on two numbers only: how many options it
has, and which of them is the correct one. So each pair of numbers is scored once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.lists import Measure, evaluate, measure
from quem.lists.measure import split_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.options.loading import OptionsStudy
    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Scored", "Scorer", "distinct_lists", "make_scorer"]

_LENGTH = "max_length"


@dataclass(frozen=True)
class Scorer:
    """The measures of an analysis.

    Parameters
    ----------
    names : tuple of str
        As the settings spell them.
    headline : int
        Which of them is the headline.
    max_length : int
        The longest list that there can be, for measures whose definition asks for it.
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    headline: int
    max_length: int

    def score(self, length: Integers, place: Integers) -> Scored:
        """Score lists by every measure.

        Parameters
        ----------
        length : array of int
            How many options each list has.
        place : array of int, the same shape
            Place of the correct option, from 1; 0 where it does not.
        """
        pairs, which = distinct_lists(length, place)
        run = {pair: _options(*pair) for pair in pairs}
        scores = evaluate(run, dict.fromkeys(run, (0,)), self.measures)
        return Scored(scores.values, scores.reason_codes, scores.reasons, which)


@dataclass(frozen=True)
class Scored:
    """The scores of lists, each distinct list once.

    Parameters
    ----------
    values : array of float, shape (distinct lists, measures)
        NaN where a measure is undefined.
    codes : array of int, the same shape
        Where in `reasons` it is said why.
    reasons : tuple of str
        The first is empty.
    which : array of int
        For each list that was scored, which of the distinct ones it is.
    """

    values: Floats
    codes: NDArray[np.intp]
    reasons: tuple[str, ...]
    which: Integers


def distinct_lists(length: Integers, place: Integers) -> tuple[list[tuple[int, int]], Integers]:
    """Give the distinct lists, as length and place, and which of them each list is."""
    width = int(length.max(initial=0)) + 1
    codes, back = np.unique((length * width + place).ravel(), return_inverse=True)
    return [divmod(code, width) for code in codes.tolist()], back.reshape(length.shape)


def _options(length: int, place: int) -> list[int]:
    """Make a list of options, of which 0 is the correct one."""
    options = list(range(1, length + 1))
    if place:
        options[place - 1] = 0
    return options


def make_scorer(data: OptionsStudy, settings: OptionsSettings, longest: int) -> Scorer:
    """Find the measures that the settings name.

    Parameters
    ----------
    longest : int
        How many options the longest list has.

    Raises
    ------
    QuemError
        There is no such measure, or the headline is one of which less is better.
    """
    max_length = settings.max_length or max(longest, 1)
    names: dict[str, Measure] = {}
    mistakes: list[Mistake] = []
    for name in (*settings.measures, settings.headline):
        try:
            names.setdefault(name, _with_length(name, max_length))
        except QuemError as error:
            key = "measures" if name in settings.measures else "headline"
            mistakes += [_wrong(data, settings, key, str(m.message)) for m in error.mistakes]
    headline = names.get(settings.headline)
    if headline is not None and headline.definition.better != "higher":
        message = f"of {settings.headline} less is better; name a measure of which more is"
        mistakes.append(_wrong(data, settings, "headline", message))
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    return Scorer(
        tuple(names), tuple(names.values()), list(names).index(settings.headline), max_length
    )


def _with_length(name: str, max_length: int) -> Measure:
    """Find a measure; one that asks for the longest length gets it by default."""
    chosen = measure(name)
    asks = any(parameter.name == _LENGTH for parameter in chosen.definition.parameters)
    spelled = split_spelling(name)
    told = spelled is not None and {_LENGTH, "m"} & spelled[1].keys()
    return measure(chosen, max_length=max_length) if asks and not told else chosen


def _wrong(data: OptionsStudy, settings: OptionsSettings, key: str, message: str) -> Mistake:
    """A setting that is wrong: in the study file, or as the caller gave it."""
    if getattr(settings, key) != getattr(data.spec.analysis, key):
        return Mistake("", key=key, message=message)
    return data.mistake(("analysis", key), message)
