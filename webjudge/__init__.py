"""The judging app: anonymized solutions, private links, drag-to-rank, and a dashboard."""

from __future__ import annotations

from webjudge.app import create_app
from webjudge.site import Site, open_site

__all__ = ["Site", "create_app", "open_site"]
