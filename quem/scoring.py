"""``quem.score``: runs, or retrievers, scored against judgments in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.errors import QuemError
from quem.scores.inference import Inference
from quem.scores.table import Nouns, Origin, ScoreTable

if TYPE_CHECKING:
    from quem.lists.lists import Ties
    from quem.lists.names import Chosen
    from quem.scores.scoring import Empty

DEFAULT_MEASURES = "nDCG@10 AP RR P@10 R@100"
_PACKED = {".gz", ".bz2", ".xz"}


def score(
    systems: object,
    truth: object,
    measures: Chosen | Iterable[Chosen] = DEFAULT_MEASURES,
    *,
    ties: Ties = "expected",
    empty: Empty = "leave-out",
    level: float = 0.95,
    samples: int = 9999,
    seed: int = 0,
    cases: object = None,
    queries: object = None,
    mac_fac: Sequence[tuple[int, int]] = (),
    repeats: int = 7,
    out: str | Path | None = None,
) -> ScoreTable:
    """Score runs against judgments, or retrievers against one of them.

    Parameters
    ----------
    systems : path, DataFrame, mapping, or several of these
        A run: a TREC run, a table, or JSON; ``{query: {case: score}}`` or ``{query: [cases, best
        first]}``; a DataFrame; a run of ranx or ir_measures. Several as a list, or as ``{name:
        run}``. Or retrievers: functions of a query, or objects with ``search``.
    truth : path, DataFrame, mapping, or str
        Judgments in the same forms; with a column of judges the truth is their mean grade, and
        each judge is kept. Of retrievers, also the name of the one that is the ground truth.
    measures : str or sequence
        Names as any tool spells them, such as ``"nDCG@10 map recall@100"``; objects of ir_measures;
        functions. The first is the headline.
    ties : {"expected", "given", "trec"}
        The order of cases of equal score: the mean over all orders; as given; or as trec_eval has
        it, by scores in 32 bits and then the last id first.
    empty : {"leave-out", "zero"}
        Whether queries without a relevant case are left out, or count 0.
    level : float
        Of intervals; a p of at most 1 - level is significant.
    samples : int
        Random patterns of the joint test above 14 queries; 0 for neither intervals nor tests.
    seed : int
    cases, queries : path, DataFrame, or mapping, optional
        What retrievers search, and what is asked; without queries, each case in turn.
    mac_fac : sequence of (int, int)
        Sizes of the filter and k: the first retriever fills the filter, the second searches it.
    repeats : int
        Rounds in which the time of retrievers is measured; a 95% interval needs 6.
    out : path, optional
        A folder for ``similarities.csv``, where a retriever is the truth; one that was made of
        the same inputs is read instead of searching again.

    Returns
    -------
    ScoreTable

    Raises
    ------
    QuemError
        A file is damaged or a measure unknown, or nothing can be scored.
    """
    from quem.lists.names import measures as read_measures

    chosen = read_measures(measures)
    inference = Inference(level, samples, seed)
    named = name_systems(systems)
    asked = any(callable(one) or hasattr(one, "search") for one in named.values())
    if asked or cases is not None:
        from quem.retrieval.memory import score_retrievers

        table: ScoreTable = score_retrievers(
            named,
            truth,
            chosen,
            cases=cases,
            queries=queries,
            mac_fac=mac_fac,
            repeats=repeats,
            ties=ties,
            inference=inference,
            out=out,
        )
        return table
    if queries is not None or mac_fac:
        raise QuemError("queries and mac_fac are for retrievers, and these are runs")
    from quem.scores.scoring import score_runs

    scored = score_runs(named, truth, chosen, ties=ties, empty=empty)
    return ScoreTable(
        systems=scored.systems,
        queries=tuple(map(str, scored.queries)),
        measures=scored.measures,
        values=scored.values,
        inference=inference,
        nouns=Nouns(),
        origin=Origin(
            source=str(truth) if isinstance(truth, str | Path) else "the judgments",
            settings={"ties": ties, "empty": empty},
        ),
        warnings=scored.warnings,
        evidence=scored,
    )


def name_systems(systems: Any) -> dict[str, object]:  # noqa: ANN401  whatever a run can be
    """Runs or retrievers by name; a file's name is its stem."""
    if isinstance(systems, Mapping) and not _is_run(systems):
        return {str(name): one for name, one in systems.items()}
    one = isinstance(systems, str | Path | Mapping) or callable(systems)
    if one or hasattr(systems, "columns") or hasattr(systems, "search"):
        systems = [systems]
    elif not isinstance(systems, Iterable):
        raise QuemError(f"{type(systems).__name__} is not a run; give a file, a dict, or several")
    else:
        systems = list(systems)
        if systems and hasattr(systems[0], "doc_id"):
            systems = [systems]
    named: dict[str, object] = {}
    for at, run in enumerate(systems, 1):
        name = name_of(run) or (f"run {at}" if len(systems) > 1 else "run")
        if name in named:
            raise QuemError(
                f"two runs are called {name!r}; write NAME=FILE, or name them in a dict"
            )
        named[name] = run
    if not named:
        raise QuemError("there is no run; give one at least")
    return named


def _is_run(given: Mapping[Any, Any]) -> bool:
    """Whether a dict is a run of queries, and not one of runs by name."""
    first = next(iter(given.values()), None)
    if isinstance(first, Mapping):
        return isinstance(next(iter(first.values()), 0.0), int | float)
    if isinstance(first, list | tuple):
        return not any(isinstance(one, str) and Path(one).is_file() for one in first[:1])
    return False


def name_of(run: Any) -> str:  # noqa: ANN401
    """The name of a run: the stem of its file, or its own name; else empty."""
    if isinstance(run, str | Path):
        path = Path(run)
        return Path(path.stem if path.suffix.lower() in _PACKED else path.name).stem
    return str(getattr(run, "name", "") or getattr(run, "__name__", "") or "")
