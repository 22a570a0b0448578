"""Kinds of studies: what type checkers know of them, and one that another package adds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from quem.kinds import KINDS, presentations

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = '''
"""A fifth kind: how many words each answer has."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from quem.errors import QuemError
from quem.kinds import Kind
from quem.report.columns import (
    COUNT, NAME, STUDY, WARNINGS, Column, Columns, Table, each, head, of, settings
)
from quem.report.result import BaseResult, Presentation
from quem.study import draft_of_kind
from quem.study.fields import StudyPart, StudySpec

ANSWERS = Columns(Column("system", NAME, "who answered"), Column("words", COUNT, "in the answer"))


class Settings(StudyPart):
    longest: int = 100


class Spec(StudySpec):
    kind: Literal["words"] = "words"
    answers: dict[str, str]
    analysis: Settings = Settings()


@dataclass(frozen=True)
class Answer:
    system: str
    words: int


@dataclass(frozen=True)
class Study:
    path: Path
    name: str
    spec: Spec

    @property
    def files(self):
        return (self.path,)

    def counts(self):
        return {"answer": len(self.spec.answers)}


@dataclass(frozen=True)
class Findings:
    study: Study
    settings: Settings
    answers: list
    warnings: tuple = ()


class Result(BaseResult):
    kind = "words"

    def __init__(self, findings):
        self.findings = findings

    @staticmethod
    def presentation():
        document = Columns(
            *head("words"), Column("study", of(STUDY), "the study", of="study.spec"),
            settings(Settings), WARNINGS, Column("answers", each(ANSWERS), "one entry each"),
        )
        tables = (Table("answers", "one row per answer", ANSWERS, lambda f: f.answers),)
        return Presentation(
            document, tables, {}, lambda f: f"{len(f.answers)} answers",
            lambda f: {"title": f.study.spec.title, "captions": {}},
            templates=Path(__file__).parent / "pages",
        )

    @property
    def inputs(self):
        return self.findings.study.files


class Words(Kind):
    name = "words"

    def load(self, path, **sources):
        draft = draft_of_kind(path, Spec)
        if draft.spec is None:
            raise QuemError(draft.mistakes)
        return Study(Path(path), draft.name, draft.spec)

    def analyze(self, study, **settings):
        answers = [Answer(who, len(text.split())) for who, text in study.spec.answers.items()]
        return Result(Findings(study, study.spec.analysis, answers))

    def check(self, study):
        return ()

    def result(self):
        return Result


KIND = Words()
'''
STUDY = """kind: words
id: pets
title: Pets
answers:
  cat: soft and warm
  dog: loyal
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The folder of an installed package that adds the kind ``words``."""
    folder = tmp_path / "site"
    (folder / "quem_words-1.0.dist-info").mkdir(parents=True)
    (folder / "quem_words-1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: quem-words\nVersion: 1.0\n", encoding="utf-8"
    )
    (folder / "quem_words-1.0.dist-info/entry_points.txt").write_text(
        "[quem.kinds]\nwords = quem_words:KIND\n", encoding="utf-8"
    )
    (folder / "quem_words.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "pages/report").mkdir(parents=True)
    (folder / "pages/report/words.html").write_text("<h1>{{ title }}</h1>", encoding="utf-8")
    return folder


def _quem(plugin: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(plugin), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "quem", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_package_adds_a_kind(plugin: Path, tmp_path: Path) -> None:
    """An installed package's kind is checked, analyzed, reported and in the schema."""
    study = tmp_path / "study.yaml"
    study.write_text(STUDY, encoding="utf-8")
    checked = _quem(plugin, "check", study)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "2 answers" in checked.stdout
    ran = _quem(plugin, "analyze", study)
    assert ran.returncode == 0
    assert "2 answers" in ran.stdout
    folder = tmp_path / "study-report"
    assert json.loads((folder / "analysis.json").read_text("utf-8"))["answers"] == [
        {"system": "cat", "words": 3},
        {"system": "dog", "words": 1},
    ]
    assert (folder / "answers.csv").read_text("utf-8") == "system,words\ncat,3\ndog,1\n"
    assert "<h1>Pets</h1>" in (folder / "report.html").read_text("utf-8")
    schema = json.loads(_quem(plugin, "schema").stdout)
    kinds = ["words", "comparison", "leaderboard", "plan"]
    assert schema["properties"]["kind"]["enum"][-4:] == kinds
    study.write_text(f"{STUDY}surplus: 1\n", encoding="utf-8")
    refused = _quem(plugin, "check", study)
    assert refused.returncode == 1
    assert "study.yaml:7:1: surplus: " in refused.stderr


def test_without_the_package_the_kind_is_unknown(plugin: Path, tmp_path: Path) -> None:
    """The message names the kinds that there are."""
    study = tmp_path / "study.yaml"
    study.write_text(STUDY, encoding="utf-8")
    refused = _quem(tmp_path, "check", study)
    assert refused.returncode == 1
    assert "it knows: experience, options, retrieval, dialogue" in refused.stderr
    assert "words" not in KINDS
    assert _quem(plugin, "check", study).returncode == 0


def test_every_kind_is_presented() -> None:
    """Results of studies, comparisons, and plans all say how they are shown."""
    assert list(presentations()) == [*KINDS, "comparison", "leaderboard", "plan"]
