"""Differences and tests in words, the same in every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.independent import IndependentDifference
from quem.comparison.pair_tests import INFERENCES, TESTS
from quem.experience.wording import position_text
from quem.report.files import TextTable
from quem.wording import (
    format_bare_p,
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_signed,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.assistance import AssistanceGain, PersonUplift
    from quem.comparison.independent import SystemEstimate
    from quem.comparison.pair_tests import PairTest
    from quem.comparison.pairs import Pair
    from quem.comparison.result import ComparisonFindings
    from quem.comparison.versions import Step
    from quem.experience.estimate import Interval

TEST_NAMES = {
    "auto": "test chosen by judges' differences",
    "problem": "t test over problems",
    "twoway": "two-way t test, problems and judges random",
    "signflip": "sign-flip test over problems",
}


_SHORT_NAMES = {
    "problem": "t test over problems",
    "twoway": "two-way t test",
    "signflip": "sign-flip test",
}
# In place of a number, where there is none.
NO_YEARS = "no years"


def names_of(comparison: ComparisonFindings) -> dict[str, str]:
    """Name each system of the first study by its id."""
    return {s.system: s.name for s in comparison.system_estimates if s.study == 0}


def entry_text(comparison: ComparisonFindings, entry: SystemEstimate) -> str:
    """Say an estimate with its unit in a word or two, or that its study does not allow years."""
    if not comparison.allows_years(entry):
        return NO_YEARS
    return f"{estimate_text(entry)} {comparison.unit}"


def no_years_text(comparison: ComparisonFindings, entry: SystemEstimate) -> str:
    """Say where a system is among the subjects, in a study that does not allow years."""
    findings = comparison.studies[entry.study]
    of = f"{comparison.study_of(entry)}: " if len(comparison.studies) > 1 else ""
    return f"{of}{position_text(findings, entry.estimate)}"


def estimate_text(entry: SystemEstimate) -> str:
    """Say an estimate in a word or two, one-sided outside the subjects' range."""
    estimate = entry.estimate
    lead = {"above": "at least ", "below": "at most "}.get(estimate.side, "")
    return f"{lead}{format_number(estimate.bound if lead else estimate.experience)}"


def outcome_text(test: PairTest, p_holm: float = float("nan")) -> str:
    """Write a test: "t(5) = 3.41, p = .019, adjusted p = .038"."""
    if not np.isfinite(test.p):
        return "no test"
    if test.patterns:
        kind = "patterns" if test.exact else "random patterns"
        text = f"{test.extreme:,} of {test.patterns:,} {kind} of signs, {format_p(test.p)}"
    else:
        df = f"{test.df:.0f}" if abs(test.df - round(test.df)) < 1e-6 else format_number(test.df)  # noqa: PLR2004
        text = f"t({df}) = {format_number(test.statistic, 2)}, {format_p(test.p)}"
    return f"{text}, adjusted {format_p(p_holm)}" if np.isfinite(p_holm) else text


def rank_interval(interval: Interval) -> str:
    """Write an interval of ranks: "0.52 to 2.98"."""
    low, high = interval
    return f"{format_number(low, 2)} to {format_number(high, 2)}" if np.isfinite(low) else "none"


def rank_text(pair: Pair, level: float, *, several: bool) -> str:
    """Say how far two systems are apart in average rank, and how sure that is."""
    parts = [f"{format_percent(level)} CI {rank_interval(pair.interval)}"]
    if not np.isfinite(pair.interval).all():
        parts = []
    parts.append(outcome_text(pair.test, pair.p_holm if several else float("nan")))
    return f"{format_signed(pair.paired.mean, 2)} in average rank ({'; '.join(parts)})"


def years_interval(pair: Pair) -> str:
    """Write the interval of the difference in years; "none" where there is none."""
    return format_interval(pair.years.interval) if pair.years.interval else "none"


def years_text(comparison: ComparisonFindings, pair: Pair) -> str:
    """Say which of two systems is ahead by how many years; empty where that is not defined."""
    if pair.years.interval is None or not comparison.studies[0].gate.passed:
        return ""
    names, (low, high) = names_of(comparison), pair.years.interval
    first, second, years = names[pair.b], names[pair.a], pair.years.years
    way = "ahead of"
    if years < 0:
        years, low, high, way = -years, -high, -low, "behind"
    return (
        f"{first} is {way} {second} by {format_number(years)} {comparison.unit} "
        f"({format_percent(comparison.level)} interval {format_interval((low, high))})"
    )


