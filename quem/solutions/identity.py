"""Signs of authors in solutions: names in every form, and their replacements."""

from __future__ import annotations

import html
import os
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from quem.blinding.cache import SizedCache
from quem.blinding.spans import normalized, seen
from quem.errors import QuemError, StudyWarning
from quem.io.text import read_text, shown
from quem.solutions.decisions import accepted_words
from quem.solutions.files import DRAWING, metadata_of
from quem.solutions.model import SolutionFile, Solutions, signature
from quem.solutions.names import (
    WORDS,
    fold,
    folded,
    git_authors,
    is_generic,
    is_particle,
    key_of_name,
    person_in_id,
    spelled,
    tokens_of_name,
)
from quem.solutions.patterns import LONGEST, beside, is_unspaced, normal, plain, whole, word_pattern
from quem.solutions.telltales import CLOSINGS, telltales

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from quem.blinding.pdf import PdfPage
    from quem.solutions.model import StudyText
    from quem.studyfile.relevance import JudgedSpec

Level = Literal["decide", "maybe"]

_MOST_IN_ALL = 30
_LEAST_PART = 3
_LEAST_SMALL_PART = 4
_LEAST_LOGIN = 5
_LEAST_GLUED = 9
_LEAST_VERSION = 4
_ROLES = (
    r"solver|subject|system|participant|student|person|expert|author|candidate|group|team|"
    r"no\.?|nr\.?|number|id"
)
# Runs of text in binary data, and the length from which a word is unlikely by chance.
_PRINTED = re.compile(rb"[\x20-\x7e]{6,}")
_BY_CHANCE = 5
# Invisible characters inside a name: comments, tags, link targets, emphasis.
_MARKUP = re.compile(r'<!--.*?-->|<(?:[^>"]|"[^"]*")*>|\]\([^)\n]*\)|[*~`\[\]\\]', re.DOTALL)
_BETWEEN_NAMES = r"(?:[\s._\-,+*&/]|[^\w\x00-\x7f]){0,4}"
_BETWEEN_LETTERS = r"[\W_]{0,3}"
_BETWEEN_WORDS = r"[\s_.\-\u2010-\u2015]*"
# Cited authors are not authors of a solution: "Chen et al.", "(Chen, 2019)", "Chen, A.: ".
_CITED = re.compile(
    r"(?:['’]s)?(?:\s+et al\b"
    r"|(?:,?\s+(?:[A-Z]\.\s?)+)?"
    r"(?:[,;]?\s*(?:and|&|und|et)\s+[A-Z][\w\-]+(?:,?\s+(?:[A-Z]\.\s?)+)?)?,?\s*[(\[]?(?:19|20)\d\d\b"
    r"|(?:\s*,\s*[A-Z]\.)+\s*[:(,]|\.(?:,? ?[A-Z]\.)*\s*(?:[:(]|,?\s*(?:&|and)\s)|\d\d[a-z]?\])"
)
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Dear|Hi|Hello|Sir|Madam)\.?\s+$")
_LINE_END = re.compile(r"[^\w\n]*(?:\n|$)")
_SIGNED = re.compile(rf"(?i:\b(?:author|name|signed|by):\s*|\b(?:{CLOSINGS}),?[ \t]+)$")
_MONTHS = frozenset(("april", "may", "june", "august"))
# Metadata fields that name people, and programs that write themselves there.
_OF_PEOPLE = re.compile(
    r"author|creator|artist|owner|modified|manager|notes|copyright", re.IGNORECASE
)
_PROGRAMS = re.compile(
    r"openpyxl|python|microsoft|libre|office|latex|\btex\b|writer|adobe|\buser\b|admin|unknown|"
    r"anonymous|jupyter|word\b",
    re.IGNORECASE,
)
_JOINS = frozenset("@/\\_=-")
_JOINED = re.compile(r"[@/\\_=\-.]\w")
_HANDLE = re.compile(r"(?<![\w.@/])@([A-Za-z][\w\-]{2,})\b(?![(.])")


class _Source(NamedTuple):
    """The origin of a name."""

    meaning: str  # for messages: "the name of the subject S1"
    word: str  # the original name


