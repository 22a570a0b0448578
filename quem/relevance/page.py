"""Presentation of relevance studies: analysis.json, tables, terminal, and report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.relevance import result as rows
from quem.report.files import Section, TextTable
from quem.report.result import Presentation
from quem.report.rows import Entry, RowDocument, RowTable
from quem.scores.inference import REPLICATES
from quem.scores.present import section_text
from quem.studyfile.relevance import RelevanceSettings
from quem.wording import format_count, format_interval, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.relevance.result import RelevanceFindings

_REFERENCES = (
    "Krippendorff, K. (2013). Content analysis: an introduction to its methodology (3rd ed.). "
    "Sage.",
    "Cohen, J. (1968). Weighted kappa: nominal scale agreement with provision for scaled "
    "disagreement or partial credit. Psychological Bulletin, 70(4), 213–220.",
)
_RULES = {
    "median": "the median of its grades, the lower one of two in the middle",
    "mode": "its most frequent grade, the lowest of several",
}
_KAPPA = "Cohen's kappa with quadratic weights; – where it is undefined."


def summary_text(found: RelevanceFindings) -> str:
    """The terminal summary."""
    lines = [found.study.spec.title, "", f"  {_consensus(found)}", f"  {_agreement(found)}"]
    return "\n".join(
        [*lines, "", *section_text(_judges(found)), "", "Based on", f"  {_basis(found)}"]
    )


def _consensus(found: RelevanceFindings) -> str:
    """The distribution of grades, in words."""
    known = found.consensus[~np.isnan(found.consensus)]
    counts = [f"{label} {(known == grade).sum():,}" for grade, label in enumerate(found.grades)]
    before = f"; {len(found.study.judged):,} from before" if found.study.judged else ""
    n = format_count(len(known), "candidate")
    return f"{n} graded: {', '.join(reversed(counts))}{before}"


def _agreement(found: RelevanceFindings) -> str:
    """The agreement between judges, in words."""
    alpha = found.alpha
    if np.isnan(alpha.overall):
        return "agreement of judges is unknown: no two judged the same candidates differently"
    text = f"agreement of judges: Krippendorff's alpha {alpha.overall:.2f}"
    if np.isnan(alpha.interval[0]):
        return text
    level, ends = format_percent(found.settings.level), format_interval(alpha.interval, 2)
    return f"{text} ({level} interval {ends})"


def _basis(found: RelevanceFindings) -> str:
    """The data behind the numbers, in words."""
    counts = found.study.counts()
    del counts["judgment from before"]
    return ", ".join(format_count(n, noun) for noun, n in counts.items())


def _judges(found: RelevanceFindings) -> TextTable:
    judges = [*found.judges()]
    table = rows.JudgeRow.text_table(judges)
    if any(one.n_repeated for one in judges):
        return table
    n = table.columns.index("Judged twice")
    return replace(table, columns=table.columns[:n], rows=[row[:n] for row in table.rows])


def report_context(found: RelevanceFindings) -> dict[str, Any]:
    """The variables of the template ``report/relevance.html``."""
    spec = found.study.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _judges(found),
        "meaning": " ".join(
            f"{text[:1].upper()}{text[1:]}." for text in (_consensus(found), _agreement(found))
        ),
        "basis": f"{_basis(found)}.",
        "first_figure": "",
        "sections": [*_sections(found)],
        "methods": " ".join(_methods(found)),
        "references": _REFERENCES,
        "settings": [(key, str(value)) for key, value in found.settings],
        "captions": {},
    }


def _sections(found: RelevanceFindings) -> Iterator[Section]:
    if pairs := [*found.pairs()]:
        yield Section("pairs", "Agreement", tables=[rows.PairRow.text_table(pairs, note=_KAPPA)])
    note = f"Relevant: a consensus above “{found.grades[0]}”. Alpha is Krippendorff's, ordinal."
    queries = rows.QueryRow.text_table([*found.queries()], note=note)
    yield Section("queries", "Queries", tables=[queries])
    candidates = rows.CandidateRow.text_table([*found.candidates()])
    yield Section("consensus", "Candidates", tables=[candidates])


def _methods(found: RelevanceFindings) -> Iterator[str]:
    """The methods paragraph for a paper."""
    yield f"The relevance of pooled candidates was judged on {_basis(found)}."
    labels = ", ".join(f"{grade} {label}" for grade, label in enumerate(found.grades))
    rule = _RULES[found.settings.consensus]
    yield f"Grades were {labels}; the consensus on a candidate is {rule}."
    yield (
        "Agreement is Krippendorff's alpha with the ordinal metric (Krippendorff, 2013), and "
        "Cohen's kappa with quadratic weights for two judges (Cohen, 1968)."
    )
    if found.settings.samples:
        yield (
            f"The {format_percent(found.settings.level)} interval of alpha is the percentile "
            f"interval of {REPLICATES:,} bootstrap samples of the queries."
        )
    if found.study.judged:
        yield "Judgments from before were kept for the cases that were not judged again."


_F = rows.RelevanceFindings
_TABLES = (
    RowTable("judges", "one row per judge", rows.JudgeRow, _F.judges),
    RowTable("pairs", "one row per two judges", rows.PairRow, _F.pairs),
    RowTable("queries", "one row per query", rows.QueryRow, _F.queries),
    RowTable("consensus", "one row per candidate", rows.CandidateRow, _F.candidates),
)
_FILES = (
    RowTable("judgments", "one row per judgment", rows.JudgmentRow, _F.each_judgment),
    RowTable("qrels", "one row per case with a grade", rows.QrelRow, _F.qrels),
)
PRESENTATION: Presentation[Any] = Presentation(
    RowDocument(
        "relevance",
        RelevanceSettings,
        entries=(
            Entry("overall", "of all queries", rows.Overall, _F.overall, many=False, always=True),
            *(table.entry() for table in _TABLES),
        ),
    ),
    (*_TABLES, *_FILES),
    {},
    summary_text,
    report_context,
)
