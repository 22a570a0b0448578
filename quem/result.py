"""What the results of all kinds have alike: the files of a report, and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from quem.report.result import Result

__all__ = ["Reported"]


class Reported:
    """A result of any kind, as a report has it."""

    figure_stems: ClassVar[tuple[str, ...]]
    table_stems: ClassVar[tuple[str, ...]]

    @property
    def file_names(self) -> frozenset[str]:
        """Every file that a report may consist of."""
        return frozenset(
            [
                "report.html",
                "analysis.json",
                *(f"{stem}.{ending}" for stem in self.figure_stems for ending in ("svg", "png")),
                *(f"{stem}.csv" for stem in self.table_stems),
            ]
        )

    def to_html(self: Result) -> str:
        """Give the report as one self-contained HTML page."""
        from quem.report.html import report_html

        return report_html(self)

    def _repr_html_(self: Result) -> str:
        from quem.report.html import notebook_html

        return notebook_html(self)
