"""What an evaluation found, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.outcomes import (
    agreement,
    efficiency,
    means_of_targets,
    pairs_of,
    precision,
    unselected,
)
from quem.lists.inference import holm, query_means, sign_flips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.outcomes import UserAgreement
    from quem.dialogue.sensitivity import Sensitivity
    from quem.dialogue.simulation import Dialogues, Experiment
    from quem.errors import StudyWarning

__all__ = ["DialogueFindings", "Inference", "StrategyOutcomes", "evaluate"]


# Means that differ by less differ by rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class Inference:
    """How uncertainty is reported.

    Parameters
    ----------
    level : float
        Of intervals; tests are at 1 - level.
    bootstrap : int
        Draws of targets.
    permutations : int
        Random swaps of a test.
    """

    level: float = 0.95
    bootstrap: int = 2000
    permutations: int = 9999


@dataclass(frozen=True)
class StrategyOutcomes:
    """A measure of each strategy in several columns: users, or numbers of answers.

    Parameters
    ----------
    targets : array of float, shape (targets, strategies, columns)
        NaN where all dialogues of a target are left out.
    mean, low, high : arrays of float, shape (strategies, columns)
    p_values : array of float, shape (pairs of strategies, columns)
        Adjusted by Holm within a column.
    """

    targets: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_values: NDArray[np.float64]

    def order(self, column: int) -> list[int]:
        """Give the strategies, best first; of equal ones, the first named first."""
        near = np.round(self.mean[:, column], 9)
        return sorted(range(len(near)), key=lambda s: (np.isnan(near[s]), -near[s], s))

    def spread(self, column: int) -> float:
        """The range of the strategies' means."""
        values = self.mean[:, column]
        return (
            float(np.nanmax(values) - np.nanmin(values)) if not np.isnan(values).all() else np.nan
        )

    def differs(self, one: int, other: int, column: int, level: float) -> bool:
        """Whether a test distinguishes two strategies."""
        if one == other:
            return False
        pair = pairs_of(len(self.mean)).index((min(one, other), max(one, other)))
        return bool(self.p_values[pair, column] < 1 - level)


@dataclass(frozen=True)
class DialogueFindings:
    """What an evaluation found.

    Parameters
    ----------
    efficiency, precision : StrategyOutcomes
        By user.
    quality : StrategyOutcomes
        By number of answers, from 0.
    whole : StrategyOutcomes
        Rank quality averaged over the dialogue: one column.
    unselected : array of float, shape (strategies, users)
        Share of dialogues in which no case was selected.
    contracted : array of float, shape (strategies, m + 1)
        Share of dialogues whose list had contracted to nothing.
    granularity : float
        Of the distances of the case base.
    by_efficiency, by_precision : UserAgreement
        How alike users order the strategies; the last judge is rank quality.
    study : DialogueStudy
        That was analyzed; a bare evaluation has none.
    tried : Sensitivity or None
        What other values of the open choices give, if that was requested.
    warnings : tuple of StudyWarning
        What a reader of the result must know, each with a code and a sentence.
    """

    experiment: Experiment
    inference: Inference
    dialogues: Dialogues
    efficiency: StrategyOutcomes
    precision: StrategyOutcomes
    quality: StrategyOutcomes
    whole: StrategyOutcomes
    unselected: NDArray[np.float64]
    contracted: NDArray[np.float64]
    granularity: float
    by_efficiency: UserAgreement
    by_precision: UserAgreement
    study: DialogueStudy = None  # type: ignore[assignment]  # until `analyze_dialogue` says it
    tried: Sensitivity | None = None
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
        name: means_of_targets(measure(dialogues, settings))
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
    told = query_means(
        values.reshape(targets, -1),
        level=inference.level,
        replicates=inference.bootstrap,
        seed=seed,
    )
    shape = (strategies, columns)
    return StrategyOutcomes(
        values,
        told.mean.reshape(shape),
        told.low.reshape(shape),
        told.high.reshape(shape),
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
        others = np.round(np.delete(space.distances(case), case), 9)
        distinct += len(np.unique(others))
    return distinct / space.n**2
