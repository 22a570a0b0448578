"""The interface of parts: each has its numbers, section, warnings, and sentence in one file.

The method never names a part. Deleting its file and its entry in `quem.parts.PARTS` deletes the
feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from quem.report.files import Check
from quem.report.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quem.errors import StudyWarning
    from quem.method.averages import Averages
    from quem.method.cells import RankCells
    from quem.method.core import Core
    from quem.method.variances import Variance
    from quem.rankings.loading import Study
    from quem.report.files import Section
    from quem.studyfile import ExperienceSettings

__all__ = ["Check", "Part", "PartTable"]

Found = TypeVar("Found")


@dataclass(frozen=True)
class PartTable:
    """A table of a part: a key of analysis.json, and a CSV file if it has a stem."""

    name: str  # key; empty for a CSV file alone
    meaning: str
    row: type[Row]
    many: bool = True  # false: a single entry in analysis.json instead of a list
    stem: str = ""


class Part(Generic[Found]):
    """A feature of an analysis; by default it changes nothing and adds nothing."""

    name: ClassVar[str]
    tables: ClassVar[tuple[PartTable, ...]] = ()

    # Place of its sections: after the line, after the agreement, or at the end of the page.
    place: ClassVar[Literal["result", "basis", "appendix"]] = "basis"

    def __eq__(self, other: object) -> bool:
        """Parts have no state: two of a class are equal, in other processes too."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(type(self))

    # Changes to the estimate.

    def adjust(
        self, study: Study, settings: ExperienceSettings, cells: RankCells
    ) -> RankCells | None:
        """Cells with other scores; None if single cells have no meaning."""
        return cells

    def average(
        self,
        study: Study,
        settings: ExperienceSettings,
        cells: RankCells | None,
        whole: Averages | None = None,
    ) -> Averages | None:
        """Averages instead of step 5's; None to keep these.

        If some cells are left out, `whole` is the result for all of them.
        """
        return None

    def vary(
        self, study: Study, settings: ExperienceSettings, cells: RankCells | None, of: Averages
    ) -> dict[str, Variance]:
        """Dispersions that are added to those of systems, by id."""
        return {}

    def own(self, of: Averages) -> dict[str, Variance]:
        """Dispersions of the part's own averages, like those of subjects, by system id."""
        return {}

    # Output.

    def find(self, core: Core) -> Found | None:
        """The findings of the part; None if there are none."""
        return None

    def rows(self, found: Found, core: Core) -> Sequence[Sequence[Row]]:
        """The rows of each of `tables`; by default the findings are a row, or several."""
        rows: Any = [found] if isinstance(found, Row) else found
        return (rows,)

    def warn(self, found: Found, core: Core) -> Iterable[StudyWarning]:
        """The part's warnings."""
        return ()

    def about(self, found: Found, core: Core) -> str:
        """A sentence for the methods paragraph."""
        return ""

    def lines(self, found: Found, core: Core) -> Iterable[str]:
        """Lines of the terminal's "Based on"."""
        return ()

    def basis(self, found: Found, core: Core) -> Iterable[Check]:
        """Lines of the card "What this is based on"."""
        return ()

    def before_quoting(self, found: Found, core: Core) -> Iterable[Check]:
        """Lines of the card "Before you quote this"."""
        return ()

    def sections(self, found: Found, core: Core) -> Iterable[Section]:
        """Sections of the report."""
        return ()

    def references(self, found: Found, core: Core) -> Iterable[str]:
        """The part's references in the methods paragraph."""
        return ()

    def headline(self, found: Found, core: Core) -> Iterable[str]:
        """Sentences above everything else, such as differences from a seal."""
        return ()

    def is_good(self, found: Found) -> bool:
        """Whether these sentences are good news."""
        return True

    def figures(self) -> dict[str, Any]:
        """Drawing functions of the part's figures, by stem; they take its findings and the core."""
        return {}