@dataclass(frozen=True)
class Hit:
    """A sign of the author in a text."""

    line: int
    text: str
    meaning: str
    level: Level = "decide"
    word: str = ""  # the name behind a form; otherwise the text
    start: int = 0
    end: int = 0


# A hit after its place for messages.
PlacedHit = tuple[str, Hit]
# Searching thousands of files takes seconds, so results are cached by content.
_found: SizedCache[object, list[PlacedHit]] = SizedCache(200_000)
_words: SizedCache[object, frozenset[str]] = SizedCache(100_000)


class Names:
    """All names of a study's solvers, to be searched in texts."""

    def __init__(self, spec: JudgedSpec, metadata: Iterable[tuple[str, str, str]] = ()) -> None:
        """Take a study, and the metadata on authors: solver, field, and text."""
        self._full: list[tuple[re.Pattern[str], _Source, str, list[str], bool]] = []
        self._short: dict[str, _Source] = {}
        self._parts: dict[str, _Source] = {}
        self._ids: list[tuple[re.Pattern[str], _Source]] = []
        self._exact: list[tuple[re.Pattern[str], _Source]] = []
        self._ordinary: frozenset[str] = frozenset()
        for word in spec.judging.identity_words:
            self._as_written(word, "an identity word")
        for subject in spec.subjects:
            self._person(subject.id, subject.name, f"the subject {subject.id}")
        for system in spec.systems:
            self._system(system.id, f"the id of the system {system.id}")
            for name in dict.fromkeys((system.name, system.of)):
                if name and name != system.id:
                    self._system(name, f"a name of the system {system.id}")
            self._version(system.version, (system.id, system.name, system.of), system.id)
        for solver in (*(assisted.id for assisted in spec.assisted), *spec.withheld):
            self._as_written(solver, f"the id of the solver {solver}")
        for solver, field, text in metadata:
            self._of_metadata(text, f"{field} in a file of {solver}")
        self.key = hash(
            (
                tuple(pattern for pattern, *_ in (*self._full, *self._ids, *self._exact)),
                *self._short,
                *self._parts,
            )
        )

    def with_ordinary(self, words: Iterable[str]) -> Names:
        """The names with parts that the study's texts use as ordinary words."""
        self._ordinary = frozenset(words)
        self.key = hash((self.key, self._ordinary))
        return self

    def small_parts(self, text: str) -> frozenset[str]:
        """The parts of names that a text has in lower case, as ordinary words."""
        words, letters = key_of_name(text), key_of_name(_letters(text))
        for pattern, _, glued, *_ in self._full:
            if glued in letters:
                text = pattern.sub(" ", text)
        parts = _any_of(tuple(one for one in self._parts if one in words), are_whole=False)
        found = parts.finditer(text) if parts else ()
        alone = (match for match in found if not _is_inside(text, *match.span()))
        return frozenset(key_of_name(match[0]) for match in alone)

    def is_part(self, words: str) -> bool:
        """Whether words are only a part of a person's name, which must be capitalized."""
        return key_of_name(words) in self._parts and words[:1].isupper()

    def find(self, text: str, *, hints: bool = True) -> list[Hit]:
        """Every hit in a text; of overlapping ones the most serious, then the longest.

        Without hints, only names.
        """
        text = unicodedata.normalize("NFC", text)
        small, places = folded(text)
        if not small:
            return []
        found = [*self._find_names(text, small, places), *self._find_exact(text)]
        found += [
            _hit(text, one.start, one.end, _Source(one.meaning, ""), decide=one.decide)
            for one in (telltales(text) if hints else ())
        ]
        kept: list[Hit] = []
        for hit in sorted(found, key=lambda hit: (hit.level != "decide", hit.start - hit.end)):
            if not any(hit.start < other.end and other.start < hit.end for other in kept):
                kept.append(hit)
        return sorted(kept, key=lambda hit: hit.start)

    def _find_names(self, text: str, small: str, places: Sequence[int]) -> Iterator[Hit]:
        yield from self._find_full(text, small, places)
        # Substring search first is quick; patterns of all forms would take seconds.
        words = key_of_name(small)
        short = _any_of(tuple(one for one in self._short if one in words))
        parts = _any_of(tuple(one for one in self._parts if one in words), are_whole=False)
        for start, end, match in _spans(short, small, places):
            is_spoken = " " in match[0]
            if not is_spoken or text[start].isupper():
                decide = not (is_spoken and _CITED.match(text, end))
                source = self._short[key_of_name(match[0])]
                yield _hit(text, start, end, source, decide=decide)
        for pattern, source in self._ids:
            for start, end, _ in _spans(pattern, small, places):
                yield _hit(text, start, end, source)
        for start, end, match in _spans(parts, small, places):
            part, (first, last) = key_of_name(match[0]), match.span()
            # For Chen, "Chens"; but "Marks" is not Mark's, and "this" is not Thi's.
            least = _LEAST_SMALL_PART if text[start].isupper() else _LEAST_LOGIN
            if len(part) >= least and not self._is_word(part) and small[last : last + 1] == "s":
                last += 1
            if not _goes_on(text, small, (first, last), places):
                yield from self._find_part(text, start, end, part)
        for match in _HANDLE.finditer(text):
            who = key_of_name(match[1])
            if owner := self._parts.get(who) or self._short.get(who):
                yield _hit(text, *match.span(), owner)

    def _find_full(self, text: str, small: str, places: Sequence[int]) -> Iterator[Hit]:
        letters = key_of_name(_letters(small))
        for pattern, source, glued, tokens, is_turned in self._full:
            if glued not in letters:
                continue
            is_wordy = WORDS.issuperset(tokens)
            for start, end, match in _spans(pattern, small, places):
                is_long = end - start >= _LEAST_GLUED and not is_wordy
                if is_long or not _goes_on(text, small, match.span(), places):
                    decide = not is_wordy or _is_called_in_full(
                        text[start:end], text[:start][-1:], is_turned=is_turned
                    )
                    yield _hit(text, start, end, source, decide=decide)

    def _find_part(self, text: str, start: int, end: int, part: str) -> Iterator[Hit]:
        is_joined = _is_joined(text, start, end)
        if text[start].isupper():
            decide = not _CITED.match(text, end) and self._is_called(text, start, end, part)
            yield _hit(text, start, end, self._parts[part], decide=decide)
        elif not self._is_word(part):
            # In file names, code, and addresses, names are written in lower case.
            decide = is_joined or len(part) >= _LEAST_SMALL_PART
            yield _hit(text, start, end, self._parts[part], decide=decide)

    def _find_exact(self, text: str) -> Iterator[Hit]:
        cleaned, places = normal(text), list(range(len(text) + 1))
        if cleaned != text:
            cleaned, owners = normalized(text)
            places = [*(first for first, _ in owners), len(text)]
        for pattern, source in self._exact:
            for start, end, _ in _spans(pattern, cleaned, places):
                yield _hit(text, start, end, source)

    def _is_word(self, token: str) -> bool:
        return token in WORDS or token in self._ordinary

    def _is_called(self, text: str, start: int, end: int, part: str) -> bool:
        """Whether a part of a name is used as a name; one that is not a word always is."""
        if not self._is_word(part) or _TITLE.search(text[max(0, start - 12) : start]):
            return True
        if _SIGNED.search(text[max(0, start - 40) : start]) and _LINE_END.match(text, end):
            return True
        is_inside = re.search(r"\w+ $", text[max(0, start - 25) : start])
        return (
            bool(is_inside)
            and text[start + 1 : start + 2].islower()
            and part not in _MONTHS
            and not re.match(r"\s*\d|\s+[A-Z]|['’]s modulus", text[end : end + 12])
        )

    def _person(self, solver: str, name: str, owner: str) -> None:
        if is_generic(solver):
            self._role(solver, f"the id of {owner}")
        elif person_in_id(solver):
            self._names_of(person_in_id(solver), f"the name in the id of {owner}", is_id=True)
        else:
            self._system(solver, f"the id of {owner}")
        if tokens := tokens_of_name(name):
            self._names_of(tokens, f"the name of {owner}")
        elif name:
            self._as_written(name, f"the name of {owner}")

    def _of_metadata(self, text: str, meaning: str) -> None:
        tokens = tokens_of_name(text.partition("<")[0])
        if 1 < len(tokens) <= 5:  # noqa: PLR2004  more is a sentence
            self._names_of(tokens, meaning)
        elif len(tokens) == 1:
            self._system(text, meaning)

    def _names_of(self, tokens: list[str], meaning: str, *, is_id: bool = False) -> None:
        if len(tokens) == 1:
            if is_unspaced(tokens[0]):
                self._as_written(tokens[0], meaning)
            else:
                self._part(tokens[0], _Source(meaning, tokens[0]))
            return
        source = _Source(meaning, " ".join(tokens).title() if is_id else " ".join(tokens))
        real = [token for token in tokens if len(token) > 1] or tokens
        orders = {
            tuple(tokens): False,
            (tokens[0], tokens[-1]): False,
            (*tokens[1:], tokens[0]): True,
            (tokens[-1], *tokens[:-1]): True,
        }
        for order, is_turned in orders.items():
            pattern = _BETWEEN_NAMES.join(
                spelled(_letters(token), _BETWEEN_LETTERS) for token in order
            )
            glued = key_of_name(_letters("".join(order)))
            words = list(map(fold, real))
            self._full.append((_compiled(pattern), source, glued, words, is_turned))
        self._logins(tokens, source, is_id=is_id)
        for token in real:
            self._part(token, _Source(f"part of {meaning}", source.word))

    def _logins(self, tokens: list[str], source: _Source, *, is_id: bool) -> None:
        """Short forms: wchen, chenw, wei.c, W. Chen, Chen, W."""
        ends = [(tokens[0], "".join(tokens[1:])), (tokens[0], tokens[-1])]
        if is_id:
            # The family name is unknown.
            ends = [(tokens[0], "".join(tokens[1:])), (tokens[-1], "".join(tokens[:-1]))]
        short = _Source(f"a short form of {source.meaning}", source.word)
        for first, family in ends:
            one, other = key_of_name(_letters(first)), key_of_name(_letters(family))
            initial = one[:1]
            forms = (
                initial + other, f"{initial}.{other}", f"{initial}. {other}",
                f"{initial} {other}", other + initial, f"{other}, {initial}",
                f"{other} {initial}.", one + other[:1], f"{one}.{other[:1]}",
            )  # fmt: skip
            for form in forms:
                if len(form) >= _LEAST_LOGIN and form not in WORDS:
                    self._short.setdefault(form, short)
        self._short.setdefault(key_of_name(f"{tokens[0][0]}. {' '.join(tokens[1:])}"), short)
        if len(tokens) > 2:  # noqa: PLR2004  vandijk of Peter van Dijk
            self._short.setdefault(key_of_name(_letters("".join(tokens[1:]))), short)

    def _part(self, token: str, source: _Source) -> None:
        is_long = len(token) >= _LEAST_PART or is_unspaced(token)
        if is_long and not is_particle(fold(token)):
            self._parts.setdefault(key_of_name(token), source)

    def _role(self, solver: str, meaning: str) -> None:
        first, last = beside("s"), beside(solver[-1])
        pattern = rf"(?<!{first})(?:{_ROLES})[\s_\-#:]*{re.escape(solver)}(?!{last}|\.\d)"
        self._exact.append((re.compile(pattern, re.IGNORECASE), _Source(meaning, "")))

    def _system(self, name: str, meaning: str) -> None:
        """An id or title of a system: with other separators between its words, in any case."""
        if is_generic(name):
            self._role(name, meaning)
            return
        tokens = [fold(token) for token in re.findall(r"[^\W\d_]+|\d+", name)]
        if not tokens:
            return
        if all(token in WORDS for token in tokens):
            # An ordinary word counts only in its original case.
            self._as_written(name, meaning, exact=True)
            return
        last = r"\d|\.\d" if tokens[-1].isdigit() else beside(tokens[-1][-1], digits=False)
        words = _BETWEEN_WORDS.join(map(re.escape, tokens))
        pattern = f"(?<!{beside(tokens[0][0])}){words}(?!{last})"
        self._ids.append((_compiled(pattern), _Source(meaning, name)))

    def _version(self, version: str, names: Sequence[str], system: str) -> None:
        """A version counts only after its system's name, unless it is long enough to be a name."""
        meaning = f"the version of the system {system}"
        bare = re.sub(r"(?i)^v(?:ersion)?[.\s]*(?=\d)", "", version)
        if len(bare) >= _LEAST_VERSION and re.search(r"\d", bare) and re.search(r"[^\W\d_]", bare):
            self._system(version, meaning)
        elif bare:
            for name in filter(None, names):
                self._system(f"{name} {bare}", meaning)

    def _as_written(self, words: str, meaning: str, *, exact: bool = False) -> None:
        if pattern := word_pattern(words, exact=exact):
            self._exact.append((pattern, _Source(meaning, words)))


