"""What values in a study file can be, whatever its kind."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from quem.text import percent_hint, shown

__all__ = [
    "Count",
    "Id",
    "Level",
    "Line",
    "Numeral",
    "OneOrMore",
    "Part",
    "Section",
    "Seed",
    "StudyPart",
    "Years",
]

# Squares of it stay finite.
_MOST_YEARS = 1_000_000_000
_ALL = 100
_DECIMAL_COMMA = re.compile(r"\s*([+-]?\d+),(\d+)\s*", re.ASCII)
_PERCENT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*%\s*", re.ASCII)


def _printable(text: str) -> str:
    if not text.isprintable():
        message = "should be one line of printable text"
        raise ValueError(message)
    return text


def _years(value: float) -> float:
    if not 0 <= value < float("inf"):
        message = "should be a finite number, 0 or more"
        raise ValueError(message)
    if value > _MOST_YEARS:
        message = f"should be at most {_MOST_YEARS:,}; choose a longer experience_unit"
        raise ValueError(message)
    return value


def _share(value: float) -> float:
    if not 0 < value < 1:
        message = f"should be between 0 and 1{percent_hint(value)}"
        raise ValueError(message)
    return value


def _numeral(value: object) -> object:
    """Refuse what Python reads as a number and people do not, and the other way round."""
    if isinstance(value, str):
        if comma := _DECIMAL_COMMA.fullmatch(value):
            message = f"{shown(value)} has a decimal comma; write it as {comma[1]}.{comma[2]}"
            raise ValueError(message)
        if "_" in value:
            message = f"{shown(value)} is no number; write one such as 7"
            raise ValueError(message)
    return value


def _no_percent(value: object) -> object:
    if isinstance(value, str) and (percent := _PERCENT.fullmatch(value)):
        number = float(percent[1].replace(",", "."))
        message = f"{shown(value)} is no number; write it as {number / _ALL:g}"
        raise ValueError(message)
    return value


Id = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_printable)]
Line = Annotated[str, AfterValidator(_printable)]
Numeral = BeforeValidator(_numeral)
Years = Annotated[float, Numeral, AfterValidator(_years)]
Level = Annotated[float, Numeral, BeforeValidator(_no_percent), AfterValidator(_share)]


def _none_is_empty(value: object) -> object:
    return () if value is None else value


def _none_is_default(value: object) -> object:
    return {} if value is None else value


def _one_is_a_list(value: object) -> object:
    return (value,) if isinstance(value, str | float | int) else _none_is_empty(value)


Section = BeforeValidator(_none_is_empty)
Part = BeforeValidator(_none_is_default)
OneOrMore = BeforeValidator(_one_is_a_list)
Count = Annotated[int, Numeral, Field(ge=0, le=10_000_000)]


Seed = Annotated[int, Numeral, Field(ge=0, le=2**63 - 1)]


class StudyPart(BaseModel):
    """A mapping of a study file: no other keys, and nothing changes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
