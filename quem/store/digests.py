"""Digests that are handed out: keyed ones, which reveal nothing, and receipts."""

from __future__ import annotations

import hashlib
import hmac
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from quem.store.state import without_words

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_RECEIPT_DIGITS = 10


@lru_cache(maxsize=2048)  # a page asks the same again and again
def keyed(secret: str, *parts: Hashable) -> str:
    """Keyed hash (HMAC-SHA-256, cut to 128 bits), which reveals nothing without the secret."""
    return hmac.digest(secret.encode(), _canonical(parts), "sha256").hex()[:32]


def receipt_code(task: str, number: int, state: Mapping[str, Any]) -> str:
    """Short digest of a submitted revision: its task, number, and ranking without words or answer.

    Whoever has the revision can compute it again, a ranking's also after words were erased.
    """
    said = without_words(state) if "ranked" in state else state
    return hashlib.sha256(_canonical((task, number, said))).hexdigest()[:_RECEIPT_DIGITS]


def _canonical(value: object) -> bytes:
    # Half a surrogate pair, which only damage brings here, makes another hash and no error.
    return _JSON.encode(value).encode(errors="surrogatepass")
