"""What a reader of an evaluation of dialogues has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.dialogue.case_base import EncodedCases
    from quem.dialogue.findings import DialogueFindings
    from quem.dialogue.settings import SimulationSettings
    from quem.dialogue.users import User

__all__ = ["find_warnings", "warnings_before"]

_FEW = 20
_OFTEN, _RARELY = 0.5, 0.01
_MISSING = 0.2


def find_warnings(findings: DialogueFindings) -> list[StudyWarning]:
    """Find what is doubtful about an evaluation.

    Parameters
    ----------
    findings : DialogueFindings
    """
    experiment = findings.experiment
    before = warnings_before(experiment.cases, experiment.settings, experiment.users)
    return [*before, *_contractions(findings), *_selections(findings)]


def warnings_before(
    cases: EncodedCases, settings: SimulationSettings, users: Iterable[User]
) -> Iterator[StudyWarning]:
    """Find what is doubtful before any dialogue.

    Parameters
    ----------
    cases : EncodedCases
    settings : SimulationSettings
    users : iterable of User
    """
    n = len(cases)
    if n < _FEW:
        message = f"there are {n} cases, and each is a target once; intervals of so few mean little"
        yield StudyWarning("few-cases", message)
    same = [name for name, span in zip(cases.attributes, cases.spans, strict=True) if not span]
    if same:
        verb = "has" if len(same) == 1 else "have"
        message = (
            f"{_some(same)} {verb} one value in all cases: a question about it tells nothing, and "
            "counts as any other"
        )
        yield StudyWarning("constant-attribute", message)
    if settings.k > (n - 1) / 2:
        message = (
            f"k = {settings.k} and there are {n - 1} candidates: rank quality compares most of the "
            "case base; choose a smaller k"
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
            f"{100 * share:.0f}% of the values are missing; what such a value counts in a "
            "distance is an open choice (missing), see --sensitivity"
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
            "had so many ties that no candidate was left to compare, and rank quality 0 "
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
                f"{findings.strategies[least]}; what these count is an open choice (no_selection)"
            )
            yield StudyWarning("rarely-selects", message)
    if np.isnan(findings.efficiency.mean).any():
        place = np.argwhere(np.isnan(findings.efficiency.mean))[0]
        message = (
            f"{findings.users[place[1]]} never selects a case with "
            f"{findings.strategies[place[0]]}, and "
            "such dialogues are left out, so nothing is known"
        )
        yield StudyWarning("never-selects", message)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown  # noqa: PLR2004
