"""Further measures of lists during a dialogue, from section 6 of the paper.

They use the applicable cases of a target: itself if it stays in the case base (leave-one-in), else
the cases of its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.dialogue.users import FAR, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.users import Candidates

    Floats = NDArray[np.float64]

# The better direction of each score.
FURTHER: dict[str, Literal["higher", "lower"]] = {
    # Hit at k, and the precision of the k listed (McSherry 2001); averaged over the dialogue.
    "recall": "higher",
    "list precision": "higher",
    # The rank of the first applicable case, averaged over the dialogue, and the number of answers
    # until one is rated like the target (Gupta, Aha, and Sandhu 2002); all where none is.
    "retrieval accuracy": "lower",
    "conversational efficiency": "lower",
    # Whether the three best cases are among the first five (Kohlmaier, Schmitt, and Bergmann
    # 2001); averaged over the dialogue.
    "successful retrieval": "higher",
}
_RATED = list(FURTHER).index("conversational efficiency")
_IDEAL, LISTED = 3, 5


def of_lists(
    apart: NDArray[np.int64],
    listed: Candidates,
    k: int,
    applicable: NDArray[np.bool_],
    true: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> Floats:
    """The measures of lists, in the order of `FURTHER`; for efficiency, whether a case is rated 1.

    NaN without an applicable case. The rank is the mean over all orders of tied cases.

    Shapes: `apart` (rows, n), in steps; `applicable`, `true`, `ties` (n,); result (rows, 5).
    """
    best = nearest(true[np.newaxis], ties, min(_IDEAL, int((true < FAR).sum()))).cases[0]
    success = np.isin(listed.cases[:, :LISTED], best).sum(axis=1) == len(best)
    if not applicable.any():
        return np.column_stack([np.full((len(apart), len(FURTHER) - 1), np.nan), success])
    held = applicable[listed.cases[:, :k]]
    own = apart[:, applicable]
    first = own.min(axis=1, keepdims=True)
    nearer, tied = (apart < first).sum(axis=1), (apart == first).sum(axis=1)
    rank = nearer + (tied + 1) / ((own == first).sum(axis=1) + 1)
    rated = first[:, 0] == 0
    return np.column_stack([held.any(axis=1), held.mean(axis=1), rank, rated, success])


def of_dialogues(lists: Floats) -> Floats:
    """The measures of one target from those of its lists.

    Shapes: `lists` (dialogues, m + 1, 5); result (5,).
    """
    found: Floats = lists.mean(axis=(0, 1))
    if not len(found):
        return found
    rated = lists[:, 1:, _RATED]
    if not np.isnan(rated).any():
        asked = np.where(rated.any(axis=1), rated.argmax(axis=1) + 1, rated.shape[1])
        found[_RATED] = asked.mean()
    return found
