"""The types that type checkers know of what the package gives: ``nox -s lint`` checks them."""

from __future__ import annotations

from typing import Literal, assert_type

import pandas as pd

import quem
from quem.comparison.result import ComparisonResult
from quem.dialogue.loading import DialogueStudy
from quem.dialogue.result import DialogueResult
from quem.experience.loading import Study
from quem.experience.result import ExperienceResult
from quem.kinds import AnyStudy
from quem.options.loading import OptionsStudy
from quem.options.result import OptionsResult
from quem.planning.result import PlanResult
from quem.relevance.loading import RelevanceStudy
from quem.relevance.result import RelevanceResult
from quem.retrieval.loading import RetrievalStudy
from quem.retrieval.result import RetrievalResult


def types_by_kind(some: str, one: Literal["experience", "options"]) -> None:
    """By the kind that is named, `load_study` and `analyze` have types; no public one is Any."""
    assert_type(quem.load_study(some, kind=one), AnyStudy)
    experience = quem.load_study(some, kind="experience")
    assert_type(experience, Study)
    assert_type(quem.analyze(experience), ExperienceResult)
    assert_type(quem.analyze(experience).estimates, pd.DataFrame)
    assert_type(quem.compare(experience), ComparisonResult)
    assert_type(quem.plan(), PlanResult)
    assert_type(quem.load_study(some, kind="options"), OptionsStudy)
    assert_type(quem.load_study(some, kind="retrieval"), RetrievalStudy)
    assert_type(quem.load_study(some, kind="dialogue"), DialogueStudy)
    assert_type(quem.load_study(some, kind="relevance"), RelevanceStudy)
    assert_type(quem.analyze(quem.load_study(some, kind="options")), OptionsResult)
    assert_type(quem.analyze(quem.load_study(some, kind="retrieval")), RetrievalResult)
    assert_type(quem.analyze(quem.load_study(some, kind="dialogue")), DialogueResult)
    assert_type(quem.analyze(quem.load_study(some, kind="relevance")), RelevanceResult)
