"""What judges will see of each solution: words that could reveal its solver, and what is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from quem.blinding.redacting import highlight_html
from quem.blinding.rendering import render_solution
from quem.solutions.checking import lost_images
from quem.solutions.files import metadata_of
from quem.solutions.identity import NameSearch
from quem.solutions.losses import losses_of
from quem.solutions.patterns import plain, word_pattern
from quem.store.digests import keyed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quem.blinding.rendering import Part, Rendered
    from quem.solutions import Sheet, Solution
    from quem.solutions.identity import Hit
    from quem.study.models import Reviewed
    from webjudge.site import Site

_MOST_PLACES = 4
_TEXTS = ("markdown", "text", "code", "html")


@dataclass(frozen=True)
class Found:
    """Words in a solution that could reveal its solver."""

    words: str
    count: int  # how often they are there
    why: str  # what they are, such as "the name of the system S5"
    where: str  # lines or pages; may be empty
    elsewhere: int = 0  # in how many other solutions they are, undecided


@dataclass(frozen=True)
class ReviewedSolution:
    """A solution, or a page of text, with what was found in it."""

    # The solver of a page of text is empty, and so is the problem of one about no problem
    problem: str
    solver: str
    part: Solution | Sheet
    open: tuple[Found, ...]  # words that nothing was decided about yet
    decided: tuple[Reviewed, ...]  # what was decided, as the study file has it

    @property
    def has_words(self) -> bool:
        """Whether words were found in it, be they decided by now."""
        return bool(self.open) or any(one.solver for one in self.decided)

    @property
    def name(self) -> str:
        """What it is, for people."""
        if self.solver:
            return f"{self.solver} on {self.problem}"
        return f"the statement of {self.problem}" if self.problem else self.part.files[0].inner


class Review:
    """All solutions of a study in the order in which they are gone through."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._search = NameSearch(site.spec)
        self._hits = {
            (problem, solver, number): [
                hit for file in part.files for hit in self._search.hits(file, part.files)
            ]
            for number, (problem, solver, part) in enumerate(site.solutions.places())
        }

    @cached_property
    def solutions(self) -> list[ReviewedSolution]:
        """Each solution, problem by problem, those for practice last."""
        return [one for one in self._everything if one.solver]

    @cached_property
    def texts(self) -> list[ReviewedSolution]:
        """Statements, briefing and consent in which words are found."""
        return [one for one in self._everything if not one.solver and (one.open or one.decided)]

    @cached_property
    def _everything(self) -> list[ReviewedSolution]:
        decided: dict[tuple[str, str], list[Reviewed]] = {}
        for one in self._site.spec.judging.reviewed:
            decided.setdefault((one.problem, one.solver), []).append(one)
        parts = []
        for number, (problem, solver, part) in enumerate(self._site.solutions.places()):
            places = dict.fromkeys([(problem, solver), (problem, ""), ("", "")])
            mine = tuple(one for place in places for one in decided.get(place, ()))
            accepted = {plain(one.words) for one in mine if one.decision == "accept"}
            hits = self._hits[problem, solver, number]
            met = {plain(hit.text) for _, hit in hits}
            # What was accepted everywhere is told where it is.
            mine = tuple(one for one in mine if one.solver or plain(one.words) in met)
            waiting = [(place, hit) for place, hit in hits if plain(hit.text) not in accepted]
            parts.append(ReviewedSolution(problem, solver, part, _found(waiting), mine))
        counts = Counter(plain(one.words) for part in parts if part.solver for one in part.open)
        return [
            replace(
                part,
                open=tuple(
                    replace(one, elsewhere=counts[plain(one.words)] - bool(part.solver))
                    for one in part.open
                ),
            )
            for part in parts
        ]

    def find(self, problem: str, solver: str) -> ReviewedSolution | None:
        """Give a solution."""
        mine = (one for one in self.solutions if (one.problem, one.solver) == (problem, solver))
        return next(mine, None)

    def neighbors(
        self, current: ReviewedSolution, *, only_found: bool
    ) -> tuple[ReviewedSolution | None, ReviewedSolution | None]:
        """Give the solutions before and behind one."""
        kept = [one for one in self.solutions if one is current or one.has_words or not only_found]
        pairs: list[tuple[Any, Any]] = list(pairwise([None, *kept, None]))
        before = next(first for first, second in pairs if second is current)
        behind = next(second for first, second in pairs if first is current)
        return before, behind

    def version(self, one: ReviewedSolution) -> str:
        """Name what a solution holds now, for the list of those that were seen."""
        try:
            digest = one.part.digest if one.solver else ""  # type: ignore[union-attr]
        except OSError:
            digest = ""
        return keyed(self._site.secret, "seen", one.problem, one.solver, digest)[:10]


def _found(hits: list[tuple[str, Hit]]) -> tuple[Found, ...]:
    """Hits by words, in the order in which they are met."""
    by_words: dict[str, list[tuple[str, Hit]]] = {}
    for place, hit in hits:
        by_words.setdefault(plain(hit.text), []).append((place, hit))
    return tuple(
        Found(
            mine[0][1].text,
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
        yield f"{file.inner}, line {line}: the image {target} is not shown, only its text."


def removed(solution: Solution) -> Iterator[tuple[str, str]]:
    """Give the metadata that judges do not receive of a solution: the entry, and what it says."""
    for file in solution.files:
        if file.kind not in _TEXTS:
            yield from metadata_of(file).items()
