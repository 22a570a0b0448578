"""What the report of a comparison shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.comparison.pair_tests import INFERENCES, TESTS
from quem.comparison.presentation.columns import ESTIMATES, GAINS, INDEPENDENT, PAIRS, TABLES
from quem.comparison.presentation.phrases import (
    TEST_NAMES,
    answers_table,
    difference_text,
    less,
    names_of,
    rank_text,
    step_p_text,
    step_text,
    steps_table,
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

__all__ = ["YEARS", "report_context", "sections"]

CAPTIONS = {
    "estimates": "Each system's estimate with its prediction interval or, outside the range, the "
    "values allowed by its one-sided bound. The shaded bar is the experience of the study's "
    "subjects.",
    "differences": "The difference of each two systems, with its interval where there is one; blue "
    "where that leaves 0 out. A circle is the difference of the two estimates.",
    "wins": "Share of rankings with one system above the other, ties one half; blue: above 50%, "
    "red: below 50%.",
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
        "first_figure": next(iter(_first_figures(comparison))),
        "sections": sections(comparison),
        "methods": " ".join(_methods(comparison)),
        "references": _references(comparison),
        "settings": list(_settings(comparison)),
        "captions": CAPTIONS,
        "names_people": not all(study.study.named for study in comparison.studies),
    }


def _first_figures(comparison: ComparisonFindings) -> Iterator[str]:
    """What goes beside the answer; a figure of one sort at least is always there."""
    if comparison.mode == "time":
        yield "progression"
    if comparison.system_estimates:
        yield "estimates"
    yield "uplift"


def _meaning(comparison: ComparisonFindings) -> str:
    """One sentence on what the result generalizes to, or assumes."""
    if comparison.pairs:
        return INFERENCES[comparison.test]
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
        f"{join_words(_estimates(comparison), 12) or 'no system was ranked alone'}."
    )
    several = len(comparison.pairs or comparison.differences) > 1
    if comparison.pairs:
        adjusted = " (p adjusted by Holm, 1979)" if several else ""
        yield (
            f"Systems were compared by a {TEST_NAMES[comparison.test]}{adjusted}, wherever the "
            "same "
            f"judge had ranked both. {INFERENCES[comparison.test]}"
        )
        names = names_of(comparison)
        for pair in comparison.pairs[:_MOST_SENTENCES]:
            ranks = rank_text(pair, comparison.level, several=several)
            years = years_text(pair, comparison.level, comparison.unit)
            yield f"{names[pair.b]} against {names[pair.a]}: {ranks}; {years}."
    for difference in comparison.differences[:_MOST_SENTENCES]:
        text = difference_text(difference, comparison.level, comparison.unit, several=several)
        b, a = comparison.name_of(difference.b), comparison.name_of(difference.a)
        yield f"{b} against {a}: {text}."
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
    for entry in comparison.system_estimates:
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
    "The difference in years is estimated in three ways. By the skill function it is the "
    "difference of the two estimates; it shrinks toward 0, more with noisier ranks. By "
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
    """Make the sections of the report below its first screen."""
    parts = [
        _differences(comparison) if comparison.pairs else None,
        _wins(comparison) if comparison.pairs else None,
        _independent(comparison) if comparison.differences else None,
        _progressions(comparison) if comparison.progressions else None,
        _uplifts(comparison) if comparison.uplifts else None,
        _estimates_sections(comparison) if comparison.system_estimates else None,
    ]
    return [section for section in parts if section is not None]


def _differences(comparison: ComparisonFindings) -> Section:
    note = f"First {_MOST_ROWS} of {len(comparison.pairs):,}; all are in differences.csv."
    table = PAIRS.text_table(
        f"Pairwise differences ({TEST_NAMES[comparison.test]})",
        comparison.pairs[:_MOST_ROWS],
        comparison,
        note if len(comparison.pairs) > _MOST_ROWS else "",
    )
    text = [
        f"{INFERENCES[comparison.test]} {_ADJUSTED if len(comparison.pairs) > 1 else ''}".strip()
    ]
    text += [INFERENCES[name] for name in TESTS if name != comparison.test]
    text.append(YEARS)
    reasons = dict.fromkeys(p.years.reason for p in comparison.pairs if p.years.reason)
    text += [f"No interval in {comparison.unit}: {reason}." for reason in reasons]
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
    return Section("wins", "Who beats whom", [_WINS], ("wins",), tables)


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
    table = INDEPENDENT.text_table(
        "Differences of independent estimates", comparison.differences[:_MOST_ROWS], comparison
    )
    return Section("independent", "Differences", text, ("differences",), [table])


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
    tables = [
        GAINS.text_table(
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
        "The gain in years is the gain in average rank by the skill function; it shrinks toward "
        "0. By calibration it does not, and is too large on average.",
    ]
    return Section("uplift", "Gain from assistance", text, ("uplift",), tables)


def _estimates_sections(comparison: ComparisonFindings) -> Section:
    text = ["The prediction interval is for the experience of one person with this average rank."]
    if comparison.mode == "systems":
        text[0] += (
            " Overlapping intervals of two systems of one study do not show that they are alike: "
            "both are based on the same people. The tests above compare them ranking by ranking."
        )
    shown = () if comparison.mode == "time" else ("estimates",)
    table = ESTIMATES.text_table(
        f"Estimates with {format_percent(comparison.level)} intervals",
        comparison.system_estimates[:_MOST_ROWS],
        comparison,
    )
    return Section("estimates", "Estimates", text, shown, [table])
