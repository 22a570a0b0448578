"""How results of experience studies are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.experience.presentation.columns import DOCUMENT, TABLES
from quem.experience.presentation.sections import report_context
from quem.experience.presentation.summary import summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.experience.result import ExperienceFindings
    from quem.report.result import Drawers

__all__ = ["PRESENTATION"]


def _figures() -> Drawers[ExperienceFindings]:
    """Give what draws; importing it takes as long as a small analysis."""
    from quem.experience.presentation.figures import FIGURES

    return FIGURES


def _narrow() -> Drawers[ExperienceFindings]:
    """Give what draws for the page on a phone."""
    from quem.experience.presentation.figures import NARROW

    return NARROW


PRESENTATION = Presentation(
    DOCUMENT, TABLES, _figures, summary_text, report_context, narrow=_narrow
)
