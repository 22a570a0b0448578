"""Reading and checking study files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, read_text
from quem.studyfile.declared import Declared, declared
from quem.studyfile.document import Document, Loc, parse_document
from quem.studyfile.fields import StudyPart
from quem.studyfile.models import ExperienceSpec, RankingsSource
from quem.studyfile.relevance import JudgedSpec, RelevanceSpec
from quem.studyfile.schema import validate
from quem.studyfile.subjects import fill_in_candidates, fill_in_subjects

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


KINDS = ("experience", "options", "retrieval", "dialogue", "relevance")
_DEFAULT = "experience"
# Kinds with judging sessions.
JUDGED = ("experience", "relevance")

# Placeholder for the path of a study in memory.
IN_MEMORY = Path("<memory>")

Spec_co = TypeVar("Spec_co", bound=StudyPart, covariant=True)
Judged = TypeVar("Judged", ExperienceSpec, RelevanceSpec)


@dataclass(frozen=True)
class Draft(Generic[Spec_co]):
    """A study file of any kind, possibly with errors."""

    path: Path
    name: str  # as the user wrote it, for messages
    document: Document
    spec: Spec_co | None  # None in case of errors
    mistakes: list[Mistake]

    def checked(self) -> Spec_co:
        """The contents of the file; raises QuemError with all of its errors."""
        if self.spec is None or self.mistakes:
            raise QuemError(self.mistakes)
        return self.spec

    def beside(self, name: str) -> tuple[Path, str]:
        """The path of a file that the study names, and its name for messages."""
        return self.path.parent / name, str(Path(self.name).parent / name)

    def not_there(self, loc: Loc, name: str) -> Mistake | None:
        """The error at `loc` on a missing file that the study names, if it is missing."""
        return self.document.not_there(loc, name)


@dataclass(frozen=True)
class JudgedFile(Draft[Spec_co]):
    """A study file that can have a judging session, possibly with errors."""

    declared: Declared  # ids, also those of entries with errors elsewhere
    source: RankingsSource | None  # None if that part has errors

    @property
    def tables(self) -> list[Path]:
        """The files that it names for its rankings."""
        source = self.source.file if self.source else ""
        names = [source] if isinstance(source, str) else [entry.file for entry in source]
        return [self.beside(name)[0] for name in names if name]


StudyFile: TypeAlias = JudgedFile[JudgedSpec]
ExperienceFile: TypeAlias = JudgedFile[ExperienceSpec]
RelevanceFile: TypeAlias = JudgedFile[RelevanceSpec]


def read_study(path: str | os.PathLike[str]) -> JudgedSpec:
    """Read and check a study file that can have a judging session, without its rankings."""
    return draft_study(path).checked()


def draft_study(path: str | os.PathLike[str]) -> StudyFile:
    """Read a study file with judges, collecting its errors."""
    if _kind(_document(path), JUDGED) == "relevance":
        return draft_relevance(path)
    return draft_experience(path)


def draft_experience(path: str | os.PathLike[str]) -> ExperienceFile:
    """Read a study file of kind ``experience``, collecting its errors."""
    return judged(draft_of_kind(path, ExperienceSpec))


def draft_relevance(path: str | os.PathLike[str]) -> RelevanceFile:
    """Read a study file of kind ``relevance``, collecting its errors."""
    return judged(draft_of_kind(path, RelevanceSpec))


def judged(draft: Draft[Judged]) -> JudgedFile[Judged]:
    """The draft of a study with judges, with its ids and the errors between them."""
    dangling: list[Mistake]
    ids, dangling = declared(draft.document, draft.mistakes)
    source = draft.spec.rankings if draft.spec else _source_alone(draft.document.content)
    ordered = sorted([*draft.mistakes, *dangling], key=lambda m: (m.line, m.column))
    return JudgedFile(draft.path, draft.name, draft.document, draft.spec, ordered, ids, source)


def draft_of_kind(path: str | os.PathLike[str], model: type[Spec_co]) -> Draft[Spec_co]:
    """Read a study file of one kind, collecting its errors."""
    document = _document(path)
    _kind(document, (model.model_fields["kind"].default,))
    _fill_in_names(document.content, Path(path))
    more: list[Mistake] = fill_in_subjects(document) if model is ExperienceSpec else []
    more += fill_in_candidates(document) if model is RelevanceSpec else []
    spec, mistakes = validate(model, document)
    return Draft(Path(path), document.name, document, spec, [*more, *mistakes])


def draft_in_memory(model: type[Spec_co], content: Mapping[str, Any]) -> Draft[Spec_co]:
    """The draft of a study file with this content; places in it are keys alone."""
    document = Document("", {"id": "in-memory", **content}, {}, {})
    spec, mistakes = validate(model, document)
    return Draft(IN_MEMORY, str(IN_MEMORY), document, spec, mistakes)


def kind_of(path: str | os.PathLike[str], wanted: str | None = None) -> str:
    """The kind of a study."""
    return _kind(_document(path), (wanted,) if wanted else ())


def _document(path: str | os.PathLike[str]) -> Document:
    name = str(path)
    document = parse_document(read_text(Path(path), name, what="study file"), name)
    if not isinstance(document.content, dict):
        message = "a study file is a mapping of keys to values; `quem init FOLDER` writes one"
        raise QuemError(Mistake(name, 1, 1, message=message))
    return document


def _kind(document: Document, wanted: tuple[str, ...] = ()) -> str:
    kind = document.content.get("kind", _DEFAULT)
    if not isinstance(kind, str) or kind not in KINDS:
        hint = nearest(kind, KINDS) if isinstance(kind, str) else ""
        message = (
            "this version of quem does not know this kind of study; it knows: "
            f"{', '.join(KINDS)}{hint}"
        )
        raise QuemError(document.mistake(("kind",), message))
    if wanted and kind not in wanted:
        article = "an" if kind[0] in "aeiou" else "a"
        message = (
            f"this is {article} {kind} study, which `quem analyze` and `quem check` take; what was "
            f"asked for is there for the kind{'s'[: len(wanted) - 1]} {' and '.join(wanted)}"
        )
        raise QuemError(document.mistake(("kind",), message))
    return kind


def _fill_in_names(content: dict[str, object], path: Path) -> None:
    """Fill in a missing id or title from the file's name."""
    stem = f"{path.absolute().parent.name}-{path.stem}".strip("-")
    content.setdefault("id", stem)
    content.setdefault("title", content["id"] if isinstance(content["id"], str) else stem)


def _source_alone(content: dict[str, object]) -> RankingsSource | None:
    """The source of rankings, even if other parts of the file have errors."""
    try:
        return RankingsSource.model_validate(content.get("rankings", {}))
    except ValueError:
        return None
