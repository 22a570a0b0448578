"""What a study is: YAML with positions, and one model a kind."""

from __future__ import annotations

from quem.study.declared import Declared
from quem.study.models import Analysis, ExperienceStudy
from quem.study.reading import StudyFile, read_study

__all__ = ["Analysis", "Declared", "ExperienceStudy", "StudyFile", "read_study"]
