"""Blinding: whether judges, and a classifier, could identify the authors."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from quem.method.part import Check, Part, PartTable
from quem.rankings import Rankings
from quem.report.files import Section, TextTable
from quem.report.rows import Interval, Row, col
from quem.wording import format_count, format_interval, format_number, format_p, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from quem.method.core import Core
    from quem.store.reviewing import Guess

    Floats = NDArray[np.float64]

_MAKERS = {"subject": "person", "assisted": "person", "system": "system"}
_KINDS = ("person", "system")
_ANSWERS = ("right", "wrong", "unsure")
_SEED = 0
# Fewer judges give counts only.
_FEWEST_JUDGES = 5
_REPLICATES = 2000
_LETTERS = 1 << 13
# Random splits of the compared solvers; fewer if there are fewer.
_MOST_SPLITS, _SHUFFLES = 3000, 500
# Smallest number of texts for the classifier of systems.
_SIGNIFICANT = 0.05
_FEWEST_PROBLEMS, _FEWEST_TEXTS, _SHORTEST = 3, 20, 400
# Smallest number of solvers for the classifier of authors.
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
_UNKNOWN = (None, None)
Sign = Literal["good", "warn", "bad"]
_ROUNDING = 1e-12
_COULD_TELL = "Judges could identify systems"
_ASIDE = "Judges saw letters in place of names."


class Share(Row):
    """A mean rate over subjects and systems."""

    n: int = col("guesses that count")
    value: float = col("rate of correct guesses, 0.5 by chance; or Bang's index, 0 by chance")
    interval: Interval = col("95%, by bootstrap over judges; null with fewer than 5")

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.low)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return math.nan if self.interval[0] is None else self.interval[0]


class Guesses(Row):
    """Judges' guesses of the authors' kind, and their accuracy."""

    n: int = col("guesses, including unsure ones")
    unsure: int = col("of these, unsure ones")
    correct: int = col("of these, correct ones")
    n_judges: int = col("judges who guessed")
    rate: Share = col("accuracy of the other guesses, averaged over persons and systems")
    neighbors: Share = col(
        "the same of solutions next to one of the other kind in the judge's own ranking"
    )
    bang_person: Share = col("Bang's index of solutions from people: correct minus wrong")
    bang_system: Share = col("Bang's index of solutions from systems")

    @property
    def could_tell(self) -> bool:
        """Whether judges distinguished subjects from systems, also among neighbors in rankings."""
        return self.rate.low > 1 / 2 and self.neighbors.low > 1 / 2


class StyleMatch(Row):
    """Accuracy of a classifier of authors by style; null with too few texts."""

    texts: int = col("texts that are compared")
    problems: int = col("problems that are compared")
    solvers: int = col("solvers that are compared")
    systems: int = col("systems that are compared")
    auc: float = col(
        "chance that a system's text ranks above a person's of the same problem", default=math.nan
    )
    others: float = col("mean of the same, of any other solvers who are as many", default=math.nan)
    p: float = col(
        "share of these choices of solvers with an AUC at least as large", default=math.nan
    )
    least_p: float = col("the smallest that `p` can be")
    same_author: float = col("share of texts matched to their author by style", default=math.nan)
    guessing: float = col("one over the number of solvers")
    same_author_p: float = col("permutation p value of `same_author`", default=math.nan)


class Blinding(Row):
    """Blinding measures, reviews, and checks; judges of a session see letters for names."""

    reviewed: int = col("solutions reviewed before the first ranking")
    of: int = col("solutions")
    replaced: int = col("words that were replaced")
    kept: int = col("words that were kept")
    open: int = col("words that were left undecided")
    guesses: Guesses | None = col("judges' guesses; null without any")
    text: StyleMatch | None = col("accuracy of a program by style; null without texts")


class BlindingPart(Part[tuple[Blinding, ...]]):
    """Blinding as recorded by a session; empty for rankings from a file."""

    name = "blinding"
    tables = (PartTable(name, "blinding, as recorded and as measured", Blinding, many=False),)

    def find(self, core: Core) -> tuple[Blinding, ...] | None:
        """Measure what a session recorded; None for averages alone."""
        if core.cells is None:
            return None
        data, kinds = core.study.data, core.study.declared.solvers
        if not isinstance(data, Rankings) or data.blinding is None:
            return ()
        made = {solver: _MAKERS[kind] for solver, kind in kinds.items() if kind in _MAKERS}
        recorded = data.blinding
        texts = {
            problem: {solver: text for solver, text in by.items() if solver in made}
            for problem, by in recorded.texts.items()
        }
        systems = {solver for solver, maker in made.items() if maker == "system"}
        blinding = Blinding.taken_from(
            recorded,
            guesses=judges_guesses(recorded.guesses, made, levels(data, made)),
            text=style_match(texts, systems),
        )
        return (blinding,)

    def before_quoting(self, found: tuple[Blinding, ...], core: Core) -> Iterator[Check]:
        """The blinding of authors."""
        if not found:
            text = "The ranks come from a file. Say how the authors were kept from the judges."
            yield Check("warn", "Blinding not checked", text)
            return
        sign, title, text = _state(found[0])
        texts = [text, *_guessed(found[0])]
        if title == _COULD_TELL:
            texts.append("Read differences between people and systems with care.")
        yield Check(sign, title, " ".join(texts))

    def about(self, found: tuple[Blinding, ...], core: Core) -> str:
        """The same in the methods paragraph."""
        return " ".join(_sentences(found[0])) if found else ""

    def sections(self, found: tuple[Blinding, ...], core: Core) -> Iterator[Section]:
        """The measurements of judges and of a classifier."""
        if found and (found[0].guesses or found[0].text):
            tables = [_table(found[0].guesses)] if found[0].guesses else []
            title = "Who could tell who made the solutions"
            yield Section(self.name, title, _sentences(found[0]), (), tables)


Level = tuple[str, str, str]  # judge, problem, solver


def levels(data: Rankings, made: Mapping[str, str]) -> dict[Level, tuple[int, int]]:
    """Number the levels of each judge's first ranking from the worst: block, and level."""
    known = np.array([solver in made for solver in data.solvers])
    rows = np.flatnonzero((data.occasion == 1) & ~np.isnan(data.rank) & known[data.solver])
    columns = (data.judge, data.problem, data.block, data.solver, data.rank)
    names = ["judge", "problem", "block", "solver", "rank"]
    table = pd.DataFrame({name: of[rows] for name, of in zip(names, columns, strict=True)})
    level = table.groupby(names[:3])["rank"].rank(method="dense").astype(int)
    return {
        (data.judges[judge], data.problems[problem], data.solvers[solver]): (block, at)
        for judge, problem, block, solver, at in zip(
            *(table[name].tolist() for name in names[:4]), level.tolist(), strict=True
        )
    }


