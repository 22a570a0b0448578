"""Review of solutions: words that could reveal a solver, and lost content."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from quem.blinding.redacting import TAG, flat, highlight_html
from quem.blinding.rendering import Part, Rendered, render_solution, text_of
from quem.solutions import Sheet, Solution
from quem.solutions.checking import lost_images
from quem.solutions.files import metadata_of
from quem.solutions.identity import Hit, NameSearch, PlacedHit
from quem.solutions.losses import losses_of
from quem.solutions.model import StudyText
from quem.solutions.patterns import normal, plain, word_pattern
from quem.store.digests import keyed
from quem.store.reviewing import freeze_review, is_frozen, is_reviewed, reviewed_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quem.studyfile.models import Reviewed
    from webjudge.site import Site

_MOST_PLACES = 4
_TEXTS = ("markdown", "text", "code", "html")
_AROUND = 90  # characters of context on each side of a word
_SECONDS_EACH = 20  # seconds per word or solution
_ROUNDED_TO = 5


@dataclass(frozen=True)
class Found:
    """Words in a solution that could reveal its solver."""

    words: str
    word: str  # base form, such as the whole name
    count: int  # number of occurrences
    why: str  # description, such as "the name of the system S5"
    where: str  # lines or pages; may be empty


@dataclass(frozen=True)
class ReviewedSolution:
    """A solution or text page with its findings."""

    # For text pages the solver is empty, and so is the problem if there is none.
    problem: str
    solver: str
    part: Solution | Sheet | StudyText
    token: str  # opaque id in URLs
    open: tuple[Found, ...]  # undecided words
    decided: tuple[Reviewed, ...]  # decisions in the study file
    is_reviewed: bool = False  # whether an organizer reviewed the current version

    @property
    def name(self) -> str:
        """A text page's title, or the key of words in the study file."""
        if isinstance(self.part, StudyText):
            return self.part.key
        return f"the statement of {self.problem}" if self.problem else self.part.files[0].inner

    @property
    def digest(self) -> str:
        """Digest of what judges receive; empty if unreadable."""
        try:
            return self.part.digest if isinstance(self.part, Solution) else ""
        except OSError:
            return ""

    def open_forms(self, word: str) -> list[str]:
        """Undecided forms of a word in this solution."""
        return [one.words for one in self.open if plain(one.word) == plain(word)]


@dataclass(frozen=True)
class Word:
    """Words that could reveal a solver, with the solutions that contain them."""

    words: str
    why: str
    forms: tuple[str, ...]  # as they are written
    open: tuple[ReviewedSolution, ...]  # solutions without a decision
    replaced: int = 0  # number of solutions with redaction
    kept: bool = False  # whether accepted in a solution or everywhere


class Review:
    """A study's solutions in the order of the review."""

    def __init__(self, site: Site) -> None:
        self._site = site
        search = NameSearch(site.spec, site.solutions)
        # Problem, solver, and content of all that judges read, with its hits.
        self._read: list[tuple[str, str, Solution | Sheet | StudyText, list[PlacedHit]]] = []
        for problem, solver, part in site.solutions.places():
            hits = [hit for file in part.files for hit in search.hits(file, part.files)]
            self._read.append((problem, solver, part, hits))
        for told in site.solutions.told:
            self._read.append((told.problem, "", told, search.text_hits(told)))

    @cached_property
    def solutions(self) -> list[ReviewedSolution]:
        """Solutions by problem, practice last, in an order independent of the solver."""
        mine = [one for one in self._everything if one.solver]
        problems = [*self._site.solutions.by_problem, self._site.solutions.practice_problem]
        return sorted(mine, key=lambda one: (problems.index(one.problem), one.token))

    @cached_property
    def counting(self) -> list[ReviewedSolution]:
        """The solutions without practice."""
        return [one for one in self.solutions if one.problem in self._site.solutions.by_problem]

    @cached_property
    def texts(self) -> list[ReviewedSolution]:
        """Statements, briefing, and consent with findings."""
        return [one for one in self._everything if not one.solver and (one.open or one.decided)]

    @cached_property
    def words(self) -> list[Word]:
        """Words found or decided on in solutions, open ones first."""
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
        # Longest first: a whole name, then its remaining parts.
        return sorted(words, key=lambda word: (not word.open, word.why, -len(word.words)))

    @property
    def open(self) -> list[Word]:
        """The undecided words."""
        return [word for word in self.words if word.open]

    @property
    def unreviewed(self) -> list[ReviewedSolution]:
        """Solutions whose current version is not reviewed."""
        return [one for one in self.counting if not one.is_reviewed]

    @property
    def facts(self) -> dict[str, int]:
        """Counts of the review, for the report."""
        return {
            "reviewed": len(self.counting) - len(self.unreviewed),
            "of": len(self.counting),
            "replaced": sum(word.replaced > 0 for word in self.words),
            "kept": sum(word.kept and not word.replaced for word in self.words),
            "open": len(self.open) + sum(len(text.open) for text in self.texts),
        }

    @property
    def marked_kind(self) -> str:
        """The one kind of solver with redactions, "systems" or "people", if the study has both."""
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
        for problem, solver, part, hits in self._read:
            about = dict.fromkeys([(problem, solver), (problem, ""), ("", "")])
            mine = tuple(one for place in about for one in decided.get(place, ()))
            accepted = {plain(one.words) for one in mine if one.decision == "accept"}
            met = {plain(hit.text) for _, hit in hits}
            # Words accepted everywhere are listed only where they occur.
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
        """The solution with a token."""
        return next((one for one in self.solutions if one.token == token), None)

    def word(self, words: str) -> Word | None:
        """The entry of a word that was found or decided on."""
        return next((one for one in self.words if plain(one.words) == plain(words)), None)

    def next_unreviewed(self, after: ReviewedSolution) -> ReviewedSolution | None:
        """The next unreviewed solution, wrapping around."""
        place = self.solutions.index(after)
        rest = [*self.solutions[place + 1 :], *self.solutions[:place]]
        return next((one for one in rest if one in self.unreviewed), None)


