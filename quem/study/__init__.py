"""What a study is: YAML with positions, and one model a kind."""

from __future__ import annotations

from quem.study.declared import Declared
from quem.study.models import Analysis, ExperienceStudy
from quem.study.reading import KINDS, Draft, StudyFile, draft_of_kind, read_study

__all__ = [
    "KINDS",
    "Analysis",
    "Declared",
    "Draft",
    "ExperienceStudy",
    "StudyFile",
    "draft_of_kind",
    "read_study",
]
