"""The parts of an analysis, in the order of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.parts.baseline import BaselinePart
from quem.parts.blinding import BlindingPart
from quem.parts.judging import JudgingPart
from quem.parts.machines import MachinesPart
from quem.parts.panel import PanelPart
from quem.parts.paper import PaperPart
from quem.parts.profile import ProfilePart
from quem.parts.questions import QuestionsPart
from quem.parts.recognized import RecognizedPart
from quem.parts.retest import RetestPart
from quem.parts.seal import SealPart
from quem.parts.times import TimesPart
from quem.parts.worths import Worths

if TYPE_CHECKING:
    from quem.method.part import Part
    from quem.parts.result import ExperienceResult
    from quem.rankings.loading import Study

PARTS: tuple[Part[Any], ...] = (
    SealPart(),
    MachinesPart(),
    PanelPart(),
    ProfilePart(),
    RetestPart(),
    RecognizedPart(),
    JudgingPart(),
    BlindingPart(),
    QuestionsPart(),
    TimesPart(),
    Worths(),
    PaperPart(),
    BaselinePart(),
)


def analyze_experience(study: Study, **settings: object) -> ExperienceResult:
    """Analyze a study of kind ``experience`` with all parts (see `quem.analyze`)."""
    from quem.method.analysis import analyze
    from quem.parts.result import result_with

    return result_with(analyze(study, PARTS, **settings), PARTS)
