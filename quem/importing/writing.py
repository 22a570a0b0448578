"""A judging study from collected answers, written atomically."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import tempfile
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import FileError, Mistake, refuse
from quem.importing.collected import Answer, Collected, few
from quem.resources import resource
from quem.solutions.files import is_ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
# Texts that YAML reads as another type.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_MOST_TEXT = 1_000_000
_MOST_PAIRS = 200_000
_MOST_ROWS = 12
_MOST_COLUMNS = 8
_MOST_SOURCES = 50
_UNWRITTEN = "TODO: write what was asked.\n"
_LONGEST = 60
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
# Device names on Windows, also with an extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Draft:
    """A study ready to be written."""

    sources: tuple[Path, ...]
    collected: Collected
    # Ids by name in the source
    problems: dict[str, str]
    solvers: dict[str, str]

    def answers(self) -> Iterator[tuple[str, str, Answer | None]]:
        """Each problem and solver by id, with the answer; None where there is none."""
        for problem, problem_id in self.problems.items():
            for solver, solver_id in self.solvers.items():
                yield problem_id, solver_id, self.collected.answers.get((problem, solver))

    @property
    def n_solutions(self) -> int:
        """Number of solutions."""
        return sum(answer is not None and not answer.missing for *_, answer in self.answers())


def draft_of(sources: Sequence[Path], collected: Collected) -> Draft:
    """Assign ids to problems and solvers."""
    n_problems, n_solvers = len(collected.problems), len(collected.solvers)
    if n_problems * n_solvers > _MOST_PAIRS:
        message = (
            f"has {n_problems:,} problems and {n_solvers:,} solvers, more than {_MOST_PAIRS:,} "
            "solutions; leave some out, or draw problems with --sample"
        )
        raise FileError(sources[0], message)
    mistakes = []
    for answer in collected.answers.values():
        if len(answer.text.encode()) > _MOST_TEXT:
            message = f"is longer than {_MOST_TEXT // 1_000_000} MB; make it shorter"
            mistakes.append(Mistake(answer.place, message=message))
        if "\0" in answer.text:
            mistakes.append(Mistake(answer.place, message="holds binary data; leave it out"))
    refuse(few(mistakes))
    problems = ids_of(collected.problems, "problem")
    return Draft(tuple(sources), collected, problems, ids_of(collected.solvers, "solver"))


def sampled(collected: Collected, count: int, seed: int) -> None:
    """Keep a random sample of problems, in order; the rest is counted as left out."""
    names = list(collected.problems)
    if count >= len(names):
        return
    kept = set(random.Random(seed).sample(names, count))  # noqa: S311  no secret
    collected.left_out[f"problems beside {count} drawn at random (seed {seed})"] = (
        len(names) - count
    )
    collected.problems = {name: collected.problems[name] for name in names if name in kept}
    collected.answers = {key: a for key, a in collected.answers.items() if key[0] in kept}


def overview(draft: Draft) -> str:
    """A text table of solutions by problem and solver."""
    from tabulate import tabulate

    columns = list(draft.solvers.values())[:_MOST_COLUMNS]
    rows: dict[str, list[str]] = {}
    for problem, solver, answer in draft.answers():
        if solver in columns:
            rows.setdefault(problem, []).append(_cell(answer))
    hidden = len(draft.solvers) - len(columns)
    header = ["problem", *columns, *([f"and {hidden} more"] if hidden else [])]
    shown = [[problem, *cells] for problem, cells in list(rows.items())[:_MOST_ROWS]]
    table = str(tabulate(shown, headers=header, disable_numparse=True))
    more = len(rows) - len(shown)
    return table + (f"\nand {more} more problems" if more else "")


def _cell(answer: Answer | None) -> str:
    if answer is None or answer.missing:
        return answer.missing if answer else "absent"
    if answer.files:
        return f"{len(answer.files)} file{'s' if len(answer.files) > 1 else ''}"
    return f"{len(answer.text):,} characters"


def write_draft(draft: Draft, folder: Path) -> list[str]:
    """Write a study to a folder atomically; see `write_folder`."""
    study_id = f"{folder.absolute().name}-study"
    return write_folder(folder, lambda new: _write(draft, new, study_id))


def write_folder(folder: Path, fill: Callable[[Path], None]) -> list[str]:
    """Write files to a folder atomically."""
    absolute = folder.absolute()
    if absolute.exists() and not absolute.is_dir():
        raise FileError(folder, "is a file; name a folder")
    try:
        absolute.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=absolute.parent, prefix=f".{absolute.name}-") as new:
            fill(Path(new))
            names = sorted(path.name for path in Path(new).iterdir())
            if taken := [name for name in names if (absolute / name).exists()]:
                raise FileError(folder, f"already holds {' and '.join(taken)}; name another folder")
            absolute.mkdir(exist_ok=True)
            # The study file last: without it there is no study.
            for name in sorted(names, key=lambda name: name == "study.yaml"):
                Path(new, name).rename(absolute / name)
    except OSError as error:
        raise FileError(
            folder, f"cannot be written: {error.strerror or error}; name another folder"
        ) from None
    return names


def _write(draft: Draft, folder: Path, study_id: str) -> None:
    collected = draft.collected
    (folder / "problems").mkdir()
    for name, problem_id in draft.problems.items():
        (folder / "solutions" / problem_id).mkdir(parents=True)
        text = collected.problems[name].statement
        _put(folder / "problems" / f"{problem_id}.md", f"{text}\n" if text else _UNWRITTEN)
    for problem, solver, answer in draft.answers():
        if answer is None or answer.missing:
            continue
        group = folder / "solutions" / problem
        if not answer.files:
            _put(group / f"{solver}.md", f"{answer.text}\n")
        for path, inner in answer.files:
            _copy(path, inner, group, solver, alone=len(answer.files) == 1)
    for name in ("briefing.md", "consent.md"):
        shutil.copyfile(resource("templates") / "session" / name, folder / name)
    _put(folder / "IMPORT.md", _record(draft))
    _put(folder / "study.yaml", _study(draft, study_id))


def _copy(path: Path, inner: str, group: Path, solver: str, *, alone: bool) -> None:
    # A single file no longer has images beside it, so its folder is omitted.
    target = group / f"{solver}{path.suffix}" if alone else group / solver / inner
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _study(draft: Draft, study_id: str) -> str:
    collected = draft.collected
    lines = [
        f"# Made by `quem init --from` of {_line(draft.sources[0].name)}. IMPORT.md says what was",
        "# read, and `quem serve` asks in its dashboard for what is missing here.",
        "kind: experience",
        f"id: {_yaml(study_id)}",
        f"title: {_yaml(', '.join(one.resolve().stem for one in draft.sources) or study_id)}",
        "experience_unit: years",
        "",
        "problems:",
    ]
    for name, problem_id in draft.problems.items():
        title = collected.problems[name].title or (name if name != problem_id else "")
        statement = f"statement: {_yaml(f'problems/{problem_id}.md')}"
        lines.append(_item(problem_id, f"title: {_yaml(title)}" if title else "", statement))
    people = {name for name, years in collected.solvers.items() if years is not None}
    lines += [
        "",
        "# The experts who rank the solutions; none of them can be a subject.",
        "judges: []",
    ]
    lines += [
        "",
        "# The people who made solutions, with their experience: {id: ann, experience: 4}.",
    ]
    lines += _solvers("subjects", draft, people)
    lines += ["", "# What is measured. People do not belong here: move them to `subjects`."]
    lines += _solvers("systems", draft, set(draft.solvers) - people)
    if holes := [(p, s, a) for p, s, a in draft.answers() if a is None or a.missing]:
        lines += [
            "",
            "# Who has no solution. `failed` counts as the worst, `absent` does not count.",
        ]
        lines.append("missing:")
        for problem, solver, answer in holes:
            reason = answer.missing if answer else "absent"
            entry = f"problem: {_yaml(problem)}, solver: {_yaml(solver)}, reason: {reason}"
            lines.append(f"  - {{{entry}}}")
    lines += ["", "# The rankings come from the session.", "rankings: {from: store}"]
    lines += [
        "solutions: solutions",
        "judging: {briefing: briefing.md, consent: consent.md, ask_maker: true}",
    ]
    return "\n".join(lines) + "\n"


def _solvers(key: str, draft: Draft, names: set[str]) -> Iterator[str]:
    chosen = [name for name in draft.solvers if name in names]
    yield f"{key}:" if chosen else f"{key}: []"
    for name in chosen:
        solver_id, years = draft.solvers[name], draft.collected.solvers[name]
        known = f"name: {_yaml(name)}" if name != solver_id else ""
        times = _times(draft, name) if years is not None else ""
        yield _item(solver_id, known, "" if years is None else f"experience: {years:g}", times)


def _times(draft: Draft, solver: str) -> str:
    """The seconds per problem of a subject, as in the study file."""
    answers = ((p, draft.collected.answers.get((n, solver))) for n, p in draft.problems.items())
    times = [f"{_yaml(p)}: {a.seconds:.0f}" for p, a in answers if a and a.seconds]
    return f"seconds: {{{', '.join(times)}}}" if times else ""


def _item(one: str, *keys: str) -> str:
    return f"  - {{{', '.join([f'id: {_yaml(one)}', *filter(None, keys)])}}}"


def _yaml(text: str) -> str:
    """A text as one line of YAML; printable characters stay readable."""
    line = _line(text)
    if _PLAIN.fullmatch(line) and line.casefold() not in _WORDS:
        return line
    return json.dumps(line, ensure_ascii=False)


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _record(draft: Draft) -> str:
    collected = draft.collected
    lines = ["# Where this study comes from", ""]
    lines += [f"- Source: `{_line(str(source))}`" for source in draft.sources]
    lines.append(f"- Read as {_line(collected.rule)}.")
    files = {_relative(file, draft.sources): file for file in collected.sources}
    lines.append(f"- SHA-256 of the source: `{_digest(files)}`")
    lines.append(
        f"- {len(draft.problems):,} problems, {len(draft.solvers):,} solvers, "
        f"{draft.n_solutions:,} solutions"
    )
    renamed = {n: i for n, i in [*draft.problems.items(), *draft.solvers.items()] if n != i}
    if renamed:
        lines.append(f"- Ids differ from {len(renamed):,} names of the source; study.yaml has both")
    lines += ["", "## What was left out", ""]
    left = [(what, count) for what, count in collected.left_out.items() if count]
    lines += [f"- {_line(what)}: {count:,}" for what, count in left] or ["Nothing."]
    if collected.notes:
        lines += ["", "## How the sources were joined", ""]
        lines += [f"- {_line(note)}" for note in collected.notes]
    lines += ["", "## Files that were read", ""]
    lines += [f"- `{_line(name)}`" for name in list(files)[:_MOST_SOURCES]]
    if (more := len(files) - _MOST_SOURCES) > 0:
        lines.append(f"- and {more:,} more")
    return "\n".join(lines) + "\n"


def _relative(file: Path, sources: Sequence[Path]) -> str:
    """The path of a file relative to its source, after the source's name if there are several."""
    source = next(one for one in sources if file == one or file.is_relative_to(one))
    inner = file.relative_to(source).as_posix() if file != source else file.name
    return f"{source.name}/{inner}" if len(sources) > 1 and file != source else inner


def _digest(files: dict[str, Path]) -> str:
    """SHA-256 of the only file, or of the output of ``sha256sum`` for all of them."""
    digests = {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items()}
    if len(digests) == 1:
        return next(iter(digests.values()))
    listing = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(listing.encode()).hexdigest()


def ids_of(names: Iterable[str], otherwise: str) -> dict[str, str]:
    """An id for each name.

    An id holds ``A-Z a-z 0-9 . _ -``, has at most 60 characters, and is unique regardless of case:
    ``Maria K.`` and ``Maria K`` become ``Maria-K`` and ``Maria-K-2``.
    """
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = _plain(name) or otherwise
        candidate, number = stem, 1
        while candidate.casefold() in taken:
            number += 1
            ending = f"-{number}"
            candidate = stem[: _LONGEST - len(ending)].rstrip(".-") + ending
        taken.add(candidate.casefold())
        ids[name] = candidate
    return ids


def _plain(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = _OTHER.sub("-", ascii_only).strip(".-")[:_LONGEST].rstrip(".-")
    if _DEVICES.fullmatch(plain) or is_ignored(plain):
        plain = f"x-{plain}"
    return plain
