"""How well judges, and a program, could tell who made a solution."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from quem.rankings import Rankings
    from quem.store.blindness import Guess, RecordedBlinding

    Floats = NDArray[np.float64]

_KINDS = ("person", "system")
_ANSWERS = ("right", "wrong", "unsure")
# Fewer judges give counts only.
FEWEST_JUDGES = 5
_REPLICATES = 2000
_LETTERS = 1 << 13
# Splits of the solvers that are compared; fewer where there are fewer.
_MOST_SPLITS, _SHUFFLES = 3000, 500
# A program is asked about systems only where it could find something.
SIGNIFICANT = 0.05
_FEWEST_PROBLEMS, _FEWEST_TEXTS, _SHORTEST = 3, 20, 400
# A program is asked about authors from so many solvers on.
_FEWEST_SOLVERS = 7
_FORM = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^#{1,6} ",
        r"^\s*[-*+•] ",
        r"^\s*\d+[.)] ",
        r"\*\*[^*]+\*\*",
        r"`",
        r"[—–]",
        r"[“”‘’]",
        r"[\U0001F300-\U0001FAFF✅❌⚠✔]",
        r"[:;]\s",
        r"[()]",
        r"\|",
        r"!\s",
        r"\?\s",
        r"\n\s*\n",
    )
]
_SENTENCE = re.compile(r"[.!?]+\s")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Share:
    """A mean over persons and systems with its interval over judges; NaN where it is unknown."""

    n: int  # guesses that count in it
    value: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Guesses:
    """What judges guessed of who made the solutions, against what is true."""

    n: int
    unsure: int
    correct: int
    n_judges: int
    rate: Share  # correct among those who did not say "can't tell"; chance is one half
    neighbors: Share  # the same, where a person and a system are next to each other
    # Bang's index of each kind: correct minus wrong, over all; 0 is chance, 1 is known to all.
    bang_person: Share
    bang_system: Share

    @property
    def could_tell(self) -> bool:
        """Whether judges told persons from systems, among neighbors in rankings too."""
        return self.rate.interval[0] > 1 / 2 and self.neighbors.interval[0] > 1 / 2


@dataclass(frozen=True)
class StyleMatch:
    """How well a program distinguishes makers by style; NaN where too little is there."""

    texts: int
    problems: int
    solvers: int
    systems: int
    auc: float  # of system over person, within problems
    others: float  # mean of any other solvers who are as many
    p: float  # share of all such splits of the solvers that are told as well
    least_p: float  # the smallest that p could be
    same_author: float  # share of texts matched to their author
    guessing: float  # one over the number of solvers
    same_author_p: float


@dataclass(frozen=True)
class Blinding:
    """What is known of who made the solutions: what was hidden, reviewed, and measured."""

    letters: bool  # whether judges saw letters in place of names
    reviewed: int
    of: int
    replaced: int = 0
    kept: int = 0
    open: int = 0
    guesses: Guesses | None = None
    text: StyleMatch | None = None


def blinding_of(data: Rankings, kinds: Mapping[str, str], *, seed: int) -> Blinding:
    """Measure the blinding of a study's rankings; `kinds` gives the kind of each solver."""
    makers = {"subject": "person", "assisted": "person", "system": "system"}
    made = {solver: makers[kind] for solver, kind in kinds.items() if kind in makers}
    recorded: RecordedBlinding | None = data.blinding
    if recorded is None:
        cells = set(zip(data.problem.tolist(), data.solver.tolist(), strict=True))
        return Blinding(letters=False, reviewed=0, of=len(cells))
    names = ("reviewed", "of", "replaced", "kept", "open")
    texts = {
        problem: {solver: text for solver, text in by.items() if solver in made}
        for problem, by in recorded.texts.items()
    }
    return Blinding(
        letters=True,
        **{name: getattr(recorded, name) for name in names},
        guesses=judges_guesses(recorded.guesses, made, levels(data, made), seed=seed),
        text=style_match(texts, {s for s, maker in made.items() if maker == "system"}, seed=seed),
    )


Level = tuple[str, str, str]  # judge, problem, solver


def levels(data: Rankings, made: Mapping[str, str]) -> dict[Level, tuple[int, int]]:
    """Number the levels of each judge's first ranking from the worst: block, and level."""
    groups: defaultdict[tuple[int, int, int], list[tuple[float, int]]] = defaultdict(list)
    known = np.array([solver in made for solver in data.solvers])
    first = (data.occasion == 1) & ~np.isnan(data.rank) & known[data.solver]
    for row in np.flatnonzero(first).tolist():
        group = int(data.judge[row]), int(data.problem[row]), int(data.block[row])
        groups[group].append((float(data.rank[row]), int(data.solver[row])))
    found: dict[Level, tuple[int, int]] = {}
    for (judge, problem, block), ranked in groups.items():
        dense = rankdata([rank for rank, _ in ranked], method="dense")
        for level, (_, solver) in zip(dense.tolist(), ranked, strict=True):
            place = data.judges[judge], data.problems[problem], data.solvers[solver]
            found[place] = block, int(level)
    return found


