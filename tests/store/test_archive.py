"""An archive holds all of a study's store, and a store can be made of it."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from quem.errors import QuemError
from quem.store import studies
from quem.store.archive import FORMAT, TABLES, archive_text, read_archive, restore_archive
from quem.store.database import open_store
from quem.store.exporting import submitted_rankings
from quem.store.location import locate_database
from quem.store.models import TaskRow, UploadRow
from quem.store.outbox import queue_letter
from quem.store.people import (
    DEFAULT,
    add_person,
    consent,
    erase,
    issue_link,
    person_named,
    person_of_link,
    revoke_link,
)
from quem.store.state import Comparison, State
from quem.store.uploads import UploadFolder
from quem.store.work import add_seconds
from tests.store import solving as session
from tests.store.made import PLAN, STUDY, ballot, contents, dealt, judge, prepare, save, states

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from quem.store.database import Store

RICH = State(
    ranked=(("sys",), ("S1", "S3")),
    cannot={"S2": "“torn”\u2028 \x85 \r\n 🙂"},
    recognized=("S1",),
    comments={"S3": 'a "quote", \\ and \t tab'},
    comment="naïve",
    comparisons=(
        Comparison("S1", "sys", "worse", "left", 12.3),
        Comparison("S3", "S1", "equal", "right", 0.0),
    ),
    placed_by={"sys": "key", "S1": "compare", "S3": "compare"},
    sure={"S1": "fairly"},
)
DRAWING = b"\x89PNG\r\n\x1a\n and so on"
SHA256 = hashlib.sha256(DRAWING).hexdigest()


@pytest.fixture
def rich(store: Store) -> tuple[Store, str]:
    """A store with something in every table; with the token of a link that works."""
    fill(store)
    with store.write() as c:
        token = issue_link(c, person_named(c, STUDY, "judge", "J2"), "shell")
    return store, token


def fill(store: Store) -> None:
    """Let everything happen that leaves something in the store."""
    with store.write() as c:
        # Another study, so that keys are not those of a store of its own.
        studies.register_study(c, "other")
        add_person(c, "other", "judge", "J1", "shell")
        added = add_person(
            c, STUDY, "judge", "J9", "dashboard", name="Élodie", experience=0.1 + 0.2
        )
        consent(c, added)
        revoke_link(c, added, "dashboard")
        issue_link(c, person_named(c, STUDY, "organizer", DEFAULT), "shell")
        studies.set_state(c, STUDY, "open", "dashboard")
    for person in ("J1", "J2"):
        for held in dealt(store, person)[:4]:
            state = State(ranked=(("S1", "S2"),)) if held.practice else RICH
            save(store, held, state)
            save(store, held, state, 1, kind="submit")
            save(store, held, base=2, kind="reopen")
            with store.write() as c:
                add_seconds(c, held, 0, {"S1": 0.0001, "S2": 0.0002})
    session.with_session(store)
    gid = session.task(store)
    with store.write() as c:
        (task,) = c.scalars(select(TaskRow).where(TaskRow.public_id == gid))
        about = {"size": len(DRAWING), "ending": ".png", "name": "my plan.png"}
        c.add(UploadRow(public_id="u1", task_key=task.key, sha256=SHA256, **about))
    session.save(store, gid, 0, "An answer", files=("u1",))
    session.save(store, gid, 1, "Ein \u2028 Weg", files=("u1",), kind="submit")
    with store.write() as c:
        for name in ("J2", "J9"):
            queue_letter(c, STUDY, person_named(c, STUDY, "judge", name).key, "invitation")
        erase(c, person_named(c, STUDY, "judge", "J1"), "shell")
        studies.reveal(c, STUDY, "shell")
        studies.set_state(c, STUDY, "closed", "shell")


def archive(store: Store, uploads: UploadFolder | None = None) -> str:
    """Write the archive."""
    with store.read() as c:
        return archive_text(c, STUDY, uploads=uploads)


def restore(store: Store, text: str, study: str = STUDY) -> dict[str, int]:
    """Put an archive into a store."""
    rows = read_archive(text, "archive.jsonl", study)
    with store.write() as c:
        return restore_archive(c, study, rows, "archive.jsonl")


def rows_of(text: str) -> list[dict[str, Any]]:
    """Read the lines of an archive."""
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def test_nothing_is_lost_between_databases(
    rich: tuple[Store, str], tmp_path: Path, new_postgres: Callable[[], str]
) -> None:
    """From one kind of database to the other and back, the archive stays the same."""
    store, token = rich
    first = archive(store)
    places = [str(tmp_path / "second.sqlite3"), new_postgres(), str(tmp_path / "third.sqlite3")]
    text = first
    for address in places:
        other = open_store(locate_database(tmp_path / "study.yaml", address))
        with other.write() as c:
            # Keys are others here.
            studies.register_study(c, "earlier")
            add_person(c, "earlier", "judge", "X", "shell")
        counts = restore(other, text)
        assert set(counts) == set(TABLES)
        assert min(counts.values()) > 0
        text = archive(other)
        assert text == first
        with store.read() as old, other.read() as new:
            assert submitted_rankings(new, STUDY) == submitted_rankings(old, STUDY)
            owner = person_of_link(new, STUDY, "judge", token)
        assert owner is not None
        assert owner.id == "J2"
        # The restored store goes on: new rows get keys of their own, ranks can be saved.
        with other.write() as c:
            studies.set_state(c, STUDY, "open", "shell")
            add_person(c, STUDY, "judge", "J77", "shell")
        assert save(other, ballot(other, "J77")).number == 1
        other.close()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(saved=st.lists(states(), min_size=1, max_size=4))
def test_any_state_goes_round(tmp_path_factory: pytest.TempPathFactory, saved: list[State]) -> None:
    """Whatever judges save and write is restored as it was."""
    folder = tmp_path_factory.mktemp("round")
    one, two = (open_store(locate_database(folder / f"{name}.yaml")) for name in "ab")
    prepare(one)
    mine = ballot(one)
    for base, state in enumerate(saved):
        save(one, mine, state, base)
    restore(two, archive(one))
    assert archive(two) == archive(one)
    one.close()
    two.close()


def test_the_header_says_what_it_is(rich: tuple[Store, str]) -> None:
    """The first line names format, study and the number of rows; then each row is a line."""
    header, *lines = rows_of(archive(rich[0]))
    assert (header["format"], header["study"]) == (FORMAT, STUDY)
    assert [line["table"] for line in lines] == [
        name for name, count in header["rows"].items() for _ in range(count)
    ]
    assert "other" not in {line["id"] for line in lines if line["table"] == "study"}


def test_what_was_uploaded_goes_round(tmp_path: Path) -> None:
    """Bytes of files are in an archive, and beside the database that is made of it."""
    one, two = (open_store(locate_database(tmp_path / f"{name}.yaml")) for name in "ab")
    here, there = (UploadFolder(tmp_path / f"{name}.yaml") for name in "ab")
    prepare(one)
    fill(one)
    with pytest.raises(QuemError, match=rf"{SHA256}\.png: was uploaded, and cannot be read"):
        archive(one, here)
    received, *_ = here.receive([DRAWING], 100, 1, 100)
    here.keep(received, SHA256, ".png")
    text = archive(one, here)
    rows = read_archive(text, "archive.jsonl", STUDY)
    with two.write() as c:
        restore_archive(c, STUDY, rows, "archive.jsonl", there)
    assert there.path(SHA256, ".png").read_bytes() == DRAWING
    assert archive(two, there) == text
    damaged = text.replace('"content": "iVBO', '"content": "AAAA')
    with pytest.raises(QuemError, match="content: is not what was uploaded"):
        read_archive(damaged, "archive.jsonl", STUDY)
    one.close()
    two.close()


def test_practice_and_history_are_in_it(rich: tuple[Store, str]) -> None:
    """Practice ballots, every revision and every event are there."""
    lines = rows_of(archive(rich[0]))[1:]
    assert any(line["practice"] for line in lines if line["table"] == "task")
    kinds = [line["kind"] for line in lines if line["table"] == "revision"]
    assert Counter(kinds) == {"save": 9, "submit": 9, "reopen": 8}
    logged = {line["what"] for line in lines if line["table"] == "event"}
    assert {"revealed", "erased", "added", "consented", "closed"} <= logged


def test_an_archive_holds_no_secret(rich: tuple[Store, str]) -> None:
    """A link cannot be made of an archive."""
    store, token = rich
    assert token not in archive(store)


def test_a_store_that_holds_the_study_is_not_touched(rich: tuple[Store, str]) -> None:
    """An archive is never mixed with what is there."""
    store, _ = rich
    content = contents(store)
    with pytest.raises(QuemError, match="holds the study"):
        restore(store, archive(store))
    assert contents(store) == content


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The lines of a rich archive."""
    store = open_store(locate_database(tmp_path_factory.mktemp("rich") / "study.yaml"))
    prepare(store)
    fill(store)
    text = archive(store)
    store.close()
    return tuple(text.removesuffix("\n").split("\n"))


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("study", {"state": "unknown"}),
        ("study", {"id": "another"}),
        ("person", {"added": 1}),
        ("person", {"id": None}),
        ("person", {"name": "a\0b"}),
        ("person", {"role": "king"}),
        ("person", {"answers": {"answers": {"q": 1}, "written": {}}}),
        ("person", {"answers": {"other": {}}}),
        ("person", {"table": "sqlite_master"}),
        ("person", {"more": 1}),
        ("task", {"head": "3"}),
        ("task", {"position": 2**40}),
        ("task", {"seconds": math.inf}),
        ("task", {"views": {"S1": "long"}}),
        ("task", {"views": {"S1": -1}}),
        ("task", {"views": ["S1"]}),
        ("task", {"solvers": ["S1", "S1"]}),
        ("task", {"person_key": 99}),
        ("layout", {"items": [["A", 1, None, None]]}),
        ("upload", {"ending": "./../../x"}),
        ("upload", {"sha256": "../../x"}),
        ("upload", {"content": "not base64"}),
        ("revision", {"kind": "other"}),
        ("revision", {"layout": "another"}),
        ("revision", {"state": {**State().to_json(), "tray": ["S1"]}}),
        ("event", {"made_at": "yesterday"}),
        ("event", {"made_at": "2026-01-01T00:00:00"}),
        ("event", {"detail": {"half": "\ud800"}}),
        ("letter", {"person_key": None}),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_key(
    lines: tuple[str, ...], table: str, change: dict[str, Any]
) -> None:
    """A value that no column holds is named, and nothing is restored."""
    at = next(n for n, line in enumerate(lines) if line.startswith(f'{{"table": "{table}"'))
    wrong = json.dumps({**json.loads(lines[at]), **change})
    key = next(iter(change))
    # What is no JSON has no key.
    place = "is damaged" if "Infinity" in wrong or "ud800" in wrong else key
    with pytest.raises(QuemError, match=rf"^archive\.jsonl:{at + 1}: {place}"):
        read_archive("\n".join([*lines[:at], wrong, *lines[at + 1 :]]), "archive.jsonl", STUDY)


