"""Whether judges, and a program, could tell who made the solutions."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.experience.presentation.cards import before_quoting
from quem.experience.presentation.methods import methods_paragraph
from quem.experience.telling import closeness, judges_guesses, style_match
from quem.rankings import Rankings
from quem.report.files import json_text
from quem.store.blindness import Guess, RecordedBlinding
from tests.docs.schema import mistakes
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.experience.presentation.cards import Check

MADE = {f"S{n}": "person" for n in range(5)} | {f"K{n}": "system" for n in range(3)}
OTHER = {"person": "system", "system": "person"}
TITLES = ("Blinding", "Solutions reviewed", "Judges could tell")


def guessed(judges: int, right: float, seed: int, unsure: float = 0.2) -> list[Guess]:
    """Draw guesses of judges who are right with a chance."""
    rng = np.random.default_rng(seed)
    made = []
    for judge in range(judges):
        for solver, kind in MADE.items():
            guess = kind if rng.random() < right else OTHER[kind]
            made.append(
                Guess(f"J{judge}", "P", solver, "unsure" if rng.random() < unsure else guess)
            )
    return made


def in_order(judges: int, solvers: list[str]) -> dict[tuple[str, str, str], tuple[int, int]]:
    """The places of solvers in the rankings of judges who all rank alike, worst first."""
    return {(f"J{j}", "P", s): (1, n) for j in range(judges) for n, s in enumerate(solvers)}


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


@pytest.mark.parametrize("seed", range(3))
def test_rates_agree_with_loops(seed: int) -> None:
    """Rates, Bang's indices, and their intervals are those of loops over guesses and judges."""
    guesses = guessed(6, 0.6, seed)
    found = judges_guesses(guesses, MADE, {}, seed=seed)
    assert found is not None
    assert found.n == len(guesses)
    assert found.unsure == sum(g.guess == "unsure" for g in guesses)
    assert found.correct == sum(g.guess == MADE[g.solver] for g in guesses)
    rng = np.random.default_rng(seed + 100)
    draws = []
    for _ in range(2000):
        drawn = [f"J{n}" for n in rng.integers(6, size=6)]
        draws.append([g for judge in drawn for g in guesses if g.judge == judge])
    for share, value_of in (
        (found.rate, rate_of),
        (found.bang_person, lambda some: bang_of(some, "person")),
        (found.bang_system, lambda some: bang_of(some, "system")),
    ):
        assert share.value == pytest.approx(value_of(guesses))
        error = np.std([value_of(draw) for draw in draws]) * np.sqrt(6 / 5)
        half = (share.interval[1] - share.interval[0]) / 2
        # The t quantile of six judges.
        assert half == pytest.approx(2.5706 * error, rel=0.1)
    assert np.isnan(found.neighbors.value)


def test_few_judges_give_counts_only() -> None:
    """Four judges have no interval, and five have one."""
    of_four, of_five = (
        judges_guesses(guessed(judges, 0.6, 1), MADE, {}, seed=1) for judges in (4, 5)
    )
    assert of_four is not None
    assert of_five is not None
    assert (of_four.n, of_four.n_judges) == (32, 4)
    assert np.isnan(of_four.rate.interval).all()
    assert np.isfinite(of_five.rate.interval).all()
    assert judges_guesses([], MADE, {}, seed=1) is None


def test_whoever_takes_the_worst_for_systems_could_not_tell() -> None:
    """Guesses by quality are right where systems are worse, but not among neighbors."""
    order = ["K0", "K1", "S0", "K2", "S1", "S2", "S3", "S4"]
    guesses = [
        Guess(f"J{j}", "P", solver, "system" if place < 2 + j % 3 else "person")
        for j in range(9)
        for place, solver in enumerate(order)
    ]
    found = judges_guesses(guesses, MADE, in_order(9, order), seed=0)
    assert found is not None
    assert found.rate.interval[0] > 0.5
    near = [g for g in guesses if g.solver in ("K1", "S0", "K2", "S1")]
    assert found.neighbors.n == len(near)
    assert found.neighbors.value == pytest.approx(rate_of(near))
    assert found.neighbors.value < found.rate.value
    sure = judges_guesses(guessed(9, 1.0, 0), MADE, in_order(9, order), seed=0)
    assert sure is not None
    assert sure.could_tell
    assert sure.rate.value == sure.neighbors.value == 1


