"""Which combination of the open choices comes nearest to published figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.dialogue.outcomes import efficiency, means_of_targets, precision
from quem.dialogue.running import run_experiment
from quem.dialogue.settings import OPEN_CHOICES
from quem.dialogue.simulation import prepare
from quem.parallel import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from quem.dialogue.published import Published
    from quem.dialogue.simulation import Experiment, NamedStrategy
    from quem.parallel import Workers

__all__ = ["Search", "search"]

# Choices of how lists are read, of how they are made, of what is counted; and of one strategy.
_READING = ("first_list", "user_distance", "average_ties")
_LISTS = ("list_ties", "neighbor_ties")
_AFTER = ("no_selection", "efficiency")
_OWN = {"ND": ("neighbors",), "NF": ("neighbors",), "RA": ("regions", "region_size")}

Picked = dict[str, Any]
Scored = tuple[Picked, float, float]


@dataclass(frozen=True)
class Search:
    """What a search found.

    Parameters
    ----------
    combinations : int
        How many were tried.
    best : tuple of (dict, float, float)
        For efficiency, for precision and for both: the choices, and the errors that they have in
        efficiency and in precision.
    as_defined : tuple of (dict, float, float)
        The best for both with efficiency as the paper defines it.
    """

    combinations: int
    best: tuple[tuple[dict[str, Any], float, float], ...]
    as_defined: tuple[dict[str, Any], float, float]


def search(
    experiment: Experiment,
    published: Published,
    *,
    workers: Workers = ALONE,
    progress: Callable[[str, int], Callable[[int], object]],
) -> Search:
    """Try all combinations of the plausible values of the open choices.

    All but ``k``, which changes no outcome, and ``missing``, which stays.

    Parameters
    ----------
    experiment : Experiment
    published : Published
    workers : Workers
    progress : callable
        See `quem.dialogue.analysis.analyze_dialogue`.
    """
    plans = {strategy: _plans(strategy) for strategy in experiment.strategies}
    done = progress("Searching combinations", sum(map(len, plans.values())))
    kept: list[Scored] = []
    errors = {
        strategy.name: _errors(experiment, place, plans[strategy], published, workers, done)
        for place, strategy in enumerate(experiment.strategies)
    }
    for picked in _product(_all_choices(experiment)):
        told = np.sum([_of(errors[name], name, picked) for name in errors], axis=0)
        kept.append((picked, *(told[:2] / np.maximum(told[2:], 1)).tolist()))
    return Search(
        len(kept),
        tuple(min(kept, key=_by(which)) for which in ("efficiency", "precision", "both")),
        min((k for k in kept if k[0]["efficiency"] == "attributes"), key=_by("both")),
    )


def _by(which: str) -> Callable[[Scored], float]:
    def criterion(told: Scored) -> float:
        used = {"efficiency": told[1:2], "precision": told[2:], "both": told[1:]}[which]
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
    return (*_LISTS, *_READING, *_AFTER, *own)


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
    return errors[_key(names, picked), _key((*_READING, *_AFTER), picked)]


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
    found: Errors = {}
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
        )
        told = run_experiment(again, workers=workers)
        for after in _product(_AFTER):
            counted = replace(settings, **after)
            means = [
                _means(measure(told, counted)).reshape(len(readings), -1)
                for measure in (efficiency, precision)
            ]
            for row, reading in enumerate(readings):
                key = _key((*_READING, *_AFTER), {**reading, **after})
                values = np.array([mean[row] for mean in means])
                found[tuple(picked.values()), key] = _apart(values, published.values[:, place])
        done(1)
    return found


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over targets of one strategy by user; NaN where nothing counts."""
    by_target = means_of_targets(values)[:, 0]
    count = (~np.isnan(by_target)).sum(axis=0)
    return np.where(count > 0, np.nansum(by_target, axis=0) / np.maximum(count, 1), np.nan)


def _apart(found: NDArray[np.float64], published: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of absolute errors in efficiency and precision, and how many figures there are.

    What is printed and could not be found is off by 1.
    """
    there = ~np.isnan(published)
    apart = np.where(np.isnan(found), 1.0, np.abs(found - published))
    return np.concatenate([np.where(there, apart, 0.0).sum(axis=1), there.sum(axis=1)])
