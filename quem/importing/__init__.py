"""Answers of other programs as a study: folders of files, tables, and evaluation logs."""

from __future__ import annotations

from quem.importing.collected import Answer, Collected, Origin, SourceProblem
from quem.importing.detection import collect
from quem.importing.trees import LAYOUTS, Layout
from quem.importing.writing import (
    Draft,
    draft_of,
    overview,
    sampled,
    write_draft,
    write_folder,
)

__all__ = [
    "LAYOUTS",
    "Answer",
    "Collected",
    "Draft",
    "Layout",
    "Origin",
    "SourceProblem",
    "collect",
    "draft_of",
    "overview",
    "sampled",
    "write_draft",
    "write_folder",
]
