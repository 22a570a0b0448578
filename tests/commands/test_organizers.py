"""``quem organizers``: links to the dashboard, and the ends of them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quem.store import organizers, studies
from quem.store.engine import store_of
from quem.store.location import locate_database

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = tuple[int, str, str]
STUDY = "made-up"
NAMED = "organizers: [{id: amy, name: =Amy}, {id: bob, role: observer}]\n"


def table(outcome: Outcome) -> dict[str, dict[str, str]]:
    """The table with the links that were made now, by organizer."""
    _, out, err = outcome
    if err.startswith("Links: "):
        out = Path(err.removeprefix("Links: ").partition(" (only")[0]).read_text()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert not rows or list(rows[0]) == ["organizer", "name", "role", "link", "state"]
    return {row["organizer"]: row for row in rows}


def who(study: Path, link: str) -> str | None:
    """Whose link it is."""
    store = store_of(locate_database(study), STUDY)
    assert store is not None
    with store.read() as c:
        session = studies.session_of(link.rpartition("/")[2])
        organizer = organizers.organizer_of_session(c, STUDY, session)
    store.close()
    return organizer.id if organizer else None


def test_links_are_made_once_replaced_and_revoked(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """A study that names nobody has one manager; links come once, and end when that is asked."""
    outcome = quem_command("organizers", judging_study)
    assert outcome[0] == 0
    assert "/d/" not in outcome[1]
    [row] = table(outcome).values()
    assert (row["organizer"], row["role"], row["state"]) == ("organizer", "manager", "new link")
    assert re.fullmatch(r"http://127\.0\.0\.1:8080/d/[\w-]{32}", row["link"])
    assert who(judging_study, row["link"]) == "organizer"
    words = ["--add", "eve", "--name", "Eve", "--role", "observer"]
    url = "https://judging.example.org/"
    rows = table(quem_command("organizers", judging_study, *words, "--url", url))
    assert (rows["organizer"]["link"], rows["organizer"]["state"]) == ("", "has a link")
    assert rows["eve"]["role"] == "observer"
    assert rows["eve"]["link"].startswith("https://judging.example.org/d/")
    words = ["--new-link", "organizer", "--revoke", "eve"]
    again = table(quem_command("organizers", judging_study, *words))
    assert who(judging_study, again["organizer"]["link"]) == "organizer"
    assert who(judging_study, row["link"]) is None
    assert who(judging_study, rows["eve"]["link"]) is None
    assert table(quem_command("organizers", judging_study))["eve"]["state"] == "revoked"


def test_the_study_file_names_organizers(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Each has a link of their own; who is taken out of the file has none any more."""
    first = table(quem_command("organizers", judging_study))["organizer"]["link"]
    bare = judging_study.read_text()
    judging_study.write_text(bare + NAMED)
    rows = table(quem_command("organizers", judging_study))
    assert {(o, row["name"], row["role"]) for o, row in rows.items()} == {
        ("amy", "'=Amy", "manager"),
        ("bob", "", "observer"),
    }
    assert [who(judging_study, row["link"]) for row in rows.values()] == ["amy", "bob"]
    assert who(judging_study, first) is None
    judging_study.write_text(bare)
    assert list(table(quem_command("organizers", judging_study))) == ["organizer"]
    assert who(judging_study, rows["amy"]["link"]) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--new-link", "zoe"], "no organizer 'zoe'"),
        (["--revoke", "zoe"], "no organizer 'zoe'"),
        (["--add", "organizer"], "already"),
        (["--add", ""], "--add"),
        (["--add", "eve", "--name", "two\nlines"], "--name"),
        (["--add", "eve", "--revoke", "zoe"], "no organizer 'zoe'"),
    ],
)
def test_mistakes_change_nothing(
    judging_study: Path, quem_command: Callable[..., Outcome], words: list[str], message: str
) -> None:
    """What cannot be done ends with 1 and a sentence, and nothing else is done either."""
    link = table(quem_command("organizers", judging_study))["organizer"]["link"]
    code, out, err = quem_command("organizers", judging_study, *words)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(table(quem_command("organizers", judging_study))) == ["organizer"]
    assert who(judging_study, link) == "organizer"


@pytest.mark.parametrize(
    "words", [["--role", "manager"], ["--new-link", "a", "--revoke", "a"], ["--add", "a", "--role"]]
)
def test_wrong_usage(
    judging_study: Path, quem_command: Callable[..., Outcome], words: list[str]
) -> None:
    """Options that contradict each other end with 2, and no store is made."""
    assert quem_command("organizers", judging_study, *words)[0] == 2
    assert not judging_study.with_suffix(".sqlite3").exists()
