"""Reading the rankings from the source that a study names.

A source is a table of ranks, a table of average ranks, or PrefLib files: the orders of all judges
for one problem (preflib.org).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.errors import Mistake, QuemError, StudyWarning, refuse
from quem.io.columns import CodedColumn, column_of
from quem.io.tables import SourceTable, read_table
from quem.io.text import nearest, read_text, shown
from quem.rankings.decisions import Decisions, read_decisions
from quem.rankings.entries import Rankings, assemble
from quem.rankings.layouts import read_long, read_wide
from quem.rankings.stored import Session, read_stored, session_of_study
from quem.store.location import no_session
from quem.studyfile.declared import Declared

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.studyfile.models import RankingsSource
    from quem.studyfile.reading import StudyFile


@dataclass(frozen=True)
class PrintedAverages:
    """The average rank of each solver, as printed."""

    solvers: tuple[str, ...]
    average: NDArray[np.float64]  # of shape (len(solvers),): NaN where missing
    warnings: tuple[StudyWarning, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """The documented table: solver, average_rank."""
        return pd.DataFrame({"solver": self.solvers, "average_rank": self.average}).dropna()


def read_averages(
    path: Path, name: str, declared: Declared
) -> tuple[PrintedAverages, list[Mistake]]:
    """Read a table with the columns solver and average_rank."""
    fields = {"solver": ("solver",), "rank": ("average_rank",)}
    table = read_table(path, name, what="average ranks", fields=fields, required=("solver", "rank"))
    # As one judge and one problem without a name, for the same checks as of ranks.
    shared = CodedColumn(np.zeros(len(table), dtype=np.int64), [""])
    ranks = replace(table, columns={"judge": shared, "problem": shared, **table.columns})
    alone = Declared(("",), ("",), declared.solvers, broken=declared.broken & {"solver"})
    rankings, mistakes = assemble([replace(ranks, warnings=())], alone)
    values = np.full(len(rankings.solvers), np.nan)
    if not mistakes:
        values[rankings.solver] = rankings.rank
    return PrintedAverages(rankings.solvers, values, table.warnings), mistakes


_ENDINGS = (".soc", ".soi", ".toc", ".toi")
_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.*)", re.IGNORECASE)
_ORDER = re.compile(r"(\d+)\s*:\s*(.*)", re.ASCII)
_TIE = re.compile(r"\{([^{}]*)\}|([^,{}]+)")
_MOST_RANKS = 1_000_000
# Line, number of voters, and tie groups, best first.
Order = tuple[int, int, list[list[str]]]


def read_preflib(
    path: Path, name: str, problem: str, judges: tuple[str, ...], declared: Declared
) -> tuple[SourceTable[str], int]:
    """Read one PrefLib file (.soc, .soi, .toc or .toi).

    The file lists orders from best to worst. The first order is the first judge's; an order with a
    count is that of as many judges.
    """
    if path.suffix.lower() not in _ENDINGS:
        message = f"is not a PrefLib file of strict or tied orders ({', '.join(_ENDINGS)})"
        raise QuemError(Mistake(name, message=message))
    names: dict[str, str] = {}
    orders: list[Order] = []
    mistakes: list[Mistake] = []
    for number, line in enumerate(read_text(path, name, what="PrefLib file").split("\n"), 1):
        content = line.strip()
        if alternative := _NAME.match(content):
            solver = alternative[2].strip()
            if message := _misnamed(solver, names, declared):
                mistakes.append(Mistake(name, number, key="solver", message=message))
            names[alternative[1]] = solver
        elif order := _ORDER.fullmatch(content):
            groups, message = _groups(order[2], names)
            orders.append((number, int(order[1][:9]), groups))
            if message:
                mistakes.append(Mistake(name, number, message=message))
        elif content and not content.startswith("#"):
            message = (
                "is not an order such as '1: 2,3,{1,4}'; headers start with # since PrefLib 2022"
            )
            mistakes.append(Mistake(name, number, message=message))
    refuse(mistakes)
    if message := _miscounted(orders, judges):
        raise QuemError(Mistake(name, message=message))
    return _table(name, problem, orders, judges), sum(times for _, times, _ in orders)


def _miscounted(orders: list[Order], judges: tuple[str, ...]) -> str:
    """The error on the number of orders; empty if there is none."""
    count = sum(times for _, times, _ in orders)
    if not count:
        return "holds no orders; write one per judge, such as '1: 2,3,{1,4}'"
    if judges and count > len(judges):
        return f"holds {count} orders, and the study has {len(judges)} judges; declare each"
    if sum(times * sum(map(len, groups)) for _, times, groups in orders) > _MOST_RANKS:
        return f"holds more than {_MOST_RANKS:,} ranks; give them as a long table"
    return ""


def _misnamed(solver: str, names: dict[str, str], declared: Declared) -> str:
    """The error on the name of an alternative; empty if there is none."""
    if solver not in declared.solvers and "solver" not in declared.broken:
        hint = nearest(solver, declared.solvers) or "; name each alternative by its solver's id"
        return f"unknown solver {shown(solver)}{hint}"
    other = next((number for number, taken in names.items() if taken == solver), "")
    return f"{solver} is already the name of alternative {other}; keep one" if other else ""


def _groups(text: str, names: dict[str, str]) -> tuple[list[list[str]], str]:
    """The tie groups of an order, best first, and the error in it."""
    groups: list[list[str]] = []
    rest = _TIE.sub("", text).replace(",", "").strip()
    for match in _TIE.finditer(text):
        members = [part.strip() for part in (match[1] or match[2] or "").split(",")]
        members = [part for part in members if part]
        if members:
            groups.append(members)
    numbers = [member for group in groups for member in group]
    unnamed = sorted({number for number in numbers if number not in names})
    if rest:
        return groups, f"a brace does not match near {rest[:20]!r}"
    if unnamed:
        return groups, f"alternative {', '.join(unnamed[:5])} has no '# ALTERNATIVE NAME' line"
    if len(set(numbers)) < len(numbers):
        return groups, "duplicate alternative in this order; keep one"
    if not numbers:
        return groups, "this order is empty"
    return [[names[member] for member in group] for group in groups], ""


def _table(
    name: str, problem: str, orders: list[Order], judges: tuple[str, ...]
) -> SourceTable[str]:
    each = [(number, groups) for number, times, groups in orders for _ in range(times)]
    rows = [
        (number, judges[at] if judges else f"J{at + 1}", problem, member, str(place))
        for at, (number, groups) in enumerate(each)
        for place, group in enumerate(reversed(groups), 1)
        for member in group
    ]
    lines, *cells = zip(*rows, strict=True)
    columns = dict(zip(("judge", "problem", "solver", "rank"), map(column_of, cells), strict=True))
    return SourceTable(name, columns, lambda row, key: Mistake(name, lines[row], key=key))


def read_rankings(
    file: StudyFile, source: RankingsSource, session: Session
) -> tuple[Rankings | PrintedAverages | Decisions | None, list[Mistake]]:
    """Read the rankings of a study."""
    try:
        if source.source == "store" or "from" not in _part(file):
            return _read_undecided(file, source, session)
        return _read_file(file, source)
    except QuemError as error:
        return None, list(error.mistakes)


def _read_undecided(
    file: StudyFile, source: RankingsSource, session: Session
) -> tuple[Rankings | PrintedAverages | Decisions | None, list[Mistake]]:
    """Read the store, or the file if the study has no store; having both is an error."""
    if file.spec is None or file.mistakes:
        # The id, which identifies the study in a store, may be wrong.
        return _read_file(file, source) if source.file else (None, [])
    store = session_of_study(session, file.spec.id)
    if store is None:
        if source.source == "store":
            message = f"{no_session(session.place)}; --database names another place"
            return None, [file.document.mistake(("rankings", "from"), message)]
        return _read_file(file, source)
    with store:
        if source.file:
            message = (
                f"the study also has a judging session in {store.place.name}; say which counts: "
                f"{{from: store}} or {{from: {source.source}, file: ...}}"
            )
            return None, [file.document.mistake(("rankings",), message)]
        from quem.store.database import clear_refusals

        with clear_refusals(session.place):
            return read_stored(file, store, reveal=session.reveal)


def _read_file(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | PrintedAverages | Decisions | None, list[Mistake]]:
    if source.source == "preflib":
        return _read_preflib_files(file, source)
    return _read_table(file, source)


def _read_table(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | PrintedAverages | Decisions | None, list[Mistake]]:
    if not isinstance(source.file, str) or not source.file:
        message = (
            "name the file that holds the rankings: {from: long, file: rankings.csv}, or let "
            "judges make them: `quem serve`"
        )
        return None, [file.document.mistake(("rankings",), message)]
    loc = ("rankings", "file") if "file" in _part(file) else ("rankings",)
    if mistake := file.not_there(loc, source.file):
        return None, [mistake]
    path, name = file.beside(source.file)
    if source.source == "averages":
        return read_averages(path, name, file.declared)
    if source.source == "decisions":
        decisions, mistakes = read_decisions(path, name, file.declared)
        return decisions, [*mistakes, *_failed_in_pairs(file)]
    if source.source == "wide":
        table = read_wide(path, name, file.declared)
    else:
        table = read_long(path, name)
    return assemble([table], file.declared)


def _failed_in_pairs(file: StudyFile) -> list[Mistake]:
    """Errors on failed solutions in paired decisions, which have no groups."""
    message = (
        "a solution that failed has no place among decisions on pairs; write the decisions that "
        "it lost and leave it out here, or declare it absent"
    )
    missing = file.spec.missing if file.spec else ()
    return [
        file.document.mistake(("missing", at, "reason"), message)
        for at, one in enumerate(missing)
        if one.reason == "failed"
    ]


def _read_preflib_files(
    file: StudyFile, source: RankingsSource
) -> tuple[Rankings | None, list[Mistake]]:
    if isinstance(source.file, str):
        message = "list the PrefLib files, one per problem: [{file: p1.toc, problem: P1}]"
        return None, [file.document.mistake(("rankings",), message)]
    declared = file.declared
    known = () if "judge" in declared.broken else declared.judges
    mistakes: list[Mistake] = []
    tables: list[SourceTable[str]] = []
    most = 0
    for index, part in enumerate(source.file):
        loc = (*(("rankings", "file") if _part(file) else ("rankings",)), index)
        if part.problem not in declared.problems and "problem" not in declared.broken:
            hint = nearest(part.problem, declared.problems)
            message = f"the study has no problem {shown(part.problem)}{hint}"
            mistakes.append(file.document.mistake((*loc, "problem"), message))
            continue
        if mistake := file.not_there((*loc, "file"), part.file):
            mistakes.append(mistake)
            continue
        try:
            table, count = read_preflib(*file.beside(part.file), part.problem, known, declared)
        except QuemError as error:
            mistakes += error.mistakes
            continue
        tables.append(table)
        most = max(most, count)
    if not tables:
        return None, mistakes or [file.document.mistake(("rankings",), "names no file")]
    judges = known or tuple(f"J{number + 1}" for number in range(most))
    rankings, more = assemble(tables, replace(declared, judges=judges))
    return rankings, mistakes + more


def _part(file: StudyFile) -> dict[str, object]:
    """The rankings key of the study, if it is a mapping."""
    content = file.document.content.get("rankings")
    return content if isinstance(content, dict) else {}
