"""``quem export --archive --pseudonyms``: the result is the same, and nobody is named."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import quem
from quem.store.people import add_person, erase, person_named
from quem.store.state import State
from tests.commands.sessions import close, hold_session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Command

SOLVERS = ("Zuse", "hopper", "Turing", "Noether", "sys")
SAID = ("Ada", "pascal", "Émilie", "Countess", "Blaise", "Grace", "example.org", "Northgate")
STUDY = """
id: named
title: What hopper and Ada-Lovelace did
description: Amazing Grace took part.
organizer: {name: Secretly Somebody, email: grace@example.org}
problems: [{id: P0, title: First, statement: p0.md}, {id: P1, title: Second}]
judges:
  - {id: Ada-Lovelace, name: Countess, address: Countess A., experience: 9}
  - {id: b.pascal, name: Blaise, email: grace@example.org}
  - {id: Émilie}
subjects:
  - {id: Zuse, experience: 1}
  - {id: hopper, name: Amazing Grace, experience: 2}
  - {id: Turing, experience: 4}
  - {id: Noether, experience: 6}
systems: [{id: sys, name: Zeta, version: "1"}]
judging:
  identity_words: [Northgate]
  questions: [{id: fit, about: solution, text: Would it pass?, kind: flag}]
"""


@pytest.fixture
def study(tmp_path: Path, run: Command) -> Path:
    """A sealed and closed study that names people wherever it can."""
    (tmp_path / "p0.md").write_text("As Secretly asked.\n")
    for problem in ("P0", "P1"):
        (tmp_path / "solutions" / problem).mkdir(parents=True)
        for solver in SOLVERS:
            text = f"By Northgate, {solver}.\n"
            (tmp_path / "solutions" / problem / f"{solver}.md").write_text(text)
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    assert run("seal", path).code == 0
    first = State(ranked=tuple((solver,) for solver in reversed(SOLVERS)))
    second = State(
        ranked=(("sys",), ("Noether", "Turing"), ("hopper",)),
        cannot={"Zuse": "written by Zuse, says Countess"},
        comments={"sys": "Secretly bad"},
        recognized=("hopper",),
        comment="ask Blaise",
        answers={"fit": {"sys": "yes", "hopper": "yes"}},
    )
    store = hold_session(path, solvers=SOLVERS, states=(first, second, first))
    with store.write() as c:
        add_person(c, "named", "judge", "Gracefully-late", "organizer:Secretly", name="Countess")
        erase(c, person_named(c, "named", "judge", "Émilie"), "shell")
    store.close()
    close(path)
    return path


def test_nobody_is_named_and_the_result_is_the_same(
    study: Path, tmp_path: Path, run: Command
) -> None:
    """The two files make a study and a session again, with the numbers of the first."""
    folder = tmp_path / "shared"
    folder.mkdir()
    archive = folder / "copy.jsonl"
    assert run("export", study, "--archive", archive, "--pseudonyms").code == 0
    copy = folder / "copy.yaml"
    assert sorted(folder.iterdir()) == [archive, copy]
    text = archive.read_text("utf-8") + copy.read_text("utf-8")
    people = (*SOLVERS[:-1], "Lovelace", "Secretly", *SAID)
    named = [one for one in people if re.search(rf"\b{re.escape(one)}\b", text, re.IGNORECASE)]
    assert named == []
    rows = [json.loads(line) for line in archive.read_text("utf-8").splitlines()]
    assert {row["table"] for row in rows[1:]} == {"study", "person", "task", "layout", "revision"}
    assert rows[0]["seal"]["differences"] == []
    record = json.loads(study.with_suffix(".seal.json").read_bytes())
    digests = set(record["contents"]["solution"].values())
    assert len(digests) == len(SOLVERS)
    assert not any(one in text for one in digests)
    assert run("import", copy, archive).code == 0
    one, two = (
        quem.analyze(quem.load_study(path, kind="experience")).to_dict() for path in (study, copy)
    )
    of_one, of_two = (made["estimates"][0]["paper"] for made in (one, two))
    for value in ("experience", "interval"):
        assert of_two[value] == pytest.approx(of_one[value], rel=1e-12)
    ranks = [[row["average_rank"] for row in made["averages"]] for made in (one, two)]
    assert sorted(ranks[0]) == sorted(ranks[1])
    assert one["questions"]["replies"] == two["questions"]["replies"]


def test_two_copies_are_drawn_apart(study: Path, tmp_path: Path, run: Command) -> None:
    """So nobody who tries names can repeat a draw."""
    texts = set()
    for number in range(12):
        archive = tmp_path / f"{number}.jsonl"
        assert run("export", study, "--archive", archive, "--pseudonyms").code == 0
        texts.add(archive.with_suffix(".yaml").read_text("utf-8"))
        if len(texts) > 1:
            break
    assert len(texts) > 1
