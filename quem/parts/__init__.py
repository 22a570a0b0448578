"""The parts of an analysis, in the order in which a report has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.parts.worths import Worths

if TYPE_CHECKING:
    from quem.method.result import ExperienceResult
    from quem.parts.part import Part
    from quem.rankings.loading import Study

PARTS: tuple[Part[Any], ...] = (Worths(),)


def analyze_experience(study: Study, **settings: object) -> ExperienceResult:
    """Analyze a study of kind ``experience`` with all parts (see `quem.analyze`)."""
    from quem.method.analysis import analyze

    return analyze(study, PARTS, **settings)
