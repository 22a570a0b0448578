"""What a reader of an evaluation of dialogues has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.dialogue.outcomes import DialogueFindings
    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.settings import SimulationSettings
    from quem.dialogue.users import User

__all__ = ["find_warnings", "warnings_before"]

_FEW = 20
_OFTEN, _RARELY = 0.5, 0.01
_MISSING = 0.2


def find_warnings(findings: DialogueFindings) -> list[StudyWarning]:
    """Find all warnings about an evaluation."""
    experiment = findings.experiment
    before = warnings_before(experiment.cases, experiment.settings, experiment.users)
    return [*before, *_contractions(findings), *_selections(findings)]


def warnings_before(
    cases: EncodedCases, settings: SimulationSettings, users: Iterable[User]
) -> Iterator[StudyWarning]:
    """Find the warnings that are known before any dialogue."""
    n = len(cases)
    if n < _FEW:
        message = (
            f"only {n} cases, each a target once, so intervals are unreliable; use {_FEW} or more"
        )
        yield StudyWarning("few-cases", message)
    same = [name for name, span in zip(cases.attributes, cases.spans, strict=True) if not span]
    if same:
        verb = "has" if len(same) == 1 else "have"
        message = (
            f"{_some(same)} {verb} one value in all cases; questions about it carry no information "
            "but count as questions"
        )
        yield StudyWarning("constant-attribute", message)
    if settings.k > (n - 1) / 2:
        message = (
            f"k = {settings.k} with {n - 1} candidates compares most of the case base in rank "
            "quality; choose a smaller k"
        )
        yield StudyWarning("k-large", message)
    small = sorted({user.b for user in users if user.b is not None and user.b * n < 0.5})  # noqa: PLR2004
    if small:
        message = (
            f"b = {small[0]:g} of {n} cases is less than half a case; the threshold is the "
            "distance of the nearest"
        )
        yield StudyWarning("threshold-small", message)
    share = 1 - cases.known.mean()
    if share > _MISSING:
        message = (
            f"{100 * share:.0f}% of the values are missing; how they count in a distance "
            "is an open choice (`missing`); try `--sensitivity`"
        )
        yield StudyWarning("many-missing", message)


def _contractions(findings: DialogueFindings) -> Iterator[StudyWarning]:
    """Lists that had contracted to nothing after some answer."""
    steps = findings.contracted
    # Neither before the first answer nor after the last one, where there are others.
    later = steps[:, 1:-1] if steps.shape[1] > 2 else steps  # noqa: PLR2004
    worst = int(later.max(axis=1).argmax())
    share = later[worst].mean()
    if share > _RARELY:
        message = (
            f"with {findings.strategies[worst]}, {100 * share:.0f}% of the lists during a dialogue "
            "were contracted to nothing because of ties and got rank quality 0 "
            f"(granularity {findings.granularity:.3f}); a larger k makes this rarer"
        )
        yield StudyWarning("contracted", message)


def _selections(findings: DialogueFindings) -> Iterator[StudyWarning]:
    """Users that rarely select anything."""
    for column, user in enumerate(findings.users):
        least = int(findings.unselected[:, column].argmax())
        share = findings.unselected[least, column]
        if share > _OFTEN:
            message = (
                f"{user} selected no case in {100 * share:.0f}% of the dialogues with "
                f"{findings.strategies[least]}; how these count is an open choice (`no_selection`)"
            )
            yield StudyWarning("rarely-selects", message)
    if np.isnan(findings.efficiency.mean).any():
        place = np.argwhere(np.isnan(findings.efficiency.mean))[0]
        message = (
            f"{findings.users[place[1]]} never selects a case with "
            f"{findings.strategies[place[0]]}, and "
            "such dialogues are left out, so their efficiency is unknown"
        )
        yield StudyWarning("never-selects", message)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown  # noqa: PLR2004