def judges_guesses(
    guesses: Sequence[Guess], made: Mapping[str, str], placed: Mapping[Level, tuple[int, int]]
) -> Guesses | None:
    """Compare judges' guesses with `made`, the kind of each solver; None without guesses."""
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
    people, systems = ([one for one in known if made[one.solver] == kind] for kind in _KINDS)
    return Guesses(
        n=len(known),
        unsure=len(known) - len(sure),
        correct=sum(one.guess == made[one.solver] for one in sure),
        n_judges=len({one.judge for one in known}),
        rate=_share(sure, made),
        neighbors=_share([one for one in sure if has_neighbor(one)], made),
        bang_person=_share(people, made, index=True),
        bang_system=_share(systems, made, index=True),
    )


def _share(guesses: Sequence[Guess], made: Mapping[str, str], *, index: bool = False) -> Share:
    """The accuracy averaged over kinds, or Bang's index of a single kind."""
    kinds = sorted({made[one.solver] for one in guesses}) if index else _KINDS
    counts: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in guesses:
        truth = made[one.solver]
        answer = one.guess if one.guess == "unsure" else _ANSWERS[one.guess != truth]
        counts[one.judge][truth, answer] += 1
    # Sorted, so that the names of judges change nothing.
    table = sorted([c[kind, a] for kind in kinds for a in _ANSWERS] for c in counts.values())
    nothing = Share(n=len(guesses), value=math.nan, interval=_UNKNOWN)
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
    if len(table) < _FEWEST_JUDGES:
        return Share(n=len(guesses), value=value, interval=_UNKNOWN)
    rng = np.random.default_rng(_SEED)
    drawn = rng.multinomial(len(table), [1 / len(table)] * len(table), size=_REPLICATES)
    replicates = values(np.einsum("rj,jka->rka", drawn, each))
    replicates = replicates[~np.isnan(replicates)]
    if not len(replicates) or math.isnan(value):
        return nothing
    # Percentiles of few judges are too narrow: they exclude chance in 8% instead of 2.5%.
    n = len(table)
    half = stdtrit(n - 1, 0.975) * replicates.std() * math.sqrt(n / (n - 1))
    low, high = max(value - half, -1.0 if index else 0.0), min(value + half, 1.0)
    return Share(n=len(guesses), value=value, interval=(float(low), float(high)))