def terms(spec: JudgedSpec) -> Names:
    """The names of a study's solvers, from its study file alone."""
    return Names(spec)


def is_exact(words: str, known: Names) -> bool:
    """Whether words match in their original case only, as first and family names do."""
    return known.is_part(words)


class NameSearch:
    """A search of the judges' material for signs of a solver."""

    def __init__(self, spec: JudgedSpec, solutions: Solutions | None = None) -> None:
        self.known = Names(spec, metadata_on_people(solutions) if solutions else ())
        if solutions:
            users: defaultdict[str, set[str]] = defaultdict(set)
            for _, solver, part in solutions.places():
                for word in {word for file in part.files for word in self._small_parts(file)}:
                    users[word].add(solver)
            self.known.with_ordinary(word for word, solvers in users.items() if len(solvers) > 1)

    def hits(self, file: SolutionFile, files: Sequence[SolutionFile]) -> list[PlacedHit]:
        """The hits that need a decision, each after its place: ":3", ": page 2", or nothing."""
        return [one for one in self.all_hits(file, files) if one[1].level == "decide"]

    def all_hits(self, file: SolutionFile, files: Sequence[SolutionFile]) -> list[PlacedHit]:
        """All hits, including weak ones."""
        try:
            key = self.known.key, file, signature(file.path), len(files)
            if (found := _found.get(key)) is None:
                found = list(_hits_in(file, files, self.known))
                _found.put(key, found, 1 + len(found))
        except (OSError, QuemError):
            # Deleted meanwhile; finding the solutions reports unreadable files.
            return []
        return found

    def text_hits(self, told: StudyText) -> list[PlacedHit]:
        """The hits that need a decision in words of the study file, without hints."""
        found = self.known.find(told.text, hints=False)
        return [("", hit) for hit in found if hit.level == "decide"]

    def _small_parts(self, file: SolutionFile) -> frozenset[str]:
        if file.kind in ("image", "office", "workbook", "pdf"):
            return frozenset()
        try:
            key = self.known.key, signature(file.path)
            if (words := _words.get(key)) is None:
                words = self.known.small_parts(read_text(file.path, file.name, what="solution"))
                _words.put(key, words, 1 + len(words))
        except (OSError, QuemError):
            return frozenset()
        return words


