"""A judging session of a relevance study, by all commands that take one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

import quem
from quem.store.state import State
from tests.store.made import close, hold_session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Command

CASES = ("a", "b", "c")


def _graded(**grades: int) -> State:
    order = sorted(set(grades.values()), reverse=True)
    ranked = tuple(tuple(x for x, g in grades.items() if g == grade) for grade in order)
    cannot = {x: "torn" for x in CASES if x not in grades}
    return State(ranked, cannot=cannot, answers={"grade": {x: str(g) for x, g in grades.items()}})


STATES = (_graded(a=2, b=0, c=1), _graded(a=1, b=0), _graded(a=2, b=1, c=1))


def write_relevance(folder: Path, *, repeat: int = 1, **keys: object) -> Path:
    """Write a study of three judges, two queries, and three candidates; gives its study file."""
    content = {
        "kind": "relevance",
        "id": "rel",
        "title": "Relevance of things",
        "grades": ["No", "Partly", "Yes"],
        "candidates": "candidates.csv",
        "judges": [{"id": f"J{n}"} for n in (1, 2, 3)],
        "judging": {"repeat": repeat},
        "problems": [{"id": "p1", "title": "One"}, {"id": "p2", "title": "Two"}],
        **keys,
    }
    rows = ["problem,id,query,case"]
    for problem in ("p1", "p2"):
        group = folder / "solutions" / problem
        group.mkdir(parents=True)
        for case in CASES:
            (group / f"{case}.md").write_text(f"Text of {ord(case)} for {problem}.\n")
            rows.append(f"{problem},{case},http://q/{problem},http://c/{case}")
    (folder / "candidates.csv").write_text("\n".join(rows) + "\n")
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study whose judges have submitted everything; its session is open."""
    path = write_relevance(tmp_path)
    hold_session(path, solvers=CASES, states=STATES).close()
    return path


def test_a_closed_session_is_analyzed(study: Path, run: Command) -> None:
    """Open, it is refused; closed, its grades are those of the judges, repeats apart."""
    close(study, state="open")
    assert run("analyze", study).refuses("the judging session is still open; close it")
    assert "rankings hidden until the judging session is closed" in run("check", study).out
    close(study)
    result = quem.analyze(quem.load_study(study, kind="relevance"), samples=0)
    rows = result.table("judgments").astype(str).to_numpy().tolist()
    expected = [
        [f"http://q/{problem}", f"http://c/{case}", f"J{judge}", grade]
        for problem in ("p1", "p2")
        for case in CASES
        for judge, state in enumerate(STATES, 1)
        if (grade := state.answers["grade"].get(case))
    ]
    assert sorted(rows) == sorted(expected)
    assert result.table("consensus")["consensus"].tolist() == [2, 0, 1] * 2
    judges = result.table("judges").set_index("judge")
    assert judges["n_cannot"].to_dict() == {"J1": 0, "J2": 2, "J3": 0}
    assert judges["n_repeated"].to_dict() == {"J1": 3, "J2": 2, "J3": 3}
    assert (judges["same_again"] == 1).all()
    assert "3 judges, 2 queries, 6 candidates" in run("check", study).out


def test_a_candidate_that_is_removed_is_left_out(study: Path, run: Command) -> None:
    close(study)
    table = study.with_name("candidates.csv")
    rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join(row for row in rows if not row.startswith("p1,b")))
    result = quem.analyze(quem.load_study(study, kind="relevance"), samples=0)
    assert len(result.table("consensus")) == 5
    (study.parent / "solutions/p1/a.md").write_text("Changed.\n")
    code, _, err = run("analyze", study, "--json")
    assert (code, "warning: solutions-changed: a on p1" in err) == (0, True)
