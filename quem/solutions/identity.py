"""Words in solutions that name a solver."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from quem.blinding.cache import SizedCache
from quem.errors import QuemError, StudyWarning
from quem.io.text import read_text, shown
from quem.solutions.decisions import accepted_words
from quem.solutions.files import DRAWING
from quem.solutions.model import signature
from quem.solutions.patterns import BREAK, folded, key_of, loose, normal, plain, word_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.solutions.model import SolutionFile, Solutions
    from quem.study.relevance import JudgedSpec

_MOST_A_FILE = 3
_MOST_IN_ALL = 30
_SHORT = 2
_LEAST_PART = 3
_ROLES = (
    r"solver|subject|system|participant|student|person|expert|author|candidate|group|team|"
    r"no\.?|nr\.?|number|id"
)
_VERSION = r"v|ver|vers|version|release|rev|revision|build"
# Runs of text among other bytes, and how long a word must be not to be there by chance.
_PRINTED = re.compile(rb"[\x20-\x7e]{6,}")
_BY_CHANCE = 5
# What may stand inside a name, and is not seen: comments, tags, targets of links, emphasis.
_MARKUP = re.compile(r'<!--.*?-->|<(?:[^>"]|"[^"]*")*>|\]\([^)\n]*\)|[*~`\[\]\\]', re.DOTALL)
_NUMERAL = re.compile(r"[\d.,\-_ ]+")


@dataclass(frozen=True)
class Term:
    """Something that names a solver."""

    meaning: str  # what it is, for messages: "the name of S1"
    pattern: re.Pattern[str]
    key: str  # letters that each text with the term holds, folded; looking for them first is quick
    exact: bool = False  # whether small and capital letters differ


@dataclass(frozen=True)
class Hit:
    """A place where a text names a solver."""

    line: int
    text: str
    meaning: str
    word: str = ""  # the name of which the text is a form; otherwise the text


# A hit behind its place for messages.
PlacedHit = tuple[str, Hit]
# Searching thousands of files takes seconds, and most of them are the same the next time.
_found: SizedCache[object, list[PlacedHit]] = SizedCache(200_000)


class NameSearch:
    """Searches what judges receive for what names a solver."""

    def __init__(self, spec: JudgedSpec) -> None:
        self.known = terms(spec)
        self._key = hash(tuple(term.pattern for term in self.known))

    def hits(self, file: SolutionFile, files: Sequence[SolutionFile]) -> list[PlacedHit]:
        """Find each hit in a file, behind its place for messages: ":3", ": page 2", or nothing."""
        try:
            key = self._key, file, signature(file.path), len(files)
            if (found := _found.get(key)) is None:
                found = list(_hits_in(file, files, self.known))
                _found.put(key, found, 1 + len(found))
        except (OSError, QuemError):
            # It was there a moment ago; finding the solutions tells of what cannot be read.
            return []
        return found


def identity_warnings(solutions: Solutions, spec: JudgedSpec) -> Iterator[StudyWarning]:
    """Warn of each place where something that judges receive names a solver."""
    search, accepted = NameSearch(spec), accepted_words(spec)
    hits_by_file: dict[SolutionFile, list[PlacedHit]] = {}
    for problem, solver, part in solutions.places():
        fine = accepted(problem, solver)
        for file in part.files:
            if file in hits_by_file:
                continue
            hits = search.hits(file, part.files)
            if hits := [hit for hit in hits if plain(hit[1].text) not in fine]:
                hits_by_file[file] = hits
    left = _MOST_IN_ALL
    for file, hits in hits_by_file.items():
        for place, hit in hits[: min(_MOST_A_FILE, left)]:
            yield StudyWarning("identity", f'{file.name}{place}: names "{hit.text}", {hit.meaning}')
        left -= min(_MOST_A_FILE, left, len(hits))
        if left and len(hits) > _MOST_A_FILE:
            place = hits[_MOST_A_FILE][0].lstrip(": ")
            since = f", from line {place}" if place.isdecimal() else f", from {place}"
            message = f"{file.name}: and {len(hits) - _MOST_A_FILE} more{since if place else ''}"
            yield StudyWarning("identity", message)
        if not left:
            break
    shown = list(hits_by_file)[: list(hits_by_file).index(file) + 1] if hits_by_file else []
    if others := [file for file in hits_by_file if file not in shown]:
        count = sum(len(hits_by_file[file]) for file in others)
        yield StudyWarning("identity", f"and {count:,} more in {len(others):,} other files")


def terms(spec: JudgedSpec) -> list[Term]:
    """List what names a solver of a study: ids, names, versions and identity words.

    What is also an ordinary word or number is looked for only where it is used as a name:
    the version 1 as "v1", "version 1" or "<name> 1", the id 7 as "subject 7".
    """
    candidates = [_word(word, "an identity word") for word in spec.judging.identity_words]
    for subject in spec.subjects:
        candidates += _of_solver(subject.id, subject.name, "subject")
        candidates += _parts(subject.name, subject.id)
    for system in spec.systems:
        candidates += _of_solver(system.id, system.name, "system")
        candidates += [_word(system.of, f"what versions of {system.id} are called")]
        names = [system.id, system.name, system.of]
        candidates += _version(system.version, names, system.id)
    for solver in (*(assisted.id for assisted in spec.assisted), *spec.withheld):
        candidates += _of_solver(solver, "", "solver")
    unique: dict[str, Term] = {}
    for term in filter(None, candidates):
        unique.setdefault(term.pattern.pattern, term)
    return list(unique.values())


def find_hits(text: str, known: Iterable[Term]) -> list[Hit]:
    """Find every place where a text names a solver."""
    text = normal(text)
    letters = folded(text)
    spans = []
    for term in known:
        if term.key in letters:
            spans += [(m.start(), -m.end(), m[0], term) for m in term.pattern.finditer(text)]
    hits, end = [], 0
    for start, stop, word, term in sorted(spans, key=lambda span: span[:2]):
        if start >= end:
            line = text.count("\n", 0, start) + 1
            hits.append(Hit(line, " ".join(word.split()), term.meaning))
            end = -stop
    return hits


def is_exact(words: str, known: Iterable[Term]) -> bool:
    """Whether words are looked for as they are written, as first and family names are."""
    naming = [term for term in known if term.pattern.fullmatch(normal(words))]
    return bool(naming) and all(term.exact for term in naming)


def _hits_in(
    file: SolutionFile, files: Sequence[SolutionFile], known: list[Term]
) -> Iterator[PlacedHit]:
    """Each hit in what judges receive of a file, behind its place for messages."""
    if file.kind in ("pdf", "office", "workbook"):
        from quem.blinding.pages import pages_of

        yield from _hits_in_tables(file, known) if file.kind == "workbook" else ()
        for number, page in enumerate(pages_of(file), 1):
            yield from ((f": page {number}", hit) for hit in find_hits(page.text, known))
    elif file.path.suffix.casefold() == DRAWING:
        from quem.blinding.drawings import drawing_text

        text = drawing_text(file.path, file.patterns)
        yield from (("", hit) for hit in find_hits(text, known))
    elif file.kind == "image":
        from quem.blinding.images import clean_file

        texts = _PRINTED.findall(clean_file(file.path)[0])
        hits = find_hits("\n".join(text.decode("ascii") for text in texts), known)
        # Pixels look like short words now and then.
        yield from (("", hit) for hit in hits if len(hit.text) > _BY_CHANCE)
    else:
        yield from _hits_in_text(file, files, known)


def _hits_in_tables(file: SolutionFile, known: list[Term]) -> Iterator[PlacedHit]:
    """Each hit in a workbook, with its sheet."""
    from quem.blinding.rendering import sheet_texts

    for sheet, text in sheet_texts(file):
        yield from ((f": sheet {shown(sheet)}", hit) for hit in find_hits(text, known))


def _hits_in_text(
    file: SolutionFile, files: Sequence[SolutionFile], known: list[Term]
) -> Iterator[PlacedHit]:
    from quem.blinding.redacting import redact_text

    text = read_text(file.path, file.name, what="solution")
    if file.kind in ("html", "markdown"):
        # Line by line, since a character may be written as a line end.
        lines = (html.unescape(line) if "&" in line else line for line in text.split("\n"))
        text = "\n".join(" ".join(line.splitlines()) for line in lines)
    text = redact_text(text, file.patterns)
    written = find_hits(text, known)
    # Making the page takes long, so it is made only where it may hold a name.
    is_notebook = file.kind == "notebook"
    if not is_notebook and not written and not find_hits(_MARKUP.sub("", text), known):
        return
    from quem.blinding.rendering import read_as_judge

    received = find_hits(read_as_judge(file, files), known)
    if is_notebook:
        # Its lines are those of JSON, which nobody reads.
        yield from (("", hit) for hit in received)
        return
    # Judges do not receive comments, scripts and classes, so names there do no harm.
    met = {(hit.meaning, plain(hit.text)) for hit in received}
    yield from ((f":{hit.line}", hit) for hit in written if (hit.meaning, plain(hit.text)) in met)
    # Markup may split a name, which then has no line.
    met = {(hit.meaning, plain(hit.text)) for hit in written}
    yield from (("", hit) for hit in received if (hit.meaning, plain(hit.text)) not in met)


def _of_solver(solver: str, name: str, noun: str) -> Iterator[Term | None]:
    owner = f"the {noun} {solver}" if noun != "solver" else f"the solver {solver}"
    if len(solver) == 1 or _NUMERAL.fullmatch(solver):
        yield _form(rf"(?:{_ROLES})[\s_\-#]*", solver, f"the id of {owner}")
    else:
        yield _word(solver, f"the id of {owner}", exact=len(solver) <= _SHORT and solver.isalpha())
    if name and name != solver:
        yield _word(name, f"the name of {owner}")


def _parts(name: str, solver: str) -> Iterator[Term | None]:
    """First and family name of a person, as they are written: "may" is no May."""
    parts = re.findall(r"[^\W\d_][\w'\u2019\-]+", name)
    if len(name.split()) in (2, 3, 4):
        for part in parts:
            if len(part) >= _LEAST_PART and part[0].isupper():
                yield _word(part, f"part of the name of the subject {solver}", exact=True)


def _version(version: str, names: list[str], solver: str) -> Iterator[Term | None]:
    if not version:
        return
    meaning = f"the version of the system {solver}"
    bare = re.sub(r"(?i)^v(?:ersion)?[.\s]*(?=\d)", "", version)
    if len(bare) > _LEAST_PART and re.search(r"\d", bare) and re.search(r"[^\W\d_]", bare):
        yield _word(version, meaning)
        return
    called = "|".join(loose(name) for name in names if name)
    yield _form(rf"(?:(?:{_VERSION})\.?|{called}){BREAK}*", bare, meaning)


def _word(word: str, meaning: str, *, exact: bool = False) -> Term | None:
    """A term as a word, in small or capital letters unless `exact`."""
    pattern = word_pattern(word, exact=exact)
    return pattern and Term(meaning, pattern, key_of(normal(word.strip())), exact)


def _form(before: str, word: str, meaning: str) -> Term:
    """A term that names somebody only behind certain words."""
    pattern = rf"(?<![^\W_])(?:{before}){loose(word)}(?![^\W_]|\.\d)"
    return Term(meaning, _compiled(pattern), key_of(word))


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
