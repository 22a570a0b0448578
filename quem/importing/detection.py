"""The type of a source: the first rule that matches decides."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import FileError, Mistake, QuemError, refuse
from quem.importing.answer_tables import is_table, read_answers, read_table
from quem.importing.collected import Collected, Names, few, joined, require_experience
from quem.importing.harness import find_harness, read_harness
from quem.importing.inspect_logs import find_logs, read_logs
from quem.importing.trees import Layout, read_tree
from quem.solutions.files import is_ignored, natural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_MOST_NAMED = 8


def collect(
    paths: Sequence[Path],
    *,
    layout: Layout | None = None,
    columns: Sequence[tuple[str, str]] = (),
    epoch: int = 1,
    names: Mapping[str, str] | None = None,
) -> Collected:
    """Read folders and files of answers to the same problems.

    Logs of Inspect AI and samples of lm-evaluation-harness are recognized by content, tables by
    extension, and everything else is a folder of files.
    """
    chosen = Names(names or {})
    sources = [(path, _source(path, layout, columns, epoch, chosen)) for path in paths]
    whole = joined(sources)
    refuse(few(whole.mistakes))
    if chosen.unused:
        known = ", ".join([*whole.solvers, *whole.problems][:_MOST_NAMED])
        raise QuemError(
            f"--name {chosen.unused[0]}: nothing is called so; there are {known}, and files of runs"
        )
    require_experience(whole)
    return whole


def _source(
    path: Path,
    layout: Layout | None,
    columns: Sequence[tuple[str, str]],
    epoch: int,
    names: Names,
) -> Collected:
    if not path.exists():
        raise FileError(path, "there is no such file or folder; check its name")
    collected = _collected(path, files_in(path), layout, columns, epoch, names)
    is_people = not collected.answers and any(collected.solvers.values())
    if collected.mistakes or is_people:
        return collected
    if all(answer.missing for answer in collected.answers.values()):
        if collected.errors:
            message = f"all of it failed ({len(collected.errors)}); first {collected.errors[0]}"
            raise FileError(path, message)
        raise FileError(path, "holds no answers; name the folder or file that does")
    return collected


def files_in(root: Path) -> list[Path]:
    """The files of a folder at any depth, or one file; refuses links out of the folder."""
    if root.is_file():
        return [root]
    files: list[Path] = []
    mistakes: list[Mistake] = []
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not is_ignored(name))
        kept = sorted(name for name in names if not is_ignored(name))
        files += [Path(place, name) for name in kept]
        for path in [Path(place, name) for name in (*folders, *kept)]:
            if path.is_symlink() and not _stays(path, root):
                message = "is a link out of the folder; put the file itself here"
                mistakes.append(Mistake(str(path), message=message))
    refuse(mistakes)
    return files


def _stays(link: Path, root: Path) -> bool:
    """Whether a link leads into the folder without a cycle."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return target.is_relative_to(root.resolve()) and not link.parent.resolve().is_relative_to(
        target
    )


def _collected(
    path: Path,
    files: Sequence[Path],
    layout: Layout | None,
    columns: Sequence[tuple[str, str]],
    epoch: int,
    names: Names,
) -> Collected:
    if path.is_dir() and layout:
        return read_tree(path, layout, names)
    if not columns or path.is_dir():
        if logs := find_logs(files):
            return read_logs(logs, names, epoch=epoch)
        if samples := find_harness(files):
            return read_harness(samples, names)
    if path.is_file():
        if not is_table(path):
            raise FileError(
                path,
                (
                    "is neither a log nor a table of answers (.jsonl, .json, .csv, .tsv, "
                    ".parquet); "
                    "name the folder that it is in"
                ),
            )
        return read_answers([read_table(path, columns)], names)
    if tables := _tables(path):
        return read_answers([read_table(table, columns) for table in tables], names)
    return read_tree(path, None, names)


def _tables(folder: Path) -> list[Path]:
    """The tables of a folder that holds nothing else."""
    entries = [path for path in folder.iterdir() if not is_ignored(path.name)]
    files = [path for path in entries if path.is_file() and is_table(path)]
    texts = [path for path in entries if path.suffix.casefold() in (".md", ".txt", "")]
    if any(path.is_dir() for path in entries) or len(files) + len(texts) < len(entries):
        return []
    return sorted(files, key=lambda path: natural(path.name))
