"""An archive holds all of a study's store, and a store can be made of it."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quem.errors import QuemError
from quem.store import people, studies
from quem.store.archive import FORMAT, TABLES, archive_text, read_archive, restore_archive
from quem.store.database import open_store
from quem.store.exporting import submitted_rankings
from quem.store.location import locate_database
from quem.store.models import UploadRow
from quem.store.outbox import queue_letter
from quem.store.state import Comparison, State
from quem.store.uploads import UploadFolder
from quem.store.work import add_seconds
from tests.store import made
from tests.store import solving as session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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
NAME = "archive.jsonl"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    stores = [open_store(locate_database(tmp_path / f"{name}.yaml")) for name in "ab"]
    made.prepare(stores[0])
    yield stores[0], stores[1]
    for store in stores:
        store.close()


def fill(store: Store) -> None:
    """Let everything happen that leaves something in the store."""
    # Another study, so that keys are not those of a store of its own.
    made.write(store, studies.register_study, "other")
    made.write(store, people.add_person, "other", "judge", "J1", "shell")
    about: dict[str, Any] = {"name": "Élodie", "experience": 0.1 + 0.2}
    made.write(store, people.add_person, made.STUDY, "judge", "J9", "dashboard", **about)
    made.on(store, "J9", people.consent)
    made.on(store, "J9", people.revoke_link, "dashboard")
    made.on(store, ("organizer", people.DEFAULT), people.issue_link, "shell")
    made.write(store, studies.set_state, made.STUDY, "open", "dashboard")
    for person in ("J1", "J2"):
        plan = replace(made.PLAN, block_size=3 if person == "J2" else None)
        for held in made.dealt(store, person, plan)[:4]:
            layout = held.layout
            assert layout
            solvers = tuple(layout.solvers.values())
            state = RICH if len(solvers) == 4 else State(ranked=(solvers,))
            made.save(store, held, state)
            made.save(store, held, state, 1, kind="submit")
            made.save(store, held, base=2, kind="reopen")
            made.write(store, add_seconds, held, 0, {"S1": 0.0001, "S2": 0.0002})
    session.with_session(store)
    task = session.task(store)
    with store.write() as c:
        file = {"size": len(DRAWING), "ending": ".png", "name": "my plan.png"}
        c.add(UploadRow(public_id="u1", task_key=task.key, sha256=SHA256, **file))
    session.save(store, task, 0, "An answer", files=("u1",))
    session.save(store, task, 1, "Ein \u2028 Weg", files=("u1",), kind="submit")
    for name in ("J2", "J9"):
        made.write(store, queue_letter, made.STUDY, made.judge(store, name).key, "invitation")
    made.on(store, "J1", people.erase, "shell")
    made.write(store, studies.reveal, made.STUDY, "shell")
    made.write(store, studies.set_state, made.STUDY, "closed", "shell")


def archive(store: Store, uploads: UploadFolder | None = None) -> str:
    return made.read(store, archive_text, made.STUDY, uploads=uploads)


def restore(
    store: Store, text: str, study: str = made.STUDY, uploads: UploadFolder | None = None
) -> dict[str, int]:
    rows = read_archive(text, NAME, study)
    return made.write(store, restore_archive, study, rows, NAME, uploads)


def test_nothing_is_lost_between_databases(
    store: Store, tmp_path: Path, new_postgres: Callable[[], str]
) -> None:
    """From one kind of database to the other and back, the archive stays the same."""
    fill(store)
    token = made.on(store, "J2", people.issue_link, "shell")
    text = first = archive(store)
    assert token not in first
    header, *lines = map(json.loads, first.removesuffix("\n").split("\n"))
    assert (header["format"], header["study"]) == (FORMAT, made.STUDY)
    counted = [name for name, count in header["rows"].items() for _ in range(count)]
    assert [line["table"] for line in lines] == counted
    for address in (tmp_path / "second.sqlite3", new_postgres(), tmp_path / "third.sqlite3"):
        other = open_store(locate_database(tmp_path / "study.yaml", str(address)))
        # Keys are others here.
        made.write(other, studies.register_study, "earlier")
        made.write(other, people.add_person, "earlier", "judge", "X", "shell")
        counts = restore(other, text)
        assert set(counts) == set(TABLES)
        assert min(counts.values()) > 0
        text = archive(other)
        assert text == first
        assert made.read(other, submitted_rankings, made.STUDY) == made.read(
            store, submitted_rankings, made.STUDY
        )
        owner = made.read(other, people.person_of_link, made.STUDY, "judge", token)
        assert owner
        assert owner.id == "J2"
        # The restored store goes on, and takes no second archive.
        made.write(other, studies.set_state, made.STUDY, "open", "shell")
        made.write(other, people.add_person, made.STUDY, "judge", "J77", "shell")
        assert made.save(other, made.ballot(other, "J77")).number == 1
        content = made.contents(other)
        with pytest.raises(QuemError, match="holds the study"):
            restore(other, text)
        assert made.contents(other) == content
        other.close()


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(saved=st.lists(made.states(), min_size=1, max_size=4))
def test_any_state_goes_round(tmp_path_factory: pytest.TempPathFactory, saved: list[State]) -> None:
    folder = tmp_path_factory.mktemp("round")
    one, two = (open_store(locate_database(folder / f"{name}.yaml")) for name in "ab")
    made.prepare(one)
    mine = made.ballot(one)
    for base, state in enumerate(saved):
        made.save(one, mine, state, base)
    restore(two, archive(one))
    assert archive(two) == archive(one)
    one.close()
    two.close()


def test_what_was_uploaded_goes_round(two: tuple[Store, Store], tmp_path: Path) -> None:
    one, other = two
    here, there = (UploadFolder(tmp_path / f"{name}.yaml") for name in "ab")
    fill(one)
    with pytest.raises(QuemError, match=rf"{SHA256}\.png: was uploaded, and cannot be read"):
        archive(one, here)
    received, *_ = here.receive([DRAWING], 100, 1, 100)
    here.keep(received, SHA256, ".png")
    text = archive(one, here)
    restore(other, text, uploads=there)
    assert there.path(SHA256, ".png").read_bytes() == DRAWING
    assert archive(other, there) == text
    with pytest.raises(QuemError, match="content: is not what was uploaded"):
        read_archive(text.replace('"content": "iVBO', '"content": "AAAA'), NAME, made.STUDY)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    store = open_store(locate_database(tmp_path_factory.mktemp("rich") / "study.yaml"))
    made.prepare(store)
    fill(store)
    text = archive(store)
    store.close()
    return tuple(text.removesuffix("\n").split("\n"))


# By table and key, what its column cannot hold.
WRONG: dict[tuple[str, str], list[Any]] = {
    ("study", "state"): ["unknown"],
    ("study", "id"): ["another"],
    ("person", "added"): [1],
    ("person", "id"): [None],
    ("person", "name"): ["a\0b"],
    ("person", "role"): ["king"],
    ("person", "answers"): [{"answers": {"q": 1}, "written": {}}, {"other": {}}],
    ("person", "table"): ["sqlite_master"],
    ("person", "more"): [1],
    ("task", "head"): ["3"],
    ("task", "position"): [2**40],
    ("task", "seconds"): [math.inf],
    ("task", "views"): [{"S1": "long"}, {"S1": -1}, ["S1"]],
    ("task", "solvers"): [["S1", "S1"]],
    ("task", "person_key"): [99],
    ("layout", "items"): [[["A", 1, None, None]]],
    ("upload", "ending"): ["./../../x"],
    ("upload", "sha256"): ["../../x"],
    ("upload", "content"): ["not base64"],
    ("revision", "kind"): ["other"],
    ("revision", "layout"): ["another"],
    ("revision", "state"): [{**State().to_json(), "tray": ["S1"]}],
    ("event", "made_at"): ["yesterday", "2026-01-01T00:00:00"],
    ("event", "detail"): [{"half": "\ud800"}],
    ("letter", "person_key"): [None],
}


@pytest.mark.parametrize(("table", "key"), WRONG)
def test_what_is_wrong_is_told_with_its_line_and_key(
    lines: tuple[str, ...], table: str, key: str
) -> None:
    at = next(n for n, line in enumerate(lines) if line.startswith(f'{{"table": "{table}"'))
    for value in WRONG[table, key]:
        wrong = json.dumps({**json.loads(lines[at]), key: value})
        # What is no JSON has no key.
        place = "is damaged" if "Infinity" in wrong or "ud800" in wrong else key
        with pytest.raises(QuemError, match=rf"^archive\.jsonl:{at + 1}: {place}"):
            read_archive("\n".join([*lines[:at], wrong, *lines[at + 1 :]]), NAME, made.STUDY)


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
    now = damaged(lines)
    with pytest.raises(QuemError, match=rf"^archive\.jsonl:{line or len(now)}: "):
        read_archive("\n".join(now) + "\n", NAME, made.STUDY)


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
    lines: tuple[str, ...], change: dict[str, Any] | None, message: str
) -> None:
    header = json.dumps({**json.loads(lines[0]), **change}) if change else "judge,problem,rank"
    with pytest.raises(QuemError, match=rf"archive\.jsonl:1: .*{message}"):
        read_archive("\n".join([header, *lines[1:]]), NAME, made.STUDY)


def test_links_of_another_study_are_not_taken_over(two: tuple[Store, Store]) -> None:
    one, other = two
    made.on(one, "J1", people.issue_link, "shell")
    text = archive(one)
    restore(other, text.replace(made.STUDY, "copy"), "copy")
    content = made.contents(other)
    with pytest.raises(QuemError, match="already, of another study"):
        restore(other, text.replace(made.STUDY, "again"), "again")
    assert made.contents(other) == content
