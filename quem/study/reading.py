"""From the path of a study file to a checked study."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.study.declared import Declared, declared
from quem.study.document import Document, parse_document
from quem.study.models import ExperienceStudy, RankingsSource
from quem.study.schema import validate
from quem.text import nearest, read_text

if TYPE_CHECKING:
    import os

__all__ = ["StudyFile", "draft_study", "read_study"]

KINDS = {"experience": ExperienceStudy}


@dataclass(frozen=True)
class StudyFile:
    """A study file, as far as it could be understood.

    Parameters
    ----------
    path : Path
    name : str
        The path as the user wrote it, for messages.
    document : Document
    declared : Declared
        The ids, also those of entries with mistakes elsewhere.
    spec : ExperienceStudy or None
        None where the file has mistakes.
    source : RankingsSource or None
        Where the rankings are; None where that part has mistakes.
    mistakes : list of Mistake
    """

    path: Path
    name: str
    document: Document
    declared: Declared
    spec: ExperienceStudy | None
    source: RankingsSource | None
    mistakes: list[Mistake] = field(default_factory=list)

    def beside(self, name: str) -> tuple[Path, str]:
        """Where a file that the study names is: its path, and its name for messages."""
        path = self.path.parent / name
        shown = Path(self.name).parent / name
        return path, str(shown)


def read_study(path: str | os.PathLike[str]) -> ExperienceStudy:
    """Read and check a study file, without its rankings.

    Parameters
    ----------
    path : path-like
        The study file.

    Raises
    ------
    QuemError
        With every mistake in the file.
    """
    draft = draft_study(path)
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    return draft.spec


def draft_study(path: str | os.PathLike[str]) -> StudyFile:
    """Read a study file, keeping its mistakes beside what could be understood.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    QuemError
        The file cannot be read, or is not a YAML mapping.
    """
    name = str(path)
    path = Path(path)
    document = parse_document(read_text(path, name, what="study file"), name)
    if not isinstance(document.content, dict):
        message = "a study file is a mapping of keys to values; `quem init FOLDER` writes one"
        raise QuemError([Mistake(name, 1, 1, message=message)])
    content = document.content
    kind = content.get("kind", "experience")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        hint = nearest(kind, list(KINDS)) if isinstance(kind, str) else ""
        message = f"this version of quem does not know this kind of study; it knows: {known}{hint}"
        raise QuemError([document.mistake(("kind",), message)])
    _fill_in_names(content, path)
    spec, mistakes = validate(KINDS[kind], document)
    found, more = declared(document, mistakes)
    source = spec.rankings if spec else _source_alone(content)
    ordered = sorted([*mistakes, *more], key=lambda m: (m.line, m.column))
    return StudyFile(path, name, document, found, spec, source, ordered)


def _fill_in_names(content: dict[str, object], path: Path) -> None:
    """A study without an id or title has those of its file."""
    stem = f"{path.absolute().parent.name}-{path.stem}".strip("-")
    content.setdefault("id", stem)
    content.setdefault("title", content["id"] if isinstance(content["id"], str) else stem)


def _source_alone(content: dict[str, object]) -> RankingsSource | None:
    """The rankings' place, though other parts of the file have mistakes."""
    try:
        return RankingsSource.model_validate(content.get("rankings", {}))
    except ValueError:
        return None
