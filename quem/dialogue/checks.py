"""Warnings about an evaluation of dialogues, as tables of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quem.errors import WarningRules
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.dialogue.outcomes import DialogueFindings
    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.settings import SimulationSettings
    from quem.dialogue.users import User
    from quem.errors import StudyWarning
    from quem.study.dialogue import Protocol

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
