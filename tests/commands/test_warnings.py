"""Every doubt: a study that shows it, one that does not, and every place that tells it."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.cli import run
from tests.examples import JUDGES, PROBLEMS, long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAIN = long_csv()
SUBJECTS = study_with()["subjects"]


@dataclass(frozen=True)
class Case:
    """A study that shows a doubt, and what the doubt has to say."""

    code: str
    message: str
    study: dict[str, Any] = field(default_factory=dict)
    table: str = PLAIN

    def write(self, make_study: Callable[..., Path]) -> Path:
        """Write the study."""
        return make_study(study_with(**self.study), rankings__csv=self.table)


def ranked(*solvers: str, judges: tuple[str, ...] = JUDGES) -> str:
    """Rank solvers as they are named, worst first, by every judge on every problem."""
    cells = {(j, p, s): i for j in judges for p in PROBLEMS for i, s in enumerate(solvers, 1)}
    return long_csv(cells)


ORDERLY = ("S1", "S2", "S3", "sys", "S4", "S5", "S6")
AVERAGES = {"from": "averages", "file": "rankings.csv"}
OUTLIER = (2.0, 2.1, 2.2, 2.3, 2.4, 9.0)
SECOND_BLOCK = {"P1": ("S1", "S2", "S3"), "P2": ("S1", "S4", "S6")}


def in_blocks(table: str) -> str:
    """Some of the solvers of each problem are in its second block."""
    head, *lines = table.splitlines()
    cells = (line.split(",") for line in lines)
    rows = (f"{','.join(cell)},{1 + (cell[2] in SECOND_BLOCK[cell[1]])}" for cell in cells)
    return "\n".join([f"{head},block", *rows]) + "\n"


MANY = tuple(f"J{i}" for i in range(1, 711))

CASES = (
    Case("rank-gap", "J1's ranking of P1 skips rank 6", table=PLAIN.replace("S6,6", "S6,8", 1)),
    Case(
        "judge-less-experienced",
        "judge J2 (10 years) has less experience than S6 (12 years); judges should",
        {"judges": [{"id": "J1", "experience": 20}, {"id": "J2", "experience": 10}]},
    ),
    Case(
        "few-subjects",
        "only 4 subjects have ranks",
        {"subjects": SUBJECTS[:4]},
        ranked("S1", "S2", "sys", "S3", "S4"),
    ),
    Case("no-ranks", "S7 has no ranks", {"subjects": [*SUBJECTS, {"id": "S7", "experience": 3}]}),
    Case(
        "no-system",
        "no system has ranks",
        {"systems": []},
        ranked("S1", "S3", "S2", "S4", "S5", "S6"),
    ),
    Case(
        "many-systems",
        "4 systems among 6 subjects shift",
        {"systems": [{"id": name} for name in ("sys", "b", "c", "d")]},
        ranked("S1", "b", "S3", "c", "sys", "S2", "S4", "d", "S5", "S6"),
    ),
    Case(
        "assisted",
        "assisted solvers keep their rank positions",
        {"assisted": [{"id": "S1+sys", "by": "sys", "person": "S1"}]},
    ),
    Case(
        "averages-only",
        "only average ranks are known",
        {"rankings": AVERAGES},
        "solver,average_rank\nS1,1\nS2,2.5\nS3,3\nS4,4\nS5,5\nS6,7\nsys,4.5\n",
    ),
    Case(
        "unequal-groups",
        "1 group of 6 and 3 groups of 7 solutions",
        table=PLAIN.replace("J1,P1,S5,7\n", ""),
    ),
    Case("blocks", "judged in blocks", table=in_blocks(PLAIN)),
    Case(
        "always-above",
        "S6 was always ranked above all others it was compared with; S1 was always ranked below",
        table=in_blocks(ranked(*ORDERLY)),
    ),
    Case(
        "not-in-rankings",
        "judge J3 and problem P3 are not in the rankings",
        {
            "judges": [{"id": name} for name in ("J1", "J2", "J3")],
            "problems": [{"id": name} for name in ("P1", "P2", "P3")],
        },
    ),
    Case(
        "decreasing-skill-function",
        "average rank falls with the subjects' experience",
        table=ranked(*reversed(ORDERLY)),
    ),
    Case(
        "not-significant",
        "average rank does not clearly rise with the subjects' experience (p = ",
        table=ranked("S3", "S1", "S6", "sys", "S5", "S2", "S4"),
    ),
    Case(
        "uneven-system",
        "sys was ranked on 1 of 2 problems only",
        table="".join(r for r in PLAIN.splitlines(keepends=True) if "P2,sys" not in r),
    ),
    Case(
        "uneven-system",
        "Only 1 of 2 judges ranked sys",
        table="".join(r for r in PLAIN.splitlines(keepends=True) if not re.match("J2,.*,sys", r)),
    ),
    Case(
        "decisive",
        "without judge J2 the paper's estimate for sys is",
        table=ranked("S1", "S2", "S3", "sys", "S4", "S5", "S6", judges=("J1",))
        + ranked("S1", "S2", "S4", "S3", "S5", "sys", "S6", judges=("J2",)).split("\n", 1)[1],
    ),
    Case(
        "decisive",
        "without subject S6 the paper's estimate for sys is",
        {
            "rankings": AVERAGES,
            "subjects": [
                {"id": f"S{i}", "experience": e} for i, e in enumerate((1, 2, 1, 2, 1, 30), 1)
            ],
        },
        "solver,average_rank\n"
        + "".join(f"S{i},{a}\n" for i, a in enumerate(OUTLIER, 1))
        + "sys,8\n",
    ),
    Case(
        "judge-reversed",
        "J1's order runs against the other judges' (r = −0.96, −0.99 to −0.77) and against",
        {"judges": [{"id": name} for name in ("J1", "J2", "J3")]},
        table=ranked(*reversed(ORDERLY), judges=("J1",))
        + ranked("S1", "S3", "S2", "sys", "S4", "S5", "S6", judges=("J2", "J3")).split("\n", 1)[1],
    ),
    Case(
        "ignored-column",
        "the column 'note' is not read",
        table=PLAIN.replace("\n", ",x\n").replace("rank,x", "rank,note"),
    ),
)


def warnings_of(path: Path) -> dict[str, str]:
    """Give the messages of a study's warnings by code."""
    analysis = quem.analyze(quem.load_study(path))
    return {doubt.code: doubt.message for doubt in analysis.warnings}


def test_the_example_has_no_doubts(make_study: Callable[..., Path]) -> None:
    """The study that the cases spoil shows none of the doubts by itself."""
    assert warnings_of(make_study(study_with())).keys() <= {"no-reference", "decisive"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_doubt_is_told_in_every_output(
    case: Case,
    make_study: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A doubt is in the analysis, its summary, its JSON, and on stderr of each command."""
    path = case.write(make_study)
    analysis = quem.analyze(quem.load_study(path))
    codes = {doubt.message: doubt.code for doubt in analysis.warnings}
    (message,) = (message for message in codes if case.message in message)
    assert codes[message] == case.code
    assert f"{case.code}: " in analysis.summary()
    line = f"warning: {case.code}: {message}\n"
    for words in (["check", str(path)], ["analyze", str(path), "--json"]):
        monkeypatch.setattr(sys, "argv", ["quem", *words])
        with pytest.raises(SystemExit) as end:
            run()
        out, err = capsys.readouterr()
        assert end.value.code == 0
        assert line in err
    assert {"code": case.code, "message": message} in json.loads(out)["warnings"]
