"""Errors and warnings about the solutions of a study."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.text import read_text, shown
from quem.solutions.decisions import unused_decisions
from quem.solutions.finding import find_solutions, printable
from quem.solutions.sheets import inner_path, is_unwritten, references
from quem.studyfile.blocks import LONGEST_LIST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quem.solutions.model import Kind, Solution, SolutionFile, Solutions
    from quem.studyfile.reading import StudyFile
    from quem.studyfile.relevance import JudgedSpec

_MOST_FILES = 10
# Signs of a solution's author that need a decision.
GIVES_AWAY = ("identity", "hidden-text", "formats-differ")
_WITH_METADATA = ("image", "pdf", "office", "workbook", "notebook")
_NAMES: dict[Kind, str] = {
    "markdown": "Markdown",
    "text": "plain text",
    "code": "code",
    "html": "HTML",
    "image": "an image",
    "pdf": "a PDF",
    "office": "a document",
    "workbook": "a workbook",
    "notebook": "a notebook",
}


def awaits_rankings(file: StudyFile) -> bool:
    """Whether the rankings of a study are to come from judging its solutions."""
    return file.source is not None and (file.source.source == "store" or not file.source.file)


def check_solutions(
    file: StudyFile,
    *,
    complete: bool,
    sandboxed: bool = True,
    tell: Callable[[int, int], object] = lambda _done, _all: None,
) -> tuple[Solutions, list[Mistake], list[StudyWarning]]:
    """Check the solutions of a study, and search them for signs of their authors.

    Documents and workbooks are converted unless cached.
    """
    from quem.blinding.office import prepare

    solutions, mistakes, warnings = find_solutions(file, complete=complete)
    files = [one for solution in solutions for one in solution.files]
    mistakes += prepare(files, sandboxed=sandboxed, tell=tell)
    if file.spec is not None:
        warnings += find_warnings(solutions, file.spec)
    return solutions, mistakes, warnings


def find_warnings(solutions: Solutions, spec: JudgedSpec) -> list[StudyWarning]:
    """Warnings on signs of a solver in solutions and texts."""
    from quem.solutions.identity import identity_warnings

    doubts = [
        *identity_warnings(solutions, spec),
        *unused_decisions(solutions, spec),
        *_formats(solutions),
        *_lost_images(solutions),
        *_losses(solutions),
        *_unwritten(solutions),
        *_long_lists(solutions, spec),
        *_machines(solutions, spec),
    ]
    return [printable(warning) for warning in doubts]


def _machines(solutions: Solutions, spec: JudgedSpec) -> Iterator[StudyWarning]:
    """Warnings on texts addressed to machine judges, and on consent forms that omit these."""
    if not spec.machines:
        return
    from quem.solutions.pleas import plea_warnings

    yield from plea_warnings(solutions)
    hosts = spec.machine.shared_with if spec.machine else ()
    if hosts and (solutions.consent or solutions.solving_consent):
        message = (
            f"solutions may be sent to {', '.join(hosts)} for machine judges; check that the "
            "consent form says so"
        )
        yield StudyWarning("machine-consent", message)


def _unwritten(solutions: Solutions) -> Iterator[StudyWarning]:
    """Warnings on placeholder texts that judges would read."""
    sheets = (sheet for sheet in solutions.sheets() if is_unwritten(sheet))
    names = list(dict.fromkeys(sheet.files[0].name for sheet in sheets))
    if names:
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        message = f"{names[0]}{more}: a line begins with TODO; write the text, and delete the line"
        yield StudyWarning("unwritten-text", message)


class Unasked(NamedTuple):
    """Findings without a decision: removed automatically, or too weak."""

    removed: list[str]  # removed content, one line per file
    weak: list[str]  # one line per word


def unasked(solutions: Solutions, spec: JudgedSpec) -> Unasked:
    """Content that is removed from solutions automatically, and words that are hardly names."""
    from quem.solutions.files import metadata_of
    from quem.solutions.identity import words_in

    removed = [
        f"{file.name}: " + ", ".join(f'{name} "{text}"' for name, text in fields.items())
        for file in _files(solutions)
        if file.kind in _WITH_METADATA and (fields := metadata_of(file))
    ]
    _, weak = words_in(solutions, spec)
    return Unasked(removed, [word.line for word in weak])


def _files(solutions: Solutions) -> Iterator[SolutionFile]:
    files = {file.path: file for part in (*solutions, *solutions.sheets()) for file in part.files}
    yield from files.values()


def _formats(solutions: Solutions) -> Iterator[StudyWarning]:
    """Problems whose solutions have different kinds of files."""
    groups = dict(solutions.by_problem)
    if solutions.practice:
        groups[solutions.practice_problem] = solutions.practice
    different = []
    for problem, group in groups.items():
        kinds = {solver: _kinds(solution) for solver, solution in group.items()}
        counts = Counter(kinds.values())
        if len(counts) > 1:
            usual = counts.most_common(1)[0][0]
            others: defaultdict[str, list[str]] = defaultdict(list)
            for solver, kind in kinds.items():
                if kind != usual:
                    others[kind].append(solver)
            listing = "; ".join(f"{kind}: {_joined(solvers)}" for kind, solvers in others.items())
            different.append(f"{problem}: mostly {usual} ({listing})")
    if different:
        message = (
            f"formats differ in {len(different)} of {len(groups)} problems, and a lone format "
            f"reveals its author: {', '.join(different[:_MOST_FILES])}"
        )
        yield StudyWarning("formats-differ", message)


def lost_images(files: Sequence[SolutionFile]) -> Iterator[tuple[SolutionFile, int, str]]:
    """Missing images that a text refers to: text, line, target."""
    inside = {file.inner.casefold() for file in files if file.kind == "image"}
    for file in files:
        for line, target in _references(file):
            if inner_path(target, file.inner).casefold() not in inside:
                yield file, line, shown(target)


def _lost_images(solutions: Solutions) -> Iterator[StudyWarning]:
    """Warnings on missing images that a text refers to."""
    messages = [
        f"{file.name}:{line}: the image {target} is not shown, only its text; "
        "put it into one folder with the text"
        for part in (*solutions, *solutions.sheets())
        for file, line, target in lost_images(part.files)
    ]
    for message in messages[:_MOST_FILES]:
        yield StudyWarning("not-shown", message)
    if more := max(len(messages) - _MOST_FILES, 0):
        yield StudyWarning("not-shown", f"and {more} more images are not shown")


def _losses(solutions: Solutions) -> Iterator[StudyWarning]:
    """Warnings on content of scripts, styles, and formulas that is not shown."""
    from quem.solutions.losses import losses_of

    losses = [loss for part in (*solutions, *solutions.sheets()) for loss in losses_of(part.files)]
    by_code: defaultdict[str, list[StudyWarning]] = defaultdict(list)
    for loss in losses:
        place = f"{loss.name}:{loss.line}" if loss.line else loss.name
        message = f"{place}: {loss.warning.message}"
        by_code[loss.warning.code].append(replace(loss.warning, message=message))
    for warnings in by_code.values():
        yield from warnings[:_MOST_FILES]
        if more := len(warnings[_MOST_FILES:]):
            yield replace(warnings[0], message=f"and in {more} more files")


def _long_lists(solutions: Solutions, spec: JudgedSpec) -> Iterator[StudyWarning]:
    """Problems with more solutions than judges can rank well at once."""
    if spec.labels:
        # Grades need no comparison.
        return
    block_size = spec.design.block_size
    sizes = {problem: len(group) for problem, group in solutions.by_problem.items()}
    longest = max(sizes, key=lambda problem: sizes[problem], default=None)
    if longest is None or min(sizes[longest], block_size or sizes[longest]) <= LONGEST_LIST:
        return
    if block_size is None:
        message = (
            f"{longest} has {sizes[longest]} solutions, and judges rank about {LONGEST_LIST} well "
            "in one list; have them dealt in blocks: design: {block_size: 8}"
        )
    else:
        message = (
            f"blocks hold up to {block_size} solutions, and judges rank about {LONGEST_LIST} well "
            "in one list; choose a smaller block_size, such as 8"
        )
    yield StudyWarning("long-lists", message)


def _references(file: SolutionFile) -> Iterator[tuple[int, str]]:
    if file.kind not in ("markdown", "html"):
        return
    try:
        text = read_text(file.path, file.name, what="solution")
    except QuemError:
        # Deleted meanwhile; finding the solutions reports unreadable files.
        return
    yield from references(text)


def _kinds(solution: Solution) -> str:
    kinds = {file.kind for file in solution.files}
    return " with ".join(name for kind, name in _NAMES.items() if kind in kinds)


def _joined(names: list[str]) -> str:
    most = 5
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
