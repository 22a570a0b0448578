"""Errors, which users must correct, and warnings, which they must know."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

Findings = ParamSpec("Findings")


@dataclass(frozen=True, order=True)
class Mistake:
    """One thing that a user has to mend, and where.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    line, column : int
        Counted from 1; 0 where the mistake has no such place. In a CSV file the column is
        the number of the cell in its row, as a spreadsheet counts.
    key : str
        The key of the study file or the cell that is wrong; may be empty.
    message : str
        What is wrong and how to mend it.
    """

    path: str
    line: int = 0
    column: int = 0
    key: str = ""
    message: str = ""

    def __str__(self) -> str:
        """``path:line:column: key: message`` on one line, leaving out what is not known."""
        place = self.path
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        text = ": ".join(part for part in (place, self.key, self.message) if part)
        # A name from a table may hold line breaks or control codes.
        return "".join(sign if sign.isprintable() else " " for sign in text)


class QuemError(Exception):
    """All errors in the user's input at once.

    Parameters
    ----------
    mistakes : Mistake or str, or iterable of these
        At least one. A bare sentence is a mistake without a place.
    """

    def __init__(self, mistakes: Mistake | str | Iterable[Mistake | str]) -> None:
        if isinstance(mistakes, Mistake | str):
            mistakes = (mistakes,)
        self.mistakes = tuple(
            Mistake(path="", message=mistake) if isinstance(mistake, str) else mistake
            for mistake in mistakes
        )
        super().__init__("\n".join(map(str, self.mistakes)))

    def __reduce__(self) -> tuple[type[QuemError], tuple[tuple[Mistake, ...]]]:
        """Support pickling between processes."""
        return type(self), (self.mistakes,)


def refuse(mistakes: Iterable[Mistake | str]) -> None:
    """Raise an error with all that is wrong, each thing once; do nothing if nothing is."""
    if found := tuple(dict.fromkeys(mistakes)):
        raise QuemError(found)


@contextmanager
def collecting(
    mistakes: list[Mistake], place: Callable[[str], Mistake] | None = None
) -> Iterator[None]:
    """Collect the errors of a block, at a place if one is given, so that others can be found."""
    try:
        yield
    except QuemError as error:
        mistakes += [place(one.message) for one in error.mistakes] if place else error.mistakes


class FileError(QuemError):
    """A file that cannot be used or shown."""

    def __init__(self, path: Path, message: str) -> None:
        self.path, self.message = path, message
        super().__init__([Mistake(str(path), message=message)])

    def __reduce__(self) -> tuple[type[FileError], tuple[Path, str]]:  # type: ignore[override]
        """Support pickling between processes."""
        return type(self), (self.path, self.message)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Name the file that the system cannot read."""
    try:
        yield
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None


@dataclass(frozen=True)
class StudyWarning:
    """A caution attached to a result, which remains valid."""

    code: str  # stable, such as ``few-subjects``; in ``docs/reference/warnings.md``
    message: str  # observation; effect on the result; remedy


class WarningRules(Generic[Findings]):
    """A table of rules, each of which checks one reason to warn.

    A rule is a function of the findings that yields a sentence if its condition holds. Rules apply
    in order of declaration::

    RULES: WarningRules[OptionsFindings] = WarningRules()

    @RULES.add("few-questions", remedy="add questions")
        def _few_questions(findings: OptionsFindings) -> Iterator[str]:
            if findings.n_questions < 30:
                yield f"only {findings.n_questions} questions, so intervals are too narrow"
    """

    def __init__(self) -> None:
        self._rules: list[tuple[str, str, Callable[Findings, Iterator[str]]]] = []

    def add(
        self, code: str, *, remedy: str = ""
    ) -> Callable[[Callable[Findings, Iterator[str]]], Callable[Findings, Iterator[str]]]:
        """Declare a rule; the remedy, an imperative, ends each of its sentences."""

        def declare(rule: Callable[Findings, Iterator[str]]) -> Callable[Findings, Iterator[str]]:
            self._rules.append((code, f"; {remedy}" if remedy else "", rule))
            return rule

        return declare

    def find(self, *args: Findings.args, **kwargs: Findings.kwargs) -> Iterator[StudyWarning]:
        """Apply all rules."""
        for code, remedy, rule in self._rules:
            for sentence in rule(*args, **kwargs):
                yield StudyWarning(code, sentence + remedy)
