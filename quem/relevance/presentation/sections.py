"""What the report of relevance judgments shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.relevance.presentation.columns import candidates, queries
from quem.relevance.presentation.summary import (
    agreement_text,
    basis,
    consensus_text,
    judge_rows,
    kappa,
)
from quem.report.files import Section, TextTable
from quem.wording import format_number, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.relevance.result import RelevanceFindings

_REFERENCES = (
    "Krippendorff, K. (2013). Content analysis: an introduction to its methodology (3rd ed.). "
    "Sage.",
    "Cohen, J. (1968). Weighted kappa: nominal scale agreement with provision for scaled "
    "disagreement or partial credit. Psychological Bulletin, 70(4), 213–220.",
)


def report_context(findings: RelevanceFindings) -> dict[str, Any]:
    """Give what the template ``report/relevance.html`` shows."""
    spec = findings.study.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _table("Judges", [*judge_rows(findings)]),
        "meaning": f"{_sentence(consensus_text(findings))} {_sentence(agreement_text(findings))}",
        "basis": f"{basis(findings)}.",
        "first_figure": "",
        "sections": [section for section in _sections(findings) if section],
        "methods": " ".join(_methods(findings)),
        "references": _REFERENCES,
        "settings": [
            (key, str(value)) for key, value in findings.settings.model_dump(mode="json").items()
        ],
        "captions": {},
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _table(title: str, rows: list[tuple[str, ...]], note: str = "", words: int = 1) -> TextTable:
    header = tuple(f"{cell[:1].upper()}{cell[1:]}" for cell in rows[0])
    return TextTable(title, header, rows[1:], note, frozenset(range(1, words)))


def _sections(findings: RelevanceFindings) -> Iterator[Section]:
    if findings.pairs:
        yield Section("pairs", "Agreement of judges", [], (), [_pairs(findings)])
    yield Section("queries", "Queries", [], (), [_queries(findings)])
    yield Section("consensus", "Candidates", [], (), [_candidates(findings)])


def _pairs(findings: RelevanceFindings) -> TextTable:
    judges = findings.judgments.judges
    rows = [
        (judges[j], judges[k], f"{one.n:,}", f"{100 * one.same:.0f}%", kappa(one.kappa))
        for (j, k), one in findings.pairs.items()
    ]
    head = ("judge", "and", "candidates of both", "the same", "weighted kappa")
    note = "Cohen's kappa with quadratic weights; – where it is undefined."
    return _table("Pairs of judges", [head, *rows], note, 2)


def _queries(findings: RelevanceFindings) -> TextTable:
    graded = bool(findings.grades)
    head = (
        "query",
        "candidates",
        "judged",
        "judgments",
        *(["relevant"] if graded else []),
        "alpha",
    )
    rows = [
        (
            one.query,
            f"{one.n_candidates:,}",
            f"{one.n_judged:,}",
            f"{one.n_judgments:,}",
            *([f"{one.n_relevant:,}"] if graded else []),
            format_number(one.alpha, 2),
        )
        for one in queries(findings)
    ]
    note = "Alpha is Krippendorff's, ordinal; – where there is nothing that could differ."
    if graded:
        note = f"Relevant: candidates with a consensus above “{findings.grades[0]}”. {note}"
    return _table("What was judged of each query", [head, *rows], note)


def _candidates(findings: RelevanceFindings) -> TextTable:
    graded = bool(findings.grades)
    head = ("query", "case", "grade" if graded else "average rank", "lowest", "highest", "judges")
    rows = []
    for one in candidates(findings):
        value = "–" if np.isnan(one.value) else _value(one.value, findings)
        ends = [format_number(end, 0 if graded else 1) for end in (one.lowest, one.highest)]
        rows.append((one.query, one.case, value, *ends, f"{one.n:,}"))
    note = "" if graded else "Rank 1 is the worst."
    return _table("Consensus on each candidate", [head, *rows], note, 3 if graded else 2)


def _value(value: float, findings: RelevanceFindings) -> str:
    if findings.grades:
        return f"{value:.0f} {findings.grades[int(value)]}"
    return format_number(value, 2)


def _methods(findings: RelevanceFindings) -> Iterator[str]:
    """A methods paragraph for a paper."""
    used = findings.settings
    yield f"The relevance of pooled candidates was judged on {basis(findings)}."
    if findings.grades:
        labels = ", ".join(f"{at} {label}" for at, label in enumerate(findings.grades))
        rule = {
            "median": "the median of its grades, the lower one of two in the middle",
            "mode": "its most frequent grade, the lowest of several",
        }[used.consensus]
        yield f"Grades were {labels}; the consensus on a candidate is {rule}."
    else:
        yield "The candidates of a query were ranked, ties allowed; their average ranks order them."
    yield (
        "Agreement is Krippendorff's alpha with the ordinal metric (Krippendorff, 2013), and "
        "Cohen's kappa with quadratic weights for two judges (Cohen, 1968)."
    )
    if used.bootstrap:
        yield (
            f"Its {format_percent(used.level)} interval is the percentile interval of "
            f"{used.bootstrap:,} bootstrap samples of the queries."
        )
    if findings.study.judged:
        yield "Judgments from before were kept for the cases that were not judged again."
