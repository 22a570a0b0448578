"""Answers to the study's own questions, and their correlation with ranks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from quem.method.part import Part, PartTable
from quem.method.ranks import tau_b
from quem.rankings import Rankings
from quem.report.files import Section
from quem.report.rows import Row, col

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.method.averages import Averages
    from quem.method.cells import RankCells
    from quem.method.core import Core
    from quem.store.answers import Answer
    from quem.studyfile.models import Question

_FEWEST = 3


class Reply(Row):
    """The frequency of an answer."""

    title: ClassVar[str] = "Answers"
    question: str = col("id of the question")
    text: str = col("what judges read", "Question")
    about: Literal["solution", "task", "study"] = col("what was asked about", "Asked of each")
    answer: str | None = col(
        "as it was chosen, `yes` for a flag; null for texts, which `quem export` writes", "Answer"
    )
    n: int = col("how often it was given", "Given")
    share: float = col("of the answers to the question", "Share", 2)


class Score(Row):
    """The score of a solver in a question about solutions."""

    title: ClassVar[str] = "Scores and marks by solver"
    question: str = col("id of the question", "Question")
    solver: str = col("id", "Solver")
    n: int = col(
        "answers to a scale; for a flag, ranks: a solution counts once for each judge", "Answers"
    )
    mean: float = col("of a scale; for a flag, the share of the ranks with it", "Mean", 2)


class Scored(Row):
    """The correlation of a question's scores with the ranks."""

    title: ClassVar[str] = "Scores beside average ranks"
    question: str = col("id of the question", "Question")
    n: int = col("solvers with a mean and an average rank", "Solvers")
    tau: float = col(
        "Kendall's tau-b of the two; null for fewer than 3 solvers, or where all means are equal",
        "τ-b",
        2,
    )


class Answered(Row):
    """Answers of judges, in the order of the study file."""

    replies: tuple[Reply, ...] = col("counts of the answers")
    scores: tuple[Score, ...] = col("means by solver of scales and flags about solutions")
    scored: tuple[Scored, ...] = col("correlation of these means with the average ranks")


class QuestionsPart(Part[Answered]):
    """Answers enter no estimate; those on repeat tasks and withheld solvers are excluded."""

    name = "questions"
    tables = (PartTable(name, "answers to the study's own questions", Answered, many=False),)

    def find(self, core: Core) -> Answered | None:
        """Count the answers, and average numbers and flags."""
        data, cells = core.study.data, core.cells
        if cells is None or not isinstance(data, Rankings) or not data.answers:
            return None
        known = {name for name in cells.solvers if core.study.declared.solvers[name] != "withheld"}
        counted = [
            answer
            for answer in data.answers
            if answer.occasion in (1, None) and (not answer.solver or answer.solver in known)
        ]
        asked = [one for one in core.study.spec.judging.questions if one.about != "placement"]
        given = {one.id: _given(one, counted) for one in asked}
        replies = [row for one in asked for row in _replies(one, given[one.id])]
        if not replies:
            return None
        scores = [row for one in asked for row in _scores(one, given[one.id], cells, known)]
        scored = [
            _scored(one, own, core.averages)
            for one in given
            if (own := [score for score in scores if score.question == one])
        ]
        return Answered(replies=tuple(replies), scores=tuple(scores), scored=tuple(scored))

    def sections(self, found: Answered, core: Core) -> Iterator[Section]:
        """The answers, and the scores with the ranks."""
        text = ["Answers enter no estimate."]
        tables = [Reply.text_table(found.replies)]
        if found.scores:
            text.append(
                "τ-b says how far solvers with higher means also have higher average ranks: 1 if "
                "always, −1 if never."
            )
            tables += [Score.text_table(found.scores), Scored.text_table(found.scored)]
        yield Section(self.name, "Answers to questions", text, (), tables)


def _given(question: Question, answers: Iterable[Answer]) -> list[Answer]:
    """The valid answers to a question."""
    mine = [answer for answer in answers if answer.question == question.id]
    if question.kind == "text":
        return mine
    return [answer for answer in mine if answer.answer in question.values]


def _replies(question: Question, given: Sequence[Answer]) -> Iterator[Reply]:
    if not given:
        return
    counts: dict[str | None, int] = {None: len(given)}
    if question.kind != "text":
        each = Counter(answer.answer for answer in given)
        counts = {value: each[value] for value in question.values}
    for answer, n in counts.items():
        yield Reply(
            question=question.id,
            text=question.text,
            about=question.about,
            answer=answer,
            n=n,
            share=n / len(given),
        )


def _scores(
    question: Question, answers: Sequence[Answer], cells: RankCells, known: set[str]
) -> Iterator[Score]:
    if question.about != "solution" or question.kind not in ("scale", "flag") or not answers:
        return
    given = {(one.judge, one.problem, one.block, one.solver): one.answer for one in answers}
    for solver in (name for name in cells.solvers if name in known):
        if question.kind == "flag":
            # No flag is an answer too, of each judge who ranked the solution.
            values = [float(place in given) for place in _ranked(cells, solver)]
        else:
            values = [float(value) for (*_, name), value in given.items() if name == solver]
        if values:
            mean = float(np.mean(values))
            yield Score(question=question.id, solver=solver, n=len(values), mean=mean)


def _ranked(cells: RankCells, solver: str) -> Iterator[tuple[str, str, int, str]]:
    """Each ranked solution: solver, and the judge's task."""
    here = cells.judged() & (cells.occasion == 1) & (cells.solver == cells.solvers.index(solver))
    for row in np.flatnonzero(here).tolist():
        judge, problem = cells.judges[cells.judge[row]], cells.problems[cells.problem[row]]
        yield judge, problem, int(cells.block[row]), solver


def _scored(question: str, scores: Sequence[Score], averages: Averages) -> Scored:
    rank = dict(zip(averages.solvers, averages.rank.tolist(), strict=True))
    means, ranks = np.array([(s.mean, rank.get(s.solver, np.nan)) for s in scores]).T
    n = int(np.isfinite(ranks).sum())
    return Scored(question=question, n=n, tau=tau_b(means, ranks) if n >= _FEWEST else np.nan)
