"""Digests that stand for files which are not there: a copy of a study without names has them.

Solutions and statements can name people, so that such a copy holds what their digests were.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from quem.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path


def digests_file(study: Path) -> Path:
    """Say where the digests of a study without names are."""
    return study.with_suffix(".digests.json")


def kept_digests(study: Path) -> dict[str, Any] | None:
    """Give the digests that are kept beside a study; None of a study that has its files."""
    path = digests_file(study)
    try:
        content = json.loads(path.read_bytes())
        if all(isinstance(content[name], dict) for name in ("solutions", "statements", "texts")):
            return {"draw": {}, "plan": "", **content}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise FileError(path, "does not hold the digests of a study without names; restore it")