def metadata_on_people(solutions: Solutions) -> Iterator[tuple[str, str, str]]:
    """The metadata of files and git on authors: solver, field, and text."""
    # Over all texts for judges, so that the most frequent committer is the organizer.
    folders = {file.path.parent for _, _, part in solutions.places() for file in part.files}
    root = Path(os.path.commonpath(folders)) if folders else Path()
    authors = git_authors(root) if folders else {}
    for solution in solutions:
        for file in solution.files:
            if file.kind in ("image", "pdf", "office", "workbook", "notebook"):
                for field, text in metadata_of(file).items():
                    if _OF_PEOPLE.search(field) and not _PROGRAMS.search(text):
                        yield solution.solver, field, text
            for author in sorted(authors.get(os.path.relpath(file.path, root), ())):
                if not _PROGRAMS.search(author):
                    yield solution.solver, "git author", author


class Word(NamedTuple):
    """A word that needs a decision, with its places in the judges' material."""

    text: str
    meaning: str
    # Names of files or keys, each with the place of the `PlacedHit`.
    places: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """Its first place, its meaning, and the number of other files."""
        name, place = self.places[0]
        others = len({one for one, _ in self.places}) - 1
        more = f", also in {others:,} other file{'' if others == 1 else 's'}" if others else ""
        return f'{name}{place}: "{self.text}", {self.meaning}{more}'


