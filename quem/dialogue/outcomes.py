"""Outcomes of strategies in simulated dialogues, and agreement of users on their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.dialogue.users import FURTHER, User
from quem.errors import Mistake, QuemError
from quem.io.text import nearest, shown
from quem.scores.inference import Inference, percentile_interval, query_means, resampled_means
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quem.dialogue.simulation import Dialogues, Experiment
    from quem.scores.inference import Means

    Floats = NDArray[np.float64]

RANK_QUALITY = "rank quality"
_SAME = 9  # decimals; smaller differences of means are rounding errors
_MOST_NAMED = 30
_AT_ONCE = 500  # bootstrap samples, each with a table of users by users


def efficiency(dialogues: Dialogues) -> Floats:
    """The share of the attributes that each dialogue did not need; 0 if no case was selected."""
    m = dialogues.quality.shape[2] - 1
    return np.where(dialogues.stop >= 0, 1 - dialogues.stop / m, 0.0)


def precision(dialogues: Dialogues) -> Floats:
    """Whether the case selected in each dialogue, or else the last top case, is right."""
    top = dialogues.top_right[:, :, np.newaxis].astype(float)
    return np.where(dialogues.stop >= 0, dialogues.right, top)


BY_USER = {"efficiency": efficiency, "precision": precision}


@dataclass(frozen=True)
class Outcome:
    """A measure of strategies."""

    name: str
    better: Literal["higher", "lower"] = "higher"


def of_user(measure: str, user: User) -> str:
    """The name of a measure by one user."""
    return f"{measure} ({user.name})"


def chosen_measures(named: Iterable[str], users: tuple[User, ...]) -> tuple[Outcome, ...]:
    """The measures that settings name; by default all except the further ones.

    Raises
    ------
    QuemError
        There is no such measure.
    """
    several = users if len(users) > 1 else ()
    usual = [RANK_QUALITY, *BY_USER, *(of_user(one, user) for one in BY_USER for user in several)]
    known = {name.casefold(): Outcome(name) for name in usual}
    known |= {name: Outcome(name, better) for name, better in FURTHER.items()}
    wanted = [name.casefold() for name in named or usual]
    for name in wanted:
        if name not in known:
            names = [one.name for one in known.values()]
            hint = nearest(name, names) or f"; there are {join_words(names, _MOST_NAMED)}"
            message = f"there is no measure {shown(name)}{hint}"
            raise QuemError(Mistake("", key="analysis.measures", message=message))
    return tuple(known[name] for name in dict.fromkeys(wanted))


@dataclass(frozen=True)
class UserAgreement:
    """Agreement of users on the order of strategies."""

    # Of shape (judges, judges): Kendall's tau-b of the strategies' means by two users, or by a user
    # and rank quality; NaN where all strategies tie.
    between: Floats
    # Of tau over the pairs of users, with its interval over targets
    mean: float
    low: float
    high: float
    winners: tuple[
        tuple[int, ...], ...
    ]  # the best strategies by each judge; several in case of ties
    same_winner: float  # share of the pairs of users with a common best strategy


def agreement(values: Floats, inference: Inference) -> UserAgreement:
    """Compare users by their order of the strategies.

    Shapes: `values` (targets, strategies, users and rank quality).
    """
    targets, strategies, judges = values.shape
    flat = values.reshape(targets, -1)
    means = flat.mean(axis=0).reshape(1, strategies, judges)
    between = _taus(means)
    drawn = resampled_means(flat, inference).reshape(-1, strategies, judges)
    parts = np.array_split(drawn, max(1, len(drawn) // _AT_ONCE))
    every = np.concatenate([_mean_tau(_taus(part)) for part in parts])
    low, high = percentile_interval(every[:, np.newaxis], inference.level)
    winners = tuple(_best(means[0, :, judge]) for judge in range(judges))
    shared = [bool({*one} & {*other}) for one, other in combinations(winners[:-1], 2)]
    same = float(np.mean(shared)) if shared else np.nan
    mean = float(_mean_tau(between)[0])
    return UserAgreement(between[0], mean, float(low[0]), float(high[0]), winners, same)


def _best(means: Floats) -> tuple[int, ...]:
    near = np.round(means, _SAME)
    return tuple(np.flatnonzero(near == near.max()).tolist())


def _taus(means: Floats) -> Floats:
    """Kendall's tau-b between all judges, for each sample: (samples, judges, judges)."""
    one, other = np.triu_indices(means.shape[1], 1)
    near = np.round(means, _SAME)
    direction = np.sign(near[:, one] - near[:, other])
    concordance = np.einsum("dpa,dpb->dab", direction, direction)
    untied = (direction != 0).sum(axis=1).astype(float)
    scale = np.sqrt(untied[:, :, np.newaxis] * untied[:, np.newaxis, :])
    return np.where(scale > 0, concordance / np.where(scale > 0, scale, 1.0), np.nan)


