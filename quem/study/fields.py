"""What values in a study file can be, whatever its kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from quem.io.text import percent_hint, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

__all__ = [
    "LONGEST_LIST",
    "Count",
    "Id",
    "Level",
    "Line",
    "Numeral",
    "OneOrMore",
    "PairCounts",
    "Part",
    "Section",
    "Seed",
    "StudyPart",
    "Years",
    "block_sizes",
    "deal_blocks",
]


# Squares of it stay finite.
_MOST_YEARS = 1_000_000_000


_ALL = 100


_DECIMAL_COMMA = re.compile(r"\s*([+-]?\d+),(\d+)\s*", re.ASCII)


_PERCENT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*%\s*", re.ASCII)


def _printable(text: str) -> str:
    if not text.isprintable():
        message = "must be one line of printable text"
        raise ValueError(message)
    return text


def _years(value: float) -> float:
    if not 0 <= value < float("inf"):
        message = f"{value:g} is not a finite number, 0 or more"
        raise ValueError(message)
    if value > _MOST_YEARS:
        message = f"must be at most {_MOST_YEARS:,}; choose a longer experience_unit"
        raise ValueError(message)
    return value


def _share(value: float) -> float:
    if not 0 < value < 1:
        message = f"{value:g} is not between 0 and 1{percent_hint(value)}"
        raise ValueError(message)
    return value


def _numeral(value: object) -> object:
    """Refuse what Python reads as a number and people do not, and the other way round."""
    if isinstance(value, str):
        if comma := _DECIMAL_COMMA.fullmatch(value):
            message = f"{shown(value)} has a decimal comma; use {comma[1]}.{comma[2]}"
            raise ValueError(message)
        if "_" in value:
            message = f"{shown(value)} is not a number; use a value such as 7"
            raise ValueError(message)
    return value


def _no_percent(value: object) -> object:
    if isinstance(value, str) and (percent := _PERCENT.fullmatch(value)):
        number = float(percent[1].replace(",", "."))
        message = f"{shown(value)} is not a number; use {number / _ALL:g}"
        raise ValueError(message)
    return value


Id = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_printable)]


Line = Annotated[str, AfterValidator(_printable)]


Numeral = BeforeValidator(_numeral)


Years = Annotated[
    float,
    Numeral,
    AfterValidator(_years),
    WithJsonSchema({"type": "number", "minimum": 0}),
]


Level = Annotated[
    float,
    Numeral,
    BeforeValidator(_no_percent),
    AfterValidator(_share),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]


def _none_is_empty(value: object) -> object:
    return () if value is None else value


def _none_is_default(value: object) -> object:
    return {} if value is None else value


def _one_is_a_list(value: object) -> object:
    return (value,) if isinstance(value, str | float | int) else _none_is_empty(value)


Section = BeforeValidator(_none_is_empty)


Part = BeforeValidator(_none_is_default)


OneOrMore = BeforeValidator(_one_is_a_list)


Count = Annotated[int, Field(ge=0, le=10_000_000), Numeral]


Seed = Annotated[int, Field(ge=0, le=2**63 - 1), Numeral]


class StudyPart(BaseModel):
    """A mapping of a study file: no other keys, and nothing changes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


# As many solutions as a judge can handle in one list.
LONGEST_LIST = 12


# Exchanges that are tried, a solver: more hardly balance better.
_TRIED = 30


def block_sizes(n: int, block_size: int) -> list[int]:
    """Give the sizes of the blocks into which n solutions are dealt.

    Parameters
    ----------
    block_size : int
        Most solutions in a block; at least 2.

    Returns
    -------
    list of int
        Larger ones first. Each block shares one solution with the next, so that they add up
        to n and the number of blocks less one.
    """
    if n <= block_size:
        return [n]
    count = ceil((n - 1) / (block_size - 1))
    size, more = divmod(n + count - 1, count)
    return [size + 1] * more + [size] * (count - more)


@dataclass
class PairCounts:
    """How often each pair of solvers met in a block."""

    times: dict[frozenset[str], int] = field(default_factory=dict)

    def add(self, block: Iterable[str]) -> None:
        """Count the pairs of a block."""
        for pair in map(frozenset, combinations(block, 2)):
            self.times[pair] = self.times.get(pair, 0) + 1


def deal_blocks(
    solvers: Sequence[str], block_size: int, met: PairCounts, rng: Random
) -> list[tuple[str, ...]]:
    """Deal the solutions of a problem to a judge.

    Parameters
    ----------
    solvers : sequence of str
        Those who have a solution, each once.
    met : PairCounts
        The blocks of other judges and problems, to which these are added.

    Returns
    -------
    list of tuple of str
        Each solver is in one block or in two that follow on each other; in no order that
        says anything.
    """
    sizes = block_sizes(len(solvers), block_size)
    rng.shuffle(sizes)
    row = list(solvers)
    rng.shuffle(row)
    ends = _ends(sizes)
    if len(sizes) > 1:
        _exchange(row, ends, met, rng)
    blocks = [tuple(row[start:end]) for start, end in ends]
    for block in blocks:
        met.add(block)
    rng.shuffle(blocks)
    return blocks


def _ends(sizes: list[int]) -> list[tuple[int, int]]:
    """Where blocks of these sizes start and end in the row."""
    ends, start = [], 0
    for size in sizes:
        ends.append((start, start + size))
        start += size - 1
    return ends


def _exchange(row: list[str], ends: list[tuple[int, int]], met: PairCounts, rng: Random) -> None:
    """Exchange solvers in the row as long as those who share blocks then met less often."""
    seen = [[met.times.get(frozenset((a, b)), 0) for b in row] for a in row]
    held = list(range(len(row)))
    # A solver who closes one block and opens the next has the places of both around him.
    near = [
        [q for start, end in ends if start <= p < end for q in range(start, end) if q != p]
        for p in range(len(row))
    ]
    for _ in range(_TRIED * len(row)):
        p, q = rng.sample(range(len(row)), 2)
        at_p, at_q = seen[held[p]], seen[held[q]]
        gain = sum(at_p[held[o]] - at_q[held[o]] for o in near[p] if o != q)
        gain += sum(at_q[held[o]] - at_p[held[o]] for o in near[q] if o != p)
        if gain > 0:
            held[p], held[q] = held[q], held[p]
    row[:] = [row[index] for index in held]
