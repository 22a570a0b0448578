"""How results of options studies are shown."""

from __future__ import annotations

from quem.options.presentation.columns import DOCUMENT, TABLES
from quem.options.presentation.figures import FIGURES
from quem.options.presentation.sections import report_context
from quem.options.presentation.summary import summary_text
from quem.report.result import Presentation

__all__ = ["PRESENTATION"]

PRESENTATION = Presentation(DOCUMENT, TABLES, FIGURES, summary_text, report_context)