def words_in(solutions: Solutions, spec: JudgedSpec) -> tuple[list[Word], list[Word]]:
    """The words that need a decision, most frequent first, and weak ones."""
    search, accepted = NameSearch(spec, solutions), accepted_words(spec)
    found: defaultdict[Level, dict[tuple[str, ...], list[tuple[str, str]]]] = defaultdict(dict)
    for told in solutions.told:
        fine = accepted(told.problem, "")
        for place, hit in search.text_hits(told):
            if plain(hit.text) not in fine:
                # A word of its own, so that its key is named.
                own = hit.word or hit.text, hit.meaning, told.key
                found[hit.level].setdefault(own, []).append((told.key, place))
    seen: set[SolutionFile] = set()
    for problem, solver, part in solutions.places():
        fine = accepted(problem, solver)
        for file in part.files:
            if file in seen:
                continue
            seen.add(file)
            for place, hit in search.all_hits(file, part.files):
                if plain(hit.text) not in fine:
                    word = hit.word or hit.text, hit.meaning
                    found[hit.level].setdefault(word, []).append((file.name, place))
    return _by_word(found["decide"]), _by_word(found["maybe"])


def _by_word(found: Mapping[tuple[str, ...], list[tuple[str, str]]]) -> list[Word]:
    words = [Word(text, meaning, tuple(places)) for (text, meaning, *_), places in found.items()]
    return sorted(words, key=lambda word: -len({file for file, _ in word.places}))


