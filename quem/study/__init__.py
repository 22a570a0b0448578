"""What a study is: YAML with positions, and one model per kind."""

from __future__ import annotations

from quem.study.declared import Declared
from quem.study.models import ExperienceSettings, ExperienceSpec
from quem.study.reading import KINDS, Draft, StudyFile, draft_of_kind, read_study

__all__ = [
    "KINDS",
    "Declared",
    "Draft",
    "ExperienceSettings",
    "ExperienceSpec",
    "StudyFile",
    "draft_of_kind",
    "read_study",
]
