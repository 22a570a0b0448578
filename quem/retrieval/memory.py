"""Retrievers in memory, scored against one of them or against judgments."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.io.custom_functions import Entry
from quem.io.text import nearest, shown
from quem.retrieval.analysis import evaluated
from quem.retrieval.bases import Given, read_bases
from quem.retrieval.loading import RetrievalStudy, Sources, match_sources, roles_of
from quem.retrieval.result import table_of
from quem.retrieval.similarities import digest_of, known_similarities, save_similarities
from quem.retrieval.truth import Truth
from quem.scores.read import read_judgments, read_run
from quem.studyfile.reading import draft_in_memory
from quem.studyfile.retrieval import LEAVE_ONE_OUT, Linear, RetrievalSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from quem.lists import Measure
    from quem.lists.lists import Ties
    from quem.scores.inference import Inference
    from quem.scores.table import ScoreTable

_TRUTH = "ground truth"


def score_retrievers(
    retrievers: Mapping[str, object],
    truth: object,
    measures: Sequence[Measure],
    *,
    cases: object = None,
    queries: object = None,
    mac_fac: Sequence[tuple[int, int]] = (),
    repeats: int,
    ties: Ties = "expected",
    inference: Inference,
    out: str | Path | None = None,
) -> ScoreTable:
    """Run retrievers and score their lists; see `quem.score`.

    Raises
    ------
    QuemError
        With what is wrong in retrievers, ground truth, cases, or queries.
    """
    named, read = dict(retrievers), Sources()
    name = _name_truth(truth, named)
    if not name:
        columns = read_judgments(truth)
        whole = bool((columns.value % 1 == 0).mean() > 0.5)  # noqa: PLR2004  most
        read.truth = Truth(columns, "grades" if whole else "similarities", columns.source)
    study = _study(named, name, read, cases, queries, mac_fac)
    folder = None if out is None or not name else Path(out)
    digest = ""
    if folder is not None:
        digest = digest_of(named[name], study.data.task)
        known = known_similarities(folder, digest, f"the retriever {name}")
        study = replace(study, data=replace(study.data, truth=known))
    settings = {"measures": measures, "ties": ties, "repeats": repeats, **inference._asdict()}
    found = evaluated(study, settings, whole=folder is not None)
    if folder is not None and study.data.truth is None:
        save_similarities(folder, digest, found.truth)
    return table_of(found)


def _is_retriever(one: object) -> bool:
    return callable(one) or isinstance(one, Linear) or hasattr(one, "search")


def _name_truth(truth: Any, retrievers: dict[str, object]) -> str:  # noqa: ANN401  of any tool
    """The name of the retriever that is the ground truth, which is added; empty for judgments."""
    if isinstance(truth, str) and truth in retrievers:
        return truth
    if _is_retriever(truth):
        name = next((name for name, one in retrievers.items() if one is truth), _TRUTH)
        retrievers.setdefault(name, truth)
        return name
    if isinstance(truth, str) and not Path(truth).is_file():
        hint = nearest(truth, retrievers) or "; name one of them, or a file of judgments"
        raise QuemError(f"truth: there is no retriever {shown(truth)}{hint}")
    return ""


def _study(
    retrievers: dict[str, object],
    truth: str,
    read: Sources,
    cases: object,
    queries: object,
    mac_fac: Sequence[tuple[int, int]],
) -> RetrievalStudy:
    """The study that a file would describe."""
    if cases is None:
        message = "is missing: give what the retrievers search"
        raise QuemError(Mistake("", key="cases", message=message))
    entries: dict[str, Entry] = {}
    specs = []
    for name, one in retrievers.items():
        if isinstance(one, Linear):
            specs.append({"id": name, "linear": one})
        elif _is_retriever(one):
            entries[name] = _entry(one)
            specs.append({"id": name, "python": name})
        else:
            read.stored[name] = read_run(one, name)
            specs.append({"id": name, "run": name})
    content: dict[str, Any] = {
        "title": "Retrievers",
        "cases": {"file": "cases"},
        "queries": LEAVE_ONE_OUT if queries is None else {"file": "queries"},
        "retrievers": specs,
        "ground_truth": {"retriever": truth} if truth else {"qrels": "judgments"},
    }
    if mac_fac:
        if len(retrievers) < 2:  # noqa: PLR2004  a phase each
            raise QuemError("mac_fac: needs two retrievers, the quick one first")
        filters, k = zip(*mac_fac, strict=True)
        mac, fac, *_ = retrievers
        content["mac_fac"] = {"mac": mac, "fac": fac, "filters": filters, "k": k}
    draft = draft_in_memory(RetrievalSpec, content)
    spec = draft.checked()
    given = {"cases": cases} | ({} if queries is None else {"queries": queries})
    bases, read.warnings = read_bases(
        [
            Given(base, str(base) if isinstance(base, str | Path) else name, name)
            for name, base in given.items()
        ],
        roles_of(spec),
    )
    read.cases, read.queries = bases[0], bases[1] if queries is not None else None
    return RetrievalStudy(draft, spec, match_sources(draft, spec, read), entries)


def _entry(one: Any) -> Entry:  # noqa: ANN401  a function, or an object with `search`
    target = one if callable(one) else one.search
    try:
        file = Path(inspect.getfile(inspect.unwrap(target))).name
    except TypeError:
        file = "in memory"
    return Entry(getattr(target, "__qualname__", type(target).__qualname__), target, (), file)
