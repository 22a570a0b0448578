"""Rankings that come from a judging session."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.errors import QuemError
from quem.rankings.pseudonyms import pseudonymize
from quem.report.files import json_text, write_report
from quem.store import assignment as dealing
from quem.store import studies, work
from quem.store.audit_log import stamp_of
from quem.store.database import Store, open_store
from quem.store.events import record
from quem.store.location import locate_database
from quem.store.models import EventRow, PersonRow, TaskRow
from quem.store.people import issue_link, people_of, person_named, sync_people
from quem.store.planned import Group, JudgingPlan
from quem.store.reviewing import answer_change
from quem.store.state import State
from quem.studyfile.reading import read_study
from tests.examples import study_with, write_study
from tests.served import write_judging_study
from tests.store.made import contents_on_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy.orm import Session

SOLVERS = ("S0", "S1", "S2", "S3", "sys")
BEST_FIRST = (("S3",), ("sys", "S2"), ("S1",), ("S0",))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study without rankings of its own."""
    return write_judging_study(tmp_path, problems=2, judges=2, judging="{repeat: 1}")


@pytest.fixture
def store(study: Path) -> Iterator[Store]:
    """Its store, in which all groups are submitted."""
    store = judged(study)
    yield store
    store.close()


def judged(study: Path, database: str | None = None, **more: Any) -> Store:  # noqa: ANN401
    """Make a store in which every judge has submitted every group."""
    spec = read_study(study)
    store = open_store(locate_database(study, database))
    groups = tuple(Group(problem.id, SOLVERS) for problem in spec.problems)
    plan = JudgingPlan(groups, None, spec.judging.repeat)
    state = State(ranked=BEST_FIRST, **more)
    with store.write() as c:
        studies.register_study(c, spec.id)
        sync_people(c, spec.id, "judge", spec.judges)
        submit_all(c, study, plan, state)
    return store


def submit_all(c: Session, study: Path, plan: JudgingPlan, state: State) -> None:
    """Let every judge submit every group."""
    for judge in people_of(c, read_study(study).id, "judge"):
        dealing.assign_ballots(c, judge.key, plan)
        for ballot in work.tasks_of(c, judge.key):
            submit(c, study, ballot, state)


def submit(c: Session, study: Path, ballot: TaskRow, state: State) -> None:
    """Submit a ranking of the solutions that are there."""
    ballot = dealing.assign_labels(c, ballot, contents_on_disk(study, ballot.problem, SOLVERS))
    assert ballot.layout is not None
    judge = c.get_one(PersonRow, ballot.person_key)
    change = work.Change("0", "tab-12345678", 1, ballot.layout.id, state, "submit")
    work.save(c, judge, ballot.public_id, change)


def close(store: Store, study: Path) -> None:
    """Close the session."""
    with store.write() as c:
        studies.set_state(c, read_study(study).id, "closed", "shell")


def events(store: Store) -> list[str]:
    """What the audit trail says."""
    from sqlalchemy import select

    with store.read() as c:
        return list(c.execute(select(EventRow.what).order_by(EventRow.key)).scalars())


def test_a_closed_session_is_read_by_itself(study: Path, store: Store) -> None:
    """Without a word in the study file, the last submitted rankings are the study's."""
    close(store, study)
    table = quem.load_study(study, kind="experience").rankings
    assert table is not None
    first = table[(table.judge == "J0") & (table.problem == "P0") & (table.occasion == 1)]
    assert dict(zip(first.solver, first["rank"], strict=True)) == {
        "S0": 1,
        "S1": 2,
        "S2": 3,
        "sys": 3,
        "S3": 4,
    }
    assert len(table) == 2 * (2 + 1) * 5
    assert set(table.occasion) == {1, 2}


def test_an_open_session_is_not_read(study: Path, store: Store) -> None:
    """Before it is closed its rankings are hidden, on trial and open."""
    for state in ("trial", "open"):
        if state == "open":
            with store.write() as c:
                studies.set_state(c, read_study(study).id, "open", "shell")
        with pytest.raises(QuemError, match=r"--reveal"):
            quem.load_study(study, kind="experience")
    assert "revealed" not in events(store)


