"""Rankings of machine judges, as a table like that of experts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.columns import column_of
from quem.io.tables import SourceTable
from quem.rankings.entries import FIELDS, assemble

if TYPE_CHECKING:
    from quem.rankings import Rankings
    from quem.study import Declared
    from quem.study.runs import Run


def rankings_of(run: Run, declared: Declared) -> Rankings:
    """Give the valid rankings of a run, each repeat as a separate judge: 0, 1, and so on.

    Solvers and problems that the study has no more are left out.
    """
    rows = [
        (call, str(rank), solver, "")
        for call in run.calls
        if call.status == "ok" and call.problem in declared.problems
        for rank, tied in enumerate(reversed(call.ranked), 1)
        for solver in tied
        if solver in declared.solvers
    ]
    rows += [
        (call, "", solver, "absent")
        for call in run.calls
        if call.status == "ok" and call.problem in declared.problems
        for solver in call.cannot
        if solver in declared.solvers
    ]
    cells = {
        "judge": [str(call.repeat) for call, *_ in rows],
        "problem": [call.problem for call, *_ in rows],
        "block": [str(call.block) for call, *_ in rows],
        "occasion": ["1" for _ in rows],
        "solver": [solver for _, _, solver, _ in rows],
        "rank": [rank for _, rank, _, _ in rows],
        "reason": [reason for *_, reason in rows],
        "recognized": ["" for _ in rows],
    }
    name = f"run {run.number} of {run.judge}"
    columns = {field: column_of(cells[field]) for field in FIELDS}
    table = SourceTable(name, columns, lambda _, key: Mistake(name, key=key), ())
    judges = tuple(str(repeat) for repeat in range(run.repeats))
    rankings, mistakes = assemble([table], replace(declared, judges=judges))
    if mistakes:
        raise QuemError(mistakes)
    return rankings
