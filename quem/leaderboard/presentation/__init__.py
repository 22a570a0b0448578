"""How leaderboards are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.leaderboard.presentation.columns import DOCUMENT, TABLES
from quem.leaderboard.presentation.sections import report_context
from quem.leaderboard.presentation.summary import summary_text
from quem.report.result import Presentation

if TYPE_CHECKING:
    from quem.leaderboard.result import LeaderboardFindings
    from quem.report.result import Drawers

__all__ = ["PRESENTATION"]


def _figures() -> Drawers[LeaderboardFindings]:
    """Give what draws; importing it takes as long as a small comparison."""
    from quem.leaderboard.presentation.figures import FIGURES

    return FIGURES


def _narrow() -> Drawers[LeaderboardFindings]:
    from quem.leaderboard.presentation.figures import NARROW

    return NARROW


PRESENTATION = Presentation(
    DOCUMENT, TABLES, _figures, summary_text, report_context, narrow=_narrow
)
