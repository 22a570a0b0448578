"""From a study file of kind ``options`` to its questions, their right options and the lists."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.io.text import shown
from quem.lists.names import own_definition
from quem.options.assembling import Assembled, assemble
from quem.options.reading import AnswerKey, key_of, read_key, read_lists
from quem.studyfile.document import Document
from quem.studyfile.measures import find_own_measures, load_own_measures
from quem.studyfile.options import OptionsSpec
from quem.studyfile.reading import draft_of_kind

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from quem.errors import Mistake, StudyWarning
    from quem.lists import Definition
    from quem.options.lists import Answers
    from quem.studyfile.document import Loc
    from quem.studyfile.reading import Draft


@dataclass(frozen=True, repr=False)
class OptionsStudy:
    """A study of kind ``options`` that can be analyzed."""

    path: Path  # the study file
    name: str  # the path as the user wrote it, for messages
    spec: OptionsSpec  # what the study file says
    key: AnswerKey  # the questions, and which options are right
    lists: Assembled  # what the systems answered
    files: tuple[Path, ...]  # the study file and all files that it names
    # The study file with its lines and columns.
    document: Document = field(default=Document("", None, {}, {}), compare=False)
    # The measures of the study's own, by their names.
    own_measures: dict[str, Definition] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        return f"<OptionsStudy {self.spec.id}: {len(self.systems)} systems, from {self.name}>"

    @property
    def systems(self) -> tuple[str, ...]:
        """The ids of the systems that answered."""
        return self.lists.systems

    @property
    def answers(self) -> tuple[Answers, ...]:
        """The lists of each."""
        return self.lists.answers

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What is doubtful about the data."""
        return (*self.key.warnings, *self.lists.warnings)

    def counts(self) -> dict[str, int]:
        """Count what was read, by noun."""
        return {
            "question": len(self.key.ids),
            "system": len(self.systems),
            "list": sum(int(one.answered.sum()) for one in self.answers),
            "option": sum(len(one.question) for one in self.answers),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The systems as people know them."""
        names = {one.id: one.name for one in self.spec.systems}
        return tuple(names.get(one) or one for one in self.systems)


def load_options(path: str | os.PathLike[str], *, code: bool = True) -> OptionsStudy:
    """Read a study of kind ``options`` and all of its data."""
    draft = draft_of_kind(path, OptionsSpec)
    spec, mistake = draft.checked(), draft.document.mistake
    files, tables, mistakes = [draft.path], [], []

    @contextmanager
    def collected() -> Iterator[None]:
        try:
            yield
        except QuemError as error:
            mistakes.extend(error.mistakes)

    def beside(loc: Loc, name: str) -> tuple[Path, str]:
        if missing := draft.not_there(loc, name):
            raise QuemError(missing)
        files.append(draft.beside(name)[0])
        return draft.beside(name)

    with collected():
        if isinstance(spec.questions, str):
            key = read_key(*beside(("questions",), spec.questions))
        else:
            key = _own_key(draft, spec)
    ids = [system.id for system in spec.systems]
    for at, name in enumerate(ids):
        if name in ids[:at]:
            message = f"the id {shown(name)} is already used; give each system its own"
            mistakes.append(mistake(("systems", at, "id"), message))
    for loc, name, system in _named_files(spec):
        with collected():
            tables.append((read_lists(*beside(loc, name)), system))
    if not tables and not mistakes:
        message = "is missing; name the file with the lists of the systems"
        mistakes.append(mistake(("lists",), message))
    if not mistakes:
        with collected():
            lists = assemble(tables, key, ids)
    named, folder = spec.analysis.measures, draft.path.parent
    mistakes += find_own_measures(named, folder, mistake, code=code)
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    own = load_own_measures(named, folder, mistake, own_definition)
    files = [*dict.fromkeys([*files, *own.files])]
    return OptionsStudy(
        draft.path, draft.name, spec, key, lists, tuple(files), draft.document, own.by_name
    )


def _own_key(draft: Draft[OptionsSpec], spec: OptionsSpec) -> AnswerKey:
    """The questions that the study file itself lists."""
    place = draft.document.mistake
    entries = [
        (place(("questions", at, "id"), ""), one.id, correct)
        for at, one in enumerate(spec.questions)
        if not isinstance(one, str)
        for correct in one.correct
    ]
    return key_of(entries, place(("questions",), ""))


def _named_files(spec: OptionsSpec) -> Iterator[tuple[Loc, str, str]]:
    """Where the study names a file of lists, that name, and whose lists it holds if one's."""
    for at, name in enumerate(spec.lists):
        yield ("lists", at) if len(spec.lists) > 1 else ("lists",), name, ""
    for at, system in enumerate(spec.systems):
        for name in system.lists:
            yield ("systems", at, "lists"), name, system.id
