"""Refuse a word of earlier versions, naming its replacement."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field

from quem.studyfile.fields import Count, Level, Line, OneOrMore, Seed, StudyPart
from quem.studyfile.measures import MeasureNames  # noqa: TC001  pydantic reads it

Ties = Literal["expected", "given", "trec"]
_FORMER_TIES = {"input": "given", "id": "trec"}


def _ties(word: object) -> object:
    """Refuse a word of earlier versions with the one that took its place."""
    if isinstance(word, str) and word in _FORMER_TIES:
        raise ValueError(
            f"should be {' or '.join(get_args(Ties))}; {word} is now {_FORMER_TIES[word]}"
        )
    return word


TiedCases = Annotated[Ties, BeforeValidator(_ties)]


class ScoredSettings(StudyPart):
    """What is computed, and how uncertain it is."""

    gone: ClassVar[dict[str, str]] = {
        "headline": "the first of `measures` is the headline",
        **dict.fromkeys(
            ("bootstrap", "permutations"), "`samples: 0` leaves out intervals and tests"
        ),
    }

    measures: MeasureNames = Field(
        (),
        title="NAME",
        description="Measures, as [List measures](../reference/measures.md) spells them, or "
        "your own; the first is the headline.",
    )
    claims: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (),
        title="CLAIM",
        description="Claims to certify, such as `new > old by AP`; by default that the best "
        "system is better than the next.",
    )
    level: Level = Field(
        0.95, description="Level of the intervals; a p of at most 1 − level is significant."
    )
    samples: Count = Field(
        9999,
        description="Random patterns of the joint test above 14 queries; 0 for neither intervals "
        "nor tests.",
    )
    seed: Seed = Field(0, description="Random seed.")
