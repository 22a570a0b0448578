"""Decisions on pairs say what blocks of two say, and wrong ones are named all at once."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import quem
from quem.cli import main
from quem.errors import QuemError
from tests.examples import JUDGES, PROBLEMS, RANKS, SOLVERS, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DECIDED = {"from": "decisions", "file": "decisions.csv"}
Row = tuple[str, str, str, str, str]


def decided(seed: int = 0, rounds: int = 2) -> list[Row]:
    """Decisions on all pairs by judges who see noise: judge, problem, winner, loser, tie."""
    rng = np.random.default_rng(seed)
    rows = []
    for judge in JUDGES:
        for problem in PROBLEMS:
            for (i, a), (j, b) in list(combinations(enumerate(SOLVERS), 2)) * rounds:
                lead = i - j + rng.logistic(scale=1.5)
                winner, loser = (a, b) if lead > 0 else (b, a)
                rows.append((judge, problem, winner, loser, "x" if abs(lead) < 0.5 else ""))
    return rows


def csv(rows: list[Row], header: str = "judge,problem,winner,loser,tie") -> str:
    """Write decisions as a table."""
    return "\n".join([header, *map(",".join, rows)]) + "\n"


def test_decisions_are_blocks_of_two(make_study: Callable[..., Path]) -> None:
    """The same decisions as rankings of two solutions give the same numbers, to rounding."""
    rows = decided()
    ranks = ["judge,problem,block,solver,rank"]
    for block, (judge, problem, winner, loser, tie) in enumerate(rows, 1):
        ranks.append(f"{judge},{problem},{block},{winner},{1 if tie else 2}")
        ranks.append(f"{judge},{problem},{block},{loser},1")
    path = make_study(study_with(rankings=DECIDED), decisions__csv=csv(rows))
    pairs = quem.analyze(quem.load_study(path, kind="experience"))
    study = make_study(study_with(), rankings__csv="\n".join(ranks))
    blocks = quem.analyze(quem.load_study(study, kind="experience"))
    one, other = pairs.to_dict(), blocks.to_dict()
    for key in ("averages", "skill", "estimates", "worths"):
        assert _numbers(one[key]) == _near(other[key])
    assert one["worths"]["n_rankings"] == len(rows)
    assert f"{len(rows)} decisions" in pairs.summary()
    assert "judges compared pairs" in str(pairs.warnings)
    assert pairs.ranks is None
    frame = pairs.study.rankings
    assert frame is not None
    assert frame[["winner", "loser"]].to_numpy().tolist() == [list(row[2:4]) for row in rows]


def _near(value: object) -> object:
    return pytest.approx(_numbers(value), rel=1e-6, abs=1e-6, nan_ok=True)


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [n for key, one in value.items() for n in _numbers(one) if key != "message"]
    if isinstance(value, list):
        return [n for one in value for n in _numbers(one)]
    return [float(value)] if isinstance(value, int | float) else []


MISTAKES = {
    "unknown ids": ("J1,P1,S1,S9,\nJ3,P1,S1,S2,", ["unknown solver 'S9'", "unknown judge 'J3'"]),
    "unknown problem": ("J1,P7,S1,S2,", [":2:2: problem: unknown problem 'P7'"]),
    "itself": (
        "J1,P1,S1,S1,\nJ1,P2,S1,S1,",
        [":2:4: loser: S1 cannot win against itself", "(and on 1 more line)"],
    ),
    "empty": ("J1,P1,S1,,\n,,,,\nJ1,P1,S1,S2,", [":2:4: loser: is empty; add the loser"]),
    "no mark": ("J1,P1,S1,S2,maybe", ["'maybe' is not a mark; write 1 where the two tie"]),
    "nothing": ("", ["holds no decisions below the header; write one line per decision"]),
    "absent": ("J1,P2,S1,S2,", [":2:4: loser: the study declares S2's solution of P2 absent"]),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_name_place_and_remedy(case: str, make_study: Callable[..., Path]) -> None:
    """All mistakes of a file come at once."""
    body, messages = MISTAKES[case]
    missing = [{"problem": "P2", "solver": "S2"}]
    study = study_with(rankings=DECIDED, missing=missing)
    header = "judge,problem,winner,loser,tie\n"
    path = make_study(study, decisions__csv=header + body)
    with pytest.raises(QuemError) as caught:
        quem.load_study(path)
    for message in messages:
        assert message in str(caught.value)


def test_check_counts_decisions(make_study: Callable[..., Path]) -> None:
    """`quem check` counts decisions, and ends with 1 and one message for a wrong file."""
    rows = decided()
    path = make_study(study_with(rankings=DECIDED), decisions__csv=csv(rows))
    ran = CliRunner().invoke(main, ["check", str(path)])
    assert ran.exit_code == 0
    assert f"{len(rows)} decisions" in ran.output
    apart = "judge,problem,winner,loser\nJ1,P1,S1,S2\nJ1,P1,S3,S4\nJ1,P1,S5,sys\n"
    path = make_study(study_with(rankings=DECIDED), decisions__csv=apart)
    with pytest.raises(QuemError, match="fall into parts that were never compared"):
        quem.analyze(quem.load_study(path))


def test_parquet(make_study: Callable[..., Path], tmp_path: Path) -> None:
    """A Parquet file says what CSV says, of decisions and of ranks, and what is wrong by row."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = decided(3)
    names = ("judge", "problem", "winner", "loser", "tie")
    table = {
        name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    parquet.write_table(
        pa.table(table | {"tie": [bool(tie) for tie in table["tie"]]}),
        tmp_path / "decisions.parquet",
    )
    plain = make_study(study_with(rankings=DECIDED), decisions__csv=csv(rows))
    expected = _without_warnings(quem.analyze(quem.load_study(plain)).to_dict())
    source = {"from": "decisions", "file": "decisions.parquet"}
    path = make_study(study_with(rankings=source))
    found = _without_warnings(quem.analyze(quem.load_study(path)).to_dict())
    assert json.dumps(found) == json.dumps(expected)
    parquet.write_table(
        pa.table(table | {"loser": ["S9", None, *table["loser"][2:]]}),
        tmp_path / "decisions.parquet",
    )
    with pytest.raises(QuemError) as caught:
        quem.load_study(path)
    assert "decisions.parquet:1:4: loser: unknown solver 'S9'" in str(caught.value)
    assert "decisions.parquet:2:4: loser: is empty" in str(caught.value)
    (tmp_path / "decisions.parquet").write_text("judge,problem")
    with pytest.raises(QuemError, match="cannot be read as Parquet"):
        quem.load_study(path)
    ranks = [{"judge": j, "problem": p, "solver": s, "rank": r} for (j, p, s), r in RANKS.items()]
    parquet.write_table(pa.Table.from_pylist(ranks), tmp_path / "ranks.parquet")
    path = make_study(study_with(rankings="ranks.parquet"))
    of_parquet = quem.analyze(quem.load_study(path)).to_dict()
    same = make_study(study_with())
    assert repr(of_parquet) == repr(quem.analyze(quem.load_study(same)).to_dict())


def _without_warnings(document: dict[str, Any]) -> dict[str, Any]:
    """Some of which name the file."""
    return {key: value for key, value in document.items() if key != "warnings"}


def test_parquet_needs_pyarrow(
    make_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, one message names the extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = make_study(study_with(rankings="ranks.parquet"), ranks__parquet=b"PAR1")
    with pytest.raises(QuemError, match=r'run pip install "quem\[parquet\]", or save the rankings'):
        quem.load_study(path)


def test_counts_stand_for_rows(make_study: Callable[..., Path]) -> None:
    """A row with a count says what that many rows say; order and orientation do not matter."""
    rows = decided(1, rounds=1)
    thrice = [row for row in rows for _ in range(3)]
    counted = [(*row[:2], row[3], row[2], "x,3") if row[4] else (*row[:4], ",3") for row in rows]
    documents = []
    for table in (csv(thrice), csv(counted[::-1], "judge,problem,winner,loser,tie,count")):
        path = make_study(study_with(rankings=DECIDED), decisions__csv=table)
        result = quem.analyze(quem.load_study(path, kind="experience"))
        documents.append(result.to_dict())
        codes = {warning.code for warning in result.warnings}
        assert ("repeated-decisions" in codes) == (table == csv(thrice))
    one, other = documents
    for key in ("averages", "skill", "estimates", "worths"):
        assert _numbers(one[key]) == _near(other[key])
