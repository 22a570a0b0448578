"""Long, wide, JSON and PrefLib say the same; what was not ranked, and what was ranked again."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

import quem
from tests.examples import (
    JUDGES,
    PROBLEMS,
    RANKS,
    RECORDS,
    SOLVERS,
    long_csv,
    ranks_of,
    study_with,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from quem.parts.result import ExperienceResult
    from tests.examples import Cell


def wide(*header: str, separator: str = ",") -> str:
    """The example as a wide table below the given header."""
    pairs = [(judge, problem) for judge in JUDGES for problem in PROBLEMS]
    rows = [[solver, *(str(RANKS[*pair, solver]) for pair in pairs)] for solver in SOLVERS]
    return "\n".join([*header, *map(separator.join, rows)])


def preflib(problem: str) -> str:
    """One problem of the example as PrefLib has it: an order for each judge, best first."""
    lines = [f"# NUMBER ALTERNATIVES: {len(SOLVERS)}"]
    lines += [f"# ALTERNATIVE NAME {i}: {solver}" for i, solver in enumerate(SOLVERS, 1)]
    for judge in JUDGES:
        rank = {str(i): int(RANKS[judge, problem, s]) for i, s in enumerate(SOLVERS, 1)}
        best_first = sorted(rank, key=lambda i: -rank[i])
        groups = [list(group) for _, group in groupby(best_first, key=rank.__getitem__)]
        order = [g[0] if len(g) == 1 else "{" + ",".join(g) + "}" for g in groups]
        lines.append(f"1: {','.join(order)}")
    return "\n".join(lines) + "\n"


WIDE = {"from": "wide", "file": "t.csv"}
LAYOUTS: dict[str, tuple[object, dict[str, str]]] = {
    "two header rows": (WIDE, {"t__csv": wide("solver,J1,,J2,", ",P1,P2,P1,P2")}),
    "every cell named": (WIDE, {"t__csv": wide(",J1,J1,J2,J2", "solver,P1,P2,P1,P2")}),
    "one header row": (WIDE, {"t__csv": wide("solver,J1:P1,J1:P2,J2:P1,J2:P2")}),
    "padded header": (WIDE, {"t__csv": wide("solver, J1 : P1,J1: P2 ,J2 :P1,J2:P2")}),
    "semicolons": (WIDE, {"t__csv": wide("x;J1;;J2;", ";P1;P2;P1;P2", separator=";")}),
    "one file name": ("t.csv", {"t__csv": long_csv()}),
    "json lines": ("t.jsonl", {"t__jsonl": "\n".join(map(json.dumps, RECORDS))}),
    "json": ("t.json", {"t__json": json.dumps(RECORDS, indent=1)}),
    "preflib": (
        [{"file": "p1.toc", "problem": "P1"}, {"file": "p2.TOI", "problem": "P2"}],
        {"p1__toc": preflib("P1"), "p2__TOI": preflib("P2")},
    ),
}


@pytest.mark.parametrize(("source", "files"), LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_holds_the_same(
    source: object, files: dict[str, str], make_study: Callable[..., Path]
) -> None:
    assert ranks_of(make_study(study_with(rankings=source), **files)) == RANKS


@pytest.mark.parametrize(
    ("ending", "orders", "ranks"),
    [
        ("soc", "1: 3,2,1\n1: 1,2,3\n", [(1, 2, 3), (3, 2, 1)]),
        ("soi", "2: 3,1,2\n", [(2, 1, 3), (2, 1, 3)]),
        ("soi", "1: 3,1\n1: 2,3\n", [(1, None, 2), (None, 2, 1)]),
        ("toc", "1: {3,2},1\n1:1, {2 , 3}\n", [(1, 2, 2), (2, 1, 1)]),
        ("toi", "1: 3,{1,2}\n1: {1},2,3\n", [(1, 1, 2), (3, 2, 1)]),
    ],
)
def test_preflib_orders_are_best_first_and_one_a_judge(
    ending: str, orders: str, ranks: list[tuple[int | None]], make_study: Callable[..., Path]
) -> None:
    """An order for several counts for as many judges, and says nothing of what it leaves out."""
    names = "".join(f"# ALTERNATIVE NAME {at}: S{at}\n" for at in (1, 2, 3))
    study = study_with(rankings=[{"file": f"p.{ending}", "problem": "P1"}])
    path = make_study(study, **{f"p__{ending}": names + orders})
    assert ranks_of(path) == {
        (judge, "P1", f"S{at}"): rank
        for judge, of_judge in zip(JUDGES, ranks, strict=True)
        for at, rank in enumerate(of_judge, 1)
        if rank
    }


def analyzed(path: Path) -> ExperienceResult:
    return quem.analyze(quem.load_study(path, kind="experience"))


FAILED = [{"problem": "P1", "solver": "S6", "reason": "failed"}]


@pytest.mark.parametrize(
    ("end", "missing"),
    [("failed,", []), (" Failed ,", []), (",failed", []), (None, FAILED), ("-,", FAILED)],
)
def test_a_failed_solution_is_tied_last_in_its_group(
    end: str | None, missing: list[dict[str, str]], make_study: Callable[..., Path]
) -> None:
    """A failure said in a rank, in a reason or in the study is the worst of its group."""
    lines = long_csv().replace("\n", ",\n").replace("rank,", "rank,reason").splitlines()
    lines = [f"{line[:9]}{end}" if ",P1,S6," in line else line for line in lines]
    table = "\n".join(line for line in lines if not line.endswith("None"))
    ranks = analyzed(make_study(study_with(missing=missing), rankings__csv=table)).ranks
    assert ranks is not None
    here = ranks[ranks["problem"] == "P1"].set_index(["judge", "solver"])["adjusted_rank"]
    first = {"S6": 1, "S1": 2, "S2": 4, "S3": 3, "S4": 5, "S5": 7, "sys": 6}
    assert here["J1"].to_dict() == first
    assert here["J2", "S6"] == 1


def occasions(rows: Sequence[tuple[Cell, int, object]]) -> str:
    """A long table with a column of occasions."""
    lines = [",".join(map(str, (*cell, occasion, rank))) for cell, occasion, rank in rows]
    return "\n".join(["judge,problem,solver,occasion,rank", *lines]) + "\n"


def test_what_is_ranked_again_counts_once(make_study: Callable[..., Path]) -> None:
    """The first occasion of a group counts, else its earliest, with a warning."""
    plain = analyzed(make_study(study_with())).estimates
    group, first = ("J2", "P1"), [(cell, 1, rank) for cell, rank in RANKS.items()]
    again = [(("J1", "P1", solver), 2, rank) for solver, rank in (("S1", 2), ("S4", 1), ("sys", 3))]
    late = [(cell, 3 if cell[:2] == group else 1, rank) for cell, _, rank in first]
    late += [(cell, 4, 8 - int(rank)) for cell, _, rank in first if cell[:2] == group]
    for rows, told in (
        (first + again, []),
        (late, ["J2 on P1 (occasion 3) has no first occasion"]),
    ):
        result = analyzed(make_study(study_with(), rankings__csv=occasions(rows)))
        doubts = [d.message for d in result.warnings if d.code == "first-occasion-missing"]
        assert [message.partition(";")[0] for message in doubts] == told
        assert result.estimates["paper_experience"].equals(plain["paper_experience"])


def test_a_solution_ranked_only_later_is_told(make_study: Callable[..., Path]) -> None:
    """Its rank does not count, which a wrong number in the column would hide."""
    rows = [(c, 2 if c == ("J1", "P1", "S3") else 1, rank) for c, rank in RANKS.items()]
    result = analyzed(make_study(study_with(), rankings__csv=occasions(rows)))
    (doubt,) = [d.message for d in result.warnings if d.code == "first-occasion-missing"]
    assert doubt.startswith("S3 by J1 on P1 is ranked on a later occasion only")
    assert result.averages.set_index("solver").loc["S3", "n_ranks"] == 3
