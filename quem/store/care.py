"""Conduct of judges: time, opened solutions, places, and the initial order."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from quem.errors import QuemError, StudyWarning
from quem.io.text import read_text, word_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from quem.solutions import Solution
    from quem.solutions.model import Signature
    from quem.store.exporting import SubmittedRanking

# Reading speed, a little below the mean of Brysbaert (2019).
WORDS_A_MINUTE = 230
_TEXTS = ("markdown", "text", "code", "html")
_FAST_SECONDS = 2
# Conditions of a warning: this much to read, and less than this share of it in active time, or more
# than this share of the solutions never opened.
_LEAST_SECONDS = 5 * 60
_LEAST_TIME = 0.1
_MOST_UNOPENED = 0.5


@dataclass(frozen=True)
class Care:
    """A judge's conduct in submitted rankings, without practice."""

    judge: str
    seconds: float  # of active time
    expected: float  # time to read the solutions once, in seconds
    n: int  # number of ranked solutions
    opened: int  # number of these that were ever in view
    fast: float  # share of places given to solutions viewed for less than 2 seconds
    as_shown: float | None  # share of ordered pairs in the initial order; None without pairs
    rankings: int
    tied: int  # number of rankings that are a single tie

    @property
    def is_hasty(self) -> bool:
        """Whether the judge cannot have read most of the texts."""
        return self.expected >= _LEAST_SECONDS and (
            self.seconds < _LEAST_TIME * self.expected
            or self.n - self.opened > _MOST_UNOPENED * self.n
        )


def care_of(
    rankings: Iterable[SubmittedRanking], solutions: Mapping[str, Mapping[str, Solution]]
) -> list[Care]:
    """The conduct of each judge in submitted rankings."""
    of_judge: dict[str, list[SubmittedRanking]] = defaultdict(list)
    for ranking in rankings:
        of_judge[ranking.judge].append(ranking)
    return [_care(judge, own, solutions) for judge, own in of_judge.items()]


def _care(
    judge: str,
    rankings: Sequence[SubmittedRanking],
    solutions: Mapping[str, Mapping[str, Solution]],
) -> Care:
    seen: dict[tuple[str, str], float] = defaultdict(float)
    places = fast = alike = pairs = tied = 0
    for one in rankings:
        ranks = {solver: rank for solver, rank in one.state.ranks().items() if rank is not None}
        for solver in one.state.ranks():
            seen[one.problem, solver] += one.views.get(solver, 0.0)
        places += len(ranks)
        fast += sum(one.views.get(solver, 0.0) < _FAST_SECONDS for solver in ranks)
        tied += len(ranks) > 1 and len({*ranks.values()}) == 1
        queue = [solver for solver in one.queue if solver in ranks]
        steps = [ranks[first] - ranks[later] for first, later in combinations(queue, 2)]
        alike += sum(step > 0 for step in steps)
        pairs += sum(step != 0 for step in steps)
    found = [solutions.get(problem, {}).get(solver) for problem, solver in seen]
    words = sum(count_words(solution) for solution in found if solution)
    return Care(
        judge,
        seconds=sum(one.seconds for one in rankings),
        expected=60 * words / WORDS_A_MINUTE,
        n=len(seen),
        opened=sum(view > 0 for view in seen.values()),
        fast=fast / places if places else 0.0,
        as_shown=alike / pairs if pairs else None,
        rankings=len(rankings),
        tied=tied,
    )


def care_sentence(care: Care) -> str:
    """The observations on a judge, without a guess at the cause."""
    sentence = (
        f"{care.judge} opened {care.opened} of {care.n} solutions and spent {_time(care.seconds)}; "
        f"reading them takes about {_time(care.expected)}. "
        f"{care.fast:.0%} of the places were given after less than {_FAST_SECONDS} seconds in view"
    )
    if care.as_shown is not None:
        sentence += f", {care.as_shown:.0%} of the pairs are in the order shown (chance: 50%)"
    return f"{sentence}, and {care.tied} of {care.rankings} rankings tie all solutions"


def care_warnings(cares: Iterable[Care]) -> list[StudyWarning]:
    """Warnings on judges who cannot have read most of the solutions; nobody is excluded."""
    why = "nothing is excluded: compare the estimate with the one without this judge"
    return [
        StudyWarning("hasty-judge", f"{care_sentence(one)}; {why}") for one in cares if one.is_hasty
    ]


def count_words(solution: Solution) -> int:
    """The number of words in the readable texts of a solution."""
    from quem.solutions.model import signature

    words = 0
    for file in solution.files:
        if file.kind in _TEXTS:
            with suppress(QuemError, OSError):
                words += _words(file.path, file.name, signature(file.path))
    return words


@lru_cache(maxsize=20_000)
def _words(path: Path, name: str, _signature: Signature) -> int:
    return word_count(read_text(path, name, what="solution", legacy=True))


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 90:  # noqa: PLR2004
        return f"{minutes} minute{'' if minutes == 1 else 's'}" if minutes else "under a minute"
    return f"{seconds / 3600:.0f} hours"
