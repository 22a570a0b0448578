"""A study of retrievers. Its keys are explained in ``docs/how-to/retrieval.md``."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from quem.studyfile.fields import (
    ColumnName,
    FileName,
    Id,
    Line,
    Numeral,
    OneOrMore,
    Part,
    RetrieverId,
    Section,
    StudyPart,
    StudySpec,
    Weight,
    allowed,
)
from quem.studyfile.measures import ScoredSettings, TiedCases

LEAVE_ONE_OUT = "leave-one-out"
_LARGEST = 1e300


def _finite(value: float) -> float:
    if not -_LARGEST <= value <= _LARGEST:
        raise ValueError("should be a finite number")
    return value


Number = Annotated[float, Numeral, AfterValidator(_finite)]
Size = Annotated[int, Field(ge=1, le=1_000_000_000), Numeral]


def _need_one(part: StudyPart, *keys: str) -> None:
    named = [key for key in keys if getattr(part, key)]
    if len(named) != 1:
        two = f", and not both {named[0]} and {named[1]}" if named else ""
        raise ValueError(f"should have one of {', '.join(keys[:-1])}, or {keys[-1]}{two}")


class Cases(StudyPart):
    """Where the cases are, and what their columns mean."""

    text_key = "file"

    file: FileName = Field("", description="CSV, or JSON, JSON Lines, or Parquet by its ending.")
    id: Line = Field("id", description="The column with the ids; `_id` if there is no `id`.")
    solution: Annotated[tuple[ColumnName, ...], OneOrMore] = Field(
        (),
        description="The column, or columns, of the outcome, which are not compared unless a "
        "retriever names them.",
    )
    ignore: Annotated[tuple[ColumnName, ...], OneOrMore] = Field(
        (), description="Columns that are not attributes, and that no retriever sees."
    )

    @model_validator(mode="after")
    def _one_role(self) -> Cases:
        if both := next((name for name in self.solution if name in self.ignore), None):
            raise ValueError(f"the column {both!r} is both solution and ignored; name it once")
        return self


class Queries(StudyPart):
    """Where the queries are; or each case is one in turn, and left out of the case base."""

    text_key = "file"

    file: FileName = Field("", description="As of cases.")
    id: Line = Field("id", description="As of cases.")
    leave_one_out: bool = Field(
        default=False, description="Each case is a query in turn, and left out of the case base."
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        if data == LEAVE_ONE_OUT:
            return {"leave_one_out": True}
        return data

    @model_validator(mode="after")
    def _one_of_both(self) -> Queries:
        if self.file and self.leave_one_out:
            raise ValueError("name a file, or write leave_one_out, and not both")
        return self


class Attribute(StudyPart):
    """An attribute that the linear retriever compares."""

    name: Line = Field(description="The attribute.")
    type: Literal["auto", "numeric", "categorical"] = Field(
        "auto", description="`auto` is numeric where each value is a number or missing."
    )
    weight: Weight = Field(1.0, description="Its weight.")
    range: Annotated[tuple[Number, Number] | None, allowed("two numbers")] = Field(
        None, description="Lowest and highest number; by default those of the case base."
    )

    @model_validator(mode="after")
    def _range_ascends(self) -> Attribute:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(
                "the range should go from a lower to a higher number, such as [0, 100]"
            )
        if self.range is not None and self.type == "categorical":
            raise ValueError("a categorical attribute has no range; leave it out")
        return self


class Linear(StudyPart):
    """The built-in retriever: a weighted mean of the similarities of the attributes."""

    attributes: Annotated[tuple[Attribute, ...], Section] = Field(
        (),
        description="What is compared; by default every attribute that cases and queries share, "
        "without the solution.",
    )
    missing: Literal["different", "neutral", "ignore"] = Field(
        "different",
        description="Where a value is missing: similarity 0 (`different`), 0.5 (`neutral`), or the"
        " attribute does not count (`ignore`).",
    )

    @model_validator(mode="after")
    def _something_counts(self) -> Linear:
        names = [attribute.name for attribute in self.attributes]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"duplicate attribute {twice!r}; keep one")
        if self.attributes and not any(attribute.weight for attribute in self.attributes):
            raise ValueError("all weights are 0; give one attribute at least a weight above 0")
        return self


class Retriever(StudyPart):
    """A retriever to evaluate: one that runs, or what one has retrieved."""

    id: Id = Field(description="In tables and file names.")
    name: Line = Field("", description="In the report.")
    linear: Annotated[Linear | None, Part] = Field(
        None, description="The built-in retriever, see below."
    )
    python: Line = Field("", description="`module:callable`, see below.")
    similarities: FileName = Field("", description="A table of similarities.")
    run: FileName = Field("", description="A result list: a TREC run, a table, or JSON.")

    @model_validator(mode="after")
    def _one_source(self) -> Retriever:
        _need_one(self, "linear", "python", "similarities", "run")
        return self


_TRUTHS = ("retriever", "similarities", "qrels", "judgments", "study")


class GroundTruth(StudyPart):
    """What the lists are compared with."""

    text_key = "retriever"
    gone: ClassVar[dict[str, str]] = {
        "consensus": "leave it out; the truth is the mean grade of the judges"
    }

    retriever: Annotated[Line, allowed("id of a retriever")] = Field(
        "", description="The similarities of one of the retrievers."
    )
    similarities: FileName = Field("", description="A table of similarities.")
    qrels: FileName = Field("", description="Relevance judgments: TREC qrels, a table, or JSON.")
    judgments: FileName = Field(
        "", description="Grades of several judges: a table with query, case, judge, and grade."
    )
    study: FileName = Field(
        "",
        description="The study file whose judges are the experts: of kind `experience`, or of "
        "kind `relevance`, as `quem score --pool` writes it.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> GroundTruth:
        # There is none before cases are pooled and judged.
        if self.is_named:
            _need_one(self, *_TRUTHS)
        return self

    @property
    def is_named(self) -> bool:
        """Whether there is one."""
        return any(getattr(self, key) for key in _TRUTHS)


class MacFac(StudyPart):
    """Two phases: a quick retriever fills a filter, and a thorough one looks into it."""

    mac: RetrieverId = Field(description="The first, quick.")
    fac: RetrieverId = Field(description="The second, thorough.")
    filters: Annotated[tuple[Size, ...], OneOrMore] = Field(
        description="Number of cases that the first keeps; at most those there are to search."
    )
    k: Annotated[tuple[Size, ...], OneOrMore] = Field(
        description="Number of cases that the second chooses."
    )

    @model_validator(mode="after")
    def _pairs(self) -> MacFac:
        n_filters, n_k = len(self.filters), len(self.k)
        if not self.filters or not self.k:
            raise ValueError("name one size of the filter at least, and one k")
        if n_filters != n_k and 1 not in (n_filters, n_k):
            raise ValueError(
                f"filters and k make pairs, and there are {n_filters} filters and {n_k} k; "
                "give as many of both, or one of either"
            )
        return self

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The filter size and k of each pair; a single one is combined with all of the others."""
        count = max(len(self.filters), len(self.k))
        filters = self.filters * count if len(self.filters) == 1 else self.filters
        k = self.k * count if len(self.k) == 1 else self.k
        return tuple(dict.fromkeys(zip(filters, k, strict=True)))


