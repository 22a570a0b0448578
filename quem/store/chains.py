"""Hash chains: what was saved can be shown not to have been changed since.

A *link* is the SHA-256, in hexadecimal digits, of the link before and of what is added, as JSON
with sorted keys and without blanks, in UTF-8. The revisions of each ballot form a chain, and so do
the events of each study. What a judge wrote, and who they are, enters by a digest with a random
salt: when a text is erased, its salt goes too, and the chain still holds.

An event "sealed" binds the two kinds of chains together: it names number and link of the newest
revision of each ballot that changed since the last one, and a hash over those of all ballots.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import TYPE_CHECKING, Any

from quem.store.state import WORDS

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping

# What says of a ballot which task it is.
_TASK = ("public_id", "problem", "block", "occasion", "practice")

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def new_salt() -> str:
    """Make a random salt of 128 bits."""
    return secrets.token_hex(16)


def keyed(secret: str, *parts: object) -> str:
    """Give a keyed hash (HMAC-SHA-256, cut to 128 bits) that reveals nothing without the secret."""
    return hmac.digest(secret.encode(), _canonical(parts), "sha256").hex()[:32]


def judge_digest(salt: str, judge_id: str) -> str:
    """Give what stands for a judge in chains, also when they are erased."""
    return _digest(salt, judge_id)


def words_digest(salt: str, state: Mapping[str, Any]) -> str:
    """Give what represents in a chain all that a judge wrote in a state."""
    return _digest(salt, {key: state[key] for key in WORDS if key in state})


def receipt_code(link: str) -> str:
    """Give what a judge is shown of the link of a submitted revision."""
    return link[:10]


def revision_link(
    before: str, revision: Mapping[str, Any], ballot: Mapping[str, Any], judge: str
) -> str:
    state = revision["state"]
    order = {key: value for key, value in state.items() if key not in WORDS}
    return _digest(
        before,
        [ballot[name] for name in _TASK],
        judge,
        revision["number"],
        revision["base"],
        revision["kind"],
        revision["layout"],
        {**order, "cannot": sorted(state["cannot"])},
        revision["words_digest"],
        revision["client"],
        revision["change"],
        _time(revision["made_at"]),
    )


def event_link(before: str, event: Mapping[str, Any], judge: str | None) -> str:
    columns = (event["actor"], event["what"], event["detail"])
    return _digest(before, *columns, judge, _time(event["made_at"]))


def head_entry(ballot: str, number: int, link: str) -> bytes:
    """Give what stands for a ballot in a hash over all."""
    return _canonical([ballot, number, link])


def heads_digest(entries: Iterable[bytes]) -> str:
    """Give one hash for the newest links of all ballots."""
    return hashlib.sha256(b"[" + b",".join(entries) + b"]").hexdigest()


def _digest(*parts: object) -> str:
    return hashlib.sha256(_canonical(parts)).hexdigest()


def _canonical(value: object) -> bytes:
    # Half a surrogate pair, which only damage brings here, makes another hash and no error.
    return _JSON.encode(value).encode(errors="surrogatepass")


def _time(time: dt.datetime) -> str:
    return time.isoformat(timespec="microseconds")
