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
from tests.examples import JUDGES, PROBLEMS, RANKS, long_csv, study_with

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
TWO_BLOCKS = "judge,problem,solver,rank,block\n" + "".join(
    f"{','.join(cell)},{rank},{1 + (cell[2] in SECOND_BLOCK[cell[1]])}\n"
    for cell, rank in RANKS.items()
)
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
        "only average ranks are available",
        {"rankings": AVERAGES},
        "solver,average_rank\nS1,1\nS2,2.5\nS3,3\nS4,4\nS5,5\nS6,7\nsys,4.5\n",
    ),
    Case(
        "unequal-groups",
        "1 group of 6 and 3 groups of 7 solutions",
        table=PLAIN.replace("J1,P1,S5,7\n", ""),
    ),
    Case("blocks", "judged in blocks", table=TWO_BLOCKS),
    Case("plackett-luce", "single ranks have no score", {"analysis": {"score": "pl"}}),
    Case(
        "always-above",
        "S6 was always ranked above all others it was compared with; S1 was always ranked below",
        {"analysis": {"score": "pl"}},
        table=ranked(*ORDERLY),
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
        "decreases as quality increases",
        table=ranked(*reversed(ORDERLY)),
    ),
    Case(
        "not-significant",
        "is not significant (p = ",
        table=ranked("S3", "S6", "S1", "sys", "S5", "S2", "S4"),
    ),
    Case("form-chosen", "was selected by AICc", {"analysis": {"form": "auto"}}),
    Case(
        "outside-range",
        "sys is above the subjects' range",
        table=ranked("S1", "S3", "S2", "S4", "S5", "S6", "sys"),
    ),
    Case(
        "negative-estimate",
        "the estimate for sys is negative (−",
        table=ranked("sys", "S1", "S2", "S3", "S4", "S5", "S6"),
    ),
    Case(
        "fewer-problems",
        "sys was ranked on 1 of 2 problems",
        table="".join(r for r in PLAIN.splitlines(keepends=True) if "P2,sys" not in r),
    ),
    Case(
        "fewer-judges",
        "sys was ranked by 1 of 2 judges (J1); its interval is widened from ±",
        table="".join(r for r in PLAIN.splitlines(keepends=True) if not re.match("J2,.*,sys", r)),
    ),
    Case(
        "no-interval",
        "form quadratic has no calibration interval",
        {"analysis": {"form": "quadratic", "interval": "calibration"}},
    ),
    Case(
        "no-interval",
        "is unbounded, because the slope is not significant at the 0.0001% level",
        {"analysis": {"interval": "calibration", "level": 0.999999}},
    ),
    Case(
        "decisive-judge",
        "without judge J2 the estimate for sys is",
        table=ranked("sys", *(s for s in ORDERLY if s != "sys"), judges=("J1",))
        + ranked(*(s for s in ORDERLY if s != "sys"), "sys", judges=("J2",)).split("\n", 1)[1],
    ),
    Case(
        "decisive-subject",
        "without subject S6 the estimate for sys is",
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
        "one-judge",
        "only one judge ranked",
        {"judges": [{"id": "J1"}]},
        ranked("S1", "S3", "S2", "S4", "sys", "S5", "S6", judges=("J1",)),
    ),
    Case(
        "judges-disagree",
        "judges disagree on P1 (−1.00): mean Spearman correlation below 0.25",
        table=PLAIN.split("J2,P1")[0]
        + "".join(f"J2,P1,{s},{8 - int(RANKS['J1', 'P1', s])}\n" for s in sorted(ORDERLY))
        + PLAIN[PLAIN.index("J2,P2") :],
    ),
    Case(
        "pairs-sampled",
        "means over pairs of a random sample of the judges",
        {
            "judges": [{"id": name} for name in MANY],
            "analysis": {"bootstrap": 0, "permutations": 0},
        },
        ranked(*ORDERLY, judges=MANY).replace("J1,P1,S5,6\n", "").replace("J1,P2,S5,6\n", ""),
    ),
    Case(
        "judge-reversed",
        "J1's order runs against the other judges' (r = −0.96, −0.99 to −0.77) and against",
        {"judges": [{"id": name} for name in ("J1", "J2", "J3")]},
        table=ranked(*reversed(ORDERLY), judges=("J1",))
        + ranked("S1", "S3", "S2", "sys", "S4", "S5", "S6", judges=("J2", "J3")).split("\n", 1)[1],
    ),
    Case(
        "judge-misfit",
        "J3 ranks unlike the other judges: the mean squared difference from the others' mean rank",
        {"judges": [{"id": name} for name in ("J1", "J2", "J3")]},
        table=ranked(*ORDERLY)
        + ranked("S3", "S1", "S2", "S6", "sys", "S5", "S4", judges=("J3",)).split("\n", 1)[1],
    ),
    Case(
        "veteran",
        "S6 has 40 years of experience, and the next subject 9, which is more than half",
        {"subjects": [*SUBJECTS[:5], {"id": "S6", "experience": 40}]},
    ),
    Case(
        "outlying-subject",
        "S1 lies far from the skill function of the others: 30 years of experience",
        {
            "rankings": AVERAGES,
            "subjects": [
                {"id": f"S{i}", "experience": e}
                for i, e in enumerate((30, 8, 12, 16, 20, 24, 28, 32), 1)
            ],
        },
        "solver,average_rank\nS1,1\n"
        + "".join(f"S{i},{i + i % 2 / 10}\n" for i in range(2, 9))
        + "sys,5\n",
    ),
    Case(
        "ignored-column",
        "the column 'note' is not read",
        table=PLAIN.replace("\n", ",x\n").replace("rank,x", "rank,note"),
    ),
)


