"""``quem pool``: from the lists of retrievers to a study in which judges say what is relevant."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from quem.commands.options import code_option, print_warnings, study_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from quem.relevance.making import PooledQuery
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.pooling import Pooled

_MOST_NAMED = 3
_POOL = "pool"


def _grades(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """Read "0-3" or the labels themselves."""
    from quem.studyfile.relevance import LABELS, MOST_GRADES

    text = value.strip()
    if match := re.fullmatch(r"0\s*-\s*(\d)", text, re.ASCII):
        n = int(match[1]) + 1
        if n < 2:  # noqa: PLR2004  one grade says nothing
            raise click.BadParameter(f"{value!r} is one grade; use two or more, such as 0-3")
        return LABELS.get(n, tuple(map(str, range(n))))
    labels = tuple(filter(None, (one.strip() for one in text.split(","))))
    if not 1 < len(labels) <= MOST_GRADES or len({*map(str.casefold, labels)}) < len(labels):
        raise click.BadParameter(
            f"{value!r} is neither a range such as 0-3 nor 2 to {MOST_GRADES} different labels, "
            "the lowest first, such as no,partly,yes"
        )
    return labels


def _columns(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(filter(None, (one.strip() for one in value.split(","))))


@click.command()
@study_argument()
@click.option(
    "--depth",
    default=20,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="As many of each retriever's list for each query.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="Pairs of query and case at most, the best ranks first.",
)
@click.option(
    "--judged",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Relevance judgments made before: what they judge is left out.",
)
@click.option(
    "--only",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Pairs of query and case to judge instead of a pool, such as judge-next.csv.",
)
@click.option(
    "--grades",
    default="0-3",
    show_default=True,
    callback=_grades,
    help="How judges grade: a range, or labels, the lowest first: no,partly,yes.",
)
@click.option("--rank", is_flag=True, help="Judges rank the candidates of a query instead.")
@click.option(
    "--text",
    default="",
    metavar="COLUMN,...",
    callback=_columns,
    help="Show these attributes alone, as texts.  [default: all]",
)
@click.option(
    "--documents",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of what judges read of the cases: files named by their ids.",
)
@click.option(
    "--judges", default=2, show_default=True, type=click.IntRange(1, 100), help="How many judges."
)
@click.option("--seed", default=0, show_default=True, type=int, help="Draws among equal ranks.")
@click.option("--out", type=click.Path(path_type=Path), help="[default: pool, beside STUDY]")
@code_option
def pool(
    study: Path,
    depth: int,
    budget: int | None,
    judged: Path | None,
    only: Path | None,
    grades: tuple[str, ...],
    text: tuple[str, ...],
    documents: Path | None,
    judges: int,
    seed: int,
    out: Path | None,
    *,
    rank: bool,
    code: bool,
) -> None:
    """Pool what the retrievers of STUDY find, and write a study in which judges grade it.

    For each query, judges see the best cases of all retrievers, in random order, and not which
    retriever found them. What a ground truth of judges, or --judged, judges already is left out.
    `quem serve` opens the study for judges; closed, it is the ground truth of STUDY:
    `ground_truth: {study: FOLDER/study.yaml}`.
    """
    from quem import kinds
    from quem.commands.analyze import show_progress
    from quem.errors import QuemError
    from quem.relevance.making import PoolingStudy, write_relevance_study
    from quem.retrieval.pooling import Pool, judged_pairs, make_pool, picked

    _refuse_rank_with_judged(study, judged, rank=rank)
    loaded = kinds.load_pooling(study, code=code)
    before = judged_pairs(loaded)
    if judged is not None:
        before |= {
            (query, case): grade for query, case, grade in kinds.read_grades(judged, str(judged))
        }
    if only is not None:
        pairs = kinds.read_pairs(only, str(only))
        made = Pool(picked(loaded, pairs, before.keys(), budget=budget), ())
    else:
        made = make_pool(
            loaded, depth, before.keys(), budget=budget, seed=seed, progress=show_progress()
        )
    print_warnings(made.warnings)
    taken = made.pooled
    if only is not None and not taken.n_taken:
        raise QuemError(f"{only}: all {taken.n_found:,} pairs of query and case are judged")
    if not taken.n_taken:
        raise QuemError(
            f"{study}: all {taken.n_found:,} pairs of query and case down to rank {depth} "
            "are "
            "judged; give a larger --depth"
            if taken.n_found
            else f"{study}: no retriever found anything"
        )
    queries = tuple(_queries(loaded, taken, text, documents))
    folder = out if out is not None else study.with_name(_POOL)
    title = f"{loaded.spec.title}: relevance"
    written = write_relevance_study(
        folder,
        PoolingStudy(
            f"{loaded.spec.id}-pool"[:100],
            title,
            queries,
            () if rank else grades,
            judges,
            {} if rank else before,
        ),
    )
    _tell(made.retrievers, taken, depth)
    for name in written:
        click.echo(f"wrote {folder / name}", err=True)
    click.echo(f"Next: quem serve {shlex.quote(str(folder))}", err=True)


def _refuse_rank_with_judged(study: Path, judged: Path | None, *, rank: bool) -> None:
    if rank and judged is not None:
        raise click.UsageError(
            f"--judged holds grades, and --rank asks for none; leave one out ({study})"
        )


def _tell(retrievers: tuple[str, ...], taken: Pooled, depth: int) -> None:
    n = len(retrievers)
    found = f" by {n} retriever{'s' * (n > 1)} down to rank {depth}" if n else ", as named"
    click.echo(
        f"pool: {taken.n_found:,} pairs of query and case{found}; {taken.n_judged:,} judged before",
        err=True,
    )
    left = taken.n_found - taken.n_judged
    cut = f" of {left:,}" if taken.n_taken < left else ""
    cut += f", complete down to rank {taken.depth}" if cut and n else ""
    click.echo(
        f"taken: {taken.n_taken:,}{cut}, for {len(taken.candidates):,} "
        f"quer{'y' if len(taken.candidates) == 1 else 'ies'}",
        err=True,
    )


def _queries(
    study: RetrievalStudy, taken: Pooled, columns: tuple[str, ...], documents: Path | None
) -> Iterable[PooledQuery]:
    """Give the queries with what judges read of them and of their candidates."""
    from quem.errors import QuemError
    from quem.relevance.making import PooledQuery
    from quem.relevance.texts import case_text, short_title

    task = study.data.task
    for name in columns:
        if name not in task.queries.columns and name not in task.cases.columns:
            known = ", ".join(dict.fromkeys([*task.queries.attributes, *task.cases.attributes]))
            raise QuemError(f"--text: there is no attribute {name!r}; there are: {known or 'none'}")
    files = _files(documents) if documents is not None else {}
    texts: dict[str, str | Path] = {}
    silent: dict[str, list[str]] = {"query": [], "case": []}
    made = []
    for query, cases in taken.candidates.items():
        place = task.queries.index[query]
        asked = task.queries.case(place, solved=not task.leave_one_out)
        own = [name for name in columns if name in asked]
        text = case_text(asked, own)
        silent["query"] += [query] if not text else []
        for case in cases:
            if case not in texts:
                texts[case] = (
                    files.get(case)
                    or files.get(quote(case, safe=""))
                    or _case_text(study, case, columns, case_text)
                )
                silent["case"] += [case] if not texts[case] else []
        candidates = {case: texts[case] for case in cases}
        made.append(PooledQuery(query, short_title(asked, own), text, candidates))
    _refuse_silent(study, silent, documents)
    return made


def _case_text(
    study: RetrievalStudy,
    case: str,
    columns: tuple[str, ...],
    write: Callable[[Mapping[str, object], list[str]], str],
) -> str:
    cases = study.data.task.cases
    if case not in cases.index:
        return ""
    content = cases.case(cases.index[case])
    return write(content, [name for name in columns if name in content])


def _files(folder: Path) -> dict[str, Path]:
    """The files of a folder by what they are named after; ids with slashes are percent-encoded."""
    from quem.errors import FileError
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


def _refuse_silent(
    study: RetrievalStudy, silent: dict[str, list[str]], documents: Path | None
) -> None:
    """Refuse queries and cases of which judges would read nothing."""
    from quem.errors import QuemError

    mistakes = []
    if few := silent["query"]:
        base = "queries"
        message = (
            f"judges would read nothing of {_named(few, 'query')}; name the file of the queries, "
            "with a column of their text"
        )
        mistakes.append(study.mistake((base,), message))
    if few := silent["case"]:
        message = (
            f"judges would read nothing of {_named(few, 'case')}; name the file of the cases, or "
            "give --documents FOLDER with a file named by the id of each case"
        )
        if documents is not None:
            message = (
                f"{documents} has no file of {_named(few, 'case')}; name files by the ids of the "
                "cases, with %2F for a slash"
            )
        mistakes.append(study.mistake(("cases",), message))
    if mistakes:
        raise QuemError(mistakes)


def _named(ids: list[str], noun: str) -> str:
    few = ", ".join(ids[:_MOST_NAMED])
    plural = {"query": "queries", "case": "cases"}[noun]
    if len(ids) == 1:
        return f"the {noun} {few}"
    return f"{len(ids):,} {plural} ({few}{', …' if len(ids) > _MOST_NAMED else ''})"
