"""Conduct of the judging: time, unopened solutions, and the initial order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from quem.method.part import Part, PartTable
from quem.rankings import Rankings
from quem.report.files import Section
from quem.report.rows import Row, col
from quem.store.care import Care, care_sentence
from quem.wording import format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.method.core import Core


class Judging(Row):
    """A judge's conduct."""

    title: ClassVar[str] = "Time, reading, and order of each judge"
    judge: str = col("id", "Judge")
    minutes: float = col("active time in submitted rankings", "Minutes", 0)
    reading: float = col(
        "minutes to read the texts once, at 230 words per minute", "Reading takes", 0
    )
    n: int = col("solutions in the rankings", "Solutions")
    opened: int = col("of these, those that were ever in view", "Opened")
    fast: float = col(
        "share of places given to solutions that were in view for less than 2 seconds",
        "Share placed in under 2 s",
        2,
    )
    as_shown: float | None = col(
        "share of the ordered pairs in the order in which they were shown, 0.5 by chance",
        "Share in the order shown",
        2,
    )
    tied: int = col("rankings that tie all solutions", "All tied")
    without: str = col(
        "the paper's estimates without this judge, in the order of the systems",
        "Estimate without",
        kind="csv",
    )


class JudgingPart(Part[tuple["Care", ...]]):
    """Recorded conduct of each judge in a session; the data warn of hasty ones."""

    name = "judging"
    tables = (PartTable(name, "conduct of each judge in a session", Judging, stem=name),)

    def find(self, core: Core) -> tuple[Care, ...] | None:
        """The records; None for rankings from a file."""
        data = core.study.data
        return (data.cares or None) if isinstance(data, Rankings) else None

    def rows(self, found: tuple[Care, ...], core: Core) -> Sequence[Sequence[Row]]:
        """Judge by judge."""
        return (_rows(found, core),)

    def sections(self, found: tuple[Care, ...], core: Core) -> Iterator[Section]:
        """The table; nobody is excluded."""
        text = [
            "Short times need not mean carelessness: a judge may have read on paper. Nobody is "
            "excluded for them; the last column has the paper’s estimate without each judge.",
            *(f"{care_sentence(care)}." for care in found if care.is_hasty),
        ]
        tables = [Judging.text_table(_rows(found, core))]
        yield Section(self.name, "How the judging was done", text, (), tables)


def _rows(found: tuple[Care, ...], core: Core) -> list[Judging]:
    without = {
        judge: ", ".join(map(format_number, years))
        for left in core.left_out
        if left.what == "judge"
        for judge, years in zip(left.ids, left.estimates.tolist(), strict=True)
    }
    return [
        Judging.taken_from(
            care,
            minutes=care.seconds / 60,
            reading=care.expected / 60,
            without=without.get(care.judge, ""),
        )
        for care in found
    ]