WORDS = "we plan to cool the hall with one more pump and a larger pipe than we had".split()


def text_of(rng: np.random.Generator, bullet: str = "", ending: str = ".") -> str:
    """Write some sentences, one a line."""
    return "\n".join(
        f"{bullet}{' '.join(rng.choice(WORDS, 9))}{ending}" for _ in range(rng.integers(9, 14))
    )


def texts_of(
    solvers: int, problems: int, systems: int, seed: int, *, styled: bool
) -> dict[str, dict[str, str]]:
    """Write texts of which those of systems may share a style; each has its own length."""
    rng = np.random.default_rng(seed)
    return {
        f"P{p}": {
            f"M{s}": text_of(rng, "- **" if styled and s < systems else "", "!" * (s % 3) + ".")
            for s in range(solvers)
        }
        for p in range(problems)
    }


def is_told(scores: dict[tuple[str, str], float], chosen: set[str]) -> float:
    """AUC within problems, pair by pair."""
    wins = [
        (a > b) + (a == b) / 2
        for (p, s), a in scores.items()
        for (q, t), b in scores.items()
        if p == q and s in chosen and t not in chosen
    ]
    return float(np.mean(wins))


def by_loops(
    alike: np.ndarray[Any, Any], places: list[tuple[str, str]], systems: int
) -> tuple[float, float, float]:
    """AUC, that of other splits, and exact p, in loops over closeness."""
    solvers = sorted({s for _, s in places})
    values = {}
    for chosen in map(set, combinations(solvers, systems)):
        scores = {}
        for i, (p, s) in enumerate(places):
            apart = [j for j, (q, _) in enumerate(places) if q != p]
            own = np.mean([alike[i, j] for j in apart if places[j][1] in chosen])
            rest = np.mean([alike[i, j] for j in apart if places[j][1] not in chosen])
            scores[p, s] = float(own - rest)
        values[tuple(sorted(chosen))] = is_told(scores, chosen)
    truth = values.pop(tuple(solvers[:systems]))
    at_least = 1 + sum(value >= truth - 1e-9 for value in values.values())
    return truth, float(np.mean(list(values.values()))), at_least / (len(values) + 1)


def test_systems_with_a_style_are_found() -> None:
    """A look that systems share is found, and its p is the least there is."""
    texts = texts_of(9, 4, 3, 1, styled=True)
    found = style_match(texts, {"M0", "M1", "M2"}, seed=0)
    assert found is not None
    assert (found.texts, found.problems, found.solvers, found.systems) == (36, 4, 9, 3)
    assert found.auc > 0.95 > found.others
    assert found.p == found.least_p == pytest.approx(1 / 84)
    assert found.guessing == pytest.approx(1 / 9)


def test_p_is_right_where_nobody_has_a_style() -> None:
    """Of texts by one hand, dealt to all, few are told: p is below .1 in about a tenth."""
    p, same = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        texts = {f"P{n}": {f"M{s}": text_of(rng) for s in range(8)} for n in range(3)}
        found = style_match(texts, {"M0", "M1"}, seed=seed)
        assert found is not None
        p.append(found.p)
        same.append(found.same_author)
    assert np.mean(np.array(p) <= 0.1) <= 0.25
    assert 0.35 <= np.mean(p) <= 0.65
    assert np.mean(same) == pytest.approx(1 / 8, abs=0.05)


