"""Types of values in study files of all kinds."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from quem.io.text import percent_hint, shown

# Squares of it stay finite.
_MOST_YEARS = 1_000_000_000
# Sums of it stay finite.
_MOST_WEIGHT = 1e300
_ALL = 100
_LONGEST_ID = 100
_DECIMAL_COMMA = re.compile(r"\s*([+-]?\d+),(\d+)\s*", re.ASCII)
_WORD = r"[\w!#$%&'*+/=?^`{|}~-]+"
_ADDRESS = re.compile(rf"{_WORD}(\.{_WORD})*@[\w-]+(\.[\w-]+)*", re.ASCII)
_HTTPS = re.compile(r"https://[\w.-]+(:\d+)?([/?#]\S*)?", re.ASCII)
_PERCENT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*%\s*", re.ASCII)


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable text")
    return text


def header_trouble(text: str) -> str:
    """Why a text cannot be in an email header; empty where it can."""
    if not text.isprintable():
        return "must be one line of printable text"
    if "=?" in text:
        return "has =?, with which mail programs begin another text; leave it out"
    return ""


def _header(text: str) -> str:
    if trouble := header_trouble(text):
        raise ValueError(trouble)
    return text


def address_trouble(text: str) -> str:
    """Why an email address is invalid; empty where it is valid."""
    if not text.isascii():
        return (
            f"{text[:60]!r} is not plain ASCII, which letters need; write its domain in the form "
            "xn--..., or use another address"
        )
    if not _ADDRESS.fullmatch(text) or "=?" in text:
        return f"{text[:60]!r} is not an email address; use a value such as amy@example.org"
    return ""


def _address(text: str) -> str:
    if text and (trouble := address_trouble(text)):
        raise ValueError(trouble)
    return text


def _https(text: str) -> str:
    if text and not _HTTPS.fullmatch(text):
        raise ValueError(
            f"{text[:60]!r} is not an https address; use a value such as https://example.org/done"
        )
    return text


def _years(value: float) -> float:
    if not 0 <= value < float("inf"):
        raise ValueError(f"{value:g} is not a finite number, 0 or more")
    if value > _MOST_YEARS:
        raise ValueError(f"must be at most {_MOST_YEARS:,}; choose a longer experience_unit")
    return value


def _weight(value: float) -> float:
    if not 0 <= value <= _MOST_WEIGHT:
        raise ValueError(f"{value:g} is not a finite number, 0 or more")
    return value


def _share(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"{value:g} is not between 0 and 1{percent_hint(value)}")
    return value


def _numeral(value: object) -> object:
    """Refuse notations of numbers that only Python, or only people, understand."""
    if isinstance(value, str):
        if comma := _DECIMAL_COMMA.fullmatch(value):
            raise ValueError(f"{shown(value)} has a decimal comma; use {comma[1]}.{comma[2]}")
        if "_" in value:
            raise ValueError(f"{shown(value)} is not a number; use a value such as 7")
    return value


def _no_percent(value: object) -> object:
    if isinstance(value, str) and (percent := _PERCENT.fullmatch(value)):
        number = float(percent[1].replace(",", "."))
        raise ValueError(f"{shown(value)} is not a number; use {number / _ALL:g}")
    return value


def allowed(text: str, default: str = "") -> object:
    """The allowed values and the default of a key, for the reference.

    Only needed if annotation and default do not show them.
    """
    return Field(json_schema_extra={"allowed": text, "default_in_words": default})


Id = Annotated[
    str,
    StringConstraints(min_length=1, max_length=_LONGEST_ID),
    AfterValidator(_printable),
    allowed("text, up to 100 characters"),
]


def id_trouble(subject_id: str) -> str:
    """Why an id cannot be a subject's, whose files are named by it; empty where it can."""
    is_name = subject_id.strip() == subject_id and subject_id.isprintable()
    if not subject_id or not is_name or len(subject_id) > _LONGEST_ID:
        return "a subject's id is one line of 1 to 100 printable characters"
    if set(subject_id) & set('/\\:*?"<>|') or subject_id.startswith(".") or subject_id[-1] in "~.":
        return (
            'solutions are files named by the id; leave out / \\ : * ? " < > | and dots at its ends'
        )
    return ""


def _names_files(value: str) -> str:
    if trouble := id_trouble(value):
        raise ValueError(trouble)
    return value


FileId = Annotated[Id, AfterValidator(_names_files)]
Line = Annotated[str, AfterValidator(_printable), allowed("text")]
HeaderLine = Annotated[Line, AfterValidator(_header)]
EmailAddress = Annotated[
    Line, AfterValidator(_address), allowed("email address, such as amy@example.org")
]
HttpsUrl = Annotated[Line, AfterValidator(_https), allowed("address that begins with `https://`")]
FileName = Annotated[Line, allowed("file name")]
FolderName = Annotated[Line, allowed("folder")]
ColumnName = Annotated[Line, allowed("column")]
FunctionName = Annotated[Line, allowed("`module:function`")]
ProblemId = Annotated[Id, allowed("id of a problem")]
SolverId = Annotated[Id, allowed("id of a solver")]
SubjectId = Annotated[Id, allowed("id of a subject")]
SystemId = Annotated[Id, allowed("id of a system")]
RetrieverId = Annotated[Id, allowed("id of a retriever")]
Numeral = BeforeValidator(_numeral)
Years = Annotated[
    float,
    Numeral,
    AfterValidator(_years),
    WithJsonSchema({"type": "number", "minimum": 0}),
]
Weight = Annotated[float, Numeral, AfterValidator(_weight), allowed("number, 0 or more")]
Level = Annotated[
    float,
    Numeral,
    BeforeValidator(_no_percent),
    AfterValidator(_share),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]


def _none_is_empty(value: object) -> object:
    return () if value is None else value


def _none_is_default(value: object) -> object:
    return {} if value is None else value


def _one_is_a_list(value: object) -> object:
    return (value,) if isinstance(value, str | float | int) else _none_is_empty(value)


Section = BeforeValidator(_none_is_empty)
Part = BeforeValidator(_none_is_default)
OneOrMore = BeforeValidator(_one_is_a_list)
Count = Annotated[int, Field(ge=0, le=10_000_000), Numeral]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1), Numeral]


class StudyPart(BaseModel):
    """An immutable mapping of a study file without other keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    text_key: ClassVar[str] = ""  # key of a text in place of the mapping

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        return {cls.text_key: data} if cls.text_key and isinstance(data, str) else data


class StudySpec(StudyPart):
    """A study file of any kind."""

    kind: str
    id: Annotated[
        Id, allowed("text, up to 100 characters", "folder and file name, as in `p3-1997-study`")
    ] = Field(description="Key of the study, also in a database.")
    title: Annotated[HeaderLine, allowed("text", "the `id`")] = Field(
        description="Title of the report."
    )
    description: str = Field("", description="What a reader should know about the study.")
