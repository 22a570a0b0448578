"""Whether judges, and a program, could tell who made the solutions."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.parts.blinding import closeness
from quem.rankings import Rankings
from quem.report.files import json_text
from quem.store.reviewing import Guess, RecordedBlinding
from tests.docs.schema import mistakes
from tests.parts.made import random_ranks, study_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from quem.parts.result import ExperienceResult
    from tests.parts.made import Ranks

MADE = {f"S{n}": "person" for n in range(5)} | {f"K{n}": "system" for n in range(3)}
OTHER = {"person": "system", "system": "person"}
TITLES = ("Blinding", "Solutions reviewed", "Judges could identify systems")


def analyzed(ranks: Ranks, years: Mapping[str, float], **recorded: Any) -> ExperienceResult:  # noqa: ANN401  of the record
    """Analyze a study of which a session recorded how its solutions were reviewed."""
    study = study_of(ranks, years)
    assert isinstance(study.data, Rankings)
    whole = {"of": 30, "reviewed": 30, "replaced": 4, "kept": 2, **recorded}
    blinding = RecordedBlinding(**whole) if recorded else None
    return quem.analyze(replace(study, data=replace(study.data, blinding=blinding)))


def measured(guesses: Sequence[Guess], order: Sequence[str] = ()) -> Any:  # noqa: ANN401  JSON
    """What guesses tell, where all judges rank in one order, worst first."""
    judges = dict.fromkeys(one.judge for one in guesses) or ["J0"]
    problem = "P" if order else "Q"
    ranks = {
        (judge, problem, solver): float(rank)
        for judge in judges
        for rank, solver in enumerate(order or MADE, 1)
    }
    years = {solver: float(n) for n, solver in enumerate(MADE) if solver.startswith("S")}
    return analyzed(ranks, years, guesses=tuple(guesses)).to_dict()["blinding"]["guesses"]


def told(texts: Mapping[str, Mapping[str, str]], systems: Sequence[str]) -> Any:  # noqa: ANN401
    """What a program can tell of texts."""
    solvers = sorted({solver for by in texts.values() for solver in by})
    ranks = {("J", "P", solver): float(n) for n, solver in enumerate(solvers, 1)}
    years = {solver: float(n) for n, solver in enumerate(solvers) if solver not in systems}
    return analyzed(ranks, years, texts=texts).to_dict()["blinding"]["text"]


def guessed(
    judges: int, right: float, seed: int, unsure: float = 0.2, problems: Sequence[str] = ("P",)
) -> list[Guess]:
    """Draw guesses of judges who are right with a chance."""
    rng = np.random.default_rng(seed)
    made = []
    for judge in range(judges):
        for problem in problems:
            for solver, kind in MADE.items():
                guess = kind if rng.random() < right else OTHER[kind]
                guess = "unsure" if rng.random() < unsure else guess
                made.append(Guess(f"J{judge}", problem, solver, guess))
    return made


def rate_of(guesses: list[Guess]) -> float:
    """Rate of correct guesses among persons and among systems, averaged, in loops."""
    rates = []
    for kind in OTHER:
        sure = [g.guess for g in guesses if MADE[g.solver] == kind and g.guess != "unsure"]
        rates.append(sum(guess == kind for guess in sure) / len(sure))
    return sum(rates) / 2


def bang_of(guesses: list[Guess], kind: str) -> float:
    """Correct minus wrong, over all of a kind, in loops."""
    values = {kind: 1, OTHER[kind]: -1, "unsure": 0}
    return float(np.mean([values[g.guess] for g in guesses if MADE[g.solver] == kind]))


def test_rates_agree_with_loops() -> None:
    """Rates, Bang's indices, and their intervals are those of loops over guesses and judges."""
    guesses = guessed(6, 0.6, 0)
    found = measured(guesses)
    assert found["n"] == len(guesses)
    assert found["unsure"] == sum(g.guess == "unsure" for g in guesses)
    assert found["correct"] == sum(g.guess == MADE[g.solver] for g in guesses)
    rng = np.random.default_rng(100)
    draws = []
    for _ in range(2000):
        drawn = [f"J{n}" for n in rng.integers(6, size=6)]
        draws.append([g for judge in drawn for g in guesses if g.judge == judge])
    for share, value_of in (
        (found["rate"], rate_of),
        (found["bang_person"], lambda some: bang_of(some, "person")),
        (found["bang_system"], lambda some: bang_of(some, "system")),
    ):
        assert share["value"] == pytest.approx(value_of(guesses))
        error = np.std([value_of(draw) for draw in draws]) * np.sqrt(6 / 5)
        half = (share["interval"][1] - share["interval"][0]) / 2
        # The t quantile of six judges.
        assert half == pytest.approx(2.5706 * error, rel=0.1)
    assert found["neighbors"] == {"n": 0, "value": None, "interval": [None, None]}


