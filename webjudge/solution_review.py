"""What judges will see of each solution: words that could reveal its solver, and what is lost."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from quem.blinding.redacting import TAG, flat, highlight_html
from quem.blinding.rendering import render_solution
from quem.solutions import Solution
from quem.solutions.checking import lost_images
from quem.solutions.files import metadata_of
from quem.solutions.identity import NameSearch
from quem.solutions.losses import losses_of
from quem.solutions.patterns import normal, plain, word_pattern
from quem.store.digests import keyed
from quem.store.reviewing import freeze_review, is_frozen, is_reviewed, reviewed_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quem.blinding.rendering import Part, Rendered
    from quem.solutions import Sheet
    from quem.solutions.identity import Hit
    from quem.studyfile.models import Reviewed
    from webjudge.site import Site

_MOST_PLACES = 4
_TEXTS = ("markdown", "text", "code", "html")
_AROUND = 90  # characters of a sentence on both sides of a word
_SECONDS_EACH = 20  # for a word or a solution
_ROUNDED_TO = 5


@dataclass(frozen=True)
class Found:
    """Words in a solution that could reveal its solver."""

    words: str
    word: str  # what they are a form of, such as the whole name
    count: int  # how often they are there
    why: str  # what they are, such as "the name of the system S5"
    where: str  # lines or pages; may be empty


@dataclass(frozen=True)
class ReviewedSolution:
    """A solution, or a page of text, with what was found in it."""

    # The solver of a page of text is empty, and so is the problem of one about no problem
    problem: str
    solver: str
    part: Solution | Sheet
    token: str  # what addresses have of it: it names nobody
    open: tuple[Found, ...]  # words that nothing was decided about yet
    decided: tuple[Reviewed, ...]  # what was decided, as the study file has it
    is_reviewed: bool = False  # whether an organizer looked through what judges receive now

    @property
    def name(self) -> str:
        """What a page of text is, for people."""
        return f"the statement of {self.problem}" if self.problem else self.part.files[0].inner

    @property
    def digest(self) -> str:
        """That of what judges receive; empty where it cannot be read."""
        try:
            return self.part.digest if isinstance(self.part, Solution) else ""
        except OSError:
            return ""

    def open_forms(self, word: str) -> list[str]:
        """Give the forms of a word in it that nothing was decided about."""
        return [one.words for one in self.open if plain(one.word) == plain(word)]


@dataclass(frozen=True)
class Word:
    """Words that could reveal a solver, and the solutions that have them."""

    words: str
    why: str
    forms: tuple[str, ...]  # as they are written
    open: tuple[ReviewedSolution, ...]  # those in which nothing was decided about them
    replaced: int = 0  # in how many solutions they are replaced
    kept: bool = False  # whether they may be seen, in some solution or everywhere


class Review:
    """All solutions of a study in the order in which they are gone through."""

    def __init__(self, site: Site) -> None:
        self._site = site
        search = NameSearch(site.spec, site.solutions)
        self._hits = [
            [hit for file in part.files for hit in search.hits(file, part.files)]
            for _, _, part in site.solutions.places()
        ]

    @cached_property
    def solutions(self) -> list[ReviewedSolution]:
        """Each solution, problem by problem, in an order that does not show the solver."""
        mine = [one for one in self._everything if one.solver]
        problems = list(dict.fromkeys(one.problem for one in mine))
        return sorted(mine, key=lambda one: (problems.index(one.problem), one.token))

    @cached_property
    def counting(self) -> list[ReviewedSolution]:
        """The solutions without those for practice."""
        return [one for one in self.solutions if one.problem in self._site.solutions.by_problem]

    @cached_property
    def texts(self) -> list[ReviewedSolution]:
        """Statements, briefing and consent in which words are found."""
        return [one for one in self._everything if not one.solver and (one.open or one.decided)]

    @cached_property
    def words(self) -> list[Word]:
        """Each word that was found or decided about in solutions, open ones first."""
        found: defaultdict[str, list[tuple[ReviewedSolution, Found]]] = defaultdict(list)
        for part in self._everything:
            for one in part.open if part.solver else ():
                found[plain(one.word)].append((part, one))
        decided: defaultdict[str, list[Reviewed]] = defaultdict(list)
        for entry in self._site.spec.judging.reviewed:
            decided[plain(entry.words)].append(entry)
        words = []
        for key in dict.fromkeys([*found, *decided]):
            forms = {plain(one.words): one.words for _, one in reversed(found[key])}
            holders = {part.token for part, _ in found[key]}
            first = found[key][0][1] if found[key] else None
            words.append(
                Word(
                    first.word if first else decided[key][0].words,
                    first.why if first else "",
                    tuple(reversed(forms.values())) or (decided[key][0].words,),
                    tuple(one for one in self.solutions if one.token in holders),
                    sum(one.decision == "redact" for one in decided[key]),
                    any(one.decision == "accept" for one in decided[key]),
                )
            )
        # Longer ones first: a whole name, and then what is left of it.
        return sorted(words, key=lambda word: (not word.open, word.why, -len(word.words)))

    @property
    def open(self) -> list[Word]:
        """The words that nothing was decided about yet."""
        return [word for word in self.words if word.open]

    @property
    def unreviewed(self) -> list[ReviewedSolution]:
        """The solutions that nobody looked through as they are."""
        return [one for one in self.counting if not one.is_reviewed]

    @property
    def facts(self) -> dict[str, int]:
        """How far the review is, as the report has it."""
        return {
            "reviewed": len(self.counting) - len(self.unreviewed),
            "of": len(self.counting),
            "replaced": sum(word.replaced > 0 for word in self.words),
            "kept": sum(word.kept and not word.replaced for word in self.words),
            "open": len(self.open) + sum(len(text.open) for text in self.texts),
        }

    @property
    def marked_kind(self) -> str:
        """Whose solutions alone have marks, where a study has people and systems."""
        systems = {system.id for system in self._site.spec.systems}
        redacted = {
            entry.solver in systems
            for entry in self._site.spec.judging.reviewed
            if entry.decision == "redact"
        }
        everyone = {one.solver in systems for one in self.counting}
        if len(redacted) != 1 or len(everyone) == 1:
            return ""
        return "systems" if True in redacted else "people"

    @cached_property
    def _everything(self) -> list[ReviewedSolution]:
        decided: dict[tuple[str, str], list[Reviewed]] = {}
        for one in self._site.spec.judging.reviewed:
            decided.setdefault((one.problem, one.solver), []).append(one)
        with self._site.store.read() as c:
            seen = reviewed_digests(c, self._site.id)
        parts = []
        places = zip(self._site.solutions.places(), self._hits, strict=True)
        for (problem, solver, part), hits in places:
            about = dict.fromkeys([(problem, solver), (problem, ""), ("", "")])
            mine = tuple(one for place in about for one in decided.get(place, ()))
            accepted = {plain(one.words) for one in mine if one.decision == "accept"}
            met = {plain(hit.text) for _, hit in hits}
            # What was accepted everywhere is told where it is.
            mine = tuple(one for one in mine if one.solver or plain(one.words) in met)
            waiting = [(place, hit) for place, hit in hits if plain(hit.text) not in accepted]
            token = keyed(self._site.secret, "review", problem, solver)[:16]
            reviewed = isinstance(part, Solution) and is_reviewed(part, seen)
            parts.append(
                ReviewedSolution(
                    problem, solver, part, token, _found(waiting), mine, is_reviewed=reviewed
                )
            )
        return parts

    def find(self, token: str) -> ReviewedSolution | None:
        """Give a solution."""
        return next((one for one in self.solutions if one.token == token), None)

    def word(self, words: str) -> Word | None:
        """Give a word that was found or decided about."""
        return next((one for one in self.words if plain(one.words) == plain(words)), None)

    def next_unreviewed(self, after: ReviewedSolution) -> ReviewedSolution | None:
        """Give the next solution that nobody looked through, from the first again at the end."""
        place = self.solutions.index(after)
        rest = [*self.solutions[place + 1 :], *self.solutions[:place]]
        return next((one for one in rest if one in self.unreviewed), None)


def freeze(site: Site) -> None:
    """Keep how far the review is: a judge begins to rank."""
    with site.store.read() as c:
        if is_frozen(c, site.id):
            return
    facts = Review(site).facts
    if site.spec.judging.same_look:
        facts["same_look"] = True
    with site.store.write() as c:
        freeze_review(c, site.id, facts)


def minutes_for(count: int) -> int:
    """Say how long it takes to look at some words and solutions."""
    minutes = max(round(count * _SECONDS_EACH / 60), 1)
    return minutes if minutes < _ROUNDED_TO else _ROUNDED_TO * round(minutes / _ROUNDED_TO)


def sentence(one: ReviewedSolution, word: str) -> tuple[str, str, str] | None:
    """Give what judges read before a word, the word, and what is after it; None where unseen."""
    pattern = word_pattern(one.open_forms(word)[0])
    if pattern is None or not isinstance(one.part, Solution):
        return None
    parts = render_solution(one.part, lambda *_: "").parts
    texts = [unescape(TAG.sub("\n", flat(part.html))) for part in parts]
    for text in map(normal, [*texts, *(page.text for part in parts for page in part.pages)]):
        if match := pattern.search(text):
            before = text[: match.start()].rpartition("\n\n")[2].lstrip()
            after = text[match.end() :].partition("\n\n")[0].rstrip()
            if len(before) > _AROUND:
                before = f"…{before[-_AROUND:]}"
            if len(after) > _AROUND:
                after = f"{after[:_AROUND]}…"
            return before, match[0], after
    return None


def _found(hits: list[tuple[str, Hit]]) -> tuple[Found, ...]:
    """Hits by words, in the order in which they are met."""
    by_words: dict[str, list[tuple[str, Hit]]] = {}
    for place, hit in hits:
        by_words.setdefault(plain(hit.text), []).append((place, hit))
    return tuple(
        Found(
            mine[0][1].text,
            mine[0][1].word or mine[0][1].text,
            len(mine),
            ", ".join(dict.fromkeys(hit.meaning for _, hit in mine)),
            _where([place for place, _ in mine]),
        )
        for mine in by_words.values()
    )


def _where(places: Sequence[str]) -> str:
    named = dict.fromkeys(place.lstrip(": ") for place in places)
    shown = [f"line {one}" if one.isdecimal() else one for one in named if one]
    more = f" and {len(shown) - _MOST_PLACES} more" if len(shown) > _MOST_PLACES else ""
    return ", ".join(shown[:_MOST_PLACES]) + more


def marked(one: ReviewedSolution, solution: Solution, address: Callable[..., str]) -> Rendered:
    """Show a solution as judges will see it, with the words marked that were found."""
    rendered = render_solution(solution, address, gone="This file cannot be read.")
    layers = [(f'class="hit" data-hit="{n}"', found.words) for n, found in enumerate(one.open)]
    layers += [('class="fine"', d.words) for d in one.decided if d.decision == "accept"]

    def text(html: str) -> Markup:
        for attributes, words in layers:
            if pattern := word_pattern(words):
                html = highlight_html(html, [pattern], attributes)
        return Markup(html)  # noqa: S704  sanitized, or escaped

    def part(shown: Part) -> Part:
        pages = tuple(replace(page, text=text(str(escape(page.text)))) for page in shown.pages)
        return replace(shown, html=text(shown.html), pages=pages)

    return replace(rendered, parts=tuple(map(part, rendered.parts)))


def lost(solution: Solution) -> Iterator[str]:
    """Say what judges do not see of a solution, a sentence for each."""
    for loss in losses_of(solution.files):
        place = f"Line {loss.line}: " if loss.line else ""
        yield f"{place}{loss.warning.message}."
    for file, line, target in lost_images(solution.files):
        # Its name may be that of the solver.
        place = (
            f"File {solution.files.index(file) + 1}, line" if len(solution.files) > 1 else "Line"
        )
        yield f"{place} {line}: the image {target} is not shown, only its text."


def removed(solution: Solution) -> Iterator[tuple[str, str]]:
    """Give the metadata that judges do not receive of a solution: the entry, and what it says."""
    for file in solution.files:
        if file.kind not in _TEXTS:
            yield from metadata_of(file).items()