def test_revealing_is_logged_and_warned_of(study: Path, store: Store) -> None:
    """With reveal an open session is read; the trail and the result say so."""
    result = quem.analyze(quem.load_study(study, reveal=True, kind="experience"))
    assert "session-open" in {doubt.code for doubt in result.warnings}
    assert events(store).count("revealed") == 1
    close(store, study)
    again = quem.analyze(quem.load_study(study, reveal=True, kind="experience"))
    assert "session-open" not in {doubt.code for doubt in again.warnings}
    assert events(store).count("revealed") == 1


def test_what_unblinds_is_told_with_the_results(tmp_path: Path, study: Path, store: Store) -> None:
    """Revealing, a replaced link and opening again are in analysis.json and in the report."""
    spec = read_study(study)
    with store.write() as c:
        judge = person_named(c, spec.id, "judge", "J1")
        issue_link(c, judge, "shell")
        # While on trial that says nothing of the rankings.
        issue_link(c, person_named(c, spec.id, "judge", "J1"), "organizer:amy")
    close(store, study)
    assert not noted(study)
    with store.write() as c:
        studies.set_state(c, spec.id, "open", "organizer:amy")
        studies.reveal(c, spec.id, "organizer:amy")
        issue_link(c, person_named(c, spec.id, "judge", "J1"), "organizer:amy")
        studies.reveal(c, spec.id, "shell")
    close(store, study)
    analysis = quem.analyze(quem.load_study(study, kind="experience"))
    when = r"on \d{4}-\d\d-\d\d at \d\d:\d\d UTC by organizer amy"
    messages = {w["code"]: w["message"] for w in analysis.to_dict()["warnings"]}
    assert re.match(f"rankings were revealed {when}, before", messages["rankings-revealed"])
    assert re.match(f"the study was opened again {when}, after", messages["session-reopened"])
    assert re.match(
        f"the link of J1 was replaced {when}, while the study was open", messages["link-replaced"]
    )
    report = tmp_path / "report"
    write_report(analysis, report)
    page = (report / "report.html").read_text()
    for code in ("rankings-revealed", "session-reopened", "link-replaced"):
        assert messages[code] in page


def noted(study: Path) -> dict[str, str]:
    """By whom what unblinds was done, by the code of the warning."""
    codes = ("rankings-revealed", "session-reopened", "link-replaced")
    warnings = quem.load_study(study, reveal=False, kind="experience").data.warnings
    return {
        one.code: one.message.partition("UTC by ")[2].partition(",")[0]
        for one in warnings
        if one.code in codes
    }


def test_cannot_judge_and_recognized(tmp_path: Path) -> None:
    """What could not be judged is absent; recognized authors are marked."""
    study = write_judging_study(tmp_path)
    spec = read_study(study)
    store = open_store(locate_database(study))
    with store.write() as c:
        studies.register_study(c, spec.id)
        sync_people(c, spec.id, "judge", spec.judges)
        judge = people_of(c, spec.id, "judge")[0]
        group = Group("P0", SOLVERS)
        dealing.assign_ballots(c, judge.key, JudgingPlan((group,)))
        ballot = work.tasks_of(c, judge.key)[0]
        state = State(
            ranked=(("S1", "S3"), ("S2",), ("sys",)), cannot={"S0": "torn"}, recognized=("S2",)
        )
        submit(c, study, ballot, state)
    close(store, study)
    store.close()
    table = quem.load_study(study, kind="experience").rankings
    assert table is not None
    rows = table.set_index("solver")
    assert rows.loc["S0", "reason"] == "absent"
    assert rows["rank"].dropna().to_dict() == {"S1": 3, "S2": 2, "S3": 3, "sys": 1}
    assert list(rows.index[rows.recognized.astype(bool)]) == ["S2"]


