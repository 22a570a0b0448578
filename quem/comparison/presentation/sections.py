"""What the report of a comparison shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.comparison.pair_tests import GENERALISES, TESTS
from quem.comparison.presentation.phrases import (
    TEST_NAMES,
    answers_table,
    apart_text,
    bare_p,
    bound_text,
    less,
    names_of,
    rank_interval,
    rank_text,
    step_p_text,
    step_text,
    steps_table,
    uplift_text,
    years_interval,
    years_text,
)
from quem.comparison.presentation.summary import INDEPENDENCE, UPLIFT_MEANING, title_of
from quem.experience.presentation.methods import REFERENCES
from quem.experience.wording import statement
from quem.report.layout import Section, TextTable
from quem.wording import format_interval, format_number, format_percent, format_signed, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.assistance import AssistanceGain, PersonUplift
    from quem.comparison.findings import ComparisonFindings

__all__ = ["YEARS", "report_context", "sections"]


CAPTIONS = {
    "estimates": "Each system's estimate with its prediction interval, or all that its one-sided "
    "bound leaves. The shaded bar is the experience of the study's subjects.",
    "differences": "The difference of each two systems, with its interval where there is one; blue "
    "where that leaves 0 out. A circle is the difference of the two estimates.",
    "wins": "The share of rankings in which one system stands above the other, a tie counting one "
    "half: blue where it mostly does, red where it mostly does not.",
    "progression": "The versions of a system with their prediction intervals, and the steps "
    "between them with adjusted p values.",
    "uplift": "Each person's average rank alone and with help, the experience in brackets.",
}


_MOST_TOLD = 6


_HOLM = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65-70."
)


def report_context(comparison: ComparisonFindings) -> dict[str, Any]:
    """Give what the template ``report/comparison.html`` shows.

    Parameters
    ----------
    comparison : ComparisonFindings
    """
    return {
        "title": title_of(comparison),
        "ids": join_words(study.study.spec.id for study in comparison.studies),
        "descriptions": [
            study.study.spec.description
            for study in comparison.studies
            if study.study.spec.description
        ],
        "answers": answers_table(comparison),
        "meaning": _meaning(comparison),
        "gains": _gains(comparison),
        "first_figure": next(iter(_first_figures(comparison))),
        "sections": sections(comparison),
        "methods": " ".join(_methods(comparison)),
        "references": _references(comparison),
        "settings": list(_settings(comparison)),
        "captions": CAPTIONS,
    }


def _first_figures(comparison: ComparisonFindings) -> Iterator[str]:
    """What goes beside the answer; a figure of one sort at least is always there."""
    if comparison.mode == "time":
        yield "progression"
    if comparison.standings:
        yield "estimates"
    yield "uplift"


def _meaning(comparison: ComparisonFindings) -> str:
    """One sentence on what the answer generalises to, or takes for granted."""
    if comparison.pairs:
        return GENERALISES[comparison.test]
    return INDEPENDENCE if comparison.mode != "systems" else UPLIFT_MEANING


def _gains(comparison: ComparisonFindings) -> list[str]:
    names = comparison.studies[0].name_of
    return [
        f"{_people(len(uplift.people))} with the help of {names(uplift.system)}: "
        f"{uplift_text(uplift, comparison.level, comparison.unit, float('nan'))}."
        for uplift in comparison.uplifts
    ]


def _people(count: int) -> str:
    return "One person" if count == 1 else f"{count} people"


def _methods(comparison: ComparisonFindings) -> Iterator[str]:
    """A paragraph to be pasted into a paper."""
    level = format_percent(comparison.level)
    yield (
        "Experience was estimated with QUEM (Hayes & Parzen, 1997) by least-squares regression of "
        f"the subjects' experience on their average ranks, with {level} prediction intervals: "
        f"{join_words(_estimates(comparison), 12) or 'no system was ranked by itself'}."
    )
    several = len(comparison.pairs or comparison.apart) > 1
    if comparison.pairs:
        adjusted = " (p adjusted by Holm, 1979)" if several else ""
        yield (
            f"Systems were compared by a {TEST_NAMES[comparison.test]}{adjusted}, wherever the "
            "same "
            f"judge had ranked both. {GENERALISES[comparison.test]}"
        )
        names = names_of(comparison)
        for pair in comparison.pairs[:_MOST_TOLD]:
            ranks = rank_text(pair, comparison.level, several=several)
            years = years_text(pair, comparison.level, comparison.unit)
            yield f"{names[pair.b]} against {names[pair.a]}: {ranks}; {years}."
    for apart in comparison.apart[:_MOST_TOLD]:
        told = apart_text(apart, comparison.level, comparison.unit, several=several)
        yield f"{comparison.name_of(apart.b)} against {comparison.name_of(apart.a)}: {told}."
    if comparison.mode == "time":
        for step in comparison.progressions[0].steps:
            yield (
                f"From {comparison.name_of(step.before)} to {comparison.name_of(step.after)}: "
                f"{step_text(step)} {comparison.unit} ({step_p_text(step)})."
            )
    if comparison.mode != "systems":
        yield INDEPENDENCE
    yield from _gains(comparison)
    if comparison.uplifts:
        yield UPLIFT_MEANING
    yield f"Analyses were done with quem {__version__}."


def _estimates(comparison: ComparisonFindings) -> list[str]:
    each = []
    for standing in comparison.standings:
        told = statement(
            standing.estimate, interval="prediction", level=comparison.level, unit=comparison.unit
        )
        each.append(f"{comparison.name_of(standing)} {told}")
    return each


def _references(comparison: ComparisonFindings) -> list[str]:
    several = len(comparison.pairs or comparison.apart) > 1
    return [*REFERENCES[:1], *([_HOLM] if several else []), *REFERENCES[1:]]


def _settings(comparison: ComparisonFindings) -> Iterator[tuple[str, str]]:
    yield "test", comparison.test
    if comparison.chosen:
        yield "systems", ", ".join(comparison.chosen)
    each = [study.settings.model_dump(mode="json") for study in comparison.studies]
    for key in ("level", "form", "score", "normalize", "reference", "permutations", "seed"):
        yield key, ", ".join(dict.fromkeys(str(settings[key]) for settings in each))


_MOST_ROWS = 50


_MOST_COLUMNS = 20


YEARS = (
    "The difference in years is estimated in three ways. By the skill function it is the "
    "difference of the two estimates; it shrinks towards 0, the more the noisier the ranks. By "
    "calibration it is the difference in rank over the slope of rank on experience; it is too "
    "large on average, and is given only where that slope is significant. By worths it is nearly "
    "right on average, since worths do not flatten at both ends as ranks do, and the interval "
    "belongs to it; there is none where none was found to cover."
)


_WINS = (
    "Each cell is the share of the judges who put the first system above the second, a tie "
    "counting one half; the last column is over all rankings that hold both."
)


_ADJUSTED = "Adjusted p values (Holm 1979) hold for all pairs together."


def sections(comparison: ComparisonFindings) -> list[Section]:
    """Make the sections of the report below its first screen.

    Parameters
    ----------
    comparison : ComparisonFindings
    """
    made = [
        _differences(comparison) if comparison.pairs else None,
        _wins(comparison) if comparison.pairs else None,
        _apart(comparison) if comparison.apart else None,
        _progressions(comparison) if comparison.progressions else None,
        _uplifts(comparison) if comparison.uplifts else None,
        _estimates_sections(comparison) if comparison.standings else None,
    ]
    return [section for section in made if section is not None]


def _differences(comparison: ComparisonFindings) -> Section:
    names = names_of(comparison)
    rows = [
        (
            less(names[pair.b], names[pair.a]),
            format_signed(pair.paired.mean, 2),
            rank_interval(pair.interval),
            *(bare_p(pair.tests[name].p) for name in TESTS),
            bare_p(pair.p_holm),
            format_signed(pair.years.years),
            format_signed(pair.years.calibrated),
            format_signed(pair.years.by_worths),
            years_interval(pair),
        )
        for pair in comparison.pairs[:_MOST_ROWS]
    ]
    columns = (
        "Difference",
        "Average rank",
        f"{format_percent(comparison.level)} interval",
        "p over problems",
        "p two-way",
        "p sign-flip",
        "Adjusted p",
        f"{comparison.unit.capitalize()} by the skill function",
        "By calibration",
        "By worths",
        "Interval",
    )
    note = f"The first {_MOST_ROWS}; differences.csv has all."
    note = note if len(comparison.pairs) > _MOST_ROWS else ""
    table = TextTable(f"Differences, by the {TEST_NAMES[comparison.test]}", columns, rows, note)
    text = [
        f"{GENERALISES[comparison.test]} {_ADJUSTED if len(comparison.pairs) > 1 else ''}".strip()
    ]
    text += [GENERALISES[name] for name in TESTS if name != comparison.test]
    text.append(YEARS)
    reasons = dict.fromkeys(p.years.reason for p in comparison.pairs if p.years.reason)
    text += [f"No interval in {comparison.unit}: {reason}." for reason in reasons]
    return Section("differences", "Differences", text, ("differences",), [table])


def _wins(comparison: ComparisonFindings) -> Section:
    names = names_of(comparison)
    problems = comparison.studies[0].study.declared.problems
    held = {problem for pair in comparison.pairs for problem in pair.paired.problems}
    columns = [problem for problem in problems if problem in held]
    tables = []
    if len(columns) <= _MOST_COLUMNS:
        rows = []
        for pair in comparison.pairs[:_MOST_ROWS]:
            of = dict(zip(pair.paired.problems, pair.paired.by_problem.tolist(), strict=True))
            cells = (format_signed(of.get(problem, np.nan), 2) for problem in columns)
            rows.append((less(names[pair.b], names[pair.a]), *cells))
        note = "Means over the judges; the test over problems is of these."
        title = "Difference in rank on each problem"
        tables.append(TextTable(title, ("Difference", *columns), rows, note))
    return Section("wins", "Who beats whom", [_WINS], ("wins",), tables)


def _apart(comparison: ComparisonFindings) -> Section:
    rows = [
        (
            less(comparison.name_of(apart.b), comparison.name_of(apart.a)),
            format_signed(apart.years, 2),
            format_number(apart.error, 2),
            format_number(apart.df),
            bound_text(apart),
            bare_p(apart.p),
            bare_p(apart.p_holm),
        )
        for apart in comparison.apart[:_MOST_ROWS]
    ]
    columns = (
        "Difference",
        comparison.unit.capitalize(),
        "Standard error",
        "df",
        f"{format_percent(comparison.level)} interval",
        "p",
        "Adjusted p",
    )
    text = [
        "The variance of a difference is the sum of both prediction variances, with Welch's "
        f"degrees of freedom. {INDEPENDENCE}"
    ]
    if any(apart.reason for apart in comparison.apart):
        text.append(
            "Outside its subjects' range an estimate is only a bound, and so is a difference: it "
            "has no interval and no p value."
        )
    table = TextTable("Differences of independent estimates", columns, rows)
    return Section("independent", "Differences", text, ("differences",), [table])


def _progressions(comparison: ComparisonFindings) -> Section:
    text = ["Steps are from each version to the next."]
    tables = [steps_table(comparison)]
    if comparison.mode == "time":
        text.append(f"Versions of different studies are independent estimates. {INDEPENDENCE}")
        tables = []  # it stands on the first screen
    return Section("versions", "Versions", text, ("progression",), tables)


def _uplifts(comparison: ComparisonFindings) -> Section:
    tables = []
    for uplift in comparison.uplifts:
        name = comparison.studies[0].name_of(uplift.system)
        rows = [
            (
                person.person,
                f"{len(person.unaided_problems)} and {len(person.aided_problems)}",
                format_number(person.unaided, 2),
                format_number(person.aided, 2),
                *_gain(person),
                bare_p(person.p_holm),
            )
            for person in uplift.people
        ]
        means = [
            format_number(float(np.mean([getattr(person, how) for person in uplift.people])), 2)
            for how in ("unaided", "aided")
        ]
        rows.append(("all, on average", f"{uplift.n_problems}", *means, *_gain(uplift), "–"))
        columns = (
            "Person",
            "Problems alone and with help",
            "Rank alone",
            "Rank with help",
            "Gain",
            f"{format_percent(comparison.level)} interval",
            "p",
            comparison.unit.capitalize(),
            "By calibration",
            "Adjusted p",
        )
        tables.append(TextTable(f"With the help of {name}", columns, rows))
    text = [
        "People are ranked among those who worked alone, and each solution made with help is "
        "located among these, so that people with help do not push each other down.",
        UPLIFT_MEANING,
        "The gain in years is the gain in average rank by the skill function; it shrinks towards "
        "0. By calibration it does not, and is too large on average.",
    ]
    return Section("uplift", "People with help", text, ("uplift",), tables)


def _gain(gained: AssistanceGain | PersonUplift) -> tuple[str, ...]:
    return (
        format_signed(gained.gain, 2),
        rank_interval(gained.test.interval),
        bare_p(gained.test.p),
        format_signed(gained.years),
        format_signed(gained.calibrated),
    )


def _estimates_sections(comparison: ComparisonFindings) -> Section:
    rows = []
    for standing in comparison.standings[:_MOST_ROWS]:
        estimate = standing.estimate
        bound = {"above": "at least ", "below": "at most "}.get(estimate.side, "")
        rows.append(
            (
                comparison.name_of(standing),
                format_number(estimate.average_rank, 2),
                format_number(estimate.experience, 2),
                format_interval(estimate.prediction),
                f"{bound}{format_number(estimate.bound)}" if bound else "–",
            )
        )
    level = format_percent(comparison.level)
    columns = (
        "System",
        "Average rank",
        f"Estimate ({comparison.unit})",
        "Prediction interval",
        "One-sided",
    )
    text = [
        "The prediction interval says where a human peer of that quality would be. Whether "
        "intervals of two systems of one study overlap says little about their difference: both "
        "rest on the same people, and the tests above compare them ranking by ranking."
    ]
    if comparison.mode != "systems":
        text = ["The prediction interval says where a human peer of that quality would be."]
    shown = () if comparison.mode == "time" else ("estimates",)
    return Section(
        "estimates", "Estimates", text, shown, [TextTable(f"Estimates, {level}", columns, rows)]
    )
