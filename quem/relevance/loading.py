"""Loading a study of kind ``relevance`` with its judgments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.rankings.stored import Session, read_submitted, session_of_study
from quem.relevance.judgments import graded_pairs, judgments_of_session, judgments_of_table
from quem.store.location import locate_database, no_session
from quem.studyfile.reading import RelevanceFile, draft_relevance

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from quem.relevance.judgments import Judgments
    from quem.scores.columns import Columns
    from quem.studyfile.relevance import RelevanceSpec

    Pair = tuple[str, str]
    # From a file and its name for messages to judgments.
    Reader = Callable[[Path, str], Columns]


@dataclass(frozen=True, repr=False)
class RelevanceStudy:
    """A study of kind ``relevance`` that can be analyzed."""

    path: Path  # the study file
    name: str  # as the user wrote it, for messages
    spec: RelevanceSpec
    judgments: Judgments  # by its judges
    judged: Mapping[Pair, float]  # earlier grades by query and case
    warnings: tuple[StudyWarning, ...]  # about the judging session

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        n = len(self.judgments.queries)
        return f"<RelevanceStudy {self.spec.id}: {n} queries, from {self.name}>"

    @property
    def files(self) -> tuple[Path, ...]:
        """The study file and those of its judgments."""
        named = filter(None, (self.spec.judgments, self.spec.judged))
        return (self.path, *(self.path.parent / name for name in named))

    def counts(self) -> dict[str, int]:
        """Counts of the contents, by noun."""
        return {
            "query": len(self.judgments.queries),
            "candidate": len(self.judgments.pairs),
            "judge": len(self.judgments.judges),
            "judgment": int(self.judgments.counts.sum()),
            "judgment from before": len(self.judged),
        }


def load_relevance(
    path: str | os.PathLike[str],
    *,
    reader: Reader,
    database: str | None = None,
    reveal: bool = False,
) -> RelevanceStudy:
    """Read a study of kind ``relevance`` with its judgments."""
    draft = draft_relevance(path)
    spec = draft.checked()
    names = names_of(spec)
    first: dict[Pair, str] = {}
    for (_, candidate), pair in names.items():
        if first.setdefault(pair, candidate) != candidate:
            message = f"{first[pair]} and {candidate} are the same case of the same query; keep one"
            raise QuemError(draft.document.mistake(("candidates",), message))
    judged = _read(draft, "judged", spec.judged, reader)
    before = {} if judged is None else dict(zip(graded_pairs(judged), judged.value, strict=True))
    table = _read(draft, "judgments", spec.judgments, reader)
    warnings: list[StudyWarning] = []
    if table is not None:
        judgments = judgments_of_table(table, len(spec.grades), names.values())
    else:
        session = Session(locate_database(Path(path), database), reveal)
        judgments, warnings = _of_session(draft, spec, session)
    return RelevanceStudy(draft.path, draft.name, spec, judgments, before, tuple(warnings))


def _read(draft: RelevanceFile, key: str, name: str, reader: Reader) -> Columns | None:
    """The judgments of a file that the study names, if any."""
    if wrong := draft.not_there((key,), name) if name else None:
        raise QuemError(wrong)
    return reader(*draft.beside(name)) if name else None


def names_of(spec: RelevanceSpec) -> dict[Pair, Pair]:
    """The original query and case of each problem and candidate."""
    practice = spec.judging.practice
    return {
        (one.problem, one.id): (one.query or one.problem, one.case or one.id)
        for one in spec.candidates
        if one.problem != practice
    }


def _of_session(
    draft: RelevanceFile, spec: RelevanceSpec, session: Session
) -> tuple[Judgments, list[StudyWarning]]:
    store = session_of_study(session, spec.id)
    if store is None:
        message = (
            f"{no_session(session.place)}; --database names another place, and `judgments` a table"
        )
        raise QuemError(Mistake(draft.name, message=message))
    from quem.store.database import clear_refusals

    with store, clear_refusals(session.place):
        read = read_submitted(draft, store, reveal=session.reveal)
    judges = [judge.id for judge in read.people]
    judgments = judgments_of_session(read.rankings, judges, names_of(spec))
    if np.isnan(judgments.first).all():
        message = "judges could not judge any candidate, so there is nothing to analyze"
        raise QuemError(Mistake(draft.name, message=message))
    return judgments, read.warnings
