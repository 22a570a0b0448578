"""A study of kind ``dialogue``. Its keys are explained in ``docs/how-to/dialogue.md``."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from quem.studyfile.fields import (
    ColumnName,
    FileName,
    FunctionName,
    Id,
    Level,
    Line,
    Numeral,
    OneOrMore,
    Part,
    StudyPart,
    StudySpec,
    Weight,
    allowed,
)
from quem.studyfile.measures import ScoredSettings

FIVE = ("DD", "FA", "ND", "NF", "RA")
SEVEN = ("A5 0.05", "T1 0.05", "T5 0.05", "T5 0.10", "T5 0.15", "T5 0.30", "DL")


def _true_or_false(value: object) -> object:
    words = {"true": True, "yes": True, "false": False, "no": False}
    return words.get(value.casefold(), value) if isinstance(value, str) else value


def _all_or_names(value: object) -> object:
    if value == "all":
        return value
    if isinstance(value, str):
        return (value,)
    return () if value is None else value


Names = Annotated[
    Literal["all"] | tuple[Line, ...],
    BeforeValidator(_all_or_names),
    allowed("`all`, column, or list of columns"),
]
Size = Annotated[int, Field(ge=1, le=1_000_000), Numeral]


class Cases(StudyPart):
    """The case base and its columns."""

    text_key = "file"

    file: Annotated[tuple[FileName, ...], OneOrMore] = Field(description="Files of the cases.")
    header: Annotated[bool, BeforeValidator(_true_or_false)] = Field(
        default=True, description="Whether the first line of each file names the columns."
    )
    columns: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (), description="The names of the columns, where no line names them."
    )
    label: ColumnName = Field("class", alias="class", description="The column of the class.")
    id: ColumnName = Field("", description="The column that names the cases; numbers without it.")
    ignore: Annotated[tuple[ColumnName, ...], OneOrMore] = Field(
        (), description="Columns that are not attributes."
    )
    numeric: Names = Field(
        (),
        description="Attributes that are numbers; by default, those with more than two values, all"
        " of them numbers.",
    )
    categorical: Names = Field((), description="Attributes that are categories.")
    weights: Annotated[
        dict[str, Weight], Part, allowed("mapping of columns to numbers, 0 or more")
    ] = Field({}, description="Weights of attributes in a distance; 1 by default.")
    missing: Annotated[tuple[Line, ...], OneOrMore] = Field(
        ("?", "NA"), description="Texts that mean a missing value, besides an empty cell."
    )

    @model_validator(mode="after")
    def _columns_are_named(self) -> Cases:
        if not self.file:
            raise ValueError("name a file: file: cases.csv")
        if self.header and self.columns:
            raise ValueError(
                "columns name those of files without a header; say header: false, or leave them out"
            )
        if not self.header and not self.columns:
            raise ValueError(
                "files without a header need the names of their columns: columns: [...]"
            )
        return self


Protocol = Literal["leave-one-out", "leave-one-in", "separate"]


class Queries(StudyPart):
    """The targets of the dialogues."""

    protocol: Protocol = Field(
        "leave-one-out",
        description="Each case is the target once: left out of the case base (`leave-one-out`), or"
        " kept in it (`leave-one-in`); or the targets are those of `file` (`separate`).",
    )
    file: Annotated[tuple[FileName, ...], OneOrMore] = Field(
        (),
        description="Files of separate targets, with the same columns as those of the cases.",
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        if isinstance(data, str):
            # A file has an extension, so a misspelled protocol is not mistaken for one.
            data = {"file" if "." in data else "protocol": data}
        elif isinstance(data, list):
            data = {"file": data}
        if isinstance(data, dict) and data.get("file"):
            return {"protocol": "separate", **data}
        return data

    @model_validator(mode="after")
    def _a_file_where_needed(self) -> Queries:
        if self.protocol == "separate" and not self.file:
            raise ValueError("separate queries need a file: queries: {file: queries.csv}")
        if self.protocol != "separate" and self.file:
            raise ValueError(
                f"with {self.protocol} the cases are the targets; leave the file out, or write "
                "protocol: separate"
            )
        return self


class Strategy(StudyPart):
    """A strategy: one of the five, or a function."""

    text_key = "name"

    name: Id = Field(
        description="DD, FA, ND, NF, or RA; any name for a custom strategy. The name alone is "
        "enough."
    )
    function: FunctionName = Field(
        "",
        description="A [custom strategy](#custom-strategies).",
    )

    @model_validator(mode="after")
    def _known(self) -> Strategy:
        if self.function and self.name in FIVE:
            raise ValueError(f"{self.name} is one of the paper's; give yours another name")
        if not self.function and self.name not in FIVE:
            raise ValueError(
                f"there is no strategy {self.name!r}; there are {', '.join(FIVE)}, and yours: "
                "{name: mine, function: my_module:my_function}"
            )
        return self


class User(StudyPart):
    """A simulated user, by name."""

    name: Id = Field(
        description="T5, T1, A5 (or another number up to 99), DL. `T5 0.10` stands for name and b."
    )
    b: Level | None = Field(
        None, description="The share of the case base within the user's threshold."
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        if not isinstance(data, str):
            return data
        name, _, b = data.strip().partition(" ")
        return {"name": name, "b": b} if b else {"name": name}

    @model_validator(mode="after")
    def _known(self) -> User:
        word = self.name.upper()
        if word == "DL":
            if self.b is not None:
                raise ValueError("the user DL has no threshold; leave b out")
            return self
        if not re.fullmatch("[TA][1-9][0-9]?", word):
            raise ValueError(
                f"there is no user {self.name!r}; there are T5, T1, A5 (or any other number up to "
                "99) and DL"
            )
        if self.b is None:
            message = f"the user {self.name} needs b, the share of cases within its threshold: "
            message += f"{self.name} 0.05"
            raise ValueError(message)
        return self


class Questions(StudyPart):
    """The order of questions."""

    order: Literal["random", "fixed"] = Field(
        "random", description="At random, or always as `attributes` says."
    )
    attributes: tuple[ColumnName, ...] = Field(
        (), description="The order, for `fixed`; without it that of the columns."
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        if isinstance(data, list):
            return {"order": "fixed", "attributes": data}
        if isinstance(data, str):
            return {"order": data}
        return data


class DialogueSettings(ScoredSettings):
    """The settings of the evaluation."""

    gone: ClassVar[dict[str, str]] = {
        "bootstrap": "write `samples: 0` for neither intervals nor tests",
        "permutations": "write `samples`, the random patterns of the joint test",
    }
    measures: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (),
        description="Measures to compute, the headline first; by default `rank quality`, "
        "`efficiency`, and `precision`, and the last two by each user, such as "
        "`efficiency (T5 0.1)`. There are [five more](#further-measures).",
    )
    k: Size = Field(10, description="Number of candidates that rank quality compares.")
    neighbors: Size = Field(10, description="Number of nearest cases that ND and NF aggregate.")
    region_size: Size = Field(
        10, description="Number of cases in a region of RA: a case and those nearest to it."
    )
    missing: Literal["zero", "worst", "skip"] = Field(
        "zero",
        description="What a missing value counts in a distance: no difference, the greatest "
        "difference, or the attribute is left out.",
    )
    orders: Annotated[int, Field(ge=1, le=10_000), Numeral] = Field(
        10, description="Random question orders of each target."
    )


class DialogueSpec(StudySpec):
    """An evaluation of conversational CBR (Bogaerts & Leake 2006)."""

    kind: Literal["dialogue"] = Field("dialogue", description="Kind of study.")
    cases: Cases = Field(description="The case base; a file name alone is enough.")
    queries: Annotated[Queries, Part] = Field(
        Queries(),
        description="Which problems are the targets; `leave-one-out`, `leave-one-in`, or a file "
        "name alone is enough.",
    )
    strategies: Annotated[tuple[Strategy, ...], OneOrMore] = Field(
        (), description="What is compared; by default the five of the paper."
    )
    users: Annotated[tuple[User, ...], OneOrMore] = Field(
        (), description="Simulated users; by default the seven of the paper."
    )
    questions: Questions = Field(
        Questions(),
        description="Order of the questions; `random`, `fixed`, or a list of "
        "attributes alone is enough.",
    )
    analysis: Annotated[DialogueSettings, Part] = Field(
        DialogueSettings(), description="Settings of the analysis."
    )

    @model_validator(mode="after")
    def _named_once(self) -> DialogueSpec:
        for noun, names in (
            ("strategy", [strategy.name for strategy in self.strategies]),
            ("user", [(user.name.upper(), user.b) for user in self.users]),
        ):
            twice = [name for name in names if names.count(name) > 1]  # type: ignore[arg-type]
            if twice:
                raise ValueError(f"duplicate {noun}: {twice[0]}; keep one")
        return self
