"""What the report of a comparison shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.comparison.pair_tests import INFERENCES, TESTS
from quem.comparison.presentation.columns import (
    ESTIMATES,
    GAINS,
    GAINS_IN_RANKS,
    GAINS_IN_YEARS,
    INDEPENDENT,
    PAIRS,
    PAIRS_IN_RANKS,
    PAIRS_IN_YEARS,
    TABLES,
)
from quem.comparison.presentation.phrases import (
    NO_YEARS,
    TEST_NAMES,
    answers_table,
    apart_text,
    inferences_of,
    less,
    names_of,
    no_years_text,
    rank_text,
    step_p_text,
    step_text,
    steps_table,
    test_text,
    undefined_texts,
    uplift_text,
    years_text,
)
from quem.comparison.presentation.summary import INDEPENDENCE, UPLIFT_MEANING, title_of
from quem.experience.presentation.methods import REFERENCES
from quem.experience.wording import statement
from quem.report.files import Section, TextTable
from quem.wording import format_percent, format_signed, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.result import ComparisonFindings

CAPTIONS = {
    "estimates": "Each system's estimate with its prediction interval or, outside the range, the "
    "values allowed by its one-sided bound. The shaded bar is the experience of the study's "
    "subjects.",
    "differences": "The difference of each two systems, with its interval where there is one; blue "
    "where that leaves 0 out.",
    "progression": "The versions of a system with their prediction intervals, and the steps "
    "between them with adjusted p values.",
    "uplift": "Each person's average rank without and with help, experience in brackets.",
}

_MOST_SENTENCES = 6

_HOLM = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65-70."
)


def report_context(comparison: ComparisonFindings) -> dict[str, Any]:
    """Give what the template ``report/comparison.html`` shows."""
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
        "positions": [
            no_years_text(comparison, entry)
            for entry in comparison.system_estimates
            if not comparison.allows_years(entry)
        ],
        "first_figure": next(iter(_first_figures(comparison)), ""),
        "sections": sections(comparison),
        "methods": " ".join(_methods(comparison)),
        "references": _references(comparison),
        "settings": list(_settings(comparison)),
        "captions": CAPTIONS,
        "names_people": not all(study.study.named for study in comparison.studies),
    }


def _first_figures(comparison: ComparisonFindings) -> Iterator[str]:
    """What goes beside the answer; nothing where there are no years and nothing else to show."""
    if comparison.mode == "time" and comparison.states_years:
        yield "progression"
    if any(map(comparison.allows_years, comparison.system_estimates)):
        yield "estimates"
    if comparison.pairs:
        yield "differences"
    if comparison.uplifts:
        yield "uplift"


def _meaning(comparison: ComparisonFindings) -> str:
    """One sentence on what the result generalizes to, or assumes."""
    if comparison.pairs:
        return " ".join(inferences_of(comparison))
    return INDEPENDENCE if comparison.mode != "systems" else UPLIFT_MEANING


def _gains(comparison: ComparisonFindings) -> list[str]:
    names = comparison.studies[0].name_of
    return [
        f"{_people(len(uplift.people))} with the help of {names(uplift.system)}: "
        f"{uplift_text(comparison, uplift, float('nan'))}."
        for uplift in comparison.uplifts
    ]


def _people(count: int) -> str:
    return "One person" if count == 1 else f"{count} people"


def _methods(comparison: ComparisonFindings) -> Iterator[str]:
    """A paragraph to be pasted into a paper."""
    yield from _stated(comparison)
    several = len(comparison.pairs or comparison.differences) > 1
    if comparison.pairs:
        adjusted = " (p adjusted by Holm, 1979)" if several else ""
        yield (
            f"Systems were compared by a {TEST_NAMES[comparison.test]}{adjusted}, wherever the "
            f"same judge had ranked both. {' '.join(inferences_of(comparison))}"
        )
        names = names_of(comparison)
        for pair in comparison.pairs[:_MOST_SENTENCES]:
            ranks = rank_text(pair, comparison.level, several=several)
            parts = [ranks, test_text(pair) if pair.why else "", years_text(comparison, pair)]
            yield f"{names[pair.b]} against {names[pair.a]}: {'; '.join(filter(None, parts))}."
    for difference in comparison.differences[:_MOST_SENTENCES]:
        text = apart_text(comparison, difference, several=several)
        b, a = comparison.name_of(difference.b), comparison.name_of(difference.a)
        yield f"{b} against {a}: {text}."
    if comparison.mode == "time":
        for step in comparison.progressions[0].steps:
            gained = step_text(comparison, step)
            unit = "" if gained == NO_YEARS else f" {comparison.unit}"
            yield (
                f"From {comparison.name_of(step.before)} to {comparison.name_of(step.after)}: "
                f"{gained}{unit} ({step_p_text(comparison, step)})."
            )
    if comparison.mode != "systems":
        yield INDEPENDENCE
    yield from _gains(comparison)
    if comparison.uplifts:
        yield UPLIFT_MEANING
    yield f"Analyses were done with quem {__version__}."


def _stated(comparison: ComparisonFindings) -> Iterator[str]:
    """The estimates in years, and positions where the data do not allow these."""
    level = format_percent(comparison.level)
    stated = join_words(_estimates(comparison), 12)
    if not comparison.system_estimates:
        stated = "no system was ranked alone"
    yield (
        "Experience was estimated with QUEM (Hayes & Parzen, 1997) by least-squares regression of "
        "the subjects' experience on their average ranks"
        + (f", with {level} prediction intervals: {stated}." if stated else ".")
    )
    for entry in comparison.system_estimates:
        if not comparison.allows_years(entry):
            yield no_years_text(comparison, entry)


def _estimates(comparison: ComparisonFindings) -> list[str]:
    each = []
    for entry in filter(comparison.allows_years, comparison.system_estimates):
        text = statement(
            entry.estimate, interval="prediction", level=comparison.level, unit=comparison.unit
        )
        each.append(f"{comparison.name_of(entry)} {text}")
    return each


def _references(comparison: ComparisonFindings) -> list[str]:
    several = len(comparison.pairs or comparison.differences) > 1
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
    "The difference in years is that in worth over the slope of worth on experience. It is nearly "
    "right on average, since worths do not flatten at both ends as ranks do, and always inside "
    "its interval (Fieller). Two others are for comparison. By regression it is the difference "
    "of the two estimates: shrunk toward 0, more with noisier ranks; not the center of the "
    "interval. By calibration it is the difference in rank over the slope of rank on experience: "
    "too large on average, and given only where that slope is significant."
)

_WINS = (
    "Each cell is the share of the judges who put the first system above the second, a tie "
    "counting one half; the last column is over all rankings that hold both."
)

_AUTOMATIC = (
    "Each pair's test is chosen by its judges: with one, the t test over problems, for this judge "
    "only; with two, the two-way test; with more, the two-way test where they may differ on the "
    "pair (F test, p < .20), else the t test over problems."
)

_ADJUSTED = "Adjusted p values (Holm 1979) hold for all pairs together."


def sections(comparison: ComparisonFindings) -> list[Section]:
    """Make the sections of the report below its first screen."""
    parts = [
        _differences(comparison) if comparison.pairs else None,
        _wins(comparison) if comparison.pairs else None,
        _independent(comparison) if comparison.differences else None,
        _progressions(comparison) if comparison.progressions else None,
        _uplifts(comparison) if comparison.uplifts else None,
        _estimates_sections(comparison)
        if any(map(comparison.allows_years, comparison.system_estimates))
        else None,
        None if comparison.states_years else _would_give(comparison),
    ]
    return [section for section in parts if section is not None]


def _differences(comparison: ComparisonFindings) -> Section:
    note = f"First {_MOST_ROWS} of {len(comparison.pairs):,}; all are in differences.csv."
    columns = PAIRS if comparison.states_years else PAIRS_IN_RANKS
    table = columns.text_table(
        f"Pairwise differences ({TEST_NAMES[comparison.test]})",
        comparison.pairs[:_MOST_ROWS],
        comparison,
        note if len(comparison.pairs) > _MOST_ROWS else "",
    )
    used = inferences_of(comparison)
    text = [" ".join([*used, *([_ADJUSTED] if len(comparison.pairs) > 1 else [])])]
    if comparison.test == "auto":
        text.append(_AUTOMATIC)
    text += [INFERENCES[name] for name in TESTS if INFERENCES[name] not in used]
    if comparison.states_years:
        text.append(YEARS)
    text += undefined_texts(comparison)
    return Section("differences", "Pairwise differences", text, ("differences",), [table])


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
    return Section("wins", "Who beats whom", [_WINS], (), tables)


def _independent(comparison: ComparisonFindings) -> Section:
    text = [
        "The variance of a difference is the sum of both prediction variances, with Welch's "
        f"degrees of freedom. {INDEPENDENCE}"
    ]
    if any(difference.reason for difference in comparison.differences):
        text.append(
            "Outside its subjects' range an estimate is only a bound, and so is a difference: it "
            "has no interval and no p value."
        )
    allowed = [of for of in comparison.differences if comparison.allows_years(of.a, of.b)]
    tables = []
    if allowed:
        title = "Differences of independent estimates"
        tables.append(INDEPENDENT.text_table(title, allowed[:_MOST_ROWS], comparison))
    return Section("independent", "Differences", text, ("differences",), tables)


def _progressions(comparison: ComparisonFindings) -> Section:
    text = ["Steps are from each version to the next."]
    tables = [steps_table(comparison)]
    if comparison.mode == "time":
        text.append(f"Versions of different studies are independent estimates. {INDEPENDENCE}")
        tables = []  # it stands on the first screen
    return Section("versions", "Versions", text, ("progression",), tables)


def _uplifts(comparison: ComparisonFindings) -> Section:
    (table,) = (table for table in TABLES if table.stem == "uplift")
    rows = list(table.rows(comparison))
    columns = GAINS if comparison.states_years else GAINS_IN_RANKS
    tables = [
        columns.text_table(
            f"With the help of {comparison.studies[0].name_of(uplift.system)}",
            [row for row in rows if row.of is uplift],
            comparison,
        )
        for uplift in comparison.uplifts
    ]
    text = [
        "Unassisted people are ranked among each other. Each assisted solution is located among "
        "these, so assisted people do not push each other down.",
        UPLIFT_MEANING,
    ]
    if comparison.states_years:
        text.append(
            "The gain in years is the gain in average rank by the skill function; it shrinks "
            "toward 0. By calibration it does not, and is too large on average."
        )
    return Section("uplift", "Gain from assistance", text, ("uplift",), tables)


def _estimates_sections(comparison: ComparisonFindings) -> Section:
    text = ["The prediction interval is for the experience of one person with this average rank."]
    if comparison.mode == "systems":
        text[0] += (
            " Overlapping intervals of two systems of one study do not show that they are alike: "
            "both are based on the same people. The tests above compare them ranking by ranking."
        )
    shown = () if comparison.mode == "time" else ("estimates",)
    allowed = list(filter(comparison.allows_years, comparison.system_estimates))
    table = ESTIMATES.text_table(_intervals(comparison), allowed[:_MOST_ROWS], comparison)
    return Section("estimates", "Estimates", text, shown, [table])


def _intervals(comparison: ComparisonFindings) -> str:
    return f"Estimates with {format_percent(comparison.level)} intervals"


def _would_give(comparison: ComparisonFindings) -> Section:
    """The numbers in years that the studies do not allow, marked as such."""
    text = [
        "These data do not allow years (see the result). The numbers of the line are given for "
        "completeness; do not report them."
    ]
    shut = [s for s in comparison.system_estimates if not comparison.allows_years(s)]
    apart = [d for d in comparison.differences if not comparison.allows_years(d.a, d.b)]
    tables = []
    if shut:
        tables.append(ESTIMATES.text_table(_intervals(comparison), shut[:_MOST_ROWS], comparison))
    if comparison.pairs:
        pairs, title = comparison.pairs[:_MOST_ROWS], f"Pairwise differences in {comparison.unit}"
        tables.append(PAIRS_IN_YEARS.text_table(title, pairs, comparison))
    if apart:
        title = f"Differences of independent estimates in {comparison.unit}"
        tables.append(INDEPENDENT.text_table(title, apart[:_MOST_ROWS], comparison))
    if comparison.uplifts:
        (table,) = (table for table in TABLES if table.stem == "uplift")
        rows = list(table.rows(comparison))
        title = f"Gain from assistance in {comparison.unit}"
        tables.append(GAINS_IN_YEARS.text_table(title, rows, comparison))
    return Section("would-give", "What the line would give", text, (), tables)
