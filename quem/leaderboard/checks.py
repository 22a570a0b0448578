"""Warnings about a leaderboard, as a table of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import WarningRules
from quem.wording import format_count, format_percent, join_words, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.leaderboard.contrasts import Contrast
    from quem.leaderboard.result import LeaderboardFindings

_FEW = 25

_RULES: WarningRules[LeaderboardFindings] = WarningRules()


def find_warnings(findings: LeaderboardFindings) -> Iterator[StudyWarning]:
    """Find all warnings about a leaderboard."""
    yield from _RULES.find(findings)


def _queries(findings: LeaderboardFindings, count: int) -> str:
    return format_count(count, findings.table.nouns[1])


@_RULES.add("few-common-queries", remedy=f"use {_FEW} or more")
def _few(findings: LeaderboardFindings) -> Iterator[str]:
    n = len(findings.table.queries)
    if n < _FEW:
        yield (
            f"systems are compared on only {_queries(findings, n)}, so that only large differences "
            "are found, and bootstrap intervals are too narrow"
        )


@_RULES.add("few-defined")
def _few_defined(findings: LeaderboardFindings) -> Iterator[str]:
    for at, name in enumerate(findings.names):
        few = [
            findings.measure(m)
            for m in np.flatnonzero(
                (findings.defined[at] < findings.fewest) & (findings.defined[at] > 0)
            ).tolist()
        ]
        if few:
            yield (
                f"{name} is not ranked by {join_words(few)}: scores are undefined on more than "
                f"half of the {_queries(findings, len(findings.table.queries))}"
            )


@_RULES.add("not-on-common-queries")
def _not_common(findings: LeaderboardFindings) -> Iterator[str]:
    ranked = ~np.isnan(findings.oriented[:, findings.headline])
    pairs = [
        f"{findings.names[one.first]} and {findings.names[one.second]}"
        for one in findings.contrasts_by(findings.headline)
        if ranked[one.first] and ranked[one.second] and one.n < findings.fewest
    ]
    if pairs:
        yield (
            f"no test of {join_words(pairs, 4)}: both have a score on fewer than half of the "
            f"{plural(findings.table.nouns[1])}, so that they share a letter without being compared"
        )


@_RULES.add("measures-conflict", remedy="state the measure before seeing results")
def _conflicts(findings: LeaderboardFindings) -> Iterator[str]:
    found: dict[tuple[int, int], list[Contrast]] = {}
    for one in findings.contrasts:
        found.setdefault((one.first, one.second), []).append(one)
    both = [pair for pair, own in found.items() if {1, -1} <= {one.verdict for one in own}]
    for pair in both[:4]:
        first, second = (findings.names[at] for at in pair)
        by_first, by_second = (
            join_words(
                (findings.measure(one.measure) for one in found[pair] if one.verdict == verdict), 4
            )
            for verdict in (-1, 1)
        )
        yield (
            f"which of {first} and {second} is better depends on the measure: at "
            f"{format_percent(findings.settings.level)} {first} is better by {by_first}, and "
            f"{second} by {by_second}"
        )
