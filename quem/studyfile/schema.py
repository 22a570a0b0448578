"""Validation of a document against its model, with plain error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, shown
from quem.studyfile.document import Document, Loc, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails


Model = TypeVar("Model", bound=BaseModel)

# By prefixes of pydantic's names of errors.
_MESSAGES = {
    "float": "{it} is not a number; use a value such as 7 or 7.5",
    "int": "{it} is not a whole number; use a value such as 7",
    "bool": "{it} is not true or false; use one of them",
    "date": "{it} is not a date; use a value such as 1996-01-31",
    "string_type": "must be text",
    "string_too_short": "is empty; add a value",
    "string_too_long": "must be at most {max_length} characters long",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than_equal": "must be {le:g} or less",
    "tuple": "must be a list, with each entry on a line that starts with '- '",
    "model": "must be a mapping of keys to values, such as {{id: S1}}",
}


def validate(model: type[Model], document: Document) -> tuple[Model | None, list[Mistake]]:
    """The model of a document."""
    try:
        return model.model_validate(document.content), []
    except ValidationError as error:
        wrong = complaints(error, model, document.content)
    return None, [document.mistake(loc, message, at_key=at_key) for loc, message, at_key in wrong]


def changed_settings(settings: Model, changed: Mapping[str, object]) -> Model:
    """The settings of a study file with a caller's replacements."""
    wanted = {key: value for key, value in changed.items() if value is not None}
    model = type(settings)
    try:
        return model.model_validate({**settings.model_dump(), **wanted})
    except ValidationError as error:
        wrong = complaints(error, model, wanted, what="setting")
    raise QuemError(Mistake("", key=dotted(loc), message=message) for loc, message, _ in wrong)


def setting_value(model: type[BaseModel], name: str, value: object) -> object:
    """Convert the value of one setting, such as the text of an option."""
    field = model.model_fields[name]
    annotation: Any = Annotated[field.annotation, field]
    try:
        return TypeAdapter(annotation).validate_python(value)
    except ValidationError as error:
        raise ValueError(_message(error.errors(include_url=False)[0])) from None


def complaints(
    error: ValidationError, model: type[BaseModel], content: object, *, what: str = "key"
) -> list[tuple[Loc, str, bool]]:
    """Errors by pydantic in plain words."""
    keys = dict(known_keys(model))
    wrong: list[tuple[Loc, str, bool]] = []
    for detail in error.errors(include_url=False):
        loc = _loc_in(content, detail["loc"])
        if detail["type"] == "extra_forbidden":
            siblings = keys.get(tuple(part for part in loc[:-1] if isinstance(part, str)), [])
            gone = _gone(model, loc)
            message = gone or _split_number(content, loc) or _unknown(str(loc[-1]), siblings, what)
            wrong.append((loc, message, True))
        else:
            wrong.append((loc, _message(detail), False))
    return wrong


def known_keys(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Each mapping of the file (its path, list indices left out) with its keys."""
    fields = {info.alias or name: info for name, info in model.model_fields.items()}
    yield path, list(fields)
    for name, info in fields.items():
        for part in _models_in(info.annotation):
            yield from known_keys(part, (*path, name))


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401  any type
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        for argument in get_args(annotation):
            yield from _models_in(argument)


def _unknown(word: str, siblings: list[str], what: str) -> str:
    hint = nearest(word, siblings) or f"; known here: {', '.join(siblings)}"
    return f"unknown {what}{hint}"


def _gone(model: type[BaseModel], loc: Loc) -> str:
    """The remedy for a removed key of a mapping; empty for any other."""
    models = [model]
    for part in loc[:-1]:
        if isinstance(part, str):
            fields = (of.model_fields[part] for of in models if part in of.model_fields)
            models = [inner for field in fields for inner in _models_in(field.annotation)]
    each = (getattr(of, "gone", {}).get(loc[-1], "") for of in models)
    message = next(filter(None, each), "")
    return f"is not a setting any longer; {message}" if message else ""


def _split_number(content: Any, loc: Loc) -> str:  # noqa: ANN401  plain data
    """In ``{experience: 4,5}`` the comma separates, and 5 is a key without a value."""
    for part in loc[:-1]:
        content = content[part]
    word = str(loc[-1])
    before = dict(zip(list(content)[1:], content.values(), strict=False)).get(word)
    if content[word] is None and word.isdecimal() and isinstance(before, str):
        return f"a comma separates entries here; write {before}.{word} with a point"
    return ""


def _message(detail: ErrorDetails) -> str:
    kind, value = detail["type"], detail["input"]
    it = shown(value) if isinstance(value, str) else "this"
    if kind == "missing":
        return "is missing; add it"
    if value is None:
        return "is empty; add a value"
    if kind == "literal_error":
        expected = detail["ctx"]["expected"].replace("' or '", "', '")
        known = [word.strip("'") for word in expected.split(", ")]
        hint = nearest(value, known) if isinstance(value, str) else ""
        return f"{it} is not one of {', '.join(known)}{hint}"
    if kind == "value_error":
        return str(detail["ctx"]["error"])
    for start, message in _MESSAGES.items():
        if kind.startswith(start):
            return message.format(it=it, **detail.get("ctx", {}))
    return detail["msg"][:1].lower() + detail["msg"][1:]


def _loc_in(content: Any, loc: tuple[int | str, ...]) -> Loc:  # noqa: ANN401  plain data
    """A `loc` by pydantic without parts that are not in the file, such as union tags."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        if isinstance(content, dict):
            inside = part in content
        else:
            inside = isinstance(content, list) and isinstance(part, int) and part < len(content)
        if inside:
            path.append(part)
            content = content[part]
        elif index == len(loc) - 1 and isinstance(content, dict):
            path.append(part)
    return tuple(path)