def style_match(texts: Mapping[str, Mapping[str, str]], systems: set[str]) -> StyleMatch | None:
    """Classify authors by style, per problem and solver; None without texts."""
    # Sorted by content, so that the names of solvers change nothing.
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
    least = 1 / min(splits, _MOST_SPLITS)
    found = StyleMatch(
        texts=len(rows), problems=n_problems, solvers=k, systems=m, least_p=least, guessing=1 / k
    )
    long = float(np.median([len(row[2]) for row in rows])) >= _SHORTEST
    if n_problems < _FEWEST_PROBLEMS or not long:
        return found
    rng = np.random.default_rng(_SEED)
    alike = closeness([row[2] for row in rows], problem)
    if k >= _FEWEST_SOLVERS:
        share, p = _same_author(alike, problem, author, rng)
        found = found.model_copy(update={"same_author": share, "same_author_p": p})
    if 0 < m < k and least <= _SIGNIFICANT and len(rows) >= _FEWEST_TEXTS:
        if splits <= _MOST_SPLITS:
            drawn = np.array(list(combinations(range(k), m)))
        else:
            drawn = np.array([rng.permutation(k)[:m] for _ in range(_MOST_SPLITS - 1)])
        chosen = np.zeros((len(drawn), k), dtype=bool)
        np.put_along_axis(chosen, drawn, values=True, axis=1)
        chosen = np.vstack([is_system, chosen[(chosen != is_system).any(axis=1)]])
        aucs = _aucs(alike, problem, chosen[:, author].T)
        auc, others = float(aucs[0]), float(np.nanmean(aucs[1:]))
        p = float((aucs >= auc - _ROUNDING).mean())
        found = found.model_copy(update={"auc": auc, "others": others, "p": p})
    return found


def closeness(texts: Sequence[str], problem: NDArray[np.int64]) -> Floats:
    """The similarity of texts on different problems, by 3-grams of letters and by form.

    Common features of texts on a problem are uninformative, so each problem's mean is subtracted.
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
    """Counts of 3-grams of letters, on a log scale, hashed to a fixed size."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    hashed = (codes[:-2] * 961 + codes[1:-1] * 31 + codes[2:]) * 2654435761 >> 7
    counts: Floats = np.log1p(np.bincount((hashed % _LETTERS).astype(int), minlength=_LETTERS))
    return counts


def _form(text: str) -> Floats:
    """Formatting features of a text."""
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
    """Mean similarity of each text to each class on other problems; -inf to an empty one."""
    apart = (problem[:, None] != problem).astype(float)
    counts = apart @ classes
    near: Floats = np.where(counts > 0, alike @ classes / np.maximum(counts, 1), -np.inf)
    return near