def identity_warnings(solutions: Solutions, spec: JudgedSpec) -> Iterator[StudyWarning]:
    """A warning per word that identifies a solver, with its places."""
    words, _ = words_in(solutions, spec)
    for word in words[:_MOST_IN_ALL]:
        yield StudyWarning("identity", word.line)
    if (more := len(words) - _MOST_IN_ALL) > 0:
        yield StudyWarning("identity", f"and {more:,} more words")


def _hit(text: str, start: int, end: int, source: _Source, *, decide: bool = True) -> Hit:
    start, end = whole(text, start, end)
    words = " ".join(seen(text[start:end]).split())
    level: Level = "decide" if decide and end - start <= LONGEST else "maybe"
    line = text.count("\n", 0, start) + 1
    return Hit(line, words, source.meaning, level, source.word, start, end)


def _is_hump(text: str, place: int) -> bool:
    return text[place].isupper() and text[place - 1].islower()


def _spans(
    pattern: re.Pattern[str] | None, small: str, places: Sequence[int]
) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Each match in a folded text, after its place in the original."""
    for match in pattern.finditer(small) if pattern else ():
        # With the marks of the last letter.
        end = max(places[match.end()], places[match.end() - 1] + 1)
        yield places[match.start()], end, match


def _goes_on(text: str, small: str, span: tuple[int, int], places: Sequence[int]) -> bool:
    """Whether a match is inside a longer word, other than in CamelCase."""
    (start, end), signs = span, [text[places[place]] for place in (span[0], span[1] - 1)]
    before = start > 0 and re.match(beside(signs[0], digits=False), text[places[start - 1]])
    behind = end < len(small) and re.match(beside(signs[1], digits=False), text[places[end]])
    return bool(
        (before and not _is_hump(text, places[start]))
        or (behind and not _is_hump(text, places[end - 1] + 1))
    )


def _is_called_in_full(words: str, before: str, *, is_turned: bool) -> bool:
    """Whether a name of ordinary words is written as a name."""
    tokens = re.findall(r"\w+", words)
    is_capital = all(one[0].isupper() for one in tokens) or sum(len(one) == 1 for one in tokens) > 3  # noqa: PLR2004
    is_camel = bool(re.search(r"[a-zß-ÿ][A-ZÀ-Þ]", words))
    is_written = is_capital and (not is_turned or len(tokens) > 1 or is_camel)
    return is_written or before in ("@", "/", "\\") or "." in words or "_" in words


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether a word is part of a longer word or of an identifier."""
    around = text[:start][-1:] + text[end : end + 1]
    return any(sign.isalnum() for sign in around) or _is_joined(text, start, end)


def _is_joined(text: str, start: int, end: int) -> bool:
    """Whether a word is part of an address, a path, or an identifier."""
    before, behind = text[:start][-1:], text[end : end + 2]
    is_quoted = before in ("'", '"') and behind[:1] == before
    is_owner = behind in ("'s", "’s")
    return is_quoted or is_owner or before in _JOINS or bool(_JOINED.match(behind))


