"""The rankings table: one row per judged solution, rank 1 = worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.errors import StudyWarning

__all__ = ["Rankings"]


@dataclass(frozen=True)
class Rankings:
    """Every judged solution of a study, as columns of equal length.

    Parameters
    ----------
    judges, problems, solvers : tuple of str
        The ids that the codes stand for.
    judge, problem, solver : array of int, shape (n,)
        Codes into them.
    block, occasion : array of int, shape (n,)
    rank : array of float, shape (n,)
        As the judge wrote it; NaN where there is none.
    failed : array of bool, shape (n,)
        Whether a missing rank means a solution that failed.
    recognized : array of bool, shape (n,)
        Whether the judge recognized the author; nowhere by default.
    """

    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    rank: NDArray[np.float64]
    failed: NDArray[np.bool_]
    warnings: tuple[StudyWarning, ...] = ()
    recognized: NDArray[np.bool_] = None  # type: ignore[assignment]  # filled in below

    def __post_init__(self) -> None:
        """Mark nobody as recognized where nothing is said; that takes no memory."""
        if self.recognized is None:
            nobody = np.broadcast_to(np.False_, len(self.rank))
            object.__setattr__(self, "recognized", nobody)

    def to_frame(self) -> pd.DataFrame:
        """Give the table of the contract: judge, problem, block, ..., rank, reason.

        Returns
        -------
        DataFrame, shape (n, 7)
            With an eighth column, recognized, only where some author was recognized.
        """
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
