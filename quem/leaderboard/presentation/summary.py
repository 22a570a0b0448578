"""The terminal summary: first the result, then what it is based on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.leaderboard.presentation.columns import changes_of
from quem.wording import (
    align_columns,
    format_count,
    format_number,
    format_p,
    format_percent,
    join_words,
    measured,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.leaderboard.result import LeaderboardFindings

DIGITS = 3
_MOST_ROWS = 30
_MOST_CHANGES = 5
_MOST_NAMED = 4
_PAIR = 2


def summary_text(findings: LeaderboardFindings) -> str:
    """Write the summary of a comparison as text."""
    lines = [title_of(findings), ""]
    lines += _board(findings)
    lines += wrap(f"{best_text(findings)}")
    for step in findings.steps[:_MOST_NAMED]:
        lines += ["", f"{findings.names[step[1]]} − {findings.names[step[0]]}"]
        lines += wrap(step_text(findings, step))
        if changed := changed_texts(findings, step):
            lines += wrap(f"changed most: {join_words(changed, _MOST_CHANGES)}")
    if len(findings.steps) > _MOST_NAMED:
        lines.append(
            f"  and {len(findings.steps) - _MOST_NAMED} more versions: see differences.csv"
        )
    if texts := list(measure_texts(findings)):
        lines += ["", "Choice of the measure", *(part for text in texts for part in wrap(text))]
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


def step_text(findings: LeaderboardFindings, step: tuple[int, int]) -> str:
    """Say how far a version is from the one before, by the headline."""
    one = findings.contrast(*step, findings.headline)
    if not one.n:
        return f"no {findings.table.nouns[1]} where both have a score"
    text = f"{measured(one.difference, DIGITS, sign=True)} by {findings.measure(findings.headline)}"
    if not np.isnan(one.interval[0]):
        level = format_percent(findings.settings.level)
        text += f" ({level} interval {span(*one.interval)})"
    if one.is_tested:
        text += f", {format_p(one.p)}"
        if len(findings.names) > _PAIR:
            text += f", adjusted for all {len(findings.by_pair)} pairs {format_p(one.p_joint)}"
    text += (
        f"; better on {one.better:,}, worse on {one.worse:,}, equal on {one.equal:,} of "
        f"{format_count(one.n, findings.table.nouns[1])}"
    )
    if not one.is_tested:
        return f"{text}; too few for a test" if findings.settings.permutations else text
    return f"{text}: {change_text(findings, step)}"


def change_text(findings: LeaderboardFindings, step: tuple[int, int]) -> str:
    """Say what a difference means, in a few words."""
    one = findings.contrast(*step, findings.headline)
    first, second = (findings.names[at] for at in step)
    if one.verdict > 0:
        return f"{second} is better than {first}"
    if one.verdict < 0:
        return f"{second} is worse than {first}"
    if one.p <= 1 - findings.settings.level:
        return "distinguished as a single pair, but not among all pairs"
    return "no difference is shown"


def changed_texts(findings: LeaderboardFindings, step: tuple[int, int]) -> list[str]:
    """Name the queries that changed most: "q7 +0.4"."""
    higher = findings.table.measures[findings.headline].better == "higher"
    return [
        f"{findings.table.queries[query]} {measured(gain if higher else -gain, DIGITS, sign=True)}"
        for query, gain in changes_of(findings, step)[:_MOST_CHANGES]
        if gain
    ]


def measure_texts(findings: LeaderboardFindings) -> Iterator[str]:
    """Say what the choice of the measure decides."""
    effects = findings.by_measure
    if len(effects) < _PAIR:
        return
    yield _winners(findings)
    others = [one for one in effects if one.measure != findings.headline]
    known = [one for one in others if not np.isnan(one.tau)]
    if known and len(findings.names) > _PAIR:
        least, most = (f(known, key=lambda one: one.tau) for f in (min, max))
        taus = f"{format_number(least.tau, 2)} ({findings.measure(least.measure)})"
        if most.tau > least.tau:
            taus += f" to {format_number(most.tau, 2)} ({findings.measure(most.measure)})"
        yield (
            f"The order by {findings.measure(findings.headline)} agrees with those by other "
            f"measures with Kendall's tau of {taus}"
        )
    powers = [one for one in effects if one.pairs]
    if powers and len(findings.names) > _PAIR:
        low, high = (f(powers, key=lambda one: one.power) for f in (min, max))
        many, few = (f"{one.significant} of {one.pairs}" for one in (high, low))
        if many == few:
            yield f"Each measure distinguishes {many} pairs"
        else:
            yield (
                f"{findings.measure(high.measure)} distinguishes most pairs ({many}), "
                f"{findings.measure(low.measure)} fewest ({few})"
            )
    yield from conflict_texts(findings)


def _winners(findings: LeaderboardFindings) -> str:
    effects = [one for one in findings.by_measure if one.best]
    best = findings.by_measure[findings.headline].best
    if not best:
        return f"No {findings.table.nouns[0]} is ranked by {findings.measure(findings.headline)}"
    name = join_words([findings.names[at] for at in best], 3)
    agree = [one for one in effects if set(one.best) & set(best)]
    verb = "is" if len(best) == 1 else "are"
    text = f"{name} {verb} best by {len(agree)} of {len(effects)} measures"
    found: dict[tuple[int, ...], list[str]] = {}
    for one in effects:
        if one not in agree:
            found.setdefault(one.best, []).append(findings.measure(one.measure))
    others = [
        f"{join_words([findings.names[at] for at in who], 3)} by {join_words(by, _MOST_NAMED)}"
        for who, by in found.items()
    ]
    more = [f"{len(others) - _MOST_NAMED} more by others"] if len(others) > _MOST_NAMED else []
    return "; ".join([text, *others[:_MOST_NAMED], *more])


def conflict_texts(findings: LeaderboardFindings) -> Iterator[str]:
    """Name the pairs whose significant differences point both ways."""
    pairs = len(findings.by_pair)
    if not findings.conflicts:
        what = "the pair" if pairs == 1 else f"any of {pairs:,} pairs"
        yield f"No two measures show significant differences of {what} in opposite directions"
        return
    for one in findings.conflicts[:_MOST_NAMED]:
        yield (
            f"{findings.names[one.first]} is significantly better than "
            f"{findings.names[one.second]} by {_measures(findings, one.for_first)}, and "
            f"significantly worse by {_measures(findings, one.for_second)}"
        )
    if len(findings.conflicts) > _MOST_NAMED:
        yield f"The same holds for {len(findings.conflicts) - _MOST_NAMED} more pairs"


def _measures(findings: LeaderboardFindings, places: Iterable[int]) -> str:
    return join_words([findings.measure(at) for at in places], _MOST_NAMED)


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
    pairs = len(findings.by_pair)
    if not findings.settings.permutations:
        return text
    if len(table.entries) == _PAIR:
        return f"{text}; paired randomization test"
    return (
        f"{text}; p values adjusted for all {pairs:,} pairs by a joint randomization test "
        f"({findings.settings.permutations:,} exchanges)"
    )
