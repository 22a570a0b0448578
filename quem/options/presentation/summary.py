"""The terminal summary: first the result, then what it is based on, then the warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.wording import (
    align_columns,
    format_number,
    format_p,
    format_percent,
    join_words,
    measured,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.lists.inference import PairDifference
    from quem.options.result import OptionsFindings, SystemScores

_MOST_PAIRS = 10
_MOST_COLUMNS = 6


def summary_text(findings: OptionsFindings) -> str:
    """Write the summary of an analysis as text."""
    lines = [findings.data.spec.title, "", *_system_scores(findings), *_differences(findings)]
    lines += ["", "Means", *_means(findings), *_confidences(findings)]
    lines += ["", "Based on", f"  {basis(findings)}"]
    return "\n".join(lines)


def _system_scores(findings: OptionsFindings) -> Iterator[str]:
    names = [findings.name_of(entry.system) for entry in findings.system_scores]
    width = max(map(len, names))
    for name, entry in zip(names, findings.system_scores, strict=True):
        yield f"  {name:<{width}}  {system_text(findings, entry)}"


def headline_pairs(findings: OptionsFindings) -> list[tuple[str, str]]:
    """Name each pair of systems, and say how far they are apart by the headline."""
    return [
        (
            f"{findings.name_of(pair.first)} − {findings.name_of(pair.second)}",
            difference_text(findings, pair),
        )
        for pair in findings.pairs
        if pair.measure == findings.scorer.headline
    ]


def _differences(findings: OptionsFindings) -> Iterator[str]:
    pairs = headline_pairs(findings)
    if not pairs:
        return
    adjusted = f", p adjusted for {len(pairs)} pairs (Holm)" if len(pairs) > 1 else ""
    yield from ("", f"Differences in {findings.headline} (paired randomization test{adjusted})")
    width = max(len(name) for name, _ in pairs[:_MOST_PAIRS])
    for name, text in pairs[:_MOST_PAIRS]:
        yield f"  {name:<{width}}  {text}"
    if len(pairs) > _MOST_PAIRS:
        yield f"  and {len(pairs) - _MOST_PAIRS} more pairs: see differences.csv"


def _means(findings: OptionsFindings) -> Iterator[str]:
    """One row per measure, one column per system."""
    shown = findings.system_scores[:_MOST_COLUMNS]
    cells = [
        [mean_text(findings, entry, at) for entry in shown]
        for at in range(len(findings.scorer.names))
    ]
    rows = [["", *(findings.name_of(entry.system) for entry in shown)]]
    rows += [[name, *row] for name, row in zip(findings.scorer.names, cells, strict=True)]
    if any(entry.n_missing for entry in shown):
        rows.append(["failures", *(f"{entry.n_missing:,}" for entry in shown)])
    yield from (f"  {line}" for line in align_columns(rows))
    yield f"  ({dagger_note(findings, (text for row in cells for text in row))})"
    if len(findings.system_scores) > len(shown):
        yield f"  and {len(findings.system_scores) - len(shown)} more systems: see scores.csv"


def _confidences(findings: OptionsFindings) -> Iterator[str]:
    """What confidences are worth: one column per system that has them."""
    if not findings.calibrations:
        return
    yield from ("", "Confidences")
    rows = [
        ["", "Brier", "ECE, corrected"],
        *(
            [findings.name_of(one.system), score(one.brier), score(one.ece_corrected)]
            for one in findings.calibrations[:_MOST_COLUMNS]
        ),
    ]
    yield from (f"  {line}" for line in align_columns(list(zip(*rows, strict=True))))


def basis(findings: OptionsFindings) -> str:
    """Say what the numbers are based on."""
    lists = sum(entry.n_lists for entry in findings.system_scores)
    longest = int(findings.lengths.max(initial=0))
    text = (
        f"{count(len(findings.data.key.ids), 'question')}, "
        f"{count(len(findings.system_scores), 'system')}, "
        f"{count(lists, 'list')}, the longest of {count(longest, 'option')}"
    )
    if several := int((findings.data.offered.n_correct > 1).sum()):
        text += f"; {several:,} with several correct options"
    if "OLAR" in findings.scorer.names:
        text += f"; OLAR for lists of up to {findings.scorer.max_length}"
    return text


DIGITS = 3
DAGGER = "†"
_LONGEST_DRAWN = 12


def score(value: float) -> str:
    """Write a score to its precision: "0.756"."""
    return measured(value, DIGITS)


def mean_text(findings: OptionsFindings, entry: SystemScores, at: int) -> str:
    """Write a mean: "0.756"; with its number of questions where these are not all of them.

    A mean over fewer than half of the questions has a dagger; see `dagger_note`.
    """
    n = entry.defined[at]
    text = score(entry.scores[at])
    if 0 < n < len(findings.data.key.ids):
        text += f" n = {n:,}"
    return f"{text} {DAGGER}" if 0 < n < findings.fewest else text


def dagger_note(findings: OptionsFindings, texts: Iterable[str]) -> str:
    """Say over how many questions means are, and what a dagger means, if there is one."""
    note = f"n = {len(findings.data.key.ids):,} questions unless stated"
    if any(DAGGER in text for text in texts):
        note += f"; {DAGGER} fewer than half of them: not ranked and not tested"
    return note


def span(interval: tuple[float, float]) -> str:
    """Write an interval of scores; "–" where there is none."""
    return "–" if np.isnan(interval[0]) else f"{score(interval[0])} to {score(interval[1])}"


def share(value: float) -> str:
    """Write a share as a whole percentage; "–" for none."""
    return "–" if np.isnan(value) else f"{100 * value:.0f}%"


def count(n: int, noun: str) -> str:
    """Write how many: "1 list", "1,200 lists"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def system_text(findings: OptionsFindings, entry: SystemScores) -> str:
    """Say a system's result in one phrase."""
    at = findings.scorer.headline
    text = f"{findings.headline} {mean_text(findings, entry, at)}"
    if not np.isnan(entry.intervals[at][0]):
        text += f" ({format_percent(findings.settings.level)} interval {span(entry.intervals[at])})"
    return (
        f"{text}; {a_correct(findings)} is in {share(entry.share)} of lists of "
        f"{length_text(entry.mean_length)}"
    )


