"""What the report of option lists shows, as text and tables ready to be laid out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.lists.names import describe_own
from quem.options.presentation.confidence_sections import (
    CONFIDENCE_REFERENCES,
    confidence_methods,
    confidence_sections,
)
from quem.options.presentation.summary import (
    DAGGER,
    DIGITS,
    a_correct,
    basis,
    dagger_note,
    headline_pairs,
    list_text,
    mean_text,
    score,
    share,
    span,
    system_text,
)
from quem.report.files import Section, TextTable
from quem.wording import format_bare_p, format_number, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.lists.properties import Counterexample
    from quem.options.result import OptionsFindings

CAPTIONS = {
    "scores": "The mean of each measure over the questions, with its bootstrap interval.",
    "lengths": "How many lists have each length, and how many of them have a correct option.",
    "thresholds": "The headline of the lists that each threshold leaves, with its bootstrap "
    "interval, and how long they are.",
    "reliability": "The share of options that are correct, in bins of about the same number of "
    "options, with its bootstrap interval over questions. On the dashed line confidences are "
    "probabilities.",
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

_MOST_NAMED = 6


def report_context(findings: OptionsFindings) -> dict[str, Any]:
    """Give what the template ``report/options.html`` shows."""
    spec = findings.data.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _answers(findings),
        "basis": f"{basis(findings)}.",
        "meaning": _meaning(findings),
        "first_figure": "scores",
        "sections": sections(findings),
        "methods": " ".join(_methods(findings)),
        "references": _references(findings),
        "settings": [
            (key, _setting(value))
            for key, value in {
                **findings.settings.model_dump(mode="json"),
                "max_length": findings.scorer.max_length,
            }.items()
        ],
        "captions": CAPTIONS,
    }


def _setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _answers(findings: OptionsFindings) -> TextTable:
    at = findings.scorer.headline
    columns = (
        "System",
        findings.headline,
        f"{format_percent(findings.settings.level)} interval",
        "Correct in",
        "Options",
        "Failures",
    )
    rows = [
        (
            findings.name_of(entry.system),
            mean_text(findings, entry, at),
            span(entry.intervals[at]),
            share(entry.share),
            format_number(entry.mean_length),
            f"{entry.n_missing:,}",
        )
        for entry in findings.system_scores
    ]
    note = (
        f"The share of lists with {a_correct(findings)}, the mean number of options, and questions "
        "without a list."
    )
    return marked(findings, TextTable(f"{findings.headline} of each system", columns, rows, note))


def _meaning(findings: OptionsFindings) -> str:
    sentence = {
        "OLAR": "OLAR is high where lists have the correct option, then where they are short, "
        "then where it comes early; 1 is the correct option alone.",
        "LAR": "LAR is high where lists have the correct option, then where they are short; 1 is "
        "the correct option alone.",
    }.get(findings.headline)
    definition = findings.scorer.measures[findings.scorer.headline].definition
    return sentence or definition.summary


def _methods(findings: OptionsFindings) -> Iterator[str]:
    """A methods paragraph for a paper."""
    settings = findings.settings
    yield (
        f"Lists of options were evaluated by {findings.headline} (Atanasova et al., 2019), on "
        f"{basis(findings)}."
    )
    if settings.bootstrap:
        yield (
            f"Intervals are {format_percent(settings.level)} percentile intervals of "
            f"{settings.bootstrap:,} bootstrap samples of the questions (Efron & Tibshirani, 1993)."
        )
    for entry in findings.system_scores[:_MOST_NAMED]:
        yield f"{findings.name_of(entry.system)}: {system_text(findings, entry)}."
    if findings.pairs:
        yield (
            "Systems were compared by paired randomization tests (Smucker et al., 2007), "
            "with p values adjusted after Holm (1979): "
            + join_words(
                (f"{name} {text}" for name, text in headline_pairs(findings)[:_MOST_NAMED])
            )
            + "."
        )
    yield from confidence_methods(findings)
    yield f"Analyses were done with quem {__version__}."


def _references(findings: OptionsFindings) -> list[str]:
    own = (
        f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
        "package."
    )
    return [
        *_REFERENCES,
        *(_TESTED if findings.pairs else ()),
        *(CONFIDENCE_REFERENCES if findings.calibrations else ()),
        own,
    ]


_MOST_ROWS = 40
_MOST_LISTS = 60


def sections(findings: OptionsFindings) -> list[Section]:
    """Make the sections of the report."""
    parts = [
        _differences(findings) if findings.pairs else None,
        *confidence_sections(findings),
        _lengths(findings),
        _measures(findings),
        _each_list(findings) if (findings.lengths >= 0).sum() <= _MOST_LISTS else None,
        _promises(findings) if findings.properties else None,
    ]
    return [section for section in parts if section is not None]


def _several(findings: OptionsFindings) -> bool:
    return len(findings.system_scores) > 1


def _differences(findings: OptionsFindings) -> Section:
    level = format_percent(findings.settings.level)
    text = [
        "Every pair of systems is compared on the questions where both have a score. The p values "
        "are of paired randomization tests: under the null hypothesis the two scores on each "
        "question are exchangeable. "
        + (
            "They are Holm-adjusted for the number of pairs, separately for each measure."
            if len(findings.data.systems) > 2  # noqa: PLR2004  more than one pair
            else ""
        )
    ]
    columns = ("Difference", "Measure", "Mean", f"{level} interval", "Better on", "Worse on", "p")
    at = findings.scorer.headline
    ordered = [pair for pair in findings.pairs if pair.measure == at]
    if len(ordered) == 1:
        ordered += [pair for pair in findings.pairs if pair.measure != at]
    rows = [
        (
            f"{findings.name_of(pair.first)} − {findings.name_of(pair.second)}",
            findings.scorer.names[pair.measure],
            measured(pair.difference, DIGITS, sign=True),
            span(pair.interval),
            f"{pair.higher:,}",
            f"{pair.lower:,}",
            format_bare_p(pair.p_holm),
        )
        for pair in ordered[:_MOST_ROWS]
    ]
    note = "All pairs by all measures are in differences.csv."
    table = TextTable("Differences between systems", columns, rows, note, frozenset({1}))
    return Section("differences", "Differences", text, (), [table])


def _lengths(findings: OptionsFindings) -> Section:
    groups = findings.groups[:_MOST_ROWS]
    # Of several systems the table is long enough without the other measures.
    measures = range(0 if _several(findings) else len(findings.scorer.names))
    others = [at for at in measures if at != findings.scorer.headline]
    rows = []
    for group in groups:
        row = [
            f"{group.length:,}",
            f"{group.count:,}",
            share(group.share),
            score(group.scores[findings.scorer.headline]),
            span(group.headline_interval),
            *(score(group.scores[at]) for at in others),
        ]
        rows.append((findings.name_of(group.system), *row) if _several(findings) else tuple(row))
    columns = (
        *(("System",) if _several(findings) else ()),
        "Options",
        "Lists",
        f"Contains {a_correct(findings)}",
        findings.headline,
        f"{format_percent(findings.settings.level)} interval",
        *(findings.scorer.names[at] for at in others),
    )
    more = f"The first {_MOST_ROWS} of {len(findings.groups):,} rows; lengths.csv has all."
    note = more if len(findings.groups) > _MOST_ROWS else ""
    if _several(findings) and not note:
        note = "lengths.csv has all measures."
    table = TextTable("Lists by their length", columns, rows, note)
    return Section("lengths", "Length of the lists", [], ("lengths",), [table])


def marked(findings: OptionsFindings, table: TextTable) -> TextTable:
    """Gray out the means that are not ranked, and say over how many questions means are."""
    cells = [
        (row, column, text)
        for row, texts in enumerate(table.rows)
        for column, text in enumerate(texts)
    ]
    muted = frozenset((row, column) for row, column, text in cells if DAGGER in text)
    note = dagger_note(findings, (text for _, _, text in cells))
    return replace(table, muted=muted, note=f"{table.note} {note}.")


def _measures(findings: OptionsFindings) -> Section:
    level = format_percent(findings.settings.level)
    names = [findings.name_of(entry.system) for entry in findings.system_scores]
    if _several(findings):
        columns = ("System", *findings.scorer.names)
        rows = [
            (name, *(mean_text(findings, entry, at) for at in range(len(findings.scorer.names))))
            for name, entry in zip(names, findings.system_scores, strict=True)
        ][:_MOST_ROWS]
        note = f"The {level} intervals are in scores.csv."
    else:
        columns = ("Measure", "Mean", f"{level} interval", "Questions")
        (entry,) = findings.system_scores
        rows = [
            (
                name,
                mean_text(findings, entry, at),
                span(entry.intervals[at]),
                f"{entry.defined[at]:,}",
            )
            for at, name in enumerate(findings.scorer.names)
        ]
        note = "quem score --measures NAME explains a measure."
    tables = [marked(findings, TextTable("Means over the questions", columns, rows, note))]
    if findings.undefined:
        lost = [
            (
                findings.scorer.names[u.measure],
                *((findings.name_of(u.system),) if _several(findings) else ()),
                u.reason,
                f"{u.count:,}",
            )
            for u in findings.undefined[:_MOST_ROWS]
        ]
        heads = ("Measure", *(("System",) if _several(findings) else ()), "Why", "Lists")
        words = frozenset(range(1, len(heads) - 1))
        title = "Lists without a score, excluded from the means"
        tables.append(TextTable(title, heads, lost, words=words))
    text = describe_own(findings.scorer.measures)
    return Section("measures", "All measures", text, ("scores",), tables)


def _each_list(findings: OptionsFindings) -> Section:
    columns = (
        "Question",
        *(("System",) if _several(findings) else ()),
        "List",
        *findings.scorer.names,
    )
    rows = []
    for system, question in np.argwhere(findings.lengths >= 0).tolist():
        length = int(findings.lengths[system, question])
        places = findings.ways.places[int(findings.ways.which[system, question])]
        rows.append(
            (
                findings.data.key.titles[question] or findings.data.key.ids[question],
                *((findings.name_of(system),) if _several(findings) else ()),
                list_text(length, places),
                *map(score, findings.scores[system, question].tolist()),
            )
        )
    words = frozenset({1, 2} if _several(findings) else {1})
    note = "c is a correct option, w a wrong one."
    table = TextTable("The score of each list", columns, rows, note, words)
    return Section("lists", "Each list", [], (), [table])


def _promises(findings: OptionsFindings) -> Section:
    longest = findings.properties[0][1].max_length
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
        for name, promised in findings.properties
    ]
    columns = ("Measure", "Correctness", "Confidence", "Priority", "Counterexample")
    note = "A counterexample names two lists of which the first should have the higher score."
    table = TextTable(
        "Which measures have which property", columns, rows, note, frozenset({1, 2, 3})
    )
    return Section("promises", "Properties of the measures", text, (), [table])


def _failure(example: Counterexample) -> str:
    """Two lists in the wrong order: "ww 0.25 ≤ cwwww 0.25"."""
    return (
        f"{example.better} {example.better_score:.3g} ≤ {example.worse} {example.worse_score:.3g}"
    )
