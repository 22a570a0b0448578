"""The solutions of a study, and the texts for judges, as files on disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from quem.blinding.same_look import level_signs
from quem.solutions.patterns import normal, plain, word_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from pathlib import Path

Kind = Literal["markdown", "text", "code", "html", "image", "pdf", "office", "workbook", "notebook"]
# Kinds that libraries in C and Rust parse.
PARSED: tuple[Kind, ...] = ("image", "pdf", "office", "workbook", "notebook")
# Kinds that support the uniform look.
LEVELED: tuple[Kind, ...] = ("markdown", "text", "html", "notebook")
Signature = tuple[int, int, int]
_MOST_DIGESTS = 20_000


def signature(path: Path) -> Signature:
    """The inode, change time, and size of a file, to detect changes."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


@dataclass(frozen=True)
class Redaction:
    """A redacted word or phrase of a solution."""

    words: str
    exact: bool = False  # whether its first letter is case-sensitive, as in names of people

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """The pattern of the words, as in the search for names."""
        return word_pattern(self.words, exact=self.exact)

    @property
    def line(self) -> str:
        """The line in the solution's digest: equal for redactions with equal matches."""
        if self.exact:
            return f"redacted as written {normal(self.words.strip())}\n"
        return f"redacted {plain(self.words)}\n"


@dataclass(frozen=True)
class SolutionFile:
    """A file of a solution, or of a page of text."""

    path: Path
    kind: Kind
    name: str  # as a user would name it, for messages
    inner: str  # path inside the solver's folder, with slashes; the name of a single file
    keep_headers: bool = False  # whether judges see headers and footers of a document
    # Redactions; the same for all files of a solution.
    redactions: tuple[Redaction, ...] = ()
    same_look: bool = False  # whether judges receive its text without formatting

    @property
    def digest(self) -> str:
        """SHA-256 of the current bytes; OSError if unreadable.

        It differs with redactions or the uniform look, as that of a solution does.
        """
        return _received_digest(file_digest(self.path), self.redactions, same_look=self.same_look)

    @property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The patterns of the redacted words."""
        forms = list(self.redactions)
        if self.same_look:
            forms += [replace(one, words=level_signs(one.words)) for one in forms]
        return tuple(dict.fromkeys(pattern for one in forms if (pattern := one.pattern)))


def _received_digest(digest: str, redactions: tuple[Redaction, ...], *, same_look: bool) -> str:
    """The digest of what judges receive; without changes that of the contents."""
    lines = ["same look\n"] if same_look else []
    lines += sorted({one.line for one in redactions})
    return (
        hashlib.sha256("".join([f"{digest}\n", *lines]).encode()).hexdigest() if lines else digest
    )


@dataclass(frozen=True)
class Solution:
    """A solver's solution of a problem."""

    problem: str
    solver: str
    files: tuple[SolutionFile, ...]  # in display order; at least one

    @property
    def digest(self) -> str:
        """SHA-256 of the current contents.

        Of a single file it is what ``sha256sum`` prints, and of a folder the SHA-256 of what
        ``sha256sum`` prints for its files, with their paths inside the folder, in the order in
        which they are shown. With redactions or the same look it is the SHA-256 of that digest on
        a line, of the line ``same look`` if a file has it, and of a line for each of the words,
        sorted: ``redacted `` and the words in small letters.
        """
        digest = file_digest(self.files[0].path)
        if len(self.files) > 1:
            listing = "".join(f"{file_digest(file.path)}  {file.inner}\n" for file in self.files)
            digest = hashlib.sha256(listing.encode()).hexdigest()
        same_look = any(file.same_look for file in self.files)
        return _received_digest(digest, self.redactions, same_look=same_look)

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """The redacted words."""
        return self.files[0].redactions


def is_unchanged(solution: Solution | None, digest: str) -> bool:
    """Whether a solution exists and has not changed."""
    try:
        return solution is not None and solution.digest == digest
    except OSError:
        return False


@dataclass(frozen=True)
class Sheet:
    """A text for judges: a problem's statement, the briefing, the consent."""

    # First the text, in Markdown, plain, or HTML, then its images.
    files: tuple[SolutionFile, ...]
    # Of briefing and consent, by language code.
    translations: dict[str, Sheet] = field(default_factory=dict, hash=False)


class StudyText(NamedTuple):
    """Words for judges that are in the study file, or in an invitation."""

    key: str
    problem: str  # empty if they belong to none
    text: str


@dataclass(frozen=True)
class Solutions:
    """The solutions and texts of a study."""

    # Problem to solver to solution, both in the order of the study file.
    by_problem: dict[str, dict[str, Solution]] = field(default_factory=dict)
    # Those of the practice problem, by name.
    practice: dict[str, Solution] = field(default_factory=dict)
    practice_problem: str = ""  # may be empty
    # By problem; only problems that have one.
    statements: dict[str, Sheet] = field(default_factory=dict)
    # Texts for judges
    briefing: Sheet | None = None
    consent: Sheet | None = None
    # Texts for subjects
    solving_briefing: Sheet | None = None
    solving_consent: Sheet | None = None
    told: tuple[StudyText, ...] = ()  # empty without solutions

    def group(self, problem: str) -> dict[str, Solution]:
        """The solutions of a problem, possibly that for practice, by solver."""
        if self.practice_problem and problem == self.practice_problem:
            return self.practice
        return self.by_problem.get(problem, {})

    def __iter__(self) -> Iterator[Solution]:
        """Iterate over all solutions, those for practice last."""
        for solutions in (*self.by_problem.values(), self.practice):
            yield from solutions.values()

    def __len__(self) -> int:
        """Number of solutions without those for practice."""
        return sum(map(len, self.by_problem.values()))

    def __bool__(self) -> bool:
        """Whether there is any solution."""
        return bool(len(self) or self.practice)

    def places(self) -> Iterator[tuple[str, str, Solution | Sheet]]:
        """All material for judges with its problem and its solver, which may be empty."""
        for solution in self:
            yield solution.problem, solution.solver, solution
        for problem, sheet in self.statements.items():
            yield problem, "", sheet
        for text in (self.briefing, self.consent):
            if text:
                yield from (("", "", sheet) for sheet in (text, *text.translations.values()))

    def sheets(self) -> Iterator[Sheet]:
        """Every page of text, with its translations."""
        own = (self.briefing, self.consent, self.solving_briefing, self.solving_consent)
        for sheet in (*self.statements.values(), *own):
            if sheet:
                yield sheet
                yield from sheet.translations.values()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal, cached until the file changes."""
    return _digest(path, signature(path))


@lru_cache(maxsize=_MOST_DIGESTS)
def _digest(path: Path, _signature: Signature) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