@pytest.mark.parametrize("gaps", [0, 2])
def test_numbers_agree_with_loops(gaps: int) -> None:
    """AUC, that of others, and p are those of loops over pairs, also where texts are missing."""
    texts = texts_of(8, 3, 2, 5, styled=False)
    for solver in [f"M{n}" for n in range(gaps)]:
        del texts["P1"][solver]
    found = style_match(texts, {"M0", "M1"}, seed=0)
    assert found is not None
    places = [(p, s) for p, by in texts.items() for s in by]
    problem = np.array([int(p[1]) for p, _ in places])
    alike = closeness([texts[p][s] for p, s in places], problem)
    assert not alike[problem[:, None] == problem].any()
    wanted = by_loops(alike, places, 2)
    assert (found.auc, found.others, found.p) == pytest.approx(wanted)
    hits = [
        s
        == max(
            {t for _, t in places},
            key=lambda t: np.mean(
                [alike[i, j] for j, (q, u) in enumerate(places) if q != p and u == t]
            ),
        )
        for i, (p, s) in enumerate(places)
    ]
    assert found.same_author == pytest.approx(np.mean(hits))
    # Any names and order of solvers give the same numbers.
    renamed = {p: {f"Z{9 - int(s[1])}": t for s, t in by.items()} for p, by in texts.items()}
    assert style_match(renamed, {"Z9", "Z8"}, seed=0) == found


@pytest.mark.parametrize(
    ("solvers", "problems", "systems", "told", "matched"),
    [
        (7, 3, 1, False, True),
        (8, 2, 2, False, False),
        (6, 5, 3, True, False),
        (9, 3, 2, True, True),
    ],
)
def test_numbers_are_given_only_where_they_can_show_something(
    solvers: int, problems: int, systems: int, *, told: bool, matched: bool
) -> None:
    """Systems need a least p of .05, 3 problems, 20 texts; authors 3 problems, 7 solvers."""
    texts = texts_of(solvers, problems, systems, 1, styled=True)
    found = style_match(texts, {f"M{n}" for n in range(systems)}, seed=0)
    assert found is not None
    assert np.isfinite(found.auc) == told
    assert np.isfinite(found.same_author) == matched
    short = {p: {s: t[:300] for s, t in by.items()} for p, by in texts.items()}
    found = style_match(short, {f"M{n}" for n in range(systems)}, seed=0)
    assert found is not None
    assert np.isnan([found.auc, found.p, found.same_author]).all()


def card_of(blinding: RecordedBlinding | None, **more: Any) -> tuple[Check, dict[str, Any], str]:  # noqa: ANN401
    """The card of a study, `blinding` of its analysis.json, and its methods paragraph."""
    ranks, years = random_ranks(np.random.default_rng(3), judges=6)
    study = study_of(ranks, years, **more)
    assert isinstance(study.data, Rankings)
    study = replace(study, data=replace(study.data, blinding=blinding))
    analysis = quem.analyze(study)
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    (card,) = (c for c in before_quoting(analysis.findings) if c.title.startswith(TITLES))
    methods = methods_paragraph(analysis.findings)
    # Nothing that is printed calls a study blind.
    for text in (analysis.summary(), analysis.to_html(), methods, card.title, card.text):
        assert "blind " not in text.lower().replace("double-blind ", "")
        assert "blind." not in text.lower()
    return card, document["blinding"], methods


def recorded(**more: Any) -> RecordedBlinding:  # noqa: ANN401
    """What a session recorded."""
    return RecordedBlinding(**{"of": 30, "reviewed": 30, "replaced": 4, "kept": 2, **more})


def guesses_on(right: float) -> tuple[Guess, ...]:
    """Guesses of six judges at all solvers of the made study, right with a chance."""
    ranks, years = random_ranks(np.random.default_rng(3), judges=6)
    rng = np.random.default_rng(8)
    made = []
    for judge, problem, solver in ranks:
        kind = "person" if solver in years else "system"
        guess = kind if rng.random() < right else OTHER[kind]
        made.append(Guess(judge, problem, solver, guess))
    return tuple(made)


REVIEWED = (
    "Judges saw letters in place of names. All 30 solutions were reviewed before judging began: "
    "4 words were replaced, 2 kept."
)


