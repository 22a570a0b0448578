"""From a study file of kind ``relevance`` to what its judges said."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.rankings.stored import Session, read_submitted, session_of_study
from quem.relevance.judgments import judgments_of_session, read_judgments
from quem.store.location import locate_database
from quem.studyfile.document import Document
from quem.studyfile.reading import draft_relevance

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from quem.relevance.judgments import Judgments
    from quem.studyfile.document import Loc
    from quem.studyfile.reading import RelevanceFile
    from quem.studyfile.relevance import RelevanceSpec

    Pair = tuple[str, str]
    # From a file and its name for messages to rows of query, case, and grade.
    QrelsReader = Callable[[Path, str], Iterable[tuple[str, str, float]]]


@dataclass(frozen=True, repr=False)
class RelevanceStudy:
    """A study of kind ``relevance`` that can be analyzed."""

    path: Path  # the study file
    name: str  # the path as the user wrote it, for messages
    spec: RelevanceSpec
    judgments: Judgments  # what its judges said
    # Grades from before, by query and case.
    judged: Mapping[Pair, float] = field(default_factory=dict)
    warnings: tuple[StudyWarning, ...] = ()  # what is doubtful about the judging session
    # The study file with its lines and columns.
    document: Document = field(default=Document("", None, {}, {}), compare=False)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        n = len(self.judgments.queries)
        return f"<RelevanceStudy {self.spec.id}: {n} queries, from {self.name}>"

    @property
    def files(self) -> tuple[Path, ...]:
        """The study file and the files that it names."""
        candidates = self.document.content.get("candidates") if self.document.content else None
        named = (candidates, self.spec.judgments, self.spec.judged)
        folder = self.path.parent
        return (self.path, *(folder / name for name in named if isinstance(name, str) and name))

    def counts(self) -> dict[str, int]:
        """Count what was read, by noun."""
        return {
            "query": len(self.judgments.queries),
            "candidate": len(self.judgments.pairs),
            "judge": len(self.judgments.judges),
            "judgment": int(self.judgments.counts.sum()),
            "judgment from before": len(self.judged),
        }

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """Describe what is wrong at a place of the study file."""
        return self.document.mistake(loc, message)


def load_relevance(
    path: str | os.PathLike[str],
    *,
    qrels: QrelsReader,
    database: str | None = None,
    reveal: bool = False,
) -> RelevanceStudy:
    """Read a study of kind ``relevance`` with what its judges said."""
    draft = draft_relevance(path)
    if draft.spec is None or draft.mistakes:
        raise QuemError(draft.mistakes)
    names = names_of(draft.spec)
    if twice := _twice(names):
        raise QuemError(
            draft.document.mistake(
                ("candidates",),
                f"{' and '.join(twice)} are the same case of the same query; keep one",
            )
        )
    judged = _judged(draft, draft.spec, qrels)
    warnings: list[StudyWarning] = []
    if draft.spec.judgments:
        if wrong := draft.not_there(("judgments",), draft.spec.judgments):
            raise QuemError(wrong)
        table = draft.beside(draft.spec.judgments)
        judgments = read_judgments(*table, len(draft.spec.grades), names.values())
    else:
        session = Session(locate_database(Path(path), database), reveal)
        judgments, warnings = _of_session(draft, draft.spec, session)
    return RelevanceStudy(
        draft.path, draft.name, draft.spec, judgments, judged, tuple(warnings), draft.document
    )


def names_of(spec: RelevanceSpec) -> dict[Pair, Pair]:
    """Give query and case, as they are called elsewhere, of each problem and candidate."""
    practice = spec.judging.practice
    return {
        (one.problem, one.id): (one.query or one.problem, one.case or one.id)
        for one in spec.candidates
        if one.problem != practice
    }


def _twice(names: Mapping[Pair, Pair]) -> tuple[str, ...]:
    """Name two candidates that are one case of a query, if there are such."""
    first: dict[Pair, str] = {}
    for (_, candidate), pair in names.items():
        if pair in first:
            return first[pair], candidate
        first[pair] = candidate
    return ()


def _of_session(
    draft: RelevanceFile, spec: RelevanceSpec, session: Session
) -> tuple[Judgments, list[StudyWarning]]:
    store = session_of_study(session, spec.id)
    if store is None:
        raise QuemError(
            Mistake(
                draft.name,
                message=(
                    f"there is no judging session of this study in {session.place.name}; "
                    "`quem serve` "
                    "starts one, --database names another place, and `judgments` a table "
                    "instead"
                ),
            )
        )
    from quem.store.engine import clear_refusals

    try:
        with clear_refusals(session.place):
            read = read_submitted(draft, store, reveal=session.reveal)
    finally:
        store.close()
    judgments = judgments_of_session(
        read.rankings,
        [judge.id for judge in read.people],
        names_of(spec),
        graded=bool(spec.grades),
    )
    if np.isnan(judgments.first).all():
        raise QuemError(
            Mistake(
                draft.name,
                message="judges could not judge any candidate, so there is nothing to analyze",
            )
        )
    return judgments, read.warnings


def _judged(draft: RelevanceFile, spec: RelevanceSpec, qrels: QrelsReader) -> dict[Pair, float]:
    """Read the judgments from before; whole grades, as qrels have them."""
    if not spec.judged:
        return {}
    if wrong := draft.not_there(("judged",), spec.judged):
        raise QuemError(wrong)
    rows = list(qrels(*draft.beside(spec.judged)))
    if mistakes := list(_unfit(draft, rows)):
        raise QuemError(mistakes)
    return {(query, case): grade for query, case, grade in rows}


def _unfit(draft: RelevanceFile, rows: list[tuple[str, str, float]]) -> Iterator[Mistake]:
    _, name = draft.beside(draft.spec.judged if draft.spec else "")
    for query, case, grade in rows:
        if not float(grade).is_integer():
            message = f"the grade {grade:g} of {case} for {query} is not a whole number"
            yield Mistake(name, message=f"{message}; qrels hold whole numbers")
            return
