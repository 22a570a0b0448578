"""How results of options studies are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.options.presentation.columns import DOCUMENT, TABLES
from quem.options.presentation.sections import report_context
from quem.options.presentation.summary import summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.options.result import OptionsFindings
    from quem.report.result import Drawers

__all__ = ["PRESENTATION"]


def _figures() -> Drawers[OptionsFindings]:
    """Give what draws; importing it takes as long as a small analysis."""
    from quem.options.presentation.figures import FIGURES

    return FIGURES


PRESENTATION = Presentation(DOCUMENT, TABLES, _figures, summary_text, report_context)
