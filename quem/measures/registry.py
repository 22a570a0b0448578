"""All measures, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.measures import (
    error,
    gain,
    hits,
    length_aware,
    pairs,
    precision,
    quality,
    rank_biased,
    rank_quality,
    ranks,
    reciprocal_rank,
)
from quem.measures.measure import Definition, Measure, split_spelling
from quem.text import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEFINITIONS", "definition", "measure"]

_FAMILIES = (
    hits,
    error,
    quality,
    pairs,
    ranks,
    length_aware,
    precision,
    reciprocal_rank,
    gain,
    rank_biased,
    rank_quality,
)

DEFINITIONS: Mapping[str, Definition] = {
    found.name: found for family in _FAMILIES for found in family.MEASURES
}
_FOLDED = {name.casefold(): found for name, found in DEFINITIONS.items()}


def definition(name: str) -> Definition:
    """Find a measure by its name, in whatever case.

    Parameters
    ----------
    name : str

    Raises
    ------
    QuemError
        There is none.
    """
    if name.casefold() not in _FOLDED:
        message = (
            f"there is no measure {name!r}{nearest(name, DEFINITIONS) or ';'} "
            "`quem measures` lists them"
        )
        raise QuemError([message])
    return _FOLDED[name.casefold()]


def measure(spelling: str | Measure, **values: object) -> Measure:
    """Find a measure, with values for its parameters.

    Parameters
    ----------
    spelling : str or Measure
        A name with parameters as in ``nDCG``, ``hits@5``, ``RBP(p=0.8)`` and
        ``AP(rel=2)@10``; ``@10`` is short for ``k=10``.
    **values
        Parameters by name, instead of those in the spelling.

    Raises
    ------
    QuemError
        There is no such measure or parameter, or a value is wrong.
    """
    if isinstance(spelling, Measure):
        return spelling.definition.with_values({**dict(spelling.values), **values})
    split = split_spelling(spelling) if isinstance(spelling, str) else None
    if split is None:
        message = f"{spelling!r} is no measure; spell it like AP, AP@10, RBP(p=0.8) or AP(rel=2)@10"
        raise QuemError([message])
    name, spelled = split
    return definition(name).with_values({**spelled, **values})
