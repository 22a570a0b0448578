"""Evaluations of retrievers in memory: dicts, DataFrames, and functions instead of files."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pandas as pd

from quem.errors import Mistake, QuemError
from quem.io.custom_functions import Entry
from quem.io.memory import columns_of_frame, id_text, rows_table
from quem.io.text import nearest, shown
from quem.lists.registry import read_items
from quem.parallel import silent
from quem.retrieval.analysis import analyze_retrieval
from quem.retrieval.bases import make_bases, named_only
from quem.retrieval.loading import (
    RetrievalStudy,
    Sources,
    match_sources,
    roles_of,
    wrong_columns,
    wrong_ids,
)
from quem.retrieval.result import RetrievalResult
from quem.retrieval.stored import FIELDS, stored_of
from quem.studyfile.reading import IN_MEMORY, draft_in_memory
from quem.studyfile.retrieval import LEAVE_ONE_OUT, Linear, RetrievalSpec

if TYPE_CHECKING:
    from quem.io.tables import SourceTable
    from quem.lists.names import Chosen
    from quem.parallel import Progress
    from quem.retrieval.bases import CaseBase
    from quem.retrieval.stored import Stored
    from quem.studyfile.document import Loc

# Query to its list, or rows of both; or what retrieves.
Run: TypeAlias = "Mapping[Any, Any] | pd.DataFrame | Callable[..., Any] | Linear"
# Id to attributes, or rows of both.
Base: TypeAlias = "Mapping[Any, Mapping[str, Any]] | pd.DataFrame | Sequence[Any]"

_RUN_FIELDS = {key: FIELDS[key] for key in ("query", "case", "similarity", "rank")}
_ID = "id"
_MEMORY = "in memory"
_TRUTH = "the ground truth"


def evaluate(
    runs: Mapping[Any, Any],
    truth: Run | str,
    *,
    measures: Chosen | Iterable[Chosen] | None = None,
    headline: Chosen | None = None,
    cases: Base | None = None,
    queries: Base | str | None = None,
    truth_kind: Literal["grades", "similarities"] | None = None,
    solution: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    mac_fac: Mapping[str, Any] | None = None,
    title: str = "Evaluation in memory",
    progress: Progress = silent,
    **settings: object,
) -> RetrievalResult:
    """Evaluate retrievers in memory.

    Parameters
    ----------
    runs : mapping of str
        Of each retriever, by its id: a dict of query to its list (item to score, pairs of item
        and score, or items alone, best first); a DataFrame with the columns query, case, and
        score or rank or both; a function or class as that of a study, which needs `cases`; or
        `quem.studyfile.retrieval.Linear`, the built-in retriever, which needs `queries` too.
    truth : mapping, DataFrame, callable, or str
        A dict of query to item to grade, or to the relevant items alone; a DataFrame with the
        columns query, case, and grade or similarity; a function as above, or the id of one of
        the `runs`, whose similarities it then is.
    measures : iterable of str, Measure, Definition or callable, optional
        By default those of a study.
    headline : str, Measure, Definition or callable, optional
        Measure of the answer; by default the first.
    cases, queries : mapping, DataFrame, or sequence, optional
        Id to attributes; a DataFrame with the ids as its index, or in the column ``id``; or
        records with the key ``id``. `queries` may also be ids alone, or ``"leave-one-out"``. By
        default the cases are those that runs and ground truth name, the queries those of the
        ground truth.
    truth_kind : {"grades", "similarities"}, optional
        What the numbers of the ground truth are; by default similarities if a column is called
        so, else grades.
    solution, ignore : str or sequence of str
        Columns of the cases, as in a study file.
    mac_fac : mapping, optional
        Two phases, with the keys of a study file.
    title : str
        Of the report.
    progress : callable, optional
        See `quem.analyze`.
    **settings
        Others of ``analysis``; see ``docs/reference/study-retrieval.md``.

    Returns
    -------
    RetrievalResult
        As of a study.

    Raises
    ------
    QuemError
        With what is wrong in runs, ground truth, cases, or settings.
    """
    if not isinstance(runs, Mapping):
        raise QuemError(f"runs: should be a dict of name to run, and not {type(runs).__name__}")
    given = _Given(cases, queries, {}, {})
    truth_spec: dict[str, str] | None = None
    if isinstance(truth, str):
        truth_spec = {"retriever": truth}
        if truth not in map(str, runs):
            raise QuemError(
                f"truth: there is no run {shown(truth)}{nearest(truth, list(map(str, runs)))}"
            )
    retrievers = [given.retriever(id_text(name), run) for name, run in runs.items()]
    if truth_spec is None and callable(truth) and not isinstance(truth, Linear):
        own = next((id_text(name) for name, run in runs.items() if run is truth), "")
        if not own:
            own = "ground truth"
            retrievers.append(given.retriever(own, truth))
        truth_spec = {"retriever": own}
    elif truth_spec is None:
        stored, kind = _attempt(given.mistakes, _truth, truth, truth_kind) or (None, "grades")
        given.truth = stored
        key = "qrels" if kind == "grades" else "similarities"
        truth_spec = {key: f"data {_MEMORY}"}
    content = {
        "title": title,
        "cases": {"file": "cases" if cases is not None else "", "solution": solution}
        | {"ignore": ignore},
        "queries": _queries_key(queries),
        "retrievers": retrievers,
        "ground_truth": truth_spec,
        "mac_fac": None if mac_fac is None else dict(mac_fac),
    }
    study = given.study(content)
    chosen: dict[str, Any] = {"measures": measures, "headline": headline, **settings}
    if isinstance(measures, str) or not isinstance(measures, Iterable | NoneType):
        chosen["measures"] = [measures]
    findings = analyze_retrieval(study, progress=progress, **chosen).findings
    # Who analyzes or compares the study of the result does it with the same settings.
    spec = findings.study.spec.model_copy(update={"analysis": findings.settings})
    return RetrievalResult(replace(findings, study=replace(findings.study, spec=spec)))


def _queries_key(queries: object) -> object:
    if isinstance(queries, str):
        if queries != LEAVE_ONE_OUT:
            raise QuemError(f"queries: should be data or {LEAVE_ONE_OUT!r}, and not {queries!r}")
        return LEAVE_ONE_OUT
    return {"file": "queries" if queries is not None else ""}


def _attempt(mistakes: list[Mistake], read: Callable[..., Any], *what: object) -> Any:  # noqa: ANN401  what `read` gives
    """Read something, or note what is wrong with it."""
    try:
        return read(*what)
    except QuemError as error:
        mistakes += error.mistakes
    return None


@dataclass
class _Given:
    """What a caller gave, as it is understood."""

    cases: Any
    queries: Any
    stored: dict[str, Stored]
    entries: dict[str, Entry | str]
    truth: Stored | None = None
    mistakes: list[Mistake] = field(default_factory=list)

    def retriever(self, name: str, run: object) -> dict[str, Any]:
        """Take a run, and give what a study file would say of it."""
        if isinstance(run, Linear):
            return {"id": name, "linear": run}
        if callable(run):
            function = getattr(run, "__qualname__", type(run).__qualname__)
            spelled = f"{getattr(run, '__module__', None) or _MEMORY}:{function}"
            try:
                file = Path(inspect.getfile(inspect.unwrap(run))).name
            except TypeError:
                file = _MEMORY
            self.entries[name] = Entry(spelled, run, (), file)
            return {"id": name, "python": spelled}
        stored = _attempt(self.mistakes, _stored, run, f"run {shown(name)}", _RUN_FIELDS)
        if stored is not None:
            self.stored[name] = stored
        return {"id": name, "run": _MEMORY}

    def study(self, content: Mapping[str, Any]) -> RetrievalStudy:
        draft = draft_in_memory(RetrievalSpec, content)
        spec = draft.checked()
        source = _Source(draft.document.mistake)
        mistakes = [*self.mistakes, *wrong_ids(spec, source)]
        mistakes += _missing(spec, self)
        read = Sources(stored=self.stored, truth=self.truth)
        try:
            read.cases, read.queries = self._bases(spec, read)
        except QuemError as error:
            mistakes += error.mistakes
        else:
            mistakes += wrong_columns(spec, read.cases, source)
        if mistakes:
            raise QuemError(dict.fromkeys(mistakes))
        data, mistakes = match_sources(spec, read, source)
        if data is None:
            raise QuemError(dict.fromkeys(mistakes))
        return RetrievalStudy(IN_MEMORY, str(IN_MEMORY), spec, data, self.entries, _draft=draft)

    def _bases(self, spec: RetrievalSpec, read: Sources) -> tuple[CaseBase | None, CaseBase | None]:
        found: dict[str, CaseBase] = {}
        raw = []
        for name, base in (("cases", self.cases), ("queries", self.queries)):
            if base is None or isinstance(base, str):
                continue
            if not len(base):
                raise QuemError(Mistake(name, message="is empty"))
            if _ids_alone(base):
                found[name] = replace(named_only(map(id_text, base)), name=name)
            else:
                raw.append(_base(base, name))
        bases, read.warnings = make_bases(raw, roles_of(spec))
        found |= {base.name: base for base in bases}
        return found.get("cases"), found.get("queries")


@dataclass(frozen=True)
class _Source:
    """Describes what is wrong with what a caller gave."""

    mistake: Callable[[Loc, str], Mistake]

    def beside(self, name: str) -> tuple[Path, str]:
        """There is nothing beside it."""
        return IN_MEMORY, name


def _missing(spec: RetrievalSpec, given: _Given) -> Iterable[Mistake]:
    runs = [one for one in spec.retrievers if one.linear is not None or one.python]
    if runs and given.cases is None:
        message = f"is missing: the retriever {shown(runs[0].id)} needs the cases that it searches"
        yield Mistake("", key="cases", message=message)
    unnamed = given.queries is None and (
        spec.ground_truth.retriever or any(one.linear is not None for one in runs)
    )
    if unnamed:
        message = f"is missing: give the queries, or {LEAVE_ONE_OUT!r}"
        yield Mistake("", key="queries", message=message)
    if spec.queries.leave_one_out and given.cases is None:
        yield Mistake(
            "", key="cases", message="is missing: leave-one-out takes the queries from it"
        )


def _truth(truth: object, kind: str | None) -> tuple[Stored, str]:
    """Read the ground truth, and say whether it has grades or similarities."""
    if isinstance(truth, pd.DataFrame):
        titles = {str(title).casefold() for title in truth.columns}
        if kind is None:
            # As in files, a score is a grade.
            kind = "similarities" if titles & {"similarity", "sim"} else "grades"
    if kind not in (None, "grades", "similarities"):
        raise QuemError(f"truth_kind: should be grades or similarities, and not {kind!r}")
    kind = kind or "grades"
    fields = {"query": FIELDS["query"], "case": FIELDS["case"]}
    every = (*FIELDS["grade"], *FIELDS["similarity"])
    value = "grade" if kind == "grades" else "similarity"
    return _stored(truth, _TRUTH, {**fields, value: every}, value), kind


def _stored(
    run: object, name: str, fields: Mapping[str, Sequence[str]], value: str = "similarity"
) -> Stored:
    """Read a run, or a ground truth whose number is called `value`."""
    is_truth = name == _TRUTH
    if isinstance(run, pd.DataFrame):
        required = ("query", "case", value) if is_truth else ("query", "case")
        columns = columns_of_frame(run, name, fields, required)
        if not is_truth and not {"similarity", "rank"} & columns.keys():
            raise QuemError(
                Mistake(name, message="should have a column score or rank, besides query and case")
            )
    elif isinstance(run, Mapping):
        columns = _columns_of_lists(run, name, value, best_first=not is_truth)
    else:
        what = "a dict of query to list, a DataFrame, or a function"
        raise QuemError(Mistake(name, message=f"should be {what}, and not {type(run).__name__}"))
    table = rows_table(name, columns, ("query", "case"), _row_name)
    if not len(table):
        raise QuemError(Mistake(name, message="holds no item; check how it was made"))
    return stored_of(table, value)


def _row_name(ids: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {shown(text)}" for key, text in ids.items() if text)


def _columns_of_lists(
    lists: Mapping[Any, Any], name: str, value: str, *, best_first: bool
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"query": [], "case": [], value: []}
    forms: dict[bool, object] = {}
    mistakes: list[Mistake] = []
    seen: dict[str, object] = {}
    for query, entries in lists.items():
        try:
            if isinstance(entries, pd.DataFrame):
                message = "should be a dict or a list of items, and not a DataFrame"
                raise QuemError(message)  # noqa: TRY301  told with the others
            text = id_text(query)
            if text in seen:
                message = f"is there twice, as {seen[text]!r} and {query!r}"
                raise QuemError(message)  # noqa: TRY301
            seen[text] = query
            items, scored = read_items(entries, best_first=best_first)
        except QuemError as error:
            mistakes += [
                Mistake(name, key=f"query {query!r}", message=m.message) for m in error.mistakes
            ]
            continue
        if items:
            forms.setdefault(scored, query)
        columns["query"] += [text] * len(items)
        columns["case"] += items
        columns[value] += items.values()
    if best_first and len(forms) > 1:
        message = (
            f"has scores for the query {forms[True]!r} and only an order for {forms[False]!r}; "
            "give scores for all, or for none"
        )
        mistakes.append(Mistake(name, message=message))
    if mistakes:
        raise QuemError(mistakes)
    if best_first and False in forms:
        # Numbers that only say the order are none.
        columns.pop(value)
    return columns


def _ids_alone(base: object) -> bool:
    return (
        isinstance(base, Iterable)
        and not isinstance(base, str | Mapping | pd.DataFrame)
        and all(not isinstance(one, Mapping) for one in base)
    )


def _base(base: object, name: str) -> tuple[tuple[str, ...], SourceTable[object]]:
    """Read cases or queries: their ids, and a table of their attributes."""
    if isinstance(base, pd.DataFrame):
        if _ID not in base.columns:
            base = base.rename_axis(_ID).reset_index()
        records = [
            dict(zip(base.columns, row, strict=True)) for row in base.itertuples(index=False)
        ]
    elif isinstance(base, Mapping):
        wrong = next((key for key, one in base.items() if not isinstance(one, Mapping)), None)
        if wrong is not None:
            raise QuemError(
                Mistake(
                    name,
                    message=(f"{wrong!r}: should be a dict of attributes, and not {base[wrong]!r}"),
                )
            )
        records = [{**attributes, _ID: key} for key, attributes in base.items()]
    elif isinstance(base, Sequence) and all(isinstance(one, Mapping) for one in base):
        records = [{_ID: getattr(one, "id", None), **one} for one in base]
    else:
        wanted = "a dict of id to attributes, or a DataFrame"
        raise QuemError(Mistake(name, message=f"should be {wanted}, and not {base!r}"[:200]))
    titles = dict.fromkeys(str(title) for record in records for title in record)
    plain_records = [{str(title): cell for title, cell in one.items()} for one in records]
    columns = {title: [one.get(title) for one in plain_records] for title in titles}
    table = rows_table(name, columns, (_ID,), _row_name)
    ids = [str(text) for text in table.columns[_ID].cells()]
    counts = Counter(ids)
    mistakes = [
        Mistake(name, key=shown(text), message="is there twice; give each its own id")
        for text, count in counts.items()
        if text and count > 1
    ]
    if counts[""]:
        mistakes.append(Mistake(name, key=_ID, message="is missing; give each an id"))
    if mistakes:
        raise QuemError(mistakes)
    attributes = {title: column for title, column in table.columns.items() if title != _ID}
    return tuple(ids), replace(table, columns=attributes)