def test_few_judges_give_counts_only() -> None:
    of_four, of_five = (measured(guessed(judges, 0.6, 1)) for judges in (4, 5))
    assert (of_four["n"], of_four["n_judges"]) == (32, 4)
    assert of_four["rate"]["interval"] == [None, None]
    assert None not in of_five["rate"]["interval"]
    assert measured([]) is None


def test_whoever_takes_the_worst_for_systems_could_not_tell() -> None:
    """Guesses by quality are right where systems are worse, but not among neighbors."""
    order = ["K0", "K1", "S0", "K2", "S1", "S2", "S3", "S4"]
    guesses = [
        Guess(f"J{j}", "P", solver, "system" if place < 2 + j % 3 else "person")
        for j in range(9)
        for place, solver in enumerate(order)
    ]
    found = measured(guesses, order)
    assert found["rate"]["interval"][0] > 0.5
    near = [g for g in guesses if g.solver in ("K1", "S0", "K2", "S1")]
    assert found["neighbors"]["n"] == len(near)
    assert found["neighbors"]["value"] == pytest.approx(rate_of(near))
    assert found["neighbors"]["value"] < found["rate"]["value"]
    sure = measured(guessed(9, 1.0, 0), order)
    assert sure["rate"]["value"] == sure["neighbors"]["value"] == 1


WORDS = "we plan to cool the hall with one more pump and a larger pipe than we had".split()
Texts = dict[str, dict[str, str]]


def text_of(rng: np.random.Generator, bullet: str = "", ending: str = ".") -> str:
    return "\n".join(
        f"{bullet}{' '.join(rng.choice(WORDS, 9))}{ending}" for _ in range(rng.integers(9, 14))
    )


def texts_of(solvers: int, problems: int, systems: int, seed: int, *, styled: bool) -> Texts:
    """Write texts of which those of systems may share a style; each has its own length."""
    rng = np.random.default_rng(seed)
    return {
        f"P{p}": {
            f"M{s}": text_of(rng, "- **" if styled and s < systems else "", "!" * (s % 3) + ".")
            for s in range(solvers)
        }
        for p in range(problems)
    }


def by_loops(
    alike: NDArray[np.float64], places: list[tuple[str, str]], systems: int
) -> tuple[float, float, float]:
    """AUC within problems, that of other splits, and exact p, in loops over closeness."""
    solvers = sorted({s for _, s in places})
    values = []
    for chosen in combinations(solvers, systems):
        scores = {}
        for i, (p, s) in enumerate(places):
            apart = [(alike[i, j], t in chosen) for j, (q, t) in enumerate(places) if q != p]
            own, rest = (np.mean([a for a, is_in in apart if is_in == of]) for of in (True, False))
            scores[p, s] = own - rest
        wins = [
            (a > b) + (a == b) / 2
            for (p, s), a in scores.items()
            for (q, t), b in scores.items()
            if p == q and s in chosen and t not in chosen
        ]
        values.append(float(np.mean(wins)))
    at_least = sum(value >= values[0] - 1e-9 for value in values)
    return values[0], float(np.mean(values[1:])), at_least / len(values)


def test_p_is_right_where_nobody_has_a_style() -> None:
    """Of texts by one hand, dealt to all, few are told: p is below .1 in about a tenth."""
    p, same = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        texts = {f"P{n}": {f"M{s}": text_of(rng) for s in range(8)} for n in range(3)}
        found = told(texts, ["M0", "M1"])
        p.append(found["p"])
        same.append(found["same_author"])
    assert np.mean(np.array(p) <= 0.1) <= 0.25
    assert 0.35 <= np.mean(p) <= 0.65
    assert np.mean(same) == pytest.approx(1 / 8, abs=0.05)


@pytest.mark.parametrize("gaps", [0, 2])
def test_numbers_agree_with_loops(gaps: int) -> None:
    """AUC, that of others, and p are those of loops over pairs, also where texts are missing."""
    texts = texts_of(8, 3, 2, 5, styled=False)
    for solver in [f"M{n}" for n in range(gaps)]:
        del texts["P1"][solver]
    found = told(texts, ["M0", "M1"])
    places = [(p, s) for p, by in texts.items() for s in by]
    problem = np.array([int(p[1]) for p, _ in places])
    alike = closeness([texts[p][s] for p, s in places], problem)
    assert not alike[problem[:, None] == problem].any()
    wanted = by_loops(alike, places, 2)
    assert (found["auc"], found["others"], found["p"]) == pytest.approx(wanted)
    assert (found["least_p"], found["guessing"]) == pytest.approx((1 / 28, 1 / 8))
    sizes = [found[name] for name in ("texts", "problems", "solvers", "systems")]
    assert sizes == [24 - gaps, 3, 8, 2]
    hits = []
    for i, (p, s) in enumerate(places):
        near: dict[str, list[float]] = {}
        for j, (q, t) in enumerate(places):
            if p != q:
                near.setdefault(t, []).append(alike[i, j])
        hits.append(s == max(near, key=lambda t: np.mean(near[t])))
    assert found["same_author"] == pytest.approx(np.mean(hits))
    # Any names and order of solvers give the same numbers.
    renamed = {p: {f"Z{9 - int(s[1])}": t for s, t in by.items()} for p, by in texts.items()}
    assert told(renamed, ["Z9", "Z8"]) == found


