"""Long, wide and PrefLib say the same; averages say less."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from tests.examples import JUDGES, PROBLEMS, RANKS, SOLVERS, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS = [(judge, problem) for judge in JUDGES for problem in PROBLEMS]


def wide(*header: str, separator: str = ",") -> str:
    """Write the example as a wide table below the given header."""
    rows = [
        separator.join(
            [solver, *(str(RANKS[judge, problem, solver]) for judge, problem in COLUMNS)]
        )
        for solver in SOLVERS
    ]
    return "\n".join([*header, *rows])


def preflib(problem: str) -> str:
    """Write one problem of the example as PrefLib does: an order a judge, best first."""
    lines = [f"# FILE NAME: {problem}.toc", f"# NUMBER ALTERNATIVES: {len(SOLVERS)}"]
    lines += [f"# ALTERNATIVE NAME {i}: {solver}" for i, solver in enumerate(SOLVERS, 1)]
    for judge in JUDGES:
        rank = {str(i): int(RANKS[judge, problem, s]) for i, s in enumerate(SOLVERS, 1)}
        best_first = sorted(rank, key=lambda i: -rank[i])
        groups = [list(group) for _, group in groupby(best_first, key=rank.__getitem__)]
        order = [g[0] if len(g) == 1 else "{" + ",".join(g) + "}" for g in groups]
        lines.append(f"1: {','.join(order)}")
    return "\n".join(lines) + "\n"


def estimates(path: Path) -> list[list[float]]:
    """Give every number of the estimates of a study."""
    analysis = quem.analyze(quem.load_study(path, kind="experience"))
    table = analysis.estimates.select_dtypes("number")
    numbers: list[list[float]] = table.fillna(-1.0).to_numpy().tolist()
    return numbers


RECORDS = [
    {"judge": judge, "problem": problem, "solver": solver, "rank": rank}
    for (judge, problem, solver), rank in RANKS.items()
]
LAYOUTS: dict[str, tuple[object, dict[str, str]]] = {
    "two header rows": ("wide", {"t__csv": wide("solver,J1,,J2,", ",P1,P2,P1,P2")}),
    "every cell named": ("wide", {"t__csv": wide(",J1,J1,J2,J2", "solver,P1,P2,P1,P2")}),
    "one header row": ("wide", {"t__csv": wide("solver,J1:P1,J1:P2,J2:P1,J2:P2")}),
    "padded header": ("wide", {"t__csv": wide("solver, J1 : P1,J1: P2 ,J2 :P1,J2:P2")}),
    "semicolons": ("wide", {"t__csv": wide("x;J1;;J2;", ";P1;P2;P1;P2", separator=";")}),
    "one file name": ("t.csv", {}),
    "json lines": ("t.jsonl", {"t__jsonl": "\n".join(map(json.dumps, RECORDS))}),
    "json": ("t.json", {"t__json": json.dumps(RECORDS, indent=1)}),
    "preflib": (
        [{"file": "p1.toc", "problem": "P1"}, {"file": "p2.TOI", "problem": "P2"}],
        {"p1__toc": preflib("P1"), "p2__TOI": preflib("P2")},
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_a_study_gives_the_same_estimates(
    layout: str, tmp_path: Path, make_study: Callable[..., Path]
) -> None:
    """Long, wide and PrefLib files of one study agree in every number."""
    source, files = LAYOUTS[layout]
    plain = estimates(make_study(study_with()))
    if source == "wide":
        source = {"from": "wide", "file": "t.csv"}
    elif isinstance(source, str):
        (tmp_path / "t.csv").write_bytes((tmp_path / "rankings.csv").read_bytes())
    assert estimates(make_study(study_with(rankings=source), **files)) == plain
    assert len(plain) == 1


@pytest.mark.parametrize(
    ("table", "place", "message"),
    [
        (wide("solver,J1,,J9,", ",P1,P2,P1,P2"), (1, 4, "judge"), "unknown judge 'J9'"),
        (wide("solver,J1,,J2,", ",P1,Q,P1,P2"), (2, 3, "problem"), "unknown problem 'Q'"),
        (wide("solver,J1:P1,J1:Q,J2:P1,J2:P2"), (1, 3, "problem"), "unknown problem 'Q'"),
        (wide("solver,J1,,J2,", ",P1,P1,P1,P2"), (2, 3, "problem"), "J1:P1 is already in column 2"),
        (wide("s,J1,,J2,", ",P1,P2,P1,P2").replace("S3", "S9"), (5, 1, "solver"), "solver 'S9'"),
        (wide("s,J1,,J2,", ",P1,P2,P1,P2").replace("S3,", ","), (5, 1, "solver"), "is empty"),
        (wide("s,J1,,J2,", ",P1,P2,P1,P2").replace("S3,2", "S3,b"), (5, 2, "rank"), "'b' is not"),
        (wide("s,J1,,J2,", ",P1,P2,P1,P2").replace("S3", "S2"), (5, 1, "solver"), "on line 4"),
    ],
)
def test_mistakes_of_a_wide_table_name_the_cell(
    table: str, place: tuple[int, int, str], message: str, make_study: Callable[..., Path]
) -> None:
    """A mistake in a wide table names the header cell or the cell of the row."""
    source = {"from": "wide", "file": "t.csv"}
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(rankings=source), t__csv=table), kind="experience")
    first = caught.value.mistakes[0]
    assert (first.line, first.column, first.key) == place
    assert message in first.message


@pytest.mark.parametrize(
    ("table", "place", "message"),
    [
        ("solver,average_rank\nS1,1\nS1,2\n", (3, 1), "S1 is already on line 2"),
        ("solver,average_rank\nS9,1\n", (2, 1), "unknown solver 'S9'"),
        ("solver,average_rank\nS1,x\n", (2, 2), "'x' is not a number"),
        ("solver,rank\nS1,1\n", (1, 0), "column 'average_rank' not found"),
    ],
)
def test_mistakes_of_averages_name_the_cell(
    table: str, place: tuple[int, int], message: str, make_study: Callable[..., Path]
) -> None:
    """Averages are checked like ranks."""
    source = {"from": "averages", "file": "a.csv"}
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(rankings=source), a__csv=table), kind="experience")
    first = caught.value.mistakes[0]
    assert (first.line, first.column) == place
    assert message in first.message


@pytest.mark.parametrize(
    ("name", "change", "place", "message"),
    [
        ("t.json", {"rank": "x"}, (14, "rank"), "'x' is not a number"),
        ("t.json", {"rank": [1]}, (14, "rank"), "must be a text or a number"),
        ("t.jsonl", {"solver": "S9"}, (3, "solver"), "unknown solver 'S9'"),
        ("t.jsonl", {"rnk": 1}, (3, "rnk"), "unknown key; did you mean rank?"),
    ],
)
def test_mistakes_in_json_name_the_line(
    name: str,
    change: dict[str, object],
    place: tuple[int, str],
    message: str,
    make_study: Callable[..., Path],
) -> None:
    """A record that is wrong is named by the line on which it begins."""
    records = [*RECORDS[:2], RECORDS[2] | change, *RECORDS[3:]]
    text = (
        json.dumps(records, indent=1) if name == "t.json" else "\n".join(map(json.dumps, records))
    )
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(rankings=name), **{name.replace(".", "__"): text}))
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.key) == place
    assert message in mistake.message
