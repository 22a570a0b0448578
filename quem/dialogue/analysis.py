"""The evaluation of conversational CBR from case base to findings, composed here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quem.dialogue.checks import find_warnings
from quem.dialogue.outcomes import Inference, evaluate
from quem.dialogue.result import DialogueResult
from quem.dialogue.settings import SimulationSettings
from quem.dialogue.simulation import prepare, run_experiment
from quem.parallel import Workers, silent
from quem.study.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.dialogue.loading import DialogueStudy
    from quem.errors import StudyWarning
    from quem.parallel import Progress

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
    from quem.dialogue.checks import Planned, warnings_before

    requested = study.spec.analysis.model_dump()
    settings = SimulationSettings(
        **{name: requested[name] for name in requested if name not in _INFERENCE}
    )
    yield from study.warnings
    targets = len(study.cases if study.queries is None else study.queries)
    yield from warnings_before(Planned(study.cases, settings, study.users, targets, study.protocol))
