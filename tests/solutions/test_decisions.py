"""Decisions about words: declared, applied, and refused if invalid."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from quem.solutions import check_solutions
from quem.studyfile.reading import draft_study
from tests.solutions.made import doubts, write_judged

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, str | bytes | None] = {
    "P1/S1.md": "By Claude, with GPT-4.\n",
    "P1/S2.md": "By claude.\n",
    "P2/S1.md": "Nobody.\n",
    "/brief.md": "Like Claude does.\n",
    "/p1.md": "What would Claude do?\n",
}


def judged(folder: Path, *reviewed: dict[str, Any]) -> Path:
    """Write a study with names in solutions and texts, and some decisions."""
    words = ["Claude", "GPT-4"]
    judging = {"briefing": "brief.md", "identity_words": words, "reviewed": reviewed}
    problems = [{"id": "P1", "statement": "p1.md"}, {"id": "P2"}]
    return write_judged(folder, FILES, judging=judging, problems=problems)


def decision(words: str, what: str, problem: str = "", solver: str = "") -> dict[str, str]:
    entry = {"problem": problem, "solver": solver, "words": words, "decision": what}
    return {key: value for key, value in entry.items() if value}


def test_what_is_decided_is_no_doubt_any_more(tmp_path: Path) -> None:
    """Redacted words are not found, accepted ones not told, in the solution alone or everywhere."""
    gpt = 'solutions/P1/S1.md:1: "GPT-4"'
    for reviewed, left in (
        ([], ['solutions/P1/S1.md:1: "Claude"', gpt]),
        ([decision("claude", "redact", "P1", "S1")], ['solutions/P1/S2.md:1: "Claude"', gpt]),
        ([decision("gpt 4", "accept", "P1", "S1")], ['solutions/P1/S1.md:1: "Claude"']),
        ([decision("CLAUDE", "accept", "P1")], [gpt, 'brief.md:1: "Claude"']),
        ([decision("Claude", "accept")], [gpt]),
    ):
        found = doubts(judged(tmp_path, *reviewed))
        assert [message.partition(", an identity word")[0] for _, message in found] == left


def test_digests_follow_redactions(tmp_path: Path) -> None:
    """As the documentation says; all others stay."""

    def digests(*reviewed: dict[str, str]) -> dict[str, str]:
        draft = draft_study(judged(tmp_path, *reviewed))
        solutions, *_ = check_solutions(draft, complete=True)
        return {solver: one.digest for solver, one in solutions.by_problem["P1"].items()}

    plain = digests()
    entries = [decision(words, "redact", "P1", "S1") for words in ("GPT-4", "Claude")]
    now = digests(*entries, decision("Claude", "accept", "P1", "S2"))
    sha256 = hashlib.sha256(b"By Claude, with GPT-4.\n").hexdigest()
    lines = f"{sha256}\nredacted claude\nredacted gpt 4\n"
    assert plain["S1"] == sha256
    assert now == {**plain, "S1": hashlib.sha256(lines.encode()).hexdigest()}
    # Written in another way and order, it is the same.
    assert digests(*(decision(words, "redact", "P1", "S1") for words in ("CLAUDE", "gpt_4"))) == now


def test_decisions_about_words_that_are_gone(tmp_path: Path) -> None:
    """The entry is named, and harmless."""
    study = judged(
        tmp_path,
        decision("Claude", "redact", "P2", "S1"),
        decision("Gemini", "accept"),
        decision("Claude", "accept"),
        decision("GPT-4", "redact", "P1", "S1"),
    )
    (first, claude), (second, gemini) = doubts(study)
    assert first == second == "decision-unused"
    begin = "judging.reviewed: the words '{}' are no longer in "
    assert claude.startswith(begin.format("Claude") + "the solution of S1 on P2")
    assert gemini.startswith(begin.format("Gemini"))


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
