"""The activity log in words."""

from __future__ import annotations

from typing import Any

import pytest

from quem.store.audit_log import AuditEvent
from quem.store.models import now
from webjudge.wording import happened


@pytest.mark.parametrize(
    ("what", "about", "text"),
    [
        ("open", {"before": "trial"}, "Study opened"),
        ("open", {"before": "closed"}, "Study reopened"),
        ("paused", {"until": ""}, "Study paused"),
        ("paused", {"until": "<Monday>"}, "Study paused until <Monday>"),
        ("trial-discarded", {"rankings": 1}, "1 test ranking deleted"),
        ("added", {"whom": "Ada"}, "Ada added as an organizer"),
        ("link-made", {"whom": "organizer"}, "Link created for the organizer"),
        (
            "mail",
            {"whom": "Ada", "kind": "invitation", "state": "sent"},
            "Invitation to organizer Ada: sent",
        ),
        ("study-changed", {"effects": ["A", "B"]}, "Study changed: A; B"),
        ("solution-missing", {"solver": "S", "problem": "P"}, "Missing, so that"),
        (
            "word-decided",
            {"choice": "kept", "word": "w", "solutions": [["", ""]]},
            "Kept “w”: everyw",
        ),
        ("restored", {"file": "a.sqlite3"}, "Study restored from a backup: a.sqlite3"),
        ("{{ 7 * 6 }}", {}, "{{ 7 * 6 }}"),
    ],
)
def test_events_are_sentences(what: str, about: dict[str, Any], text: str) -> None:
    """Each with its values; one of another version by its name."""
    assert happened(AuditEvent(now(), what, "shell", detail=about)).startswith(text)


def test_submitted_rankings_say_which() -> None:
    """On trial, or of a repeated task."""
    event = AuditEvent(now(), "submit", person="J1", problem="P1", occasion=2, practice=True)
    assert happened(event) == "J1 submitted P1 (practice) (repeat)"
