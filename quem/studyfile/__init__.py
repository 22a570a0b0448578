"""Study files: YAML with positions, and one model per kind."""

from __future__ import annotations

from quem.studyfile.declared import Declared
from quem.studyfile.models import ExperienceSettings, ExperienceSpec
from quem.studyfile.reading import KINDS, Draft, StudyFile, draft_of_kind, read_study

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