@pytest.mark.parametrize(
    ("solvers", "problems", "systems", "is_told_of", "matched"),
    [
        (7, 3, 1, False, True),
        (8, 2, 2, False, False),
        (6, 5, 3, True, False),
        (9, 3, 2, True, True),
    ],
)
def test_numbers_are_given_only_where_they_can_show_something(
    solvers: int, problems: int, systems: int, *, is_told_of: bool, matched: bool
) -> None:
    """Systems need a least p of .05, 3 problems, 20 texts; authors 3 problems, 7 solvers."""
    texts = texts_of(solvers, problems, systems, 1, styled=True)
    names = [f"M{n}" for n in range(systems)]
    found = told(texts, names)
    assert (found["auc"] is not None) == is_told_of
    assert (found["same_author"] is not None) == matched
    short = {p: {s: t[:300] for s, t in by.items()} for p, by in texts.items()}
    found = told(short, names)
    assert [found[name] for name in ("auc", "p", "same_author")] == [None] * 3


EVEN, RIGHT = (guessed(6, right, 8, 0, ("P0", "P1", "P2")) for right in (0.5, 0.9))


@pytest.mark.parametrize(
    ("recorded", "sign", "title", "text"),
    [
        ({}, "warn", "Blinding not checked", "The ranks come from a file."),
        ({"reviewed": 0}, "warn", "Blinding not checked", "Nobody reviewed the 30 solutions"),
        ({"open": 3}, "warn", "Blinding incomplete", "3 words that could reveal an author were"),
        ({"reviewed": 18}, "warn", "Blinding partly checked", "18 of 30 solutions were reviewed"),
        ({"kept": 2}, "good", "Solutions reviewed", "Whether judges could still identify systems"),
        ({"guesses": EVEN}, "good", "Blinding measured", "Asked afterward, judges distinguished"),
        (
            {"guesses": RIGHT},
            "warn",
            "Judges could identify systems",
            "Asked afterward, judges distinguished",
        ),
        (
            {"guesses": RIGHT[:20]},
            "good",
            "Solutions reviewed",
            "Asked afterward, judges distinguished",
        ),
    ],
    ids=["file", "unreviewed", "open", "part", "reviewed", "chance", "told", "few"],
)
def test_the_card_says_what_is_known(
    recorded: dict[str, Any], sign: str, title: str, text: str
) -> None:
    """Each state has its title and words; nothing that is printed calls a study blind."""
    ranks, years = random_ranks(np.random.default_rng(3), judges=6, subjects=5, systems=3)
    result = analyzed(ranks, years, **recorded)
    (card,) = (c for c in result.context()["before"] if c.title.startswith(TITLES))
    assert (card.sign, card.title) == (sign, title)
    assert text in card.text
    if recorded:
        assert card.text.startswith("Judges saw letters in place of names. ")
    for words in (result.summary(), result.to_html(), card.title, card.text):
        assert "blind " not in words.lower().replace("double-blind ", "")
        assert "blind." not in words.lower()
    document = json.loads(json_text(result.to_dict()))
    assert mistakes(document) == []
    # A file says nothing of blinding, and analysis.json neither.
    assert ("blinding" in document) == bool(recorded)
    if recorded:
        found = document["blinding"]
        wanted = {"of": 30, "reviewed": 30, "replaced": 4, "kept": 2, "open": 0, **recorded}
        assert (found["guesses"] is None) == (not wanted.pop("guesses", ()))
        assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("systems", "styled", "said"),
    [
        (2, True, "A program could identify the systems"),
        (2, False, "A program could not distinguish the systems from other groups of solvers"),
        (
            1,
            True,
            "Too few solvers to measure whether a program can identify systems (the smallest",
        ),
    ],
)
def test_the_page_says_what_a_program_could_tell(systems: int, said: str, *, styled: bool) -> None:
    texts = texts_of(9, 4, systems, 2, styled=styled)
    names = {f"M{n}": f"K{n}" if n < systems else f"S{n - systems}" for n in range(9)}
    renamed = {p: {names[s]: t for s, t in by.items()} for p, by in texts.items()}
    rng = np.random.default_rng(3)
    ranks, years = random_ranks(rng, judges=3, subjects=9 - systems, systems=systems)
    assert said in analyzed(ranks, years, texts=renamed).to_html()
