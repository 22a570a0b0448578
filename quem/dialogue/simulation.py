"""Simulated dialogues of targets with a system that knows a case base."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.dialogue.space import NANO, find_regions, make_space, problems, steps
from quem.dialogue.strategies import STRATEGIES, Revealed, own_distances
from quem.dialogue.users import (
    FAR,
    FURTHER,
    LISTED,
    CandidateList,
    nearest,
    of_dialogues,
    of_lists,
    selections,
    thresholds,
)
from quem.lists.rank_quality import boundary, rank_quality
from quem.parallel import ALONE, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.space import Problem, Regions, Space
    from quem.dialogue.users import User
    from quem.studyfile.dialogue import DialogueSettings, Protocol

# Cells (points of dialogues x cases) in one step: some 20 MB.
_CELLS = 400_000


@dataclass(frozen=True)
class NamedStrategy:
    """A strategy with its name in the report."""

    name: str  # DD, FA, ND, NF or RA; or any name, with a function
    function: Callable[..., NDArray[np.float64]] | None = None

    def apart(self, known: Revealed) -> NDArray[np.int64]:
        """The distances in steps."""
        if self.function is not None:
            return own_distances(self.function, self.name, known)
        return STRATEGIES[self.name](known)


class _Lists(NamedTuple):
    """Candidates of a strategy, one list per row, and their measures."""

    # Of shape (rows, r): see `quem.dialogue.users.Candidates`
    cases: NDArray[np.int64]
    apart: NDArray[np.int64]
    quality: NDArray[np.float64]  # of shape (rows,)
    contracted: NDArray[np.bool_]  # of shape (rows,)
    further: NDArray[np.float64]  # of shape (rows, 5), or (rows, 0) if not computed


@dataclass(frozen=True)
class _Target:
    """A target and its distances from the cases."""

    number: int
    problem: Problem
    ties: NDArray[np.int64]  # of shape (n,): the order of tied cases
    apart: NDArray[np.float64]  # of shape (m, n): `Space.differences`
    true: NDArray[np.float64]  # of shape (n,): distances, including the target itself
    # Of shape (n,): which cases solve it; None without the further measures.
    applicable: NDArray[np.bool_] | None

    @cached_property
    def from_others(self) -> NDArray[np.int64]:
        """The distances in steps, `FAR` for the case that is left out."""
        whole = steps(self.true)
        if self.problem.left_out is not None:
            whole[self.problem.left_out] = FAR
        return whole


@dataclass(frozen=True)
class Experiment:
    """A case base with targets, strategies, and users."""

    cases: EncodedCases
    settings: DialogueSettings
    strategies: tuple[NamedStrategy, ...]
    users: tuple[User, ...]
    order: tuple[int, ...]  # of the attributes to ask for; none where it is random
    space: Space
    regions: Regions | None
    levels: dict[float, float]  # the threshold of each b
    # Leave-one-out, leave-one-in, or separate targets.
    protocol: Protocol = "leave-one-out"
    queries: EncodedCases | None = None  # outside the case base

    @property
    def targets(self) -> EncodedCases:
        """The cases whose dialogues are simulated."""
        return self.cases if self.queries is None else self.queries

    @cached_property
    def problems(self) -> list[Problem]:
        """The targets on the scale of the case base."""
        if self.queries is not None:
            return problems(self.space, self.cases, self.queries)
        left_out = self.protocol == "leave-one-out"
        return [self.space.case(case, left_out=left_out) for case in range(len(self.cases))]

    @property
    def dialogues(self) -> int:
        """Number of dialogues per target."""
        return 1 if self.order else self.settings.orders

    def _applicable(self, target: int) -> NDArray[np.bool_]:
        """Which cases solve a target: itself if it stays, else the others of its class."""
        if self.protocol == "leave-one-in":
            return np.asarray(np.arange(len(self.cases)) == target)
        same = np.asarray(self.cases.classes == self.targets.classes[target])
        if self.queries is None:
            same[target] = False
        return same

    def run(self, targets: Sequence[int]) -> Dialogues:
        """Simulate the dialogues of some targets.

        The outcome of a target does not depend on the others.
        """
        return join([self._dialogues_of(target) for target in targets])

    def _dialogues_of(self, number: int) -> Dialogues:
        settings, m = self.settings, len(self.cases.attributes)
        problem = self.problems[number]
        random = np.random.default_rng([settings.seed, number])
        ties = random.permutation(len(self.cases))
        chance = random.random(self.dialogues)
        asked = np.tile(self.order or np.arange(m), (self.dialogues, 1))
        orders = asked if self.order else random.permuted(asked, axis=1)
        place = np.argsort(orders, axis=1)
        revealed = place[:, np.newaxis, :] < np.arange(m + 1)[:, np.newaxis]
        # A list depends on the revealed attributes, not on their order.
        points, which = np.unique(revealed.reshape(-1, m), axis=0, return_inverse=True)
        apart = self.space.differences(problem)
        true = self.space.distances(problem, apart)
        further = FURTHER.keys() & map(str.casefold, settings.measures)
        applicable = self._applicable(number) if further else None
        target = _Target(number, problem, ties, apart, true, applicable)
        which = which.reshape(self.dialogues, m + 1)
        return self._read_lists(target, self._at(points, target), which, chance)

    def _at(self, points: NDArray[np.bool_], target: _Target) -> list[_Lists]:
        """For each strategy the lists at every point."""
        chunk = max(1, _CELLS // len(self.cases))
        parts = []
        for start in range(0, len(points), chunk):
            known = Revealed(
                self.cases,
                self.space,
                self.regions,
                self.settings,
                target.problem,
                self.targets.values[target.number],
                points[start : start + chunk],
                target.apart,
            )
            parts.append([self._list(one.apart(known), target) for one in self.strategies])
        return [
            _Lists(*map(np.concatenate, zip(*of_strategy, strict=True)))
            for of_strategy in zip(*parts, strict=True)
        ]

    def _list(self, apart: NDArray[np.int64], target: _Target) -> _Lists:
        """The nearest cases by the distances of a strategy, and the measures of these lists."""
        others = self.space.candidates(target.problem)
        k = min(self.settings.k, others)
        # Cases beyond 2k + 1 cannot change rank quality: a tie at k that reaches so far omits the
        # tied candidates, wherever it ends.
        compared = min(2 * k + 1, others)
        seen = [user.top for user in self.users] + [LISTED] * (target.applicable is not None)
        shown = max(compared, min(max(seen, default=1), others))
        candidates = nearest(apart, target.ties, shown)
        partial = candidates.apart[:, :compared] / NANO
        true = target.true
        if (left_out := target.problem.left_out) is not None:
            true = np.where(np.arange(len(true)) == left_out, FAR, true)
        quality = rank_quality(
            partial,
            true[candidates.cases[:, :compared]],
            k,
            ideal=np.broadcast_to(np.partition(true, k - 1)[:k], (len(partial), k)),
        )
        further = np.empty((len(partial), 0))
        if target.applicable is not None:
            whole = target.from_others
            further = of_lists(apart, candidates, k, target.applicable, whole, target.ties)
        contracted = boundary(partial, k) == 0
        return _Lists(candidates.cases, candidates.apart, quality, contracted, further)

    def _read_lists(
        self,
        target: _Target,
        by_strategy: list[_Lists],
        which: NDArray[np.intp],
        chance: NDArray[np.float64],
    ) -> Dialogues:
        """Apply the users to the lists and record their selections."""
        shape = (1, len(by_strategy), len(self.users), len(which))
        stop = np.full(shape, -1, dtype=np.int16)
        right = np.zeros(shape, dtype=bool)
        true = steps(target.true) / NANO
        same = self.cases.classes == self.targets.classes[target.number]
        for row, lists in enumerate(by_strategy):
            for column, user in enumerate(self.users):
                cases = lists.cases[which.ravel(), : user.top]
                level = np.nan if user.b is None else self.levels[user.b]
                chances = np.repeat(chance, which.shape[1])
                shown = CandidateList(true[cases], same[cases], level, chances)
                stop[0, row, column], right[0, row, column] = _selected(user, shown, which.shape)
        last = [lists.cases[which[:, -1], 0] for lists in by_strategy]
        return Dialogues(
            np.array([target.number]),
            stop,
            right,
            same[np.array(last)][np.newaxis],
            np.array([lists.quality[which].mean(axis=0) for lists in by_strategy])[np.newaxis],
            np.array([lists.contracted[which].mean(axis=0) for lists in by_strategy])[np.newaxis],
            np.array([of_dialogues(lists.further[which]) for lists in by_strategy])[np.newaxis],
        )


def _selected(
    user: User, shown: CandidateList, shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """When a user selects a case in each dialogue, and whether the case is right."""
    position = selections(user, shown).reshape(shape)
    position[:, 0] = -1  # Nobody selects before the first answer.
    stop = (position >= 0).argmax(axis=1)
    every = np.arange(shape[0])
    chosen = position[every, stop]
    right = shown.right.reshape(*shape, -1)[every, stop, chosen]
    return np.where(chosen >= 0, stop, -1), right & (chosen >= 0)


def prepare(
    cases: EncodedCases,
    settings: DialogueSettings,
    *,
    strategies: Sequence[NamedStrategy],
    users: Sequence[User],
    order: tuple[int, ...] = (),
    protocol: Protocol = "leave-one-out",
    queries: EncodedCases | None = None,
) -> Experiment:
    """Prepare an experiment: distances, thresholds, and regions are computed once."""
    space = make_space(cases, settings.missing)
    shares = tuple(sorted({user.b for user in users if user.b is not None}))
    wanted = any(strategy.name == "RA" and not strategy.function for strategy in strategies)
    candidates = len(cases) - (protocol == "leave-one-out")
    return Experiment(
        cases,
        settings,
        tuple(strategies),
        tuple(users),
        order,
        space,
        find_regions(space, min(settings.region_size, candidates)) if wanted else None,
        thresholds(space, shares),
        protocol,
        queries,
    )


# Cells (points x cases x strategies) in a task: a second or two of work, so that progress shows.
_CELLS_AT_ONCE = 20_000_000


def run_experiment(
    experiment: Experiment,
    *,
    workers: Workers = ALONE,
    done: Callable[[int], object] = lambda _: None,
) -> Dialogues:
    """Simulate the dialogues of all targets."""
    targets = range(len(experiment.targets))
    size = _targets_in_a_task(experiment)
    tasks = [(targets[start : start + size],) for start in range(0, len(targets), size)]
    parts = []
    for dialogues in workers.each(experiment.run, tasks):
        parts.append(dialogues)
        done(len(dialogues))
    return join(parts)


def _targets_in_a_task(experiment: Experiment) -> int:
    points = experiment.dialogues * (experiment.space.m + 1)
    cells = points * len(experiment.cases) * len(experiment.strategies)
    return max(1, _CELLS_AT_ONCE // cells)


# The inputs of scores except the strategies' definitions.
_OF_SCORES = ("k", "missing", "orders", "seed")


def evaluated_on(experiment: Experiment) -> tuple[str, dict[str, str]]:
    """What strategies are evaluated on: a digest of cases and queries, and the settings."""
    cases, queries = experiment.cases, experiment.queries
    digest = fingerprint(
        list(cases.ids),
        list(cases.attributes),
        cases.values,
        cases.weights,
        [None if names is None else list(names) for names in cases.categories],
        [cases.labels[at] for at in cases.classes.tolist()],
        *(() if queries is None else (queries.values, queries.classes)),
    )
    settings = {name: str(getattr(experiment.settings, name)) for name in _OF_SCORES}
    settings["queries"] = experiment.protocol
    settings["users"] = fingerprint(
        [[user.name, user.rule, user.top, user.b] for user in experiment.users]
    )
    settings["questions"] = fingerprint(
        ["fixed" if experiment.order else "random", list(experiment.order)]
    )
    return digest, settings


@dataclass(frozen=True)
class Dialogues:
    """The dialogues of some targets."""

    targets: NDArray[np.int64]  # of shape (t,)
    # Of shape (t, strategies, users, dialogues): number of answers before a case was selected; -1
    # if none was.
    stop: NDArray[np.int16]
    right: NDArray[np.bool_]  # whether that case had the solution of the target
    # Of shape (t, strategies, dialogues): whether the top candidate after the last answer had.
    top_right: NDArray[np.bool_]
    # Of shape (t, strategies, m + 1): rank quality after 0 to m answers, averaged over the
    # dialogues.
    quality: NDArray[np.float64]
    contracted: NDArray[np.float64]  # share of the dialogues whose list had contracted to nothing
    # Of shape (t, strategies, 5): see `quem.dialogue.users`; (t, strategies, 0) without them.
    further: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of targets."""
        return len(self.targets)


def join(parts: Sequence[Dialogues]) -> Dialogues:
    """Concatenate the dialogues of several sets of targets."""
    names = Dialogues.__dataclass_fields__
    return Dialogues(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def fingerprint(*parts: object) -> str:
    """A digest of the arguments."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]
