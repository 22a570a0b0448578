"""Write keys, measures, and remedies of warnings into docs: ``python docs/make_tables.py``.

The models in ``quem.studyfile`` declare each key with its default, choices, and description. A
table lists all keys of the sections that it already has rows of, except for rows that a page in
`SHARED` has. Measures come from ``quem.lists``, remedies from the rules of warnings.
`docs/hooks.py` also takes the site's cheat sheets and llms.txt from here.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from jinja2 import ChainableUndefined, Environment, FileSystemLoader
from pydantic import BaseModel

from quem.cli import main
from quem.kinds import presentations
from quem.lists import DEFINITIONS
from quem.studyfile.dialogue import DialogueSpec
from quem.studyfile.measures import ScoredSettings
from quem.studyfile.models import ExperienceSettings, ExperienceSpec, Judging
from quem.studyfile.options import OptionsSpec
from quem.studyfile.relevance import RelevanceSpec
from quem.studyfile.retrieval import RetrievalSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo

FOLDER = Path(__file__).parent
PAGES: dict[str, type[BaseModel]] = {
    "reference/study-file.md": ExperienceSpec,
    "how-to/options.md": OptionsSpec,
    "how-to/retrieval.md": RetrievalSpec,
    "how-to/dialogue.md": DialogueSpec,
    "how-to/pooling.md": RelevanceSpec,
}
# Pages with keys of several kinds, with their prefix; other pages do not repeat their rows.
SHARED: dict[str, tuple[str, type[BaseModel]]] = {
    "reference/study-file.md": ("", ExperienceSpec),
    "how-to/scores.md": ("analysis.", ScoredSettings),
}
MEASURES = FOLDER / "reference/measures.md"
WARNINGS = FOLDER / "reference/warnings.md"
_HEAD = "| key | what it is | default | allowed |\n|---|---|---|---|\n"
_TABLE = re.compile(re.escape(_HEAD) + r"((?:\|[^\n]*\n)+)")
_MAPPING = "mapping"
_NOUNS = {
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "string": "text",
}
_UNBOUNDED = 2**53


_MEASURES_HEAD = "| measure | parameters | also read | ground truth |\n|---|---|---|---|\n"
_MEASURES = re.compile(re.escape(_MEASURES_HEAD) + r"((?:\|[^\n]*\n)+)")


class Key(NamedTuple):
    """A key of a study file, with the model that declares it."""

    name: str
    field: FieldInfo
    model: type[BaseModel]

    @property
    def section(self) -> str:
        """The part of the file that the key is in: "" or "subjects[]"."""
        return self.name.rpartition(".")[0]


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[Key]:
    """List the keys of a model and of the models in it."""
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        yield Key(key, field, model)
        listed = "[]" if "tuple[" in str(field.annotation) else ""
        for inner in _models(field.annotation):
            yield from keys_of(inner, f"{key}{listed}.")


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def with_tables(page: str) -> str:
    """The text of a page with the keys of its model in its tables."""
    prefix, model = SHARED.get(page) or ("", PAGES[page])
    keys = list(keys_of(model, prefix))
    shared = (SHARED[home] for home in homes_of(page))
    known = {_row(key) for prefix, model in shared for key in keys_of(model, prefix)}

    def table(match: re.Match[str]) -> str:
        names = re.findall(r"^\| `([^`]*)`", match[1], re.MULTILINE)
        sections = {name.rpartition(".")[0] for name in names}
        rows = (_row(key) for key in keys if key.section in sections)
        return _HEAD + "".join(row for row in rows if row not in known)

    return _TABLE.sub(table, (FOLDER / page).read_text(encoding="utf-8"))


def homes_of(page: str) -> list[str]:
    """The pages in `SHARED` whose rows a page does not repeat."""
    if page in SHARED:
        return []
    settings = PAGES[page].model_fields["analysis"].annotation
    is_scored = isinstance(settings, type) and issubclass(settings, ScoredSettings)
    return list(SHARED) if is_scored else list(SHARED)[:1]


def _row(key: Key) -> str:
    schema = key.model.model_json_schema()["properties"][key.field.alias or key.name.split(".")[-1]]
    default = schema.get("default_in_words") or (
        "required" if key.field.is_required() else f"`{_yaml(key.field.get_default())}`"
    )
    cells = (f"`{key.name}`", key.field.description or "", default, _allowed(schema))
    return f"| {' | '.join(cells)} |\n"


def _yaml(value: object) -> str:
    """Write a default as a study file has it."""
    if isinstance(value, BaseModel):
        return "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and re.match(r"[^\w]|$", value):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(schema: dict[str, Any]) -> str:
    """Allowed values of a key, from its JSON Schema."""
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if "allowed" in schema:
        text = schema["allowed"]
    elif "anyOf" in schema:
        text = _allowed(schema["anyOf"][0])
    elif choices:
        text = ", ".join(f"`{choice}`" for choice in choices)
    elif schema.get("type") == "array":
        text = _allowed(schema["items"])
        text = "list" if text == _MAPPING else f"{text}; one, or a list"
    else:
        text = _range(schema, _NOUNS.get(schema.get("type", ""), _MAPPING))
    return str(text)


def _range(schema: dict[str, Any], noun: str) -> str:
    """Put the lowest and highest number after a noun."""
    if "exclusiveMaximum" in schema:
        return f"{noun} between {schema['exclusiveMinimum']} and {schema['exclusiveMaximum']}"
    if "minimum" not in schema and "exclusiveMinimum" not in schema:
        return noun
    least = f"{schema['minimum']:g}" if "minimum" in schema else "above 0"
    most = schema.get("maximum", _UNBOUNDED)
    return f"{noun}, {least} or more" if most >= _UNBOUNDED else f"{noun}, {least} to {most:,.0f}"


def with_measures() -> str:
    """The page of measures with a complete table."""
    rows = []
    for one in DEFINITIONS.values():
        parameters = (parameter.name for parameter in one.parameters)
        names = [", ".join(f"`{name}`" for name in part) for part in (parameters, one.aliases)]
        cells = (f"`{one.name}`", *names, one.truth)
        rows.append(f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|\n")
    table = _MEASURES_HEAD + "".join(rows)
    return _MEASURES.sub(lambda _: table, MEASURES.read_text(encoding="utf-8"))


def remedies() -> dict[str, str]:
    """Map each code of a warning to the remedy that its rule declares as a literal."""
    found = {}
    for path in (FOLDER.parent / "quem").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                remedy = next((one.value for one in node.keywords if one.arg == "remedy"), None)
                if isinstance(node.args[0], ast.Constant) and isinstance(remedy, ast.Constant):
                    found[str(node.args[0].value)] = str(remedy.value)
    return found


def with_remedies() -> str:
    """Fill in the remedies of warnings from the code."""
    text = WARNINGS.read_text(encoding="utf-8")
    for code, remedy in remedies().items():
        text = re.sub(
            rf"^(\| `{code}` \|.*\| )[^|]*( \|)$",
            lambda row, remedy=remedy: f"{row[1]}{remedy}{row[2]}",  # type: ignore[misc]
            text,
            flags=re.MULTILINE,
        )
    return text


def cheat_sheets() -> str:
    """Build the cheat sheets of organizers, judges, and statisticians."""
    commands = ((f"`quem {name}`", one.help) for name, one in main.commands.items())
    tables = ((f"`{one.stem}.csv`", one.meaning) for one in presentations()["experience"].tables)
    parts = (
        "# Cheat sheets",
        "After this page you know the most used commands, keys, files, and warnings.",
        "## Organizer",
        _columns(("command", "what it does"), ((name, _first(text)) for name, text in commands)),
        _settings("judging", Judging),
        "## Judge",
        *map(_of_judges, (None, ("0", "1", "2"))),
        "## Statistician",
        _settings("analysis", ExperienceSettings),
        _columns(("file", "content"), tables),
        _columns(("warning", "what to do"), ((f"`{one}`", do) for one, do in _estimates())),
    )
    return "\n\n".join(parts) + "\n"


def _first(text: str | None) -> str:
    return inspect.cleandoc(text or "").split("\n\n")[0].replace("\n", " ")


def _columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _settings(section: str, model: type[BaseModel]) -> str:
    keys = (key for key in keys_of(model, f"{section}.") if key.section == section)
    return _HEAD + "".join(map(_row, keys)).rstrip("\n")


def _of_judges(labels: Sequence[str] | None) -> str:
    """The help of the judge's page: steps and keys; with labels, those of grading."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER.parent / "templates"),
        undefined=ChainableUndefined,
        autoescape=True,
    )
    templates.globals["_"] = lambda text: text
    page = templates.get_template("judge/dialogs.html").render(labels=labels, languages={})
    page = page[page.index('<dialog id="help"') :].partition("</dialog>")[0]
    (title,) = re.findall(r"<h2[^>]*>(.*)</h2>", page)
    steps = (f"1. {step}" for step in re.findall(r"<li>(.*)</li>", page))
    keys = re.findall(r"<tr><td>(.*)</td><td>(.*)</td></tr>", page)
    return f"### {title}\n\n" + "\n".join(steps) + "\n\n" + _columns(("key", "action"), keys)


