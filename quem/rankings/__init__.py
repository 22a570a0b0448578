"""The rankings table, from CSV, PrefLib, paired decisions, or published averages."""

from __future__ import annotations

from quem.rankings.decisions import Decisions
from quem.rankings.entries import Rankings
from quem.rankings.reading import PrintedAverages, read_rankings
from quem.rankings.stored import Session

__all__ = ["Decisions", "PrintedAverages", "Rankings", "Session", "read_rankings"]
