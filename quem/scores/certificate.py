"""The certificate of a claim: what "A scores higher than B" stands, in at most 12 lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from quem.scores.table import Claim, ScoreTable

Verdict = Literal["yes", "open", "no", "-"]


class Line(NamedTuple):
    """What could turn a claim, and whether it does."""

    question: str
    verdict: Verdict  # a dash where the question does not apply
    text: str


@dataclass(frozen=True)
class Certificate:
    """What a claim stands."""

    claim: str
    verdict: str
    lines: tuple[Line, ...]

    def __str__(self) -> str:
        """At most 12 lines of text."""
        width = max(len(line.question) for line in self.lines)
        head = [f"Claim    {self.claim}", f"Verdict  {self.verdict}"]
        return "\n".join([*head, *(f"  {v:<5} {q:<{width}}  {text}" for q, v, text in self.lines)])

    def as_dict(self) -> dict[str, Any]:
        """The content as plain data."""
        lines = [line._asdict() for line in self.lines]
        return {"claim": self.claim, "verdict": self.verdict, "lines": lines}


def certify(table: ScoreTable, claim: Claim) -> Certificate:
    """Examine a claim."""
    raise NotImplementedError
