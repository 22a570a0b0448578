"""Judging sessions without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.store import assignment as dealing
from quem.store import studies, work
from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.people import (
    people_of,
    sync_people,
)
from quem.store.planned import Group, JudgingPlan
from quem.store.state import Comparison, State
from quem.studyfile.reading import read_study
from tests.store.made import contents_on_disk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from quem.store.database import Store
    from quem.store.models import Kind, Life

SOLVERS = ("S0", "S1", "S2", "S3", "sys")
# One a judge.
STATES = (
    State(
        ranked=(("S3",), ("sys", "S2"), ("S1",), ("S0",)),
        comparisons=(
            Comparison("S2", "S0", "better", "left", 30.0),
            Comparison("S1", "S2", "worse", "right", 12.5),
            Comparison("S1", "S0", "better", "right", 4.0),
            Comparison("sys", "S2", "equal", "left", 61.2),
        ),
        placed_by={**dict.fromkeys(("S1", "S2", "sys"), "compare"), "S3": "drag"},
        sure={"sys": "unsure"},
    ),
    State(ranked=(("S3",), ("S2",)), cannot={"S0": "torn", "S1": "torn", "sys": "in Greek"}),
    State(
        ranked=(("sys",), ("S3",), ("S1", "S0", "S2")),
        recognized=("S1", "sys"),
        comments={"S1": "a private word"},
    ),
)


def hold_session(
    study: Path,
    database: str | None = None,
    *,
    solvers: Sequence[str] = SOLVERS,
    states: Sequence[State] = STATES,
) -> Store:
    """Let each judge of a study submit each group in his own order; gives the open store."""
    solvers = tuple(solvers)
    spec = read_study(study)
    store = open_store(locate_database(study, database))
    groups = tuple(Group(problem.id, solvers) for problem in spec.problems)
    plan = JudgingPlan(groups, Group("P0-practice", solvers), spec.judging.repeat)
    with store.write() as c:
        studies.register_study(c, spec.id)
        sync_people(c, spec.id, "judge", spec.judges)
        for judge, state in zip(people_of(c, spec.id, "judge"), states, strict=False):
            dealing.assign_ballots(c, judge.key, plan)
            for ballot in work.tasks_of(c, judge.key):
                on_disk = contents_on_disk(study, ballot.problem, solvers)
                shown = dealing.assign_labels(c, ballot, on_disk)
                assert shown.layout is not None
                kinds: tuple[Kind, ...] = ("save", "submit")
                for number, kind in enumerate(kinds):
                    page = (shown.revision, "tab-12345678", number, shown.layout.id)
                    work.save(c, judge, shown.public_id, work.Change(*page, state, kind))
    return store


def close(study: Path, database: str | None = None, *, state: Life = "closed") -> None:
    """Close a session, or open it."""
    store = open_store(locate_database(study, database))
    with store.write() as c:
        studies.set_state(c, read_study(study).id, state, "shell")
    store.close()
