"""Decisions on pairs say what blocks of two say, in CSV and in Parquet."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner
from pyarrow import Table, parquet

import quem
from quem.cli import main
from tests.examples import JUDGES, PROBLEMS, RECORDS, SOLVERS, mistakes_of, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from quem.parts.result import ExperienceResult

COLUMNS = ("judge", "problem", "winner", "loser", "tie")
KEYS = ("averages", "skill", "estimates", "worths")
Row = tuple[str, str, str, str, str]


def decided(seed: int = 0, rounds: int = 2) -> list[Row]:
    """Decisions on all pairs by judges who see noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for judge in JUDGES:
        for problem in PROBLEMS:
            for (i, a), (j, b) in list(combinations(enumerate(SOLVERS), 2)) * rounds:
                lead = i - j + rng.logistic(scale=1.5)
                winner, loser = (a, b) if lead > 0 else (b, a)
                rows.append((judge, problem, winner, loser, "x" if abs(lead) < 0.5 else ""))
    return rows


def csv(rows: list[Row], *more: str) -> str:
    return "\n".join([",".join((*COLUMNS, *more)), *map(",".join, rows)]) + "\n"


@pytest.fixture
def analyzed(make_study: Callable[..., Path]) -> Callable[..., ExperienceResult]:
    """Analyze the example with a table of decisions, or with ranks."""

    def analyzed(decisions: str | None = None, **files: str) -> ExperienceResult:
        if decisions is not None:
            source = {"from": "decisions", "file": "decisions.csv"}
            path = make_study(study_with(rankings=source), decisions__csv=decisions)
        else:
            path = make_study(study_with(), **files)
        return quem.analyze(quem.load_study(path, kind="experience"))

    return analyzed


def near(one: ExperienceResult, other: ExperienceResult) -> bool:
    """Whether two results have the same numbers, to rounding."""
    numbers = [[_numbers(result.to_dict()[key]) for key in KEYS] for result in (one, other)]
    for first, second in zip(*numbers, strict=True):
        assert first == pytest.approx(second, rel=1e-6, abs=1e-6, nan_ok=True)
    return bool(numbers[0][0])


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [n for key, one in value.items() for n in _numbers(one) if key != "message"]
    if isinstance(value, list):
        return [n for one in value for n in _numbers(one)]
    return [float(value)] if isinstance(value, int | float) else []


def test_decisions_are_blocks_of_two(analyzed: Callable[..., ExperienceResult]) -> None:
    rows = decided()
    ranks = ["judge,problem,block,solver,rank"]
    for block, (judge, problem, winner, loser, tie) in enumerate(rows, 1):
        ranks.append(f"{judge},{problem},{block},{winner},{1 if tie else 2}")
        ranks.append(f"{judge},{problem},{block},{loser},1")
    pairs = analyzed(csv(rows))
    checked = CliRunner().invoke(main, ["check", str(pairs.study.path)])
    assert checked.exit_code == 0
    assert f"{len(rows)} decisions" in checked.output
    assert near(pairs, analyzed(rankings__csv="\n".join(ranks)))
    assert pairs.to_dict()["worths"]["n_rankings"] == len(rows)
    assert f"{len(rows)} decisions" in pairs.summary()
    assert "judges compared pairs" in str(pairs.warnings)
    assert pairs.ranks is None
    frame = pairs.study.rankings
    assert frame is not None
    assert frame[["winner", "loser"]].to_numpy().tolist() == [list(row[2:4]) for row in rows]


def test_counts_stand_for_rows(analyzed: Callable[..., ExperienceResult]) -> None:
    """A row with a count says what that many rows say; order and orientation do not matter."""
    rows = decided(1, rounds=1)
    thrice = csv([row for row in rows for _ in range(3)])
    counted = [(*row[:2], row[3], row[2], "x,3") if row[4] else (*row[:4], ",3") for row in rows]
    repeated, once = analyzed(thrice), analyzed(csv(counted[::-1], "count"))
    assert near(repeated, once)
    codes = [{warning.code for warning in result.warnings} for result in (repeated, once)]
    assert ["repeated-decisions" in each for each in codes] == [True, False]


def test_parquet(
    make_study: Callable[..., Path],
    analyzed: Callable[..., ExperienceResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A Parquet file says what CSV says, and what is wrong by row; without pyarrow, what to do."""
    rows = decided(3)
    plain = analyzed(csv(rows))
    table = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    file = tmp_path / "decisions.parquet"
    parquet.write_table(
        Table.from_pydict(table | {"tie": [tie == "x" for tie in table["tie"]]}), file
    )
    path = make_study(study_with(rankings={"from": "decisions", "file": file.name}))
    documents = [plain.to_dict(), quem.analyze(quem.load_study(path)).to_dict()]
    for document in documents:
        del document["warnings"]  # some name the file
    assert json.dumps(documents[0]) == json.dumps(documents[1])
    wrong = table | {"loser": ["S9", None, *table["loser"][2:]]}
    parquet.write_table(Table.from_pydict(wrong), file)
    assert [" ".join(mistake.split()[:3]) for mistake in mistakes_of(path)] == [
        "decisions.parquet:2:4: loser: is",
        "decisions.parquet:1:4: loser: unknown",
    ]
    file.write_text("judge,problem")
    (mistake,) = mistakes_of(path)
    assert mistake.startswith("decisions.parquet: cannot be read as Parquet")
    parquet.write_table(Table.from_pylist(RECORDS), tmp_path / "ranks.parquet")
    plain = analyzed()
    path = make_study(study_with(rankings="ranks.parquet"))
    assert repr(quem.analyze(quem.load_study(path)).to_dict()) == repr(plain.to_dict())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "quem[parquet]" in mistakes_of(path)[0]
