"""The result of an evaluation of dialogues: additions to the table of scores."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from quem.dialogue.outcomes import RANK_QUALITY, Evaluation, Outcome, UserAgreement
from quem.dialogue.simulation import evaluated_on
from quem.dialogue.strategies import FULL_NAMES
from quem.report.files import Section, TextTable
from quem.report.rows import Interval, Row, RowTable, col
from quem.scores import present
from quem.scores.inference import Inference
from quem.scores.result import Scored, ScoredResult, View, certified
from quem.scores.rows import ends, known
from quem.scores.table import Claim, Nouns, Origin, ScoreTable
from quem.studyfile.dialogue import DialogueSettings
from quem.wording import format_count, format_number, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas as pd

    from quem.dialogue.loading import DialogueStudy
    from quem.errors import StudyWarning
    from quem.report.result import Drawers
    from quem.scores.certificate import Line

_MOST_NAMED = 20


class StrategyRow(Row):
    """Measures of a strategy besides its scores."""

    strategy: str = col("name", "strategy")
    unselected: float = col(
        "share of dialogues without a selection, which count with efficiency 0 and the precision "
        "of the last top case; mean over users",
        "unselected",
        3,
    )
    contracted: float = col(
        "share of lists that contracted to nothing, after the first answer and before the last",
        "contracted",
        3,
    )


class AnswersRow(Row):
    """The rank quality of a strategy after a number of answers."""

    strategy: str = col("name")
    answers: int = col("number of answers")
    rank_quality: float = col("mean over targets")
    interval: Interval | None = col("percentile bootstrap over targets")
    contracted: float = col("share of lists that contracted to nothing")


class UserRow(Row):
    """A simulated user."""

    user: str = col("name", "user")
    b: float | None = col("share of the case base within the threshold; DL has none", "b", 2)
    threshold: float | None = col("distance within which that share is, on average", "threshold", 4)
    efficiency_range: float = col("of the strategies' means: best minus worst", "efficiency", 3)
    efficiency_best: str = col("strategy, or several that tie", "best")
    precision_range: float = col("of the strategies' means: best minus worst", "precision", 3)
    precision_best: str = col("strategy, or several that tie", "best")


class SelectionRow(Row):
    """A strategy and a user."""

    strategy: str = col("name")
    user: str = col("name")
    unselected: float = col("share of dialogues without a selection")


class AgreementRow(Row):
    """Agreement of users on the order of the strategies."""

    title: ClassVar[str] = "Agreement of users on the order of the strategies"
    measure: str = col("`efficiency` or `precision`", "by")
    tau_b: float | None = col("Kendall's tau-b, mean over pairs of users", "mean τ", 2)
    interval: Interval | None = col("of that, percentile bootstrap over targets", "interval", 2)
    same_winner: float | None = col("share of pairs that share a best strategy", "same best", 2)
    winners: str = col("the best strategies, with the number of users", "best for users")


class OrdersRow(Row):
    """Two users, or a user and rank quality."""

    measure: str = col("`efficiency` or `precision`")
    one: str = col("user")
    other: str = col("user, or `rank quality`")
    tau_b: float | None = col("Kendall's tau-b of their orders of the strategies")
    same_winner: bool = col("whether they share a best strategy")


class CaseBaseRow(Row):
    """The case base and its targets."""

    cases: int = col("number of cases")
    classes: int = col("number of classes")
    granularity: float = col("distinct distances from a case to the others, as a share of cases")
    protocol: str = col("which problems are the targets, as `queries.protocol` of the study file")
    targets: int = col("number of targets")
    dialogues: int = col("of each target")


def scored(
    study: DialogueStudy,
    settings: DialogueSettings,
    found: Evaluation,
    measures: tuple[Outcome, ...],
    warnings: tuple[StudyWarning, ...],
) -> Scored:
    """The table of scores with the additions of dialogues."""
    truth, same = evaluated_on(found.experiment)
    strategies = zip(found.strategies, found.unselected, found.contracted_during, strict=True)
    table = ScoreTable(
        systems=tuple(found.strategies),
        queries=found.experiment.targets.ids,
        measures=measures,
        values=found.scores(measures),
        inference=Inference(settings.level, settings.samples, settings.seed),
        nouns=Nouns("strategy", "target"),
        studies=(study.spec.id,) * len(found.strategies),
        origin=Origin("dialogue", study.spec.title, study.name, truth, same),
        details=tuple(
            StrategyRow(strategy=name, unselected=float(none.mean()), contracted=float(nothing))
            for name, none, nothing in strategies
        ),
        sections=tuple(_sections(found)),
        warnings=warnings,
        checks=(partial(_users_check, found),),
    )
    return Scored(table, study, settings, found, certified(table, settings.claims))


def _users_check(found: Evaluation, table: ScoreTable, claim: Claim) -> Line:
    """Whether a claim holds for every simulated user."""
    from quem.scores.certificate import Line

    counts = {}
    for name, values in found.by_user.items():
        means = values.mean(axis=0)
        counts[name] = int((np.round(means[claim.a] - means[claim.b], 9) > 0).sum())
    users = len(found.users)
    parts = (f"by {name} for {count} of {users}" for name, count in counts.items())
    text = f"higher {' and '.join(parts)} users"
    count = counts.get(table.columns[claim.measure])
    if count is None:
        return Line("simulated user", "-", text)
    return Line("simulated user", "yes" if count == users else "open", text)


def _answers(found: Evaluation) -> Iterator[AnswersRow]:
    means = found.answers
    for at, strategy in enumerate(found.strategies):
        for answers, mean in enumerate(means.mean[at].tolist()):
            yield AnswersRow(
                strategy=strategy,
                answers=answers,
                rank_quality=mean,
                interval=ends(means.low[at, answers], means.high[at, answers]),
                contracted=float(found.contracted[at, answers]),
            )


def _users(found: Evaluation) -> Iterator[UserRow]:
    for at, user in enumerate(found.experiment.users):
        more: dict[str, Any] = {}
        for name, values in found.by_user.items():
            more[f"{name}_range"] = float(np.ptp(values[:, :, at].mean(axis=0)))
            more[f"{name}_best"] = _named(found, found.agreement[name].winners[at])
        level = None if user.b is None else found.experiment.levels[user.b]
        yield UserRow(user=user.name, b=user.b, threshold=level, **more)


def _named(found: Evaluation, strategies: Iterable[int]) -> str:
    return " = ".join(found.strategies[at] for at in strategies)


def _selections(found: Evaluation) -> Iterator[SelectionRow]:
    for strategy, shares in zip(found.strategies, found.unselected.tolist(), strict=True):
        for user, share in zip(found.users, shares, strict=True):
            yield SelectionRow(strategy=strategy, user=user, unselected=share)


def _agreement(found: Evaluation) -> Iterator[AgreementRow]:
    for name, agreed in found.agreement.items():
        counts = Counter(_named(found, best) for best in agreed.winners[:-1])
        yield AgreementRow(
            measure=name,
            tau_b=known(agreed.mean),
            interval=ends(agreed.low, agreed.high),
            same_winner=known(agreed.same_winner),
            winners=join_words(f"{best} {count}" for best, count in counts.most_common()),
        )


def _orders(found: Evaluation) -> Iterator[OrdersRow]:
    judges = [*found.users, RANK_QUALITY]
    for name, agreed in found.agreement.items():
        for one, other in combinations(range(len(judges)), 2):
            yield OrdersRow(
                measure=name,
                one=judges[one],
                other=judges[other],
                tau_b=known(agreed.between[one, other]),
                same_winner=bool({*agreed.winners[one]} & {*agreed.winners[other]}),
            )


def _case_base(found: Evaluation) -> Iterator[CaseBaseRow]:
    of = found.experiment
    yield CaseBaseRow(
        cases=len(of.cases),
        classes=len(of.cases.labels),
        granularity=found.granularity,
        protocol=of.protocol,
        targets=len(of.targets),
        dialogues=of.dialogues,
    )


def _lead(found: Evaluation) -> str:
    """The simulated dialogues, and how finely distances distinguish cases."""
    of = found.experiment
    targets, each = len(of.targets), of.dialogues
    which = {
        "leave-one-out": "each case once the target",
        "leave-one-in": "each case once the target and kept in the case base (leave-one-in)",
        "separate": f"{targets:,} separate {'query' if targets == 1 else 'queries'}, each once "
        "the target",
    }[of.protocol]
    attributes, numeric = len(of.cases.attributes), len(of.cases.numeric)
    rule = "in a fixed order" if of.order else "in random order"
    return (
        f"{len(of.cases):,} cases, {format_count(attributes, 'attribute')} ({numeric} numeric), "
        f"{len(of.cases.labels)} classes; {which}, {format_count(each, 'dialogue')} of "
        f"it: {targets * each:,}, questions {rule}; distance granularity "
        f"{found.granularity:.4f} (distinct distances from a case to the others, as a share of "
        "the case base)"
    )


def _sections(found: Evaluation) -> Iterator[Section]:
    """The report's sections below the table; the first two are in the terminal too."""
    yield _quality(found)
    several = len(found.users) > 1 and len(found.strategies) > 1
    if several:
        text = (
            "Kendall's tau-b between the orders that two users give the strategies: 1 for the "
            "same order, −1 for the opposite. Where users disagree, the best strategy depends on "
            "the simulated user; rank quality does not."
        )
        table = AgreementRow.text_table([*_agreement(found)])
        yield Section("users", "Effect of the simulated user", [text], tables=[table])
        tables = [_taus(found, name, agreed) for name, agreed in found.agreement.items()]
        yield Section("orders", "Orders of the strategies, user by user", tables=tables)
    unselected = [
        (name, *(f"{100 * share:.0f}%" for share in shares))
        for name, shares in zip(found.strategies, found.unselected.tolist(), strict=True)
    ]
    note = "Each counts, with efficiency 0 and the precision of the last top candidate."
    caption = "Dialogues in which no case was selected"
    tables = [
        UserRow.text_table(
            [*_users(found)], "Users", "Efficiency, precision: range of the strategies' means."
        ),
        TextTable(caption, ("strategy", *found.users), unselected, note),
    ]
    yield Section("simulated", "Simulated users", tables=tables)


