"""How plans are shown."""

from __future__ import annotations

from quem.planning.presentation.columns import DOCUMENT, TABLES
from quem.planning.presentation.figures import FIGURES
from quem.planning.presentation.sections import report_context
from quem.planning.presentation.summary import summary_text
from quem.report.result import Presentation

__all__ = ["PRESENTATION"]

PRESENTATION = Presentation(DOCUMENT, TABLES, FIGURES, summary_text, report_context)
