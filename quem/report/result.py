"""What a result of any kind offers: summary, tables, figures, page, notebook cell and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning

__all__ = ["Attaches", "BaseResult", "Content", "Result"]


class BaseResult:
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


# What a file holds; in parts where that is much.
Content: TypeAlias = "bytes | Iterable[bytes]"


class Result(Protocol):
    """The result of analysing a study."""

    kind: str

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""

    @property
    def file_names(self) -> frozenset[str]:
        """Every file that a report of this kind may consist of."""

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader must know."""

    def summary(self, *, warnings: bool = True) -> str:
        """Say the result as text."""

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem."""

    def figures(self) -> dict[str, Figure]:
        """Figures by file stem."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for analysis.json."""

    def context(self) -> dict[str, Any]:
        """Give what the template ``report/<kind>.html`` shows."""


@runtime_checkable
class Attaches(Protocol):
    """A result with files that are neither figures nor tables."""

    def attachments(self) -> Mapping[str, Content]:
        """Files by name."""
