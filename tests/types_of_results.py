"""The types that type checkers know of what the package gives: ``nox -s lint`` checks them."""

from __future__ import annotations

from typing import Literal, assert_type

import pandas as pd

import quem
from quem.comparison.result import ComparisonResult
from quem.dialogue.loading import DialogueStudy
from quem.dialogue.result import DialogueResult
from quem.kinds import AnyStudy
from quem.lists import Definition, Scores
from quem.options.loading import OptionsStudy
from quem.options.result import OptionsResult
from quem.parts.result import ExperienceResult
from quem.planning.result import PlanResult
from quem.rankings.loading import Study
from quem.relevance.loading import RelevanceStudy
from quem.relevance.result import RelevanceResult
from quem.retrieval.loading import RetrievalStudy
from quem.retrieval.result import RetrievalResult
from quem.scores.runs import ScoresResult
from quem.scores.table import ScoreTable


def types_by_kind(some: str, one: Literal["experience", "options"]) -> None:
    """By the kind that is named, `load_study` and `analyze` have types; no public one is Any."""
    assert_type(quem.load_study(some, kind=one), AnyStudy)
    experience = quem.load_study(some, kind="experience")
    assert_type(experience, Study)
    assert_type(quem.analyze(experience), ExperienceResult)
    assert_type(quem.analyze(experience).estimates, pd.DataFrame)
    assert_type(quem.compare(experience), ComparisonResult)
    retrieval = quem.load_study(some, kind="retrieval")
    assert_type(quem.compare(retrieval), ScoresResult)
    assert_type(quem.compare(quem.analyze(retrieval)), ScoresResult)
    assert_type(quem.plan(), PlanResult)
    assert_type(quem.load_study(some, kind="options"), OptionsStudy)
    assert_type(quem.load_study(some, kind="retrieval"), RetrievalStudy)
    assert_type(quem.load_study(some, kind="dialogue"), DialogueStudy)
    assert_type(quem.load_study(some, kind="relevance"), RelevanceStudy)
    assert_type(quem.analyze(quem.load_study(some, kind="options")), OptionsResult)
    assert_type(quem.analyze(quem.load_study(some, kind="retrieval")), RetrievalResult)
    assert_type(quem.analyze(quem.load_study(some, kind="dialogue")), DialogueResult)
    assert_type(quem.analyze(quem.load_study(some, kind="relevance")), RelevanceResult)


def types_in_memory(frame: pd.DataFrame) -> None:
    """What is evaluated in memory has the type of a study's result."""
    study = quem.study(frame, people={"S1": 2})
    assert_type(study, Study)
    assert_type(quem.analyze(study), ExperienceResult)
    assert_type(quem.options.evaluate(frame, {"Q1": "a"}, measures="OLAR"), OptionsResult)
    assert_type(quem.lists.define(own_measure), Definition)
    assert_type(quem.score(frame, frame), ScoreTable)
    assert_type(quem.lists.evaluate({"q": ["a"]}, {"q": ["a"]}, [own_measure]), Scores)


def own_measure(items: list[str], truth: dict[str, float]) -> float | None:
    """A measure of the user."""
    return len(items) / len(truth) if truth else None
