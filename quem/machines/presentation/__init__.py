"""How audits of machine judges are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.machines.presentation.columns import DOCUMENT, TABLES
from quem.machines.presentation.page import report_context, summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.machines.auditing import AuditFindings
    from quem.report.result import Drawers

__all__ = ["PRESENTATION"]


def _figures() -> Drawers[AuditFindings]:
    """Give what draws; importing it takes long."""
    from quem.machines.presentation.figures import FIGURES

    return FIGURES


PRESENTATION = Presentation(DOCUMENT, TABLES, _figures, summary_text, report_context)
