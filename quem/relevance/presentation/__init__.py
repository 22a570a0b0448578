"""How results of relevance studies are shown."""

from __future__ import annotations

from quem.relevance.presentation.columns import DOCUMENT, TABLES
from quem.relevance.presentation.sections import report_context
from quem.relevance.presentation.summary import summary_text
from quem.report.result import Presentation

__all__ = ["PRESENTATION"]


PRESENTATION = Presentation(DOCUMENT, TABLES, dict, summary_text, report_context)
