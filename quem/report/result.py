"""What a result of any kind offers: summary, tables, figures, page, notebook cell and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning
    from quem.report.rows import RowDocument, RowTable

# What a file holds; in parts where that is much.
Content: TypeAlias = "bytes | Iterable[bytes]"


class WarningFindings(Protocol):
    """All numbers of a result, with the warnings about them."""

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """Each with a code and a sentence."""


Findings = TypeVar("Findings", bound=WarningFindings)
Findings_co = TypeVar("Findings_co", bound=WarningFindings, covariant=True)


Drawers: TypeAlias = "Mapping[str, Callable[[Findings], Figure | None]]"


class Presentation(Generic[Findings]):
    """How the results of a kind are shown."""

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
        """Draw each figure by its file stem."""
        return self._figures() if callable(self._figures) else self._figures


class BaseResult(ABC, Generic[Findings_co]):
    """The result of an analysis.

    Parameters
    ----------
    findings
        Every number, as plain results.
    """

    kind: ClassVar[str]
    template: ClassVar[str] = ""  # of the report, where it is not the kind's own
    findings: Findings_co

    @staticmethod
    @abstractmethod
    def presentation() -> Presentation[Findings_co]:
        """Say how results of this kind are shown."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def file_names(self) -> frozenset[str]:
        """Every file that a report of this kind may consist of."""
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
        """Say the result, what it is based on and, unless told not to, the warnings, as text."""
        text = self.presentation().summary(self.findings)
        if not warnings or not self.warnings:
            return text
        from quem.wording import warnings_text

        return f"{text}\n\n{warnings_text(self.warnings)}"

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give the tables that are written, by file stem."""
        frames = ((t, t.frame(self.findings)) for t in self.presentation().tables)
        return {table.stem: frame for table, frame in frames if table.always or len(frame)}

    def table(self, stem: str) -> pd.DataFrame:
        """Give the table of a file stem, with its columns also where it has no rows."""
        frames = [t.frame(self.findings) for t in self.presentation().tables if t.stem == stem]
        return next((frame for frame in frames if len(frame)), frames[0])

    def figures(self) -> dict[str, Figure]:
        """Draw the figures that there is something for, by file stem."""
        drawn = {stem: self.plot(stem) for stem in self.presentation().figures}
        return {stem: figure for stem, figure in drawn.items() if figure is not None}

    def plot(self, stem: str) -> Figure | None:
        """Draw the figure of a file stem; None where there is nothing to draw.

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
        """Files that are neither figures nor tables, by name, beside tables of these formats."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """The content of analysis.json."""
        return self.presentation().document.record(self.findings)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        return self.presentation().context(self.findings)

    def to_html(self) -> str:
        """Give the report as one self-contained HTML page."""
        from quem.report.files import report_html

        return report_html(self)

    def report(self, folder: str | os.PathLike[str]) -> None:
        """Write the report into a folder: page, figures as SVG, tables as CSV, analysis.json."""
        from pathlib import Path

        from quem.report.files import write_report

        write_report(self, Path(folder))

    def _repr_html_(self) -> str:
        from quem.report.files import notebook_html

        return notebook_html(self)
