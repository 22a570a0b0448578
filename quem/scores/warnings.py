"""Warnings about any table of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import WarningRules
from quem.wording import format_count, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.scores.table import ScoreTable

_FEW = 25
_RULES: WarningRules[ScoreTable] = WarningRules()


def find_warnings(table: ScoreTable) -> tuple[StudyWarning, ...]:
    """The warnings about the input and the scores."""
    return (*table.warnings, *_RULES.find(table))


@_RULES.add("few-queries", remedy=f"use {_FEW} or more")
def _few_queries(table: ScoreTable) -> Iterator[str]:
    n = len(table.queries)
    # Without samples there is no inference.
    if n < _FEW and table.inference.samples:
        yield (
            f"there {'is' if n == 1 else 'are'} only {format_count(n, table.nouns.query)}, so that "
            "only large differences are found, and bootstrap intervals are too narrow"
        )


@_RULES.add("few-defined")
def _few_defined(table: ScoreTable) -> Iterator[str]:
    few = ~table.ranked & (table.means.n > 0)
    for at in np.flatnonzero(few.any(axis=1)).tolist():
        measures = [table.columns[layer] for layer in np.flatnonzero(few[at]).tolist()]
        yield (
            f"{table.labels[at]} is neither ranked nor tested by {join_words(measures)}: scores "
            f"are undefined on more than half of the {table.nouns.queries}"
        )


@_RULES.add("unlike-queries")
def _unlike_queries(table: ScoreTable) -> Iterator[str]:
    unlike = [table.columns[layer] for layer in np.flatnonzero(~table.comparable).tolist()]
    if unlike:
        yield (
            f"by {join_words(unlike)}, {table.nouns.system}s have scores on different "
            f"{table.nouns.queries}: none is called best or worse; differences are over the "
            f"{table.nouns.queries} that both have"
        )