def length_text(length: float) -> str:
    """Write a mean length: "2.4 options"."""
    return f"{format_number(length)} option{'' if format_number(length) == '1.0' else 's'}"


def difference_text(findings: OptionsFindings, pair: PairDifference) -> str:
    """Say how far two systems are apart by the headline."""
    if not pair.n:
        return "no question where both have a score"
    text = measured(pair.difference, DIGITS, sign=True)
    if not np.isnan(pair.interval[0]):
        text += f" ({format_percent(findings.settings.level)} interval {span(pair.interval)})"
    several = len(findings.data.systems) > 2  # noqa: PLR2004  more than one pair
    adjusted = "adjusted " if several else ""
    text += f", {adjusted}{format_p(pair.p_holm)}" if not np.isnan(pair.p) else ""
    return f"{text}; better on {pair.higher:,}, worse on {pair.lower:,} of {pair.n:,} questions"


def a_correct(findings: OptionsFindings) -> str:
    """Say "the correct option", or "a correct option" where some questions have several."""
    several = bool((findings.data.offered.n_correct > 1).any())
    return f"{'a' if several else 'the'} correct option"


def list_text(length: int, places: Sequence[int]) -> str:
    """Draw a list: c for a correct option, w for a wrong one; a long one in words."""
    if length == 0:
        return "empty"
    if length > _LONGEST_DRAWN:
        at = join_words(map(str, places), 3)
        return f"{length}, " + (f"correct at {at}" if places else "all wrong")
    return "".join("c" if at in places else "w" for at in range(1, length + 1))
