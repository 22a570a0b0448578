"""Public digests: keyed ones, which reveal nothing, and receipts."""

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


@lru_cache(maxsize=2048)  # for repeated requests of a page
def keyed(secret: str, *parts: Hashable) -> str:
    """Keyed hash (HMAC-SHA-256, truncated to 128 bits), which hides its input."""
    return hmac.digest(secret.encode(), _canonical(parts), "sha256").hex()[:32]


def receipt_code(task: str, number: int, state: Mapping[str, Any]) -> str:
    """Short digest of a submitted revision: task, number, and ranking without free text.

    Anyone with the revision can recompute it, for a ranking also after free text was erased.
    """
    said = without_words(state) if "ranked" in state else state
    return hashlib.sha256(_canonical((task, number, said))).hexdigest()[:_RECEIPT_DIGITS]


def _canonical(value: object) -> bytes:
    # Half a surrogate pair, possible only in damaged data, gives another hash instead of an error.
    return _JSON.encode(value).encode(errors="surrogatepass")
