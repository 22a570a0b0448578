"""From lists of options to findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from quem.errors import Mistake, QuemError
from quem.lists import Measure, measure, properties
from quem.lists.inference import compare_systems, fewest_of, query_means
from quem.lists.names import split_spelling
from quem.lists.names import named
from quem.options.calibration import are_probabilities, calibration
from quem.options.checks import find_warnings
from quem.options.lists import Scorer, by_length, ways_of
from quem.options.result import OptionsFindings, OptionsResult, SystemScores, Undefined
from quem.options.thresholds import cut_lists, sweep
from quem.studyfile.measures import spellings
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.lists import Definition, Measure, Properties
    from quem.options.calibration import Calibration
    from quem.options.lists import Answers
    from quem.options.loading import OptionsStudy
    from quem.options.thresholds import Sweep
    from quem.studyfile.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_LENGTH = "max_length"


def _with_length(name: str, max_length: int, own: Mapping[str, Definition]) -> Measure:
    """Find a measure; one that asks for the longest length gets it by default."""
    chosen = measure(name, own)
    spelled = split_spelling(name)
    has_length = spelled is not None and {_LENGTH, "m"} & spelled[1].keys()
    asks = chosen.definition.takes(_LENGTH) and not has_length
    return measure(chosen, max_length=max_length) if asks else chosen


def _make_scorer(data: OptionsStudy, settings: OptionsSettings, longest: int) -> Scorer:
    """Find the measures that the settings name, each once, however it is spelled."""
    max_length = settings.max_length or max(longest, 1)
    named: dict[Measure, str] = {}
    mistakes: list[Mistake] = []
    spelled = spellings(settings.measures)
    headline = None
    for key, name in (*(("measures", name) for name in spelled), ("headline", settings.headline)):
        try:
            headline = _with_length(name, max_length, data.own_measures)
        except QuemError as error:
            mistakes += [_wrong(data, settings, key, str(m.message)) for m in error.mistakes]
            continue
        if headline not in named:
            # Without the length that it gets, where that is not the name of another one.
            names = (measure(name, data.own_measures).name, headline.name, name)
            named[headline] = next(one for one in names if one not in named.values())
        if key == "headline" and headline.better != "higher":
            message = f"of {name} less is better; name a measure of which more is"
            mistakes.append(_wrong(data, settings, key, message))
    if mistakes or headline is None:
        raise QuemError(dict.fromkeys(mistakes))
    at = list(named).index(headline)
    return Scorer(tuple(named.values()), tuple(named), at, max_length)


def _wrong(data: OptionsStudy, settings: OptionsSettings, key: str, message: str) -> Mistake:
    """A setting that is wrong: in the study file, or as the caller gave it."""
    if getattr(settings, key) != getattr(data.spec.analysis, key):
        return Mistake("", key=key, message=message)
    return data.mistake(("analysis", key), message)


# Lists up to this length are enumerated to check what a measure promises.
_LONGEST_CHECKED = 8


def analyze_options(study: OptionsStudy, **settings: object) -> OptionsResult:
    """Analyze a study of kind ``options`` (see `quem.analyze`)."""
    settings, own = named(settings)
    study = replace(study, own_measures={**study.own_measures, **own})
    used = changed_settings(study.spec.analysis, settings)
    lengths, places = _lists(study, used)
    scorer = _make_scorer(study, used, int(lengths.max(initial=0)))
    systems = [study.offered.of_system(system) for system in range(len(study.systems))]
    ways = ways_of(systems)
    scored = scorer.score(np.maximum(lengths, 0), ways)
    scores, codes = scored.values[scored.which], scored.codes[scored.which]
    scores[lengths < 0], codes[lengths < 0] = np.nan, 0
    of_confidences = [
        _Confidences.of(number, answers, lengths[number] >= 0, scorer, used)
        for number, answers in enumerate(systems)
        if answers.has_confidences
    ]
    findings = OptionsFindings(
        data=study,
        settings=used,
        scorer=scorer,
        lengths=lengths,
        places=places,
        ways=ways,
        scores=scores,
        system_scores=tuple(_system_scores(study, used, lengths, places, scores)),
        undefined=tuple(_undefined(codes, scored.reasons)),
        groups=by_length(lengths, places, scores, scorer.headline, used),
        sweeps=tuple(one.sweep for one in of_confidences),
        calibrations=tuple(one.calibration for one in of_confidences if one.calibration),
        pairs=tuple(
            compare_systems(
                scores,
                level=used.level,
                replicates=used.bootstrap,
                permutations=used.permutations,
                seed=used.seed,
                fewest=fewest_of(len(study.key.ids)),
            )
        ),
        properties=tuple(_promises(scorer)),
    )
    return OptionsResult(replace(findings, warnings=(*study.warnings, *find_warnings(findings))))


class _Confidences(NamedTuple):
    """What the confidences of a system are worth."""

    sweep: Sweep
    calibration: Calibration | None

    @classmethod
    def of(
        cls,
        system: int,
        answers: Answers,
        counted: NDArray[np.bool_],
        scorer: Scorer,
        settings: OptionsSettings,
    ) -> Self:
        """Evaluate a system whose options all have a confidence."""
        answers = answers.by_confidence()
        lists = cut_lists(answers, counted)
        return cls(
            sweep(system, lists, scorer, settings),
            calibration(system, answers, settings)
            if are_probabilities(answers.confidence)
            else None,
        )


def check_options(study: OptionsStudy) -> tuple[StudyWarning, ...]:
    """Say what an analysis of a study would warn of, without what takes long."""
    return analyze_options(study, bootstrap=0, permutations=0).warnings


def _lists(study: OptionsStudy, settings: OptionsSettings) -> tuple[Integers, Integers]:
    """Length of each list, -1 where it does not count, and place of its first correct one."""
    answers = [study.offered.of_system(system) for system in range(len(study.systems))]
    lengths = np.stack([answer.length for answer in answers]).astype(np.int64)
    places = np.stack([answer.place for answer in answers])
    if settings.missing == "leave-out":
        lengths[~study.offered.answered] = -1
    return lengths, places


def _system_scores(
    study: OptionsStudy,
    settings: OptionsSettings,
    lengths: Integers,
    places: Integers,
    scores: Floats,
) -> Iterator[SystemScores]:
    for system in range(len(study.systems)):
        counts = lengths[system] >= 0
        columns = np.column_stack(
            [
                scores[system],
                np.where(counts, places[system] > 0, np.nan),
                np.where(counts, lengths[system], np.nan),
            ]
        )
        means = query_means(
            columns, level=settings.level, replicates=settings.bootstrap, seed=settings.seed
        )
        mean = means.mean.tolist()
        ends = list(zip(means.low.tolist(), means.high.tolist(), strict=True))
        answered = study.offered.answered[system]
        yield SystemScores(
            system=system,
            n_lists=int(answered.sum()),
            n_missing=int((~answered).sum()),
            n_empty=int((answered & (lengths[system] == 0)).sum()),
            share=mean[-2],
            share_interval=ends[-2],
            mean_length=mean[-1],
            mean_length_interval=ends[-1],
            scores=tuple(mean[:-2]),
            intervals=tuple(ends[:-2]),
            defined=tuple(means.defined.tolist()[:-2]),
        )


def _undefined(codes: NDArray[np.intp], reasons: tuple[str, ...]) -> Iterator[Undefined]:
    for system, of_system in enumerate(codes):
        for at, column in enumerate(of_system.T):
            counts = np.bincount(column, minlength=len(reasons))
            for code in np.flatnonzero(counts[1:]).tolist():
                yield Undefined(system, at, reasons[code + 1], int(counts[code + 1]))


def _promises(scorer: Scorer) -> Iterator[tuple[str, Properties]]:
    """What each measure promises, on lists of two to eight options."""
    longest = min(scorer.max_length, _LONGEST_CHECKED)
    for name, one in zip(scorer.names, scorer.measures, strict=True):
        try:
            yield name, properties(one, max(longest, 1))
        except QuemError:
            # Of such lists it has no score, or less of it is better.
            continue
