"""How comparisons are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.comparison.presentation.columns import DOCUMENT, TABLES
from quem.comparison.presentation.sections import report_context
from quem.comparison.presentation.summary import summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.comparison.result import ComparisonFindings
    from quem.report.result import Drawers

__all__ = ["PRESENTATION"]


def _figures() -> Drawers[ComparisonFindings]:
    """Give what draws; importing it takes as long as a small analysis."""
    from quem.comparison.presentation.figures import FIGURES

    return FIGURES


PRESENTATION = Presentation(DOCUMENT, TABLES, _figures, summary_text, report_context)
