"""From a study file of kind ``options`` to its questions, their right options and the lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.text import shown
from quem.lists.names import own_definition
from quem.options.key import AnswerKey, read_key
from quem.options.rows import assemble, read_rows
from quem.studyfile.document import Document
from quem.studyfile.measures import find_own_measures, load_own_measures
from quem.studyfile.options import OptionsSpec
from quem.studyfile.reading import draft_of_kind

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from quem.io.tables import SourceTable
    from quem.lists import Definition
    from quem.options.lists import Answers
    from quem.studyfile.document import Loc


@dataclass(frozen=True, repr=False)
class OptionsStudy:
    """A study of kind ``options`` that can be analyzed."""

    path: Path  # the study file
    name: str  # the path as the user wrote it, for messages
    spec: OptionsSpec  # what the study file says
    key: AnswerKey  # the questions, and which options are right
    systems: tuple[str, ...]  # the ids of the systems that answered
    answers: tuple[Answers, ...]  # the lists of each
    files: tuple[Path, ...]  # the study file and all files that it names
    warnings: tuple[StudyWarning, ...] = ()  # what is doubtful about the data
    # The study file with its lines and columns.
    document: Document = field(default=Document("", None, {}, {}), compare=False)
    # The measures of the study's own, by their names.
    own_measures: dict[str, Definition] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        return f"<OptionsStudy {self.spec.id}: {len(self.systems)} systems, from {self.name}>"

    def counts(self) -> dict[str, int]:
        """Count what was read, by noun."""
        return {
            "question": len(self.key.ids),
            "system": len(self.systems),
            "list": sum(int(one.answered.sum()) for one in self.answers),
            "option": sum(len(one.question) for one in self.answers),
        }

    def name_of(self, system: int) -> str:
        """A system as people know it."""
        names = {one.id: one.name for one in self.spec.systems}
        return names.get(self.systems[system]) or self.systems[system]

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """Describe what is wrong at a place of the study file."""
        return self.document.mistake(loc, message)


def load_options(path: str | os.PathLike[str], *, code: bool = True) -> OptionsStudy:
    """Read a study of kind ``options`` and all of its data."""
    draft = draft_of_kind(path, OptionsSpec)
    spec = draft.checked()
    key, mistakes = read_key(draft, spec)
    ids = [system.id for system in spec.systems]
    mistakes += [
        draft.document.mistake(
            ("systems", at, "id"),
            f"the id {shown(name)} is already used; give each system its own",
        )
        for at, name in enumerate(ids)
        if name in ids[:at]
    ]
    tables: list[tuple[SourceTable[object], str]] = []
    files = [draft.path, *key.files]
    for loc, name, system in _named_files(spec):
        if missing := draft.not_there(loc, name):
            mistakes.append(missing)
            continue
        files.append(draft.beside(name)[0])
        try:
            tables.append((read_rows(*draft.beside(name)), system))
        except QuemError as error:
            mistakes += error.mistakes
    if not tables and not mistakes:
        message = "is missing; name the file with the lists of the systems"
        mistakes.append(draft.document.mistake(("lists",), message))
    if not mistakes:
        assembled, mistakes = assemble(tables, key, ids)
    named, folder, mistake = spec.analysis.measures, draft.path.parent, draft.document.mistake
    mistakes = [*mistakes, *find_own_measures(named, folder, mistake, code=code)]
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    own = load_own_measures(named, folder, mistake, own_definition)
    return OptionsStudy(
        draft.path,
        draft.name,
        spec,
        key,
        assembled.systems,
        assembled.answers,
        tuple(dict.fromkeys([*files, *own.files])),
        (*key.warnings, *assembled.warnings),
        draft.document,
        own.by_name,
    )


def _named_files(spec: OptionsSpec) -> list[tuple[Loc, str, str]]:
    """Where the study names a file of lists, that name, and whose lists it holds if one's."""
    named: list[tuple[Loc, str, str]] = [
        (("lists", index) if len(spec.lists) > 1 else ("lists",), name, "")
        for index, name in enumerate(spec.lists)
    ]
    for at, system in enumerate(spec.systems):
        named += [(("systems", at, "lists"), name, system.id) for name in system.lists]
    return named
