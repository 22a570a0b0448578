"""Whether a study may state years: what readers quote is what passed a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from quem.experience.skill import SkillFunction

SIGNIFICANT = 0.05
# Of fewer, what passes the test was lucky: 8% to 36% of such intervals miss, where 5% should.
FEWEST_SUBJECTS = 5
# Also codes of warnings, the gravest first.
Reason = Literal["decreasing-skill-function", "not-significant", "few-subjects"]
REASONS: tuple[Reason, ...] = ("decreasing-skill-function", "not-significant", "few-subjects")


@dataclass(frozen=True)
class Gate:
    """Why a study states no years."""

    reasons: tuple[Reason, ...]  # empty where it states them

    @property
    def passed(self) -> bool:
        """Whether years may be stated."""
        return not self.reasons


def gate_of(function: SkillFunction) -> Gate:
    """Say whether a skill function allows years: it rises, significantly, over enough subjects."""
    holds = (
        function.falling_share == 1,
        not function.p_value < SIGNIFICANT,
        function.n < FEWEST_SUBJECTS,
    )
    return Gate(tuple(reason for reason, is_so in zip(REASONS, holds, strict=True) if is_so))