def _estimates() -> list[tuple[str, str]]:
    """Each warning of an estimate, with what to do."""
    section = WARNINGS.read_text(encoding="utf-8").split("\n## Estimates\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w-]+)` \|.*\| (.*) \|$", section, re.MULTILINE)


def llms(about: str, nav: Sequence[Mapping[str, Any]], pages: Mapping[str, str]) -> str:
    """Write llms.txt: each page of the navigation, with its first sentence."""
    lines = [f"# quem\n\n> {about}"]
    for part in nav:
        for title, inside in part.items():
            if isinstance(inside, str):
                continue
            lines.append(f"\n## {title}\n")
            for name, page in (item for entry in inside for item in entry.items()):
                address = f"{page.removesuffix('.md')}.html"
                lines.append(f"- [{name}]({address}): {_first_sentence(pages[page])}")
    return "\n".join(lines) + "\n"


def _first_sentence(page: str) -> str:
    """The first sentence of a page, without its links."""
    text = page.split("\n\n")[1].replace("\n", " ")
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.split(r"(?<=[.:])\s", text)[0])


if __name__ == "__main__":
    MEASURES.write_text(with_measures(), encoding="utf-8")
    WARNINGS.write_text(with_remedies(), encoding="utf-8")
    for page in PAGES | SHARED:
        (FOLDER / page).write_text(with_tables(page), encoding="utf-8")
