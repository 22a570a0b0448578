"""``quem import``: a session out of its archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.commands.sessions import close, hold_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Outcome = tuple[int, str, str]


@pytest.fixture
def archive(judging_study: Path, quem_command: Callable[..., Outcome]) -> Path:
    """The archive of a session."""
    hold_session(judging_study).close()
    close(judging_study)
    file = judging_study.with_name("archive.jsonl")
    assert quem_command("export", judging_study, "--archive", file)[0] == 0
    return file


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_session_is_restored(
    judging_study: Path,
    archive: Path,
    quem_command: Callable[..., Outcome],
    new_postgres: Callable[[], str],
    kind: str,
) -> None:
    """In an empty store, the session is what it was: its archive and its analysis are."""
    other = str(judging_study.with_name("b.sqlite3")) if kind == "sqlite" else new_postgres()
    code, out, err = quem_command("import", judging_study, archive, "--database", other)
    assert (code, out) == (0, "")
    assert "restored 3 people, 12 tasks, 24 revisions into" in err
    again = judging_study.with_name("again.jsonl")
    assert quem_command("export", judging_study, "--archive", again, "--database", other)[0] == 0
    assert again.read_bytes() == archive.read_bytes()
    one = quem_command("analyze", judging_study, "--json")
    assert one[0] == 0
    assert quem_command("analyze", judging_study, "--json", "--database", other) == one


def test_a_store_that_holds_the_study_refuses(
    judging_study: Path, archive: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Sessions are never mixed."""
    before = quem_command("analyze", judging_study, "--json")
    code, out, err = quem_command("import", judging_study, archive)
    assert (code, out) == (1, "")
    assert "holds the study 'made-up' already" in err
    assert quem_command("analyze", judging_study, "--json") == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "is damaged"),
        (lambda text: text.replace('"format": ', '"format": 7', 1), "format 7"),
        (lambda text: text.replace('"study": "made-up"', '"study": "else"', 1), "'else'"),
        (lambda _: "", "is not an archive"),
        (lambda _: "judge,problem\nJ1,P1\n", "is not an archive"),
    ],
)
def test_what_cannot_be_restored_makes_no_store(
    judging_study: Path,
    archive: Path,
    quem_command: Callable[..., Outcome],
    change: Callable[[str], str],
    message: str,
) -> None:
    """A damaged or foreign archive is refused by name, and no database is made."""
    archive.write_text(change(archive.read_text()))
    other = judging_study.with_name("other.sqlite3")
    code, out, err = quem_command("import", judging_study, archive, "--database", other)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {archive}:")
    assert message in err
    assert not other.exists()


def test_an_archive_that_is_missing_is_told(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """A name that leads nowhere is a mistake with that name."""
    code, _, err = quem_command("import", judging_study, judging_study.with_name("gone.jsonl"))
    assert code == 1
    assert "gone.jsonl: file not found" in err
