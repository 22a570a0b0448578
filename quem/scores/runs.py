"""The result of ``quem score`` and of comparisons: scores of runs, or of several studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from quem.scores.result import Scored, ScoredResult, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from quem.scores.certificate import Certificate
    from quem.scores.table import ScoreTable


class ScoreSettings(BaseModel):
    """The settings as used."""

    measures: tuple[str, ...]
    level: float
    samples: int
    seed: int


@dataclass(frozen=True)
class _Spec:
    id: str
    title: str
    description: str = ""


@dataclass(frozen=True)
class _Source:
    """A substitute for a study, or for several studies."""

    spec: _Spec
    files: tuple[Path, ...]


VIEW = View(kind="scores", kicker="Scores of systems", settings=ScoreSettings)


class ScoresResult(ScoredResult):
    """Scores of runs, or of the systems of several studies."""

    kind = "scores"
    view: ClassVar[View] = VIEW

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        certificates: Sequence[Certificate] = (),
        files: Iterable[Path] = (),
    ) -> ScoresResult:
        """The result of a table."""
        title = table.origin.title or "Scores"
        spec = _Spec(title.casefold().replace(" ", "-"), title)
        settings = ScoreSettings(measures=table.columns, **table.inference._asdict())
        source = _Source(spec, tuple(dict.fromkeys(files)))
        return cls(Scored(table, source, settings, certificates=tuple(certificates)))