def judges_guesses(
    guesses: Sequence[Guess],
    made: Mapping[str, str],
    placed: Mapping[Level, tuple[int, int]],
    *,
    seed: int,
) -> Guesses | None:
    """Compare judges' guesses with `made`, the maker of each solver; None without any guess."""
    known = [one for one in guesses if one.solver in made]
    if not known:
        return None
    at: defaultdict[tuple[str, str, int, int], set[str]] = defaultdict(set)
    for (judge, problem, solver), (block, level) in placed.items():
        at[judge, problem, block, level].add(made[solver])

    def has_neighbor(one: Guess) -> bool:
        if (one.judge, one.problem, one.solver) not in placed:
            return False
        block, level = placed[one.judge, one.problem, one.solver]
        beside = [at.get((one.judge, one.problem, block, level + k), set()) for k in (-1, 0, 1)]
        return bool(set().union(*beside) - {made[one.solver]})

    sure = [one for one in known if one.guess != "unsure"]
    judges = len({one.judge for one in known})
    near = [one for one in sure if has_neighbor(one)]
    bang = {
        kind: _share([one for one in known if made[one.solver] == kind], made, seed, index=True)
        for kind in _KINDS
    }
    return Guesses(
        n=len(known),
        unsure=len(known) - len(sure),
        correct=sum(one.guess == made[one.solver] for one in sure),
        n_judges=judges,
        rate=_share(sure, made, seed),
        neighbors=_share(near, made, seed),
        bang_person=bang["person"],
        bang_system=bang["system"],
    )


def _share(
    guesses: Sequence[Guess], made: Mapping[str, str], seed: int, *, index: bool = False
) -> Share:
    """Average the rate of correct guesses over kinds, or give Bang's index of the one kind."""
    kinds = sorted({made[one.solver] for one in guesses}) if index else _KINDS
    counts: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in guesses:
        truth = made[one.solver]
        answer = one.guess if one.guess == "unsure" else _ANSWERS[one.guess != truth]
        counts[one.judge][truth, answer] += 1
    # Sorted, so that the names of judges change nothing.
    table = sorted([c[kind, a] for kind in kinds for a in _ANSWERS] for c in counts.values())
    nothing = Share(len(guesses), math.nan, (math.nan, math.nan))
    if not table:
        return nothing
    shape = len(table), len(kinds), len(_ANSWERS)
    each = np.array(table, dtype=float).reshape(shape)

    def values(sums: Floats) -> Floats:
        right, wrong = sums[..., 0], sums[..., 1]
        top = right - wrong if index else right
        with np.errstate(invalid="ignore"):
            mean: Floats = (top / sums.sum(axis=-1)).mean(axis=-1)
        return mean

    value = float(values(each.sum(axis=0)))
    if len(table) < FEWEST_JUDGES:
        return Share(len(guesses), value, (math.nan, math.nan))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(table), [1 / len(table)] * len(table), size=_REPLICATES)
    replicates = values(np.einsum("rj,jka->rka", drawn, each))
    replicates = replicates[~np.isnan(replicates)]
    if not len(replicates) or math.isnan(value):
        return nothing
    # Percentiles of few judges are too narrow: they exclude chance in 8% instead of 2.5%.
    n = len(table)
    half = stdtrit(n - 1, 0.975) * replicates.std() * math.sqrt(n / (n - 1))
    low, high = max(value - half, -1.0 if index else 0.0), min(value + half, 1.0)
    return Share(len(guesses), value, (float(low), float(high)))