def _aucs(alike: Floats, problem: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Floats:
    """AUC within problems of each column of `chosen` against the rest."""
    from scipy.stats import rankdata

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
    """Share of texts nearest to the same author's others; p by permutation within problems."""
    own = np.arange(author.max() + 1)
    groups = [np.flatnonzero(problem == number) for number in np.unique(problem)]

    def hits(of: NDArray[np.int64]) -> float:
        near = _nearness(alike, problem, of[:, None] == own)
        return float((near.argmax(axis=1) == of).mean())

    got, extreme, shuffled = hits(author), 0, author.copy()
    for _ in range(_SHUFFLES):
        for group in groups:
            shuffled[group] = rng.permutation(author[group])
        extreme += hits(shuffled) >= got - _ROUNDING
    return got, (1 + extreme) / (1 + _SHUFFLES)


def _sentences(found: Blinding) -> list[str]:
    """Sentences on blinding measures, reviews, and results."""
    return [_state(found)[2], *_guessed(found), *(_styled(found.text) if found.text else ())]


def _table(guesses: Guesses) -> TextTable:
    rows = [
        (words, f"{share.n:,}", format_number(share.value, 2), _ends(share, 2))
        for words, share in (
            ("Right, people and systems averaged", guesses.rate),
            ("Right, next to the other kind", guesses.neighbors),
            ("Bang’s index of people", guesses.bang_person),
            ("Bang’s index of systems", guesses.bang_system),
        )
    ]
    return TextTable("Guesses of judges", ("", "Guesses", "Value", "95% interval"), rows)


def _ends(share: Share, digits: int) -> str:
    low, high = share.interval
    return "–" if low is None or high is None else format_interval((low, high), digits)


def _state(found: Blinding) -> tuple[Sign, str, str]:
    """Sign and title of the blinding, with its measures and reviews."""
    sign, title, text = _review(found)
    guesses = found.guesses
    if guesses and guesses.could_tell:
        return "warn", _COULD_TELL, text
    if guesses and guesses.rate.is_known and sign == "good":
        return sign, "Blinding measured", text
    return sign, title, text


def _review(found: Blinding) -> tuple[Sign, str, str]:
    solutions = format_count(found.of, "solution")
    if found.open:
        words, were = format_count(found.open, "word"), "was" if found.open == 1 else "were"
        text = f"{words} that could reveal an author {were} left undecided when judging began."
        return "warn", "Blinding incomplete", f"{_ASIDE} {text}"
    if not found.reviewed:
        which = "the one solution" if found.of == 1 else f"the {solutions}"
        text = f"{_ASIDE} Nobody reviewed {which} for what could reveal their authors."
        return "warn", "Blinding not checked", text
    if found.reviewed < found.of:
        were = "was" if found.reviewed == 1 else "were"
        text = f"{_ASIDE} {found.reviewed} of {solutions} {were} reviewed before judging began."
        return "warn", "Blinding partly checked", text
    all_ = "The one solution was" if found.of == 1 else f"All {solutions} were"
    words, were = format_count(found.replaced, "word"), "was" if found.replaced == 1 else "were"
    text = f"{all_} reviewed before judging began: {words} {were} replaced, {found.kept} kept."
    return "good", "Solutions reviewed", f"{_ASIDE} {text}"


def _guessed(found: Blinding) -> list[str]:
    """Sentences on the accuracy of judges' guesses, if measured."""
    guesses = found.guesses
    if guesses is None:
        is_whole = found.reviewed == found.of and not found.open
        return ["Whether judges could still identify systems was not measured."] if is_whole else []
    unsure = f"were unsure in {guesses.unsure} of {guesses.n}"
    if not guesses.rate.is_known:
        few = f"Asked afterward, judges distinguished people from systems in {guesses.correct} of "
        few += f"{guesses.rate.n} {'guess' if guesses.rate.n == 1 else 'guesses'} and {unsure}"
        if guesses.n_judges < _FEWEST_JUDGES:
            few += f"; with fewer than {_FEWEST_JUDGES} judges, that is too few for an interval"
        return [f"{few}."]
    text = (
        "Asked afterward, judges distinguished people from systems in "
        f"{_rate(guesses.rate, '95% interval ', '; guessing gives 50%')} of their guesses and "
        f"{unsure}."
    )
    if guesses.rate.low <= 1 / 2:
        return [text]
    if not guesses.neighbors.is_known:
        return [text, "Too few are neighbors in a ranking to exclude that quality gave it away."]
    near = f"Among neighbors in their rankings: {_rate(guesses.neighbors)}"
    return [text, f"{near}." if guesses.could_tell else f"{near}, so quality may explain it."]


def _rate(share: Share, before: str = "", after: str = "") -> str:
    low, high = (format_percent(round(end or 0.0, 2)) for end in share.interval)
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
            f"A program could identify the systems' solutions by style and layout {numbers}."
            if text.p <= _SIGNIFICANT
            else "A program could not distinguish the systems from other groups of solvers "
            f"{numbers}."
        )
    elif text.systems and text.least_p > _SIGNIFICANT:
        least = format_number(text.least_p, 2)
        said.append(
            "Too few solvers to measure whether a program can identify systems (the smallest "
            "possible p is "
            f"{least})."
        )
    elif text.systems:
        said.append("Too few or too short texts to measure whether a program can identify systems.")
    if text.same_author_p <= _SIGNIFICANT:
        share, chance = (format_percent(round(x, 2)) for x in (text.same_author, text.guessing))
        said.append(
            f"By style it matched {share} of the solutions to their author (guessing: {chance}), "
            "so a judge may know an author again in a later task."
        )
    return said
