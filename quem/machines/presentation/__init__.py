"""How audits of machine judges, and versions that they track, are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.machines.presentation import tracks
from quem.machines.presentation.columns import DOCUMENT, TABLES
from quem.machines.presentation.page import report_context, summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.machines.auditing import AuditFindings
    from quem.machines.tracking import TrackFindings
    from quem.report.result import Drawers

__all__ = ["AUDIT", "TRACK"]


def _figures() -> Drawers[AuditFindings]:
    """Give what draws; importing it takes long."""
    from quem.machines.presentation.figures import FIGURES

    return FIGURES


def _courses() -> Drawers[TrackFindings]:
    from quem.machines.presentation.figures import TRACK_FIGURES

    return TRACK_FIGURES


def _narrow_courses() -> Drawers[TrackFindings]:
    from quem.machines.presentation.figures import NARROW_TRACK_FIGURES

    return NARROW_TRACK_FIGURES


AUDIT = Presentation(DOCUMENT, TABLES, _figures, summary_text, report_context)
TRACK = Presentation(
    tracks.DOCUMENT,
    tracks.TABLES,
    _courses,
    tracks.summary_text,
    tracks.report_context,
    narrow=_narrow_courses,
)
