"""What a part of an analysis is: its numbers, section, warnings, and sentence in one file.

The method never names a part. Deleting a file here and its entry in `quem.parts.PARTS` deletes
the feature.
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
    """A table of a part: a key of analysis.json, and a CSV file where it has a stem."""

    name: str  # the key; empty where it is a CSV file alone
    meaning: str
    row: type[Row]
    many: bool = True  # else analysis.json has one entry rather than a list
    stem: str = ""


class Part(Generic[Found]):
    """A feature of an analysis; by default it changes nothing and adds nothing."""

    name: ClassVar[str]
    tables: ClassVar[tuple[PartTable, ...]] = ()

    # Where its sections are: after the line, after the agreement, or at the end of the page.
    place: ClassVar[Literal["result", "basis", "appendix"]] = "basis"

    def __eq__(self, other: object) -> bool:
        """A part has no state: two of a class are one, in another process too."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        """As equality has it."""
        return hash(type(self))

    # What changes the estimate.

    def adjust(
        self, study: Study, settings: ExperienceSettings, cells: RankCells
    ) -> RankCells | None:
        """Cells with other scores; None where they have no meaning by themselves."""
        return cells

    def average(
        self,
        study: Study,
        settings: ExperienceSettings,
        cells: RankCells | None,
        whole: Averages | None = None,
    ) -> Averages | None:
        """Averages in the place of step 5; None to keep it.

        Where some cells are left out, `whole` is what this gave for all of them.
        """
        return None

    def vary(
        self, study: Study, settings: ExperienceSettings, cells: RankCells | None, of: Averages
    ) -> dict[str, Variance]:
        """Dispersions that are added to those of systems, by id."""
        return {}

    def own(self, of: Averages) -> dict[str, Variance]:
        """Dispersions of averages that it gave, as people's are, by the ids of systems."""
        return {}

    # What is said.

    def find(self, core: Core) -> Found | None:
        """What the part found; None where it has nothing to say."""
        return None

    def rows(self, found: Found, core: Core) -> Sequence[Sequence[Row]]:
        """The rows of each of `tables`; by default what was found is a row, or several."""
        rows: Any = [found] if isinstance(found, Row) else found
        return (rows,)

    def warn(self, found: Found, core: Core) -> Iterable[StudyWarning]:
        """What a reader must know."""
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
        """What the methods paragraph cites for it."""
        return ()

    def headline(self, found: Found, core: Core) -> Iterable[str]:
        """Sentences above everything else, such as what differs from a seal."""
        return ()

    def is_good(self, found: Found) -> bool:
        """Whether these sentences are good news."""
        return True

    def figures(self) -> dict[str, Any]:
        """What draws the part's figures from what it found and the core, by stem."""
        return {}
