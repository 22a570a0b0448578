"""What the report of option lists shows, as text and tables ready to be laid out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.options.presentation.summary import (
    DAGGER,
    DIGITS,
    bare_p,
    basis,
    dagger_note,
    headline_pairs,
    list_text,
    mean_text,
    score,
    share,
    span,
    standing_text,
    threshold_text,
)
from quem.report.layout import Section, TextTable
from quem.wording import format_number, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.lists.properties import Counterexample
    from quem.options.findings import OptionsFindings
    from quem.options.thresholds import Sweep

__all__ = ["CAPTIONS", "marked", "report_context", "sections"]


CAPTIONS = {
    "scores": "The mean of each measure over the questions, with its bootstrap interval.",
    "lengths": "How many lists have each length, and how many of them have the correct option.",
    "thresholds": "The mean score of the lists that each threshold leaves, with its bootstrap "
    "interval. The diamond is the best threshold, the broken line the cross-validated score, the "
    "dotted line the lists as they are.",
    "differences": "How far each two systems are apart by the headline measure, with bootstrap "
    "intervals.",
}


_REFERENCES = (
    "Atanasova, P., Karadzhov, G., Kiprov, Y., Nakov, P. and Sebastiani, F. (2019). Evaluating "
    "variable-length multiple-option lists in chatbots and mobile search. SIGIR, 997–1000.",
    "Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall.",
)


_TESTED = (
    "Smucker, M. D., Allan, J. and Carterette, B. (2007). A comparison of statistical significance "
    "tests for information retrieval evaluation. CIKM, 623–632.",
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65–70.",
)


_MOST_TOLD = 6


def report_context(found: OptionsFindings) -> dict[str, Any]:
    """Give what the template ``report/options.html`` shows.

    Parameters
    ----------
    found : OptionsFindings
    """
    spec = found.data.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _answers(found),
        "basis": f"{basis(found)}.",
        "meaning": _meaning(found),
        "thresholds": [
            f"{found.name_of(sweep.system)}: {threshold_text(found, sweep)}."
            for sweep in found.sweeps[:_MOST_TOLD]
        ],
        "first_figure": "scores",
        "sections": sections(found),
        "methods": " ".join(_methods(found)),
        "references": _references(found),
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in {
                **found.settings.model_dump(mode="json"),
                "max_length": found.scorer.max_length,
            }.items()
        ],
        "captions": CAPTIONS,
    }


def _answers(found: OptionsFindings) -> TextTable:
    at = found.scorer.headline
    columns = (
        "System",
        found.headline,
        f"{format_percent(found.settings.level)} interval",
        "Correct in",
        "Options",
        "Failures",
    )
    rows = [
        (
            found.name_of(standing.system),
            mean_text(found, standing, at),
            span(standing.intervals[at]),
            share(standing.share),
            format_number(standing.mean_length),
            f"{standing.n_missing:,}",
        )
        for standing in found.standings
    ]
    note = (
        "The share of lists with the correct option, the mean number of options, and questions "
        "without a list."
    )
    return marked(found, TextTable(f"{found.headline} of each system", columns, rows, note))


def _meaning(found: OptionsFindings) -> str:
    told = {
        "OLAR": "OLAR is high where lists have the correct option, then where they are short, "
        "then where it stands early; 1 is the correct option alone.",
        "LAR": "LAR is high where lists have the correct option, then where they are short; 1 is "
        "the correct option alone.",
    }.get(found.headline)
    definition = found.scorer.measures[found.scorer.headline].definition
    return told or definition.summary


def _methods(found: OptionsFindings) -> Iterator[str]:
    """A paragraph to be pasted into a paper."""
    settings = found.settings
    yield (
        f"Lists of options were evaluated by {found.headline} (Atanasova et al., 2019), on "
        f"{basis(found)}."
    )
    if settings.bootstrap:
        yield (
            f"Intervals are {format_percent(settings.level)} percentile intervals of "
            f"{settings.bootstrap:,} bootstrap samples of the questions (Efron & Tibshirani, 1993)."
        )
    for standing in found.standings[:_MOST_TOLD]:
        yield f"{found.name_of(standing.system)}: {standing_text(found, standing)}."
    if found.pairs:
        yield (
            "Systems were compared by paired randomisation tests (Smucker et al., 2007), "
            "adjusted by Holm (1979): "
            + join_words((f"{name} {told}" for name, told in headline_pairs(found)[:_MOST_TOLD]))
            + "."
        )
    for sweep in found.sweeps[:_MOST_TOLD]:
        yield f"{found.name_of(sweep.system)}: {threshold_text(found, sweep)}."
    yield f"Analyses were done with quem {__version__}."


def _references(found: OptionsFindings) -> list[str]:
    own = (
        f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
        "package."
    )
    return [*_REFERENCES, *(_TESTED if found.pairs else ()), own]


_MOST_ROWS = 40


_MOST_LISTS = 60


_MOST_COLUMNS = 8


def sections(found: OptionsFindings) -> list[Section]:
    """Make the sections of the report.

    Parameters
    ----------
    found : OptionsFindings
    """
    made = [
        _differences(found) if found.pairs else None,
        _thresholds(found) if found.sweeps else None,
        _lengths(found),
        _measures(found),
        _each_list(found) if (found.lengths >= 0).sum() <= _MOST_LISTS else None,
        _promises(found) if found.properties else None,
    ]
    return [section for section in made if section is not None]


def _several(found: OptionsFindings) -> bool:
    return len(found.standings) > 1


def _differences(found: OptionsFindings) -> Section:
    level = format_percent(found.settings.level)
    text = [
        "Each two systems are compared on the questions where both have a score. The p values are "
        "of paired randomisation tests: if two systems were alike, it would be chance which of "
        "the two has which score on a question. "
        + (
            "They are adjusted for the number of pairs by each measure (Holm 1979)."
            if len(found.data.systems) > 2  # noqa: PLR2004  more than one pair
            else ""
        )
    ]
    columns = ("Difference", "Measure", "Mean", f"{level} interval", "Better on", "Worse on", "p")
    at = found.scorer.headline
    ordered = [pair for pair in found.pairs if pair.measure == at]
    if len(ordered) == 1:
        ordered += [pair for pair in found.pairs if pair.measure != at]
    rows = [
        (
            f"{found.name_of(pair.first)} − {found.name_of(pair.second)}",
            found.scorer.names[pair.measure],
            measured(pair.difference, DIGITS, sign=True),
            span(pair.interval),
            f"{pair.higher:,}",
            f"{pair.lower:,}",
            bare_p(pair.p_holm),
        )
        for pair in ordered[:_MOST_ROWS]
    ]
    note = "All pairs by all measures are in differences.csv."
    table = TextTable("Differences between systems", columns, rows, note, frozenset({1}))
    return Section("differences", "Differences", text, ("differences",), [table])


def _thresholds(found: OptionsFindings) -> Section:
    least = found.settings.least
    options = "option" if least == 1 else f"{least} options"
    text = [
        "A threshold makes a list of the options whose confidence reaches it, and of the best "
        f"{options} in any case. The best threshold is the one of the highest mean "
        f"{found.headline}. It was chosen on the same questions that it is scored on, and so its "
        "score is too good: the corrected score takes off the optimism that resampling shows, and "
        "the cross-validated score is of questions whose threshold was chosen on the others. "
        "Expect the latter of new questions."
    ]
    level = format_percent(found.settings.level)
    shown = found.sweeps[:_MOST_COLUMNS]
    rows = [
        (label, *(cell(sweep) for sweep in shown))
        for label, cell in _threshold_cells(found, level).items()
    ]
    columns = ("At the best threshold", *(found.name_of(sweep.system) for sweep in shown))
    note = "Every threshold that was tried, by all measures, is in thresholds.csv."
    table = TextTable("The best threshold of each system", columns, rows, note)
    return Section(
        "thresholds",
        "From which confidence on an option should be shown",
        text,
        ("thresholds",),
        [table],
    )


def _threshold_cells(found: OptionsFindings, level: str) -> dict[str, Callable[[Sweep], str]]:
    """The rows of the table of thresholds, and what stands in each."""
    at = found.scorer.headline
    cells: dict[str, Callable[[Sweep], str]] = {
        "Best threshold": lambda s: f"{s.threshold[s.best]:.4g}",
        f"Where it lies in {level} of resamples": lambda s: (
            "–" if np.isnan(s.best_range[0]) else f"{s.best_range[0]:.4g} to {s.best_range[1]:.4g}"
        ),
        "Mean length of its lists": lambda s: format_number(float(s.mean_length[s.best])),
        "With the correct option": lambda s: share(float(s.share[s.best])),
        f"{found.headline} there": lambda s: score(float(s.scores[s.best, at])),
        f"{level} interval, the threshold held fixed": lambda s: span(s.best_interval),
        "Corrected for optimism": lambda s: score(s.corrected),
        "Cross-validated": lambda s: score(s.cross_validated),
        f"{level} interval of that": lambda s: span(s.cross_validated_interval),
        "Lists as given": lambda s: score(s.given),
        "Gain, cross-validated over as given": lambda s: measured(s.gain, DIGITS, sign=True),
        f"{level} interval of the gain": lambda s: span(s.gain_interval),
    }
    return cells


def _lengths(found: OptionsFindings) -> Section:
    groups = found.groups[:_MOST_ROWS]
    # Of several systems the table is long enough without the other measures.
    measures = range(0 if _several(found) else len(found.scorer.names))
    others = [at for at in measures if at != found.scorer.headline]
    rows = []
    for group in groups:
        row = [
            f"{group.length:,}",
            f"{group.count:,}",
            share(group.share),
            score(group.scores[found.scorer.headline]),
            span(group.headline_interval),
            *(score(group.scores[at]) for at in others),
        ]
        rows.append((found.name_of(group.system), *row) if _several(found) else tuple(row))
    columns = (
        *(("System",) if _several(found) else ()),
        "Options",
        "Lists",
        "With the correct one",
        found.headline,
        f"{format_percent(found.settings.level)} interval",
        *(found.scorer.names[at] for at in others),
    )
    more = f"The first {_MOST_ROWS} of {len(found.groups):,} rows; lengths.csv has all."
    note = more if len(found.groups) > _MOST_ROWS else ""
    if _several(found) and not note:
        note = "lengths.csv has all measures."
    table = TextTable("Lists by their length", columns, rows, note)
    return Section("lengths", "How long the lists are", [], ("lengths",), [table])


def marked(found: OptionsFindings, table: TextTable) -> TextTable:
    """Grey out the means that are not ranked, and say over how many questions means are."""
    cells = [
        (row, column, text)
        for row, texts in enumerate(table.rows)
        for column, text in enumerate(texts)
    ]
    muted = frozenset((row, column) for row, column, text in cells if DAGGER in text)
    told = dagger_note(found, (text for _, _, text in cells))
    return replace(table, muted=muted, note=f"{table.note} {told}.")


def _measures(found: OptionsFindings) -> Section:
    level = format_percent(found.settings.level)
    names = [found.name_of(standing.system) for standing in found.standings]
    if _several(found):
        columns = ("System", *found.scorer.names)
        rows = [
            (name, *(mean_text(found, standing, at) for at in range(len(found.scorer.names))))
            for name, standing in zip(names, found.standings, strict=True)
        ][:_MOST_ROWS]
        note = f"The {level} intervals are in scores.csv."
    else:
        columns = ("Measure", "Mean", f"{level} interval", "Questions")
        (standing,) = found.standings
        rows = [
            (
                name,
                mean_text(found, standing, at),
                span(standing.intervals[at]),
                f"{standing.defined[at]:,}",
            )
            for at, name in enumerate(found.scorer.names)
        ]
        note = "quem measures NAME explains a measure."
    tables = [marked(found, TextTable("Means over the questions", columns, rows, note))]
    if found.undefined:
        lost = [
            (
                found.scorer.names[u.measure],
                *((found.name_of(u.system),) if _several(found) else ()),
                u.reason,
                f"{u.count:,}",
            )
            for u in found.undefined[:_MOST_ROWS]
        ]
        heads = ("Measure", *(("System",) if _several(found) else ()), "Why", "Lists")
        words = frozenset(range(1, len(heads) - 1))
        title = "Lists without a score, which the means leave out"
        tables.append(TextTable(title, heads, lost, words=words))
    return Section("measures", "All measures", [], ("scores",), tables)


def _each_list(found: OptionsFindings) -> Section:
    columns = (
        "Question",
        *(("System",) if _several(found) else ()),
        "List",
        *found.scorer.names,
    )
    rows = []
    for system, question in np.argwhere(found.lengths >= 0).tolist():
        length, place = found.lengths[system, question], found.places[system, question]
        rows.append(
            (
                found.data.key.titles[question] or found.data.key.ids[question],
                *((found.name_of(system),) if _several(found) else ()),
                list_text(int(length), int(place)),
                *map(score, found.scores[system, question].tolist()),
            )
        )
    words = frozenset({1, 2} if _several(found) else {1})
    note = "c is the correct option, w a wrong one."
    table = TextTable("The score of each list", columns, rows, note, words)
    return Section("lists", "Each list", [], (), [table])


def _promises(found: OptionsFindings) -> Section:
    longest = found.properties[0][1].max_length
    text = [
        "Whether a measure prefers, of any two lists, the one with the correct option "
        "(Correctness); of two that both have it, or both lack it, the shorter (Confidence); and "
        "of two of one length, the one that has it sooner (Priority). All lists of up to "
        f"{longest} options were tried."
    ]
    rows = [
        (
            name,
            *("yes" if prop.holds else "no" for prop in promised),
            next((_failure(p.counterexample) for p in promised if p.counterexample), "–"),
        )
        for name, promised in found.properties
    ]
    columns = ("Measure", "Correctness", "Confidence", "Priority", "Counterexample")
    note = "A counterexample names two lists of which the first should have the higher score."
    table = TextTable("Properties of the measures", columns, rows, note, frozenset({1, 2, 3}))
    return Section("promises", "What the measures promise", text, (), [table])


def _failure(found: Counterexample) -> str:
    """Two lists in the wrong order: "ww 0.25 ≤ cwwww 0.25"."""
    return f"{found.better} {found.better_score:.3g} ≤ {found.worse} {found.worse_score:.3g}"
