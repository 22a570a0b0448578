"""Retrievers in memory scored against one of them, or against judgments."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.io.custom_functions import Entry
from quem.io.memory import rows_table
from quem.io.text import nearest, shown
from quem.retrieval.analysis import evaluated
from quem.retrieval.bases import Roles, make_bases, named_only, read_bases
from quem.retrieval.loading import RetrievalStudy, Sources, match_sources, wrong_ids
from quem.retrieval.result import table_of
from quem.retrieval.similarities import digest_of, known_similarities, save_similarities
from quem.retrieval.truth import WHOLE, Truth
from quem.scores.read import read_judgments, read_run
from quem.studyfile.reading import IN_MEMORY, draft_in_memory
from quem.studyfile.retrieval import LEAVE_ONE_OUT, Linear, RetrievalSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.io.tables import SourceTable
    from quem.lists import Measure
    from quem.lists.lists import Ties
    from quem.retrieval.bases import CaseBase
    from quem.scores.columns import Columns
    from quem.scores.inference import Inference
    from quem.scores.table import ScoreTable
    from quem.studyfile.document import Loc

_ID = "id"
_TRUTH = "ground truth"


def score_retrievers(
    retrievers: Mapping[str, object],
    truth: object,
    measures: Sequence[Measure],
    *,
    cases: object = None,
    queries: object = None,
    mac_fac: Sequence[tuple[int, int]] = (),
    ties: Ties = "expected",
    inference: Inference,
    out: str | Path | None = None,
) -> ScoreTable:
    """Ask retrievers, and score what they give; see `quem.score`.

    Raises
    ------
    QuemError
        With what is wrong in retrievers, ground truth, cases, or queries.
    """
    given = _Given(dict(retrievers))
    name = given.truth(truth)
    study = given.study(name, cases, queries, list(given.retrievers)[:2], mac_fac)
    folder = None if out is None or not name else Path(out)
    digest = ""
    if folder is not None:
        digest = digest_of(given.retrievers[name], study.data.task)
        known = known_similarities(folder, digest, f"the retriever {name}")
        study = replace(study, data=replace(study.data, truth=known))
    pairs = len(study.data.task.queries) * len(study.data.task.cases)
    found = evaluated(
        study,
        {"measures": measures, "ties": ties, **inference._asdict()},
        whole=WHOLE if folder is None else pairs,
    )
    if folder is not None and study.data.truth is None:
        save_similarities(folder, digest, found.truth)
    return table_of(found)


def _is_retriever(one: object) -> bool:
    return callable(one) or isinstance(one, Linear) or hasattr(one, "search")


@dataclass
class _Given:
    """What a caller gave, as it is understood."""

    retrievers: dict[str, object]
    judgments: Truth | None = None
    entries: dict[str, Entry | str] = field(default_factory=dict)

    def truth(self, truth: Any) -> str:  # noqa: ANN401  judgments of any tool
        """The name of the retriever that is the ground truth; judgments are read."""
        if isinstance(truth, str) and truth in self.retrievers:
            return truth
        if _is_retriever(truth):
            same = (name for name, one in self.retrievers.items() if one is truth)
            name = next(same, _TRUTH)
            self.retrievers.setdefault(name, truth)
            return name
        if isinstance(truth, str) and not Path(truth).is_file():
            hint = nearest(truth, self.retrievers) or "; name one of them, or a file of judgments"
            raise QuemError(f"truth: there is no retriever {shown(truth)}{hint}")
        columns = read_judgments(truth)
        whole = bool((columns.value % 1 == 0).mean() > 0.5)  # noqa: PLR2004  most
        self.judgments = Truth(columns, "grades" if whole else "similarities", columns.source)
        return ""

    def study(
        self,
        truth: str,
        cases: object,
        queries: object,
        phases: list[str],
        mac_fac: Sequence[tuple[int, int]],
    ) -> RetrievalStudy:
        """The study that a file would describe."""
        content: dict[str, Any] = {
            "title": "Retrievers",
            "cases": {"file": "cases"},
            "queries": LEAVE_ONE_OUT if queries is None else {"file": "queries"},
            "retrievers": [self._entry(name, one) for name, one in self.retrievers.items()],
            "ground_truth": {"retriever": truth} if truth else {"qrels": "judgments"},
        }
        if mac_fac:
            if len(phases) < 2:  # noqa: PLR2004  a phase each
                raise QuemError("mac_fac: needs two retrievers, the quick one first")
            filters, k = zip(*mac_fac, strict=True)
            mac, fac = phases
            content["mac_fac"] = {"mac": mac, "fac": fac, "filters": filters, "k": k}
        draft = draft_in_memory(RetrievalSpec, content)
        spec = draft.checked()
        source = _Source(draft.document.mistake)
        if mistakes := list(wrong_ids(spec, source)):
            raise QuemError(mistakes)
        read = Sources(stored=self._runs(), truth=self.judgments)
        read.cases, read.queries, read.warnings = _bases(cases, queries)
        data, mistakes = match_sources(spec, read, source)
        if data is None:
            raise QuemError(dict.fromkeys(mistakes))
        return RetrievalStudy(IN_MEMORY, str(IN_MEMORY), spec, data, self.entries, _draft=draft)

    def _runs(self) -> dict[str, Columns]:
        runs = ((name, one) for name, one in self.retrievers.items() if not _is_retriever(one))
        return {name: read_run(one, name) for name, one in runs}

    def _entry(self, name: str, one: Any) -> dict[str, Any]:  # noqa: ANN401
        """What a study file would say of a retriever."""
        if isinstance(one, Linear):
            return {"id": name, "linear": one}
        if not _is_retriever(one):
            return {"id": name, "run": "in memory"}
        target = one if callable(one) else one.search
        spelled = getattr(target, "__qualname__", type(target).__qualname__)
        try:
            file = Path(inspect.getfile(inspect.unwrap(target))).name
        except TypeError:
            file = "in memory"
        self.entries[name] = Entry(spelled, target, (), file)
        return {"id": name, "python": spelled}


@dataclass(frozen=True)
class _Source:
    """Describes what is wrong with what a caller gave."""

    mistake: Callable[[Loc, str], Mistake]

    def beside(self, name: str) -> tuple[Path, str]:
        """There is nothing beside it."""
        return IN_MEMORY, name


def _bases(cases: object, queries: object) -> tuple[CaseBase, CaseBase | None, list[Any]]:
    """Cases and queries, whose attributes have one type in both."""
    if cases is None:
        message = "is missing: give what the retrievers search"
        raise QuemError(Mistake("", key="cases", message=message))
    given = {"cases": cases} | ({} if queries is None else {"queries": queries})
    alone = {name: base for name, base in given.items() if _ids_alone(base)}
    files = {name: Path(base) for name, base in given.items() if isinstance(base, str | Path)}
    if len(files) == len(given):
        bases, warnings = read_bases([(path, str(path), name, _ID) for name, path in files.items()])
    elif files:
        raise QuemError("cases and queries: give two files, or both in memory")
    else:
        raw = [_base(base, name) for name, base in given.items() if name not in alone]
        bases, warnings = make_bases(raw, Roles())
    typed = iter(bases)
    made = [
        replace(named_only(map(str, base)), name=name) if name in alone else next(typed)  # type: ignore[call-overload]
        for name, base in given.items()
    ]
    return made[0], made[1] if queries is not None else None, warnings


def _ids_alone(base: object) -> bool:
    return (
        isinstance(base, Sequence)
        and not isinstance(base, str)
        and bool(base)
        and not any(isinstance(one, Mapping) for one in base)
    )


def _base(base: Any, name: str) -> tuple[tuple[str, ...], SourceTable[object]]:  # noqa: ANN401
    """Read cases or queries: their ids, and a table of their attributes."""
    if hasattr(base, "iloc"):
        if _ID not in base.columns:
            base = base.rename_axis(_ID).reset_index()
        records = base.to_dict("records")
    elif isinstance(base, Mapping):
        wrong = next((key for key, one in base.items() if not isinstance(one, Mapping)), None)
        if wrong is not None:
            message = f"{wrong!r}: should be a dict of attributes, and not {base[wrong]!r}"
            raise QuemError(Mistake(name, message=message))
        records = [{**attributes, _ID: key} for key, attributes in base.items()]
    elif isinstance(base, Sequence) and not isinstance(base, str):
        records = [{_ID: getattr(one, "id", None), **one} for one in base]
    else:
        message = f"should be a dict of id to attributes, or a DataFrame, and not {base!r}"[:200]
        raise QuemError(Mistake(name, message=message))
    if not records:
        raise QuemError(Mistake(name, message="is empty"))
    titles = dict.fromkeys(str(title) for record in records for title in record)
    plain = [{str(title): cell for title, cell in one.items()} for one in records]
    columns = {title: [one.get(title) for one in plain] for title in titles}
    table = rows_table(name, columns, (_ID,), lambda ids: shown(next(iter(ids.values()))))
    ids = [str(text) for text in table.columns[_ID].cells()]
    twice = [text for text, count in Counter(ids).items() if text and count > 1]
    if twice or "" in ids:
        wrong_id = f"{twice[0]}: is there twice" if twice else f"{_ID}: is missing"
        raise QuemError(Mistake(name, message=f"{wrong_id}; give each its own id"))
    attributes = {title: column for title, column in table.columns.items() if title != _ID}
    return tuple(ids), replace(table, columns=attributes)