def test_what_the_session_recorded_of_its_blinding(study: Path, store: Store) -> None:
    """The counts of the first ranking, and a judge's first guess at each solution, are analyzed."""
    close(store, study)
    before_ranking = quem.analyze(quem.load_study(study)).to_dict()["blinding"]
    assert (before_ranking["reviewed"], before_ranking["of"]) == (0, 10)
    assert before_ranking["guesses"] is None
    assert before_ranking["text"]["texts"] == 10
    with store.write() as c:
        name = read_study(study).id
        before = stamp_of(c, name, "closed")
        facts = {"reviewed": 10, "of": 10, "replaced": 2, "kept": 1, "open": 0}
        record(c, name, "server", "blinding-frozen", **facts)
        for judge in people_of(c, name, "judge"):
            for solver, guess in (("S0", "person"), ("sys", "person"), ("S1", "unsure")):
                detail = {"solver": solver, "problem": "P1", "guess": guess}
                record(c, name, "judge", "maker-guessed", judge.key, **detail)
        detail = {"solver": "sys", "problem": "P1", "guess": "system"}
        record(c, name, "judge", "maker-guessed", judge.key, **detail)
        # A report that stands is made again.
        assert stamp_of(c, name, "closed") != before
    loaded = quem.load_study(study, kind="experience")
    document = quem.analyze(loaded).to_dict()["blinding"]
    assert {name: document[name] for name in facts} == facts
    assert {name: document["guesses"][name] for name in ("n", "unsure", "correct")} == {
        "n": 6,
        "unsure": 2,
        "correct": 2,
    }
    assert document["guesses"]["rate"]["value"] == 0.5
    (renamed,) = pseudonymize([loaded])
    same = quem.analyze(renamed).to_dict()["blinding"]
    assert json_text(same) == json_text(document)


def test_a_file_and_a_store_need_a_word(make_study: Callable[..., Path]) -> None:
    """Where both are there, the study file has to say which counts."""
    solvers = [{"id": f"S{i}", "experience": i} for i in range(4)]
    sections: dict[str, Any] = {"subjects": solvers, "rankings": "rankings.csv"}
    csv = "judge,problem,solver,rank\n" + "".join(
        f"{j},{p},S{i},{i + 1}\n" for j in ("J1", "J2") for p in ("P1", "P2") for i in range(4)
    )
    study = make_study(study_with(**sections), rankings__csv=csv)
    folder = study.parent
    assert quem.load_study(study, kind="experience").rankings is not None
    judged(study).close()
    with pytest.raises(QuemError, match=r"say which counts: \{from: store\}"):
        quem.load_study(study, kind="experience")
    write_study(
        folder,
        study_with(subjects=solvers, rankings={"from": "long", "file": "rankings.csv"}),
        rankings__csv=csv,
    )
    assert len(quem.load_study(study, kind="experience").declared.judges) == 2
    write_study(folder, study_with(subjects=solvers, rankings={"from": "store"}))
    with pytest.raises(QuemError, match="judging session is still on trial"):
        quem.load_study(study, kind="experience")


def test_the_environment_names_a_database(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUEM_DATABASE_URL counts where no database is given."""
    file = tmp_path / "elsewhere.sqlite3"
    store = judged(study, str(file))
    close(store, study)
    store.close()
    with pytest.raises(QuemError):
        quem.load_study(study, kind="experience")
    monkeypatch.setenv("QUEM_DATABASE_URL", f"sqlite:///{file}")
    assert quem.load_study(study, kind="experience").rankings is not None


def test_changed_solutions_are_warned_of(study: Path, store: Store) -> None:
    """A solution that is no longer what judges saw is named, unless that is a correction."""
    close(store, study)
    file = study.parent / "solutions" / "P0" / "S0.md"
    file.write_text("Something else.\n")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    for is_same in (None, True):
        if is_same:
            with store.write() as c:
                answer_change(c, read_study(study).id, "shell", ("P0", "S0", digest), is_same=True)
        result = quem.analyze(quem.load_study(study, kind="experience"))
        messages = [d.message for d in result.warnings if d.code == "solutions-changed"]
        assert ["S0 on P0" in message for message in messages] == [True] * (not is_same)


def test_what_was_removed_after_ranking_is_left_out(study: Path, store: Store) -> None:
    """Ranks are then those among the others, and a warning says so."""
    close(store, study)
    text = study.read_text().replace("  - {id: S2, experience: 2}\n", "")
    study.write_text(text.replace("  - {id: P1, title: Problem 1, statement: p1.md}\n", ""))
    loaded = quem.load_study(study, kind="experience")
    table = loaded.rankings
    assert table is not None
    assert set(table.problem) == {"P0"}
    first = table[(table.judge == "J0") & (table.occasion == 1)]
    assert dict(zip(first.solver, first["rank"], strict=True)) == {
        "S0": 1,
        "S1": 2,
        "sys": 3,
        "S3": 4,
    }
    result = quem.analyze(loaded)
    (warning,) = [d for d in result.warnings if d.code == "removed-after-ranking"]
    assert warning.message.startswith("S2, P1: removed")
