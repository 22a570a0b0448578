"""What an organizer decided about words: declared, followed, and refused where it is wrong."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from quem.solutions import check_solutions
from quem.studyfile.reading import draft_study
from tests.solutions.made import write_judged

if TYPE_CHECKING:
    from pathlib import Path

    from quem.solutions import Solutions

FILES: dict[str, str | bytes | None] = {
    "P1/S1.md": "By Claude, with GPT-4.\n",
    "P1/S2.md": "By claude.\n",
    "P2/S1.md": "Nobody.\n",
    "/brief.md": "Like Claude does.\n",
    "/p1.md": "What would Claude do?\n",
}


def judged(folder: Path, *reviewed: dict[str, Any], **judging: Any) -> Path:  # noqa: ANN401  YAML
    """Write a study with names in solutions and texts, and some decisions."""
    words = ["Claude", "GPT-4"]
    judging = {"briefing": "brief.md", "identity_words": words, "reviewed": reviewed, **judging}
    problems = [{"id": "P1", "statement": "p1.md"}, {"id": "P2"}]
    return write_judged(folder, FILES, judging=judging, problems=problems)


def checked(study: Path) -> tuple[Solutions, list[str]]:
    draft = draft_study(study)
    assert draft.mistakes == []
    solutions, mistakes, warnings = check_solutions(draft, complete=True)
    assert mistakes == []
    return solutions, [
        f"{one.code} {one.message}".replace(f"{study.parent}/", "") for one in warnings
    ]


def decision(words: str, what: str, problem: str = "", solver: str = "") -> dict[str, str]:
    entry = {"problem": problem, "solver": solver, "words": words, "decision": what}
    return {key: value for key, value in entry.items() if value}


def test_what_is_decided_is_no_doubt_any_more(tmp_path: Path) -> None:
    """Redacted words are not found, accepted ones not told, in the solution alone or everywhere."""

    def places(*reviewed: dict[str, str]) -> list[str]:
        found = checked(judged(tmp_path, *reviewed))[1]
        return [one.removeprefix("identity ").partition(", an identity word")[0] for one in found]

    gpt = 'solutions/P1/S1.md:1: "GPT-4"'
    assert places() == ['solutions/P1/S1.md:1: "Claude"', gpt]
    redacted = decision("claude", "redact", "P1", "S1")
    assert places(redacted) == ['solutions/P1/S2.md:1: "Claude"', gpt]
    accepted = decision("gpt 4", "accept", "P1", "S1")
    assert places(accepted) == ['solutions/P1/S1.md:1: "Claude"']
    assert places(decision("CLAUDE", "accept", "P1")) == [gpt, 'brief.md:1: "Claude"']
    assert places(decision("Claude", "accept")) == [gpt]


def test_digests_follow_redactions(tmp_path: Path) -> None:
    """As the documentation says; all others stay."""
    plain = checked(judged(tmp_path))[0].by_problem["P1"]
    entries = [decision(words, "redact", "P1", "S1") for words in ("GPT-4", "Claude")]
    study = judged(tmp_path, *entries, decision("Claude", "accept", "P1", "S2"))
    now = checked(study)[0].by_problem["P1"]
    sha256 = hashlib.sha256(b"By Claude, with GPT-4.\n").hexdigest()
    lines = f"{sha256}\nredacted claude\nredacted gpt 4\n"
    assert plain["S1"].digest == sha256
    assert now["S1"].digest == hashlib.sha256(lines.encode()).hexdigest()
    assert now["S1"].files[0].digest == now["S1"].digest
    assert {s: now[s].digest for s in now if s != "S1"} == {
        s: plain[s].digest for s in plain if s != "S1"
    }
    # Written in another way and order, it is the same.
    entries = [decision(words, "redact", "P1", "S1") for words in ("CLAUDE", "gpt_4")]
    assert checked(judged(tmp_path, *entries))[0].by_problem["P1"]["S1"].digest == now["S1"].digest


def test_decisions_about_words_that_are_gone(tmp_path: Path) -> None:
    """The entry is named, and harmless."""
    study = judged(
        tmp_path,
        decision("Claude", "redact", "P2", "S1"),
        decision("Gemini", "accept"),
        decision("Claude", "accept"),
        decision("GPT-4", "redact", "P1", "S1"),
    )
    assert checked(study)[1] == [
        f"decision-unused judging.reviewed: the words {words} are no longer in {place}; "
        "delete the entry"
        for words, place in (
            ("'Claude'", "the solution of S1 on P2"),
            ("'Gemini'", "anything that judges read"),
        )
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (decision("x", "redact", "P9", "S1"), "problem: there is no problem"),
        (decision("x", "redact", "P1", "S9"), "solver: there is no solver"),
        (decision("x", "redact", "P1"), "redact changes one solution"),
        (decision("x", "accept", "", "S1"), "problem is missing"),
        (decision("!?", "accept"), "words needs a letter"),
        (decision("x", "hide", "P1", "S1"), "decision: "),
        ({"decision": "accept"}, "words"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, entry: dict[str, str], message: str) -> None:
    (mistake,) = map(str, draft_study(judged(tmp_path, entry)).mistakes)
    assert "judging.reviewed[1]" in mistake
    assert message in mistake
