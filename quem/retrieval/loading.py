"""From a study file to an evaluation with all its data, or to all of its mistakes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.io.custom_functions import BrokenEntry, Entry, find_entry, load_entry
from quem.retrieval.build_retrievers import make_built_in
from quem.retrieval.reading import RetrievalData, read_retrieval
from quem.study.reading import draft_of_kind
from quem.study.retrieval import RetrievalSpec

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from quem.errors import Mistake
    from quem.retrieval.experts import ExpertRanks
    from quem.study.document import Loc
    from quem.study.reading import Draft

__all__ = ["RetrievalStudy", "load_retrieval"]


@dataclass(frozen=True, repr=False)
class RetrievalStudy:
    """A study of retrievers that can be analyzed.

    Parameters
    ----------
    path : Path
        The study file.
    name : str
        The path as the user wrote it, for messages.
    entries : dict of str to Entry or str
        The Python retrievers by their ids; or why one cannot be loaded.
    """

    path: Path
    name: str
    spec: RetrievalSpec
    data: RetrievalData
    entries: dict[str, Entry | str] = field(default_factory=dict)
    _draft: Draft[RetrievalSpec] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        n = len(self.spec.retrievers)
        return f"<RetrievalStudy {self.spec.id}: {n} retrievers, from {self.name}>"

    @property
    def files(self) -> tuple[Path, ...]:
        """The study file, and everything that was read."""
        sources = [
            path
            for entry in self.entries.values()
            if isinstance(entry, Entry)
            for path in entry.sources
        ]
        return tuple(dict.fromkeys([self.path, *self.data.files, *sources]))

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """Describe what is wrong at a place of the study file."""
        if self._draft is None:
            from quem.errors import Mistake

            return Mistake(self.name, message=message)
        return self._draft.document.mistake(loc, message)

    def counts(self) -> dict[str, int]:
        """What was read, by noun."""
        task, truth = self.data.task, self.data.truth
        stored = sum(len(lists.case) for lists in self.data.stored.values())
        return {
            "retriever": len(self.spec.retrievers),
            "case": len(task.cases),
            "leave-one-out query" if task.leave_one_out else "query": len(task.queries),
            "listed case": stored,
            "true value": 0 if truth is None else len(truth.case),
        }


@dataclass(frozen=True)
class _Source:
    draft: Draft[RetrievalSpec]

    def beside(self, name: str) -> tuple[Path, str]:
        return self.draft.beside(name)

    def mistake(self, loc: Loc, message: str) -> Mistake:
        return self.draft.document.mistake(loc, message)


def load_retrieval(
    path: str | os.PathLike[str],
    *,
    experts: Callable[[Path, str], ExpertRanks],
    code: bool = True,
) -> RetrievalStudy:
    """Read a study file of kind ``retrieval``, and everything that it names.

    Parameters
    ----------
    experts : callable
        From an experience study's file and its name for messages to what its judges said.
    code : bool
        Whether Python retrievers may be loaded; that happens after everything else was found
        right.

    Raises
    ------
    QuemError
        With every mistake.
    """
    draft = draft_of_kind(path, RetrievalSpec)
    if draft.spec is None or draft.mistakes:
        raise QuemError(draft.mistakes)
    source = _Source(draft)
    data, mistakes = read_retrieval(draft.spec, source, experts)
    named = [(at, one) for at, one in enumerate(draft.spec.retrievers) if one.python]
    folder = draft.path.parent
    for at, retriever in named:
        try:
            find_entry(retriever.python, folder, code=code)
        except QuemError as error:
            mistakes += _at(source, at, error)
    if mistakes or data is None:
        raise QuemError(dict.fromkeys(mistakes))
    study = RetrievalStudy(Path(path), draft.name, draft.spec, data, {}, draft)
    make_built_in(study)
    # Only now is the study's own code run.
    entries: dict[str, Entry | str] = {}
    for at, retriever in named:
        try:
            entries[retriever.id] = load_entry(retriever.python, folder)
        except BrokenEntry as error:
            entries[retriever.id] = str(error)
        except QuemError as error:
            mistakes += _at(source, at, error)
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    return replace(study, entries=entries)


def _at(source: _Source, at: int, error: QuemError) -> list[Mistake]:
    return [source.mistake(("retrievers", at, "python"), m.message) for m in error.mistakes]
