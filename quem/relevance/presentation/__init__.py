"""How results of relevance studies are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.relevance.presentation.columns import DOCUMENT, TABLES
from quem.relevance.presentation.sections import report_context
from quem.relevance.presentation.summary import summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.relevance.result import RelevanceFindings
    from quem.report.result import Drawers

__all__ = ["PRESENTATION"]


def _figures() -> Drawers[RelevanceFindings]:
    """Give what draws; importing it takes as long as a small analysis."""
    from quem.relevance.presentation.figures import FIGURES

    return FIGURES


PRESENTATION = Presentation(DOCUMENT, TABLES, _figures, summary_text, report_context)