class RetrievalSettings(ScoredSettings):
    """The settings of the evaluation."""

    k: Annotated[tuple[Size, ...], OneOrMore] = Field(
        (),
        description="Each measure that knows k and is named without one is computed without k "
        "and with each of these.",
    )
    ties: TiedCases = Field(
        "expected",
        description="Order of cases with equal similarity: `expected` is the mean over all "
        "orders, `given` keeps the given order, `trec` is that of trec_eval: scores in 32 bits, "
        "then the last id first; see [Ties](#ties).",
    )
    warm_up: Annotated[int, Field(ge=0, le=1000), Numeral] = Field(
        1, description="Calls of each retriever before its time is measured."
    )
    repeats: Annotated[int, Field(ge=1, le=1000), Numeral] = Field(
        7, description="Rounds in which time is measured; a 95% interval needs 6."
    )


class RetrievalSpec(StudySpec):
    """An evaluation of retrievers (ProCAKE's, with uncertainty)."""

    kind: Literal["retrieval"] = Field("retrieval", description="Kind of study.")
    cases: Annotated[Cases, Part] = Field(
        Cases(), description="The case base; a bare name means its file."
    )
    queries: Annotated[Queries, Part] = Field(
        Queries(),
        description="The queries; a bare name means their file, and `leave-one-out` each case in "
        "turn.",
    )
    retrievers: Annotated[tuple[Retriever, ...], Section] = Field(
        (), description="What is evaluated."
    )
    ground_truth: Annotated[GroundTruth, allowed("mapping, or id of a retriever")] = Field(
        GroundTruth(),
        description="One of the five sources below; a bare name is a retriever. Only `quem score "
        "--pool` needs none.",
    )
    mac_fac: Annotated[MacFac | None, Field()] = Field(None, description="Two phases, see below.")
    analysis: Annotated[RetrievalSettings, Part] = Field(
        RetrievalSettings(), description="Settings of the analysis."
    )
