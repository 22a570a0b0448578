"""Evaluations of option lists in memory: dicts and DataFrames instead of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from quem.errors import Mistake, QuemError
from quem.io.memory import columns_of_frame, id_text, plain, rows_table
from quem.io.text import shown
from quem.lists.registry import read_items
from quem.options.analysis import analyze_options
from quem.options.key import read_key
from quem.options.loading import OptionsStudy
from quem.options.result import OptionsResult
from quem.options.rows import assemble
from quem.studyfile.options import OptionsSpec
from quem.studyfile.reading import IN_MEMORY, draft_in_memory

if TYPE_CHECKING:
    from quem.io.tables import SourceTable
    from quem.lists.names import Chosen

# Rows of question and option; or system to question to list.
Given: TypeAlias = "pd.DataFrame | Mapping[Any, Any]"
# Question to its correct option, or options; or rows of both.
Correct: TypeAlias = "Mapping[Any, Any] | pd.DataFrame | pd.Series[Any]"

_LISTS = "lists"
_FIELDS = {
    "question": ("question",),
    "system": ("system",),
    "option": ("option",),
    "position": ("position",),
    "confidence": ("confidence", "score"),
}
_IDS = ("question", "system", "option")
_KEY = {"question": ("question",), "correct": ("correct",), "title": ("title",)}


def evaluate(
    lists: Given,
    correct: Correct,
    *,
    measures: Chosen | Iterable[Chosen] | None = None,
    title: str = "Evaluation in memory",
    **settings: object,
) -> OptionsResult:
    """Evaluate lists of options in memory.

    Parameters
    ----------
    lists : DataFrame or mapping
        A row for each option, with the columns question and option, and any of system,
        position, and confidence (or score), as in a file; a row without an option is an empty
        list. Or a dict of system to a dict of question to its list: option to confidence, pairs
        of both, or options alone, best first.
    correct : mapping or DataFrame
        Question to its correct option, or to several; or the columns question and correct, and
        title, with a row for each correct option.
    measures : iterable of str, Measure, Definition or callable, optional
        By default those of a study; the first is the headline.
    title : str
        Of the report.
    **settings
        Others of ``analysis``; see ``docs/reference/study-options.md``.

    Returns
    -------
    OptionsResult
        As of a study.

    Raises
    ------
    QuemError
        With what is wrong in lists, questions, or settings.
    """
    questions = _questions(correct)
    draft = draft_in_memory(OptionsSpec, {"title": title, "questions": questions, "lists": _LISTS})
    spec = draft.checked()
    key, mistakes = read_key(draft, spec)
    if mistakes:
        raise QuemError(mistakes)
    table = _table(lists)
    if not len(table):
        raise QuemError(Mistake(_LISTS, message="holds no list"))
    assembled, mistakes = assemble([(table, "")], key, [])
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    study = OptionsStudy(
        IN_MEMORY,
        str(IN_MEMORY),
        spec,
        key,
        assembled.systems,
        assembled.answers,
        (),
        (*key.warnings, *assembled.warnings),
        draft.document,
    )
    chosen: dict[str, object] = {"measures": measures, **settings}
    if isinstance(measures, str) or not isinstance(measures, Iterable | NoneType):
        chosen["measures"] = [measures]
    findings = analyze_options(study, **chosen).findings
    # Who analyzes or compares the study of the result does it with the same settings.
    spec = findings.study.spec.model_copy(update={"analysis": findings.settings})
    return OptionsResult(replace(findings, study=replace(findings.study, spec=spec)))


def _questions(correct: object) -> list[dict[str, Any]]:
    """The questions as a study file would list them."""
    if isinstance(correct, pd.DataFrame):
        columns = columns_of_frame(correct, "correct", _KEY, ("question", "correct"))
        titles = columns.get("title", [""] * len(columns["question"]))
        rows = list(zip(columns["question"], columns["correct"], titles, strict=True))
    elif isinstance(correct, Mapping) or hasattr(correct, "items"):
        rows = [(question, option, "") for question, option in correct.items()]
    else:
        raise QuemError(
            Mistake(
                "correct",
                message=(
                    f"should be a dict of question to option, and not {type(correct).__name__}"
                ),
            )
        )
    questions, mistakes = [], []
    for question, option, title in rows:
        try:
            options = _correct(option)
            entry = {"id": id_text(question), "correct": options}
        except QuemError as error:
            mistakes += [
                Mistake("correct", key=f"question {question!r}", message=m.message)
                for m in error.mistakes
            ]
            continue
        questions.append({**entry, "title": str(plain(title) or "")})
    if mistakes:
        raise QuemError(mistakes)
    return questions


def _correct(option: object) -> list[str]:
    """The correct options of a question."""
    several = isinstance(option, list | tuple | set | frozenset)
    options = [id_text(one) for one in (option if several else [option])]  # type: ignore[attr-defined]
    if not options:
        raise QuemError("has no correct option; add it")
    # A set has no order.
    return sorted(options) if isinstance(option, set | frozenset) else options


def _table(lists: object) -> SourceTable[Any]:
    if isinstance(lists, pd.DataFrame):
        columns = columns_of_frame(lists, _LISTS, _FIELDS, ("question", "option"))
    elif isinstance(lists, Mapping):
        columns = _columns_of_lists(lists)
    else:
        raise QuemError(
            Mistake(
                _LISTS,
                message=(
                    "should be a DataFrame, or a dict of system to lists, not "
                    f"{type(lists).__name__}"
                ),
            )
        )
    return rows_table(_LISTS, columns, _IDS, _row_name)


def _row_name(ids: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {shown(text)}" for key, text in ids.items() if text)


def _columns_of_lists(lists: Mapping[Any, Any]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {key: [] for key in (*_IDS, "confidence")}
    mistakes: list[Mistake] = []
    seen: set[tuple[str, str]] = set()
    for system, answers in lists.items():
        if not isinstance(answers, Mapping):
            message = f"should be a dict of question to list, and not {type(answers).__name__}"
            mistakes.append(Mistake(_LISTS, key=f"system {system!r}", message=message))
            continue
        for question, entries in answers.items():
            try:
                pair = id_text(system), id_text(question)
                if pair in seen:
                    raise QuemError("is there twice")  # noqa: TRY301  told with the others
                seen.add(pair)
                items, scored = read_items(entries, best_first=True)
            except QuemError as error:
                of = f"question {question!r}, system {system!r}"
                mistakes += [Mistake(_LISTS, key=of, message=m.message) for m in error.mistakes]
                continue
            # A row without an option is an empty list.
            options = list(items) or [""]
            columns["system"] += [pair[0]] * len(options)
            columns["question"] += [pair[1]] * len(options)
            columns["option"] += options
            columns["confidence"] += (
                list(items.values()) if items and scored else [None] * len(options)
            )
    if mistakes:
        raise QuemError(mistakes)
    return columns
