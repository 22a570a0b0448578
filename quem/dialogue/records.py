"""Records of dialogues."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Dialogues:
    """The dialogues of some targets."""

    targets: NDArray[np.int64]  # of shape (t,)
    # Of shape (t, strategies, users, dialogues): number of answers before a case was selected; -1
    # if none was.
    stop: NDArray[np.int16]
    right: NDArray[np.bool_]  # whether that case had the solution of the target
    # Of shape (t, strategies, dialogues): whether the top candidate after the last answer had.
    top_right: NDArray[np.bool_]
    # Of shape (t, strategies, m + 1): rank quality after 0 to m answers, averaged over the
    # dialogues.
    quality: NDArray[np.float64]
    contracted: NDArray[np.float64]  # share of the dialogues whose list had contracted to nothing
    # Of shape (t, strategies, 5): see `quem.dialogue.further`; (t, strategies, 0) without them.
    further: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of targets."""
        return len(self.targets)


def join(parts: Sequence[Dialogues]) -> Dialogues:
    """Concatenate the dialogues of several sets of targets."""
    names = Dialogues.__dataclass_fields__
    return Dialogues(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def fingerprint(*parts: object) -> str:
    """A digest of the arguments."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]
