"""The keys of a study file: in the models, and in the tables of a page."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from pydantic import BaseModel

from quem.studyfile.dialogue import DialogueSpec
from quem.studyfile.document import parse_document
from quem.studyfile.models import ExperienceSpec
from quem.studyfile.options import OptionsSpec
from quem.studyfile.relevance import RelevanceSpec
from quem.studyfile.retrieval import RetrievalSpec
from tests.docs.pages import ROOT, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.studyfile.fields import StudyPart

TABLES = runpy.run_path(str(ROOT / "docs/make_tables.py"))
keys_of = TABLES["keys_of"]
# Each kind of study, the page that explains its keys, and its model.
KINDS: dict[str, tuple[str, type[StudyPart]]] = {
    "experience": ("reference/study-file.md", ExperienceSpec),
    "options": ("how-to/options.md", OptionsSpec),
    "retrieval": ("how-to/retrieval.md", RetrievalSpec),
    "dialogue": ("how-to/dialogue.md", DialogueSpec),
    "relevance": ("how-to/pooling.md", RelevanceSpec),
}


def rows_of(page: str) -> dict[str, list[str]]:
    """The rows of a page about keys: meaning, default, and allowed values.

    Rows that other pages share come from these; questions are the same for judges and subjects.
    """
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = table_rows(text)
    found = {row[0].strip("`"): row[1:] for row in rows if len(row) == 4 and row[0].startswith("`")}
    if page == KINDS["experience"][0]:
        asked = "judging.questions[]"
        return found | {
            name.replace("judging", "solving"): row
            for name, row in found.items()
            if name.startswith(asked)
        }
    keys = {key.name for key in keys_of(TABLES["PAGES"][page])}
    for home in TABLES["homes_of"](page):
        found = {name: row for name, row in shared_rows(home).items() if name in keys} | found
    return found


def shared_rows(home: str) -> dict[str, list[str]]:
    """The rows of a page with keys of several kinds."""
    if home == KINDS["experience"][0]:
        return rows_of(home)
    text = (ROOT / "docs" / home).read_text(encoding="utf-8")
    return {row[0].strip("`"): row[1:] for row in table_rows(text) if len(row) == 4}


def literals(annotation: object) -> Iterator[str]:
    """List the fixed choices of a field."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    for argument in get_args(annotation):
        yield from literals(argument)


def written(default: str) -> object:
    """The value of a cell of the column "default"."""
    if default == '""':
        return ""
    return parse_document(f"value: {default}", "cell").content["value"]


def plain(value: object) -> object:
    """A default as the text that stands for it in YAML."""
    if isinstance(value, BaseModel):
        assert value == type(value)(), "the default of a section is that of all its keys"
        return {}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value
