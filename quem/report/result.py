"""The interface of all results: summary, tables, figures, page, notebook cell, and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning
    from quem.report.rows import RowDocument, RowTable

# The contents of a file; in parts if large.
Content: TypeAlias = "bytes | Iterable[bytes]"


class WarningFindings(Protocol):
    """All numbers of a result, with its warnings."""

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """Each with a code and a sentence."""


Findings = TypeVar("Findings", bound=WarningFindings)
Findings_co = TypeVar("Findings_co", bound=WarningFindings, covariant=True)


Drawers: TypeAlias = "Mapping[str, Callable[[Findings], Figure | None]]"


class Presentation(Generic[Findings]):
    """The presentation of the results of a kind."""

    def __init__(
        self,
        document: RowDocument,
        tables: tuple[RowTable, ...],
        figures: Drawers[Findings] | Callable[[], Drawers[Findings]],
        summary: Callable[[Findings], str],
        context: Callable[[Findings], dict[str, Any]],
        narrow: Callable[[], Drawers[Findings]] = dict,
    ) -> None:
        self.document, self.tables, self._figures = document, tables, figures
        self.summary, self.context, self.narrow = summary, context, narrow

    @property
    def figures(self) -> Drawers[Findings]:
        """The drawing functions by file stem."""
        return self._figures() if callable(self._figures) else self._figures


class BaseResult(ABC, Generic[Findings_co]):
    """The result of an analysis.

    Parameters
    ----------
    findings
        Every number, as plain results.
    """

    kind: ClassVar[str]
    template: ClassVar[str] = ""  # of the report, if not the kind's own
    findings: Findings_co

    @staticmethod
    @abstractmethod
    def presentation() -> Presentation[Findings_co]:
        """The presentation of results of this kind."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Path, ...]:
        """The input files."""

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """The warnings about the result, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def file_names(self) -> frozenset[str]:
        """Every possible file of a report of this kind."""
        from quem.report.tables import table_names

        shown = self.presentation()
        return frozenset(
            [
                "report.html",
                "analysis.json",
                *(f"{stem}.{ending}" for stem in shown.figures for ending in ("svg", "png", "pdf")),
                *table_names(table.stem for table in shown.tables),
            ]
        )

    def summary(self, *, warnings: bool = True) -> str:
        """The result with its basis and, unless excluded, the warnings, as text."""
        text = self.presentation().summary(self.findings)
        if not warnings or not self.warnings:
            return text
        from quem.wording import warnings_text

        return f"{text}\n\n{warnings_text(self.warnings)}"

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables that are written, by file stem."""
        frames = ((t, t.frame(self.findings)) for t in self.presentation().tables)
        return {table.stem: frame for table, frame in frames if table.always or len(frame)}

    def table(self, stem: str) -> pd.DataFrame:
        """The table of a file stem; it has its columns even without rows."""
        frames = [t.frame(self.findings) for t in self.presentation().tables if t.stem == stem]
        return next((frame for frame in frames if len(frame)), frames[0])

    def figures(self) -> dict[str, Figure]:
        """The figures that have content, by file stem."""
        drawn = {stem: self.plot(stem) for stem in self.presentation().figures}
        return {stem: figure for stem, figure in drawn.items() if figure is not None}

    def plot(self, stem: str) -> Figure | None:
        """The figure of a file stem; None without content.

        Raises
        ------
        KeyError
            Results of this kind have no such figure.
        """
        figures = self.presentation().figures
        if stem not in figures:
            raise KeyError(f"there is no figure {stem!r}; use one of: {', '.join(figures)}")
        from quem.report.drawing import with_style

        with with_style():
            return figures[stem](self.findings)

    def attachments(self, tables: Sequence[str] = ("csv",)) -> Mapping[str, Content]:  # noqa: ARG002
        """Files other than figures and tables, by name, for these table formats."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """The contents of analysis.json."""
        return self.presentation().document.record(self.findings)

    def context(self) -> dict[str, Any]:
        """The variables of the report's template."""
        return self.presentation().context(self.findings)

    def to_html(self) -> str:
        """The report as one self-contained HTML page."""
        from quem.report.files import report_html

        return report_html(self)

    def report(self, folder: str | os.PathLike[str]) -> None:
        """Write the report into a folder: page, figures as SVG, tables as CSV, analysis.json."""
        from quem.report.files import write_report

        write_report(self, Path(folder))

    def _repr_html_(self) -> str:
        from quem.report.files import notebook_html

        return notebook_html(self)
