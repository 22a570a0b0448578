"""What the report of a leaderboard shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.leaderboard.presentation.summary import (
    DIGITS,
    basis,
    best_text,
    pair_text,
    span,
    title_of,
)
from quem.report.files import Section, TextTable
from quem.wording import (
    format_bare_p,
    format_count,
    format_percent,
    measured,
    plural,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.leaderboard.result import LeaderboardFindings

CAPTIONS = {
    "leaderboard": "The mean of each system with its bootstrap interval, best first. A bar at the "
    "right joins systems that cannot be distinguished by the joint test. Intervals of two systems "
    "can overlap and their difference still be significant, because it is tested query by query.",
}

_MOST_ROWS = 40
_PAIR = 2

_CARTERETTE = (
    "Carterette, B. (2012). Multiple testing in statistical significance evaluation of information "
    "retrieval experiments. ACM Transactions on Information Systems, 30(1), 4:1–34."
)
_REFERENCES = (
    "Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall.",
    "Smucker, M. D., Allan, J. and Carterette, B. (2007). A comparison of statistical significance "
    "tests for information retrieval evaluation. CIKM, 623–632.",
)
_OF_MANY = (
    _CARTERETTE,
    "Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise "
    "comparisons. Journal of Computational and Graphical Statistics, 13(2), 456–466.",
)


def report_context(findings: LeaderboardFindings) -> dict[str, Any]:
    """Give what the template ``report/leaderboard.html`` shows."""
    return {
        "title": title_of(findings),
        "studies": [study for study in findings.studies if study],
        "answers": _answers(findings),
        "verdicts": list(_verdicts(findings)),
        "basis": f"{basis(findings)}.",
        "first_figure": "leaderboard",
        "sections": list(_sections(findings)),
        "methods": " ".join(_methods(findings)),
        "references": _references(findings),
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in {
                **findings.settings.model_dump(mode="json"),
                "headline": findings.measure(findings.headline),
                "measures": [measure.name for measure in findings.table.measures],
                **{
                    key: value
                    for key, value in findings.table.settings.items()
                    if key not in ("users", "questions", "seed")
                },
            }.items()
            if value not in ("", []) and value is not False
        ],
        "captions": CAPTIONS,
    }


def _is_pair(findings: LeaderboardFindings) -> bool:
    return len(findings.names) == _PAIR


def _verdicts(findings: LeaderboardFindings) -> Iterator[str]:
    if _is_pair(findings):
        yield f"{findings.names[1]} − {findings.names[0]}: {pair_text(findings)}."
    else:
        yield f"{best_text(findings)}."


def _answers(findings: LeaderboardFindings) -> TextTable:
    at = findings.headline
    level = format_percent(findings.settings.level)
    letters = findings.letters(at)
    # How many queries count is worth a column only where it differs.
    counts = findings.defined[:, at]
    counted = bool((counts < len(findings.table.queries)).any())
    rows = []
    muted = set()
    for row, system_at in enumerate(findings.order(at)[:_MOST_ROWS]):
        place = findings.place(system_at, at)
        if place is None:
            muted |= {(row, column) for column in range(1, 6)}
        rows.append(
            (
                findings.names[system_at],
                "–" if place is None else str(place),
                measured(float(findings.mean[system_at, at]), DIGITS),
                letters[system_at] or "–",
                span(float(findings.low[system_at, at]), float(findings.high[system_at, at])),
                *((f"{counts[system_at]:,}",) if counted else ()),
            )
        )
    system, query = findings.table.nouns
    columns = (
        system.capitalize(),
        "Place",
        findings.measure(at),
        "Letters",
        f"{level} interval",
        *((plural(query).capitalize(),) if counted else ()),
    )
    note = f"Those that share a letter cannot be distinguished at {level}. " + (
        "Lower is better. " if _is_lower(findings, at) else ""
    )
    if muted:
        note += f"Gray: a score on fewer than half of the {plural(query)}; not ranked. "
    if len(findings.names) > _MOST_ROWS:
        note += f"The first {_MOST_ROWS} of {len(findings.names)}; leaderboard.csv has all. "
    return TextTable(
        f"Leaderboard by {findings.measure(at)}",
        columns,
        rows,
        note.strip(),
        frozenset({3}),
        frozenset(muted),
    )


def _is_lower(findings: LeaderboardFindings, at: int) -> bool:
    return findings.table.measures[at].better == "lower"


def _sections(findings: LeaderboardFindings) -> Iterator[Section]:
    if _is_pair(findings):
        yield Section("difference", "The difference", [], (), [_pair_table(findings)])
    else:
        yield _differences(findings)
    yield _entries(findings)


def _pair_table(findings: LeaderboardFindings) -> TextTable:
    first, second = findings.names
    rows = []
    for measure in dict.fromkeys([findings.headline, *range(len(findings.table.measures))]):
        one = findings.contrast(0, 1, measure)
        rows.append(
            (
                findings.measure(measure)
                + (" (lower is better)" if _is_lower(findings, measure) else ""),
                *(measured(float(findings.mean[at, measure]), DIGITS) for at in (0, 1)),
                measured(one.difference, DIGITS, sign=True),
                span(*one.interval),
                f"{one.better:,}",
                f"{one.worse:,}",
                f"{one.equal:,}",
                format_bare_p(one.p_joint),
            )
        )
    level = format_percent(findings.settings.level)
    columns = (
        "Measure",
        first,
        second,
        "Difference",
        f"{level} interval",
        "Better",
        "Worse",
        "Equal",
        "p",
    )
    query = plural(findings.table.nouns[1])
    note = f"The difference is the second minus the first; counts are of {query}."
    return TextTable(f"{second} − {first}, by each measure", columns, rows, note)


def _differences(findings: LeaderboardFindings) -> Section:
    at = findings.headline
    pairs = sorted(
        findings.contrasts_by(at),
        key=lambda one: (np.isnan(one.p_joint), one.p_joint, -abs(one.gain)),
    )
    rows = [
        (
            f"{findings.names[one.second]} − {findings.names[one.first]}",
            measured(one.difference, DIGITS, sign=True),
            span(*one.interval),
            f"{one.better:,}",
            f"{one.worse:,}",
            f"{one.equal:,}",
            format_bare_p(one.p_joint),
        )
        for one in pairs[:_MOST_ROWS]
    ]
    level = format_percent(findings.settings.level)
    query = findings.table.nouns[1]
    text = [
        "All pairs are tested at once, so that the chance to find any difference among equal "
        f"systems is at most {format_percent(round(1 - findings.settings.level, 10))}, however "
        f"many systems there are. On each {query} the scores of all systems are exchanged at "
        "random; p is the share of exchanges in which the largest studentized difference of any "
        "pair is as large as that of the pair."
    ]
    note = "differences.csv has all pairs by all measures, also with the p of each pair alone."
    columns = ("Difference", "Mean", f"{level} interval", "Better", "Worse", "Equal", "p")
    table = TextTable(f"Differences by {findings.measure(at)}", columns, rows, note)
    return Section("differences", "Differences", text, (), [table])


def _entries(findings: LeaderboardFindings) -> Section:
    query = findings.table.nouns[1]
    entries = format_count(len(findings.names), "entry")
    on = format_count(len(findings.table.queries), query)
    text = (
        f"{entries} on {on}; p values are for all pairs of these. "
        "Another entry can change which of the others are distinguished. A system that was "
        f"improved after looking at results on these {plural(query)} is fitted to them, "
        "which no p value accounts for."
    )
    rows = [
        (findings.names[at], entry.id, entry.study)
        for at, entry in enumerate(findings.table.entries)
    ]
    table = TextTable(
        "Systems and their studies", ("Name", "Id", "Study"), rows, words=frozenset({1, 2})
    )
    return Section("entries", "Entries", [text], (), [table])


def _methods(findings: LeaderboardFindings) -> Iterator[str]:
    """A methods paragraph for a paper."""
    table, settings = findings.table, findings.settings
    system, query = table.nouns
    yield (
        f"{format_count(len(table.entries), system).capitalize()} were compared on the same "
        f"{format_count(len(table.queries), query)} by {findings.measure(findings.headline)}"
        + (
            f", and by {format_count(len(table.measures) - 1, 'other measure')}"
            if len(table.measures) > 1
            else ""
        )
        + "."
    )
    if settings.bootstrap:
        yield (
            f"Intervals are {format_percent(settings.level)} percentile intervals of "
            f"{settings.bootstrap:,} bootstrap samples of the {plural(query)} (Efron & "
            "Tibshirani, 1993)."
        )
    if _is_pair(findings):
        yield "The difference was tested by a paired randomization test (Smucker et al., 2007)."
    elif settings.permutations:
        yield (
            f"All {findings.n_pairs:,} pairs were tested jointly by a randomized Tukey HSD "
            "test with a studentized range (Carterette, 2012), with "
            f"{settings.permutations:,} random exchanges; groups are shown by letters (Piepho, "
            "2004)."
        )
    yield from _verdicts(findings)
    yield f"Analyses were done with quem {__version__}."


def _references(findings: LeaderboardFindings) -> list[str]:
    own = (
        f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
        "package."
    )
    return [*_REFERENCES, *(() if _is_pair(findings) else _OF_MANY), own]
