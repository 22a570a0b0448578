"""Solutions that nobody ranked: absent, failed, or seen for the second time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from tests.examples import long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAIN = long_csv()
HELD = "J1,P1,S6,6\n"


def adjusted(path: Path, judge: str = "J1") -> dict[str, float]:
    """Give the adjusted ranks of a judge on P1."""
    ranks = quem.analyze(quem.load_study(path, kind="experience")).ranks
    assert ranks is not None
    here = ranks[(ranks["judge"] == judge) & (ranks["problem"] == "P1")]
    return dict(zip(here["solver"], here["adjusted_rank"], strict=True))


WITH_REASON = PLAIN.replace("\n", ",\n").replace("rank,\n", "rank,reason\n")
FAILED = {"S6": 1.0, "S1": 2.0, "S2": 4.0, "S3": 3.0, "S4": 5.0, "S5": 7.0, "sys": 6.0}


@pytest.mark.parametrize(
    ("table", "missing"),
    [
        (PLAIN.replace(HELD, "J1,P1,S6,failed\n"), []),
        (PLAIN.replace(HELD, "J1,P1,S6, Failed \n"), []),
        (WITH_REASON.replace("J1,P1,S6,6,", "J1,P1,S6,,failed"), []),
        (PLAIN.replace(HELD, ""), [{"problem": "P1", "solver": "S6", "reason": "failed"}]),
        (
            PLAIN.replace(HELD, "J1,P1,S6,-\n"),
            [{"problem": "P1", "solver": "S6", "reason": "failed"}],
        ),
    ],
)
def test_a_failed_solution_is_tied_last_in_its_group(
    table: str, missing: list[dict[str, str]], make_study: Callable[..., Path]
) -> None:
    """A failure said in a rank, in a reason or in the study is the worst of its group."""
    table = table.replace("J2,P1,S6,6\n", "J2,P1,S6,failed\n") if not missing else table
    table = table.replace("J2,P1,S6,6,", "J2,P1,S6,,failed") if "reason" in table else table
    table = table.replace("J2,P1,S6,6\n", "") if missing else table
    path = make_study(study_with(missing=missing), rankings__csv=table)
    assert adjusted(path) == FAILED
    assert adjusted(path, "J2")["S6"] == 1.0


@pytest.mark.parametrize(
    ("table", "missing", "place", "message"),
    [
        (
            WITH_REASON.replace("J1,P1,S6,6,", "J1,P1,S6,6,failed"),
            [],
            (7, 5, "reason"),
            "failed contradicts the rank cell; empty one of the two cells",
        ),
        (
            WITH_REASON.replace("J1,P1,S6,6,", "J1,P1,S6,6,absent"),
            [],
            (7, 5, "reason"),
            "absent contradicts the rank cell; empty one of the two cells",
        ),
        (
            WITH_REASON.replace("J1,P1,S6,6,", "J1,P1,S6,failed,absent"),
            [],
            (7, 5, "reason"),
            "absent contradicts the rank cell; empty one of the two cells",
        ),
        (
            WITH_REASON.replace("J1,P1,S6,6,", "J1,P1,S6,,ill"),
            [],
            (7, 5, "reason"),
            "'ill' is not one of absent, failed",
        ),
        (
            PLAIN,
            [{"problem": "P1", "solver": "S6", "reason": "failed"}],
            (7, 4, "rank"),
            "the study declares S6's solution of P1 failed, yet it has a rank here",
        ),
        (
            PLAIN,
            [{"problem": "P1", "solver": "S6"}],
            (7, 4, "rank"),
            "the study declares S6's solution of P1 absent, yet it has a rank here",
        ),
        (
            PLAIN.replace(HELD, "J1,P1,S6,failed\n").replace("J2,P1,S6,6\n", ""),
            [{"problem": "P1", "solver": "S6"}],
            (7, 4, "rank"),
            "the study declares S6's solution of P1 absent, yet it failed here",
        ),
    ],
)
def test_contradictions_are_refused(
    table: str,
    missing: list[dict[str, str]],
    place: tuple[int, int, str],
    message: str,
    make_study: Callable[..., Path],
) -> None:
    """A rank beside a reason, and a rank of what the study declares missing, are mistakes."""
    with pytest.raises(QuemError) as caught:
        quem.load_study(
            make_study(study_with(missing=missing), rankings__csv=table), kind="experience"
        )
    first = caught.value.mistakes[0]
    assert (first.line, first.column, first.key) == place
    assert message in first.message