def warnings_of(path: Path, **settings: object) -> dict[str, str]:
    """Give the messages of a study's warnings by code."""
    analysis = quem.analyze(quem.load_study(path), **settings)
    return {doubt.code: doubt.message for doubt in analysis.warnings}


def test_the_example_has_no_doubts(make_study: Callable[..., Path]) -> None:
    """The study that the cases spoil shows none of the doubts by itself."""
    assert warnings_of(make_study(study_with())) == {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_doubt_is_told_in_every_output(
    case: Case,
    make_study: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A doubt is in the analysis, its summary, its JSON, and on stderr of each command."""
    path = case.write(make_study)
    analysis = quem.analyze(quem.load_study(path), bootstrap=0)
    codes = {doubt.message: doubt.code for doubt in analysis.warnings}
    (message,) = (message for message in codes if case.message in message)
    assert codes[message] == case.code
    assert f"{case.code}: " in analysis.summary()
    line = f"warning: {case.code}: {message}\n"
    for words in (["check", str(path)], ["analyze", str(path), "--json", "--bootstrap", "0"]):
        monkeypatch.setattr(sys, "argv", ["quem", *words])
        with pytest.raises(SystemExit) as end:
            run()
        out, err = capsys.readouterr()
        assert end.value.code == 0
        assert line in err
    assert {"code": case.code, "message": message} in json.loads(out)["warnings"]


def test_what_is_too_large_is_told_as_left_out(make_study: Callable[..., Path]) -> None:
    """A study beyond the size for agreement and bootstrap says what is missing."""
    size = {"judges": 3000, "problems": 1000}
    declared = {
        section: [{"id": f"{section[0].upper()}{i}"} for i in range(1, n + 1)]
        for section, n in size.items()
    }
    warnings = warnings_of(make_study(study_with(**declared)))
    assert {"too-large", "bootstrap-approximate"} <= set(warnings)
    assert warnings["not-in-rankings"].startswith("judge J3, judge J4")
    gaps = make_study(study_with(**declared), rankings__csv=PLAIN.replace("J1,P1,S6,6\n", ""))
    assert "too-large" in warnings_of(gaps)


def test_a_poor_bootstrap_is_told(make_study: Callable[..., Path]) -> None:
    """Replicates that were discarded for want of different averages are counted."""
    path = make_study(
        study_with(subjects=SUBJECTS[:3]), rankings__csv=ranked("S1", "S2", "sys", "S3")
    )
    warnings = warnings_of(path, bootstrap=200)
    assert "of 200 bootstrap replicates were discarded" in warnings["bootstrap-discarded"]
    assert "bootstrap-discarded" not in warnings_of(path, bootstrap=0)
