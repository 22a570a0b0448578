"""An audit as text for a terminal, and as a page."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.machines.auditing import size_text
from quem.report.files import TextTable
from quem.wording import (
    WIDTH,
    format_bare_p,
    format_count,
    format_interval,
    format_number,
    join_words,
)

if TYPE_CHECKING:
    from quem.machines.auditing import AuditFindings

_SIGNIFICANT = 0.05


def verdict(findings: AuditFindings) -> tuple[str, str]:
    """Say what the machine judge is like: how it agrees with experts, and what else it does."""
    tau, theirs = findings.agreement.tau.value, findings.agreement.tau_experts.value
    text = f"{findings.run.judge} agrees with these experts with a mean tau-b of "
    text += format_number(tau, 2)
    if np.isfinite(theirs):
        text += f" (experts among themselves {format_number(theirs, 2)})"
    parts = []
    for liking in findings.likings:
        more = "more" if liking.years > 0 else "less"
        parts.append(
            f"gives {liking.solver} {format_number(abs(liking.years))} "
            f"{findings.study.spec.experience_unit} {more} than they do"
            f"{size_text(liking.years, liking.interval, 1)}"
        )
    places = next((line for line in findings.lines if line.code == "place"), None)
    if places and np.isfinite(places.tested.value):
        heeds = places.tested.p < _SIGNIFICANT
        parts.append("is influenced by places" if heeds else "is not clearly influenced by places")
    return f"{text}.", f"It {join_words(parts)}." if parts else ""


def summary_text(findings: AuditFindings) -> str:
    """Write an audit as text."""
    lines = [f"Audit of {_name(findings)} in {findings.study.spec.title}", ""]
    lines += textwrap.wrap(" ".join(verdict(findings)).strip(), WIDTH)
    for line in findings.lines:
        lines += ["", line.question]
        lines += [f"  {part}" for part in textwrap.wrap(line.sentence, WIDTH - 2)]
    return "\n".join(lines)


def _name(findings: AuditFindings) -> str:
    run = findings.run
    return f"{run.judge} ({run.declared_model})" if run.declared_model else run.judge


def report_context(findings: AuditFindings) -> dict[str, Any]:
    """Give what the template ``report/audit.html`` shows."""
    run = findings.run
    title, lead = verdict(findings)
    return {
        "verdict": title,
        "lead": lead,
        "title": f"Audit of {_name(findings)}",
        "study_id": findings.study.spec.id,
        "study_title": findings.study.spec.title,
        "answers": findings.lines,
        "numbers": _numbers(findings),
        "captions": CAPTIONS,
        "basis": [
            f"Run {run.number} of {run.ended_at:%Y-%m-%d}, {format_count(run.repeats, 'order')} "
            f"of each problem; prompt {run.prompt[:12]}…",
            f"Experts {join_words(findings.experts.judges)} on "
            f"{join_words(findings.experts.problems[p] for p in findings.labeled)}",
            "All but places and repeats is measured on the problems that experts ranked.",
            *_without_ranking(findings),
            f"Transcripts of all calls: machines/{run.judge}, one file per call",
        ],
    }


def _without_ranking(findings: AuditFindings) -> list[str]:
    """Say which calls gave no ranking, and whether experts ranked their problems."""
    failed = [call for call in findings.run.made if call.status != "ok"]
    if not failed:
        return []
    experts = findings.experts
    labeled = {p for p, has in zip(experts.problems, experts.ranked, strict=True) if has}
    counts = Counter((call.problem, call.status) for call in failed)
    each = [f"{problem} ({status}, {n})" for (problem, status), n in counts.items()]
    of_experts = sum(call.problem in labeled for call in failed)
    return [
        f"Calls without a ranking: {join_words(each)}; {of_experts} of {len(failed)} are on "
        "problems that experts ranked"
    ]


def _numbers(findings: AuditFindings) -> TextTable:
    rows = [
        (
            line.question,
            format_number(line.tested.value, 2),
            line.unit,
            format_interval(line.tested.interval, 2)
            if np.isfinite(line.tested.interval).all()
            else "–",
            format_bare_p(line.tested.p) if np.isfinite(line.tested.p) else "–",
            f"{line.tested.n:,}",
        )
        for line in findings.lines
    ]
    columns = ("Question", "Value", "Unit", "95% interval", "p", "n")
    return TextTable("All numbers", columns, rows, words=frozenset({2}))


CAPTIONS = {
    "agreement": "Kendall's tau-b on each problem: the machine judge with the experts, their mean "
    "(black), and each two experts (gray).",
    "liking": "Experience that the machine judge gives each solver beyond what experts give: "
    "people (gray) by their experience, systems by the experts' estimate, with 95% intervals.",
    "place": "How far a solution's rank is from its mean over the orders, by the place where it "
    "was shown; means over problems. A machine judge that heeds no place stays near 0.",
    "length": "Rank by the machine judge less rank by the experts, by the mean length of a "
    "solver's solutions: people (gray) and systems.",
}
