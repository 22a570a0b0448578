"""Submitted rankings in the forms that other programs read."""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from quem.store.rankings import SubmittedRanking

__all__ = ["long_table", "preflib_files"]

_HEADER = ("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognised")
_LONGEST_STEM = 100


def long_table(rankings: Iterable[SubmittedRanking]) -> str:
    """Write rankings as CSV, a row a solution, as ``rankings: {from: long}`` reads them.

    Parameters
    ----------
    rankings : iterable of SubmittedRanking
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for ranking in rankings:
        place = (ranking.judge, ranking.problem, ranking.block, ranking.occasion)
        for cell in ranking.cells():
            reason = "absent" if cell.rank is None else ""
            marked = "1" if cell.recognised else ""
            writer.writerow([*place, cell.solver, cell.rank, reason, marked])
    return text.getvalue()


def preflib_files(
    rankings: Iterable[SubmittedRanking], solvers: tuple[str, ...], title: str
) -> dict[str, str]:
    """Write a PrefLib file a problem: one order a judge, best first, solvers as alternatives.

    What a judge could not judge is left out of the order, and an order without any solution
    left out of the file; orders of repeated groups and of other blocks than the first are
    not written.

    Parameters
    ----------
    rankings : iterable of SubmittedRanking
    solvers : tuple of str
        In the order in which they are numbered.
    title : str
        Of the study.

    Returns
    -------
    dict of str to str
        Content by file name.
    """
    by_problem: dict[str, list[SubmittedRanking]] = {}
    for ranking in rankings:
        if (ranking.block, ranking.occasion) == (1, 1) and ranking.state.ranked:
            by_problem.setdefault(ranking.problem, []).append(ranking)
    names = _file_names(by_problem)
    return {
        names[problem]: _preflib(names[problem], f"{title}: {problem}", given, solvers)
        for problem, given in by_problem.items()
    }


def _preflib(
    name: str, title: str, rankings: list[SubmittedRanking], solvers: tuple[str, ...]
) -> str:
    shown = {solver for ranking in rankings for solver in ranking.state.ranks()}
    alternatives = [solver for solver in solvers if solver in shown]
    alternatives += sorted(shown.difference(alternatives))
    number = {solver: str(place) for place, solver in enumerate(alternatives, 1)}
    orders = [_order(ranking, number) for ranking in rankings]
    # PrefLib calls it "toi" where an order is not complete; the file's ending stays the same.
    incomplete = (
        any(ranking.state.cannot for ranking in rankings)
        or len({frozenset(ranking.state.ranks()) for ranking in rankings}) > 1
    )
    header = {
        "FILE NAME": name,
        "TITLE": title,
        "DESCRIPTION": f"orders of {', '.join(ranking.judge for ranking in rankings)}",
        "DATA TYPE": "toi" if incomplete else "toc",
        "MODIFICATION TYPE": "original",
        "NUMBER ALTERNATIVES": len(alternatives),
        "NUMBER VOTERS": len(orders),
        "NUMBER UNIQUE ORDERS": len(set(orders)),
        **{f"ALTERNATIVE NAME {place}": solver for solver, place in number.items()},
    }
    lines = [f"# {key}: {value}" for key, value in header.items()]
    return "\n".join([*lines, *(f"1: {order}" for order in orders)]) + "\n"


def _order(ranking: SubmittedRanking, number: Mapping[str, str]) -> str:
    """Write a weak order, best first: ``3,{1,2}``."""
    groups = [sorted((number[solver] for solver in g), key=int) for g in ranking.state.ranked]
    return ",".join(g[0] if len(g) == 1 else f"{{{','.join(g)}}}" for g in groups)


def _file_names(problems: Iterable[str]) -> dict[str, str]:
    """Name a file for each problem, on any system, also where case does not count."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for problem in problems:
        stem = re.sub(r"[^\w.-]+", "-", problem, flags=re.ASCII).strip(".-")[:_LONGEST_STEM]
        stem = stem or "problem"
        number, name = 1, stem
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names[problem] = f"{name}.toc"
    return names