def style_match(
    texts: Mapping[str, Mapping[str, str]], systems: set[str], *, seed: int
) -> StyleMatch | None:
    """Measure how well style reveals makers, by problem and solver; None without texts."""
    # Sorted by what is written, so that the names of solvers change nothing.
    rows = [
        (number, solver, text)
        for number, by in enumerate(texts.values())
        for solver, text in sorted(by.items(), key=lambda one: (one[1], one[0]))
        if text.strip()
    ]
    if not rows:
        return None
    problem = np.array([row[0] for row in rows])
    solvers = list(dict.fromkeys(row[1] for row in rows))
    author = np.array([solvers.index(row[1]) for row in rows])
    is_system = np.array([solver in systems for solver in solvers])
    k, m = len(solvers), int(is_system.sum())
    splits = math.comb(k, m)
    n_problems = len(np.unique(problem))
    nan = math.nan
    counts = len(rows), n_problems, k, m
    least = 1 / min(splits, _MOST_SPLITS)
    found = StyleMatch(*counts, nan, nan, nan, least, nan, 1 / k, nan)
    long = float(np.median([len(row[2]) for row in rows])) >= _SHORTEST
    if n_problems < _FEWEST_PROBLEMS or not long:
        return found
    rng = np.random.default_rng(seed)
    alike = closeness([row[2] for row in rows], problem)
    if k >= _FEWEST_SOLVERS:
        share, p = _same_author(alike, problem, author, rng)
        found = replace(found, same_author=share, same_author_p=p)
    if 0 < m < k and least <= SIGNIFICANT and len(rows) >= _FEWEST_TEXTS:
        if splits <= _MOST_SPLITS:
            drawn = np.array(list(combinations(range(k), m)))
        else:
            drawn = np.array([rng.permutation(k)[:m] for _ in range(_MOST_SPLITS - 1)])
        chosen = np.zeros((len(drawn), k), dtype=bool)
        np.put_along_axis(chosen, drawn, values=True, axis=1)
        chosen = np.vstack([is_system, chosen[(chosen != is_system).any(axis=1)]])
        aucs = _aucs(alike, problem, chosen[:, author].T)
        auc, others = float(aucs[0]), float(np.nanmean(aucs[1:]))
        found = replace(found, auc=auc, others=others, p=float((aucs >= auc - 1e-12).mean()))
    return found


def closeness(texts: Sequence[str], problem: NDArray[np.int64]) -> Floats:
    """How alike texts on different problems are, by 3-grams of letters and by form.

    What all texts on a problem share says nothing, so each problem's mean is taken off.
    """
    alike = np.zeros((len(texts), len(texts)))
    for measured, is_scaled in ((_grams, False), (_form, True)):
        table = np.array([measured(text) for text in texts])
        for number in np.unique(problem):
            table[problem == number] -= table[problem == number].mean(axis=0)
        if is_scaled:
            table = table / (table.std(axis=0) + 1e-9)
        table = table / (np.linalg.norm(table, axis=1, keepdims=True) + 1e-9)
        alike += table @ table.T
    alike[problem[:, None] == problem] = 0
    return alike


def _grams(text: str) -> Floats:
    """Count 3-grams of letters, on a log scale, in a table of fixed size."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    hashed = (codes[:-2] * 961 + codes[1:-1] * 31 + codes[2:]) * 2654435761 >> 7
    counts: Floats = np.log1p(np.bincount((hashed % _LETTERS).astype(int), minlength=_LETTERS))
    return counts


def _form(text: str) -> Floats:
    """Count what stands out in the form of a text."""
    words = _WORD.findall(text) or [""]
    sentences = sum(bool(part.strip()) for part in _SENTENCE.split(text))
    return np.array(
        [
            math.log(max(len(text), 1)),
            math.log(len(words)),
            (text.count("\n") + 1) / max(len(text), 1) * 100,
            len(words) / max(sentences, 1),
            np.mean([len(word) for word in words]),
            len({word.lower() for word in words}) / len(words) ** 0.7,
            text.count(",") / len(words) * 100,
            *(len(pattern.findall(text)) for pattern in _FORM),
        ]
    )


def _nearness(alike: Floats, problem: NDArray[np.int64], classes: NDArray[np.bool_]) -> Floats:
    """Mean closeness of each text to each class on other problems; -inf to an empty one."""
    apart = (problem[:, None] != problem).astype(float)
    counts = apart @ classes
    near: Floats = np.where(counts > 0, alike @ classes / np.maximum(counts, 1), -np.inf)
    return near


def _aucs(alike: Floats, problem: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Floats:
    """AUC within problems of each column of `chosen` against the rest."""
    scores = _nearness(alike, problem, chosen) - _nearness(alike, problem, ~chosen)
    above, pairs = np.zeros(chosen.shape[1]), np.zeros(chosen.shape[1])
    for number in np.unique(problem):
        here = chosen[problem == number]
        n = here.sum(axis=0)
        ranks = rankdata(scores[problem == number], axis=0)
        above += (ranks * here).sum(axis=0) - n * (n + 1) / 2
        pairs += n * (len(here) - n)
    with np.errstate(invalid="ignore"):
        auc: Floats = above / pairs
    return auc


def _same_author(
    alike: Floats,
    problem: NDArray[np.int64],
    author: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Share of texts nearest to their own author's others; p by shuffling within problems."""
    own = np.arange(author.max() + 1)
    groups = [np.flatnonzero(problem == number) for number in np.unique(problem)]

    def hits(of: NDArray[np.int64]) -> float:
        near = _nearness(alike, problem, of[:, None] == own)
        return float((near.argmax(axis=1) == of).mean())

    got, extreme, shuffled = hits(author), 0, author.copy()
    for _ in range(_SHUFFLES):
        for group in groups:
            shuffled[group] = rng.permutation(author[group])
        extreme += hits(shuffled) >= got - 1e-12
    return got, (1 + extreme) / (1 + _SHUFFLES)