@lru_cache(maxsize=1024)
def _any_of(words: tuple[str, ...], *, are_whole: bool = True) -> re.Pattern[str] | None:
    """A pattern of any of these words, whole or in CamelCase."""
    alternatives = [
        f"(?<!{beside(word[0], digits=False)}){spelled(word)}(?!{beside(word[-1], digits=False)})"
        if are_whole
        else spelled(word)
        for word in sorted(words, key=len, reverse=True)
    ]
    return re.compile("|".join(alternatives)) if alternatives else None


def _letters(words: str) -> str:
    return re.sub(r"[\W_]+", "", words)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _hits_in(
    file: SolutionFile, files: Sequence[SolutionFile], known: Names
) -> Iterator[PlacedHit]:
    """Each hit in a file as judges receive it, after its place for messages."""
    if file.kind in ("pdf", "office", "workbook"):
        from quem.blinding.pages import pages_of

        yield from _hits_in_tables(file, known) if file.kind == "workbook" else ()
        for number, page in enumerate(pages_of(file), 1):
            yield from ((f": page {number}", hit) for hit in _hits_on_page(page, known))
    elif file.path.suffix.casefold() == DRAWING:
        from quem.blinding.drawings import drawing_text

        yield from (("", hit) for hit in known.find(drawing_text(file.path, file.patterns)))
    elif file.kind == "image":
        from quem.blinding.images import clean_file

        texts = _PRINTED.findall(clean_file(file.path)[0])
        hits = known.find("\n".join(text.decode("ascii") for text in texts))
        # Pixels contain short words by chance.
        yield from (("", hit) for hit in hits if len(hit.text) > _BY_CHANCE)
    else:
        yield from _hits_in_text(file, files, known)


def _hits_on_page(page: PdfPage, known: Names) -> Iterator[Hit]:
    """Each hit on a page, once where several readings have it."""
    met: set[tuple[str, str]] = set()
    for text in page.texts:
        hits = [(hit, (hit.meaning, plain(hit.text))) for hit in known.find(text)]
        here = {key for _, key in hits}
        # Parts of a name that is whole in another reading are no hits of their own.
        whole = [words for _, words in met - here]
        for hit, key in hits:
            if key not in met and not any(key[1] in words for words in whole):
                yield hit
        met |= here


def _hits_in_tables(file: SolutionFile, known: Names) -> Iterator[PlacedHit]:
    """Each hit in a workbook with its sheet."""
    from quem.blinding.rendering import sheet_texts

    for sheet, text in sheet_texts(file):
        yield from ((f": sheet {shown(sheet)}", hit) for hit in known.find(text))


def _hits_in_text(
    file: SolutionFile, files: Sequence[SolutionFile], known: Names
) -> Iterator[PlacedHit]:
    from quem.blinding.redacting import redact_text

    text = read_text(file.path, file.name, what="solution")
    if file.kind in ("html", "markdown"):
        # Line by line, since a character may be written as a line end.
        lines = (html.unescape(line) if "&" in line else line for line in text.split("\n"))
        text = "\n".join(" ".join(line.splitlines()) for line in lines)
    text = redact_text(text, file.patterns)
    written = known.find(text)
    # Rendering is slow, so it is done only if the file may hold a name.
    is_notebook = file.kind == "notebook"
    if not is_notebook and not written and not known.find(_MARKUP.sub("", text)):
        return
    from quem.blinding.rendering import read_as_judge

    received = known.find(read_as_judge(file, files))
    if is_notebook:
        # Line numbers of its JSON are meaningless to readers.
        yield from (("", hit) for hit in received)
        return
    # Judges do not receive comments, scripts, and classes, so names there are harmless.
    met = {(hit.meaning, plain(hit.text)) for hit in received}
    yield from ((f":{hit.line}", hit) for hit in written if (hit.meaning, plain(hit.text)) in met)
    # A name split by markup has no line number.
    met = {(hit.meaning, plain(hit.text)) for hit in written}
    yield from (("", hit) for hit in received if (hit.meaning, plain(hit.text)) not in met)
