"""What sessions recorded besides the order: how places came about, answers, and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.report.columns import (
    COUNT,
    INTERVAL,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    SHARE,
    TEXT,
    Column,
    Columns,
    choice,
    each,
    null_or,
    of,
)
from quem.wording import format_percent

if TYPE_CHECKING:
    from quem.experience.answering import Reply, Score, Scored
    from quem.experience.result import ExperienceFindings
    from quem.experience.times import ProblemTime
    from quem.store.care import Care

_WAYS = {"compare": "Comparing", "drag": "Dragging", "menu": "Menu", "key": "Keys"}
_SURE = {"unsure": "Unsure", "fairly": "Fairly sure", "sure": "Sure"}


def name_column(of_whom: str) -> Column[Any, ExperienceFindings]:
    """Give the column of the report with the name of a row's system or solver."""
    return Column(
        "name",
        TEXT,
        f"name of the {of_whom}",
        of=lambda row, findings: findings.name_of(getattr(row, of_whom)),
        heading=of_whom.title(),
        only="report",
    )


def _percent(share: float) -> str:
    return format_percent(round(share, 2))


_LEVEL: tuple[Column[Any, ExperienceFindings], ...] = (
    Column("n", COUNT, "places", heading="Places"),
    Column("share", SHARE, "of all places", heading="Share", text=_percent),
    Column("n_compared", COUNT, "places that another judge's ranking can be compared with"),
    Column(
        "same_order",
        null_or(SHARE),
        "agreement with the other judges: of the pairs of the solution with another one of its "
        "task, the share that other judges order, or tie, alike; mean over the places; null where "
        "nothing can be compared",
        heading="Pairs in the same order",
        text=lambda share: _percent(share) if np.isfinite(share) else "–",
    ),
)
WAYS: Columns[Any, ExperienceFindings] = Columns(
    Column(
        "way",
        choice(*_WAYS, None),
        "by comparing, dragging, the menu, or keys; null where it was not recorded",
        of="level",
        heading="Way",
        text=lambda way: _WAYS.get(way, "Not recorded"),
    ),
    *_LEVEL,
)
SURE: Columns[Any, ExperienceFindings] = Columns(
    Column(
        "sure",
        choice(*_SURE, None),
        "what the judge said; null where they did not",
        of="level",
        heading="How sure",
        text=lambda sure: _SURE.get(sure, "Not stated"),
    ),
    *_LEVEL,
)
_ANSWERED: Columns[Any, ExperienceFindings] = Columns(
    Column("n", COUNT, "comparisons of two solutions that judges made to place one of them"),
    Column("share_equal", SHARE, "share of the answers that were “equally good”"),
    Column("share_left", SHARE, "share of the comparisons in which the new solution stood left"),
)
_QUEUE: Columns[Any, ExperienceFindings] = Columns(
    Column("slope", NUMBER, "ranks for each place later in the queue; positive if later is better"),
    Column("standard_error", NOT_NEGATIVE, "of the slope"),
    Column("df", COUNT, "degrees of freedom of its t test"),
    Column("p", null_or(SHARE), "two-sided p value; null where the ranks leave no noise"),
    Column("n", COUNT, "places"),
)
_QUESTION: tuple[Column[Any, ExperienceFindings], ...] = (
    Column("question", NAME, "id of the question", of="question.id"),
    Column("text", TEXT, "what judges read", of="question.text", heading="Question"),
)
_ABOUT = {"solution": "Each solution", "task": "Each task", "study": "At the end"}
REPLIES: Columns[Reply, ExperienceFindings] = Columns(
    *_QUESTION,
    Column(
        "about",
        choice(*_ABOUT),
        "what was asked about",
        of="question.about",
        heading="Asked of",
        text=lambda about: _ABOUT[about],
    ),
    Column(
        "answer",
        null_or(TEXT),
        "as it was chosen, `yes` for a flag; null for texts, which `quem export` writes",
        heading="Answer",
        text=lambda answer: "(text)" if answer is None else answer,
    ),
    Column("n", COUNT, "how often it was given", heading="Given"),
    Column("share", SHARE, "of the answers to the question", heading="Share", text=_percent),
)
SCORES: Columns[Score, ExperienceFindings] = Columns(
    *_QUESTION,
    Column("solver", NAME, "id"),
    name_column("solver"),
    Column(
        "n",
        COUNT,
        "answers to a scale; for a flag, ranks: a solution counts once for each judge",
        heading="Answers",
    ),
    Column("mean", NUMBER, "of a scale; for a flag, the share that was marked", heading="Mean"),
)
SCORED: Columns[Scored, ExperienceFindings] = Columns(
    *_QUESTION,
    Column("n", COUNT, "solvers with a mean and an average rank", heading="Solvers"),
    Column(
        "tau",
        null_or(NUMBER),
        "Kendall's tau-b of the means and the average ranks; null for fewer than 3 solvers, or "
        "where all means are equal",
        heading="Kendall’s τ-b with the average rank",
        digits=2,
    ),
)


