"""All dialogues of an experiment: in several processes, going on where a run was interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem import __version__
from quem.dialogue.checkpoint import Finished, fingerprint
from quem.dialogue.simulation import join
from quem.parallel import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from quem.dialogue.simulation import Dialogues, Experiment
    from quem.parallel import Workers

__all__ = ["made_of", "run_experiment"]

# Cells (points x cases x strategies) in a task: a second or two of work, so that little is lost
# by an interruption.
_CELLS = 20_000_000


def run_experiment(
    experiment: Experiment,
    *,
    workers: Workers = ALONE,
    keep: Path | None = None,
    done: Callable[[int], object] = lambda _: None,
) -> Dialogues:
    """Simulate the dialogues of all targets.

    Parameters
    ----------
    experiment : Experiment
    workers : Workers
        The numbers are the same with any.
    keep : Path, optional
        File of finished targets: those that it holds are not simulated again, and each that is
        finished is added.
    done : callable
        Told how many targets are finished whenever some are.

    Returns
    -------
    Dialogues
        In the order of the case base.
    """
    n = len(experiment.cases)
    finished = Finished(keep, made_of(experiment)) if keep else None
    parts = finished.read() if finished else []
    held = {target for part in parts for target in part.targets.tolist()}
    if held:
        done(len(held))
    missing = [target for target in range(n) if target not in held]
    size = _targets_in_a_task(experiment)
    tasks = [(missing[start : start + size],) for start in range(0, len(missing), size)]
    try:
        for told in workers.each(experiment.run, tasks):
            if finished:
                finished.add(told)
            parts.append(told)
            done(len(told))
    finally:
        if finished:
            finished.close()
    every = join(parts)
    order = np.argsort(every.targets)
    return every.at(order)


def _targets_in_a_task(experiment: Experiment) -> int:
    points = experiment.dialogues * (experiment.space.m + 1)
    cells = points * len(experiment.cases) * len(experiment.strategies)
    return max(1, _CELLS // cells)


def made_of(experiment: Experiment) -> str:
    """Make a fingerprint of all that the dialogues of an experiment depend on.

    Parameters
    ----------
    experiment : Experiment
    """
    cases, questions = experiment.cases, experiment.questions
    functions = [
        *(strategy.function for strategy in experiment.strategies),
        *(user.function for user in experiment.users),
        questions.function,
    ]
    return fingerprint(
        __version__,
        cases.values,
        cases.weights,
        cases.classes,
        [None if names is None else list(names) for names in cases.categories],
        {
            name: value
            for name, value in experiment.settings.to_dict().items()
            # What is decided after the dialogues.
            if name not in ("no_selection", "efficiency")
        },
        [strategy.name for strategy in experiment.strategies],
        [[user.name, user.rule, user.top, user.b] for user in experiment.users],
        [questions.rule, list(questions.order)],
        [getattr(function, "fingerprint", "") for function in functions],
    )
