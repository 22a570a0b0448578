"""Decisions about words in solutions: redacted for judges, or accepted."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from quem.errors import QuemError, StudyWarning
from quem.io.text import read_text, shown
from quem.solutions.files import DRAWING
from quem.solutions.model import Redaction, Solution, SolutionFile, Solutions
from quem.solutions.patterns import normal, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.studyfile.models import Reviewed
    from quem.studyfile.relevance import JudgedSpec

_MOST = 10
_TAG = re.compile(r"<[^>]*>|[*~`\\]")


def with_redactions(
    solutions: Solutions, spec: JudgedSpec, is_exact: Callable[[str], bool]
) -> Solutions:
    """The solutions with their redactions."""
    redactions: dict[tuple[str, str], list[Redaction]] = {}
    for one in spec.judging.reviewed:
        if one.decision == "redact":
            redaction = Redaction(one.words, is_exact(one.words))
            redactions.setdefault((one.problem, one.solver), []).append(redaction)

    def redacted(solution: Solution) -> Solution:
        mine = tuple(redactions.get((solution.problem, solution.solver), ()))
        if mine == solution.redactions:
            return solution
        files = tuple(replace(file, redactions=mine) for file in solution.files)
        return replace(solution, files=files)

    return replace(
        solutions,
        by_problem={
            problem: {solver: redacted(solution) for solver, solution in group.items()}
            for problem, group in solutions.by_problem.items()
        },
        practice={name: redacted(solution) for name, solution in solutions.practice.items()},
    )


def accepted_words(spec: JudgedSpec) -> Callable[[str, str], set[str]]:
    """A function of the accepted words of a solution or page of text, as `plain` writes them.

    It takes a problem and a solver, each empty if the text has none.
    """
    words: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for one in spec.judging.reviewed:
        if one.decision == "accept":
            words[one.problem, one.solver].add(plain(one.words))

    def accepted(problem: str, solver: str) -> set[str]:
        return words["", ""] | words[problem, ""] | words[problem, solver]

    return accepted


def unused_decisions(solutions: Solutions, spec: JudgedSpec) -> Iterator[StudyWarning]:
    """Warnings on decisions about words that are no longer there."""
    if not spec.judging.reviewed:
        return
    files: defaultdict[tuple[str, str], list[SolutionFile]] = defaultdict(list)
    for problem, solver, part in solutions.places():
        for place in {("", ""), (problem, ""), (problem, solver)}:
            files[place] += part.files
    unused = []
    for one in spec.judging.reviewed:
        pattern = Redaction(one.words).pattern
        about = files[one.problem, one.solver]
        if pattern and not any(_holds(file, pattern) for file in about):
            unused.append(one)
    for one in unused[:_MOST]:
        message = (
            f"judging.reviewed: the words {shown(one.words)} are no longer in {_place(one)}; "
            "delete the entry"
        )
        yield StudyWarning("decision-unused", message)
    if more := len(unused[_MOST:]):
        message = f"judging.reviewed: and {more} more entries are of words that are not there"
        yield StudyWarning("decision-unused", message)


def _place(one: Reviewed) -> str:
    if one.solver:
        return f"the solution of {one.solver} on {one.problem}"
    return f"any solution of {one.problem}" if one.problem else "anything that judges read"


def _holds(file: SolutionFile, pattern: re.Pattern[str]) -> bool:
    """Whether words are anywhere in a file, including parts hidden from judges."""
    try:
        if file.path.suffix.casefold() == DRAWING:
            from quem.blinding.drawings import drawing_text

            return bool(pattern.search(normal(drawing_text(file.path))))
        if file.kind == "image":
            return False
        if file.kind in ("pdf", "office", "workbook"):
            return any(pattern.search(normal(text)) for text in _texts(file))
        text = html.unescape(read_text(file.path, file.name, what="solution"))
    except QuemError:
        # Deleted meanwhile; finding the solutions reports unreadable files.
        return True
    return any(pattern.search(normal(form)) for form in (text, _TAG.sub("", text)))


def _texts(file: SolutionFile) -> Iterator[str]:
    """The texts of pages and sheets before redaction."""
    from quem.blinding.pages import pages_of
    from quem.blinding.rendering import sheet_texts

    bare = replace(file, redactions=())
    yield from (page.text for page in pages_of(bare))
    if file.kind == "workbook":
        yield from (text for _, text in sheet_texts(bare))
