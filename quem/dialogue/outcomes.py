"""Efficiency and precision of simulated dialogues, and all that an evaluation found."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import holm, query_means, resample_means, sign_flips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.records import Dialogues
    from quem.dialogue.simulation import Experiment
    from quem.errors import StudyWarning


def efficiency(dialogues: Dialogues) -> NDArray[np.float64]:
    """Which share of the attributes each dialogue did without; 0 where no case was selected."""
    m = dialogues.quality.shape[2] - 1
    return np.where(dialogues.stop >= 0, 1 - dialogues.stop / m, 0.0)


def precision(dialogues: Dialogues) -> NDArray[np.float64]:
    """Whether the case selected in each dialogue, or else the last top case, is right."""
    top = dialogues.top_right[:, :, np.newaxis].astype(float)
    return np.where(dialogues.stop >= 0, dialogues.right, top)


def unselected(dialogues: Dialogues) -> NDArray[np.float64]:
    """The share of dialogues in which no case was selected, shape (strategies, users)."""
    share: NDArray[np.float64] = (dialogues.stop < 0).mean(axis=(0, 3))
    return share


_DECIMALS = 9
_DRAWS = 500


@dataclass(frozen=True)
class UserAgreement:
    """How alike the orders of the strategies are."""

    # Of shape (judges, judges): kendall's tau-b of the strategies' means by two users, or by a user
    # and rank quality; NaN where all strategies tie.
    between: NDArray[np.float64]
    # Of tau over the pairs of users, with its interval over targets
    mean: float
    low: float
    high: float
    winners: tuple[tuple[int, ...], ...]  # the best strategies by each user; several where they tie
    same_winner: float  # share of the pairs of users that share a best strategy


def agreement(
    values: NDArray[np.float64], users: int, *, draws: int, level: float, seed: int
) -> UserAgreement:
    """Compare the orders that users give the strategies.

    Shapes: `values` (targets, strategies, users or more).
    """
    targets, strategies, judges = values.shape
    flat = values.reshape(targets, -1)
    means = flat.mean(axis=0).reshape(1, strategies, judges)
    between = _taus(means)[0]
    drawn = resample_means(flat, replicates=draws, seed=seed).reshape(draws, strategies, judges)
    every = np.concatenate([_mean_tau(_taus(part), users) for part in _parts(drawn)])
    low, high = np.nan, np.nan
    if not np.isnan(every).all():
        low, high = np.nanquantile(every, [(1 - level) / 2, (1 + level) / 2])
    winners = tuple(_best(means[0, :, user]) for user in range(judges))
    shared = [bool(set(winners[a]) & set(winners[b])) for a, b in pairs_of(users)]
    mean = float(_mean_tau(between[np.newaxis], users)[0])
    same = float(np.mean(shared)) if shared else np.nan
    return UserAgreement(between, mean, float(low), float(high), winners, same)


def pairs_of(things: int) -> list[tuple[int, int]]:
    """Give all pairs of this many things."""
    return list(combinations(range(things), 2))


def _parts(drawn: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Some draws at a time: each has a table of users by users."""
    return np.array_split(drawn, max(1, len(drawn) // _DRAWS))


def _best(means: NDArray[np.float64]) -> tuple[int, ...]:
    near = np.round(means, _DECIMALS)
    return tuple(np.flatnonzero(near == near.max()).tolist())


def _taus(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's tau-b between all judges, for each draw: (draws, judges, judges)."""
    strategies = means.shape[1]
    if strategies == 1:
        return np.full((len(means), means.shape[2], means.shape[2]), np.nan)
    one, other = np.array(pairs_of(strategies)).T
    near = np.round(means, _DECIMALS)
    direction = np.sign(near[:, one] - near[:, other])
    concordance = np.einsum("dpa,dpb->dab", direction, direction)
    untied = (direction != 0).sum(axis=1).astype(float)
    scale = np.sqrt(untied[:, :, np.newaxis] * untied[:, np.newaxis, :])
    return np.where(scale > 0, concordance / np.where(scale > 0, scale, 1.0), np.nan)


def _mean_tau(taus: NDArray[np.float64], users: int) -> NDArray[np.float64]:
    """The mean over the pairs of users for which it is defined."""
    if users < 2:  # noqa: PLR2004  a pair
        return np.full(len(taus), np.nan)
    one, other = np.array(pairs_of(users)).T
    among = taus[:, one, other]
    there = ~np.isnan(among)
    count = there.sum(axis=1)
    total = np.where(there, among, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


# Means that differ by less differ by rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class Inference:
    """How uncertainty is reported."""

    level: float = 0.95  # of intervals; tests are at 1 - level
    bootstrap: int = 2000  # draws of targets
    permutations: int = 9999  # random swaps of a test


@dataclass(frozen=True)
class StrategyOutcomes:
    """A measure of each strategy in several columns: users, or numbers of answers."""

    # Of shape (targets, strategies, columns)
    targets: NDArray[np.float64]
    # Of shape (strategies, columns)
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    # Of shape (pairs of strategies, columns): adjusted by Holm within a column.
    p_values: NDArray[np.float64]

    def order(self, column: int) -> list[int]:
        """Give the strategies, best first; of equal ones, the first named first."""
        near = np.round(self.mean[:, column], 9)
        return sorted(range(len(near)), key=lambda s: (-near[s], s))

    def spread(self, column: int) -> float:
        """The range of the strategies' means."""
        return float(np.ptp(self.mean[:, column]))

    def differs(self, one: int, other: int, column: int, level: float) -> bool:
        """Whether a test distinguishes two strategies."""
        if one == other:
            return False
        pair = pairs_of(len(self.mean)).index((min(one, other), max(one, other)))
        return bool(self.p_values[pair, column] < 1 - level)


@dataclass(frozen=True)
class DialogueFindings:
    """What an evaluation found."""

    experiment: Experiment
    inference: Inference
    dialogues: Dialogues
    # By user
    efficiency: StrategyOutcomes
    precision: StrategyOutcomes
    quality: StrategyOutcomes  # by number of answers, from 0
    whole: StrategyOutcomes  # rank quality averaged over the dialogue: one column
    # Of shape (strategies, users): share of dialogues in which no case was selected.
    unselected: NDArray[np.float64]
    # Of shape (strategies, m + 1): share of dialogues whose list had contracted to nothing.
    contracted: NDArray[np.float64]
    granularity: float  # of the distances of the case base
    # How alike users order the strategies; the last judge is rank quality
    by_efficiency: UserAgreement
    by_precision: UserAgreement
    # That was analyzed; a bare evaluation has none.
    study: DialogueStudy = None  # type: ignore[assignment]  # until `analyze_dialogue` says it
    # What a reader of the result must know, each with a code and a sentence.
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def strategies(self) -> list[str]:
        """Their names."""
        return [strategy.name for strategy in self.experiment.strategies]

    @property
    def users(self) -> list[str]:
        """Their names."""
        return [user.name for user in self.experiment.users]


def evaluate(
    experiment: Experiment, dialogues: Dialogues, inference: Inference
) -> DialogueFindings:
    """Evaluate simulated dialogues."""
    settings = experiment.settings
    by_user = {
        name: measure(dialogues).mean(axis=-1)
        for name, measure in (("efficiency", efficiency), ("precision", precision))
    }
    whole = dialogues.quality.mean(axis=2, keepdims=True)
    users = len(experiment.users)
    draw = {"draws": inference.bootstrap, "level": inference.level, "seed": settings.seed}
    agreements = [
        agreement(np.concatenate([values, whole], axis=2), users, **draw)  # type: ignore[arg-type]
        for values in by_user.values()
    ]
    estimates = {
        name: _estimate(values, inference, settings.seed)
        for name, values in {**by_user, "quality": dialogues.quality, "whole": whole}.items()
    }
    return DialogueFindings(
        experiment,
        inference,
        dialogues,
        estimates["efficiency"],
        estimates["precision"],
        estimates["quality"],
        estimates["whole"],
        unselected=unselected(dialogues),
        contracted=dialogues.contracted.mean(axis=0),
        granularity=granularity_of(experiment),
        by_efficiency=agreements[0],
        by_precision=agreements[1],
    )


def _estimate(values: NDArray[np.float64], inference: Inference, seed: int) -> StrategyOutcomes:
    targets, strategies, columns = values.shape
    means = query_means(
        values.reshape(targets, -1),
        level=inference.level,
        replicates=inference.bootstrap,
        seed=seed,
    )
    shape = (strategies, columns)
    return StrategyOutcomes(
        values,
        means.mean.reshape(shape),
        means.low.reshape(shape),
        means.high.reshape(shape),
        _tests(values, inference.permutations, seed),
    )


def _tests(values: NDArray[np.float64], permutations: int, seed: int) -> NDArray[np.float64]:
    """Swap each two strategies within targets; Holm within a column."""
    targets, strategies, columns = values.shape
    pairs = pairs_of(strategies)
    if not pairs:
        return np.empty((0, columns))
    one, other = np.array(pairs).T
    apart = (values[:, one] - values[:, other]).reshape(targets, -1)
    apart[np.abs(apart) < _SAME] = 0
    tests = sign_flips(apart, permutations=permutations, seed=seed)
    p_values = np.array([test.p for test in tests]).reshape(len(pairs), columns)
    return np.array([holm(column.tolist()) for column in p_values.T]).T


def granularity_of(experiment: Experiment) -> float:
    """How finely the distances of a case base distinguish cases.

    As `quem.lists.rank_quality.granularity`, a case after the other, so that no matrix of all
    distances is needed.
    """
    space = experiment.space
    distinct = 0
    for case in range(space.n):
        others = np.round(np.delete(space.distances(space.case(case)), case), 9)
        distinct += len(np.unique(others))
    return distinct / space.n**2