def _without(care: Care, findings: ExperienceFindings) -> str:
    """The estimates without a judge, in the order of the systems."""
    left = [f"{one.estimate:.1f}" for one in findings.judges if one.id == care.judge]
    return ", ".join("–" if one == "nan" else one for one in left) or "–"


JUDGING: Columns[Care, ExperienceFindings] = Columns(
    Column("judge", NAME, "id", heading="Judge"),
    Column(
        "minutes",
        NOT_NEGATIVE,
        "active time in submitted rankings",
        of=lambda care, _: care.seconds / 60,
        heading="Minutes",
        digits=0,
    ),
    Column(
        "reading",
        NOT_NEGATIVE,
        "minutes that it takes to read the texts of the solutions once, at 230 words a minute",
        of=lambda care, _: care.expected / 60,
        heading="Minutes of reading",
        digits=0,
    ),
    Column("n", COUNT, "solutions in the rankings", heading="Solutions"),
    Column("opened", COUNT, "of these, those that were ever in view", heading="Opened"),
    Column(
        "fast",
        SHARE,
        "share of places given to solutions that were in view for less than 2 seconds",
        heading="Placed in under 2 s",
        text=_percent,
    ),
    Column(
        "as_shown",
        null_or(SHARE),
        "share of the ordered pairs in the order in which the solutions were shown, 0.5 by chance; "
        "null without pairs",
        heading="Pairs in the order shown",
        text=lambda share: "–" if share is None else _percent(share),
    ),
    Column("tied", COUNT, "rankings that tie all solutions", heading="All tied"),
    Column(
        "without",
        TEXT,
        "estimates without this judge",
        of=_without,
        heading="Estimate without",
        only="report",
    ),
)
ANSWERING: Columns[Any, ExperienceFindings] = Columns(
    Column("replies", each(REPLIES), "how often each answer was given"),
    Column("scores", each(SCORES), "means by solver of scales and flags about solutions"),
    Column("scored", each(SCORED), "whether these means go with the average ranks"),
)
PROBLEM_TIMES: Columns[ProblemTime, ExperienceFindings] = Columns(
    Column("problem", NAME, "id", heading="Problem"),
    Column("n", COUNT, "subjects whose time is known", heading="People"),
    Column("median", NOT_NEGATIVE, "minutes of work", heading="Median"),
    Column("quartiles", INTERVAL, "first and third, in minutes", heading="Quartiles"),
    Column("least", NOT_NEGATIVE, "minutes", heading="Shortest"),
    Column("most", NOT_NEGATIVE, "minutes", heading="Longest"),
)
TIMES: Columns[Any, ExperienceFindings] = Columns(
    Column("n", COUNT, "solutions whose time is known"),
    Column("n_subjects", COUNT, "subjects who made them"),
    Column("median", NOT_NEGATIVE, "minutes of work for a solution, over all solutions"),
    Column(
        "typical",
        NOT_NEGATIVE,
        "minutes of work for a solution: geometric mean over subjects of their geometric means",
    ),
    Column(
        "interval",
        null_or(INTERVAL),
        "confidence interval of `typical` at the study's level; null for one subject",
    ),
    Column("hours", NOT_NEGATIVE, "of all together"),
    Column(
        "tau",
        null_or(NUMBER),
        "Kendall's tau-b of experience and time, over subjects; null for fewer than 3, or where "
        "all are equal",
    ),
    Column("problems", each(PROBLEM_TIMES), "one entry per problem"),
)
PLACING: Columns[Any, ExperienceFindings] = Columns(
    Column("ways", each(WAYS), "by the way in which solutions got their places"),
    Column("sure", each(SURE), "by how sure judges were; empty where no judge said it"),
    Column("answers", null_or(of(_ANSWERED)), "null where no solutions were compared"),
    Column(
        "queue",
        null_or(of(_QUEUE)),
        "slope of rank on the position at which the judge met the solution; null where it cannot "
        "be estimated, such as with one judge",
    ),
)
