"""What becomes of an evaluation under other values of what the paper leaves open.

The outcomes can be compared with published ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.dialogue.outcomes import agreement, efficiency, means_of_targets, precision
from quem.dialogue.settings import OPEN_CHOICES, open_choices
from quem.dialogue.simulation import prepare, run_experiment
from quem.parallel import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from quem.dialogue.outcomes import DialogueFindings
    from quem.dialogue.reading import Published
    from quem.dialogue.records import Dialogues
    from quem.dialogue.settings import SimulationSettings
    from quem.dialogue.simulation import Experiment, NamedStrategy
    from quem.parallel import Progress, Workers


def error(computed: NDArray[np.float64], published: NDArray[np.float64]) -> float:
    """The mean absolute difference, where both are there; NaN where none is."""
    apart = np.abs(computed - published)
    there = ~np.isnan(apart)
    return float(apart[there].mean()) if there.any() else np.nan


def constant_error(published: NDArray[np.float64]) -> float:
    """The least mean absolute difference that one number for all can have: the median's.

    What agrees no better than this does not show the order of figures.
    """
    there = published[~np.isnan(published)]
    return float(np.abs(there - np.median(there)).mean()) if len(there) else np.nan


@dataclass(frozen=True)
class Variation:
    """One value of one open choice, all others as in the evaluation."""

    choice: str
    value: Any
    used: bool  # whether it is the value of the evaluation
    # Of shape (strategies, users)
    efficiency: NDArray[np.float64]
    precision: NDArray[np.float64]
    whole: NDArray[np.float64]  # of shape (strategies,): rank quality averaged over the dialogue
    unselected: float  # share of all dialogues without a selection
    # How alike users order the strategies: mean tau
    by_efficiency: float
    by_precision: float
    # Mean absolute difference from published efficiency and precision; NaN without.
    errors: tuple[float, float]


@dataclass(frozen=True)
class Sensitivity:
    """What was tried."""

    trials: tuple[Variation, ...]
    # The least error that one number for all can have; NaN without published figures.
    constant: tuple[float, float]
    found: Search | None  # the combination of open choices nearest to published figures

    def used(self) -> Variation:
        """Give the evaluation itself."""
        return next(trial for trial in self.trials if trial.used)


def find_sensitivity(
    findings: DialogueFindings,
    published: Published | None,
    *,
    workers: Workers = ALONE,
    progress: Progress,
) -> Sensitivity:
    """Try every plausible value of every open choice, one at a time."""
    experiment = findings.experiment
    variants = list(_variants(experiment))
    done = progress("Trying open choices", len(variants) + 1)
    done(1)
    trials = []
    for name, value in variants:
        settings = replace(experiment.settings, **{name: value})
        if value == getattr(experiment.settings, name):
            dialogues = findings.dialogues
        else:
            dialogues = _dialogues(experiment, findings.dialogues, name, settings, workers)
        trials.append(_trial(name, value, dialogues, experiment, settings, published))
        done(1)
    if published is None:
        return Sensitivity(tuple(trials), (np.nan, np.nan), None)
    constant = (constant_error(published.values[0]), constant_error(published.values[1]))
    best = search(experiment, published, workers=workers, progress=progress)
    return Sensitivity(tuple(trials), constant, best)


def _variants(experiment: Experiment) -> list[tuple[str, Any]]:
    """Each choice that matters here, with each of its plausible values and the present one."""
    variants = []
    for name, present, choice in open_choices(experiment.settings):
        if not matters(name, experiment):
            continue
        values = sorted({present, *choice.values}, key=_in_order(choice.values))
        variants += [(name, value) for value in values]
    return variants


def _in_order(values: tuple[Any, ...]) -> Callable[[Any], Any]:
    if all(isinstance(value, int) for value in values):
        return lambda value: value
    return lambda value: (value not in values, values.index(value) if value in values else 0)


def matters(name: str, experiment: Experiment) -> bool:
    """Whether a choice can change anything for these strategies, users and cases."""
    names = {strategy.name for strategy in experiment.strategies if not strategy.function}
    rules = {user.rule for user in experiment.users}
    return {
        "neighbors": bool(names & {"ND", "NF"}),
        "neighbor_ties": bool(names & {"ND", "NF", "RA"}),
        "regions": "RA" in names,
        "region_size": "RA" in names and experiment.settings.regions != "classes",
        "average_ties": "A" in rules,
        "missing": not experiment.space.complete,
        "user_distance": bool(rules - {"DL"}),
    }.get(name, True)


# Choices after the dialogues, and those that concern some strategies alone.
_AFTER = ("no_selection", "efficiency")

_CONCERNED = {
    "neighbors": ("ND", "NF"),
    "neighbor_ties": ("ND", "NF", "RA"),
    "regions": ("RA",),
    "region_size": ("RA",),
}


def _dialogues(
    experiment: Experiment,
    dialogues: Dialogues,
    name: str,
    settings: SimulationSettings,
    workers: Workers,
) -> Dialogues:
    """Simulate again what the choice changes."""
    if name in _AFTER:
        return dialogues
    concerned = [
        place
        for place, strategy in enumerate(experiment.strategies)
        if name not in _CONCERNED or (not strategy.function and strategy.name in _CONCERNED[name])
    ]
    again = prepare(
        experiment.cases,
        settings,
        strategies=[experiment.strategies[place] for place in concerned],
        users=experiment.users,
        questions=experiment.questions,
        protocol=experiment.protocol,
        queries=experiment.queries,
    )
    return dialogues.with_strategies(concerned, run_experiment(again, workers=workers))


def _trial(
    name: str,
    value: Any,  # noqa: ANN401  a number or a word
    dialogues: Dialogues,
    experiment: Experiment,
    settings: SimulationSettings,
    published: Published | None,
) -> Variation:
    measures = [
        means_of_targets(measure(dialogues, settings)) for measure in (efficiency, precision)
    ]
    means = [_means(values) for values in measures]
    users = len(experiment.users)
    alike = [agreement(values, users, draws=0, level=0.95, seed=0).mean for values in measures]
    errors = (np.nan, np.nan)
    if published is not None:
        errors = (error(means[0], published.values[0]), error(means[1], published.values[1]))
    return Variation(
        name,
        value,
        value == getattr(experiment.settings, name),
        means[0],
        means[1],
        dialogues.quality.mean(axis=(0, 2)),
        float((dialogues.stop < 0).mean()),
        alike[0],
        alike[1],
        errors,
    )


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    count = (~np.isnan(values)).sum(axis=0)
    total = np.nansum(values, axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


# Choices of how lists are read, of how they are made, of what is counted; and of one strategy.
_READING = ("first_list", "user_distance", "average_ties")
_LISTS = ("list_ties", "neighbor_ties")
_AFTER_DIALOGUES = ("no_selection", "efficiency")
_OWN = {"ND": ("neighbors",), "NF": ("neighbors",), "RA": ("regions", "region_size")}
Picked = dict[str, Any]
Scored = tuple[Picked, float, float]


@dataclass(frozen=True)
class Search:
    """What a search found."""

    combinations: int  # how many were tried
    # For efficiency, for precision and for both: the choices, and the errors that they have in
    # efficiency and in precision.
    best: tuple[tuple[dict[str, Any], float, float], ...]
    # The best for both with efficiency as the paper defines it.
    as_defined: tuple[dict[str, Any], float, float]


def search(
    experiment: Experiment,
    published: Published,
    *,
    workers: Workers = ALONE,
    progress: Progress,
) -> Search:
    """Try all combinations of the plausible values of the open choices.

    All but ``k``, which changes no outcome, and ``missing``, which stays.
    """
    plans = {strategy: _plans(strategy) for strategy in experiment.strategies}
    done = progress("Searching combinations", sum(map(len, plans.values())))
    scored: list[Scored] = []
    errors = {
        strategy.name: _errors(experiment, place, plans[strategy], published, workers, done)
        for place, strategy in enumerate(experiment.strategies)
    }
    for picked in _product(_all_choices(experiment)):
        sums = np.sum([_of(errors[name], name, picked) for name in errors], axis=0)
        scored.append((picked, *(sums[:2] / np.maximum(sums[2:], 1)).tolist()))
    return Search(
        len(scored),
        tuple(min(scored, key=_by(which)) for which in ("efficiency", "precision", "both")),
        min((k for k in scored if k[0]["efficiency"] == "attributes"), key=_by("both")),
    )


def _by(which: str) -> Callable[[Scored], float]:
    def criterion(scored: Scored) -> float:
        used = {"efficiency": scored[1:2], "precision": scored[2:], "both": scored[1:]}[which]
        return sum(used) / len(used)

    return criterion


def _product(names: tuple[str, ...]) -> Iterator[Picked]:
    for values in product(*(OPEN_CHOICES[name].values for name in names)):
        picked = dict(zip(names, values, strict=True))
        # Classes have no size.
        sizes = OPEN_CHOICES["region_size"].values
        if picked.get("regions") != "classes" or picked.get("region_size") == sizes[0]:
            yield picked


def _all_choices(experiment: Experiment) -> tuple[str, ...]:
    names = [strategy.name for strategy in experiment.strategies if not strategy.function]
    own = dict.fromkeys(choice for name in names for choice in _OWN.get(name, ()))
    return (*_LISTS, *_READING, *_AFTER_DIALOGUES, *own)


def _concerning(strategy: str) -> tuple[str, ...]:
    """The choices that lists of a strategy depend on."""
    if strategy not in _OWN:
        return ("list_ties",)
    return (*_LISTS, *_OWN[strategy])


def _plans(strategy: NamedStrategy) -> list[Picked]:
    return list(_product(_concerning("" if strategy.function else strategy.name)))


def _key(names: tuple[str, ...], picked: Picked) -> tuple[Any, ...]:
    return tuple(picked[name] for name in names)


def _of(errors: Errors, strategy: str, picked: Picked) -> NDArray[np.float64]:
    names = _concerning(strategy)
    return errors[_key(names, picked), _key((*_READING, *_AFTER_DIALOGUES), picked)]


Errors = dict[tuple[tuple[Any, ...], tuple[Any, ...]], "NDArray[np.float64]"]


def _errors(
    experiment: Experiment,
    place: int,
    plans: list[Picked],
    published: Published,
    workers: Workers,
    done: Callable[[int], object],
) -> Errors:
    """For each combination that concerns a strategy: sums of errors, and of figures."""
    readings = list(_product(_READING))
    errors: Errors = {}
    for picked in plans:
        settings = replace(experiment.settings, **picked)
        again = prepare(
            experiment.cases,
            settings,
            strategies=[experiment.strategies[place]],
            users=[
                replace(user, reads=replace(settings, **reading))
                for reading in readings
                for user in experiment.users
            ],
            questions=experiment.questions,
            protocol=experiment.protocol,
            queries=experiment.queries,
        )
        dialogues = run_experiment(again, workers=workers)
        for after in _product(_AFTER_DIALOGUES):
            counted = replace(settings, **after)
            means = [
                _means_of_strategies(measure(dialogues, counted)).reshape(len(readings), -1)
                for measure in (efficiency, precision)
            ]
            for row, reading in enumerate(readings):
                key = _key((*_READING, *_AFTER_DIALOGUES), {**reading, **after})
                values = np.array([mean[row] for mean in means])
                errors[tuple(picked.values()), key] = _error_sums(
                    values, published.values[:, place]
                )
        done(1)
    return errors


def _means_of_strategies(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over targets of one strategy by user; NaN where nothing counts."""
    by_target = means_of_targets(values)[:, 0]
    count = (~np.isnan(by_target)).sum(axis=0)
    return np.where(count > 0, np.nansum(by_target, axis=0) / np.maximum(count, 1), np.nan)


def _error_sums(
    computed: NDArray[np.float64], published: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of absolute errors in efficiency and precision, and how many figures there are.

    What is printed and could not be found is off by 1.
    """
    there = ~np.isnan(published)
    errors = np.where(np.isnan(computed), 1.0, np.abs(computed - published))
    return np.concatenate([np.where(there, errors, 0.0).sum(axis=1), there.sum(axis=1)])