def _quality(found: Evaluation) -> Section:
    """Rank quality after some answers, the best strategy over the dialogue first."""
    quality = found.answers.mean
    last = quality.shape[1] - 1
    points = sorted({0, 1, *(last * quarter // 4 for quarter in range(1, 5))})
    order = np.argsort(-np.round(quality.mean(axis=1), 9), kind="stable").tolist()
    rows = [
        (found.strategies[at], *(format_number(quality[at, point], 3) for point in points))
        for at in order
    ]
    return Section(
        "quality",
        "Rank quality along the dialogue",
        figures=("rank-quality",),
        tables=[
            TextTable(
                "Rank quality by number of answers",
                ("strategy", *map(str, points)),
                rows,
                f"{_lead(found)}.",
            )
        ],
    )


def _taus(found: Evaluation, name: str, agreed: UserAgreement) -> TextTable:
    rows = [
        (user, *(format_number(tau, 2) for tau in taus))
        for user, taus in zip(found.users, agreed.between[:-1].tolist(), strict=True)
    ]
    return TextTable(f"τ by {name}", ("user", *found.users, RANK_QUALITY), rows)


def _basis(findings: Scored) -> str:
    return f"{present.note(findings.table, 'bold')}. {_lead(findings.found)}."


def _methods(findings: Scored) -> Iterator[str]:
    """The simulation in words for a paper."""
    found: Evaluation = findings.found
    of = found.experiment
    source = {"leave-one-out": "leave-one-out; ", "leave-one-in": "Aha & Breslow, 1997; "}
    yield (
        f"Dialogues were simulated ({source.get(of.protocol, '')}Bogaerts & Leake, 2006): "
        f"{_lead(found)}. Distances are weighted means of 0 or 1 for categorical and of "
        "range-normalized differences for numeric attributes."
    )
    names = [
        f"{name} ({FULL_NAMES[name]})" if name in FULL_NAMES else name for name in found.strategies
    ]
    levels = join_words((f"{d:.4f} for b = {b:g}" for b, d in of.levels.items()), _MOST_NAMED)
    yield (
        f"Strategies: {join_words(names, _MOST_NAMED)}. Users: "
        f"{join_words(found.users, _MOST_NAMED)}"
        f"{f'; distance thresholds {levels}' if levels else ''}. Rank quality compares "
        f"k = {of.settings.k} candidates (λ = 2, weights from 1 to 0). This k, the numbers of "
        f"nearest cases ({of.settings.neighbors}) and of cases in a region "
        f"({of.settings.region_size}), and what a missing value counts ({of.settings.missing}) are "
        "choices that the paper leaves open."
    )
    if of.settings.samples and len(found.users) > 1:
        yield (
            "Agreement of users is the mean of Kendall's tau-b between their orders of the "
            f"strategies, with {format_percent(of.settings.level)} bootstrap intervals over "
            "targets."
        )


def _references(findings: Scored) -> Iterator[str]:
    if findings.found.experiment.protocol == "leave-one-in":
        yield (
            "Aha, D. W. and Breslow, L. A. (1997). Refining conversational case libraries. "
            "Proceedings of ICCBR 1997, Springer, 267–278."
        )
    yield (
        "Bogaerts, S. and Leake, D. (2006). What evaluation criteria are right for CCBR? "
        "Considering rank quality. Proceedings of ECCBR 2006, Springer."
    )


def _figures() -> Drawers[Scored]:
    from quem.dialogue.figures import FIGURES

    return FIGURES


def _table(
    stem: str, meaning: str, row: type[Row], rows: Callable[[Evaluation], Iterable[Row]]
) -> RowTable:
    return RowTable(stem, meaning, row, lambda findings: rows(findings.found))


class DialogueResult(ScoredResult):
    """The quality of a conversational CBR system with each strategy."""

    kind = "dialogue"
    view = View(
        kind="dialogue",
        kicker="QUEM report on dialogues",
        settings=DialogueSettings,
        detail=StrategyRow,
        tables=(
            _table(
                "rank-quality", "one row per strategy and number of answers", AnswersRow, _answers
            ),
            _table("users", "one row per user", UserRow, _users),
            _table("selections", "one row per strategy and user", SelectionRow, _selections),
            _table("agreement", "one row per measure", AgreementRow, _agreement),
            _table(
                "orders",
                "one row per measure and pair of users, or of a user and rank quality",
                OrdersRow,
                _orders,
            ),
            _table("case-base", "one row", CaseBaseRow, _case_base),
        ),
        figures=_figures,
        captions={
            "rank-quality": "Rank quality of the list of candidates after each answer, with a "
            "bootstrap band over targets. 1 is the list of a system that knows all; 0, a list in "
            "no order."
        },
        in_terminal=frozenset({"quality", "users"}),
        basis=_basis,
        methods=_methods,
        references=_references,
    )

    @property
    def rank_quality(self) -> pd.DataFrame:
        """One row per strategy and number of answers: rank quality with intervals."""
        return self.table("rank-quality")