def test_text(pair: Pair) -> str:
    """Say which test was chosen for a pair, and why."""
    return f"{_SHORT_NAMES[pair.used]}: {pair.why}"


def inferences_of(comparison: ComparisonFindings) -> list[str]:
    """Say what the tests that were used generalize to."""
    used = dict.fromkeys(pair.used for pair in comparison.pairs)
    return [INFERENCES[name] for name in TESTS if name in used]


def undefined_texts(comparison: ComparisonFindings) -> Iterator[str]:
    """Say why differences in years are not defined, each reason once."""
    if comparison.states_years:
        for reason in dict.fromkeys(pair.years.reason for pair in comparison.pairs):
            if reason:
                yield f"No difference in {comparison.unit}: {reason}."


def won_text(pair: Pair) -> str:
    """Say in how many rankings the second system is above the first."""
    n = pair.paired.n_cells
    rankings = "the 1 ranking that includes" if n == 1 else f"the {n:,} rankings that include"
    share = format_percent(round(pair.paired.share_won, 3))
    return f"ranked higher in {share} of {rankings} both (ties count ½)"


def bound_text(difference: IndependentDifference) -> str:
    """Write the interval between two studies, or the bound that is left of it."""
    if np.isfinite(difference.lower):
        return f"at least {format_signed(difference.lower)}"
    if np.isfinite(difference.upper):
        return f"at most {format_signed(difference.upper)}"
    return format_interval(difference.interval) if np.isfinite(difference.p) else "none"


def difference_text(
    difference: IndependentDifference, level: float, unit: str, *, several: bool
) -> str:
    """Say how far systems of two studies are apart, one-sided where only a bound holds."""
    text = f"{format_signed(difference.years)} {unit}"
    if np.isfinite(difference.p):
        adjusted = f", adjusted {format_p(difference.p_holm)}" if several else ""
        return (
            f"{text} ({format_percent(level)} CI {format_interval(difference.interval)}; "
            f"t({format_number(difference.df)}) = {format_number(difference.t, 2)}, "
            f"{format_p(difference.p)}{adjusted})"
        )
    bound = bound_text(difference)
    bound = "no interval" if bound == "none" else f"{bound}, one-sided {format_percent(level)}"
    return f"{text} (extrapolated; {bound}: {difference.reason})"


def apart_text(
    comparison: ComparisonFindings, difference: IndependentDifference, *, several: bool
) -> str:
    """Say how far systems of two studies are apart, or which study does not allow years."""
    shut = [entry for entry in (difference.a, difference.b) if not comparison.allows_years(entry)]
    if shut:
        names = join_words(dict.fromkeys(comparison.study_of(entry) for entry in shut))
        return f"{NO_YEARS}: {names} cannot give them (see above)"
    return difference_text(difference, comparison.level, comparison.unit, several=several)


def step_text(comparison: ComparisonFindings, step: Step) -> str:
    """Say by how much a version is ahead of the one before; where only a bound holds, the bound."""
    if not all(map(comparison.allows_years, (step.before, step.after))) or np.isnan(step.years):
        return NO_YEARS
    difference = step.how if isinstance(step.how, IndependentDifference) else None
    if difference is None or np.isfinite(difference.p):
        return format_signed(step.years)
    bound = bound_text(difference)
    return f"{format_signed(step.years)} (extrapolated)" if bound == "none" else bound


def step_p_text(comparison: ComparisonFindings, step: Step) -> str:
    """Give the p value of a step, or why it has none."""
    if not _is_tested(comparison, step):
        return "no test without years"
    if not np.isfinite(step.p):
        how = step.how
        return (
            f"no test: {how.reason if isinstance(how, IndependentDifference) else how.test.reason}"
        )
    adjusted = "" if step.p == step.p_holm else f", adjusted {format_p(step.p_holm)}"
    return f"{format_p(step.p)}{adjusted}"


def _is_tested(comparison: ComparisonFindings, step: Step) -> bool:
    """Whether a step is tested in ranks, or in years that its studies allow."""
    return step.pair is not None or comparison.allows_years(step.before, step.after)


