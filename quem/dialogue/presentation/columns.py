"""Every value of the result of a dialogue study: analysis.json and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from quem.dialogue.outcomes import efficiency, pairs_of, precision
from quem.dialogue.settings import open_choices
from quem.report.columns import (
    COUNT,
    FLAG,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    STUDY,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    Type,
    WholeTable,
    choice,
    each,
    head,
    null_or,
    of,
    settings,
)
from quem.studyfile.dialogue import DialogueSettings, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from quem.dialogue.outcomes import (
        DialogueFindings,
        StrategyOutcomes,
        UserAgreement,
    )

_CHOICE = Type({"type": ["integer", "string"]})
_RANK_QUALITY = "rank quality"


class _Outcome(NamedTuple):
    """What a strategy gives one user, by one measure."""

    measure: str
    outcomes: StrategyOutcomes
    column: int
    place: int
    strategy: int


def _order(measure: str, outcomes: StrategyOutcomes, column: int) -> list[_Outcome]:
    """Give the strategies for a user, the best first."""
    return [
        _Outcome(measure, outcomes, column, place, strategy)
        for place, strategy in enumerate(outcomes.order(column), 1)
    ]


def _by_measure(findings: DialogueFindings) -> dict[str, StrategyOutcomes]:
    return {"efficiency": findings.efficiency, "precision": findings.precision}


def _outcomes(findings: DialogueFindings) -> Iterator[_Outcome]:
    for measure, outcomes in _by_measure(findings).items():
        for column in range(len(findings.users)):
            yield from _order(measure, outcomes, column)


def _differs(row: _Outcome, findings: DialogueFindings) -> bool:
    first = row.outcomes.order(row.column)[0]
    level = findings.inference.level
    return row.outcomes.differs(first, row.strategy, row.column, level)


_STRATEGY: Column[Any, DialogueFindings] = Column(
    "strategy", TEXT, "name", of=lambda row, findings: findings.strategies[row.strategy]
)
_VALUE: tuple[Column[_Outcome, DialogueFindings], ...] = (
    Column(
        "value",
        null_or(NUMBER),
        "mean over the dialogues",
        of=lambda row, _: row.outcomes.mean[row.strategy, row.column],
    ),
    Column(
        "interval",
        OPEN_INTERVAL,
        "of the mean, at `settings.level`",
        of=lambda row, _: (
            row.outcomes.low[row.strategy, row.column],
            row.outcomes.high[row.strategy, row.column],
        ),
    ),
)
_UNSELECTED: Column[_Outcome, DialogueFindings] = Column(
    "unselected",
    SHARE,
    "share of dialogues without a selection",
    of=lambda row, findings: findings.unselected[row.strategy, row.column],
)
_OF_USER = Columns(
    _STRATEGY,
    *_VALUE,
    Column("differs_from_first", FLAG, "significantly, at `settings.level`", of=_differs),
    _UNSELECTED,
)
_OUTCOMES: Columns[_Outcome, DialogueFindings] = Columns(
    Column("measure", choice("efficiency", "precision"), "name"),
    Column("user", TEXT, "name", of=lambda row, findings: findings.users[row.column]),
    Column("place", COUNT, "from 1, the best"),
    _STRATEGY,
    *_VALUE,
    Column(
        "as_good_as_first",
        FLAG,
        "whether it does not differ significantly from the first",
        of=lambda row, findings: not _differs(row, findings),
    ),
    _UNSELECTED,
)


class _User(NamedTuple):
    """A user, for one measure."""

    measure: str
    outcomes: StrategyOutcomes
    column: int


_USER: Columns[_User, DialogueFindings] = Columns(
    Column("user", TEXT, "name", of=lambda row, findings: findings.users[row.column]),
    Column(
        "range",
        null_or(NUMBER),
        "best strategy minus worst",
        of=lambda row, _: row.outcomes.spread(row.column),
    ),
    Column("strategies", each(_OF_USER), "best first", of=lambda row, _: _order(*row)),
)


def _users(measure: str) -> Callable[[DialogueFindings, DialogueFindings], list[_User]]:
    return lambda findings, _: [
        _User(measure, _by_measure(findings)[measure], column)
        for column in range(len(findings.users))
    ]


class _Strategy(NamedTuple):
    """A strategy, by its rank quality."""

    strategy: int


_QUALITY: Columns[_Strategy, DialogueFindings] = Columns(
    _STRATEGY,
    Column(
        "mean",
        NUMBER,
        "rank quality, averaged over the dialogue",
        of=lambda row, findings: findings.whole.mean[row.strategy, 0],
    ),
    Column(
        "interval",
        OPEN_INTERVAL,
        "of the mean, at `settings.level`",
        of=lambda row, findings: (
            findings.whole.low[row.strategy, 0],
            findings.whole.high[row.strategy, 0],
        ),
    ),
    Column(
        "by_answers",
        each(NUMBER),
        "rank quality after 0, 1, ... answers",
        of=lambda row, findings: findings.quality.mean[row.strategy].tolist(),
    ),
    Column(
        "contracted",
        each(SHARE),
        "share of lists that contracted to nothing, after 0, 1, ... answers",
        of=lambda row, findings: findings.contracted[row.strategy].tolist(),
    ),
)

# One row per strategy and number of answers; each column is computed at once.
_BY_ANSWERS: Columns[DialogueFindings, DialogueFindings] = Columns(
    Column(
        "strategy",
        TEXT,
        "name",
        of=lambda f, _: np.repeat(f.strategies, f.quality.mean.shape[1]),
    ),
    Column(
        "answers",
        COUNT,
        "number of answers",
        of=lambda f, _: np.tile(np.arange(f.quality.mean.shape[1]), len(f.strategies)),
    ),
    Column("rank_quality", NUMBER, "mean", of=lambda f, _: f.quality.mean.ravel()),
    Column("low", NUMBER, "lower end of its interval", of=lambda f, _: f.quality.low.ravel()),
    Column("high", NUMBER, "upper end", of=lambda f, _: f.quality.high.ravel()),
    Column(
        "contracted",
        SHARE,
        "share of lists that contracted to nothing",
        of=lambda f, _: f.contracted.ravel(),
    ),
)


class _Difference(NamedTuple):
    """Two strategies, for one user or after some answers."""

    measure: str
    outcomes: StrategyOutcomes
    user: str
    answers: int | None
    column: int
    pair: int
    one: int
    other: int


def _differences(findings: DialogueFindings) -> Iterator[_Difference]:
    points = findings.quality.mean.shape[1]
    parts: list[tuple[str, StrategyOutcomes, list[str], bool]] = [
        *((name, o, list(findings.users), False) for name, o in _by_measure(findings).items()),
        (_RANK_QUALITY, findings.whole, [""], False),
        (_RANK_QUALITY, findings.quality, [""] * points, True),
    ]
    for measure, outcomes, users, by_answers in parts:
        for column, user in enumerate(users):
            answers = column if by_answers else None
            for pair, (one, other) in enumerate(pairs_of(len(findings.strategies))):
                yield _Difference(measure, outcomes, user, answers, column, pair, one, other)


_DIFFERENCES: Columns[_Difference, DialogueFindings] = Columns(
    Column("measure", TEXT, "efficiency, precision, or rank quality"),
    Column("user", TEXT, "name; empty for rank quality"),
    Column("answers", null_or(COUNT), "empty except for rank quality after that many answers"),
    Column("strategy", TEXT, "name", of=lambda row, findings: findings.strategies[row.one]),
    Column("other", TEXT, "name", of=lambda row, findings: findings.strategies[row.other]),
    Column(
        "difference",
        NUMBER,
        "first minus second",
        of=lambda row, _: (
            row.outcomes.mean[row.one, row.column] - row.outcomes.mean[row.other, row.column]
        ),
    ),
    Column(
        "p_value",
        SHARE,
        "adjusted (Holm)",
        of=lambda row, _: row.outcomes.p_values[row.pair, row.column],
    ),
)


class _Agreement(NamedTuple):
    """Two users, or a user and rank quality."""

    measure: str
    agreement: UserAgreement
    one: int
    other: int


def _agreements(findings: DialogueFindings) -> Iterator[_Agreement]:
    measures = {"efficiency": findings.by_efficiency, "precision": findings.by_precision}
    for measure, agreement in measures.items():
        for one, other in pairs_of(len(findings.users) + 1):
            yield _Agreement(measure, agreement, one, other)


def _user(which: str) -> Callable[[_Agreement, DialogueFindings], str]:
    return lambda row, findings: [*findings.users, _RANK_QUALITY][getattr(row, which)]


_AGREEMENTS: Columns[_Agreement, DialogueFindings] = Columns(
    Column("measure", choice("efficiency", "precision"), "name"),
    Column("one", TEXT, "user", of=_user("one")),
    Column("other", TEXT, "user, or rank quality", of=_user("other")),
    Column(
        "tau_b",
        NUMBER,
        "Kendall's tau-b of their orders of the strategies",
        of=lambda row, _: row.agreement.between[row.one, row.other],
    ),
    Column(
        "same_winner",
        FLAG,
        "whether they share a best strategy",
        of=lambda row, _: bool(
            set(row.agreement.winners[row.one]) & set(row.agreement.winners[row.other])
        ),
    ),
)


class _Winners(NamedTuple):
    """The best strategies for a user."""

    user: str
    strategies: list[str]


def _winners(agreement: UserAgreement, findings: DialogueFindings) -> list[_Winners]:
    rows = zip(findings.users, agreement.winners[: len(findings.users)], strict=True)
    return [_Winners(user, [findings.strategies[s] for s in best]) for user, best in rows]


def _tau_with_quality(agreement: UserAgreement, findings: DialogueFindings) -> list[float]:
    users = len(findings.users)
    taus: list[float] = agreement.between[:users, users].tolist()
    return taus


_WINNER: Columns[_Winners, DialogueFindings] = Columns(
    Column("user", TEXT, "name"), Column("strategies", each(TEXT), "the best, more if tied")
)
_AGREEMENT: Columns[UserAgreement, DialogueFindings] = Columns(
    Column("mean_tau", null_or(NUMBER), "mean tau-b over pairs of users", of="mean"),
    Column("interval", OPEN_INTERVAL, "of that", of=lambda row, _: (row.low, row.high)),
    Column("same_winner", null_or(SHARE), "share of pairs that share a best strategy"),
    Column("winners", each(_WINNER), "one entry per user", of=_winners),
    Column(
        "tau_with_rank_quality",
        each(null_or(NUMBER)),
        "tau-b of each user's order with that by rank quality",
        of=_tau_with_quality,
    ),
)
_BOTH_AGREEMENTS: Columns[DialogueFindings, DialogueFindings] = Columns(
    Column("efficiency", of(_AGREEMENT), "by efficiency", of="by_efficiency"),
    Column("precision", of(_AGREEMENT), "by precision", of="by_precision"),
)


# One row per target and strategy; each column is computed at once.


def _means_by_user(findings: DialogueFindings, _: DialogueFindings) -> pd.DataFrame:
    import pandas as pd

    columns = {}
    for name, measure in (("efficiency", efficiency), ("precision", precision)):
        values = measure(findings.dialogues).mean(axis=-1)
        for place, user in enumerate(findings.users):
            columns[f"{name} {user}"] = values[:, :, place].ravel()
    return pd.DataFrame(columns)


_TARGETS: Columns[DialogueFindings, DialogueFindings] = Columns(
    Column(
        "target",
        NAME,
        "id",
        of=lambda f, _: np.repeat(f.experiment.targets.ids, len(f.strategies)),
    ),
    Column(
        "strategy",
        TEXT,
        "name",
        of=lambda f, _: np.tile(f.strategies, len(f.experiment.targets)),
    ),
    Column(
        "rank_quality",
        NUMBER,
        "averaged over the dialogue",
        of=lambda f, _: f.whole.targets[:, :, 0].ravel(),
    ),
    Column(
        "efficiency USER, precision USER",
        NUMBER,
        "means over the target's dialogues, for each user",
        of=_means_by_user,
    ),
)


class _Attribute(NamedTuple):
    """An attribute of the cases."""

    name: str
    kind: str
    weight: float


def _attributes(findings: DialogueFindings, _: DialogueFindings) -> list[_Attribute]:
    cases = findings.experiment.cases
    rows = zip(cases.attributes, cases.categories, cases.weights.tolist(), strict=True)
    return [
        _Attribute(name, "numeric" if kinds is None else "categorical", weight)
        for name, kinds, weight in rows
    ]


_ATTRIBUTE: Columns[_Attribute, DialogueFindings] = Columns(
    Column("name", TEXT, "as in the case base"),
    Column("kind", choice("numeric", "categorical"), "what its values are"),
    Column("weight", NOT_NEGATIVE, "in the similarity"),
)
_CASE_BASE: Columns[DialogueFindings, DialogueFindings] = Columns(
    Column("cases", COUNT, "number of cases", of=lambda row, _: len(row.experiment.cases)),
    Column("attributes", each(_ATTRIBUTE), "one entry per attribute", of=_attributes),
    Column("classes", each(TEXT), "labels of the cases", of="experiment.cases.labels"),
    Column("granularity", SHARE, "share of distinct similarities"),
)


class _Level(NamedTuple):
    """A threshold of a simulated user."""

    b: float
    distance: float


class _Choice(NamedTuple):
    """What the paper leaves open, and what was used."""

    name: str
    value: Any
    plausible: list[Any]


def _open(findings: DialogueFindings, _: DialogueFindings) -> list[_Choice]:
    return [
        _Choice(name, value, list(choice.values))
        for name, value, choice in open_choices(findings.experiment.settings)
    ]


_LEVEL: Columns[_Level, DialogueFindings] = Columns(
    Column("b", SHARE, "share of the case base"),
    Column("distance", NOT_NEGATIVE, "within which that share is, on average"),
)
_OPEN: Columns[_Choice, DialogueFindings] = Columns(
    Column("name", TEXT, "of the setting"),
    Column("value", _CHOICE, "as used"),
    Column("plausible", each(_CHOICE), "values that the paper allows"),
)


def _settings(findings: DialogueFindings, _: DialogueFindings) -> dict[str, Any]:
    inference = findings.inference
    return {
        **findings.experiment.settings.to_dict(),
        "level": inference.level,
        "bootstrap": inference.bootstrap,
        "permutations": inference.permutations,
    }


_USED = settings(DialogueSettings)

DOCUMENT: Columns[DialogueFindings, DialogueFindings] = Columns(
    *head("dialogue"),
    Column("study", of(STUDY), "the study", of="study.spec"),
    Column(_USED.name, _USED.type, _USED.meaning, of=_settings),
    Column(
        "questions",
        choice("random", "fixed"),
        "rule by which questions are chosen",
        of="experiment.questions.rule",
    ),
    WARNINGS,
    Column("case_base", of(_CASE_BASE), "the case base", of=lambda row, _: row),
    Column(
        "protocol",
        choice(*get_args(Protocol)),
        "which problems are the targets",
        of="experiment.protocol",
    ),
    Column("targets", COUNT, "number of targets", of=lambda row, _: len(row.experiment.targets)),
    Column("dialogues_per_target", COUNT, "per target", of="experiment.dialogues"),
    Column(
        "thresholds",
        each(_LEVEL),
        "distances of the simulated users",
        of=lambda row, _: [_Level(b, d) for b, d in row.experiment.levels.items()],
    ),
    Column("open_choices", each(_OPEN), "choices the paper leaves open", of=_open),
    Column("efficiency", each(_USER), "one entry per user", of=_users("efficiency")),
    Column("precision", each(_USER), "one entry per user", of=_users("precision")),
    Column(
        "rank_quality",
        each(_QUALITY),
        "one entry per strategy, best first",
        of=lambda row, _: [_Strategy(s) for s in row.whole.order(0)],
    ),
    Column(
        "agreement",
        of(_BOTH_AGREEMENTS),
        "how similarly users order the strategies",
        of=lambda row, _: row,
    ),
)

TABLES: tuple[Table[Any, DialogueFindings], ...] = (
    Table("outcomes", "one row per measure, user, and strategy", _OUTCOMES, _outcomes, always=True),
    WholeTable(
        "rank-quality", "one row per strategy and number of answers", _BY_ANSWERS, lambda f: [f]
    ),
    Table(
        "differences",
        "one row per measure, user, or number of answers, and pair of strategies",
        _DIFFERENCES,
        _differences,
        always=True,
    ),
    Table(
        "agreement",
        "one row per measure and pair of users, or of a user and rank quality",
        _AGREEMENTS,
        _agreements,
        always=True,
    ),
    WholeTable("targets", "one row per target and strategy", _TARGETS, lambda f: [f]),
)
