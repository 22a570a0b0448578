"""An evaluation of dialogues as text for a terminal, in the words of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.wording import align_columns, format_number, format_percent, join_words

if TYPE_CHECKING:
    from quem.dialogue.outcomes import DialogueFindings, StrategyOutcomes, UserAgreement

_LEAST = 2


def summary_text(findings: DialogueFindings) -> str:
    """Say the result."""
    lines = [findings.study.spec.title, "", *(f"  {line}" for line in lead(findings)), ""]
    for name, estimate in (("Efficiency", findings.efficiency), ("Precision", findings.precision)):
        lines += [f"{name} (best strategy first, as in the paper's Figure 1)"]
        lines += [
            f"  {line}"
            for line in align_columns([("", *findings.users), *figure_one(findings, estimate)])
        ]
        lines.append("")
    lines += ["Rank quality, averaged over the dialogue"]
    lines += [f"  {line}" for line in _quality_lines(findings)]
    lines += ["", "Effect of the simulated user"]
    lines += [f"  {line}" for line in users_sentence(findings)]
    return "\n".join(lines)


def lead(findings: DialogueFindings) -> list[str]:
    """What was done, and the granularity of the case base, a line each."""
    experiment = findings.experiment
    cases, targets = experiment.cases, len(experiment.targets)
    per_target = experiment.dialogues
    rule = {"random": "in random order", "fixed": "in a fixed order"}[experiment.questions.rule]
    which = {
        "leave-one-out": "each case once the target",
        "leave-one-in": "each case once the target and kept in the case base (leave-one-in)",
        "separate": f"{targets:,} separate {'query' if targets == 1 else 'queries'}, each once "
        "the target",
    }[experiment.protocol]
    return [
        f"{len(cases)} cases, {len(cases.attributes)} attributes, {len(cases.labels)} classes; "
        f"{which}, {per_target} "
        f"dialogue{'' if per_target == 1 else 's'} of it: {targets * per_target:,}, "
        f"questions {rule}",
        f"distance granularity {findings.granularity:.4f} (distinct distances from a case to the "
        "others, as a share of the case base)",
    ]


def figure_one(
    findings: DialogueFindings, estimate: StrategyOutcomes, *, intervals: bool = False
) -> list[tuple[str, ...]]:
    """Rows as in the paper's Figure 1: strategies of each user sorted, and their range."""
    columns = []
    for column in range(len(findings.users)):
        order = estimate.order(column)
        texts = []
        for s in order:
            text = f"{findings.strategies[s]} {format_number(estimate.mean[s, column], 3)}"
            texts.append(_with_interval(findings, estimate, s, column, text) if intervals else text)
        columns.append([*texts, format_number(estimate.spread(column), 3)])
    names = [*(str(place + 1) for place in range(len(findings.strategies))), "range"]
    return [(name, *row) for name, row in zip(names, zip(*columns, strict=True), strict=True)]


def _with_interval(
    findings: DialogueFindings, estimate: StrategyOutcomes, strategy: int, column: int, text: str
) -> str:
    """Add a * where it differs significantly from the first, and the interval."""
    first = estimate.order(column)[0]
    if estimate.differs(first, strategy, column, findings.inference.level):
        text += " *"
    text = text.replace(" ", "\u00a0")
    low, high = (format_number(ends[strategy, column], 3) for ends in (estimate.low, estimate.high))
    return text if low == "–" else f"{text} ({low}\u2060–\u2060{high})"


def _quality_lines(findings: DialogueFindings) -> list[str]:
    order = findings.whole.order(0)
    last = findings.quality.mean.shape[1] - 1
    points = sorted({0, 1, last // 4, last // 2, 3 * last // 4, last})
    table = [("", "mean", *(f"after {point}" for point in points))]
    for s in order:
        values = [format_number(findings.quality.mean[s, point], 3) for point in points]
        table.append((findings.strategies[s], format_number(findings.whole.mean[s, 0], 3), *values))
    return align_columns(table)


def users_sentence(findings: DialogueFindings) -> list[str]:
    """How far users agree on the strategies, a sentence a measure."""
    if len(findings.users) < _LEAST or len(findings.strategies) < _LEAST:
        return ["Needs at least two users and two strategies"]
    sentences = []
    for measure, agreed in (
        ("efficiency", findings.by_efficiency),
        ("precision", findings.by_precision),
    ):
        text = f"by {measure}, the order of the strategies agrees between users with a mean tau of "
        text += format_number(agreed.mean, 2)
        if np.isfinite(agreed.low):
            level = format_percent(findings.inference.level)
            text += (
                f" ({level} interval {format_number(agreed.low, 2)} to "
                f"{format_number(agreed.high, 2)})"
            )
        if np.isfinite(agreed.same_winner):
            text += (
                f"; two users agree on the best one in {percent_of(agreed.same_winner)} of pairs"
            )
        sentences.append(f"{text}: {winners(findings, agreed)}")
    return sentences


def percent_of(share: float) -> str:
    """A share as a whole percentage."""
    return f"{100 * share:.0f}%"


def winners(findings: DialogueFindings, agreed: UserAgreement) -> str:
    """Which strategy is best by how many users: "RA by 3 users, DD by 4"."""
    counts: dict[str, int] = {}
    for best in agreed.winners[: len(findings.users)]:
        name = " = ".join(findings.strategies[s] for s in best) or "none"
        counts[name] = counts.get(name, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return "best are " + join_words(f"{name} for {count}" for name, count in ordered)
