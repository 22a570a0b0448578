"""``quem score --pool``: what the retrievers of a study find, as a study that judges grade."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import code_option, print_warnings, say_next, study_in
from quem.errors import FileError, QuemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.retrieval.pooling import Pool

_DEPTH, _JUDGES, _GRADES = 20, 2, 4  # without the options
# The names of the options that only pools have.
OF_POOL = ("depth", "judged", "only", "documents", "judges", "grades", "code")


def _labels(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Labels of grades: from a range such as 0-3, or as given."""
    if value is None:
        return None
    # The models of study files, which take longer to import than a small run to score.
    from quem.studyfile.relevance import LABELS, MOST_GRADES

    if match := re.fullmatch(r"\s*0\s*-\s*(\d)\s*", value, re.ASCII):
        n = int(match[1]) + 1
        labels = LABELS.get(n, tuple(map(str, range(n))))
    else:
        labels = tuple(filter(None, (one.strip() for one in value.split(","))))
    if not 1 < len(labels) <= MOST_GRADES or len({*map(str.casefold, labels)}) < len(labels):
        raise click.BadParameter(
            f"{value!r} is neither a range such as 0-3 nor 2 to {MOST_GRADES} different labels, "
            "the lowest first, such as no,partly,yes"
        )
    return labels


_FILE: Any = click.Path(path_type=Path, exists=True, dir_okay=False)
_OPTIONS = (
    click.option(
        "--pool",
        type=click.Path(path_type=Path),
        help="Write into this folder a study in which judges grade what the retrievers of the "
        "study QRELS find.",
    ),
    click.option(
        "--depth",
        type=click.IntRange(1, 10_000),
        help=f"Of a pool: as many of each list for each query.  [default: {_DEPTH}]",
    ),
    click.option(
        "--judged",
        type=_FILE,
        help="Of a pool: judgments made before; what they judge is left out.",
    ),
    click.option(
        "--only",
        type=_FILE,
        help="Of a pool: the pairs of query and case to judge, such as judge-next.csv.",
    ),
    click.option(
        "--documents",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Of a pool: what judges read of the cases, in files named by their ids.",
    ),
    click.option(
        "--judges",
        type=click.IntRange(1, 100),
        help=f"Of a pool: how many judges.  [default: {_JUDGES}]",
    ),
    click.option(
        "--grades",
        callback=_labels,
        help="Of a pool: a range, or labels, the lowest first: no,partly,yes.  "
        f"[default: 0-{_GRADES - 1}]",
    ),
    code_option,
)


def pool_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for pools."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def write_pool(
    study: str,
    folder: Path,
    *,
    depth: int | None,
    judged: Path | None,
    only: Path | None,
    documents: Path | None,
    judges: int | None,
    grades: tuple[str, ...] | None,
    seed: int,
    code: bool,
) -> None:
    """Write a study in which judges grade what retrievers find."""
    from quem import kinds
    from quem.commands.analyze import show_progress
    from quem.relevance.making import PoolingStudy
    from quem.retrieval.pooling import judged_pairs, make_pool, picked, with_texts
    from quem.studyfile.relevance import LABELS

    path, depth = study_in(Path(study)), depth or _DEPTH
    loaded = kinds.load_pooling(path, code=code)
    before = judged_pairs(loaded)
    if judged is not None:
        before |= kinds.read_grades(judged, str(judged))
    if only is not None:
        pool = picked(loaded, kinds.read_pairs(only, str(only)), before)
    else:
        pool = make_pool(loaded, depth, before, seed=seed, progress=show_progress())
    print_warnings(pool.warnings)
    if not pool.n_found:
        raise QuemError(f"{path}: no retriever found anything")
    if not pool.n_taken:
        raise QuemError(
            f"{only or path}: all {pool.n_found:,} pairs of query and case are judged; name others"
            + ("" if only else ", or a larger --depth")
        )
    spec = loaded.spec
    made = PoolingStudy(
        f"{spec.id}-pool"[:100],
        f"{spec.title}: relevance",
        with_texts(loaded, pool, _files(documents) if documents else {}),
        grades or LABELS[_GRADES],
        judges or _JUDGES,
        before,
    )
    names = made.write(folder)
    _tell(pool, depth)
    for name in names:
        click.echo(f"wrote {folder / name}", err=True)
    say_next("serve", folder)


def _tell(pool: Pool, depth: int) -> None:
    from quem.wording import format_count

    found = ", as named"
    if pool.retrievers:
        found = f" by {format_count(len(pool.retrievers), 'retriever')} down to rank {depth}"
    click.echo(
        f"pool: {pool.n_found:,} pairs of query and case{found}; {pool.n_judged:,} judged before, "
        f"{pool.n_taken:,} to judge, for {format_count(len(pool.candidates), 'query')}",
        err=True,
    )


def _files(folder: Path) -> dict[str, Path]:
    """The files of a folder by what they are named after, with and without an ending."""
    from quem.solutions.files import is_ignored

    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() or is_ignored(path.name):
            continue
        for name in dict.fromkeys((path.name, path.stem)):
            if name in files and name == path.stem:
                raise FileError(path, f"and {files[name].name} are both named {name}; keep one")
            files[name] = path
    return files
