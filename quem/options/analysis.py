"""Analysis of option lists, in studies and in memory, with its warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning, refuse
from quem.lists import Measure, measure
from quem.lists.names import Chosen, named, split_spelling
from quem.options.assembling import assemble
from quem.options.calibration import calibration, sweep
from quem.options.lists import by_length, described, score_lists
from quem.options.loading import OptionsStudy
from quem.options.reading import Answered, Listed, answer_key, read
from quem.options.result import Found, Named, OptionsResult, sections
from quem.options.table1 import table1
from quem.scores.inference import Inference
from quem.scores.result import Scored, certified
from quem.scores.table import Nouns, Origin, ScoreTable
from quem.studyfile.measures import spellings
from quem.studyfile.options import OptionsSettings, OptionsSpec
from quem.studyfile.reading import IN_MEMORY, draft_in_memory
from quem.studyfile.schema import changed_settings
from quem.wording import format_count, join_words, measured

if TYPE_CHECKING:
    import pandas as pd


_LENGTH = "max_length"
# Rows of question and option; or system to question to list.
Given: TypeAlias = "pd.DataFrame | Mapping[Any, Any]"
# Question to its correct option, or options; or rows of both.
Correct: TypeAlias = "Mapping[Any, Any] | pd.DataFrame | pd.Series[Any]"


def analyze_options(study: OptionsStudy, **settings: object) -> OptionsResult:
    """Analyze a study of kind ``options`` (see `quem.analyze`)."""
    settings, own = named(settings)
    study = replace(study, own_measures={**study.own_measures, **own})
    used = changed_settings(study.spec.analysis, settings)
    inference = Inference(used.level, used.samples, used.seed)
    found = Found(study, used)
    found.measures = measures = _measures(study, used, found.max_length)
    headline = next(iter(measures.values()))
    values = np.full((len(study.systems), len(study.key.ids), len(measures)), np.nan)
    for at, (answers, counts) in enumerate(zip(study.answers, found.counted, strict=True)):
        ids = study.systems[at], study.names[at]
        lists = zip(answers.lists, answers.n_correct.tolist(), strict=True)
        scores, reasons = score_lists(lists, list(measures.values()))
        values[at, counts] = scores[counts]
        found.reasons.update(reasons)
        found.systems.append(described(ids, answers, counts))
        found.lengths += by_length(ids, answers, counts, values[at, :, 0], inference)
        if answers.has_confidences:
            found.thresholds += sweep(ids[0], answers, counts, headline, inference)
        if answers.has_probabilities:
            calibrated, bins = calibration(ids, answers, inference)
            found.calibration.append(calibrated)
            found.reliability += bins
    found.promises, found.table1 = table1(measures, found.max_length)
    table = ScoreTable(
        study.systems,
        study.key.ids,
        tuple(
            Named(name, one.better, one.heading if name == one.name else name)
            for name, one in measures.items()
        ),
        values,
        inference,
        Nouns("system", "question"),
        study.names,
        (study.spec.id,) * len(study.systems),
        origin=_origin(study, used, found.max_length),
        details=tuple(found.systems),
        sections=tuple(sections(found)),
    )
    table = replace(table, warnings=(*study.warnings, *find_warnings(found, table)))
    certificates = certified(table, used.claims)
    return OptionsResult(Scored(table, study, used, found, certificates))


def _measures(
    study: OptionsStudy, settings: OptionsSettings, max_length: int
) -> dict[str, Measure]:
    """The measures by name, without duplicates; the longest length is a default parameter."""
    measures: dict[str, Measure] = {}
    mistakes: list[Mistake] = []
    wanted = settings.measures or type(settings).model_fields["measures"].default
    of_file = settings.measures == study.spec.analysis.measures
    at = partial(study.document.mistake, ("analysis", "measures")) if of_file else _given
    for spelling in spellings(wanted):
        try:
            one = measure(spelling, study.own_measures)
        except QuemError as error:
            mistakes += [at(wrong.message) for wrong in error.mistakes]
            continue
        name, spelled = one.name, split_spelling(spelling)
        if one.definition.takes(_LENGTH) and spelled and not {_LENGTH, "m"} & spelled[1].keys():
            one = measure(one, max_length=max_length)
        if one not in measures.values():
            names = (name, one.name, spelling)
            measures[next(free for free in names if free not in measures)] = one
    refuse(mistakes)
    return measures


def _given(message: str) -> Mistake:
    """The error on a setting of the caller."""
    return Mistake("", key="measures", message=message)


def _origin(study: OptionsStudy, settings: OptionsSettings, max_length: int) -> Origin:
    """The origin of the scores, and their dependencies."""
    key = study.key
    truth = sorted(zip(key.ids, map(sorted, key.correct), strict=True))
    return Origin(
        "options",
        study.spec.title,
        study.name,
        sha256(repr(truth).encode()).hexdigest()[:32],
        {"missing": settings.missing, _LENGTH: str(max_length)},
    )


def find_warnings(found: Found, table: ScoreTable) -> Iterator[StudyWarning]:
    """All warnings about an analysis."""
    for system in range(len(table.systems)):
        yield from _of_lists(found, table, system)
        yield from _of_confidences(found, system)
    yield from _of_measures(found, table)


def _of_lists(found: Found, table: ScoreTable, system: int) -> Iterator[StudyWarning]:
    name, n = table.labels[system], len(table.queries)
    answers, counts = found.study.answers[system], found.counted[system]
    if missing := found.systems[system].missing:
        as_what = {
            "empty": "each counts as an empty list",
            "leave-out": "they are left out of its means",
        }[found.settings.missing]
        message = f"{name} has no list for {missing:,} of {n:,} questions; {as_what}"
        yield StudyWarning("missing-lists", message)
    empty = counts & (answers.length == 0)
    lost = np.isnan(table.values[system, empty]).all(axis=0)
    if empty.any() and lost.any():
        measures = [name for name, one in zip(table.columns, lost, strict=True) if one]
        yield StudyWarning(
            "empty-lists",
            f"{empty.sum():,} of {n:,} lists of {name} {'is' if empty.sum() == 1 else 'are'} "
            f"empty, where {join_words(measures)} {'is' if len(measures) == 1 else 'are'} "
            "undefined; the mean excludes them, which favors systems that answer only when "
            "confident",
        )
    if n > 1 and not answers.has_correct.any():
        yield StudyWarning(
            "never-correct",
            f"no list of {name} has a correct option; check that options are named as in the "
            "questions",
        )


def _of_measures(found: Found, table: ScoreTable) -> Iterator[StudyWarning]:
    if over := sum(int((one.length > found.max_length).sum()) for one in found.study.answers):
        yield StudyWarning(
            "beyond-max-length",
            f"{format_count(over, 'list')} ha{'s' if over == 1 else 've'} more options than "
            f"max_length, {found.max_length}, and no score by measures that depend on it; the "
            f"longest has {found.longest:,}",
        )
    for layer, (column, one) in enumerate(found.measures.items()):
        if not table.means.n[:, layer].any():
            why = found.reasons.get(one.name, "there is no list")
            message = f"{column} is undefined for every list: {why}"
            yield StudyWarning("undefined-measure", message)


def _of_confidences(found: Found, system: int) -> Iterator[StudyWarning]:
    name, answers = found.study.names[system], found.study.answers[system]
    lacking = np.isnan(answers.confidence)
    if lacking.any() and not lacking.all():
        yield StudyWarning(
            "partial-confidence",
            f"{lacking.sum():,} of {len(lacking):,} options of {name} have no confidence, so "
            "confidences are not evaluated",
        )
    if not answers.has_confidences:
        return
    if not answers.has_probabilities:
        low, high = answers.confidence.min(), answers.confidence.max()
        yield StudyWarning(
            "no-probabilities",
            f"confidences of {name} go from {measured(low)} to {measured(high)}, and probabilities "
            "from 0 to 1, so calibration is not evaluated; their order and thresholds are used as "
            "they are",
        )
    if answers.rises:
        yield StudyWarning(
            "order-against-confidence",
            f"{answers.rises:,} lists of {name} are not in the order of their confidences; "
            "measures use the positions, and thresholds the confidences",
        )


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