@pytest.mark.parametrize(
    ("blinding", "sign", "title", "text"),
    [
        (None, "warn", "Blinding not checked", "The ranks come from a file."),
        (
            recorded(reviewed=0),
            "warn",
            "Blinding not checked",
            "Judges saw letters in place of names. Nobody reviewed the 30 solutions",
        ),
        (
            recorded(open=3),
            "warn",
            "Blinding incomplete",
            "Judges saw letters in place of names. 3 words that could reveal an author were "
            "left undecided",
        ),
        (
            recorded(reviewed=18),
            "warn",
            "Blinding partly checked",
            "Judges saw letters in place of names. 18 of 30 solutions were reviewed",
        ),
        (
            recorded(),
            "good",
            "Solutions reviewed",
            f"{REVIEWED} Whether judges could still tell was not measured.",
        ),
        (
            recorded(guesses=guesses_on(0.5)),
            "good",
            "Blinding measured",
            f"{REVIEWED} Asked afterward, judges told people from systems in ",
        ),
        (
            recorded(guesses=guesses_on(0.9)),
            "warn",
            "Judges could tell",
            f"{REVIEWED} Asked afterward, judges told people from systems in ",
        ),
        (
            recorded(guesses=guesses_on(0.9)[:20]),
            "good",
            "Solutions reviewed",
            f"{REVIEWED} Asked afterward, judges told people from systems in ",
        ),
    ],
    ids=["file", "unreviewed", "open", "part", "reviewed", "chance", "told", "few"],
)
def test_the_card_says_what_is_known(
    blinding: RecordedBlinding | None, sign: str, title: str, text: str
) -> None:
    """Each state has its title and words, in the card, analysis.json, and the methods."""
    card, document, methods = card_of(blinding)
    assert (card.sign, card.title) == (sign, title)
    assert card.text.startswith(text)
    assert (text in methods) == (blinding is not None)
    assert document["letters"] == (blinding is not None)
    if blinding is not None:
        for name in ("reviewed", "of", "replaced", "kept", "open"):
            assert document[name] == getattr(blinding, name)
        assert (document["guesses"] is None) == (not blinding.guesses)
    assert ("Read differences" in card.text) == (title == "Judges could tell")
    assert ("Among neighbors" in card.text) == (title == "Judges could tell")


@pytest.mark.parametrize(
    ("systems", "styled", "said"),
    [
        (2, True, "A program could tell which solutions came from systems"),
        (2, False, "A program could not tell the systems from other groups of solvers"),
        (1, True, "Too few solvers to measure whether a program can tell (the smallest"),
    ],
)
def test_the_card_says_what_a_program_could_tell(
    systems: int,
    said: str,
    *,
    styled: bool,
) -> None:
    """Style that was found, not found, and not looked for are said."""
    texts = texts_of(9, 4, systems, 2, styled=styled)
    names = {f"M{n}": f"K{n}" if n < systems else f"S{n - systems}" for n in range(9)}
    renamed: Mapping[str, Mapping[str, str]] = {
        p: {names[s]: t for s, t in by.items()} for p, by in texts.items()
    }
    ranks, years = random_ranks(
        np.random.default_rng(3), judges=3, subjects=9 - systems, systems=systems
    )
    study = study_of(ranks, years)
    assert isinstance(study.data, Rankings)
    study = replace(study, data=replace(study.data, blinding=recorded(texts=renamed)))
    findings = quem.analyze(study).findings
    (card,) = (c for c in before_quoting(findings) if c.title.startswith(TITLES))
    assert said in card.text


def test_recognized_authors_are_added() -> None:
    """The card says how many authors were recognized, and the estimate without them."""
    ranks, _ = random_ranks(np.random.default_rng(3), judges=6)
    card, _, _ = card_of(recorded(), recognized=set(list(ranks)[:4]))
    assert f"In 4 of {len(ranks)} ranks the judge recognized the author" in card.text
