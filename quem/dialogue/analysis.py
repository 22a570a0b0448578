"""The evaluation of conversational CBR from case base to findings, composed here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from quem.dialogue.outcomes import Inference, evaluate
from quem.dialogue.result import DialogueResult
from quem.dialogue.settings import SimulationSettings
from quem.dialogue.simulation import prepare, run_experiment
from quem.errors import WarningRules
from quem.parallel import Workers, silent
from quem.studyfile.schema import changed_settings
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.outcomes import DialogueFindings
    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.users import User
    from quem.errors import StudyWarning
    from quem.parallel import Progress
    from quem.studyfile.dialogue import Protocol


_INFERENCE = ("level", "bootstrap", "permutations")


def analyze_dialogue(
    study: DialogueStudy,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress = silent,
    **settings: object,
) -> DialogueResult:
    """Analyze a study of kind ``dialogue`` (see `quem.analyze`)."""
    requested = changed_settings(study.spec.analysis, settings).model_dump()
    inference = Inference(**{name: requested.pop(name) for name in _INFERENCE})
    experiment = prepare(
        study.cases,
        SimulationSettings(**requested),
        strategies=study.strategies,
        users=study.users,
        questions=study.questions,
        protocol=study.protocol,
        queries=study.queries,
    )
    workers = Workers(jobs or 1, cluster)
    done = progress("Simulating dialogues", len(experiment.targets))
    dialogues = run_experiment(experiment, workers=workers, done=done)
    findings = evaluate(experiment, dialogues, inference)
    warnings = (*study.warnings, *find_warnings(findings))
    return DialogueResult(replace(findings, study=study, warnings=warnings))


def check_dialogue(study: DialogueStudy) -> Iterable[StudyWarning]:
    """Say what an analysis of a study would warn of, as far as no dialogue is needed."""
    from quem.dialogue.analysis import Planned, warnings_before

    requested = study.spec.analysis.model_dump()
    settings = SimulationSettings(
        **{name: requested[name] for name in requested if name not in _INFERENCE}
    )
    yield from study.warnings
    targets = len(study.cases if study.queries is None else study.queries)
    yield from warnings_before(Planned(study.cases, settings, study.users, targets, study.protocol))


_RARELY = 0.01
_MISSING = 0.2
_MOST_NAMED = 5


class Planned(NamedTuple):
    """What is known before any dialogue."""

    cases: EncodedCases
    settings: SimulationSettings
    users: Iterable[User]
    targets: int  # how many there are
    protocol: Protocol  # which problems they are


_BEFORE: WarningRules[Planned] = WarningRules()
_AFTER: WarningRules[DialogueFindings] = WarningRules()


def find_warnings(findings: DialogueFindings) -> list[StudyWarning]:
    """Find all warnings about an evaluation."""
    of = findings.experiment
    before = warnings_before(Planned(of.cases, of.settings, of.users, len(of.targets), of.protocol))
    return [*before, *_AFTER.find(findings)]


def warnings_before(planned: Planned) -> Iterator[StudyWarning]:
    """Find the warnings that are known before any dialogue."""
    return _BEFORE.find(planned)


@_BEFORE.add("constant-attribute")
def _constant_attribute(planned: Planned) -> Iterator[str]:
    cases = planned.cases
    same = [name for name, span in zip(cases.attributes, cases.spans, strict=True) if not span]
    if same:
        yield (
            f"{join_words(same, _MOST_NAMED)} {'has' if len(same) == 1 else 'have'} one value in "
            "all cases; questions about it carry no information but count as questions"
        )


@_BEFORE.add("many-missing", remedy="try other values of `missing`")
def _many_missing(planned: Planned) -> Iterator[str]:
    share = 1 - planned.cases.known.mean()
    if share > _MISSING:
        yield (
            f"{100 * share:.0f}% of the values are missing; how they count in a distance is an "
            "open choice (`missing`)"
        )


@_AFTER.add("contracted")
def _contracted(findings: DialogueFindings) -> Iterator[str]:
    """Lists that had contracted to nothing after some answer."""
    steps = findings.contracted
    # Neither before the first answer nor after the last one, where there are others.
    later = steps[:, 1:-1] if steps.shape[1] > 2 else steps  # noqa: PLR2004
    worst = int(later.max(axis=1).argmax())
    share = later[worst].mean()
    if share > _RARELY:
        yield (
            f"with {findings.strategies[worst]}, {100 * share:.0f}% of the lists during a dialogue "
            "were contracted to nothing because of ties and got rank quality 0 "
            f"(granularity {findings.granularity:.3f}); a larger k makes this rarer"
        )
