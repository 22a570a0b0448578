"""Sentences on a comparison, for terminal, page, and notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.method.statement import assumption
from quem.wording import (
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_signed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.result import ComparisonFindings, Difference, GainRow, PairRow

_INDEPENDENT = (
    "Assumes independent studies of comparable populations, in which a year of experience means "
    "the same."
)
_GAIN = (
    "Assumes that problems with and without help are equally hard. The test is about other "
    "problems, with the same people and judges."
)


def difference_text(found: ComparisonFindings, of: Difference) -> str:
    """The difference in years, with the leader first."""
    unit, a, b = found.unit, of.first, of.second
    if of.years is None or of.ahead is None:
        return f"No difference in {unit} between {a} and {b}: {of.reason}"
    years, (low, high), ahead, leader, other = of.years, of.interval, of.ahead, b, a
    if years < 0:
        years, ahead, leader, other = -years, 1 - ahead, a, b
        low, high = (None if end is None else -end for end in (high, low))
    if low is not None and high is not None:
        value = f"{format_number(years)} {unit}"
        how = f"{format_percent(found.level)} credible interval {format_interval((low, high))}"
    else:
        end, most, bound = (high, "most", "upper") if low is None else (low, "least", "lower")
        value = f"at {most} {format_number(end or 0.0)} {unit}"
        how = f"{format_percent((1 + found.level) / 2)} {bound} bound"
    chance = ">99.9%" if ahead >= 0.9995 else f"{100 * ahead:.1f}%"  # noqa: PLR2004  never certain
    sure = f"({how}; probability that {leader} is better: {chance})"
    if low is None or low <= 0:
        return f"These data do not separate {a} and {b}. {leader} less {other}: {value} {sure}."
    return f"{leader} is ahead of {other} by {value} of experience {sure}."


def lead_text(of: PairRow) -> str:
    """How often one was ranked above the other, and what reverses that; empty if never."""
    if of.won is None or of.ranks is None:
        return ""
    leader, other, won = of.second, of.first, of.won
    if of.ranks < 0:
        leader, other, won = other, leader, 1 - won
    share, n = format_percent(round(won, 3)), format_count(of.n_rankings, "ranking")
    text = f"{leader} was ranked above {other} in {share} of {n} of both (ties count half)."
    if not of.rankings:
        return text
    lost = f"without the {format_count(of.rankings, 'ranking')} (of {of.n_rankings}) that "
    lost += f"favor{'s' * (of.rankings == 1)} it most"
    if of.n_judges > 1:
        lost += f", or without {of.judges} of the {of.n_judges} judges"
    return f"{text} {leader}’s lead disappears {lost}."


def gain_text(found: ComparisonFindings, of: GainRow) -> str:
    """The effect of assistance on the average rank."""
    low, high = of.interval
    how = "no test"
    if low is not None and high is not None:
        how = (
            f"{format_percent(found.level)} CI {format_interval((low, high), 2)}; "
            f"t({of.df}) = {format_number(of.t or 0.0, 2)}, {format_p(of.p_value or 0.0)}"
        )
    people = "One person" if len(of.people) == 1 else f"{len(of.people)} people"
    gain = format_signed(of.gain, 2)
    return f"{people} with the help of {of.name}: {gain} in average rank ({how})."


def notes(found: ComparisonFindings) -> Iterator[str]:
    """Notes on all differences."""
    if any(of.years is not None for of in (*found.pairs, *found.people)):
        texts = [(core.study.spec.id, assumption(core)) for core in found.cores]
        same = len({text for _, text in texts}) == 1
        yield texts[0][1] if same else " ".join(f"{study}: {text}" for study, text in texts)
    if len(found.pairs) > 2:  # noqa: PLR2004  of one or two nobody chooses the best
        yield "Chances are not adjusted for the number of pairs."
    if len(found.cores) > 1:
        yield _INDEPENDENT
    if found.gains:
        yield _GAIN
