"""What the report of dialogues shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.dialogue.presentation.figures import CAPTIONS
from quem.dialogue.presentation.summary import (
    figure_one,
    lead,
    percent_of,
    users_sentence,
)
from quem.dialogue.settings import open_choices
from quem.dialogue.strategies import MEANINGS
from quem.report.files import Section, TextTable
from quem.wording import format_number, format_percent, join_words

if TYPE_CHECKING:
    from quem.dialogue.outcomes import DialogueFindings, StrategyOutcomes

_LEAVE_ONE_IN = (
    "Aha, D. W. and Breslow, L. A. (1997). Refining conversational case libraries. Proceedings of "
    "ICCBR 1997, Springer, 267–278."
)
REFERENCES = (
    "Bogaerts, S. and Leake, D. (2006). What evaluation criteria are right for CCBR? Considering "
    "rank quality. Proceedings of ECCBR 2006, Springer.",
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics 6, 65–70.",
    f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
    "package.",
)


def report_context(findings: DialogueFindings) -> dict[str, Any]:
    """Give what the template ``report/dialogue.html`` shows."""
    spec = findings.study.spec
    sections = [_outcomes(findings), _users(), _quality(findings)]
    sections.append(_open(findings))
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _answers(findings),
        "first_figure": "rank-quality",
        "sections": sections,
        "methods": _methods(findings),
        "references": _references(findings),
        "settings": _settings(findings),
        "captions": CAPTIONS,
    }


def _references(findings: DialogueFindings) -> list[str]:
    kept = findings.experiment.protocol == "leave-one-in"
    return [*((_LEAVE_ONE_IN,) if kept else ()), *REFERENCES]


def _answers(findings: DialogueFindings) -> list[tuple[str, str, str]]:
    """Name, value and detail of what is to be known first."""
    order = findings.whole.order(0)
    best = order[0]
    equal = [
        findings.strategies[s]
        for s in order[1:]
        if not findings.whole.differs(best, s, 0, findings.inference.level)
    ]
    interval = (
        f"{format_percent(findings.inference.level)} interval "
        f"{format_number(findings.whole.low[best, 0], 3)} to "
        f"{format_number(findings.whole.high[best, 0], 3)}"
    )
    experiment = findings.experiment
    over = f"targets ({experiment.protocol})"
    if experiment.protocol == "separate":
        over = f"separate {'query' if len(experiment.targets) == 1 else 'queries'}"
    detail = f"{interval}, over {len(experiment.targets):,} {over}."
    if equal:
        detail += f" Not significantly different from {join_words(equal)}."
    elif len(order) > 1:
        detail += " Significantly better than every other strategy (tests over targets)."
    answers = [
        (
            "Best rank quality over the dialogue",
            f"{findings.strategies[best]} {format_number(findings.whole.mean[best, 0], 3)}",
            detail,
        )
    ]
    for name, agreed, sentence in zip(
        ("efficiency", "precision"),
        (findings.by_efficiency, findings.by_precision),
        users_sentence(findings),
        strict=False,
    ):
        answers.append(
            (
                f"Agreement of users on the order by {name}",
                f"τ {format_number(agreed.mean, 2)}",
                sentence[:1].upper() + sentence[1:] + ".",
            )
        )
    return answers


def _outcomes(findings: DialogueFindings) -> Section:
    level = format_percent(findings.inference.level)
    note = (
        f"Strategies of each user, the best first, with {level} bootstrap intervals over targets. "
        "*: significantly different from the first (paired test over targets, Holm-adjusted for "
        "the pairs of a column)."
    )
    columns = ("place", *findings.users)
    tables = [
        TextTable(
            name,
            columns,
            figure_one(findings, estimate, intervals=True),
            note,
            words=frozenset(range(1, len(columns))),
        )
        for name, estimate in (
            ("Efficiency", findings.efficiency),
            ("Precision", findings.precision),
        )
    ]
    tables.append(_unselected(findings))
    return Section("outcomes", "Efficiency and precision", figures=("outcomes",), tables=tables)


def _unselected(findings: DialogueFindings) -> TextTable:
    rows = [
        (name, *(percent_of(share) for share in findings.unselected[place]))
        for place, name in enumerate(findings.strategies)
    ]
    return TextTable(
        "Dialogues in which no case was selected",
        ("strategy", *findings.users),
        rows,
        "Each counts: the top candidate at the end is taken: efficiency 0, precision its.",
    )


def _users() -> Section:
    text = [
        "Each cell compares the orders that two users give the strategies. Where users disagree, "
        "the best strategy depends on the simulated user; rank quality does not depend on a "
        "simulated user."
    ]
    figures = ("agreement-efficiency", "agreement-precision")
    return Section("users", "Effect of the simulated user", text, figures)


def _quality(findings: DialogueFindings) -> Section:
    estimate = findings.quality
    last = estimate.mean.shape[1] - 1
    points = sorted({*range(min(last, 4) + 1), *(last * q // 8 for q in range(1, 9)), last})
    rows = []
    for s in findings.whole.order(0):
        cells = []
        for point in points:
            best = estimate.order(point)[0]
            star = " *" if estimate.differs(best, s, point, findings.inference.level) else ""
            cells.append(f"{format_number(estimate.mean[s, point], 3)}{star}")
        whole = findings.whole
        cells.append(format_number(whole.mean[s, 0], 3))
        cells.append(f"{format_number(whole.low[s, 0], 3)}–{format_number(whole.high[s, 0], 3)}")
        rows.append((findings.strategies[s], *cells))
    table = TextTable(
        "Rank quality by number of answers",
        ("strategy", *map(str, points), "all", "interval"),
        rows,
        "*: significantly different from the best at that point (paired test over targets, "
        "Holm-adjusted). All: the mean over the dialogue.",
    )
    return Section(
        "quality",
        "Rank quality along the dialogue",
        [_differences_text(findings, estimate)],
        (),
        [table],
    )


def _differences_text(findings: DialogueFindings, estimate: StrategyOutcomes) -> str:
    """Where strategies differ."""
    points = estimate.mean.shape[1]
    clear = []
    for point in range(points):
        order = estimate.order(point)
        if len(order) > 1 and estimate.differs(order[0], order[1], point, findings.inference.level):
            clear.append((point, findings.strategies[order[0]]))
    contracted = findings.contracted[:, : points - 1].mean(axis=1)
    worst = int(contracted.argmax())
    text = "At no point does one strategy differ from all others."
    if clear:
        runs: dict[str, list[int]] = {}
        for point, name in clear:
            runs.setdefault(name, []).append(point)
        text = "One strategy is better than every other: " + join_words(
            f"{name} after {_ranges(at)} answers" for name, at in runs.items()
        )
        text += "."
    if contracted[worst] > 0:
        text += (
            " Lists were contracted to nothing because of ties at up to "
            f"{percent_of(contracted[worst])} of the points of dialogues (with "
            f"{findings.strategies[worst]})."
        )
    return text


def _ranges(points: list[int]) -> str:
    """Write "1 to 4, 7"."""
    runs: list[list[int]] = []
    for point in points:
        if runs and point == runs[-1][-1] + 1:
            runs[-1].append(point)
        else:
            runs.append([point])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _open(findings: DialogueFindings) -> Section:
    rows = []
    for name, value, choice in open_choices(findings.experiment.settings):
        explained = choice.explained.get(str(value), "")
        others = ", ".join(str(other) for other in choice.values if other != value)
        rows.append(
            (
                name.replace("_", " "),
                str(value),
                f"{choice.meaning}{': ' if explained else ''}{explained}",
                others,
            )
        )
    table = TextTable(
        "Choices the paper leaves open, and the values used",
        ("choice", "value", "meaning", "alternatives"),
        rows,
        "In the study file, write _ for a space.",
        words=frozenset({1, 2, 3}),
    )
    return Section("open", "Open choices", tables=[table])


def _methods(findings: DialogueFindings) -> str:
    experiment, used = findings.experiment, findings.inference
    settings = experiment.settings
    names = [
        f"{name} ({MEANINGS[name].split(' (')[-1]}" if name in MEANINGS else name
        for name in findings.strategies
    ]
    levels = join_words(
        (f"{level:.4f} for b = {b:g}" for b, level in experiment.levels.items()), most=20
    )
    protocol = {
        "leave-one-out": "leave-one-out; ",
        "leave-one-in": "Aha & Breslow, 1997; ",
        "separate": "",
    }[experiment.protocol]
    text = (
        f"{' '.join(lead(findings)[:1])} ({protocol}Bogaerts & Leake, 2006). Distances are "
        "weighted means of 0 or 1 for categorical and of range-normalized differences for numeric "
        f"attributes. Strategies: {join_words(names, most=20)}. Users: "
        f"{join_words(findings.users, most=20)}"
    )
    if levels:
        text += f"; distance thresholds {levels}"
    text += (
        f". Rank quality compares k = {settings.k} candidates (λ = 2, weights from "
        f"1 to 0). Intervals are {format_percent(used.level)} "
        f"percentile bootstrap intervals over targets ({used.bootstrap:,} draws); pairs of "
        f"strategies were tested by swapping them within targets ({used.permutations:,} random "
        f"swaps), with Holm's adjustment. The distance granularity is {findings.granularity:.4f}. "
        f"Analyses were done with quem {__version__}."
    )
    return text


def _settings(findings: DialogueFindings) -> list[tuple[str, str]]:
    used = findings.experiment.settings.to_dict()
    inference = findings.inference
    return [
        ("queries", findings.experiment.protocol),
        *((name, str(value)) for name, value in used.items()),
        ("level", str(inference.level)),
        ("bootstrap", str(inference.bootstrap)),
        ("permutations", str(inference.permutations)),
    ]