@pytest.mark.parametrize(
    ("damaged", "line"),
    [
        (lambda lines: [*lines, lines[2]], 0),
        (lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]], 0),
        (lambda lines: [*lines[:5], "[" * 100_000, *lines[5:]], 6),
        (lambda lines: [*lines[:5], "", *lines[5:]], 6),
        # A whole line is gone, which no other line tells.
        (lambda lines: lines[:-1], 0),
    ],
    ids=["double", "cut", "deep", "empty", "short"],
)
def test_damage_is_told_with_its_line(
    lines: tuple[str, ...], damaged: Callable[[Sequence[str]], Sequence[str]], line: int
) -> None:
    """A line that is damaged, doubled or gone is named, by default the last one."""
    now = damaged(lines)
    with pytest.raises(QuemError, match=rf"^archive\.jsonl:{line or len(now)}: "):
        read_archive("\n".join(now) + "\n", "archive.jsonl", STUDY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": FORMAT + 1}, f"newer quem.*format {FORMAT + 1}"),
        ({"study": "other"}, "'other'.*'made-up'"),
        ({"format": "1"}, "is not an archive"),
        ({"format": FORMAT - 1}, "older quem.*export STUDY --format csv"),
        ({"rows": None}, "damaged"),
        (None, "is not an archive"),
    ],
)
def test_other_files_are_refused_by_name(
    tmp_path: Path, change: dict[str, Any] | None, message: str
) -> None:
    """Archives of another study or another version, and other files, are told from ours."""
    store = open_store(locate_database(tmp_path / "study.yaml"))
    prepare(store)
    header, _, rest = archive(store).partition("\n")
    store.close()
    first = "judge,problem,rank" if change is None else json.dumps({**json.loads(header), **change})
    with pytest.raises(QuemError, match=rf"archive\.jsonl:1: .*{message}"):
        read_archive(f"{first}\n{rest}", "archive.jsonl", STUDY)


