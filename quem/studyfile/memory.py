"""Studies that no file describes: what a caller gives in memory, checked as a study file is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from quem.errors import Mistake, QuemError
from quem.studyfile.document import Document, Loc, dotted
from quem.studyfile.fields import StudySpec
from quem.studyfile.reading import Draft
from quem.studyfile.schema import complaints

if TYPE_CHECKING:
    from collections.abc import Mapping

# Stands for the path of the study file, which is not there.
IN_MEMORY = Path("<memory>")

Spec = TypeVar("Spec", bound=StudySpec)


class _NoFile(Document):
    """Describes what is wrong by keys alone."""

    def mistake(self, loc: Loc, message: str, *, at_key: bool = False) -> Mistake:
        """Describe what is wrong at `loc`."""
        del at_key
        return Mistake("", key=dotted(loc), message=message)


def draft_in_memory(model: type[Spec], content: Mapping[str, Any]) -> tuple[Draft[Spec], Spec]:
    """Make what a study file would give."""
    whole = {"id": "in-memory", "title": "Evaluation in memory", **content}
    try:
        spec = model.model_validate(whole)
    except ValidationError as error:
        wrong = complaints(error, model, whole)
    else:
        document = _NoFile(str(IN_MEMORY), whole, {}, {})
        return Draft(IN_MEMORY, str(IN_MEMORY), document, spec, []), spec
    raise QuemError(Mistake("", key=dotted(loc), message=message) for loc, message, _ in wrong)
