"""Presentation of experience studies: analysis.json, tables, and terminal summary."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.method import result as rows
from quem.method.statement import assumption, basis
from quem.report.result import Presentation
from quem.report.rows import STUDY, Entry, Row, RowDocument, RowTable
from quem.studyfile.models import ExperienceSettings
from quem.wording import WIDTH, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quem.method.part import Part, PartTable
    from quem.method.result import ExperienceFindings


@cache
def presentation() -> Presentation[ExperienceFindings]:
    """The presentation of the results with all parts."""
    from quem.parts import PARTS

    of_parts = (
        RowTable(one.stem, one.meaning, one.row, found)
        for one, found in _of_parts(PARTS)
        if one.stem
    )
    return Presentation(
        document(PARTS),
        (*_tables(), *of_parts),
        _figures,
        summary_text,
        _context,
        narrow=_narrow,
    )


def _figures() -> dict[str, Any]:
    """The drawing functions, also of parts; their import takes as long as a small analysis."""
    from quem.method.figures import FIGURES
    from quem.parts import PARTS

    of_parts = {
        stem: partial(_draw, part, draw) for part in PARTS for stem, draw in part.figures().items()
    }
    return {**FIGURES, **of_parts}


def _draw(part: Part[Any], draw: Any, findings: ExperienceFindings) -> Any:  # noqa: ANN401
    """A part's figure; None without findings."""
    return draw(findings.parts[part], findings.core) if part in findings.parts else None


def _narrow() -> Mapping[str, Any]:
    """The drawing functions for the page on a phone."""
    from quem.method.figures import NARROW

    return NARROW


def _context(findings: ExperienceFindings) -> dict[str, Any]:
    """The variables of the page."""
    from quem.method.page import report_context

    return report_context(findings)


def document(parts: Sequence[Part[Any]]) -> RowDocument:
    """analysis.json."""
    return RowDocument(
        "experience",
        ExperienceSettings,
        entries=(
            Entry(
                "skill",
                "the paper's line",
                rows.Skill,
                _of(rows.skill_row),
                many=False,
                always=True,
            ),
            Entry(
                "population",
                "reference population of the second estimate",
                rows.PopulationRow,
                _of(rows.population_row),
                many=False,
                always=True,
            ),
            Entry(
                "averages",
                "one entry per solver",
                rows.Average,
                _of(rows.average_rows),
                always=True,
            ),
            Entry(
                "estimates",
                "one entry per system with ranks",
                rows.Estimate,
                _estimates,
                always=True,
            ),
            Entry(
                "agreement",
                "of the judges; not for blocks, decisions, and averages",
                rows.AgreementRow,
                _of(rows.agreement_row),
                many=False,
            ),
            *(
                Entry(one.name, one.meaning, one.row, found, many=one.many)
                for one, found in _of_parts(parts)
                if one.name
            ),
        ),
        study=replace(
            STUDY,
            row=rows.StudiedRecord,
            of=lambda found: rows.StudiedRecord.taken_from(found.study.spec),
        ),
    )


def _of(row: Callable[..., Any]) -> Callable[[ExperienceFindings], Any]:
    return lambda findings: row(findings.core)


def _estimates(findings: ExperienceFindings) -> list[rows.Estimate]:
    return [rows.estimate_row(one) for one in findings.core.estimates]


def _judges(findings: ExperienceFindings) -> Sequence[rows.JudgeRow]:
    row = rows.agreement_row(findings.core)
    return row.judges if row else ()


def _of_parts(parts: Sequence[Part[Any]]) -> Iterator[tuple[PartTable, Any]]:
    """Each table of a part with a function of its rows; None without findings."""
    for part in parts:
        for at, table in enumerate(part.tables):
            yield table, partial(_part_rows, part, at)


def _part_rows(part: Part[Any], at: int, findings: ExperienceFindings) -> Sequence[Row] | None:
    if part not in findings.parts:
        return None
    return part.rows(findings.parts[part], findings.core)[at]


def _tables() -> tuple[RowTable, ...]:
    return (
        RowTable("ranks", "one row per judged solution", rows.RankRow, _ranks),
        RowTable("averages", "one row per solver", rows.Average, _of(rows.average_rows)),
        RowTable(
            "estimates", "one row per system with ranks", rows.Estimate, _estimates, always=True
        ),
        RowTable("judges", "one row per judge who ranked with others", rows.JudgeRow, _judges),
    )


_ORDER = ["judge", "problem", "block", "solver"]


def _ranks(findings: ExperienceFindings) -> pd.DataFrame | None:
    """Every judged solution; ids are categories in the order of the study file."""
    import pandas as pd

    cells = findings.core.cells
    if not (cells and cells.has_ranks):
        return None

    def words(codes: NDArray[Any], names: Sequence[str]) -> pd.Categorical:
        return pd.Categorical.from_codes(codes, pd.Index(np.array(names, dtype=object)))

    kinds, kind_names = pd.factorize(np.array(cells.kinds, dtype=object))
    failed = np.isneginf(cells.given)
    frame = pd.DataFrame(
        {
            "judge": words(cells.judge, cells.judges),
            "problem": words(cells.problem, cells.problems),
            "block": cells.block,
            "occasion": cells.occasion,
            "solver": words(cells.solver, cells.solvers),
            "kind": words(kinds[cells.solver], kind_names.tolist()),
            "rank": np.where(failed, np.nan, cells.given),
            "adjusted_rank": cells.adjusted,
            "score": cells.score,
            "size": cells.size,
            "reason": words(
                np.where(failed, 1, np.where(cells.placed, 2, 0)), ("", "failed", "withheld")
            ),
            "recognized": cells.recognized,
        }
    )
    if not cells.recognized.any():
        del frame["recognized"]
    return frame.sort_values(_ORDER, ignore_index=True)


def summary_text(findings: ExperienceFindings) -> str:
    """The terminal summary: the result first, then what it is based on."""
    core = findings.core
    lines = [text for one in findings.of_parts("headline") for text in wrap(one)]
    lines += [*[""] * bool(lines), core.study.spec.title, ""]
    if not findings.statements:
        lines.append("  No system has ranks; only the line through the people is reported.")
    for one in findings.statements:
        lines += wrap(one.sentence)
        for text in filter(None, [one.value and one.reason, one.other, one.chances]):
            lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    if any(of.leads == "reference" for of in core.estimates):
        lines += wrap(assumption(core))
    lines += ["", "Based on"]
    based_on = [*basis(core), *findings.of_parts("lines")]
    lines += [text for line in based_on for text in wrap(line)]
    return "\n".join(lines)
