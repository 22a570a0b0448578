"""Loading a study of kind ``options``: questions, correct options, and lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError, StudyWarning, collecting, refuse
from quem.lists.names import own_definition
from quem.options.assembling import assemble
from quem.options.reading import Answered, AnswerKey, Form, Listed, answer_key, read, table_of
from quem.studyfile.document import Document, Loc
from quem.studyfile.measures import find_own_measures, load_own_measures
from quem.studyfile.options import OptionsSpec, Question
from quem.studyfile.reading import Draft, draft_of_kind

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from quem.io.tables import SourceTable
    from quem.lists import Definition
    from quem.options.lists import Answers


@dataclass(frozen=True, repr=False)
class OptionsStudy:
    """A study of kind ``options`` that can be analyzed."""

    path: Path  # the study file
    name: str  # as the user wrote it, for messages
    spec: OptionsSpec  # contents of the study file
    key: AnswerKey  # questions with their correct options
    systems: tuple[str, ...]  # ids of the systems
    answers: tuple[Answers, ...]  # lists of each system
    warnings: tuple[StudyWarning, ...]  # about the data
    files: tuple[Path, ...]  # study file and all files that it names
    # The study file with its lines and columns.
    document: Document = field(default=Document("", None, {}, {}), compare=False)
    # The custom measures by name.
    own_measures: dict[str, Definition] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        return f"<OptionsStudy {self.spec.id}: {len(self.systems)} systems, from {self.name}>"

    def counts(self) -> dict[str, int]:
        """Counts of the contents, by noun."""
        return {
            "question": len(self.key.ids),
            "system": len(self.systems),
            "list": sum(int(one.answered.sum()) for one in self.answers),
            "option": sum(len(one.question) for one in self.answers),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The titles of the systems."""
        names = {one.id: one.name for one in self.spec.systems}
        return tuple(names.get(one) or one for one in self.systems)


def load_options(path: str | os.PathLike[str], *, code: bool = True) -> OptionsStudy:
    """Read a study of kind ``options`` and all of its data."""
    draft = draft_of_kind(path, OptionsSpec)
    spec, mistake = draft.checked(), draft.document.mistake
    mistakes: list[Mistake] = []
    files = [draft.path]
    tables: list[tuple[SourceTable[Any], str]] = []
    for form, loc, name, system in _named_files(spec):
        if missing := draft.not_there(loc, name):
            mistakes.append(missing)
            continue
        files.append(draft.beside(name)[0])
        with collecting(mistakes):
            tables.append((read(*draft.beside(name), form), system))
    named, folder = spec.analysis.measures, draft.path.parent
    mistakes += find_own_measures(named, folder, mistake, code=code)
    refuse(mistakes)
    if isinstance(spec.questions, str):
        key = answer_key(tables.pop(0)[0])
    else:
        key = answer_key(_own_questions(spec.questions, draft))
    if not tables:
        message = "is missing; name the file with the lists of the systems"
        raise QuemError(mistake(("lists",), message))
    assembled = assemble(tables, key, [system.id for system in spec.systems])
    own = load_own_measures(named, folder, mistake, own_definition)
    return OptionsStudy(
        draft.path,
        draft.name,
        spec,
        key,
        *assembled,
        tuple(dict.fromkeys([*files, *own.files])),
        draft.document,
        own.by_name,
    )


def _own_questions(questions: Sequence[Question], draft: Draft[OptionsSpec]) -> SourceTable[Any]:
    """The questions listed in the study file itself."""
    rows = [
        (draft.document.mistake(("questions", at), ""), (one.id, correct))
        for at, one in enumerate(questions)
        for correct in one.correct
    ]
    return table_of(rows, f"{draft.name}: questions", Answered.fields)


def _named_files(spec: OptionsSpec) -> Iterator[tuple[Form, Loc, str, str]]:
    """Each file named in the study: the key, the name, and its only system, if any."""
    if isinstance(spec.questions, str):
        yield Answered, ("questions",), spec.questions, ""
    for at, name in enumerate(spec.lists):
        yield Listed, ("lists", at) if len(spec.lists) > 1 else ("lists",), name, ""
    for at, system in enumerate(spec.systems):
        for name in system.lists:
            yield Listed, ("systems", at, "lists"), name, system.id
