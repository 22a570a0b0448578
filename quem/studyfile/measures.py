"""The settings of scores, and custom measures: Python functions among those of a study file."""

from __future__ import annotations

import re
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
)

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainSerializer, Tag

from quem.errors import Mistake, QuemError, refuse
from quem.io.custom_functions import BrokenEntry, find_entry, load_entry
from quem.io.text import shown
from quem.studyfile.fields import (
    Count,
    FunctionName,
    Level,
    Line,
    Numeral,
    OneOrMore,
    Seed,
    StudyPart,
    allowed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from quem.studyfile.document import Loc

Made = TypeVar("Made")
Ties = Literal["expected", "given", "trec"]
_FORMER_TIES = {"input": "given", "id": "trec"}


def _spellable(name: str) -> str:
    if name and not re.fullmatch(r"\w+", name):
        raise ValueError(
            f"{shown(name)} cannot be the name of a measure; use letters, digits, and _"
        )
    return name


class OwnMeasure(StudyPart):
    """A custom measure of a study."""

    python: FunctionName = Field(
        description="The function, or definition, in a file beside the study file."
    )
    name: Annotated[
        Line,
        AfterValidator(_spellable),
        allowed("letters, digits, and `_`"),
    ] = Field("", description="Its name in the table; by default that of the function.")
    k: Annotated[int | None, Field(ge=1, le=1_000_000_000), Numeral] = Field(
        None, description="Number of best items it gets; all by default."
    )
    better: Annotated[
        Literal["higher", "lower"] | None,
        allowed("`higher`, `lower`"),
    ] = Field(
        None,
        description="Better direction of the scores; by default higher, or that of the definition.",
    )

    @property
    def short_name(self) -> str:
        """Its name without k."""
        return self.name or re.split("[.:]", self.python)[-1]

    @property
    def spelling(self) -> str:
        """Its name as that of another measure is spelled."""
        return self.short_name + ("" if self.k is None else f"@{self.k}")


def spellings(named: Iterable[str | OwnMeasure]) -> tuple[str, ...]:
    """The spellings of all measures in settings; custom ones never mean a built-in one."""
    return tuple(one if isinstance(one, str) else f"own.{one.spelling}" for one in named)


def _named(named: Iterable[str | OwnMeasure]) -> tuple[str, ...]:
    return tuple(one if isinstance(one, str) else one.spelling for one in named)


def _listed(value: object) -> object:
    """Separate the measures of a text, as in "nDCG@10 map recall@100"."""
    if isinstance(value, str):
        return tuple(re.split(r"[\s,]+(?![^(]*\))", value.strip()))
    return value


def _form(value: object) -> str:
    return "own" if isinstance(value, dict | OwnMeasure) else "spelled"


MeasureNames = Annotated[
    tuple[
        Annotated[
            Annotated[Line, Tag("spelled")] | Annotated[OwnMeasure, Tag("own")],
            Discriminator(_form),
        ],
        ...,
    ],
    OneOrMore,
    BeforeValidator(_listed),
    # In analysis.json each has its name.
    PlainSerializer(_named, return_type=tuple[str, ...], when_used="json"),
    allowed("text, or mapping with `python`; one, or a list"),
]


def _own(named: Iterable[str | OwnMeasure]) -> Iterator[tuple[Loc, OwnMeasure]]:
    for at, one in enumerate(named):
        if isinstance(one, OwnMeasure):
            yield ("analysis", "measures", at), one


def find_own_measures(
    named: Iterable[str | OwnMeasure],
    folder: Path,
    mistake: Callable[[Loc, str], Mistake],
    *,
    code: bool,
) -> Iterator[Mistake]:
    """The errors in custom measures, found without running code."""
    known: dict[str, OwnMeasure] = {}
    for loc, one in _own(named):
        try:
            find_entry(one.python, folder, code=code)
        except QuemError as error:
            for wrong in error.mistakes:
                yield mistake((*loc, "python"), wrong.message)
        first = known.setdefault(one.short_name.casefold(), one)
        if first.model_copy(update={"k": one.k}) != one:
            message = f"another measure has the name {shown(one.short_name)}; give each its own"
            yield mistake((*loc, "name"), message)


class OwnMeasures(NamedTuple, Generic[Made]):
    """The custom measures of a study."""

    by_name: dict[str, Made]
    files: tuple[Path, ...]  # files with their code


def load_own_measures(
    named: Iterable[str | OwnMeasure],
    folder: Path,
    mistake: Callable[[Loc, str], Mistake],
    make: Callable[..., Made],
) -> OwnMeasures[Made]:
    """Load the custom measures; this runs the code of the study."""
    made: dict[str, Made] = {}
    files: dict[Path, None] = {}
    mistakes: list[Mistake] = []
    for loc, one in _own(named):
        given: dict[str, Any] = one.model_dump(include={"better"})
        try:
            entry = load_entry(one.python, folder, called=False)
            files |= dict.fromkeys(entry.sources)
            citation = f"{one.python} of the study"
            made[one.short_name] = make(
                entry.target, name=one.short_name, citation=citation, **given
            )
        except BrokenEntry as error:
            mistakes.append(mistake((*loc, "python"), str(error)))
        except QuemError as error:
            mistakes += [mistake((*loc, "python"), wrong.message) for wrong in error.mistakes]
    refuse(mistakes)
    return OwnMeasures(made, tuple(files))


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
