"""The terminal summary: what was judged, how far judges agree, and each judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.wording import align_columns, format_count, format_number, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.relevance.result import RelevanceFindings


def summary_text(findings: RelevanceFindings) -> str:
    """Write the summary of an analysis as text."""
    lines = [findings.study.spec.title, "", f"  {consensus_text(findings)}"]
    lines += [f"  {agreement_text(findings)}", "", "Judges"]
    lines += [f"  {line}" for line in align_columns([*judge_rows(findings)])]
    return "\n".join([*lines, "", "Based on", f"  {basis(findings)}"])


def consensus_text(findings: RelevanceFindings) -> str:
    """Say how many candidates have which grade."""
    known = findings.consensus[~np.isnan(findings.consensus)]
    if not findings.grades:
        return f"{format_count(len(known), 'candidate')} ordered by average rank"
    counts = [
        f"{label} {int((known == grade).sum()):,}" for grade, label in enumerate(findings.grades)
    ]
    before = len(findings.study.judged)
    more = f"; {before:,} from before" if before else ""
    return f"{format_count(len(known), 'candidate')} graded: {', '.join(reversed(counts))}{more}"


def agreement_text(findings: RelevanceFindings) -> str:
    """Say how far judges agree."""
    alpha, interval = findings.alpha.overall, findings.alpha.interval
    if np.isnan(alpha):
        return "agreement of judges is unknown: no two judged the same candidates differently"
    text = f"agreement of judges: Krippendorff's alpha {format_number(alpha, 2)}"
    if not np.isnan(interval[0]):
        ends = " to ".join(format_number(end, 2) for end in interval)
        text += f" ({format_percent(findings.settings.level)} interval {ends})"
    return text


def judge_rows(findings: RelevanceFindings) -> Iterator[tuple[str, ...]]:
    """Give the table of judges, its head first."""
    repeats = any(one.repeated.n for one in findings.judges)
    what = "grade" if findings.grades else "rank"
    more = ("the same again", "kappa") if repeats else ()
    yield ("judge", "queries", "judged", "could not", f"mean {what}", *more)
    for one in findings.judges:
        again = one.repeated
        same = f"{100 * again.same:.0f}% of {again.n:,}" if again.n else "–"
        yield (
            one.judge,
            f"{one.n_queries:,}",
            f"{one.n_judged:,}",
            f"{one.n_cannot:,}",
            format_number(one.mean, 2),
            *((same, kappa(again.kappa)) if repeats else ()),
        )


def kappa(value: float) -> str:
    """Write a kappa: "0.62"; "–" for none."""
    return format_number(value, 2)


def basis(findings: RelevanceFindings) -> str:
    """Say what the numbers are based on."""
    judgments = findings.judgments
    n = len(judgments.queries)
    return (
        f"{n:,} quer{'y' if n == 1 else 'ies'}, "
        f"{format_count(len(judgments.pairs), 'candidate')}, "
        f"{format_count(len(judgments.judges), 'judge')}, "
        f"{format_count(int(judgments.counts.sum()), 'judgment')}"
    )
