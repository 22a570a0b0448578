"""Evaluations of option lists in memory: dicts and DataFrames instead of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

from quem.errors import Mistake, QuemError
from quem.options.analysis import analyze_options
from quem.options.assembling import assemble
from quem.options.loading import OptionsStudy
from quem.options.reading import Answered, Listed, answer_key, read
from quem.options.result import OptionsResult
from quem.studyfile.options import OptionsSpec
from quem.studyfile.reading import IN_MEMORY, draft_in_memory

if TYPE_CHECKING:
    import pandas as pd

    from quem.lists.names import Chosen

# Rows of question and option; or system to question to list.
Given: TypeAlias = "pd.DataFrame | Mapping[Any, Any]"
# Question to its correct option, or options; or rows of both.
Correct: TypeAlias = "Mapping[Any, Any] | pd.DataFrame | pd.Series[Any]"


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
        Question to its correct option, or to several; or the columns question and correct, with
        a row for each correct option.
    measures : iterable of str, Measure, Definition or callable, optional
        By default those of a study; the first is the headline.
    title : str
        Of the report.
    **settings
        Others of ``analysis``; see ``docs/how-to/options.md``.

    Returns
    -------
    OptionsResult
        As of a study.

    Raises
    ------
    QuemError
        With what is wrong in lists, questions, or settings.
    """
    content = {"title": title, "questions": "correct", "lists": "lists"}
    draft = draft_in_memory(OptionsSpec, content)
    key = answer_key(read(correct, "correct", Answered))
    table = read(lists, "lists", Listed)
    if not len(table):
        raise QuemError(Mistake("lists", message="holds no list"))
    assembled = assemble([(table, "")], key)
    study = OptionsStudy(
        IN_MEMORY, str(IN_MEMORY), draft.checked(), key, *assembled, (), draft.document
    )
    chosen: dict[str, object] = {"measures": measures, **settings}
    if isinstance(measures, str) or not isinstance(measures, Iterable | NoneType):
        chosen["measures"] = [measures]
    findings = analyze_options(study, **chosen).findings
    # Further analyses and comparisons use the same settings.
    spec = findings.study.spec.model_copy(update={"analysis": findings.settings})
    return OptionsResult(replace(findings, study=replace(findings.study, spec=spec)))
