"""Digests that are handed out: keyed ones, which reveal nothing, and receipts."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from quem.store.state import without_words

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_RECEIPT_DIGITS = 10


def keyed(secret: str, *parts: object) -> str:
    """Keyed hash (HMAC-SHA-256, cut to 128 bits), which reveals nothing without the secret."""
    return hmac.digest(secret.encode(), _canonical(parts), "sha256").hex()[:32]


def receipt_code(ballot: str, number: int, state: Mapping[str, Any]) -> str:
    """Short digest of a submitted revision: its ballot, number, and ranking, without words."""
    ranking = _canonical((ballot, number, without_words(dict(state))))
    return hashlib.sha256(ranking).hexdigest()[:_RECEIPT_DIGITS]


def revision_id(number: int, at: dt.datetime | None) -> str:
    """Name a revision as no other one of that number is, such as one after a restore."""
    return f"{number}-{hashlib.sha256(at.isoformat().encode()).hexdigest()[:12]}" if at else "0"


def _canonical(value: object) -> bytes:
    # Half a surrogate pair, which only damage brings here, makes another hash and no error.
    return _JSON.encode(value).encode(errors="surrogatepass")
