"""The result of an experience study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quem.method.result import ExperienceFindings
from quem.method.warnings import find_warnings
from quem.report.result import BaseResult, Content, Presentation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from quem.method.core import Core
    from quem.method.part import Part
    from quem.method.statement import Statement
    from quem.rankings.loading import Study


@dataclass(frozen=True, repr=False)
class ExperienceResult(BaseResult["ExperienceFindings"]):
    """The experience estimates of a study's systems."""

    findings: ExperienceFindings
    kind = "experience"

    def __repr__(self) -> str:
        """One line; see `summary`."""
        texts = [f"{one.name} {one.value or 'no years'}" for one in self.findings.statements]
        return f"<ExperienceResult of {self.study.spec.id}: {', '.join(texts) or 'no system'}>"

    def __str__(self) -> str:
        """The summary."""
        return self.summary()

    @staticmethod
    def presentation() -> Presentation[ExperienceFindings]:
        """The presentation of the results."""
        from quem.parts.presentation import presentation

        return presentation()

    @property
    def core(self) -> Core:
        """The numbers of the method."""
        return self.findings.core

    @property
    def study(self) -> Study:
        """The analyzed study."""
        return self.findings.study

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements on the systems, the best first."""
        return self.findings.statements

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The input files: the study file and its rankings."""
        return self.study.files

    @property
    def file_names(self) -> frozenset[str]:
        """Every possible file of a report."""
        return super().file_names | {"check.py", "check.R"}

    def attachments(self, tables: Sequence[str] = ("csv",)) -> Mapping[str, Content]:
        """Scripts in Python and R that recompute the paper's estimates from the CSV files."""
        if "csv" not in tables or not self.core.estimates:
            return {}
        from quem.report.files import rendered

        form, level = self.core.line.form, self.core.settings.level
        rank = {"linear": "average_rank", "log": "{log}(average_rank)"}
        terms = rank.get(form, "average_rank + I(average_rank{to}2)")
        of = {"py": terms.format(log="np.log", to="**"), "R": terms.format(log="log", to="^")}
        return {
            f"check.{language}": rendered(
                "check.txt", language=language, terms=text, level=level
            ).encode()
            for language, text in of.items()
        }

    @property
    def estimates(self) -> pd.DataFrame:
        """One row per system: both estimates with their intervals."""
        return self.table("estimates")

    @property
    def averages(self) -> pd.DataFrame:
        """One row per solver: kind, experience, average rank, number of ranks."""
        return self.table("averages")

    @property
    def ranks(self) -> pd.DataFrame | None:
        """One row per judged solution; None for averages computed elsewhere, and for decisions."""
        cells = self.core.cells
        return self.table("ranks") if cells and cells.has_ranks else None


def result_with(core: Core, parts: Sequence[Part[Any]]) -> ExperienceResult:
    """The result with the findings of all parts."""
    found = {part: of for part in parts if (of := part.find(core)) is not None}
    findings = ExperienceFindings(core, found)
    warnings = (*find_warnings(core), *findings.of_parts("warn"))
    return ExperienceResult(replace(findings, warnings=warnings))
