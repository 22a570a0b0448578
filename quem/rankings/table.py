"""The rankings table: one row per judged solution, rank 1 = worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.store.answers import Answer
    from quem.store.blindness import RecordedBlinding
    from quem.store.care import Care


@dataclass(frozen=True)
class Rankings:
    """Every judged solution of a study, as columns of equal length."""

    # The ids that the codes stand for
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    # Of shape (n,): codes into them
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    # Of shape (n,)
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    rank: NDArray[np.float64]  # of shape (n,): as the judge wrote it; NaN where there is none
    failed: NDArray[np.bool_]  # of shape (n,): whether a missing rank means a solution that failed
    warnings: tuple[StudyWarning, ...] = ()
    # Of shape (n,): whether the judge recognized the author; nowhere by default.
    recognized: NDArray[np.bool_] = None  # type: ignore[assignment]  # filled in below
    # What the judges of a judging session answered to the study's own questions.
    answers: tuple[Answer, ...] = ()
    # What a judging session recorded of its blinding; None for rankings from a file.
    blinding: RecordedBlinding | None = None
    # How each of them went about it; empty where no page said it.
    cares: tuple[Care, ...] = ()

    def __post_init__(self) -> None:
        """Mark nobody as recognized where nothing is said; that takes no memory."""
        if self.recognized is None:
            nobody = np.broadcast_to(np.False_, len(self.rank))
            object.__setattr__(self, "recognized", nobody)

    def to_frame(self) -> pd.DataFrame:
        """Give the table of the contract: judge, problem, block, ..., rank, reason."""
        reason = np.where(self.failed, "failed", np.where(np.isnan(self.rank), "absent", ""))
        frame = pd.DataFrame(
            {
                "judge": pd.Categorical.from_codes(self.judge, pd.Index(self.judges)),
                "problem": pd.Categorical.from_codes(self.problem, pd.Index(self.problems)),
                "block": self.block,
                "occasion": self.occasion,
                "solver": pd.Categorical.from_codes(self.solver, pd.Index(self.solvers)),
                "rank": self.rank,
                "reason": reason,
            }
        )
        return frame.assign(recognized=self.recognized) if self.recognized.any() else frame
