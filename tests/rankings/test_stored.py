"""Rankings that come from a judging session."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.report.files import json_text, write_report
from quem.store import studies
from quem.store.audit_log import stamp_of
from quem.store.events import record
from quem.store.people import issue_link, people_of, person_named
from quem.store.reviewing import answer_change
from quem.store.state import State
from quem.studyfile.reading import read_study
from tests.examples import long_csv, mistakes_of, study_with
from tests.served import write_judging_study
from tests.store.made import hold_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

    from quem.store.database import Store

ALL = State(ranked=(("S3",), ("sys", "S2"), ("S1",), ("S0",)))
UNBLINDING = ("rankings-revealed", "session-reopened", "link-replaced")


def judged(study: Path, database: str | None = None) -> Store:
    """A store in which every judge has submitted every group."""
    return hold_session(study, database, states=(ALL, ALL))


def turn(store: Store, study: Path, state: Any = "closed") -> None:  # noqa: ANN401  a state
    with store.write() as c:
        studies.set_state(c, read_study(study).id, state, "organizer:amy")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study without rankings of its own."""
    return write_judging_study(tmp_path, problems=2, judges=2, judging="{repeat: 1}")


@pytest.fixture
def store(study: Path) -> Iterator[Store]:
    store = judged(study)
    yield store
    store.close()


def table_of(study: Path) -> pd.DataFrame:
    table = quem.load_study(study, kind="experience").rankings
    assert table is not None
    return table


def first_group(table: pd.DataFrame) -> dict[str, int]:
    """The ranks that J0 gave on P0 at first."""
    rows = table[(table.judge == "J0") & (table.problem == "P0") & (table.occasion == 1)]
    return dict(zip(rows.solver, rows["rank"], strict=True))


def warned(study: Path, code: str, **sources: Any) -> list[str]:  # noqa: ANN401  of `load_study`
    """The warnings of an analysis that have a code."""
    result = quem.analyze(quem.load_study(study, kind="experience", **sources))
    return [doubt.message for doubt in result.warnings if doubt.code == code]


def test_a_closed_session_is_read_by_itself(study: Path, store: Store) -> None:
    """Without a word in the study file, the last submitted rankings are the study's."""
    turn(store, study)
    table = table_of(study)
    assert first_group(table) == {"S0": 1, "S1": 2, "S2": 3, "sys": 3, "S3": 4}
    assert len(table) == 2 * (2 + 1) * 5
    assert set(table.occasion) == {1, 2}


def test_what_unblinds_is_told_with_the_results(tmp_path: Path, study: Path, store: Store) -> None:
    """Revealing, a replaced link and opening again are in analysis.json and in the report."""
    name = read_study(study).id

    def link() -> None:
        with store.write() as c:
            issue_link(c, person_named(c, name, "judge", "J1"), "organizer:amy")

    link()
    link()  # on trial that says nothing of the rankings
    turn(store, study)
    assert not {one.code for one in quem.load_study(study, kind="experience").data.warnings} & {
        *UNBLINDING
    }
    turn(store, study, "open")
    with store.write() as c:
        studies.reveal(c, name, "organizer:amy")
        studies.reveal(c, name, "shell")
    link()
    turn(store, study)
    result = quem.analyze(quem.load_study(study, kind="experience"))
    messages = {one["code"]: one["message"] for one in result.to_dict()["warnings"]}
    write_report(result, tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    for code in UNBLINDING:
        assert messages[code].count("UTC by organizer amy, ") == 1
        assert messages[code] in page


def test_what_the_session_recorded_of_its_blinding(study: Path, store: Store) -> None:
    """The counts of the first ranking, and a judge's first guess at each solution, are analyzed."""
    turn(store, study)
    before_ranking = quem.analyze(quem.load_study(study)).to_dict()["blinding"]
    assert (before_ranking["reviewed"], before_ranking["of"]) == (0, 10)
    assert before_ranking["guesses"] is None
    facts = {"reviewed": 10, "of": 10, "replaced": 2, "kept": 1, "open": 0}
    guesses = [("S0", "person"), ("sys", "person"), ("S1", "unsure"), ("sys", "system")]
    with store.write() as c:
        name = read_study(study).id
        before = stamp_of(c, name, "closed")
        record(c, name, "server", "blinding-frozen", **facts)
        for judge in people_of(c, name, "judge"):
            for solver, guess in guesses:
                detail = {"solver": solver, "problem": "P1", "guess": guess}
                record(c, name, "judge", "maker-guessed", judge.key, **detail)
        assert stamp_of(c, name, "closed") != before  # a report that stands is made again
    documents = [
        quem.analyze(quem.load_study(study, kind="experience", pseudonyms=hidden)).to_dict()
        for hidden in (False, True)
    ]
    blinding = documents[0]["blinding"]
    assert blinding.items() >= facts.items()
    assert blinding["guesses"].items() >= {"n": 6, "unsure": 2, "correct": 2}.items()
    assert blinding["guesses"]["rate"]["value"] == 0.5
    assert json_text(documents[1]["blinding"]) == json_text(blinding)


def test_a_file_and_a_store_need_a_word(make_study: Callable[..., Path]) -> None:
    """Where both are there, the study file has to say which counts."""
    people = [{"id": f"S{i}", "experience": i} for i in range(4)]
    ranks = {(j, p, f"S{i}"): i + 1 for j in ("J1", "J2") for p in ("P1", "P2") for i in range(4)}

    def written(rankings: object) -> Path:
        study = study_with(subjects=people, rankings=rankings)
        return make_study(study, rankings__csv=long_csv(ranks))

    study = written("rankings.csv")
    judged(study).close()
    assert "say which counts: {from: store}" in mistakes_of(study)[0]
    study = written({"from": "long", "file": "rankings.csv"})
    assert len(quem.load_study(study, kind="experience").declared.judges) == 2
    assert "is still on trial" in mistakes_of(written({"from": "store"}))[0]


def test_the_environment_names_a_database(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUEM_DATABASE_URL counts where no database is given."""
    file = tmp_path / "elsewhere.sqlite3"
    store = judged(study, str(file))
    turn(store, study)
    store.close()
    mistakes_of(study)
    monkeypatch.setenv("QUEM_DATABASE_URL", f"sqlite:///{file}")
    assert len(table_of(study))


def test_changed_solutions_are_warned_of(study: Path, store: Store) -> None:
    """A solution that is no longer what judges saw is named, unless that is a correction."""
    turn(store, study)
    file = study.parent / "solutions" / "P0" / "S0.md"
    file.write_text("Something else.\n")
    (message,) = warned(study, "solutions-changed")
    assert "S0 on P0" in message
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    with store.write() as c:
        answer_change(c, read_study(study).id, "shell", ("P0", "S0", digest), is_same=True)
    assert not warned(study, "solutions-changed")


def test_what_was_removed_after_ranking_is_left_out(study: Path, store: Store) -> None:
    """Ranks are then those among the others, and a warning says so."""
    turn(store, study)
    text = study.read_text().replace("  - {id: S2, experience: 2}\n", "")
    study.write_text(text.replace("  - {id: P1, title: Problem 1, statement: p1.md}\n", ""))
    table = table_of(study)
    assert set(table.problem) == {"P0"}
    assert first_group(table) == {"S0": 1, "S1": 2, "sys": 3, "S3": 4}
    (message,) = warned(study, "removed-after-ranking")
    assert message.startswith("S2, P1: removed")
