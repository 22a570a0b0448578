"""The analysis of option lists, as a table of scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.lists import measure
from quem.lists.names import named, split_spelling
from quem.options.calibration import calibration
from quem.options.checks import find_warnings
from quem.options.lists import by_length, described, score_lists
from quem.options.result import Found, Named, OptionsResult, sections
from quem.options.table1 import table1
from quem.options.thresholds import sweep
from quem.scores.inference import Inference
from quem.scores.result import Scored, certified
from quem.scores.table import Nouns, Origin, ScoreTable
from quem.studyfile.measures import spellings
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from quem.errors import StudyWarning
    from quem.lists import Measure
    from quem.options.loading import OptionsStudy
    from quem.studyfile.options import OptionsSettings

_LENGTH = "max_length"


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


def check_options(study: OptionsStudy) -> tuple[StudyWarning, ...]:
    """The warnings of an analysis that are quick to find."""
    return analyze_options(study, samples=0).warnings


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
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
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