def uplift_text(
    comparison: ComparisonFindings, gained: AssistanceGain | PersonUplift, p_holm: float
) -> str:
    """Say what help did, in average rank and, where the study allows years, in these."""
    level = comparison.level
    ends = gained.test.interval
    interval = f"{format_percent(level)} CI {rank_interval(ends)}; " if np.isfinite(ends[0]) else ""
    text = (
        f"{format_signed(gained.gain, 2)} in average rank "
        f"({interval}{outcome_text(gained.test, p_holm)})"
    )
    if not comparison.studies[0].gate.passed:
        return text
    text += f", {format_signed(gained.years)} {comparison.unit}"
    if np.isfinite(gained.calibrated):
        text += f" ({format_signed(gained.calibrated)} by calibration)"
    return text


_FIRST = 10
_LONGEST = 36


def less(b: str, a: str) -> str:
    """Name a difference: "Bot 2 − Bot 1", shortened where names are long."""
    from quem.wording import short

    return f"{short(b, _LONGEST)} − {short(a, _LONGEST)}"


def answers_table(comparison: ComparisonFindings) -> TextTable | None:
    """Say what came out in one table, for the first screen; None where help alone is measured."""
    if comparison.pairs:
        return _answers_of_pairs(comparison)
    if any(comparison.allows_years(of.a, of.b) for of in comparison.differences):
        rows = [
            (
                less(comparison.name_of(difference.b), comparison.name_of(difference.a)),
                *(
                    (format_signed(difference.years), bound_text(difference))
                    if comparison.allows_years(difference.a, difference.b)
                    else (NO_YEARS, "–")
                ),
                format_bare_p(difference.p_holm)
                if comparison.allows_years(difference.a, difference.b)
                else "–",
            )
            for difference in comparison.differences[:_FIRST]
        ]
        columns = (
            "Difference",
            comparison.unit.capitalize(),
            f"{format_percent(comparison.level)} interval",
            "Adjusted p",
        )
        return TextTable("Independent estimates", columns, rows, _more(len(comparison.differences)))
    if comparison.progressions:
        return steps_table(comparison)
    return None


def _answers_of_pairs(comparison: ComparisonFindings) -> TextTable:
    """The differences in rank, and in years with their intervals if there are any."""
    names = names_of(comparison)
    shown = comparison.pairs[:_FIRST]
    with_years = comparison.states_years and any(pair.years.interval for pair in shown)
    rows = [
        (
            less(names[pair.b], names[pair.a]),
            format_signed(pair.paired.mean, 2),
            *(
                (format_signed(pair.years.years), years_interval(pair))
                if with_years
                else (rank_interval(pair.interval),)
            ),
            format_bare_p(pair.p_holm),
        )
        for pair in shown
    ]
    unit, interval = comparison.unit.capitalize(), f"{format_percent(comparison.level)} interval"
    middle = (unit, interval) if with_years else (interval,)
    columns = ("Difference", "Average rank", *middle, "Adjusted p")
    title = TEST_NAMES[comparison.test]
    return TextTable(title[:1].upper() + title[1:], columns, rows, _more(len(comparison.pairs)))


def _more(count: int) -> str:
    return f"First {_FIRST} of {count:,}; full table below." if count > _FIRST else ""


def steps_table(comparison: ComparisonFindings) -> TextTable:
    """List the versions of every system in order, with the step to each from the one before."""
    rows = []
    of_all = [version for of in comparison.progressions for version in of.versions]
    with_years = any(map(comparison.allows_years, of_all))
    for progression in comparison.progressions:
        for version, step in zip(progression.versions, (None, *progression.steps), strict=True):
            years = entry_text(comparison, version).removesuffix(f" {comparison.unit}")
            tested = step if step and _is_tested(comparison, step) else None
            rows.append(
                (
                    comparison.name_of(version),
                    str(version.date) if version.date else "–",
                    *([years, step_text(comparison, step) if step else "–"] if with_years else []),
                    format_bare_p(tested.p) if tested else "–",
                    format_bare_p(tested.p_holm) if tested else "–",
                )
            )
    of_years = [comparison.unit.capitalize(), "Step"] if with_years else []
    columns = ("Version", "Date", *of_years, "p", "Adjusted p")
    return TextTable("Versions in order", columns, rows, words=frozenset({1}))
