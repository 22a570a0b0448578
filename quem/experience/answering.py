"""What judges answered to the study's own questions, and whether scores go with ranks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import kendalltau

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.experience.averages import Averages
    from quem.experience.cells import RankCells
    from quem.store.answers import Answer
    from quem.studyfile.models import Question

_FEWEST = 3


@dataclass(frozen=True)
class Reply:
    """How often an answer was given."""

    question: Question
    answer: str | None  # none for all that was written in answer to a question for a text
    n: int
    share: float  # of all answers to the question


@dataclass(frozen=True)
class Score:
    """What one solver got in a question about solutions."""

    question: Question
    solver: str
    n: int  # answers to a scale; for a flag, ranks: a solution counts once for each judge
    mean: float  # of a scale; for a flag, the share of the ranks with which it was set


@dataclass(frozen=True)
class Scored:
    """Whether the scores of a question go with the ranks."""

    question: Question
    n: int  # solvers with a score and an average rank
    # Kendall's tau-b of the two; NaN for fewer than 3 solvers, or where all scores are equal.
    tau: float


@dataclass(frozen=True)
class Answering:
    """What judges answered besides ranking, in the order of the study file."""

    replies: tuple[Reply, ...]
    scores: tuple[Score, ...]
    scored: tuple[Scored, ...]


def answering(
    cells: RankCells, averages: Averages, answers: Sequence[Answer], questions: Iterable[Question]
) -> Answering | None:
    """Count the answers, and average those that are numbers or marks."""
    known = {
        name for name, kind in zip(cells.solvers, cells.kinds, strict=True) if kind != "withheld"
    }
    counted = [
        answer
        for answer in answers
        if answer.occasion in (1, None) and (not answer.solver or answer.solver in known)
    ]
    asked = [question for question in questions if question.about != "placement"]
    replies = [reply for question in asked for reply in _replies(question, counted)]
    if not replies:
        return None
    scores = [
        score
        for question in asked
        if question.about == "solution"
        for score in _scores(question, counted, cells, known)
    ]
    scored = [
        _scored(question, [s for s in scores if s.question == question], averages)
        for question in dict.fromkeys(score.question for score in scores)
    ]
    return Answering(tuple(replies), tuple(scores), tuple(scored))


def _given(question: Question, answers: Iterable[Answer]) -> list[Answer]:
    """The answers to a question that it offers."""
    mine = [answer for answer in answers if answer.question == question.id]
    if question.kind == "text":
        return mine
    return [answer for answer in mine if answer.answer in question.values]


def _replies(question: Question, answers: Sequence[Answer]) -> Iterator[Reply]:
    given = _given(question, answers)
    if question.kind == "text" and given:
        yield Reply(question, None, len(given), 1.0)
        return
    counts = Counter(answer.answer for answer in given)
    for value in question.values:
        if given:
            yield Reply(question, value, counts[value], counts[value] / len(given))


def _scores(
    question: Question, answers: Sequence[Answer], cells: RankCells, known: set[str]
) -> Iterator[Score]:
    if question.kind not in ("scale", "flag"):
        return
    given = {(a.judge, a.problem, a.block, a.solver): a.answer for a in _given(question, answers)}
    if not given:
        return
    for solver in (name for name in cells.solvers if name in known):
        if question.kind == "flag":
            # No flag is an answer too, of whoever ranked the solution.
            values = [float(place in given) for place in _ranked(cells, solver)]
        else:
            values = [float(value) for (*_, name), value in given.items() if name == solver]
        if values:
            yield Score(question, solver, len(values), float(np.mean(values)))


def _ranked(cells: RankCells, solver: str) -> Iterator[tuple[str, str, int, str]]:
    """Give who ranked a solver's solutions of which tasks."""
    here = cells.judged() & (cells.occasion == 1) & (cells.solver == cells.solvers.index(solver))
    for row in np.flatnonzero(here).tolist():
        judge, problem = cells.judges[cells.judge[row]], cells.problems[cells.problem[row]]
        yield judge, problem, int(cells.block[row]), solver


def _scored(question: Question, scores: Sequence[Score], averages: Averages) -> Scored:
    rank = dict(zip(averages.solvers, averages.average, strict=True))
    pairs = [(s.mean, rank[s.solver]) for s in scores if np.isfinite(rank.get(s.solver, np.nan))]
    tau = np.nan
    if len(pairs) >= _FEWEST and all(len(set(values)) > 1 for values in zip(*pairs, strict=True)):
        tau = float(kendalltau(*zip(*pairs, strict=True)).statistic)
    return Scored(question, len(pairs), tau)