def _mean_tau(taus: Floats) -> Floats:
    """The mean over the pairs of users for which it is defined; the last judge is not a user."""
    one, other = np.triu_indices(taus.shape[1] - 1, 1)
    among = taus[:, one, other]
    there = ~np.isnan(among)
    count = there.sum(axis=1)
    total = np.where(there, among, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class Evaluation:
    """The results of simulated dialogues besides scores."""

    experiment: Experiment
    dialogues: Dialogues
    by_user: dict[str, Floats]  # of shape (targets, strategies, users) for each measure
    answers: Means  # rank quality after 0 to m answers, of shape (strategies, m + 1)
    agreement: dict[str, UserAgreement]  # for each measure; the last judge is rank quality
    granularity: float  # of the distances of the case base

    @property
    def strategies(self) -> list[str]:
        """Names of the strategies."""
        return [strategy.name for strategy in self.experiment.strategies]

    @property
    def users(self) -> list[str]:
        """Names of the users."""
        return [user.name for user in self.experiment.users]

    @property
    def unselected(self) -> Floats:
        """The share of dialogues without a selected case, shape (strategies, users)."""
        share: Floats = (self.dialogues.stop < 0).mean(axis=(0, 3))
        return share

    @property
    def contracted(self) -> Floats:
        """The share of lists that contracted to nothing, shape (strategies, m + 1)."""
        return np.asarray(self.dialogues.contracted.mean(axis=0))

    @property
    def contracted_during(self) -> Floats:
        """The same after the first answer and before the last, shape (strategies,)."""
        steps = self.contracted
        # With one attribute there is nothing between.
        later = steps[:, 1:-1] if steps.shape[1] > 2 else steps  # noqa: PLR2004
        return np.asarray(later.mean(axis=1))

    def scores(self, measures: Iterable[Outcome]) -> Floats:
        """The score of each strategy on each target, shape (strategies, targets, measures)."""
        found = {RANK_QUALITY: self.dialogues.quality.mean(axis=2)}
        for name, values in self.by_user.items():
            found[name] = values.mean(axis=2)
            users = self.experiment.users
            found |= {of_user(name, user): values[:, :, at] for at, user in enumerate(users)}
        further = self.dialogues.further
        if further.shape[2]:
            found |= {name: further[:, :, at] for at, name in enumerate(FURTHER)}
        return np.stack([found[one.name] for one in measures], axis=2).transpose(1, 0, 2)


def evaluate(experiment: Experiment, dialogues: Dialogues, inference: Inference) -> Evaluation:
    """Evaluate simulated dialogues."""
    targets, strategies, points = dialogues.quality.shape
    by_user = {name: measure(dialogues).mean(axis=-1) for name, measure in BY_USER.items()}
    whole = dialogues.quality.mean(axis=2, keepdims=True)
    answers = query_means(dialogues.quality.reshape(targets, -1), inference)
    return Evaluation(
        experiment,
        dialogues,
        by_user,
        answers.reshape(strategies, points),
        {
            name: agreement(np.concatenate([values, whole], axis=2), inference)
            for name, values in by_user.items()
        },
        granularity_of(experiment),
    )


def granularity_of(experiment: Experiment) -> float:
    """How finely the distances of a case base distinguish cases.

    As `quem.lists.rank_quality.granularity`, case by case, to save memory.
    """
    space = experiment.space
    distinct = 0
    for case in range(space.n):
        others = np.round(np.delete(space.distances(space.case(case)), case), _SAME)
        distinct += len(np.unique(others))
    return distinct / space.n**2
