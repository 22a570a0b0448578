"""Simulated dialogues of every case with a system that knows all other cases."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem import __version__
from quem.dialogue.questions import Questions, question_orders
from quem.dialogue.space import NANO, find_regions, make_space, steps
from quem.dialogue.strategies import STRATEGIES, Revealed, own_distances
from quem.dialogue.users import FAR, CandidateList, Candidates, nearest, selections, thresholds
from quem.errors import Mistake, QuemError
from quem.lists.rank_quality import boundary, rank_quality
from quem.parallel import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import IO, Any

    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.settings import SimulationSettings
    from quem.dialogue.space import Regions, Space
    from quem.dialogue.users import User
    from quem.parallel import Workers

__all__ = [
    "FINISHED",
    "Dialogues",
    "Experiment",
    "Finished",
    "NamedStrategy",
    "evaluated_on",
    "fingerprint",
    "join",
    "made_of",
    "prepare",
    "run_experiment",
]

# Cells (points of dialogues x cases) that are worked on at once: some 20 MB.
_CELLS = 400_000


@dataclass(frozen=True)
class NamedStrategy:
    """A strategy with the name that the report uses.

    Parameters
    ----------
    name : str
        DD, FA, ND, NF or RA; or any name, with
    function : callable, optional
        `quem.dialogue.strategies.CustomStrategy`.
    """

    name: str
    function: Callable[..., NDArray[np.float64]] | None = None

    def apart(self, known: Revealed) -> NDArray[np.int64]:
        """Give distances in steps."""
        if self.function is not None:
            return own_distances(self.function, self.name, known)
        return STRATEGIES[self.name](known)


@dataclass(frozen=True)
class Dialogues:
    """What happened in the dialogues of some targets.

    Parameters
    ----------
    targets : array of int, shape (t,)
    stop : array of int16, shape (t, strategies, users, dialogues)
        After how many answers a case was selected; -1 if none was.
    right : array of bool, the same shape
        Whether that case had the solution of the target.
    top_right : array of bool, shape (t, strategies, dialogues)
        Whether the top candidate after the last answer had.
    quality : array of float, shape (t, strategies, m + 1)
        Rank quality after 0 to m answers, averaged over the dialogues.
    contracted : array of float, the same shape
        Share of the dialogues whose list had contracted to nothing.
    """

    targets: NDArray[np.int64]
    stop: NDArray[np.int16]
    right: NDArray[np.bool_]
    top_right: NDArray[np.bool_]
    quality: NDArray[np.float64]
    contracted: NDArray[np.float64]

    def __len__(self) -> int:
        """How many targets there are."""
        return len(self.targets)

    def with_strategies(self, places: Sequence[int], other: Dialogues) -> Dialogues:
        """Put what happened with some strategies in the place of what is here.

        Parameters
        ----------
        places : sequence of int
            Which strategies.
        other : Dialogues
            Of these alone, and of the same targets.
        """
        columns = []
        for name in self.__dataclass_fields__:
            values = getattr(self, name)
            if name != "targets":
                values = values.copy()
                values[:, list(places)] = getattr(other, name)
            columns.append(values)
        return Dialogues(*columns)

    def at(self, order: NDArray[np.intp]) -> Dialogues:
        """Give some targets, by their places.

        Parameters
        ----------
        order : array of int
        """
        return Dialogues(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Experiment:
    """A case base, and all that is tried on it.

    Parameters
    ----------
    levels : dict of float to float
        The threshold of each b.
    """

    cases: EncodedCases
    settings: SimulationSettings
    strategies: tuple[NamedStrategy, ...]
    users: tuple[User, ...]
    questions: Questions
    space: Space
    regions: Regions | None
    levels: dict[float, float]

    @property
    def dialogues(self) -> int:
        """How many dialogues each target has."""
        return self.questions.dialogues(self.settings.orders)

    def run(self, targets: Sequence[int]) -> Dialogues:
        """Simulate the dialogues of some targets.

        What comes out for a target does not depend on the others.
        """
        return join([self._dialogues_of(target) for target in targets])

    def _dialogues_of(self, target: int) -> Dialogues:
        settings, m = self.settings, len(self.cases.attributes)
        random = np.random.default_rng([settings.seed, target])
        ties = random.permutation(len(self.cases))
        if settings.list_ties == "order":
            ties = np.arange(len(self.cases))
        chance = random.random(self.dialogues)
        orders = question_orders(self.questions, self.cases, target, settings.orders, random)
        place = np.argsort(orders, axis=1)
        revealed = place[:, np.newaxis, :] < np.arange(m + 1)[:, np.newaxis]
        # A list depends on what was revealed, and not on the order in which it was.
        points, which = np.unique(revealed.reshape(-1, m), axis=0, return_inverse=True)
        apart = self.space.differences(target)
        true = self.space.distances(target, apart)
        by_strategy = self._at(points, target, ties, apart, true)
        which = which.reshape(self.dialogues, m + 1)
        return self._read_lists(target, by_strategy, which, chance, true)

    def _at(
        self,
        points: NDArray[np.bool_],
        target: int,
        ties: NDArray[np.int64],
        apart: NDArray[np.float64],
        true: NDArray[np.float64],
    ) -> list[tuple[Candidates, NDArray[np.float64], NDArray[np.bool_]]]:
        """For each strategy: lists, rank quality and contraction at every point."""
        n = len(self.cases)
        # The target itself is no candidate.
        true = np.where(np.arange(n) == target, FAR, true)
        chunk = max(1, _CELLS // n)
        parts = []
        for start in range(0, len(points), chunk):
            known = Revealed(
                self.cases,
                self.space,
                self.regions,
                self.settings,
                target,
                points[start : start + chunk],
                apart,
            )
            parts.append([self._list(strategy, known, true, ties) for strategy in self.strategies])
        return [
            (
                Candidates(
                    np.concatenate([part[0].cases for part in of_strategy]),
                    np.concatenate([part[0].apart for part in of_strategy]),
                ),
                np.concatenate([part[1] for part in of_strategy]),
                np.concatenate([part[2] for part in of_strategy]),
            )
            for of_strategy in zip(*parts, strict=True)
        ]

    def _list(
        self,
        strategy: NamedStrategy,
        known: Revealed,
        true: NDArray[np.float64],
        ties: NDArray[np.int64],
    ) -> tuple[Candidates, NDArray[np.float64], NDArray[np.bool_]]:
        settings, others = self.settings, len(self.cases) - 1
        k = min(settings.k, others)
        # What lies beyond 2k + 1 cannot change rank quality: a tie at k that reaches so far
        # leaves out the candidates that are tied, wherever it ends.
        compared = min(2 * k + 1, others)
        shown = max(compared, min(max((user.top for user in self.users), default=1), others))
        candidates = nearest(strategy.apart(known), ties, shown)
        partial = candidates.apart[:, :compared] / NANO
        nearest_true = np.partition(true, k - 1)[:k]
        quality = rank_quality(
            partial,
            true[candidates.cases[:, :compared]],
            k,
            ideal=np.broadcast_to(nearest_true, (len(partial), k)),
            lam=settings.lam,
            lowest=settings.lowest,
            highest=settings.highest,
        )
        return candidates, quality, boundary(partial, k) == 0

    def _read_lists(
        self,
        target: int,
        by_strategy: list[tuple[Candidates, NDArray[np.float64], NDArray[np.bool_]]],
        which: NDArray[np.intp],
        chance: NDArray[np.float64],
        true: NDArray[np.float64],
    ) -> Dialogues:
        """Let the users read the lists, and put together what they did."""
        shape = (1, len(by_strategy), len(self.users), len(which))
        stop = np.full(shape, -1, dtype=np.int16)
        right = np.zeros(shape, dtype=bool)
        true = steps(true) / NANO
        same = self.cases.classes == self.cases.classes[target]
        for row, (lists, _, _) in enumerate(by_strategy):
            for column, user in enumerate(self.users):
                stop[0, row, column], right[0, row, column] = self._selected(
                    user, lists, which, true, same, chance
                )
        last = [lists.cases[which[:, -1], 0] for lists, _, _ in by_strategy]
        return Dialogues(
            np.array([target]),
            stop,
            right,
            same[np.array(last)][np.newaxis],
            np.array([quality[which].mean(axis=0) for _, quality, _ in by_strategy])[np.newaxis],
            np.array([nothing[which].mean(axis=0) for _, _, nothing in by_strategy])[np.newaxis],
        )

    def _selected(
        self,
        user: User,
        lists: Candidates,
        which: NDArray[np.intp],
        true: NDArray[np.float64],
        same: NDArray[np.bool_],
        chance: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """When a user selects a case in each dialogue, and whether it is a right one."""
        dialogues, points = which.shape
        settings = user.reads or self.settings
        cases = lists.cases[which.ravel(), : user.top]
        partial = settings.user_distance == "partial"
        distance = lists.apart[which.ravel(), : user.top] / NANO if partial else true[cases]
        level = np.nan if user.b is None else self.levels[user.b]
        shown = CandidateList(cases, distance, same[cases], level, np.repeat(chance, points))
        position = selections(user, shown, settings).reshape(dialogues, points)
        position[:, : settings.first_list] = -1
        stop = (position >= 0).argmax(axis=1)
        every = np.arange(dialogues)
        chosen = position[every, stop]
        right = shown.right.reshape(dialogues, points, -1)[every, stop, chosen]
        return np.where(chosen >= 0, stop, -1), right & (chosen >= 0)


def prepare(
    cases: EncodedCases,
    settings: SimulationSettings,
    *,
    strategies: Sequence[NamedStrategy],
    users: Sequence[User],
    questions: Questions | None = None,
) -> Experiment:
    """Make an experiment: distances, thresholds and regions are worked out once.

    Parameters
    ----------
    questions : Questions, optional
        In random order by default.
    """
    space = make_space(cases, settings.missing)
    shares = tuple(sorted({user.b for user in users if user.b is not None}))
    wanted = any(strategy.name == "RA" and not strategy.function for strategy in strategies)
    return Experiment(
        cases,
        settings,
        tuple(strategies),
        tuple(users),
        questions or Questions(),
        space,
        find_regions(space, cases, settings) if wanted else None,
        thresholds(space, shares),
    )


def join(parts: Sequence[Dialogues]) -> Dialogues:
    """Put the dialogues of several sets of targets together."""
    names = Dialogues.__dataclass_fields__
    return Dialogues(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


# Cells (points x cases x strategies) in a task: a second or two of work, so that little is lost
# by an interruption.
_CELLS_AT_ONCE = 20_000_000


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
        for dialogues in workers.each(experiment.run, tasks):
            if finished:
                finished.add(dialogues)
            parts.append(dialogues)
            done(len(dialogues))
    finally:
        if finished:
            finished.close()
    every = join(parts)
    order = np.argsort(every.targets)
    return every.at(order)


def _targets_in_a_task(experiment: Experiment) -> int:
    points = experiment.dialogues * (experiment.space.m + 1)
    cells = points * len(experiment.cases) * len(experiment.strategies)
    return max(1, _CELLS_AT_ONCE // cells)


def made_of(experiment: Experiment) -> str:
    """Make a fingerprint of all that the dialogues of an experiment depend on."""
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


# What the strategies are made of, rather than what they are measured by.
_OF_STRATEGIES = ("neighbors", "neighbor_ties", "regions", "region_size")


def evaluated_on(experiment: Experiment) -> tuple[str, dict[str, str]]:
    """Say what strategies are measured by: a digest of the case base, and the settings."""
    cases, questions = experiment.cases, experiment.questions
    digest = fingerprint(
        list(cases.ids),
        list(cases.attributes),
        cases.values,
        cases.weights,
        [None if names is None else list(names) for names in cases.categories],
        [cases.labels[at] for at in cases.classes.tolist()],
    )
    settings = {
        name: str(value)
        for name, value in experiment.settings.to_dict().items()
        if name not in _OF_STRATEGIES
    }
    functions = {user.name: getattr(user.function, "fingerprint", "") for user in experiment.users}
    asked = [questions.rule, list(questions.order), getattr(questions.function, "fingerprint", "")]
    settings["users"] = fingerprint(
        [[user.name, user.rule, user.top, user.b] for user in experiment.users], functions
    )
    settings["questions"] = fingerprint(asked)
    return digest, settings


# What the file is called in the folder of a report.
FINISHED = "finished-targets.jsonl"
_FORMAT = 1


def fingerprint(*parts: object) -> str:
    """Make a short text that changes with what is given.

    Parameters
    ----------
    *parts : object
        Arrays, bytes, or what JSON can hold.
    """
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


class Finished:
    """The file of finished targets.

    Parameters
    ----------
    made_of : str
        See `fingerprint`. A file that was made of something else is replaced.
    """

    def __init__(self, path: Path, made_of: str) -> None:
        self.path, self._made_of = path, made_of
        self._file: IO[bytes] | None = None

    def read(self) -> list[Dialogues]:
        """Give what is there, without targets that are there twice."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._refusal(error) from None
        if lines[0] != self._header():
            return []
        parts: list[Dialogues] = []
        seen: set[int] = set()
        for line in lines[1:]:
            dialogues = _unpacked(line)
            if dialogues is not None and not seen & set(dialogues.targets.tolist()):
                seen |= set(dialogues.targets.tolist())
                parts.append(dialogues)
        return parts

    def add(self, dialogues: Dialogues) -> None:
        """Add a line and put it to disk.

        Raises
        ------
        QuemError
            The file cannot be written.
        """
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(_packed(dialogues) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._refusal(error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> IO[bytes]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        ours = False
        if self.path.exists():
            with self.path.open("rb") as old:
                ours = old.readline().rstrip(b"\n") == self._header()
        if not ours:
            new = self.path.open("wb")
            new.write(self._header() + b"\n")
            return new
        file = self.path.open("r+b")
        # After a line that was cut off a new one begins.
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
        file.seek(0, os.SEEK_END)
        return file

    def _header(self) -> bytes:
        return json.dumps({"quem": "finished targets", "of": self._made_of, "v": _FORMAT}).encode()

    def _refusal(self, error: OSError) -> QuemError:
        reason = error.strerror or str(error)
        message = f"finished targets cannot be kept here: {reason}; name another folder: --out"
        return QuemError([Mistake(str(self.path), message=message)])


def _packed(dialogues: Dialogues) -> bytes:
    raw, shapes = [], {}
    for name in Dialogues.__dataclass_fields__:
        values: np.ndarray[Any, Any] = getattr(dialogues, name)
        shapes[name] = [values.dtype.str, list(values.shape)]
        raw.append(np.ascontiguousarray(values).tobytes())
    data = zlib.compress(b"".join(raw), 1)
    entry = {"sum": zlib.crc32(data), "is": shapes, "data": base64.b64encode(data).decode()}
    return json.dumps(entry).encode()


def _unpacked(line: bytes) -> Dialogues | None:
    try:
        entry = json.loads(line)
        data = base64.b64decode(entry["data"])
        if zlib.crc32(data) != entry["sum"]:
            return None
        raw = zlib.decompress(data)
        start, columns = 0, {}
        for name, (kind, shape) in entry["is"].items():
            dtype = np.dtype(kind)
            size = int(np.prod(shape)) * dtype.itemsize
            columns[name] = np.frombuffer(raw[start : start + size], dtype).reshape(shape)
            start += size
        return Dialogues(**columns)
    except (ValueError, KeyError, TypeError, zlib.error):
        return None
