"""The paper's estimates without the ranks of recognized authors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning
from quem.method.part import Check, Part, PartTable
from quem.method.ranks import adjusted_ranks
from quem.method.rests import estimates_of
from quem.report.rows import Row, col
from quem.wording import format_count, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.method.cells import RankCells
    from quem.method.core import Core


class Without(Row):
    """A system without these ranks."""

    system: str = col("id")
    experience: float = col(
        "the paper's estimate, in the study's unit; null where nothing is left to estimate from"
    )


class Recognized(Row):
    """Ranks of recognized authors."""

    n_ranks: int = col("such ranks")
    of_ranks: int = col("ranks by judges, failed solutions not included")
    n_judges: int = col("judges who gave such ranks")
    estimates: tuple[Without, ...] = col("each system without them")


def without_recognized(cells: RankCells, marked: NDArray[np.bool_]) -> RankCells:
    """Rerank each group without the solutions of recognized authors.

    The adjustment by machine judges stays.

    Shapes: `marked` (n,).
    """
    left = cells.keep(~marked)
    adjusted, size = adjusted_ranks(left.group, left.given)
    return replace(
        left, adjusted=adjusted, size=size, score=adjusted + (left.score - left.adjusted)
    )


class RecognizedPart(Part[Recognized]):
    """Sensitivity to recognized authors, who stay in the result."""

    name = "recognized"
    tables = (PartTable(name, "ranks of recognized authors", Recognized, many=False),)

    def find(self, core: Core) -> Recognized | None:
        """The estimates without them; None if nobody was recognized."""
        cells = core.cells
        if cells is None or not (marked := cells.recognized & cells.judged()).any():
            return None
        left = without_recognized(cells, marked)
        years = estimates_of(left, core.averages, core.line.form, core.again)
        return Recognized(
            n_ranks=int(marked.sum()),
            of_ranks=int(cells.judged().sum()),
            n_judges=len(np.unique(cells.judge[marked])),
            estimates=tuple(
                Without(system=of.system, experience=float(one))
                for of, one in zip(core.estimates, years, strict=True)
            ),
        )

    def warn(self, found: Recognized, core: Core) -> Iterator[StudyWarning]:
        """Warnings on changed estimates."""
        text = _ranks(found, core, f" ({format_count(found.n_judges, 'judge')})")
        yield StudyWarning("recognized-authors", f"the judge recognized the author in {text}")

    def before_quoting(self, found: Recognized, core: Core) -> Iterator[Check]:
        """The same on the first screen."""
        yield Check("warn", "Judges recognized some authors", f"In {_ranks(found, core)}.")

    def about(self, found: Recognized, core: Core) -> str:
        """The same in the methods paragraph."""
        return f"The judge recognized the author in {_ranks(found, core)}."


def _ranks(found: Recognized, core: Core, judges: str = "") -> str:
    """The number of ranks, and the paper's estimates without them if years are stated."""
    text = f"{found.n_ranks:,} of {found.of_ranks:,} ranks{judges}"
    if not core.states_years:
        return text
    moved = join_words(
        f"the paper’s estimate for {of.name} is {format_number(one.experience)} instead of "
        f"{format_number(of.experience)} {core.unit}"
        if np.isfinite(one.experience)
        else f"{of.name} has no estimate"
        for of, one in zip(core.estimates, found.estimates, strict=True)
    )
    return f"{text}; without them, {moved}" if moved else text