def freeze(site: Site) -> None:
    """Store the counts of the review when the first judge starts to rank."""
    with site.store.read() as c:
        if is_frozen(c, site.id):
            return
    facts = Review(site).facts
    if site.spec.judging.same_look:
        facts["same_look"] = True
    with site.store.write() as c:
        freeze_review(c, site.id, facts)


def left_to_review(site: Site, *, is_new: bool = False) -> dict[str, int]:
    """Counts of undecided words and unreviewed solutions; empty if there are none.

    Empty after the first ranking, too, unless rankings begin anew.
    """
    with site.store.read() as c:
        if not is_new and is_frozen(c, site.id):
            return {}
    facts = Review(site).facts
    words, left = facts["open"], facts["of"] - facts["reviewed"]
    counts = {"words": words, "left": left, "of": facts["of"], "minutes": minutes_for(words + left)}
    return counts if words or left else {}


def minutes_for(count: int) -> int:
    """Estimated minutes to review a number of words and solutions."""
    minutes = max(round(count * _SECONDS_EACH / 60), 1)
    return minutes if minutes < _ROUNDED_TO else _ROUNDED_TO * round(minutes / _ROUNDED_TO)


def holds(solution: Solution, words: str) -> bool:
    """Whether judges receive words, possibly in a picture."""
    pattern = word_pattern(words)
    is_drawn = any(file.kind == "image" for file in solution.files)
    return is_drawn or bool(pattern and pattern.search(normal(text_of(solution))))


def sentence(one: ReviewedSolution, word: str) -> tuple[str, str, str] | None:
    """The text before a word, the word, and the text after it; None if judges do not see it."""
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
    """Group hits by words, in order of appearance."""
    by_words: dict[str, list[tuple[str, Hit]]] = {}
    for place, hit in hits:
        by_words.setdefault(plain(hit.text), []).append((place, hit))
    # A form in small letters stands for all.
    return tuple(
        Found(
            max((hit.text for _, hit in mine), key=lambda text: text[:1].islower()),
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
    """Render a solution as judges see it, with found words highlighted."""
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
    """Yield a sentence per part of a solution that judges do not see."""
    for loss in losses_of(solution.files):
        place = f"Line {loss.line}: " if loss.line else ""
        yield f"{place}{loss.warning.message}."
    for file, line, target in lost_images(solution.files):
        # The file name may name the solver.
        place = (
            f"File {solution.files.index(file) + 1}, line" if len(solution.files) > 1 else "Line"
        )
        yield f"{place} {line}: the image {target} is not shown, only its text."


def removed(solution: Solution) -> Iterator[tuple[str, str]]:
    """Yield the removed metadata of a solution as pairs of key and value."""
    for file in solution.files:
        if file.kind not in _TEXTS:
            yield from metadata_of(file).items()
