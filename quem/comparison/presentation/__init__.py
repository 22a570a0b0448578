"""How comparisons are shown."""

from __future__ import annotations

from quem.comparison.presentation.columns import DOCUMENT, TABLES
from quem.comparison.presentation.figures import FIGURES
from quem.comparison.presentation.sections import report_context
from quem.comparison.presentation.summary import summary_text
from quem.report.result import Presentation

__all__ = ["PRESENTATION"]

PRESENTATION = Presentation(DOCUMENT, TABLES, FIGURES, summary_text, report_context)