def test_links_of_another_study_are_not_taken_over(store: Store, tmp_path: Path) -> None:
    """Where a link of the archive belongs to another study of the store, nothing is restored."""
    other = open_store(locate_database(tmp_path / "second.yaml"))
    prepare(other)
    with other.write() as c:
        issue_link(c, person_named(c, STUDY, "judge", "J1"), "shell")
    text = archive(other).replace(STUDY, "copy")
    other.close()
    rows = read_archive(text, "archive.jsonl", "copy")
    with store.write() as c:
        restore_archive(c, "copy", rows, "archive.jsonl")
    content = contents(store)
    text = text.replace("copy", "again")
    again = read_archive(text, "archive.jsonl", "again")
    with pytest.raises(QuemError, match="already, of another study"), store.write() as c:
        restore_archive(c, "again", again, "archive.jsonl")
    assert contents(store) == content
    assert judge(store).id == "J1"


def test_blocks_go_round(tmp_path: Path) -> None:
    """Which solvers a block holds is restored."""
    one, two = (open_store(locate_database(tmp_path / f"{name}.yaml")) for name in "ab")
    prepare(one)
    plan = replace(PLAN, block_size=3)
    ballots = dealt(one, plan=plan)
    assert {len(b.solvers or ()) for b in ballots} == {0, 2, 3}
    restore(two, archive(one))
    assert [b.solvers for b in dealt(two, plan=plan)] == [b.solvers for b in ballots]
    one.close()
    two.close()
