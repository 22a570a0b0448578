"""How results of dialogue studies are shown."""

from __future__ import annotations

from quem.dialogue.presentation.columns import DOCUMENT, TABLES
from quem.dialogue.presentation.figures import FIGURES
from quem.dialogue.presentation.sections import report_context
from quem.dialogue.presentation.summary import summary_text
from quem.report.result import Presentation

__all__ = ["PRESENTATION"]

PRESENTATION = Presentation(DOCUMENT, TABLES, FIGURES, summary_text, report_context)
