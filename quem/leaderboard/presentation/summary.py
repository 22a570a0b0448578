"""The terminal summary: first the result, then what it is based on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.wording import (
    align_columns,
    format_count,
    format_p,
    format_percent,
    join_words,
    measured,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.leaderboard.result import LeaderboardFindings

DIGITS = 3
_MOST_ROWS = 30
_MOST_NAMED = 4
_PAIR = 2


def summary_text(findings: LeaderboardFindings) -> str:
    """Write the summary of a comparison as text."""
    lines = [title_of(findings), ""]
    lines += _board(findings)
    lines += wrap(f"{best_text(findings)}")
    if len(findings.names) == _PAIR:
        lines += ["", f"{findings.names[1]} − {findings.names[0]}", *wrap(pair_text(findings))]
    lines += ["", "Based on", *wrap(basis(findings))]
    return "\n".join(lines)


def title_of(findings: LeaderboardFindings) -> str:
    """Give the title of a report."""
    more = len([study for study in findings.studies if study]) - 1
    others = f" and {format_count(more, 'more study')}" if more > 0 else ""
    return f"Compared: {findings.table.title}{others}"


def span(low: float, high: float) -> str:
    """Write an interval; "–" where there is none."""
    return "–" if np.isnan(low) else f"{measured(low, DIGITS)} to {measured(high, DIGITS)}"


def _board(findings: LeaderboardFindings) -> Iterator[str]:
    at = findings.headline
    lower = ", lower is better" if findings.table.measures[at].better == "lower" else ""
    level = format_percent(findings.settings.level)
    yield f"Leaderboard by {findings.measure(at)}{lower} ({level} intervals)"
    letters = findings.letters(at)
    rows = [
        (
            "–" if (place := findings.place(system, at)) is None else str(place),
            findings.names[system],
            measured(float(findings.mean[system, at]), DIGITS),
            _in_brackets(findings, system),
            letters[system],
        )
        for system in findings.order(at)[:_MOST_ROWS]
    ]
    yield from (f"  {line}" for line in align_columns(rows, words=(1, 3, 4)))
    if len(findings.names) > _MOST_ROWS:
        yield f"  and {len(findings.names) - _MOST_ROWS} more: see leaderboard.csv"


def _in_brackets(findings: LeaderboardFindings, system: int) -> str:
    at = system, findings.headline
    return "" if np.isnan(findings.low[at]) else f"({span(findings.low[at], findings.high[at])})"


def best_text(findings: LeaderboardFindings) -> str:
    """Say in one sentence which system is best, and from which it cannot be distinguished."""
    at = findings.headline
    order = [s for s in findings.order(at) if not np.isnan(findings.oriented[s, at])]
    level = format_percent(findings.settings.level)
    if not order:
        return f"No {findings.table.nouns[0]} is ranked by {findings.measure(at)}"
    best, *others = order
    if not any(one.is_tested for one in findings.contrasts_by(at)):
        return f"{findings.names[best]} has the best mean; there is no test"
    near = [
        other
        for other in others
        if findings.contrast(min(best, other), max(best, other), at).verdict == 0
    ]
    if not near:
        than = findings.names[others[0]] if len(others) == 1 else f"all {len(others)} others"
        return f"{findings.names[best]} is better than {than} (at {level})"
    what = join_words([findings.names[other] for other in near], _MOST_NAMED)
    if len(near) == len(others) > 1:
        what = f"any of the {len(others)} others"
    text = f"{findings.names[best]} has the best mean, and cannot be distinguished from {what}"
    rest = "; systems that share a letter cannot be distinguished" if len(others) > 1 else ""
    return f"{text} (at {level}{rest})"


def pair_text(findings: LeaderboardFindings) -> str:
    """Say how far the second of two systems is from the first, by the headline."""
    one = findings.contrast(0, 1, findings.headline)
    if not one.n:
        return f"no {findings.table.nouns[1]} where both have a score"
    text = f"{measured(one.difference, DIGITS, sign=True)} by {findings.measure(findings.headline)}"
    if not np.isnan(one.interval[0]):
        level = format_percent(findings.settings.level)
        text += f" ({level} interval {span(*one.interval)})"
    if one.is_tested:
        text += f", {format_p(one.p)}"
    text += (
        f"; better on {one.better:,}, worse on {one.worse:,}, equal on {one.equal:,} of "
        f"{format_count(one.n, findings.table.nouns[1])}"
    )
    if not one.is_tested:
        return f"{text}; too few for a test" if findings.settings.permutations else text
    first, second = findings.names
    if one.verdict:
        return f"{text}: {second} is {'better' if one.verdict > 0 else 'worse'} than {first}"
    return f"{text}: no difference is shown"


def basis(findings: LeaderboardFindings) -> str:
    """Say what the numbers are based on."""
    table = findings.table
    system, query = table.nouns
    text = (
        f"{format_count(len(table.queries), query)}, {format_count(len(table.entries), system)}, "
        f"{format_count(len(table.measures), 'measure')}"
    )
    studies = len(findings.studies)
    text += f", {format_count(studies, 'study')}" if studies > 1 else ""
    if not findings.settings.permutations:
        return text
    if len(table.entries) == _PAIR:
        return f"{text}; paired randomization test"
    return (
        f"{text}; p values adjusted for all {findings.n_pairs:,} pairs by a joint randomization "
        f"test ({findings.settings.permutations:,} exchanges)"
    )
