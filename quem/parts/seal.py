"""The seal of a study: whether study and settings match it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.method.core import Core, round_years
from quem.method.part import Part, PartTable
from quem.report.rows import Row, col
from quem.seal import Seal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class SealRow(Row):
    """A seal with the differences from it."""

    sealed_at: str = col("time of the seal")
    hash: str = col("SHA-256 of the record; it does not attest rankings")
    headline: str = col("headline of the report")
    differences: tuple[str, ...] = col("a sentence each; settings are those that were asked for")


class SealPart(Part[Seal]):
    """The seal of a study."""

    name = "seal"
    tables = (
        PartTable(
            "seal",
            "whether study and settings are as they were sealed; only for a sealed study",
            SealRow,
            many=False,
        ),
    )

    def find(self, core: Core) -> Seal | None:
        """The seal, with the settings that replace the study file's."""
        if core.study.seal is None:
            return None
        asked = core.settings
        if asked.at_least == round_years(core.line.y):
            # Derived from these subjects, not requested.
            asked = asked.model_copy(update={"at_least": core.study.spec.analysis.at_least})
        return core.study.seal.with_asked(asked.model_dump(mode="json"))

    def rows(self, found: Seal, core: Core) -> Sequence[Sequence[Row]]:
        """The seal."""
        at, texts = str(found.sealed_at), tuple(found.texts)
        return ([SealRow.taken_from(found, sealed_at=at, differences=texts)],)

    def headline(self, found: Seal, core: Core) -> Iterator[str]:
        """Whether it matches, each difference, and the hash."""
        yield f"{found.headline}{':' if found.texts else ''}"
        yield from found.texts
        yield f"Seal {found.hash}; it does not attest rankings."

    def is_good(self, found: Seal) -> bool:
        """Whether nothing differs."""
        return not found.texts

    def about(self, found: Seal, core: Core) -> str:
        """The time of sealing, and the number of differences."""
        return f"{found.headline} (SHA-256 {found.hash})."
