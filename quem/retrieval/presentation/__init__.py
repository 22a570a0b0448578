"""How results of retrieval studies are shown."""

from __future__ import annotations

from quem.report.result import Presentation
from quem.retrieval.presentation.columns import DOCUMENT, TABLES
from quem.retrieval.presentation.figures import FIGURES
from quem.retrieval.presentation.sections import report_context
from quem.retrieval.presentation.summary import summary_text

__all__ = ["PRESENTATION"]

PRESENTATION = Presentation(DOCUMENT, TABLES, FIGURES, summary_text, report_context)
