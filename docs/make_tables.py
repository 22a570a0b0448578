"""Write the settings of the models into docs/reference: ``python docs/make_tables.py``.

The models in ``quem.study`` declare each setting with its default, its choices and its help.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.study.dialogue import DialogueSettings
from quem.study.models import ExperienceSettings
from quem.study.options import OptionsSettings
from quem.study.retrieval import RetrievalSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

FOLDER = Path(__file__).parent / "reference"
PAGES: dict[str, type[BaseModel]] = {
    "study-file.md": ExperienceSettings,
    "study-options.md": OptionsSettings,
    "study-retrieval.md": RetrievalSettings,
    "study-dialogue.md": DialogueSettings,
}
_ROWS = re.compile(r"(?:^\| `analysis\.[^\n]*\n)+", re.MULTILINE)
_NOUNS = {"integer": "whole number", "number": "number", "string": "text"}
_UNBOUNDED = 2**53


def with_tables(page: str) -> str:
    """Give the text of a page whose table has the settings of its model."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    rows = "".join(_rows(PAGES[page]))
    return _ROWS.sub(lambda _: rows, text)


def _rows(model: type[BaseModel]) -> Iterator[str]:
    for name, setting in model.model_json_schema()["properties"].items():
        cells = (
            f"`analysis.{name}`",
            setting["description"],
            f"`{_yaml(setting['default'])}`",
            _allowed(setting),
        )
        yield f"| {' | '.join(cells)} |\n"


def _yaml(value: object) -> str:
    """Write a default as a study file has it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    if value is None:
        return "null"
    return f"{value:g}" if isinstance(value, float) else str(value) or '""'


def _allowed(setting: dict[str, Any]) -> str:
    """Say which values a setting takes, from its JSON Schema."""
    if "anyOf" in setting:
        return _allowed(setting["anyOf"][0])
    if choices := setting.get("enum"):
        return ", ".join(f"`{choice}`" for choice in choices)
    if setting["type"] == "array":
        item = _allowed(setting["items"])
        return f"{item}; one, or a list"
    noun = _NOUNS[setting["type"]]
    if "exclusiveMaximum" in setting:
        return f"{noun} between {setting['exclusiveMinimum']} and {setting['exclusiveMaximum']}"
    if "minimum" not in setting and "exclusiveMinimum" not in setting:
        return noun
    least = f"{setting['minimum']:g}" if "minimum" in setting else "above 0"
    most = setting.get("maximum", _UNBOUNDED)
    return f"{noun}, {least} or more" if most >= _UNBOUNDED else f"{noun}, {least} to {most:,.0f}"


if __name__ == "__main__":
    for page in PAGES:
        (FOLDER / page).write_text(with_tables(page), encoding="utf-8")
