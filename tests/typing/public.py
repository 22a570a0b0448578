"""What type checkers know of the public interface; mypy checks this module, nothing runs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, assert_type

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

import quem
from quem.comparison.result import ComparisonResult
from quem.dialogue.loading import DialogueStudy
from quem.dialogue.result import DialogueResult
from quem.errors import Mistake, StudyWarning
from quem.kinds import AnyStudy
from quem.lists import Definition, Measure, Properties, Score, Scores
from quem.method.statement import Statement
from quem.options.loading import OptionsStudy
from quem.options.result import OptionsResult
from quem.parts.result import ExperienceResult
from quem.planning.result import PlanResult
from quem.relevance.loading import RelevanceStudy
from quem.relevance.result import RelevanceResult
from quem.report.result import BaseResult, Content, WarningFindings
from quem.retrieval.loading import RetrievalStudy
from quem.retrieval.result import RetrievalResult
from quem.scores.certificate import Certificate
from quem.scores.result import ScoresResult
from quem.scores.table import ScoreTable


def studies(some: str, one: Literal["experience", "options"]) -> None:
    """With its kind named, a study has a type of its own; without, it is any study."""
    assert_type(quem.load_study(some, kind="experience", reveal=True), quem.Study)
    assert_type(quem.load_study(some, kind="options", code=False), OptionsStudy)
    assert_type(quem.load_study(some, kind="retrieval"), RetrievalStudy)
    assert_type(quem.load_study(some, kind="dialogue", data=Path(some)), DialogueStudy)
    assert_type(quem.load_study(some, kind="relevance"), RelevanceStudy)
    assert_type(quem.load_study(some, kind=one), AnyStudy)
    study = quem.load_study(Path(some))
    assert_type(study, AnyStudy)
    assert_type(study.spec.title, str)
    assert_type(study.files, tuple[Path, ...])
    assert_type(study.counts(), dict[str, int])


def studies_in_memory(frame: pd.DataFrame) -> None:
    """People are a mapping of ids, of any kind, or a list of mappings."""
    study = quem.study(frame, people={"S1": 2}, systems=["K1"], title="Mine")
    assert_type(study, quem.Study)
    assert_type(quem.study(frame, people={1: 2.5}), quem.Study)
    assert_type(quem.study([], people=[{"id": "S1", "experience": 2}]), quem.Study)
    assert_type(study.rankings, pd.DataFrame | None)
    assert_type(study.save("folder"), None)
    assert_type(quem.simulate_study(judges=4, noise="high", ties=0.1), quem.Study)


def results(study: quem.Study, other: AnyStudy) -> None:
    """A result has the type of its study, and offers the same as those of other kinds."""
    result = quem.analyze(study, level=0.9)
    assert_type(result, ExperienceResult)
    assert_type(result.estimates, pd.DataFrame)
    assert_type(result.averages, pd.DataFrame)
    assert_type(result.ranks, pd.DataFrame | None)
    assert_type(result.statements, tuple[Statement, ...])
    assert_type(result.study, quem.Study)
    assert_type(quem.analyze(quem.load_study("", kind="options")), OptionsResult)
    assert_type(quem.analyze(quem.load_study("", kind="retrieval")), RetrievalResult)
    assert_type(quem.analyze(quem.load_study("", kind="dialogue")), DialogueResult)
    assert_type(quem.analyze(quem.load_study("", kind="relevance")), RelevanceResult)
    any_result = quem.analyze(other)
    assert_type(any_result, BaseResult[WarningFindings])
    assert_type(any_result.summary(warnings=False), str)
    assert_type(any_result.warnings, tuple[StudyWarning, ...])
    assert_type(any_result.warnings[0].code, str)
    assert_type(any_result.tables(), dict[str, pd.DataFrame])
    assert_type(any_result.table("estimates"), pd.DataFrame)
    assert_type(any_result.figures(), dict[str, Figure])
    assert_type(any_result.plot("line"), Figure | None)
    assert_type(any_result.attachments(), Mapping[str, Content])
    assert_type(any_result.to_dict(), dict[str, Any])
    assert_type(any_result.to_html(), str)
    assert_type(any_result.report("folder"), None)
    assert_type(any_result.inputs, tuple[Path, ...])


def comparisons_and_plans(study: quem.Study, retrieval: RetrievalStudy) -> None:
    """Experience studies are compared by years, those of other kinds by scores."""
    compared = quem.compare(study, systems=["K1", "K2"])
    assert_type(compared, ComparisonResult)
    assert_type(compared.differences, pd.DataFrame)
    assert_type(compared.estimates, pd.DataFrame)
    assert_type(quem.compare(retrieval, retrieval), ScoresResult)
    assert_type(quem.compare(quem.analyze(retrieval)), ScoresResult)
    assert_type(quem.plan(study, width=3), PlanResult)
    assert_type(quem.plan().designs, pd.DataFrame)


def scores(frame: pd.DataFrame) -> None:
    """Runs, retrievers, and lists of options are scored in memory."""
    table = quem.score({"mine": frame}, frame, ["nDCG@10", own_measure], ties="trec")
    assert_type(table, ScoreTable)
    assert_type(table.frame(), pd.DataFrame)
    assert_type(table.differences(), pd.DataFrame)
    assert_type(table.certificate("a", "b"), Certificate)
    assert_type(table.measures[0].name, str)
    assert_type(quem.options.evaluate(frame, {"Q1": "a"}, measures="OLAR"), OptionsResult)
    listed = quem.lists.evaluate({"q": ["a"]}, {"q": {"a": 1.0}}, [own_measure, "AP"])
    assert_type(listed, Scores)
    assert_type(listed.mean, dict[str, float])
    assert_type(listed["AP"], NDArray[np.float64])
    assert_type(listed.to_frame(), pd.DataFrame)
    assert_type(quem.lists.evaluate({1: ["a"]}, {1: ["a"]}, "AP"), Scores)
    assert_type(quem.lists.score(["a"], ["a"], "RR"), Score)
    assert_type(quem.lists.measure("P@5"), Measure)
    assert_type(quem.lists.define(own_measure), Definition)
    assert_type(quem.lists.properties("OLAR"), Properties)


def own_measure(items: list[str], truth: dict[str, float]) -> float | None:
    """A measure of the user."""
    return len(items) / len(truth) if truth else None


def mistakes(error: quem.QuemError) -> None:
    """What was refused says where."""
    assert_type(error.mistakes, tuple[Mistake, ...])
    mistake = error.mistakes[0]
    assert_type((mistake.path, mistake.line, mistake.key), tuple[str, int, str])
