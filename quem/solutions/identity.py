"""Words in solutions that name a solver."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import QuemError, StudyWarning
from quem.io.text import read_text, shown
from quem.solutions.files import DRAWING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.solutions.model import SolutionFile, Solutions
    from quem.study.models import ExperienceSpec

__all__ = ["Hit", "Term", "find_hits", "identity_warnings", "terms"]


_MOST_A_FILE = 3
_MOST_IN_ALL = 30
_SHORT = 2
_LEAST_PART = 3
# Words that people write with a space, a hyphen, an underscore or nothing between.
_BREAK = r"[\s_\-\u2010-\u2015]"
_UNSEEN = str.maketrans(dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""))
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
    """Something that names a solver.

    Parameters
    ----------
    meaning : str
        What it is, for messages: "the name of S1".
    key : str
        Letters that each text with the term holds, folded; looking for them first is quick.
    """

    meaning: str
    pattern: re.Pattern[str]
    key: str


@dataclass(frozen=True)
class Hit:
    """A place where a text names a solver."""

    line: int
    text: str
    meaning: str


def identity_warnings(solutions: Solutions, spec: ExperienceSpec) -> Iterator[StudyWarning]:
    """Warn of each place where something that judges receive names a solver.

    Parameters
    ----------
    solutions : Solutions
        What judges receive of them is read, and so is what they receive of statements, briefing
        and consent: texts as they are shown, pages of PDFs and documents, sheets of workbooks,
        and the bytes of images.
    """
    known = terms(spec)
    hits_by_file: dict[SolutionFile, list[tuple[str, Hit]]] = {}
    for part in (*solutions, *solutions.sheets()):
        for file in part.files:
            if file not in hits_by_file and (hits := list(_hits_in(file, part.files, known))):
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


def terms(spec: ExperienceSpec) -> list[Term]:
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
    """Find every place where a text names a solver.

    Returns
    -------
    list of Hit
        In the order of the text. Of what overlaps the longest counts.
    """
    text = unicodedata.normalize("NFC", text.translate(_UNSEEN))
    folded = _folded(text)
    spans = []
    for term in known:
        if term.key in folded:
            spans += [(m.start(), -m.end(), m[0], term) for m in term.pattern.finditer(text)]
    hits, end = [], 0
    for start, stop, word, term in sorted(spans, key=lambda span: span[:2]):
        if start >= end:
            line = text.count("\n", 0, start) + 1
            hits.append(Hit(line, " ".join(word.split()), term.meaning))
            end = -stop
    return hits


def _hits_in(
    file: SolutionFile, files: Sequence[SolutionFile], known: list[Term]
) -> Iterator[tuple[str, Hit]]:
    """Each hit in what judges receive of a file, behind its place for messages."""
    try:
        if file.kind in ("pdf", "office", "workbook"):
            from quem.blinding.pages import pages_of

            yield from _hits_in_tables(file, known) if file.kind == "workbook" else ()
            for number, page in enumerate(pages_of(file), 1):
                yield from ((f": page {number}", hit) for hit in find_hits(page.text, known))
        elif file.path.suffix.casefold() == DRAWING:
            from quem.blinding.drawings import drawing_text

            yield from (("", hit) for hit in find_hits(drawing_text(file.path), known))
        elif file.kind == "image":
            from quem.blinding.images import clean_file

            texts = _PRINTED.findall(clean_file(file.path)[0])
            hits = find_hits("\n".join(text.decode("ascii") for text in texts), known)
            # Pixels look like short words now and then.
            yield from (("", hit) for hit in hits if len(hit.text) > _BY_CHANCE)
        else:
            yield from _hits_in_text(file, files, known)
    except QuemError:
        # It was there a moment ago; finding the solutions tells of what cannot be read.
        return


def _hits_in_tables(file: SolutionFile, known: list[Term]) -> Iterator[tuple[str, Hit]]:
    """Each hit in a workbook, with its sheet."""
    from quem.blinding.rendering import sheet_texts

    for sheet, text in sheet_texts(file):
        yield from ((f": sheet {shown(sheet)}", hit) for hit in find_hits(text, known))


def _hits_in_text(
    file: SolutionFile, files: Sequence[SolutionFile], known: list[Term]
) -> Iterator[tuple[str, Hit]]:
    text = read_text(file.path, file.name, what="solution")
    if file.kind in ("html", "markdown"):
        # Line by line, since a character may be written as a line end.
        lines = (html.unescape(line) if "&" in line else line for line in text.split("\n"))
        text = "\n".join(" ".join(line.splitlines()) for line in lines)
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
    received_meanings = {hit.meaning for hit in received}
    yield from ((f":{hit.line}", hit) for hit in written if hit.meaning in received_meanings)
    # Markup may split a name, which then has no line.
    written_meanings = {hit.meaning for hit in written}
    yield from (("", hit) for hit in received if hit.meaning not in written_meanings)


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
    called = "|".join(_loose(name) for name in names if name)
    yield _form(rf"(?:(?:{_VERSION})\.?|{called}){_BREAK}*", bare, meaning)


def _word(word: str, meaning: str, *, exact: bool = False) -> Term | None:
    """A term as a word, in small or capital letters unless `exact`."""
    word = unicodedata.normalize("NFC", word.strip())
    if not re.search(r"\w", word):
        return None
    # "acme_1" and "ACME2" name ACME; "S11" and "P1.5" do not name S1 and P1.
    after = r"(?![^\W_])" if word[-1].isdecimal() or len(word) <= _SHORT else r"(?![^\W\d_])"
    before = r"(?<![^\W_])"
    flags = re.NOFLAG if exact else re.IGNORECASE
    return Term(meaning, re.compile(before + _loose(word) + after, flags), _key(word))


def _form(before: str, word: str, meaning: str) -> Term:
    """A term that names somebody only behind certain words."""
    pattern = rf"(?<![^\W_])(?:{before}){_loose(word)}(?![^\W_]|\.\d)"
    return Term(meaning, re.compile(pattern, re.IGNORECASE), _key(word))


def _loose(word: str) -> str:
    """A pattern that allows for other spaces and hyphens."""
    parts = [re.escape(part) for part in re.split(rf"{_BREAK}+", word) if part]
    return f"{_BREAK}*".join(parts)


def _key(word: str) -> str:
    return _folded(max(re.split(rf"{_BREAK}+", word), key=len))


def _folded(text: str) -> str:
    return text.lower()
