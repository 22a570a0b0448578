"""What a result says of its blinding: what was hidden, reviewed, and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from quem.experience.presentation.verdict import best_first
from quem.experience.telling import FEWEST_JUDGES, SIGNIFICANT
from quem.report.columns import (
    COUNT,
    FLAG,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    Column,
    Columns,
    null_or,
    of,
)
from quem.wording import (
    format_count,
    format_number,
    format_p,
    format_percent,
    join_words,
)

if TYPE_CHECKING:
    from quem.experience.result import ExperienceFindings
    from quem.experience.telling import Blinding, Guesses, Share, StyleMatch

Sign = Literal["good", "warn", "bad"]
_N = Column[Any, "ExperienceFindings"]("n", COUNT, "guesses that count")
_INTERVAL = Column[Any, "ExperienceFindings"](
    "interval",
    OPEN_INTERVAL,
    f"95%, by bootstrap over judges; null with fewer than {FEWEST_JUDGES} judges",
)
_RATE: Columns[Any, ExperienceFindings] = Columns(
    _N,
    Column(
        "value",
        null_or(SHARE),
        "rate of correct guesses among persons and among systems, averaged; chance is 0.5",
    ),
    _INTERVAL,
)
_BANG: Columns[Any, ExperienceFindings] = Columns(
    _N, Column("value", null_or(NUMBER), "0 is chance, 1 is known to all"), _INTERVAL
)
_GUESSES: Columns[Any, ExperienceFindings] = Columns(
    Column("n", COUNT, "guesses, with those who could not tell"),
    Column("unsure", COUNT, "of them, how often judges could not tell"),
    Column("correct", COUNT, "of them, how often they were right"),
    Column("n_judges", COUNT, "judges who guessed"),
    Column("rate", of(_RATE), "how often judges who guessed were right"),
    Column(
        "neighbors",
        of(_RATE),
        "the same of solutions next to one of the other kind in the judge's own ranking",
    ),
    Column("bang_person", of(_BANG), "Bang's index of solutions from people: correct minus wrong"),
    Column("bang_system", of(_BANG), "Bang's index of solutions from systems"),
)
_TEXT: Columns[Any, ExperienceFindings] = Columns(
    *(
        Column(name, COUNT, f"{name} that are compared")
        for name in ("texts", "problems", "solvers", "systems")
    ),
    Column(
        "auc",
        null_or(SHARE),
        "chance that a program ranks a system's text above a person's of the same problem, by "
        "style; null where too little is there to measure it",
    ),
    Column("others", null_or(SHARE), "mean of the same, of any other solvers who are as many"),
    Column("p", null_or(SHARE), "share of these choices of solvers with an AUC at least as large"),
    Column("least_p", SHARE, "the smallest that `p` can be"),
    Column("same_author", null_or(SHARE), "share of texts matched to their author by style"),
    Column("guessing", SHARE, "one over the number of solvers"),
    Column("same_author_p", null_or(SHARE), "permutation p value of `same_author`"),
)
BLINDING: Columns[Any, ExperienceFindings] = Columns(
    Column("letters", FLAG, "whether judges saw letters in place of names, in a judging session"),
    Column("reviewed", COUNT, "solutions reviewed before the first ranking"),
    Column("of", COUNT, "solutions"),
    Column("replaced", COUNT, "words that were replaced"),
    Column("kept", COUNT, "words that were kept"),
    Column("open", COUNT, "words that were left undecided"),
    Column("guesses", null_or(of(_GUESSES)), "what judges guessed; null where nobody did"),
    Column("text", null_or(of(_TEXT)), "how well a program could tell; null without texts"),
)

_ASIDE = "Judges saw letters in place of names."


def blinding_said(findings: ExperienceFindings) -> tuple[Sign, str, str] | None:
    """Say how far authors were kept from judges: sign, title, and sentences."""
    if findings.cells is None:
        return None
    found = findings.blinding
    sign, title, _ = state = _state(found)
    texts = [state[2]] if found is None else [blinding_sentences(found)]
    if found is not None and found.guesses and found.guesses.could_tell:
        texts.append("Read differences between people and systems with care.")
    texts += _recognized(findings)
    return sign, title, " ".join(texts)


def blinding_sentences(found: Blinding) -> str:
    """Say what was hidden, reviewed, and measured."""
    texts = [_state(found)[2]]
    if found.guesses:
        texts += _guessed(found.guesses)
    elif found.letters and found.reviewed == found.of and not found.open:
        texts.append("Whether judges could still tell was not measured.")
    if found.text:
        texts += _styled(found.text)
    return " ".join(texts)


def _state(found: Blinding | None) -> tuple[Sign, str, str]:
    """Sign and title of all, and what was hidden and reviewed."""
    if found is None or not found.letters:
        text = "The ranks come from a file. Say how the authors were kept from the judges."
        return "warn", "Blinding not checked", text
    sign, title, text = _review(found)
    guesses = found.guesses
    if guesses and guesses.could_tell:
        return "warn", "Judges could tell", text
    if guesses and np.isfinite(guesses.rate.interval[0]) and sign == "good":
        return sign, "Blinding measured", text
    return sign, title, text


def _review(found: Blinding) -> tuple[Sign, str, str]:
    solutions = format_count(found.of, "solution")
    if found.open:
        were = "word that could reveal an author was"
        if found.open > 1:
            were = "words that could reveal an author were"
        text = f"{_ASIDE} {found.open} {were} left undecided when judging began."
        return "warn", "Blinding incomplete", text
    if not found.reviewed:
        which = "the one solution" if found.of == 1 else f"the {solutions}"
        text = f"{_ASIDE} Nobody reviewed {which} for what could reveal their authors."
        return "warn", "Blinding not checked", text
    if found.reviewed < found.of:
        were = "was" if found.reviewed == 1 else "were"
        text = f"{_ASIDE} {found.reviewed} of {solutions} {were} reviewed before judging began."
        return "warn", "Blinding partly checked", text
    all_ = "The one solution was" if found.of == 1 else f"All {solutions} were"
    words = "word was" if found.replaced == 1 else "words were"
    text = (
        f"{_ASIDE} {all_} reviewed before judging began: {found.replaced} {words} replaced, "
        f"{found.kept} kept."
    )
    return "good", "Solutions reviewed", text


def _guessed(guesses: Guesses) -> list[str]:
    unsure = f"could not tell in {guesses.unsure} of {guesses.n}"
    if not np.isfinite(guesses.rate.interval[0]):
        few = f"Asked afterward, judges told people from systems in {guesses.correct} of "
        few += f"{guesses.rate.n} {'guess' if guesses.rate.n == 1 else 'guesses'} and {unsure}"
        if guesses.n_judges < FEWEST_JUDGES:
            few += f"; with fewer than {FEWEST_JUDGES} judges, that is too few for an interval"
        return [f"{few}."]
    text = (
        "Asked afterward, judges told people from systems in "
        f"{_rate(guesses.rate, '95% interval ', '; guessing gives 50%')} of their guesses and "
        f"{unsure}."
    )
    if guesses.rate.interval[0] <= 1 / 2:
        return [text]
    if not np.isfinite(guesses.neighbors.interval[0]):
        return [text, "Too few are neighbors in a ranking to exclude that quality gave it away."]
    near = f"Among neighbors in their rankings: {_rate(guesses.neighbors)}"
    return [text, f"{near}." if guesses.could_tell else f"{near}, so quality may explain it."]


def _rate(share: Share, before: str = "", after: str = "") -> str:
    low, high = (format_percent(round(end, 2)) for end in share.interval)
    return f"{format_percent(round(share.value, 2))} ({before}{low} to {high}{after})"


def _styled(text: StyleMatch) -> list[str]:
    said = []
    if np.isfinite(text.auc):
        others = f"any other {format_count(text.systems, 'solver')}"
        numbers = (
            f"(AUC {format_number(text.auc, 2)}; {others}: {format_number(text.others, 2)}; "
            f"{format_p(text.p)})"
        )
        said.append(
            f"A program could tell which solutions came from systems by style and layout {numbers}."
            if text.p <= SIGNIFICANT
            else f"A program could not tell the systems from other groups of solvers {numbers}."
        )
    elif text.systems and text.least_p > SIGNIFICANT:
        least = format_number(text.least_p, 2)
        said.append(
            "Too few solvers to measure whether a program can tell (the smallest possible p is "
            f"{least})."
        )
    elif text.systems:
        said.append("Too few or too short texts to measure whether a program can tell.")
    if text.same_author_p <= SIGNIFICANT:
        share, chance = (format_percent(round(x, 2)) for x in (text.same_author, text.guessing))
        said.append(
            f"By style it matched {share} of the solutions to their author (guessing: {chance}), "
            "so a judge may know an author again in a later task."
        )
    return said


def _recognized(findings: ExperienceFindings) -> list[str]:
    without = findings.recognized
    if without is None:
        return []
    text = f"In {without.n_ranks:,} of {without.of_ranks:,} ranks the judge recognized the author"
    left = {one.system: one.estimate for one in without.estimates}
    known = [e.system for e in best_first(findings) if np.isfinite(left.get(e.system, np.nan))]
    if known and findings.gate.passed:
        unit = findings.study.spec.experience_unit
        values = join_words(
            f"{format_number(left[one])} {unit}"
            + (f" for {findings.name_of(one)}" if len(known) > 1 else "")
            for one in known
        )
        text += f"; without them the estimate{'s are' if len(known) > 1 else ' is'} {values}"
    return [f"{text}."]
