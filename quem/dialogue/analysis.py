"""The evaluation of conversational CBR from case base to result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.dialogue.outcomes import Evaluation, chosen_measures, evaluate
from quem.dialogue.result import DialogueResult, scored
from quem.dialogue.simulation import prepare, run_experiment
from quem.errors import StudyWarning, WarningRules
from quem.parallel import Progress, Workers, silent
from quem.scores.inference import Inference
from quem.studyfile.schema import changed_settings
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.reading import EncodedCases


def analyze_dialogue(
    study: DialogueStudy,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress = silent,
    **settings: object,
) -> DialogueResult:
    """Analyze a study of kind ``dialogue`` (see `quem.analyze`)."""
    used = changed_settings(study.spec.analysis, settings)
    measures = chosen_measures(used.measures, study.users)
    experiment = prepare(
        study.cases,
        used,
        strategies=study.strategies,
        users=study.users,
        order=study.order,
        protocol=study.protocol,
        queries=study.queries,
    )
    done = progress("Simulating dialogues", len(experiment.targets))
    dialogues = run_experiment(experiment, workers=Workers(jobs or 1, cluster), done=done)
    found = evaluate(experiment, dialogues, Inference(used.level, used.samples, used.seed))
    warnings = (*_warnings(study), *_AFTER.find(found))
    return DialogueResult(scored(study, used, found, measures, warnings))


def check_dialogue(study: DialogueStudy) -> Iterable[StudyWarning]:
    """The warnings of a study that need no dialogue."""
    chosen_measures(study.spec.analysis.measures, study.users)
    return _warnings(study)


def _warnings(study: DialogueStudy) -> Iterator[StudyWarning]:
    yield from study.warnings
    yield from _BEFORE.find(study.cases)


_RARELY = 0.01
_MISSING = 0.2
_MOST_NAMED = 5
_BEFORE: WarningRules[EncodedCases] = WarningRules()
_AFTER: WarningRules[Evaluation] = WarningRules()


@_BEFORE.add("constant-attribute")
def _constant_attribute(cases: EncodedCases) -> Iterator[str]:
    same = [name for name, span in zip(cases.attributes, cases.spans, strict=True) if not span]
    if same:
        yield (
            f"{join_words(same, _MOST_NAMED)} {'has' if len(same) == 1 else 'have'} one value in "
            "all cases; questions about it carry no information but count as questions"
        )


@_BEFORE.add("many-missing", remedy="try other values of `missing`")
def _many_missing(cases: EncodedCases) -> Iterator[str]:
    share = 1 - cases.known.mean()
    if share > _MISSING:
        yield (
            f"{100 * share:.0f}% of the values are missing; how they count in a distance is an "
            "open choice (`missing`)"
        )


@_AFTER.add("contracted")
def _contracted(found: Evaluation) -> Iterator[str]:
    """Warnings on lists that had contracted to nothing after some answer."""
    during = found.contracted_during
    worst = int(during.argmax())
    if during[worst] > _RARELY:
        yield (
            f"with {found.strategies[worst]}, {100 * during[worst]:.0f}% of the lists during a "
            "dialogue were contracted to nothing because of ties and got rank quality 0 "
            f"(granularity {found.granularity:.3f}); a larger k makes this rarer"
        )
