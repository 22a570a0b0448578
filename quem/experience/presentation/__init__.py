"""How results of experience studies are shown."""

from __future__ import annotations

from quem.experience.presentation.columns import DOCUMENT, TABLES
from quem.experience.presentation.figures import FIGURES, NARROW
from quem.experience.presentation.sections import report_context
from quem.experience.presentation.summary import summary_text
from quem.report.result import Presentation

__all__ = ["PRESENTATION"]

PRESENTATION = Presentation(DOCUMENT, TABLES, FIGURES, summary_text, report_context, narrow=NARROW)
