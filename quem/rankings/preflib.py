"""PrefLib files: the orders of all judges for one problem (preflib.org)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.columns import column_of
from quem.io.tables import Table
from quem.io.text import nearest, read_text, shown

if TYPE_CHECKING:
    from pathlib import Path

    from quem.study.declared import Declared

__all__ = ["read_preflib"]

_ENDINGS = (".soc", ".soi", ".toc", ".toi")
_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.*)", re.IGNORECASE)
_ORDER = re.compile(r"(\d+)\s*:\s*(.*)", re.ASCII)
_TIE = re.compile(r"\{([^{}]*)\}|([^,{}]+)")
_MOST_RANKS = 1_000_000
# Line, number of voters, and tie groups, best first.
Order = tuple[int, int, list[list[str]]]


def read_preflib(
    path: Path, name: str, problem: str, judges: tuple[str, ...], declared: Declared
) -> tuple[Table[str], int]:
    """Read one PrefLib file (.soc, .soi, .toc or .toi).

    The file lists orders from best to worst. The first order is the first judge's; an order
    that stands for several voters is that of as many judges.

    Parameters
    ----------
    name : str
        The file as the user named it, for messages.
    problem : str
        The problem that the orders are for.
    judges : tuple of str
        The study's judges; where it has none they are J1, J2, ...
    declared : Declared
        Its solvers are whom the file's alternative names have to name.

    Returns
    -------
    table : Table
    n_judges : int
        The number of orders.

    Raises
    ------
    QuemError
        The file cannot be read; each line that is wrong.
    """
    if path.suffix.lower() not in _ENDINGS:
        message = f"is not a PrefLib file of strict or tied orders ({', '.join(_ENDINGS)})"
        raise QuemError([Mistake(name, message=message)])
    names: dict[str, str] = {}
    orders: list[Order] = []
    mistakes: list[Mistake] = []
    for number, line in enumerate(read_text(path, name, what="PrefLib file").split("\n"), 1):
        content = line.strip()
        if alternative := _NAME.match(content):
            solver = alternative[2].strip()
            mistakes += _misnamed(name, number, solver, names, declared)
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
    mistakes += _miscounted(name, orders, judges) if not mistakes else []
    if mistakes:
        raise QuemError(mistakes)
    return _table(name, problem, orders, judges), sum(times for _, times, _ in orders)


def _miscounted(name: str, orders: list[Order], judges: tuple[str, ...]) -> list[Mistake]:
    count = sum(times for _, times, _ in orders)
    if not count:
        message = "holds no orders; write one per judge, such as '1: 2,3,{1,4}'"
        return [Mistake(name, message=message)]
    if judges and count > len(judges):
        message = f"holds {count} orders, and the study has {len(judges)} judges; declare each"
        return [Mistake(name, message=message)]
    if sum(times * sum(map(len, groups)) for _, times, groups in orders) > _MOST_RANKS:
        message = f"holds more than {_MOST_RANKS:,} ranks; give them as a long table"
        return [Mistake(name, message=message)]
    return []


def _misnamed(
    name: str, number: int, solver: str, names: dict[str, str], declared: Declared
) -> list[Mistake]:
    if solver not in declared.solvers and "solver" not in declared.broken:
        hint = nearest(solver, declared.solvers) or "; name each alternative by its solver's id"
        message = f"unknown solver {shown(solver)}{hint}"
        return [Mistake(name, number, key="solver", message=message)]
    for other, taken in names.items():
        if taken == solver:
            message = f"{solver} is already the name of alternative {other}; keep one"
            return [Mistake(name, number, key="solver", message=message)]
    return []


def _groups(text: str, names: dict[str, str]) -> tuple[list[list[str]], str]:
    """The tie groups of an order, best first, and what is wrong with it."""
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


def _table(name: str, problem: str, orders: list[Order], judges: tuple[str, ...]) -> Table[str]:
    lines, judge, solver, rank = [], [], [], []
    index = 0
    for number, times, groups in orders:
        for _ in range(times):
            judge_id = judges[index] if judges else f"J{index + 1}"
            index += 1
            for place, group in enumerate(reversed(groups), 1):
                for member in group:
                    lines.append(number)
                    judge.append(judge_id)
                    solver.append(member)
                    rank.append(str(place))
    columns = {
        "judge": column_of(judge),
        "problem": column_of([problem] * len(judge)),
        "solver": column_of(solver),
        "rank": column_of(rank),
    }
    return Table(name, columns, lambda row, key: Mistake(name, lines[row], key=key))
